"""Limits that hold although every question and price follows earlier answers.

A filter is a limit on sums of charges. It is fixed before the first question, decides
from public numbers alone, and takes constant time. Theorems in docs/proofs/filters.md.
"""

from abc import ABC, abstractmethod
from dataclasses import fields
from fractions import Fraction
from typing import Any, ClassVar, Self

from sordino.budgets.charge import Amount, Charge
from sordino.errors import BudgetExceeded, InvalidParameter
from sordino.losses.base import Budget, Loss
from sordino.losses.guarantees import Guarantees
from sordino.numbers import INFINITE


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
        """Return what holds of all accepted releases together."""

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
        """Return what a loss with such guarantees is charged, infinite if unknown."""

    def charge_for(self, budget: Budget, loss: Loss) -> Charge:
        """Return what a release is charged.

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
        """Return what a release with such guarantees is charged, None if unknown."""
        if Charge(self.coordinates, self._amounts(known)) == self.zero:
            return self.zero
        candidates = [known]
        if isinstance(budget, Loss):
            place = 0 if isinstance(budget, self.own) else 1
            candidates.insert(place, budget.guarantees)
        for guarantees in candidates:
            charge = Charge(self.coordinates, self._amounts(guarantees))
            if self.holds(_finite_part(charge)):
                return charge
        return None

    def accept(self, spent: Charge, charge: Charge) -> tuple[Charge, Charge]:
        """Return what is charged in fact, and the sum after it; or refuse.

        >>> from sordino.budgets.filter_sums import PureSum
        >>> from sordino.losses.base import PureDP
        >>> limit, tenth = PureSum(Fraction(1)), PureDP("0.1")
        >>> spent = limit.zero
        >>> for _ in range(10):
        ...     _, spent = limit.accept(spent, limit.charge_for(tenth, tenth))
        >>> limit.remainder(spent)
        PureDP(epsilon=0)
        """
        fitted = charge.shorten(spent)
        after = spent.plus(fitted)
        if not self.holds(after):
            raise BudgetExceeded(
                f"this costs {self.loss_of(charge)!r}, and {self.remainder(spent)!r} "
                "is left. Ask for less, or for a smaller budget; nothing was charged."
            )
        return fitted, after

    def times(self, count: int) -> Self:
        """Return the filter of what so many limits come to, if they add up.

        >>> from sordino.budgets.filter_sums import ApproxSum
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
    """Return one field of a dataclass."""
    value: Fraction = getattr(instance, name)
    return value


def _finite_part(charge: Charge) -> Charge:
    """Return the charge with zero for what is finite: does it hold of that?"""
    amounts = (a if a is INFINITE else Fraction(0) for a in charge.amounts)
    return Charge(charge.coordinates, tuple(amounts))
