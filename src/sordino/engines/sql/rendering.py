"""Expressions as SQL trees, by the entries of a dialect.

    col("age") < 17.5    ->    CAST(c0 AS DOUBLE) < CAST($1 AS DOUBLE), [17.5]

A literal never becomes SQL text, but for small integers, truths and NULL: it is bound
as a parameter. Every column that an expression may read says its type, see `typed`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, final

from sqlglot import exp

from sordino.engines.sql.dialect import AbstractDialect
from sordino.engines.sql.pieces import Written
from sordino.errors import InvalidParameter
from sordino.expressions.base import AbstractExpression, Value
from sordino.expressions.fluent import AbstractFluent
from sordino.expressions.tree import Argument, Call, Col, Literal
from sordino.schema import Column, Schema, unknown

_SMALL: Final = 2**31
_TYPE: Final = "sordino type"


@final
@dataclass(frozen=True, eq=False)
class _RenderedCall:
    """A call that several expressions share, rendered once."""

    call: Call
    columns: Mapping[str, exp.Expression]
    """Both are held, so that no other object has their identity."""
    node: exp.Expression
    argument: Argument


@final
class Parameters:
    """The values bound so far, in the order of their placeholders.

    Equal values share a placeholder, so that equal expressions are equal statements and
    an engine computes them once.
    """

    def __init__(self, dialect: AbstractDialect) -> None:
        """Begin with none."""
        self.dialect = dialect
        self.values: list[Any] = []
        self._places: dict[tuple[type, str], int] = {}
        self.calls: dict[tuple[int, int], _RenderedCall] = {}
        """What was rendered of calls, by the call and the columns that it reads."""

    def bind(self, value: Value, type: str) -> exp.Expression:  # noqa: A002 it is one
        """Return a placeholder of a type for a value."""
        self.dialect.refuse_unheld(value)
        return exp.Cast(this=self._place(value), to=self.dialect.type_of(type))

    def _place(self, value: Value) -> exp.Expression:
        """Return the bare text of a small value, or the next placeholder."""
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


def with_type(column: exp.Expression, type: str) -> exp.Expression:  # noqa: A002 it is one
    """Return a SQL tree that says which type of ours its values have."""
    column.meta[_TYPE] = type
    return column


def typed_columns(
    schema: Schema, table: str | None = None
) -> dict[str, exp.Expression]:
    """Return the columns of a schema as SQL trees for `rendered`.

    >>> schema = Schema.of([('a"b', Column("text"))])
    >>> typed_columns(schema, "t")['a"b'].sql()
    '"t"."a""b"'
    """
    return {
        name: with_type(exp.column(name, table=table, quoted=True), schema[name].type)
        for name in schema
    }


def render(
    expression: AbstractExpression,
    columns: Mapping[str, exp.Expression],
    parameters: Parameters,
) -> exp.Expression:
    """Return the SQL tree of an expression; its columns are typed by `typed`."""
    return _render(expression, columns, parameters)[0]


def _render(
    expression: AbstractExpression,
    columns: Mapping[str, exp.Expression],
    parameters: Parameters,
) -> tuple[exp.Expression, Argument]:
    """Return the SQL tree of an expression, and what is known of its value."""
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
            if key not in parameters.calls:
                parameters.calls[key] = _RenderedCall(
                    expression,
                    columns,
                    *_render_call(expression, columns, parameters),
                )
            known = parameters.calls[key]
            return known.node.copy(), known.argument
        case _:
            raise InvalidParameter(
                "expression", expression, "must be built from col and lit", "Use these."
            )


def _read(
    name: str, columns: Mapping[str, exp.Expression]
) -> tuple[exp.Expression, Argument]:
    """Return where a column is, and its type."""
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
    call: Call, columns: Mapping[str, exp.Expression], parameters: Parameters
) -> tuple[exp.Expression, Argument]:
    """Return the SQL tree of a call, and what is known of its value."""
    pairs = [_render(argument, columns, parameters) for argument in call.arguments]
    nodes, known = zip(*pairs, strict=True)
    facts = call.operation.facts(*known, **call.options)
    written = Written(nodes, known, call.options, parameters.bind)
    parameters.dialect.refuse_absent(facts.type)
    return parameters.dialect.entry(call.operation)(written), Argument(facts)
