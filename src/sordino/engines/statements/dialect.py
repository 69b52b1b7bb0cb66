"""A dialect: how one database says everything that a plan can ask.

| what | for |
|---|---|
| `types`, `entries` | values and expressions: a SQL form for each of our operations |
| `in_place`, `value_of` | sources that the database reads by itself |
| `digest`, `order_term`, `same`, `first`, `in_part` | which rows a bound keeps |
| `exact_sum`, `brief_sum`, `sum_of_totals`, `row_count` | exact sums |
| `narrow_total`, `distinct` | other exact totals |
| `semi_join`, `anti_join`, `unnest`, `stores` | rows beside other rows |
| `placeholder` | values bound in a statement |

What decides about privacy is never left to a translation between dialects. A dialect is
complete or not there: one that lacks an operation or a type and does not say so by
`absent` cannot be imported.

Expressions become trees by the entries of a dialect:

    col("age") < 17.5    ->    CAST(c0 AS DOUBLE) < CAST($1 AS DOUBLE), [17.5]

A literal never becomes SQL text, but for small integers, truths and NULL: it is bound
as a parameter. Every column that an expression may read says its type (`with_type`).

Kernel: totals.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final, TypeAlias, final

import pyarrow as pa
from sqlglot import exp

from sordino.data.source import AbstractSource
from sordino.engines.statements.templates import (
    Entry,
    Sql,
    Written,
    as_type,
    as_type_or_null,
    bigint,
    case,
    function,
    letters,
    sql_type,
)
from sordino.errors import InvalidParameter, InvalidQuery
from sordino.expressions.language import OPERATIONS
from sordino.expressions.literals import AbstractFluent
from sordino.expressions.schema import TYPES, Column, Schema, unknown
from sordino.expressions.tree import (
    AbstractExpression,
    Argument,
    Call,
    Col,
    Literal,
    Operation,
    Value,
)

SALT: Final = "salt"  # the placeholder of the secret key of digests


def refusal(engine: str, what: str, why: str) -> InvalidQuery:
    """Return the refusal of what a database cannot say exactly.

    >>> raise refusal("sqlite", "sqrt", "it has no sqrt")
    Traceback (most recent call last):
    sordino.errors.InvalidQuery: sqlite cannot compute sqrt: it has no sqrt. ...
    """
    return InvalidQuery(
        f"{engine} cannot compute {what}: {why}",
        "Ask without it, or in a session with another engine.",
    )


class AbstractDialect(ABC):  # noqa: PLR0904 all that a database has to say
    """How one database says what must be said exactly.

    Proof obligation: each form has the meaning that its docstring gives, on this
    database, for any values; none of them raises, and none depends on more than its
    arguments: not on the order of rows, on time, on settings or on chance.
    """

    name: ClassVar[str]
    """What sqlglot calls it: names, literals and operators are written by it."""
    types: ClassVar[Mapping[str, str]]  # the SQL type of each type of ours
    entries: ClassVar[Mapping[Operation, Entry]]  # the SQL form of each operation
    wide_type: ClassVar[pa.DataType]
    """In which type of Arrow a wide total leaves the database."""
    digest_type: ClassVar[pa.DataType]  # in which type of Arrow a digest does
    key_hash: ClassVar[str] = ""
    """A function of values to one integer, null like no value, if that is fast."""
    rules: ClassVar[Mapping[type[Any], Any]] = {}
    """Nodes that are written in a way of its own, by rules as in `plan_rows`."""
    tells_sums: ClassVar[bool] = False
    """Whether it is asked for sums and counts, which are put together outside of it."""
    narrow_types: ClassVar[Mapping[int, str]] = {}
    """SQL types of integers of so many bits, where rows are kept in few of them."""
    absent: ClassVar[Mapping[str, str]] = {}
    """Types and operations (`modulo`, `modulo of f64`) that it lacks, and why."""
    unheld: ClassVar[frozenset[str]] = frozenset()
    """Characters that no text of the database can have."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        covered = {
            *cls.types,
            *(operation.name for operation in cls.entries),
            *cls.absent,
        }
        lacking = {*TYPES, *(operation.name for operation in OPERATIONS)} - covered
        if lacking:
            names = ", ".join(sorted(lacking))
            raise TypeError(f"{cls.__name__} leaves open: {names}")

    def type_of(self, kind: str) -> exp.DataType:
        """Return the SQL type of a type of ours, anew each time."""
        self.refuse_absent(kind)
        return sql_type(self.types[kind], self.name)

    def refuse_absent(self, kind: str) -> None:
        """Refuse a type of ours that the database cannot hold."""
        if kind not in self.types:
            raise refusal(self.name, kind, self.absent[kind])

    def refuse_unheld(self, value: Any) -> None:
        """Refuse a text with a character that the database cannot hold."""
        if isinstance(value, str) and not self.unheld.isdisjoint(value):
            marks = ", ".join(
                f"U+{ord(character):04X}" for character in sorted(self.unheld)
            )
            raise refusal(self.name, f"a text with {marks}", "it holds no such text")

    def entry(self, operation: Operation, kind: str) -> Entry:
        """Return how an operation is written whose result has a type."""
        for name in (operation.name, f"{operation.name} of {kind}"):
            if name in self.absent:
                raise refusal(self.name, name, self.absent[name])
        return self.entries[operation]

    def text(self, tree: exp.Select) -> str:
        """Return the text of a statement."""
        return tree.sql(self.name, copy=False)

    @abstractmethod
    def placeholder(self, number: int) -> Sql:
        """Placeholder of the n-th bound value, from 1 on."""

    @abstractmethod
    def in_place(self, source: AbstractSource, places: Sequence[int]) -> Sql | None:
        """FROM clause where the database reads a source by itself; else None.

        It is called t, its columns c0, c1, ... by their places. None is for a source
        whose rows are handed over, each value of our types.
        """

    @abstractmethod
    def value_of(self, column: Sql, arrow: pa.DataType) -> Sql:
        """Return a column, read in place or handed over as text, as values of ours.

        Nothing that its source states of it is believed. What has no place in our type
        is null: integers of more than 64 bits, days and times outside of years 1 to
        9999, texts of more than 1 MiB; a zero has no sign; times are in UTC.
        """

    @abstractmethod
    def digest(self, values: Sequence[Sql]) -> Sql:
        """Return a hash of values and the key, in which null is like no value.

        For a random key any order of different tuples is about as likely as another.
        """

    @abstractmethod
    def order_term(self, value: Sql) -> exp.Ordered:
        """Order term: a total order in which equal values are the same value.

        What is missing comes first.
        """

    @abstractmethod
    def same(self, left: Sql, right: Sql) -> Sql:
        """Condition: two values are the same, null like null; never null itself."""

    @abstractmethod
    def first(self, value: Sql, kind: str) -> Sql:
        """Return the value of a group of one row, by its type."""

    @abstractmethod
    def in_part(self, values: Sequence[Sql], number: int, count: int) -> Sql:
        """Condition: a digest of values falls into part `number` of `count`."""

    @abstractmethod
    def unnest(self, entries: Sql, limit: int | None) -> Sql:
        """Return the first entries of a list, one a row; none for a missing list."""

    @abstractmethod
    def semi_join(
        self, rows: exp.Select, other: exp.Table, on: exp.Condition
    ) -> exp.Select:
        """Return the rows for which another table has a row."""

    @abstractmethod
    def anti_join(
        self, rows: exp.Select, other: exp.Table, on: exp.Condition
    ) -> exp.Select:
        """Return the rows for which another table has no row."""

    @abstractmethod
    def stores(self, *, shared: bool) -> bool | None:
        """Decide whether a named subquery is stored; None leaves it to the database.

        Shared is one that several others read.
        """

    @abstractmethod
    def exact_sum(
        self, value: Sql, factor: int, shift: int, *, complete: bool = False
    ) -> Sql:
        """Return the exact sum of factor * value + shift, in a type that holds it.

        Of i64 values; null adds nothing, and the sum of nothing is 0. Complete values
        are not null in any row.
        """

    def missing_rows(self, value: Sql, times: int) -> Sql:
        """Return how many i64 values are null, times `times`, in a type that holds it.

        For each row it is null here just where `exact_sum` leaves it out.
        """
        is_null = value.copy().is_(exp.null())
        return self.exact_sum(case([(is_null, bigint(1))]), times, 0)

    def name_value(self, value: Sql) -> tuple[Sql, Callable[[Sql], Sql]]:
        """Return the part of an i64 value that gets a name, and how to read the value.

        The part is null just where the value is. For dialects that `tells_sums`.
        """
        return value, lambda column: column

    def place_in_box(
        self, group: Sequence[Sql], keys: pa.Table
    ) -> tuple[Sql, Sql] | None:
        """Return the place of a group among public keys, and whether it is one of them.

        None where keys are not told by their places alone: they are joined then.
        """
        del group, keys
        return None

    def brief_sum(self, value: Sql) -> Sql:
        """Return the exact sum of i64 values as an i64; where it is not held, null.

        Null adds nothing, and the sum of nothing is 0. For dialects that `tells_sums`.
        """
        raise refusal(self.name, f"the sum of {value.key}", "it tells totals")

    @abstractmethod
    def sum_of_totals(self, total: Sql) -> Sql:
        """Return the exact sum of wide totals, in a type that holds it."""

    @abstractmethod
    def row_count(self, times: int) -> Sql:
        """Number of rows times `times`, in a type that holds it."""

    @abstractmethod
    def narrow_total(self, total: Sql) -> Sql:
        """Return a wide total held within +-MOST, as an i64."""

    @abstractmethod
    def distinct(self, values: Sequence[Sql]) -> Sql:
        """Return how many different tuples there are, none of whose values is null.

        In a type that holds wide totals, too.
        """


