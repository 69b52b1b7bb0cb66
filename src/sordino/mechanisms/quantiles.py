"""Quantiles on a public grid: the exponential mechanism, recursively.

The middle quantile is chosen first, then those to its left among the candidates and
rows up to it, and those to its right among the rest. The slices of one level share no
row: a level costs what its dearest slice costs (docs/proofs/selection.md, section 4).
"""

from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any, Final, NamedTuple, Self, final

import numpy as np

from sordino import _validate
from sordino.errors import InvalidParameter
from sordino.losses.base import Budget, Loss
from sordino.losses.bounded_range import BoundedRangeLoss
from sordino.losses.closed import PureDP
from sordino.mechanisms.bins import Bins, Whole
from sordino.mechanisms.domain import ChoiceDomain, Metric
from sordino.mechanisms.exponential import widest
from sordino.mechanisms.fitting import guaranteed, least_noise, over
from sordino.mechanisms.randomised import AbstractRandomised
from sordino.numbers import Exact, distance, positive, probability
from sordino.sampling.bits import Source
from sordino.sampling.choice import Runs, choose

FINEST: Final = 1 << 20
"""Probabilities relative to their neighbours have denominators up to this."""

_CHUNK = 1 << 20
_ONE = Fraction(1)


@final
@dataclass(frozen=True, init=False, repr=False)
class Quantiles(AbstractRandomised):
    """Choose bins of a public grid near given quantiles, ascending, epsilon for all.

    For probability q a bin c is good when at most a share q of the rows lies before it
    and at least that share up to it. Nothing about the number of rows is needed or
    told. `rows` is how many rows a unit can add or remove, in all groups together: at
    `d_in` = rows the loss is that of `epsilon`.

    >>> from sordino.sampling.bits import Bits
    >>> quartiles = Quantiles(("0.25", "0.5", "0.75"), 1)
    >>> places = np.arange(100, 900)
    >>> answer = quartiles.release(places, np.full(800, 100), 1000, Bits())
    >>> bool((abs(np.array(answer) - [300, 500, 700]) < 9).all())
    True
    >>> quartiles.map(1)
    BoundedRangeLoss(epsilon=0.5) * 2
    """

    probabilities: tuple[Fraction, ...]
    epsilon: Exact
    rows: int

    def __init__(self, probabilities: Any, epsilon: Any, rows: Any = 1) -> None:
        """Read the probabilities, which must ascend strictly, and the price."""
        vars(self).update(
            probabilities=_ascending(probabilities),
            epsilon=positive(epsilon=epsilon),
            rows=_validate.integer(rows=rows, least=1),
        )

    @property
    def input_domain(self) -> ChoiceDomain:
        """Return rows in the bins of a public grid."""
        return ChoiceDomain("bins")

    @property
    def input_metric(self) -> Metric:
        """Return the number of rows added or removed."""
        return "rows"

    @property
    def output_measure(self) -> type[PureDP]:
        """Return pure differential privacy."""
        return PureDP

    @property
    def adds_no_noise(self) -> bool:
        """Return False."""
        return False

    @property
    def levels(self) -> int:
        """Return how deep the recursion goes: floor(log2 m) + 1."""
        return len(self.probabilities).bit_length()

    def map(self, d_in: Any) -> Loss:
        """Return the loss when at most d_in rows are added or removed in all groups.

        For any two tables that differ in d_in rows: each level has a bounded range of
        epsilon / levels * d_in / rows, and the levels are composed.
        """
        change = distance(d_in=d_in)
        share = self.epsilon / (self.levels * Fraction(self.rows))
        level = change if isinstance(change, float) or not change else share * change
        return BoundedRangeLoss(level) * self.levels

    @classmethod
    def for_loss(cls, loss: Budget, d_in: Any, probabilities: Any) -> Self:
        """Return the sharpest quantiles whose loss for d_in rows is within a loss.

        >>> Quantiles.for_loss(BoundedRangeLoss(1), 3, ["0.5"]).epsilon
        Fraction(1, 1)
        """
        rows, known = _validate.integer(d_in=d_in, least=1), guaranteed(loss)
        asked = _ascending(probabilities)
        height = len(asked).bit_length()
        level = known.rho if isinstance(known.rho, float) else known.rho * height
        guesses = [over(_ONE, limit) for limit in (known.epsilon, widest(level))]
        return least_noise(lambda s: cls(asked, _ONE / s, rows), loss, d_in, guesses)

    def release(
        self, positions: Any, counts: Any, size: int, bits: Source
    ) -> tuple[int, ...]:
        """Return the quantiles of one group: its rows by position, ascending.

        Only positions that hold rows need to be listed.
        """
        alone = np.zeros(len(positions), np.int64)
        bins = Bins.of(alone, positions, counts, groups=1, size=size)
        return tuple(self.release_groups(bins, bits)[0].tolist())

    def release_groups(self, bins: Bins, bits: Source) -> Whole:
        """Return the quantiles of each group as a row of an array.

        For any groups that were fixed without the data: an empty group is answered
        as well.
        """
        answers = np.empty((bins.groups, len(self.probabilities)), np.int64)
        first = 0
        while first < bins.groups:
            reached = np.searchsorted(bins.starts, bins.starts[first] + _CHUNK, "right")
            last = min(max(int(reached) - 1, first + 1), first + _CHUNK, bins.groups)
            runs = _Layout.of(bins.part(first, last))
            _Recursion(self, runs, answers[first:last], bits).run(bins.size)
            first = last
        return answers


@final
class _Cut(NamedTuple):
    """A quantile that is known: for each group its bin, and what lies up to there.

    `rows` are the rows up to the cut, `run` is the run of the group that holds it.
    """

    probability: Fraction
    position: Whole
    rows: Whole
    run: Whole


