"""Parts of a release that choose among public candidates: quantiles and bounds.

What a choice may spend is a rate for each row: for any change of r_g rows in group g
the release costs the sum of rate * r_g in epsilon, and the sum of
`curvature` * (rate * r_g)**2 in rho (docs/proofs/queries.md, lemma 9).
"""

from abc import ABC, abstractmethod
from collections.abc import Hashable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, final

from sordino.aggregations.families import bounded
from sordino.aggregations.matching import matched
from sordino.aggregations.parts import Integers
from sordino.expressions.base import AbstractExpression
from sordino.losses.base import Loss
from sordino.losses.closed import ZCDP, PureDP
from sordino.mechanisms.above_threshold import AboveThreshold
from sordino.mechanisms.bins import Bins
from sordino.mechanisms.quantiles import Quantiles
from sordino.mechanisms.randomised import AbstractRandomised
from sordino.numbers import Exact, sqrt
from sordino.sampling.bits import Bits
from sordino.sensitivity import Sensitivity

if TYPE_CHECKING:
    import pyarrow as pa


class AbstractChoiceShare(ABC):
    """What a part that chooses may spend."""

    @abstractmethod
    def rate(self, change: Sensitivity, curvature: Fraction) -> Exact:
        """Return the greatest rate for each row of a change."""

    @property
    @abstractmethod
    def loss(self) -> Loss:
        """Return what is spent."""


@final
@dataclass(frozen=True)
class PureChoice(AbstractChoiceShare):
    """An epsilon: rates of all rows add up."""

    epsilon: Exact

    def rate(self, change: Sensitivity, curvature: Fraction) -> Exact:
        """Return epsilon over the rows of a unit."""
        del curvature
        return self.epsilon / bounded(change.l1)

    @property
    def loss(self) -> Loss:
        """Return epsilon."""
        return PureDP(self.epsilon)


@final
@dataclass(frozen=True)
class ConcentratedChoice(AbstractChoiceShare):
    """A rho: squares of the rates of groups add up."""

    rho: Exact

    def rate(self, change: Sensitivity, curvature: Fraction) -> Exact:
        """Return the root of rho over the squared rows of a unit."""
        return sqrt(self.rho / curvature) / bounded(change.l2)

    @property
    def loss(self) -> Loss:
        """Return rho."""
        return ZCDP(self.rho)


class AbstractChoicePart(ABC):
    """Candidates of a public grid, chosen by the rows of each group in its bins."""

    key: Hashable
    change: Sensitivity
    """Of the row counts of the groups."""
    position: AbstractExpression
    """The bin of a row, missing where the row has no value."""
    size: int
    """How many bins there are."""

    @abstractmethod
    def mechanism(self, share: AbstractChoiceShare) -> AbstractRandomised:
        """Return the sharpest choice that a share buys."""

    @abstractmethod
    def chosen(self, mechanism: Any, bins: Bins) -> tuple[Integers, ...]:
        """Return bins for each group, one array for each answer."""

    def draw(
        self, mechanism: AbstractRandomised, keys: "pa.Table", counts: "pa.Table"
    ) -> tuple[Integers, ...]:
        """Return the chosen bins of released groups, from the counts of all groups.

        `counts` has the columns of the keys, the bin, and how many rows are in it.
        """
        *by, place, count = counts.columns
        owner = matched(keys, counts.select(range(len(by))))
        held = place.is_valid().to_numpy() & (owner >= 0)
        bins = Bins.of(
            owner[held],
            place.fill_null(0).to_numpy()[held],
            count.to_numpy()[held],
            groups=keys.num_rows if by else 1,
            size=self.size,
        )
        return self.chosen(mechanism, bins)


@final
@dataclass(frozen=True)
class QuantilePart(AbstractChoicePart):
    """Some quantiles of the same values."""

    key: Hashable
    change: Sensitivity
    position: AbstractExpression = field(compare=False)
    size: int
    probabilities: tuple[Fraction, ...]

    def mechanism(self, share: AbstractChoiceShare) -> Quantiles:
        """Return the choice of quantiles: a level has an 8th of its square in rho."""
        levels = len(self.probabilities).bit_length()
        rate = share.rate(self.change, Fraction(1, 8 * levels))
        return Quantiles(self.probabilities, rate)

    def chosen(self, mechanism: Any, bins: Bins) -> tuple[Integers, ...]:
        """Return the bin of each quantile."""
        return tuple(mechanism.release_groups(bins, Bits()).T)


@final
@dataclass(frozen=True)
class BoundPart(AbstractChoicePart):
    """The bin beyond which few rows lie."""

    key: Hashable
    change: Sensitivity
    position: AbstractExpression = field(compare=False)
    size: int

    def mechanism(self, share: AbstractChoiceShare) -> AboveThreshold:
        """Return the walk: what is epsilon-DP has at most half its square in rho."""
        return AboveThreshold(share.rate(self.change, Fraction(1, 2)))

    def chosen(self, mechanism: Any, bins: Bins) -> tuple[Integers, ...]:
        """Return the bound."""
        return (mechanism.find_groups(bins, Bits()),)
