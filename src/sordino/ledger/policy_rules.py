"""Rules of a policy, what a release uses, what is counted.

signed text ── rules ── what a release uses and loses (public facts) ── refused?

The ledger asks every rule before each charge (ADR 203). What is counted are an epsilon
and a delta of each release, day by day: sums are exact, and each pair holds of its
release whatever was answered before (ADR 204).

Kernel: charge.
"""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from fractions import Fraction
from typing import Any, Final, NamedTuple, TypeAlias, final

from sordino.errors import PolicyRefusal, show
from sordino.losses.budgets.charge import Amount, Charge
from sordino.losses.budgets.filters import amount_above, is_within
from sordino.losses.closed import ApproxDP
from sordino.losses.guarantees import Guarantees
from sordino.losses.loss import Budget, Loss, PureDP, decimal_above
from sordino.numbers import INFINITE, finite


@final
class TableColumn(NamedTuple):
    """A column of a private table."""

    table: str
    column: str

    def __str__(self) -> str:
        """Return it as it is written."""
        return f"{self.table}.{self.column}"


TableColumns = frozenset[TableColumn]


@final
@dataclass(frozen=True, kw_only=True)
class Usage:
    """Which tables and columns one request reads, what for, and which groups it shows.

    Of a column that is made of others, these.
    """

    tables: frozenset[str]
    keys: TableColumns = frozenset()
    """What marks groups."""
    filters: TableColumns = frozenset()
    """What decides which rows count."""
    values: TableColumns = frozenset()
    """What is aggregated."""
    bounds: TableColumns = frozenset()
    """What a person's rows are bounded or brought together by."""
    covered: TableColumns = frozenset()
    """What is counted of rows that were left out, or of values that were clamped."""
    functions: frozenset[str] = frozenset()
    runs_python: bool = False
    is_answered: bool = True
    """Whether an answer leaves; parts of a table are charged before any."""
    is_grouped: bool = False
    is_chosen: bool = False
    """Whether the rows are some of those there are."""
    is_of_some: bool = False
    """Whether it divides by, or ranks, the rows with a value of a made column."""
    level: Fraction | None = None
    """What the noisy count of each group that is shown has at least, if it has."""


@final
@dataclass(frozen=True)
class Listed:
    """Names that are allowed, and the rule that lists them, as the file has it."""

    rule: str
    names: frozenset[str]

    def refuse_others(self, names: Iterable[str], does: str, remedy: str) -> None:
        """Refuse the first name that is not listed; `does` says what it is used for."""
        for name in sorted(names):
            if name not in self.names:
                raise PolicyRefusal(self.rule, f"{does} {show(name)}", remedy)


@final
@dataclass(frozen=True)
class ColumnRules:
    """What the columns of a table may be used for; None where nothing is said of it."""

    keys: Listed | None = None
    filters: Listed | None = None
    values: Listed | None = None


@final
@dataclass(frozen=True)
class TableRules:
    """The tables that may be read, and what their columns may be used for."""

    rule: str
    columns: Mapping[str, ColumnRules]

    def refuse(self, usage: Usage) -> None:
        """Refuse another table, and a column in a role that it may not have."""
        names = Listed(self.rule, frozenset(self.columns))
        names.refuse_others(usage.tables, "this reads", "Ask one of these tables.")
        _refuse_roles(usage.keys, self._keys, "groups are marked by")
        _refuse_roles(usage.filters, self._filters, "rows are chosen by")
        _refuse_roles(usage.values, self._values, "this aggregates")
        _refuse_roles(usage.bounds, self._bounds, "people's rows are divided by")
        _refuse_roles(usage.covered, self._any, "its coverage is counted of")

    def _keys(self, place: TableColumn) -> Listed | None:
        return self.columns[place.table].keys

    def _filters(self, place: TableColumn) -> Listed | None:
        return self.columns[place.table].filters

    def _values(self, place: TableColumn) -> Listed | None:
        return self.columns[place.table].values

    def _bounds(self, place: TableColumn) -> Listed | None:
        """Columns that may be keys or choose rows: either may bound them."""
        return _in_either(self._keys(place), self._filters(place))

    def _any(self, place: TableColumn) -> Listed | None:
        return _in_either(self._bounds(place), self._values(place))


def _in_either(first: Listed | None, other: Listed | None) -> Listed | None:
    """Return the names of two lists, None where either allows everything."""
    if first is None or other is None:
        return None
    return Listed(f"{first.rule}, {other.rule}", first.names | other.names)


_Role: TypeAlias = Callable[[TableColumn], Listed | None]


def _refuse_roles(places: TableColumns, role: _Role, does: str) -> None:
    """Refuse a column that is not listed for its role, or what is made of it."""
    for place in sorted(places):
        listed = role(place)
        if listed is not None and place.column not in listed.names:
            raise PolicyRefusal(
                listed.rule,
                f"{does} {show(str(place))}, or by what is made of it",
                "Use a column that is listed.",
            )