@final
@dataclass(frozen=True, eq=False)
class _Layout:
    """Runs of bins before which, and up to which, equally many rows of a group lie.

    Each non-empty bin is a run, and so are the bins before, between and after them.
    The runs of group g are those from base[g] on; none is empty.
    """

    base: Whole
    begins: Whole
    ends: Whole
    before: Whole
    rows: Whole

    @staticmethod
    def of(bins: Bins) -> "_Layout":
        """Lay out the runs of some groups."""
        group = np.repeat(np.arange(bins.groups), np.diff(bins.starts))
        full = 2 * np.arange(group.size) + group + 1  # where each non-empty bin stands
        first = 2 * bins.starts[:-1] + np.arange(bins.groups)
        begins = np.zeros(2 * group.size + bins.groups, np.int64)
        begins[full], begins[full + 1] = bins.positions, bins.positions + 1
        ends = np.append(begins[1:], 0)
        ends[np.append(first[1:], begins.size) - 1] = bins.size
        added = np.zeros_like(begins)
        added[full] = bins.counts
        rows = np.cumsum(added)
        rows -= np.repeat(rows[first], np.diff(np.append(first, begins.size)))
        held = ends > begins
        base = np.append(0, np.cumsum(held))[first]
        return _Layout(base, begins[held], ends[held], (rows - added)[held], rows[held])

    def outer(self, size: int) -> tuple[_Cut, _Cut]:
        """Return the cuts before all bins and after them."""
        nothing = np.zeros_like(self.base)
        last = np.append(self.base[1:], self.rows.size) - 1
        low = _Cut(Fraction(0), nothing, nothing, nothing)
        high = _Cut(_ONE, nothing + size - 1, self.rows[last], last - self.base)
        return low, high


@final
@dataclass(frozen=True, eq=False)
class _Recursion:
    """All groups at once."""

    asked: Quantiles
    runs: _Layout
    answers: Whole
    bits: Source

    def run(self, size: int) -> None:
        """Choose every quantile among so many bins."""
        self._choose(0, len(self.asked.probabilities), *self.runs.outer(size))

    def _choose(self, first: int, last: int, low: _Cut, high: _Cut) -> None:
        """Choose the quantiles from `first` up to `last`, which lie between two."""
        if first == last:
            return
        middle = (first + last) // 2
        cut = self._cut(self.asked.probabilities[middle], low, high)
        self.answers[:, middle] = cut.position
        self._choose(first, middle, low, cut)
        self._choose(middle + 1, last, cut, high)

    def _cut(self, probability: Fraction, low: _Cut, high: _Cut) -> _Cut:
        """Choose the bins of one quantile, in the slice between two known ones."""
        share = (probability - low.probability) / (high.probability - low.probability)
        above, below = share.numerator, share.denominator - share.numerator
        counts = high.run - low.run + 1
        ends = np.cumsum(counts)
        owner = np.repeat(np.arange(counts.size), counts)
        run = np.arange(owner.size) + (self.runs.base + low.run - ends + counts)[owner]
        begins = np.maximum(self.runs.begins[run], low.position[owner])
        sizes = np.minimum(self.runs.ends[run], high.position[owner] + 1) - begins
        gaps = self._missed(run, owner, (low, high), share)
        gaps -= np.minimum.reduceat(gaps, ends - counts)[owner]
        chosen = choose(Runs(gaps, sizes, ends), self._rate(above, below), self.bits)
        found = run[chosen.run]
        place = begins[chosen.run] + chosen.place
        return _Cut(probability, place, self.runs.rows[found], found - self.runs.base)

    def _missed(
        self, run: Whole, owner: Whole, cuts: tuple[_Cut, _Cut], share: Fraction
    ) -> Whole:
        """Return how far each run is off, in rows times the share's denominator.

        A run is right where a share of the slice's rows ends within it.
        """
        low, high = cuts
        whole = share.denominator
        sought = (whole * low.rows + share.numerator * (high.rows - low.rows))[owner]
        # negative at the lower cut: rows of its bin lie in the slice to the left
        over = whole * self.runs.before[run] - sought
        under = sought - whole * self.runs.rows[run]
        missed: Whole = np.maximum(np.maximum(over, under), 0)
        return missed

    def _rate(self, above: int, below: int) -> Exact:
        """Return the exponent of one unit of a score: a row moves it by 2 or less."""
        asked = self.asked
        return asked.epsilon / Fraction(
            2 * asked.levels * asked.rows * max(above, below)
        )


def _ascending(probabilities: Any) -> tuple[Fraction, ...]:
    """Return exact probabilities that ascend strictly, none of them too fine."""
    if not isinstance(probabilities, (tuple, list)) or not probabilities:
        raise InvalidParameter(
            "probabilities", probabilities, "must be a list of some", 'Try ("0.5",).'
        )
    known = tuple(probability(probabilities=one) for one in probabilities)
    if any(left >= right for left, right in pairwise(known)):
        raise InvalidParameter(
            "probabilities", probabilities, "must ascend strictly", "Sort them."
        )
    if max(_denominators(known, Fraction(0), _ONE)) > FINEST:
        raise InvalidParameter(
            "probabilities",
            probabilities,
            "are written with too many digits",
            'Write them as text or fractions, such as ("0.25", "0.5").',
        )
    return known


def _denominators(
    known: tuple[Fraction, ...], low: Fraction, high: Fraction
) -> list[int]:
    """Return the denominators of the shares at which slices are cut."""
    if not known:
        return []
    middle = len(known) // 2
    cut = known[middle]
    share = (cut - low) / (high - low)
    left = _denominators(known[:middle], low, cut)
    return [share.denominator, *left, *_denominators(known[middle + 1 :], cut, high)]
