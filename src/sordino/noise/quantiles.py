"""Quantiles on a public grid: the exponential mechanism, recursively.

The middle quantile is chosen first, then those to its left among the candidates and
rows up to it, and those to its right among the rest. The slices of one level share no
row: a level costs what its dearest slice costs. Each bin is divided into many equal
parts, each of which holds the same part of each of its rows: equal rows can be on both
sides of a cut (docs/proofs/selection.md, section 4).

Kernel: mathematics.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any, ClassVar, Final, Self, final

import numpy as np

from sordino.errors import InvalidParameter
from sordino.losses.loss import Budget, Loss, PureDP
from sordino.noise.additive import (
    AbstractMechanism,
    guarantees_of,
    least_noise,
    scale_guess,
)
from sordino.noise.bin_counts import (
    AbstractWeights,
    BinCounts,
    CandidateRuns,
    EvenWeights,
    Pieces,
    QuantileCut,
    Whole,
)
from sordino.noise.exponential import BoundedRangeLoss, widest
from sordino.noise.numbers import ChoiceDomain, Metric
from sordino.noise.sampling.bits import BitSource, uniform_below
from sordino.noise.sampling.choice import choose
from sordino.numbers import (
    INFINITE,
    Exact,
    arguments,
    distance,
    positive,
    probability,
    up,
)
from sordino.numbers.canonical import Words, exact_words
from sordino.numbers.frozen import fill

FINEST: Final = 1 << 20
"""Probabilities relative to their neighbours have denominators up to this."""

FINE: Final = 1 << 24
"""Parts of a bin times such a denominator: rows in these units fit 64 bits."""
PARTS: Final = 1 << 17
"""Parts of a bin, where probabilities are not too fine."""

_CHUNK = 1 << 20
_ONE = Fraction(1)


@final
@dataclass(frozen=True, init=False, repr=False)
class Quantiles(AbstractMechanism):
    """Choose bins of a public grid near given quantiles, ascending, epsilon for all.

    For probability q a bin c is good when at most a share q of the rows lies before it
    and at least that share up to it. Nothing about the number of rows is needed or
    told. `rows` is how many rows a unit can add or remove, in all groups together: at
    `d_in` = rows the loss is that of `epsilon`. Each bin is divided into `parts`, and
    its rows count in all of them alike, so that equal rows need not stay together.

    >>> from sordino.noise.sampling.bits import Bits
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
    parts: int
    input_metric: ClassVar[Metric] = "rows"
    output_measure: ClassVar[type[PureDP]] = PureDP
    adds_no_noise: ClassVar[bool] = False

    def __init__(
        self, probabilities: Any, epsilon: Any, rows: Any = 1, parts: Any = PARTS
    ) -> None:
        """Read the probabilities, in ascending order, and the price.

        There are fewer parts where probabilities are fine.
        """
        ascending = _read_probabilities(probabilities)
        most = FINE // _finest(ascending)
        fill(
            self,
            probabilities=ascending,
            epsilon=positive(epsilon=epsilon),
            rows=arguments.integer(rows=rows, least=1),
            parts=min(arguments.integer(parts=parts, least=1), most),
        )

    @property
    def certificate(self) -> dict[str, Words]:
        return {
            "kind": "quantiles",
            "rate": exact_words(self.epsilon / Fraction(self.rows)),
            "levels": self.levels,
            "answers": len(self.probabilities),
        }

    @property
    def input_domain(self) -> ChoiceDomain:
        return ChoiceDomain("bins")

    @property
    def levels(self) -> int:
        """Return how deep the recursion goes: floor(log2 m) + 1."""
        return len(self.probabilities).bit_length()

    @property
    def scale(self) -> float:
        """Return by how many rows an answer is off per factor e of its chance.

        Of the dearest choice, in its slice.
        """
        dearest = max(map(_span, _shares(self.probabilities, Fraction(0), _ONE)))
        return up(self.levels * self.rows * dearest / self.epsilon)

    def map(self, d_in: Any) -> Loss:
        """Return the loss when at most d_in rows are added or removed in all groups.

        For any two tables that differ in d_in rows: each level has a bounded range of
        epsilon / levels * d_in / rows, and the levels are composed.
        """
        change = distance(d_in=d_in)
        share = self.epsilon / (self.levels * Fraction(self.rows))
        level = change if change is INFINITE or change == 0 else share * change
        return BoundedRangeLoss(level) * self.levels

    @classmethod
    def for_loss(cls, loss: Budget, d_in: Any, probabilities: Any) -> Self:
        """Return the sharpest quantiles whose loss for d_in rows is within a loss.

        >>> Quantiles.for_loss(BoundedRangeLoss(1), 3, ["0.5"]).epsilon
        Fraction(1, 1)
        """
        rows, guarantees = arguments.integer(d_in=d_in, least=1), guarantees_of(loss)
        ascending = _read_probabilities(probabilities)
        height = len(ascending).bit_length()
        level = (
            guarantees.rho if guarantees.rho is INFINITE else guarantees.rho * height
        )
        guesses = [
            scale_guess(_ONE, limit) for limit in (guarantees.epsilon, widest(level))
        ]
        return least_noise(
            lambda s: cls(ascending, _ONE / s, rows), loss, d_in, guesses
        )

    def release(
        self, positions: Any, counts: Any, size: int, bits: BitSource
    ) -> tuple[int, ...]:
        """Return the quantiles of one group: its rows by position, ascending.

        Only positions that hold rows need to be listed.
        """
        alone = np.zeros(len(positions), np.int64)
        bins = BinCounts.of(alone, positions, counts, groups=1, size=size)
        return tuple(self.release_groups(bins, bits)[0].tolist())

    def release_groups(
        self, bins: BinCounts, bits: BitSource, weights: AbstractWeights | None = None
    ) -> Whole:
        """Return the quantiles of each group as a row of an array.

        For any groups that were fixed without the data: an empty group is answered
        as well. Bins may differ in weight.
        """
        candidates = EvenWeights(bins.size) if weights is None else weights
        answers = [np.empty((0, len(self.probabilities)), np.int64)]
        for layout in self.layouts(bins, candidates):
            cuts = self.choose_cuts(layout, bits)
            answers.append(np.stack([cut.bin for cut in cuts], 1))
        return np.concatenate(answers)

    def layouts(
        self, bins: BinCounts, weights: AbstractWeights
    ) -> Iterator[CandidateRuns]:
        """Yield the candidates of some groups at a time, one group after another."""
        first = 0
        while first < bins.groups:
            reached = np.searchsorted(bins.starts, bins.starts[first] + _CHUNK, "right")
            last = min(max(int(reached) - 1, first + 1), first + _CHUNK, bins.groups)
            yield CandidateRuns.of(bins.part(first, last), self.parts, weights)
            first = last

    def choose_cuts(
        self, layout: CandidateRuns, bits: BitSource
    ) -> tuple[QuantileCut, ...]:
        """Choose the cuts of all groups of a layout, one for each probability."""
        recursion = _Recursion(self, layout, {}, bits)
        recursion.choose(0, len(self.probabilities), *layout.outer())
        return tuple(cut for _, cut in sorted(recursion.cuts.items()))


