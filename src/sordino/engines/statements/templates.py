"""Pieces of SQL trees that entries are built from; none of them is text.

An engine computes what has no columns before it runs, and there a branch that is never
taken can raise. So every part of an entry is total by itself, not by its place in a
CASE; `Written.reads` tells where the slower total form is not needed.

Kernel: totals.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any, Final, TypeAlias, final

from sqlglot import exp

from sordino.expressions.tree import Argument

Sql: TypeAlias = exp.Expression
"""A tree that stands for one value."""


@final
@dataclass(frozen=True, eq=False)
class Written:
    """The arguments of an operation as SQL, and what is known of them."""

    arguments: tuple[Sql, ...]
    known: tuple[Argument, ...]
    options: Mapping[str, Any]
    bind: Callable[[Any, str], Sql]
    """(value, type) -> a placeholder"""

    def __len__(self) -> int:
        """Return the number of arguments."""
        return len(self.arguments)

    def __getitem__(self, index: int) -> Sql:
        """Return an argument, anew each time: a tree has one parent."""
        return in_parentheses(self.arguments[index].copy())

    def each(self) -> list[Sql]:
        """Return all arguments."""
        return [self[index] for index in range(len(self))]

    @cached_property
    def types(self) -> tuple[str, ...]:
        """Return the types of the arguments."""
        return tuple(argument.type for argument in self.known)

    @property
    def reads(self) -> bool:
        """Tell whether the first argument reads a column."""
        return self.arguments[0].find(exp.Column) is not None

    @property
    def real(self) -> bool:
        """Tell whether an argument is f64."""
        return "f64" in self.types

    def joint(self, index: int) -> Sql:
        """Return a number as f64 if another argument is."""
        if self.real and self.types[index] == "i64":
            return as_type(self[index], "DOUBLE")
        return self[index]


Entry: TypeAlias = Callable[[Written], Sql]


_OPEN: Final = (exp.Binary, exp.Unary, exp.In, exp.Between)


def in_parentheses(node: Sql) -> Sql:
    """A tree in parentheses, if an operator could tear it apart."""
    could_be_torn = isinstance(node, _OPEN) and not isinstance(node, exp.Paren)
    return exp.Paren(this=node) if could_be_torn else node


def infix(kind: type[exp.Expression], left: Sql, right: Sql) -> Sql:
    """Return an operator between two values."""
    return kind(this=in_parentheses(left), expression=in_parentheses(right))


def plus(left: Sql, right: Sql) -> Sql:
    """Return left + right."""
    return infix(exp.Add, left, right)


def minus(left: Sql, right: Sql) -> Sql:
    """Return left - right."""
    return infix(exp.Sub, left, right)


def multiplied_by(left: Sql, right: Sql) -> Sql:
    """Return left * right."""
    return infix(exp.Mul, left, right)


def is_less(left: Sql, right: Sql) -> Sql:
    """Return left < right."""
    return infix(exp.LT, left, right)


def is_at_most(left: Sql, right: Sql) -> Sql:
    """Return left <= right."""
    return infix(exp.LTE, left, right)


def is_equal(left: Sql, right: Sql) -> Sql:
    """Return left = right."""
    return infix(exp.EQ, left, right)


def conjunction(left: Sql, right: Sql) -> Sql:
    """Return left AND right."""
    return infix(exp.And, left, right)


def negation(condition: Sql) -> Sql:
    """Return NOT one."""
    return exp.Not(this=in_parentheses(condition))


def is_missing(value: Sql) -> Sql:
    """Return whether a value is NULL."""
    return exp.Is(this=in_parentheses(value), expression=exp.null())


def exists(other: exp.Table, on: exp.Condition) -> exp.Exists:
    """Return whether another table has a row for which a condition holds."""
    return exp.Exists(this=exp.Select().select(whole(1)).from_(other).where(on))


def as_type(value: Sql, kind: str) -> Sql:
    """Return a value of another SQL type; it must be sure to have one."""
    return exp.Cast(this=value, to=sql_type(kind))


def as_type_or_null(value: Sql, kind: str) -> Sql:
    """Return a value of another SQL type, or NULL; unsafe ones are written CAST."""
    return exp.TryCast(this=value, to=sql_type(kind), safe=True)


def sql_type(kind: str, dialect: str = "") -> exp.DataType:
    """Return a SQL type, anew each time: a tree has one parent."""
    return _parse(kind, dialect).copy()


@cache
def _parse(kind: str, dialect: str) -> exp.DataType:
    """Return a SQL type; to parse its name takes longer than to copy it."""
    return exp.DataType.build(kind, dialect=dialect)


def function(name: str, *arguments: Sql) -> Sql:
    """Return a function by its very name in the engine."""
    return exp.Anonymous(this=name, expressions=list(arguments))


def case(branches: Sequence[tuple[Sql, Sql]], otherwise: Sql | None = None) -> Sql:
    """Return the value of the first branch that is true, else NULL."""
    return exp.Case(
        ifs=[exp.If(this=test, true=value) for test, value in branches],
        default=otherwise,
    )


def case_of(value: Sql, ends: Mapping[int, Sql]) -> Sql:
    """Value that belongs to a small integer, else NULL."""
    ifs = [exp.If(this=whole(number), true=end) for number, end in ends.items()]
    return exp.Case(this=value, ifs=ifs)


def whole(number: int) -> Sql:
    """Return a small integer that belongs to the form of an operation."""
    return exp.Literal.number(number)


def bigint(number: int) -> Sql:
    """Return an integer that belongs to the form of an operation, as i64."""
    return as_type(exp.Literal.number(number), "BIGINT")


def double(number: int) -> Sql:
    """Return an integer that belongs to the form of an operation, as f64."""
    return as_type(exp.Literal.number(number), "DOUBLE")


def half() -> Sql:
    """Return 1/2 as f64."""
    return as_type(exp.Literal.number("0.5"), "DOUBLE")


def letters(text: str) -> Sql:
    """Return a text that belongs to the form of an operation, never a literal."""
    return exp.Literal.string(text)
