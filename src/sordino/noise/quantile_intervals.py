"""Quantiles that are told with noisy ranks, and with ends around each of them.

quantiles ── an end some rows below and above each ── noisy rows between all cuts

The ends below quantiles lie in slices that share no row, and so do those above: each
kind is one level of choices. A row lies between two neighbouring cuts, or its shares
do, so that all numbers of rows between cuts move as much as one number of rows does
(docs/proofs/selection.md, section 6).

Kernel: mathematics.
"""

from dataclasses import dataclass
from typing import Any, ClassVar, Final, TypeAlias, final

import numpy as np

from sordino.losses.loss import Loss, PureDP, compose
from sordino.noise.additive import AbstractAdditiveMechanism, AbstractMechanism
from sordino.noise.bin_counts import (
    AbstractWeights,
    BinCounts,
    CandidateRuns,
    EvenWeights,
    Floats,
    Pieces,
    QuantileCut,
    Whole,
)
from sordino.noise.exponential import BoundedRangeLoss
from sordino.noise.numbers import ChoiceDomain, Metric
from sordino.noise.quantiles import Quantiles, choose_cut
from sordino.noise.sampling.bits import BitSource
from sordino.numbers import INFINITE, Exact, distance, up
from sordino.numbers.canonical import Words, exact_words

_MOST: Final = 2**53
"""Shares of rows saturate here: all of them are doubles without rounding."""
_SPAN: Final = 2
"""The range in which a row moves the score of an end, in rows."""

Cuts: TypeAlias = tuple[QuantileCut, ...]


@final
@dataclass(frozen=True)
class QuantileIntervals(AbstractMechanism):
    """Quantiles, an end on either side of each, and noisy rows between all of them.

    `rate` is what the ends cost for each row that a unit can add or remove, `noise`
    what is added to each number of rows. An end is sought `away` rows from its
    quantile, which is public: it moves errors, never the price.

    >>> from sordino.noise.laplace import Laplace
    >>> from sordino.noise.sampling.bits import Bits
    >>> median = QuantileIntervals(Quantiles(["0.5"], 1), 1, Laplace(2), 20)
    >>> rows = BinCounts.of([0] * 900, range(900), [1] * 900, groups=1, size=1000)
    >>> low, middle, high, *cells = median.release_groups(rows, Bits())
    >>> bool(low[0] < middle[0] < high[0]), len(cells)
    (True, 4)
    >>> median.map(1).epsilon
    Fraction(5, 2)
    """

    quantiles: Quantiles
    rate: Exact
    noise: AbstractAdditiveMechanism
    away: int
    input_metric: ClassVar[Metric] = "rows"
    output_measure: ClassVar[type[PureDP]] = PureDP
    adds_no_noise: ClassVar[bool] = False

    @property
    def input_domain(self) -> ChoiceDomain:
        return ChoiceDomain("bins")

    @property
    def certificate(self) -> dict[str, Words]:
        ends: dict[str, Words] = {
            "rate": exact_words(self.rate),
            "levels": self.levels,
        }
        # the dicts of mechanisms are words
        cells: dict[str, Words] = {**self.noise.certificate}
        return {**self.quantiles.certificate, "ends": ends, "cells": cells}

    @property
    def levels(self) -> int:
        """Return in how many levels ends are chosen.

        Of one quantile both share no row; else one above a quantile lies among the rows
        of the one below the next quantile.
        """
        return min(2, len(self.quantiles.probabilities))

    @property
    def scale(self) -> float:
        """Return by how many rows an end is off per factor e of its chance."""
        return up(_SPAN * self.levels / self.rate)

    def map(self, d_in: Any) -> Loss:
        """Return the loss when at most d_in rows are added or removed in all groups.

        Choices, ends and numbers follow each other, and their losses add up
        (docs/proofs/selection.md, section 6).
        """
        change = distance(d_in=d_in)
        level = change if change is INFINITE or change == 0 else change * self.rate
        if level is not INFINITE:
            level /= self.levels
        ends = BoundedRangeLoss(level) * self.levels
        return compose([self.quantiles.map(d_in), ends, self.noise.map(d_in)])

    def release_groups(
        self, bins: BinCounts, bits: BitSource, weights: AbstractWeights | None = None
    ) -> tuple[Any, ...]:
        """Return columns: for each quantile its low end, it and its high end, as bins.

        Then the noisy numbers of rows up to the first of these cuts, between each two,
        and beyond the last. For any groups that were fixed without the data.
        """
        candidates = EvenWeights(bins.size) if weights is None else weights
        none = np.empty(0, np.int64)
        answers = len(self.quantiles.probabilities)
        columns = [(none,) * (3 * answers) + (none.astype(float),) * (3 * answers + 1)]
        # ends need not be round: a heavy number near one would draw it away
        even = self.quantiles.layouts(bins, EvenWeights(bins.size))
        for layout in self.quantiles.layouts(bins, candidates):
            chosen = self.quantiles.choose_cuts(layout, bits)
            cuts = self.choose_ends(next(even), chosen, bits)
            columns.append((
                *(cut.bin for cut in cuts),
                *self._count(layout, cuts, bits),
            ))
        return tuple(map(np.concatenate, zip(*columns, strict=True)))

    def choose_ends(self, layout: CandidateRuns, cuts: Cuts, bits: BitSource) -> Cuts:
        """Return the cuts of quantiles and of their ends, in order."""
        first, last = layout.outer()
        shift = self.away * layout.parts
        lows = [
            self._choose_end(layout, (before, cut), cut.rows - shift, bits)
            for before, cut in zip((first, *cuts), cuts, strict=False)
        ]
        highs = [
            self._choose_end(layout, (cut, after), cut.rows + shift, bits)
            for cut, after in zip(cuts, (*cuts[1:], last), strict=True)
        ]
        listed = [lows[0]]
        for place, cut in enumerate(cuts[:-1]):
            listed += [cut, *_in_order(highs[place], lows[place + 1])]
        return (*listed, cuts[-1], highs[-1])

    def _choose_end(
        self,
        layout: CandidateRuns,
        cuts: tuple[QuantileCut, QuantileCut],
        sought: Whole,
        bits: BitSource,
    ) -> QuantileCut:
        rate = self.rate / (_SPAN * self.levels * layout.parts)
        pieces = Pieces.seek(layout, cuts, sought)
        return choose_cut(pieces, cuts[0].probability, rate, bits)

    def _count(
        self, layout: CandidateRuns, cuts: Cuts, bits: BitSource
    ) -> tuple[Floats, ...]:
        """Return the noisy numbers of rows between neighbouring cuts."""
        first, last = layout.outer()
        rows = np.stack([cut.rows for cut in (first, *cuts, last)])
        # shares of rows are integers, and the parts of a bin a power of two
        exact = np.minimum(np.diff(rows, axis=0), _MOST) / layout.parts
        return tuple(self.noise.carrier.many(cell, bits) for cell in exact)


def _in_order(first: QuantileCut, second: QuantileCut) -> Cuts:
    """Return two cuts of each group, the one before the other."""
    swapped = (first.bin > second.bin) | (
        (first.bin == second.bin) & (first.part > second.part)
    )
    pairs = [*zip(first[1:], second[1:], strict=True)]
    lower = (np.where(swapped, b, a) for a, b in pairs)
    upper = (np.where(swapped, a, b) for a, b in pairs)
    return QuantileCut(first[0], *lower), QuantileCut(second[0], *upper)
