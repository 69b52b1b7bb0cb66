"""Rules of a policy about questions: groups, tables, columns, functions, people."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TypeAlias, final

from sordino.errors import PolicyRefusal, show
from sordino.policy.usage import TableColumn, TableColumns, Usage


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
        """Return what may be a key or choose rows: either may bound them."""
        return _in_either(self._keys(place), self._filters(place))

    def _any(self, place: TableColumn) -> Listed | None:
        """Return what may be used at all."""
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