CellRule: TypeAlias = Callable[[Sql, pa.DataType], Sql]
"""Makes of a value, which a source has as a type of Arrow, one of ours."""
LAST_DAY: Final = "9999-12-31"
LAST_MOMENT: Final = f"{LAST_DAY} 23:59:59.999999"


def each_of(name: str, entries: Sql, arrow: pa.DataType, rule: CellRule) -> Sql:
    """Return a list whose entries a rule has made ours, by a function of a name."""
    entry = exp.to_identifier("e")
    changed = exp.Lambda(this=rule(exp.column("e"), arrow), expressions=[entry])
    return function(name, entries, changed)


def integer_cell(value: Sql, arrow: pa.DataType) -> Sql:
    """Return an integer as an i64, null beyond its range."""
    return value if pa.types.is_int64(arrow) else as_type_or_null(value, "BIGINT")


def within_calendar(value: Sql, kind: str, last: str) -> Sql:
    """Return a date or a time of the years 1 to 9999, null outside of them."""
    first, end = (as_type(letters(text), kind) for text in ("0001-01-01", last))
    return case([(exp.Between(this=value.copy(), low=first, high=end), value)])


_SMALL: Final = 2**31
_TYPE: Final = "sordino type"


@final
@dataclass(frozen=True, eq=False)
class _RenderedCall:
    """A call that several expressions share, rendered once."""

    call: Call
    columns: Mapping[str, Sql]
    """Both are held, so that no other object has their identity."""
    node: Sql
    argument: Argument


