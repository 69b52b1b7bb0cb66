"""The nodes of a plan: the relational work that engines do, as a tree of pure values.

    Source ── Project ── Filter ── Keep... ── Join ── Explode ── MapRows ── FlatMap

Every node says which columns its rows have. Rows are multisets: no node depends on the
order of rows.

A `Question` is what an engine is asked: exact integers for each group of some rows. The
answer is an Arrow table with the columns of `by` (their canonical Arrow types) followed
by one int64 column for each total, named "total 0", "total 1", ... Totals saturate at
+-MOST.

- With no `by` there is exactly one row.
- With `keys` the rows are exactly the keys, in their order; a key without rows has 0.
- Without `keys` there is a row for each group that has rows, in any order.

Kernel: sensitivity.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from functools import cache, cached_property, partial
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, TypeVar, final

from sordino.aggregations.measurement import (
    MOST,
    AbstractTotal,
    Distinct,
    Extreme,
    Total,
)
from sordino.errors import InvalidQuery
from sordino.expressions.schema import Schema
from sordino.expressions.tree import AbstractExpression

if TYPE_CHECKING:
    import pyarrow as pa


__all__ = ["MOST", "AbstractTotal", "Distinct", "Question", "Total"]

_INPUTS: Final = ("child", "left", "right")  # not `Kept.rows`: walks end at kept rows


class AbstractNode(ABC):
    """Rows, and what is publicly known of their columns."""

    schema: Schema

    @cached_property
    def inputs(self) -> "tuple[AbstractNode, ...]":
        """Nodes whose rows this one takes, from its fields."""
        return tuple(map(partial(getattr, self), _input_names(type(self))))

    @abstractmethod
    def describe(self) -> str:
        """Return one line that says what the node does."""


@final
@dataclass(frozen=True)
class Source(AbstractNode):
    """The rows of a table of the session."""

    table: str
    schema: Schema

    def describe(self) -> str:
        return f"table {self.table}"


@final
@dataclass(frozen=True)
class Unreadable(AbstractNode):
    """The rows of a table with a cell in a column that does not become its type.

    Only the columns of the schema are carried.
    """

    table: str
    column: str
    schema: Schema

    def describe(self) -> str:
        return f"rows of table {self.table} whose {self.column} cannot be read"


@final
@dataclass(frozen=True)
class Project(AbstractNode):
    """Each row with exactly these columns, computed from it."""

    child: AbstractNode
    columns: tuple[tuple[str, AbstractExpression], ...]
    schema: Schema

    def describe(self) -> str:
        shown = [
            name if str(expression) == f"col({name!r})" else f"{name} = {expression}"
            for name, expression in self.columns
        ]
        return "select " + ", ".join(shown)


@final
@dataclass(frozen=True)
class Filter(AbstractNode):
    """The rows for which a condition is true; missing is not true."""

    child: AbstractNode
    condition: AbstractExpression
    schema: Schema

    def describe(self) -> str:
        return f"filter {self.condition}"


@final
@dataclass(frozen=True)
class KeepRows(AbstractNode):
    """At most `limit` rows for each value of `per`.

    The rows kept are the first in the order of a keyed hash of `per`, `order` and the
    number of a row among those alike in these, ties broken by these columns: for any
    value of `per` they depend on its own rows alone. Rows in which a column of `per` is
    missing form one group.
    """

    child: AbstractNode
    per: tuple[str, ...]
    order: tuple[str, ...]
    """All other columns there are below, whichever of them are needed above."""
    limit: int
    schema: Schema

    def describe(self) -> str:
        return f"keep {self.limit} rows per {', '.join(self.per)}"


@final
@dataclass(frozen=True)
class KeepGroups(AbstractNode):
    """All rows of at most `limit` values of `groups` for each value of `per`.

    The groups kept are the first in the order of a keyed hash of (per, groups), ties
    broken by the groups themselves.
    """

    child: AbstractNode
    per: tuple[str, ...]
    groups: tuple[str, ...]
    limit: int
    schema: Schema

    def describe(self) -> str:
        groups = ", ".join(self.groups)
        return f"keep {self.limit} values of {groups} per {', '.join(self.per)}"


@final
@dataclass(frozen=True)
class KeepUnique(AbstractNode):
    """The rows whose value of `per` no other row has."""

    child: AbstractNode
    per: tuple[str, ...]
    schema: Schema

    def describe(self) -> str:
        return f"keep rows that are alone with their {', '.join(self.per)}"


@final
@dataclass(frozen=True)
class Crowded(AbstractNode):
    """A row for each value of `per` that has too many rows for a limit.

    With `groups` it is their values that are counted, not rows. Rows in which a column
    is missing form one group. Its columns are those of `per`.
    """

    child: AbstractNode
    per: tuple[str, ...]
    groups: tuple[str, ...]
    limit: int
    schema: Schema

    def describe(self) -> str:
        counted = ", ".join(self.groups) or "rows"
        return f"each {', '.join(self.per)} with more than {self.limit} {counted}"


@final
@dataclass(frozen=True)
class Join(AbstractNode):
    """Pairs of rows that agree in the columns `on`; a missing value agrees with none.

    The result has all columns of the left side, then those of the right side that are
    not in `on`. With `outer`, a left row without a partner stays, its right columns
    missing. Both sides have the same types in `on`.
    """

    left: AbstractNode
    right: AbstractNode
    on: tuple[str, ...]
    outer: bool
    schema: Schema

    def describe(self) -> str:
        return f"{'left' if self.outer else 'inner'} join on {', '.join(self.on)}"


@final
@dataclass(frozen=True)
class Explode(AbstractNode):
    """A row for each of the first `limit` entries of a list column, which they replace.

    A row whose list is missing or empty gives none. The entries kept are the first of
    the list, an order that belongs to the row; with no limit all are kept.
    """

    child: AbstractNode
    column: str
    limit: int | None
    schema: Schema

    def describe(self) -> str:
        return f"explode {self.column}{_cap_text(self.limit)}"


def _cap_text(limit: int | None) -> str:
    return "" if limit is None else f", at most {limit} rows each"


@final
@dataclass(frozen=True)
class MapRows(AbstractNode):
    """Each row with further columns from a Python function of the row.

    The function takes a dict of the row and returns a dict. What it fails to return, or
    returns in a wrong type, is missing.
    """

    child: AbstractNode
    function: Callable[[dict[str, Any]], Any]
    returns: tuple[str, ...]
    """The names of the new columns; their types stand in the schema."""
    schema: Schema

    def describe(self) -> str:
        return f"map {', '.join(self.returns)} = a Python function of the row"


@final
@dataclass(frozen=True)
class FlatMap(AbstractNode):
    """For each row the first `limit` rows that a Python function makes of it.

    The function takes a dict of the row and returns an iterable of dicts. A row of the
    result has all columns of the schema: those in `returns` from the function, the
    others from the row it was made of. A row on which it fails gives none.
    """

    child: AbstractNode
    function: Callable[[dict[str, Any]], Any]
    returns: tuple[str, ...]
    limit: int | None
    schema: Schema

    def describe(self) -> str:
        names = ", ".join(self.returns)
        return f"flat map {names} by a Python function{_cap_text(self.limit)}"


@final
@dataclass(frozen=True, eq=False)
class PublicRows(AbstractNode):
    """Public rows that are given with the plan; its columns are those of the schema."""

    rows: "pa.Table"
    schema: Schema

    def describe(self) -> str:
        return f"{self.rows.num_rows} public rows"


@final
@dataclass(frozen=True)
class Without(AbstractNode):
    """The rows of the left side that agree with none of the right one in columns `on`.

    A missing value agrees with a missing value.
    """

    left: AbstractNode
    right: AbstractNode
    on: tuple[str, ...]
    schema: Schema

    def describe(self) -> str:
        return f"without those that agree in {', '.join(self.on)}"


@final
@dataclass(frozen=True)
class Memberships(AbstractNode):
    """A row for each value of `per` and of `groups` that stand together in some row.

    Its column `size` says with how many values of `groups` that value of `per` stands.
    Missing values count as one value. Its columns are of `per`, `groups` and `size`.
    """

    child: AbstractNode
    per: tuple[str, ...]
    groups: tuple[str, ...]
    size: str
    schema: Schema

    def describe(self) -> str:
        groups, per = ", ".join(self.groups), ", ".join(self.per)
        return f"each {groups} of each {per}, with their number"


@final
@dataclass(frozen=True)
class Gathered(AbstractNode):
    """A row for each value of `per`: what the rows with that value come to.

    A missing value is a value. Totals saturate as those of a question do; an extreme of
    no values is missing.
    """

    child: AbstractNode
    per: tuple[str, ...]
    totals: tuple[tuple[str, AbstractTotal], ...]
    extremes: tuple[tuple[str, Extreme], ...]
    schema: Schema
    computes: bool = False
    """Whether any of them is of an expression, and not of a column as it stands."""

    def describe(self) -> str:
        return f"one row per {', '.join(self.per)}"


@final
@dataclass(frozen=True)
class Kept(AbstractNode):
    """Rows of another plan that an engine keeps, in those columns that are needed.

    That plan is no input: what walks over this one ends here.
    """

    rows: AbstractNode
    name: str
    """What the engine calls them: plans with the same rows have the same name."""
    schema: Schema

    def describe(self) -> str:
        return f"rows kept as {self.name}: {self.rows.describe()}"


def with_inputs(node: Any, inputs: tuple[AbstractNode, ...]) -> AbstractNode:
    """Return a node that takes its rows from other nodes."""
    sources = dict(zip(_input_names(node.__class__), inputs, strict=True))
    copy: AbstractNode = replace(node, **sources)
    return copy


@cache
def _input_names(kind: Any) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind) if field.name in _INPUTS)


def nodes_below(node: AbstractNode) -> Iterator[AbstractNode]:
    """Yield a node and all nodes under it, however deep they lie."""
    waiting = [node]
    while waiting:
        below = waiting.pop()
        yield below
        waiting += below.inputs


def tables_of(node: AbstractNode) -> frozenset[str]:
    """Return the names of the tables whose rows a node takes."""
    return frozenset(
        below.table
        for below in nodes_below(node)
        if isinstance(below, (Source, Unreadable))
    )


T = TypeVar("T")


def by_kind(
    base: type[Any], rules: Mapping[type[Any], T], elsewhere: Iterable[type[Any]] = ()
) -> Mapping[type[Any], T]:
    """Check that a table has a rule for each final class in the room of its base.

    So a kind of node or of total that is forgotten fails at import. Those `elsewhere`
    are dealt with before the table is asked.

    >>> by_kind(AbstractTotal, {Total: "sum"})
    Traceback (most recent call last):
    TypeError: no rule for Distinct, Missing
    """
    room = _room(base)
    kinds = {subclass for subclass in base.__subclasses__() if _room(subclass) == room}
    missing = kinds.difference(rules, elsewhere)
    if missing:
        names = ", ".join(sorted(kind.__name__ for kind in missing))
        raise TypeError(f"no rule for {names}")
    return rules


def _room(kind: type[Any]) -> str:
    return kind.__module__.rpartition(".")[0]


MOST_NODES: Final = 200
"""Every engine runs a plan of this many nodes, however deep the stack of its caller."""


def refuse_long(node: AbstractNode) -> None:
    """Refuse a plan that an engine might not get through."""
    if len(tuple(islice(nodes_below(node), MOST_NODES + 1))) > MOST_NODES:
        raise InvalidQuery(
            f"the query has more than {MOST_NODES} steps, including those of its views",
            "Combine conditions with &, and columns in one with_columns.",
        )


@final
@dataclass(frozen=True)
class Question:
    """Exact totals of rows, for each group."""

    rows: AbstractNode
    by: tuple[str, ...]
    totals: tuple[AbstractTotal, ...]
    keys: "pa.Table | None" = None
    """Public keys, sorted, each once; its columns are exactly `by`."""
