"""Parts of a release that choose among public candidates: quantiles, extremes, bounds.

What a choice may spend is a rate for each row: for any change of r_g rows in group g
the release costs the sum of rate * r_g in epsilon, and the sum of
`curvature` * (rate * r_g)**2 in rho (docs/proofs/queries.md, lemma 9).
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Hashable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final, final

import numpy as np

from sordino.aggregations.base import Expected
from sordino.aggregations.matching import match_rows
from sordino.aggregations.measurements import Integers
from sordino.aggregations.shares import AbstractShare
from sordino.expressions.base import AbstractExpression
from sordino.mechanisms.above_threshold import AboveThreshold
from sordino.mechanisms.kit.bin_counts import BinCounts
from sordino.mechanisms.kit.weights import AbstractWeights
from sordino.mechanisms.mechanism import AbstractMechanism
from sordino.mechanisms.quantiles import Quantiles
from sordino.numbers import up
from sordino.sampling.bits import Bits
from sordino.sensitivity import Sensitivity

if TYPE_CHECKING:
    import pyarrow as pa

EXTREME_SCALES: Final = 4
"""Rows beyond an extreme, in scales of the noise: 1 answer in 40 passes all rows."""


class AbstractChoice(ABC):
    """Candidates of a public grid, chosen by the rows of each group in its bins."""

    key: Hashable
    change: Sensitivity
    """Of the row counts of the groups."""
    position: AbstractExpression
    """The bin of a row, missing where the row has no value."""

    @property
    @abstractmethod
    def size(self) -> int:
        """Return how many bins there are."""

    @abstractmethod
    def mechanism(self, share: AbstractShare) -> AbstractMechanism:
        """Return the sharpest choice that a share buys."""

    @abstractmethod
    def bins_of(self, mechanism: Any, bins: BinCounts) -> tuple[Integers, ...]:
        """Return bins for each group, one array for each answer."""

    def range(self, chosen: Integers) -> tuple[Integers, Integers]:
        """Return the first and the last position that a chosen bin stands for."""
        return chosen, chosen

    @abstractmethod
    def expected_error(self, mechanism: Any, confidence: Fraction) -> Expected:
        """Return by how many ranks or rows an answer may be off, for any data."""

    def draw(
        self, mechanism: AbstractMechanism, keys: "pa.Table", counts: "pa.Table"
    ) -> tuple[Integers, ...]:
        """Return the chosen bins of released groups, from the counts of all groups.

        `counts` has the columns of the keys, the bin, and how many rows are in it.
        """
        *by, place, count = counts.columns
        owner = match_rows(keys, counts.select(range(len(by))))
        counted = place.is_valid().to_numpy() & (owner >= 0)
        bins = BinCounts.of(
            owner[counted],
            place.fill_null(0).to_numpy()[counted],
            count.to_numpy()[counted],
            groups=keys.num_rows if by else 1,
            size=self.size,
        )
        return self.bins_of(mechanism, bins)


@final
@dataclass(frozen=True)
class QuantileChoice(AbstractChoice):
    """Some quantiles of the same values, none of them an extreme."""

    key: Hashable
    change: Sensitivity
    position: AbstractExpression = field(compare=False)
    weights: AbstractWeights
    probabilities: tuple[Fraction, ...]

    @property
    def size(self) -> int:
        """Return how many candidates there are."""
        return self.weights.size

    def mechanism(self, share: AbstractShare) -> Quantiles:
        """Return the choice of quantiles: a level has an 8th of its square in rho."""
        levels = len(self.probabilities).bit_length()
        rate = share.rate(self.change, Fraction(1, 8 * levels))
        return Quantiles(self.probabilities, rate)

    def bins_of(self, mechanism: Any, bins: BinCounts) -> tuple[Integers, ...]:
        """Return the bin of each quantile."""
        return tuple(mechanism.release_groups(bins, Bits(), self.weights).T)

    def expected_error(self, mechanism: Any, confidence: Fraction) -> Expected:
        """Return the ranks between an answer and the exact one, equal values aside.

        The sd is that of one choice where values lie evenly; the half width is never
        exceeded with that chance, whatever the values and the levels above
        (docs/proofs/selection.md, lemma 6).
        """
        scale = mechanism.scale
        wrong = float(1 - confidence) / mechanism.levels
        candidates = self.weights.total * mechanism.parts / self.weights.least
        each = math.log(candidates / wrong)
        reach = scale * mechanism.levels * each
        return Expected(scale * math.sqrt(2), reach, "ranks")


@final
@dataclass(frozen=True)
class ExtremeChoice(AbstractChoice):
    """The least or the greatest value, but for a few rows beyond it.

    Positions are joined to stretches, each up to one of `lasts`.
    """

    key: Hashable
    change: Sensitivity
    position: AbstractExpression = field(compare=False)
    lasts: Integers = field(compare=False)
    greatest: bool

    @property
    def size(self) -> int:
        """Return how many candidates there are."""
        return int(self.lasts[-1]) + 1

    def mechanism(self, share: AbstractShare) -> AboveThreshold:
        """Return the walk, with twice the rows beyond that a bound has."""
        rate = share.rate(self.change, Fraction(1, 2))
        return AboveThreshold(rate, scales=EXTREME_SCALES)

    def bins_of(self, mechanism: Any, bins: BinCounts) -> tuple[Integers, ...]:
        """Return the stretch where the walk towards the extreme stops."""
        joined = bins.join(self.lasts)
        if self.greatest:
            return (mechanism.find_groups(joined, Bits()),)
        stops = mechanism.find_groups(joined.mirror(), Bits())
        return (joined.size - 1 - stops,)

    def range(self, chosen: Integers) -> tuple[Integers, Integers]:
        """Return the ends of a stretch."""
        firsts = np.append(0, self.lasts[:-1] + 1)
        return firsts[chosen], self.lasts[chosen]

    def expected_error(self, mechanism: Any, confidence: Fraction) -> Expected:
        """Return how many rows may lie beyond the answer."""
        return _rows_beyond(mechanism, self.lasts.size, confidence)


@final
@dataclass(frozen=True)
class BoundChoice(AbstractChoice):
    """The first bin that few rows lie beyond."""

    key: Hashable
    change: Sensitivity
    position: AbstractExpression = field(compare=False)
    bins: int

    @property
    def size(self) -> int:
        """Return how many sizes there are."""
        return self.bins

    def mechanism(self, share: AbstractShare) -> AboveThreshold:
        """Return the walk: epsilon-DP costs at most epsilon**2 / 2 in rho."""
        return AboveThreshold(share.rate(self.change, Fraction(1, 2)))

    def bins_of(self, mechanism: Any, bins: BinCounts) -> tuple[Integers, ...]:
        """Return the bound."""
        return (mechanism.find_groups(bins, Bits()),)

    def expected_error(self, mechanism: Any, confidence: Fraction) -> Expected:
        """Return how many rows may lie beyond the bound."""
        return _rows_beyond(mechanism, self.size, confidence)


def _rows_beyond(
    mechanism: AboveThreshold, bins: int, confidence: Fraction
) -> Expected:
    """Return how many rows lie beyond the end of a walk, for any data.

    More than `rows_left` and the half width take noise so large in one of the two
    draws of one of the bins.
    """
    scale = up(mechanism.scale)
    wrong = float(1 - confidence) / (2 * bins)
    remark = f"about {mechanism.rows_left} rows lie beyond"
    return Expected(2 * scale, -2 * scale * math.log(wrong), "rows", remark)