@final
class Parameters:
    """The values bound so far, in the order of their placeholders.

    Equal values share a placeholder, so that equal expressions are equal statements and
    an engine computes them once.
    """

    def __init__(self, dialect: AbstractDialect) -> None:
        self.dialect = dialect
        self.values: list[Any] = []
        self._places: dict[tuple[type, str], int] = {}
        self.calls: dict[tuple[int, int], _RenderedCall] = {}
        """What was rendered of calls, by the call and the columns that it reads."""

    def bind(self, value: Value, type: str) -> Sql:  # noqa: A002 it is one
        """Return a placeholder of a type for a value."""
        self.dialect.refuse_unheld(value)
        return exp.Cast(this=self._place(value), to=self.dialect.type_of(type))

    def _place(self, value: Value) -> Sql:
        match value:
            case None:
                return exp.null()
            case bool():
                return exp.true() if value else exp.false()
            case int() if abs(value) < _SMALL:
                return exp.Literal.number(value)
            case _:
                # by their text: 0.0 equals -0.0, and NaN nothing
                known = self._places.setdefault(
                    (type(value), repr(value)), len(self.values) + 1
                )
                if known > len(self.values):
                    self.values.append(value)
                return self.dialect.placeholder(known)


def with_type(column: Sql, type: str) -> Sql:  # noqa: A002 it is one
    """Return a SQL tree that says which type of ours its values have."""
    column.meta[_TYPE] = type
    return column


def typed_columns(schema: Schema, table: str | None = None) -> dict[str, Sql]:
    """Return the columns of a schema as SQL trees for `render`.

    >>> schema = Schema.of([('a"b', Column("text"))])
    >>> typed_columns(schema, "t")['a"b'].sql()
    '"t"."a""b"'
    """
    return {
        name: with_type(exp.column(name, table=table, quoted=True), schema[name].type)
        for name in schema
    }


def render(
    expression: AbstractExpression, columns: Mapping[str, Sql], parameters: Parameters
) -> Sql:
    """Return the SQL tree of an expression; its columns say their types."""
    return _render(expression, columns, parameters)[0]


def _render(
    expression: AbstractExpression, columns: Mapping[str, Sql], parameters: Parameters
) -> tuple[Sql, Argument]:
    match expression:
        case AbstractFluent():
            return _render(expression.tree, columns, parameters)
        case Col():
            return _read(expression.name, columns)
        case Literal():
            node = parameters.bind(expression.constant, expression.type)
            return node, Argument(expression.column(Schema(())), expression.constant)
        case Call():
            key = id(expression), id(columns)
            if (known := parameters.calls.get(key)) is not None:
                return known.node.copy(), known.argument
            node, argument = _render_call(expression, columns, parameters)
            parameters.calls[key] = _RenderedCall(expression, columns, node, argument)
            # itself, and copies to whoever asks again: nobody changes what it is given
            return node, argument
        case _:
            raise InvalidParameter(
                "expression", expression, "must be built from col and lit", "Use these."
            )


def _read(name: str, columns: Mapping[str, Sql]) -> tuple[Sql, Argument]:
    if name not in columns:
        raise unknown("column", name, columns)
    node = columns[name].copy()
    kind = node.meta.pop(_TYPE, None)
    if kind is None:
        raise InvalidParameter(
            "columns", name, "must say a type", "Use with_type(...)."
        )
    return node, Argument(Column(kind))


def _render_call(
    call: Call, columns: Mapping[str, Sql], parameters: Parameters
) -> tuple[Sql, Argument]:
    pairs = [_render(argument, columns, parameters) for argument in call.arguments]
    nodes, known = zip(*pairs, strict=True)
    facts = call.operation.facts(*known, **call.options)
    written = Written(nodes, known, call.options, parameters.bind)
    parameters.dialect.refuse_absent(facts.type)
    entry = parameters.dialect.entry(call.operation, facts.type)
    return entry(written), Argument(facts)
