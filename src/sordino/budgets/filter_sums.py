"""Filters that add: epsilons, rhos, squares of mu, each alone or beside deltas.

Every accepted sum is at most the limit, coordinate by coordinate. Each class cites the
theorem that makes it a filter under full adaptivity; docs/proofs/filters.md proves all
of them by one lemma.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, final

from sordino.budgets.charge import Amount, Charge
from sordino.budgets.filters import AbstractFilter
from sordino.losses.base import Loss, PureDP, compose
from sordino.losses.closed import ZCDP, ApproxDP, ApproxZCDP, GaussianDP
from sordino.losses.guarantees import Guarantees
from sordino.numbers import (
    INFINITE,
    Extended,
    finite,
    rational_above,
    root,
    sqrt,
)


@final
@dataclass(frozen=True)
class PureSum(AbstractFilter):
    """Epsilons add up (Rogers, Roth, Ullman and Vadhan 2016)."""

    epsilon: Fraction
    rule: ClassVar[str] = "epsilon"
    coordinates: ClassVar[tuple[str, ...]] = ("epsilon",)
    own: ClassVar[tuple[type[Loss], ...]] = (PureDP, ApproxDP)

    @property
    def promise(self) -> Loss:
        """Return epsilon-DP."""
        return PureDP(self.epsilon)

    def holds(self, spent: Charge) -> bool:
        """Say whether the epsilons are within the limit."""
        return spent.amounts[0] <= self.epsilon

    def loss_of(self, spent: Charge) -> Loss:
        """Return epsilon."""
        return PureDP(spent.amounts[0])

    def remainder(self, spent: Charge) -> Loss:
        """Return the epsilon that is left."""
        return PureDP(self.epsilon - spent.amounts[0])

    def _amounts(self, guarantees: Guarantees) -> tuple[Amount, ...]:
        return (amount_without_delta(guarantees, guarantees.epsilon),)


@final
@dataclass(frozen=True)
class ApproxSum(AbstractFilter):
    """Epsilons add up and deltas add up (Rogers, Roth, Ullman and Vadhan 2016)."""

    epsilon: Fraction
    delta: Fraction
    rule: ClassVar[str] = "epsilon-delta"
    coordinates: ClassVar[tuple[str, ...]] = ("epsilon", "delta")
    own: ClassVar[tuple[type[Loss], ...]] = (PureDP, ApproxDP)

    @property
    def promise(self) -> Loss:
        """Return (epsilon, delta)-DP."""
        return ApproxDP(self.epsilon, self.delta)

    def holds(self, spent: Charge) -> bool:
        """Say whether both sums are within their limits."""
        return is_within(spent, self.epsilon, self.delta)

    def loss_of(self, spent: Charge) -> Loss:
        """Return epsilon and delta."""
        return ApproxDP(*cap_delta(spent))

    def remainder(self, spent: Charge) -> Loss:
        """Return the epsilon and the delta that are left."""
        epsilon, delta = spent.amounts
        return ApproxDP(self.epsilon - epsilon, self.delta - delta)

    def _amounts(self, guarantees: Guarantees) -> tuple[Amount, ...]:
        return amount_above(guarantees.epsilon), guarantees.delta


@final
@dataclass(frozen=True)
class ConcentratedSum(AbstractFilter):
    """Rhos add up (Feldman and Zrnic 2021)."""

    rho: Fraction
    rule: ClassVar[str] = "rho"
    coordinates: ClassVar[tuple[str, ...]] = ("rho",)
    own: ClassVar[tuple[type[Loss], ...]] = (ZCDP, ApproxZCDP)

    @property
    def promise(self) -> Loss:
        """Return rho-zCDP."""
        return ZCDP(self.rho)

    def holds(self, spent: Charge) -> bool:
        """Say whether the rhos are within the limit."""
        return spent.amounts[0] <= self.rho

    def loss_of(self, spent: Charge) -> Loss:
        """Return rho."""
        return ZCDP(spent.amounts[0])

    def remainder(self, spent: Charge) -> Loss:
        """Return the rho that is left."""
        return ZCDP(self.rho - spent.amounts[0])

    def _amounts(self, guarantees: Guarantees) -> tuple[Amount, ...]:
        return (amount_without_delta(guarantees, guarantees.rho),)


@final
@dataclass(frozen=True)
class ApproxConcentratedSum(AbstractFilter):
    """Rhos and deltas add up (Whitehouse, Ramdas, Rogers and Wu 2023)."""

    rho: Fraction
    delta: Fraction
    rule: ClassVar[str] = "rho-delta"
    coordinates: ClassVar[tuple[str, ...]] = ("rho", "delta")
    own: ClassVar[tuple[type[Loss], ...]] = (ZCDP, ApproxZCDP)

    @property
    def promise(self) -> Loss:
        """Return delta-approximate rho-zCDP."""
        return ApproxZCDP(self.rho, self.delta)

    def holds(self, spent: Charge) -> bool:
        """Say whether both sums are within their limits."""
        return is_within(spent, self.rho, self.delta)

    def loss_of(self, spent: Charge) -> Loss:
        """Return rho and delta."""
        return ApproxZCDP(*cap_delta(spent))

    def remainder(self, spent: Charge) -> Loss:
        """Return the rho and the delta that are left."""
        rho, delta = spent.amounts
        return ApproxZCDP(self.rho - rho, self.delta - delta)

    def _amounts(self, guarantees: Guarantees) -> tuple[Amount, ...]:
        return amount_above(guarantees.rho), guarantees.delta


@final
@dataclass(frozen=True)
class GaussianSum(AbstractFilter):
    """Squares of mu add up (Smith and Thakurta 2022; Koskela et al. 2022)."""

    square: Fraction
    """The square of the mu that is promised."""
    rule: ClassVar[str] = "mu-squared"
    coordinates: ClassVar[tuple[str, ...]] = ("mu_squared",)
    own: ClassVar[tuple[type[Loss], ...]] = (GaussianDP,)

    @property
    def promise(self) -> Loss:
        """Return mu-GDP."""
        return GaussianDP(sqrt(self.square))

    def holds(self, spent: Charge) -> bool:
        """Say whether the squares are within the limit."""
        return spent.amounts[0] <= self.square

    def loss_of(self, spent: Charge) -> Loss:
        """Return mu."""
        return GaussianDP(root(spent.amounts[0]))

    def remainder(self, spent: Charge) -> Loss:
        """Return the mu that is left."""
        return GaussianDP(sqrt(self.square - finite(spent.amounts[0])))

    def _amounts(self, guarantees: Guarantees) -> tuple[Amount, ...]:
        return (amount_without_delta(guarantees, square_above(guarantees.mu)),)


@final
@dataclass(frozen=True)
class ApproxGaussianSum(AbstractFilter):
    """Squares of mu and deltas add up (docs/proofs/filters.md, lemma 1)."""

    square: Fraction
    delta: Fraction
    rule: ClassVar[str] = "mu-squared-delta"
    coordinates: ClassVar[tuple[str, ...]] = ("mu_squared", "delta")
    own: ClassVar[tuple[type[Loss], ...]] = (GaussianDP,)

    @property
    def promise(self) -> Loss:
        """Return mu-GDP beside a chance delta of total breach."""
        return mu_beside_delta(sqrt(self.square), self.delta)

    def holds(self, spent: Charge) -> bool:
        """Say whether both sums are within their limits."""
        return is_within(spent, self.square, self.delta)

    def loss_of(self, spent: Charge) -> Loss:
        """Return mu and delta."""
        square, delta = cap_delta(spent)
        return mu_beside_delta(root(square), delta)

    def remainder(self, spent: Charge) -> Loss:
        """Return the mu and the delta that are left."""
        square, delta = spent.amounts
        return mu_beside_delta(sqrt(self.square - finite(square)), self.delta - delta)

    def _amounts(self, guarantees: Guarantees) -> tuple[Amount, ...]:
        return square_above(guarantees.mu), guarantees.delta


def is_within(spent: Charge, *limits: Fraction) -> bool:
    """Say whether each sum is at most its limit."""
    return all(a <= b for a, b in zip(spent.amounts, limits, strict=True))


def cap_delta(spent: Charge) -> tuple[Amount, Amount]:
    """Return a cost and its delta, which a loss states as a probability."""
    cost, delta = spent.amounts
    return cost, min(delta, Fraction(1))


def amount_without_delta(guarantees: Guarantees, value: Extended) -> Amount:
    """Return an amount that holds without any chance of a breach, else infinity."""
    return amount_above(value) if guarantees.delta == 0 else INFINITE


def amount_above(value: Extended) -> Amount:
    """Return a rational not below a parameter, or infinity."""
    return INFINITE if value is INFINITE else rational_above(value)


def square_above(mu: Extended) -> Amount:
    """Return the square of mu, a rational not below it, or infinity."""
    return INFINITE if mu is INFINITE else amount_above(mu**2)


def mu_beside_delta(mu: Any, delta: Any) -> Loss:
    """Return mu-GDP beside a chance of total breach."""
    return compose([GaussianDP(mu), ApproxDP(0, delta)])