@final
@dataclass(frozen=True)
class Least:
    """The least noisy count of a group that is shown."""

    rule: str
    count: int

    def refuse(self, usage: Usage) -> None:
        """Refuse an answer in which a group with a smaller noisy count may show."""
        if not usage.is_answered:
            return
        if usage.is_of_some:
            raise PolicyRefusal(
                self.rule,
                "the rows that have a value of what an expression, a function or a "
                "public table makes are a group that nothing counts",
                "Ask this of a column as the table has it, or a sum and a count.",
            )
        if not usage.is_grouped:
            if usage.is_chosen:
                raise PolicyRefusal(
                    self.rule,
                    "an answer about some of the rows is a group that nothing counts",
                    "Ask about all rows, or by groups that may be left out.",
                )
            return
        if usage.level is None or usage.level < self.count:
            shown = "0" if usage.level is None else f"{float(usage.level):.4g}"
            raise PolicyRefusal(
                self.rule,
                f"groups show here from a noisy count of {shown} on",
                f"Leave smaller groups out: .suppress_below({self.count}) after agg, "
                f"in a job file suppress_below = {self.count}.",
            )


@final
@dataclass(frozen=True)
class Functions:
    """The aggregations that may be asked, and whether Python functions may run."""

    aggregations: Listed | None
    python: str
    """The rule that lets none run, "" if there is none."""

    def refuse(self, usage: Usage) -> None:
        """Refuse another aggregation, and a Python function where none may run."""
        if self.aggregations is not None:
            self.aggregations.refuse_others(
                usage.functions, "this asks", "Ask what is listed."
            )
        if self.python and usage.runs_python:
            raise PolicyRefusal(
                self.python,
                "this runs a Python function on private rows",
                "Say it with expressions.",
            )


@final
@dataclass(frozen=True)
class People:
    """The names under which may be asked, and budgets of analysts: they are claims."""

    who: Listed | None
    analysts: Listed | None

    def refuse(self, who: str, analyst: str) -> None:
        """Refuse another name, and a charge to another budget."""
        if self.who is not None:
            self.who.refuse_others(
                [who], "this is asked by", 'Say who asks: sd.Session(..., who="...").'
            )
        if self.analysts is not None:
            self.analysts.refuse_others(
                [analyst],
                "this is charged to",
                'Say who asks: sd.Session(..., analyst="...").',
            )


COORDINATES: Final = ("epsilon", "delta")
"""What the sums of a policy count."""


@final
@dataclass(frozen=True)
class Most:
    """An epsilon and a delta that are not to be exceeded, and how they are stated."""

    epsilon: Fraction
    delta: Fraction
    rules: tuple[str, str]
    """The two rules, as they stand in the file."""

    @property
    def sentence(self) -> str:
        """Return both rules."""
        return ", ".join(self.rules)

    def refuse_loss(self, loss: Loss) -> None:
        """Refuse a release whose loss is not within both, by its exact curve."""
        if ApproxDP(self.epsilon, self.delta).admits(loss):
            return
        epsilon = loss.epsilon_at(self.delta)
        shown = "infinite" if math.isinf(epsilon) else decimal_above(Fraction(epsilon))
        raise PolicyRefusal(
            self.sentence,
            f"this costs epsilon = {shown} at that delta",
            "Ask for less, or for a smaller budget.",
        )

    def holds(self, total: Charge) -> bool:
        """Say whether a sum is within both."""
        return is_within(total, self.epsilon, self.delta)

    def refuse_sum(self, charge: Charge, total: Charge, period: str) -> None:
        """Refuse a charge with which a sum would be above one of both."""
        sides = zip(
            COORDINATES,
            (self.epsilon, self.delta),
            self.rules,
            charge.amounts,
            total.amounts,
            strict=True,
        )
        for name, most, rule, amount, after in sides:
            if after > most:
                raise PolicyRefusal(
                    rule,
                    f"this counts as {name} = {_amount_text(amount)}, with which "
                    f"{period} would have {_amount_text(after)}",
                    "Ask for less, or another time.",
                )


def _amount_text(amount: Amount) -> str:
    """Return an amount that can be read, rounded up."""
    return "infinite" if amount is INFINITE else decimal_above(amount)


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
        """Fields that a ledger records."""
        return {"day": self.day.isoformat(), "sum": self.total.texts()}

    @classmethod
    def read(cls, fields: Mapping[str, Any]) -> "DayTally":
        """The inverse of `fields`; JSON has sorted the names."""
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
    """Difference of two finite sums."""
    sides = zip(total.amounts, earlier.amounts, strict=True)
    return Charge(COORDINATES, tuple(finite(a) - finite(b) for a, b in sides))