@final
@dataclass(frozen=True, eq=False)
class _Recursion:
    """All groups at once."""

    quantiles: Quantiles
    layout: CandidateRuns
    cuts: dict[int, QuantileCut]
    """By the place of the probability."""
    bits: BitSource

    def choose(
        self, first: int, last: int, low: QuantileCut, high: QuantileCut
    ) -> None:
        if first == last:
            return
        middle = (first + last) // 2
        cut = self._choose_cut(self.quantiles.probabilities[middle], low, high)
        self.cuts[middle] = cut
        self.choose(first, middle, low, cut)
        self.choose(middle + 1, last, cut, high)

    def _choose_cut(
        self, probability: Fraction, low: QuantileCut, high: QuantileCut
    ) -> QuantileCut:
        share = (probability - low.probability) / (high.probability - low.probability)
        rate = self._rate(share)
        pieces = Pieces.of(self.layout, low, high, share)
        return choose_cut(pieces, probability, rate, self.bits)

    def _rate(self, share: Fraction) -> Exact:
        """Return the exponent of one unit of a score: a row in parts, by the share."""
        quantiles = self.quantiles
        unit = self.layout.parts * share.denominator
        return quantiles.epsilon / (
            quantiles.levels * quantiles.rows * unit * _span(share)
        )


def choose_cut(
    pieces: Pieces, probability: Fraction, rate: Exact, bits: BitSource
) -> QuantileCut:
    """Choose a candidate of each slice, at a rate for each unit of its score."""
    near = pieces.stretch(rate)
    chosen = choose(near.choices(), rate, bits)
    every = np.full_like(chosen.place, pieces.layout.parts)
    return near.cut_at(probability, chosen, uniform_below(every, bits))


def _read_probabilities(probabilities: Any) -> tuple[Fraction, ...]:
    """Return exact probabilities that ascend strictly, none of them too fine."""
    if not isinstance(probabilities, (tuple, list)) or not probabilities:
        raise InvalidParameter(
            "probabilities",
            probabilities,
            "must be a list of at least one probability",
            'Try ("0.5",).',
        )
    listed = tuple(probability(probabilities=item) for item in probabilities)
    if any(left >= right for left, right in pairwise(listed)):
        raise InvalidParameter(
            "probabilities",
            probabilities,
            "must be in ascending order, each once",
            "Sort them, and drop those that occur twice.",
        )
    if _finest(listed) > FINEST:
        raise InvalidParameter(
            "probabilities",
            probabilities,
            "must have fewer digits",
            'Write them as text or fractions, such as ("0.25", "0.5").',
        )
    return listed


def _span(share: Fraction) -> Fraction:
    """Return the range in which a row moves scores, in rows.

    That is twice the greater one of the share and its rest, and 1 at either end.
    """
    return 2 * max(share, 1 - share) if 0 < share < 1 else _ONE


def _shares(
    ascending: tuple[Fraction, ...], low: Fraction, high: Fraction
) -> list[Fraction]:
    if not ascending:
        return []
    middle = len(ascending) // 2
    cut = ascending[middle]
    share = (cut - low) / (high - low)
    left = _shares(ascending[:middle], low, cut)
    return [share, *left, *_shares(ascending[middle + 1 :], cut, high)]


def _finest(ascending: tuple[Fraction, ...]) -> int:
    return max(share.denominator for share in _shares(ascending, Fraction(0), _ONE))
