"""Filters: limits on sums of charges that hold for adaptive questions.

A filter is fixed before the first question, decides from public numbers alone, and
takes constant time: every accepted sum is at most the limit, coordinate by coordinate.
Each class cites its theorem; docs/proofs/filters.md proves all of them by one lemma.

>>> from sordino.losses.budgets.limits import concentrated_filter
>>> limit = concentrated_filter(ApproxDP(1, "1e-6"), reserve="5e-7")
>>> small = PureDP("0.02")
>>> spent, count = limit.zero, 0
>>> while limit.holds(spent):
...     spent, count = spent.plus(limit.charge_for(small, small)), count + 1
>>> count - 1  # fifty would be the sum of the epsilons
114

Kernel: mathematics.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Any, ClassVar, Final, Self, final

from sordino.errors import BudgetExceeded, InvalidParameter
from sordino.losses.budgets.charge import Amount, Charge
from sordino.losses.closed import ZCDP, ApproxDP, ApproxZCDP, GaussianDP
from sordino.losses.guarantees import Guarantees
from sordino.losses.loss import Budget, Loss, PureDP, compose
from sordino.numbers import INFINITE, Extended, finite, rational_above, root, sqrt

MOST_RELEASES: Final = 10**9
"""As many as are counted of one price; of what reveals nothing any number fit."""


class AbstractFilter(ABC):
    """A limit on sums of charges. The fields of a filter are its limits.

    Proof obligation: for any two neighbouring databases and any analyst, who chooses
    each release and what it may cost after all earlier answers, as long as `holds` is
    true of the sum of the charges that `charge_for` states, the loss of everything
    together is within `promise`. What is false of a sum is false of every larger sum.
    """

    rule: ClassVar[str]
    """The name of the rule in a ledger; never reused for another rule."""
    coordinates: ClassVar[tuple[str, ...]]
    own: ClassVar[tuple[type[Loss], ...]]
    """Kinds of loss that are charged as they were asked for."""
    is_additive: ClassVar[bool] = True
    """Whether limits of several blocks add up (docs/proofs/filters.md, section 9)."""

    @property
    @abstractmethod
    def promise(self) -> Loss:
        """Loss that bounds all accepted releases together."""

    @abstractmethod
    def holds(self, spent: Charge) -> bool:
        """Say whether a sum of charges is within the limit."""

    @abstractmethod
    def loss_of(self, spent: Charge) -> Loss:
        """Return a sum of charges as a loss: bookkeeping, the promise is `promise`."""

    @abstractmethod
    def remainder(self, spent: Charge) -> Loss:
        """Return a loss that would still be accepted."""

    @abstractmethod
    def _amounts(self, guarantees: Guarantees) -> tuple[Amount, ...]:
        """Amounts charged for a loss with these guarantees, infinite if unknown."""

    def charge_for(self, budget: Budget, loss: Loss) -> Charge:
        """Charge of a release, or a refusal of a loss this filter cannot count.

        `loss` is what the release costs and `budget` admits it: the caller vouches for
        that. A budget in the terms of the filter is charged itself, unless the release
        reveals nothing; else the loss is charged, or the budget if the loss has no
        guarantee in those terms.
        """
        charge = self.charge_within(budget, loss.guarantees)
        if charge is not None:
            return charge
        raise InvalidParameter(
            "budget",
            budget,
            f"buys a release that cannot be counted against the limit {self.promise!r}",
            "Ask for a budget of the same kind as the limit.",
        )

    def charge_within(self, budget: Budget | None, known: Guarantees) -> Charge | None:
        """Charge of a release with these guarantees, None if unknown."""
        # what reveals nothing is not charged (ADR 210)
        if Charge(self.coordinates, self._amounts(known)) == self.zero:
            return self.zero
        candidates = [known]
        if isinstance(budget, Loss):
            place = 0 if isinstance(budget, self.own) else 1
            candidates.insert(place, budget.guarantees)
        for guarantees in candidates:
            charge = Charge(self.coordinates, self._amounts(guarantees))
            # one amount may be unknown where a rule needs only another
            if self.holds(_finite_part(charge)):
                return charge
        return None

    def share(self, part: Fraction) -> Any:
        """A loss of which so many as 1 / part are accepted, and no more."""
        return self.remainder(self.zero).times(part)

    def accept(self, spent: Charge, charge: Charge) -> tuple[Charge, Charge]:
        """Return the charge as it is recorded, and the sum after it; or refuse.

        >>> from sordino.losses.budgets.filters import PureSum
        >>> from sordino.losses.loss import PureDP
        >>> limit, tenth = PureSum(Fraction(1)), PureDP("0.1")
        >>> spent = limit.zero
        >>> for _ in range(10):
        ...     _, spent = limit.accept(spent, limit.charge_for(tenth, tenth))
        >>> limit.remainder(spent)
        PureDP(epsilon=0)
        """
        # rounded before it is compared: what is checked is what is recorded
        fitted = charge.shorten(spent)
        after = spent.plus(fitted)
        if not self.holds(after):
            raise BudgetExceeded(
                f"this costs {self.loss_of(charge)!r}, and {self.remainder(spent)!r} "
                "is left. Ask for less, or for a smaller budget; nothing was charged."
            )
        return fitted, after

    def count_releases(self, spent: Charge, budget: Budget, loss: Loss) -> int | None:
        """How many releases of one price still fit, None if they cannot be counted.

        >>> from sordino.losses.budgets.filters import ApproxSum
        >>> from sordino.losses.closed import ApproxDP, GaussianDP
        >>> limit, tenth = ApproxSum(Fraction(1), Fraction("1e-6")), ApproxDP("0.1", 0)
        >>> limit.count_releases(limit.zero, tenth, tenth)
        10
        >>> limit.count_releases(limit.zero, GaussianDP(1), GaussianDP(1)) is None
        True
        """
        charge = self.charge_within(budget, loss.guarantees)
        if charge is None or charge == self.zero:
            return None if charge is None else MOST_RELEASES

        def holds(count: int) -> bool:
            return self.holds(spent.plus(charge.times(count)))

        fits, beyond = 0, 1
        while beyond <= MOST_RELEASES and holds(beyond):
            fits, beyond = beyond, 2 * beyond
        while beyond - fits > 1:
            middle = (fits + beyond) // 2
            fits, beyond = (middle, beyond) if holds(middle) else (fits, middle)
        return fits

    def times(self, count: int) -> Self:
        """Return the filter of what so many limits come to, if they add up.

        >>> from sordino.losses.budgets.filters import ApproxSum
        >>> ApproxSum(Fraction(1), Fraction("0.3")).times(4).promise
        ApproxDP(epsilon=4, delta=1)
        """
        numbers = {name: number * count for name, number in self.limits.items()}
        if "delta" in numbers:
            numbers["delta"] = min(numbers["delta"], Fraction(1))
        return type(self)(**numbers)

    @property
    def zero(self) -> Charge:
        """Return the sum before the first release."""
        return Charge.zero(self.coordinates)

    @property
    def limits(self) -> dict[str, Fraction]:
        """Return the numbers that make an equal filter."""
        return {field.name: _field(self, field.name) for field in fields(self)}  # type: ignore[arg-type]


def _field(instance: Any, name: str) -> Fraction:
    value: Fraction = getattr(instance, name)
    return value


def _finite_part(charge: Charge) -> Charge:
    """Return the charge with zero for what is finite: does it hold of that?"""
    amounts = (a if a is INFINITE else Fraction(0) for a in charge.amounts)
    return Charge(charge.coordinates, tuple(amounts))


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
        return PureDP(self.epsilon)

    def holds(self, spent: Charge) -> bool:
        return spent.amounts[0] <= self.epsilon

    def loss_of(self, spent: Charge) -> Loss:
        return PureDP(spent.amounts[0])

    def remainder(self, spent: Charge) -> Loss:
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
        return ApproxDP(self.epsilon, self.delta)

    def holds(self, spent: Charge) -> bool:
        return is_within(spent, self.epsilon, self.delta)

    def loss_of(self, spent: Charge) -> Loss:
        return ApproxDP(*cap_delta(spent))

    def remainder(self, spent: Charge) -> Loss:
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
        return ZCDP(self.rho)

    def holds(self, spent: Charge) -> bool:
        return spent.amounts[0] <= self.rho

    def loss_of(self, spent: Charge) -> Loss:
        return ZCDP(spent.amounts[0])

    def remainder(self, spent: Charge) -> Loss:
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
        return ApproxZCDP(self.rho, self.delta)

    def holds(self, spent: Charge) -> bool:
        return is_within(spent, self.rho, self.delta)

    def loss_of(self, spent: Charge) -> Loss:
        return ApproxZCDP(*cap_delta(spent))

    def remainder(self, spent: Charge) -> Loss:
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
        return GaussianDP(sqrt(self.square))

    def holds(self, spent: Charge) -> bool:
        return spent.amounts[0] <= self.square

    def loss_of(self, spent: Charge) -> Loss:
        return GaussianDP(root(spent.amounts[0]))

    def remainder(self, spent: Charge) -> Loss:
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
        return mu_beside_delta(sqrt(self.square), self.delta)

    def holds(self, spent: Charge) -> bool:
        return is_within(spent, self.square, self.delta)

    def loss_of(self, spent: Charge) -> Loss:
        square, delta = cap_delta(spent)
        return mu_beside_delta(root(square), delta)

    def remainder(self, spent: Charge) -> Loss:
        square, delta = spent.amounts
        return mu_beside_delta(sqrt(self.square - finite(square)), self.delta - delta)

    def share(self, part: Fraction) -> Loss:
        return GaussianDP(sqrt(self.square * part))  # the reserve is for unknown keys

    def _amounts(self, guarantees: Guarantees) -> tuple[Amount, ...]:
        return square_above(guarantees.mu), guarantees.delta


def is_within(spent: Charge, *limits: Fraction) -> bool:
    """Say whether each sum is at most its limit."""
    # exact fractions: ten tenths are the whole limit
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
    """Loss of mu-GDP composed with a chance delta of total breach."""
    return compose([GaussianDP(mu), ApproxDP(0, delta)])


@final
@dataclass(frozen=True)
class PureOrConcentrated(AbstractFilter):
    """Deltas within a reserve, and the epsilons or else the rhos within their limits.

    The part of delta beyond the reserve pays once for turning rho into epsilon; the
    pure sums need no delta at all, so that "or" is free (docs/proofs/filters.md, lemma
    3). The split of delta is fixed before the first release.
    """

    epsilon: Fraction
    rho: Fraction
    """The largest rho that is within (epsilon, the part of delta not in reserve)."""
    reserve: Fraction
    """What the deltas of releases may add up to."""
    delta: Fraction
    """The delta that is promised in all."""
    rule: ClassVar[str] = "reserve-epsilon-or-rho"
    coordinates: ClassVar[tuple[str, ...]] = ("epsilon", "rho", "delta")
    own: ClassVar[tuple[type[Loss], ...]] = ()
    is_additive: ClassVar[bool] = False

    @property
    def promise(self) -> Loss:
        return ApproxDP(self.epsilon, self.delta)

    def holds(self, spent: Charge) -> bool:
        epsilon, rho, delta = spent.amounts
        return delta <= self.reserve and (epsilon <= self.epsilon or rho <= self.rho)

    def loss_of(self, spent: Charge) -> Loss:
        epsilon, rho, delta = spent.amounts
        chance = min(delta, Fraction(1))
        if rho is INFINITE:
            return ApproxDP(epsilon, chance)
        return ApproxZCDP(rho, chance)

    def remainder(self, spent: Charge) -> Loss:
        epsilon, rho, delta = spent.amounts
        if rho < self.rho:
            return ApproxZCDP(self.rho - rho, self.reserve - delta)
        left = max(self.epsilon - epsilon, Fraction(0))
        if delta == self.reserve:
            return PureDP(left)
        return ApproxDP(left, self.reserve - delta)

    def _amounts(self, guarantees: Guarantees) -> tuple[Amount, ...]:
        # beside a delta they may hold of different events: then rho alone decides
        epsilon = INFINITE if guarantees.delta else guarantees.epsilon
        return amount_above(epsilon), amount_above(guarantees.rho), guarantees.delta
