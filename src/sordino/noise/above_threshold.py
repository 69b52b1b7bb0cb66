"""A bound found by walking upwards until few rows are left above.

Upwards overshoots by a few bins at worst, where a choice by score would overshoot to
the end of a wide grid. The counts of rows above rise together when rows are added, so
one noisy comparison after another is paid for once, whatever the number of steps (Lyu,
Su and Li 2017; docs/proofs/selection.md, section 5).

Kernel: mathematics.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Final, Self, final

import numpy as np
from numpy.typing import NDArray

from sordino.losses.loss import Budget, PureDP
from sordino.noise.additive import (
    AbstractMechanism,
    guarantees_of,
    least_noise,
    scale_guess,
)
from sordino.noise.bin_counts import BinCounts, Whole
from sordino.noise.laplace import LaplaceNoise
from sordino.noise.numbers import ChoiceDomain, Metric
from sordino.noise.sampling.bits import BitSource
from sordino.noise.sampling.floats import AbstractSampler
from sordino.noise.threshold.mechanism import floor_to
from sordino.numbers import INFINITE, Exact, arguments, distance, positive, up
from sordino.numbers.canonical import Words, exact_words
from sordino.numbers.frozen import fill

MOST_STEPS: Final = 1 << 20
"""Bins of a grid that is walked: each takes a draw."""

MOST_SCALES: Final = 64

_CELLS = 1 << 20
_FINE_ENOUGH = 1000.0
"""Noise of a larger scale has the same law to the eye, in units of the scale."""
_SURELY = 40
_FAR = 1 << 62


@final
@dataclass(frozen=True, init=False, repr=False)
class AboveThreshold(AbstractMechanism):
    """Choose the first bin with about 2 scales rows / epsilon rows beyond it, or fewer.

    Bin k is the answer if #{rows beyond k} + Z_k <= left + Y for no earlier bin and for
    this one, with independent two-sided geometric noise Y, Z_0, Z_1, ... of scale
    2 rows / epsilon and `rows_left` so many `scales`; the last bin if for none. `rows`
    is how many rows a unit can add or remove, in all groups together.

    >>> from sordino.noise.sampling.bits import Bits
    >>> bounds = AboveThreshold(1)
    >>> 35 <= bounds.find([10, 20, 35], [500, 500, 500], 64, Bits()) < 64
    True
    >>> bounds.map(1).epsilon, bounds.rows_left
    (Fraction(1, 1), 4)
    """

    epsilon: Exact
    rows: int
    scales: int
    input_metric: ClassVar[Metric] = "rows"
    output_measure: ClassVar[type[PureDP]] = PureDP
    adds_no_noise: ClassVar[bool] = False

    def __init__(self, epsilon: Any, rows: Any = 1, scales: Any = 2) -> None:
        fill(
            self,
            epsilon=positive(epsilon=epsilon),
            rows=arguments.integer(rows=rows, least=1),
            scales=arguments.integer(scales=scales, least=0, most=MOST_SCALES),
        )

    @property
    def certificate(self) -> dict[str, Words]:
        return {
            "kind": "walk",
            "rate": exact_words(self.epsilon / Fraction(self.rows)),
        }

    @property
    def input_domain(self) -> ChoiceDomain:
        return ChoiceDomain("bins")

    @cached_property
    def scale(self) -> Exact:
        """Return the scale of every draw: half of epsilon for each side."""
        return Fraction(2 * self.rows) / self.epsilon

    @cached_property
    def rows_left(self) -> int:
        """Return how many rows may lie beyond the bound: the scales, rounded down."""
        return int(floor_to(self.scales * self.scale, Fraction(1)))  # rows are whole

    def chance_to_pass(self, bins: int) -> float:
        """Chance to pass `bins` bins that have no row beyond them.

        To the eye: 1 in (bins + 1) exp(scales).
        """
        scale = min(up(self.scale), _FINE_ENOUGH)
        left = min(float(self.rows_left), self.scales * scale)
        far = _SURELY * scale + 2
        level = np.arange(-int(left + far), int(far) + 1)
        ratio = np.exp(-1 / scale)
        drawn = (1 - ratio) / (1 + ratio) * ratio ** abs(level)
        needed = int(left) + level + 1
        small = ratio ** abs(np.where(needed > 0, needed, 1 - needed)) / (1 + ratio)
        goes_on = np.where(needed > 0, small, 1 - small)
        return float((drawn * goes_on**bins).sum())

    def map(self, d_in: Any) -> PureDP:
        """Return epsilon * d_in / rows, for any tables that differ in d_in rows.

        For all groups together, whatever each answer is.
        """
        change = distance(d_in=d_in)
        if change == 0 or change is INFINITE:
            return PureDP(change)
        return PureDP(self.epsilon * (change / Fraction(self.rows)))

    @classmethod
    def for_loss(cls, loss: Budget, d_in: Any) -> Self:
        """Return the sharpest walk whose loss for d_in rows is within a loss.

        >>> AboveThreshold.for_loss(PureDP("0.5"), 2)
        AboveThreshold(epsilon=0.5, rows=2, scales=2)
        """
        rows = arguments.integer(d_in=d_in, least=1)
        guess = scale_guess(Fraction(1), guarantees_of(loss).epsilon)
        return least_noise(lambda s: cls(Fraction(1) / s, rows), loss, d_in, [guess])

    def find(self, positions: Any, counts: Any, size: int, bits: BitSource) -> int:
        """Return the bound of one group: its rows by position.

        Only positions that hold rows need to be listed.
        """
        alone = np.zeros(len(positions), np.int64)
        bins = BinCounts.of(alone, positions, counts, groups=1, size=size)
        return int(self.find_groups(bins, bits)[0])

    def find_groups(self, bins: BinCounts, bits: BitSource) -> Whole:
        """Return the bound of each group, found by a walk of its own.

        For any groups that were fixed without the data.
        """
        arguments.integer(size=bins.size, most=MOST_STEPS)
        at_once = max(_CELLS // bins.size, 1)
        firsts = range(0, bins.groups, at_once)
        parts = (bins.part(f, min(f + at_once, bins.groups)) for f in firsts)
        return np.concatenate([_NONE, *(self._walk(part, bits) for part in parts)])

    def _walk(self, bins: BinCounts, bits: BitSource) -> Whole:
        sampler = self._sampler
        # one level for a whole walk: steps are free because it stays
        level = [sampler.add_to_one(self.rows_left, bits) for _ in range(bins.groups)]
        beyond = _rows_beyond(bins)
        if max(map(abs, level)) >= _FAR:  # int64 ends at 2**63
            rows = zip(beyond.tolist(), level, strict=True)
            return np.array([self._walked_far(*row, bits) for row in rows], np.int64)
        beyond -= np.array(level, np.int64)[:, None]
        tested = sampler.add(beyond.ravel(), bits).reshape(beyond.shape) <= 0
        tested[:, -1] = True  # the grid is public: a walk ends with it
        first: Whole = tested.argmax(axis=1)
        return first

    def _walked_far(self, beyond: list[int], level: int, bits: BitSource) -> int:
        """Walk in integers of any length: a level beyond int64, once in an age."""
        for step, count in enumerate(beyond[:-1]):
            if self._sampler.add_to_one(count - level, bits) <= 0:
                return step
        return len(beyond) - 1

    @cached_property
    def _sampler(self) -> AbstractSampler:
        return LaplaceNoise(self.scale).integers()


_NONE = np.zeros(0, np.int64)


def _rows_beyond(bins: BinCounts) -> NDArray[np.int64]:
    cells = np.zeros((bins.groups, bins.size), np.int64)
    owner = np.repeat(np.arange(bins.groups), np.diff(bins.starts))
    cells[owner, bins.positions] = bins.counts
    beyond: NDArray[np.int64] = bins.totals[:, None] - np.cumsum(cells, axis=1)
    return beyond
