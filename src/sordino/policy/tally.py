"""What a policy counts: an epsilon and a delta of each release, day by day.

Sums are exact; each pair holds of its release whatever was answered before (ADR 204).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from fractions import Fraction
from typing import Any, Final, final

from sordino.budgets.charge import Amount, Charge
from sordino.budgets.filter_sums import amount_above
from sordino.losses.base import Budget, Loss, PureDP
from sordino.losses.closed import ApproxDP
from sordino.losses.guarantees import Guarantees
from sordino.numbers import INFINITE, finite
from sordino.policy.loss_rules import COORDINATES

YEAR: Final = timedelta(366)
"""Days of a year, in whichever it lies: any so many in a row."""
NONE: Final = Charge.zero(COORDINATES)


@final
@dataclass(frozen=True)
class DayTally:
    """What was counted up to a day."""

    day: date
    total: Charge

    def fields(self) -> dict[str, Any]:
        """Return what a ledger records of it."""
        return {"day": self.day.isoformat(), "sum": self.total.texts()}

    @classmethod
    def read(cls, fields: Mapping[str, Any]) -> "DayTally":
        """Return what was recorded; JSON has sorted the names."""
        return cls(date.fromisoformat(fields["day"]), read_counted(fields["sum"]))


def read_counted(texts: Mapping[str, str]) -> Charge:
    """Return an epsilon and a delta that were recorded."""
    return Charge.read({name: texts[name] for name in COORDINATES})


def count_release(budget: Budget, loss: Loss, delta: Fraction) -> Charge:
    """Return an epsilon and a delta within which a release certainly is.

    As it was asked for, if in these terms; else by its headline; else by its curve at
    a delta. Infinite where none of them says.
    """
    own = [budget] if isinstance(budget, (PureDP, ApproxDP)) else []
    for bound in (*own, loss):
        counted = _headline(bound.guarantees)
        if counted is not None:
            return counted
    return _count_at(loss, delta)


def count_recorded(charges: Mapping[str, str], loss: Loss, delta: Fraction) -> Charge:
    """Return the same of a release that is recorded: what it was charged, or its loss.

    >>> count_recorded({"epsilon": "1/2"}, PureDP(1), Fraction(0)).texts()
    {'epsilon': '1/2', 'delta': '0/1'}
    >>> count_recorded({"mu_squared": "1/100"}, PureDP(1), Fraction(0)).texts()
    {'epsilon': '1/1', 'delta': '0/1'}
    """
    if charges and set(charges) <= set(COORDINATES) and "inf" not in charges.values():
        return read_counted({"delta": "0/1", **charges})
    return count_release(loss, loss, delta)


def _headline(guarantees: Guarantees) -> Charge | None:
    """Return the exact epsilon and delta of a loss, None where epsilon is infinite."""
    epsilon = amount_above(guarantees.epsilon)
    if epsilon is INFINITE:
        return None
    return Charge(COORDINATES, (epsilon, guarantees.delta))


def _count_at(loss: Loss, delta: Fraction) -> Charge:
    """Return the epsilon of a loss at a delta; a curve tells it upwards."""
    epsilon = loss.epsilon_at(delta)
    amount: Amount = INFINITE if epsilon == float("inf") else Fraction(epsilon)
    return Charge(COORDINATES, (amount, delta))


def next_day(newest: date | None, today: date) -> date:
    """Return the day of a charge: a clock that was set back is not believed.

    >>> next_day(date(2026, 3, 1), date(2026, 2, 1)).isoformat()
    '2026-03-01'
    """
    return today if newest is None else max(newest, today)


def counted_since(total: Charge, earlier: Charge) -> Charge:
    """Return what was counted since an earlier sum; both are finite."""
    sides = zip(total.amounts, earlier.amounts, strict=True)
    return Charge(COORDINATES, tuple(finite(a) - finite(b) for a, b in sides))
