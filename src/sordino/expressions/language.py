"""The words that expressions are written with: `col`, `lit`, and what they have.

>>> (col("age") + 1) * 2 >= 36
((col('age') + 1) * 2) >= 36
"""

from collections.abc import Mapping
from typing import Any, NoReturn, final

from sordino.errors import InvalidParameter, InvalidQuery
from sordino.expressions import (
    arithmetic,
    automata,
    bins,
    casts,
    comparison,
    conditional,
    dates,
    exponentials,
    extreme_values,
    formats,
    letters,
    logic,
    mapping,
    membership,
    missing,
    numeric,
    patterns,
    pieces_of_text,
    text,
    zones,
)
from sordino.expressions.base import AbstractExpression, Value
from sordino.expressions.fluent import AbstractFluent, lift
from sordino.expressions.literals import literal
from sordino.expressions.tree import AbstractTree, Call, Col, Operation
from sordino.schema import Column, Schema
from sordino.words import Words


@final
class Expression(AbstractFluent):
    """A value computed from the columns of one row, in a way that always succeeds.

    >>> from sordino.schema import Schema, Column
    >>> half = col("x") / 2
    >>> half.value({"x": 3}), half.value({"x": None})
    (1.5, None)
    """

    __array_ufunc__ = None
    """NumPy numbers leave operators to us."""

    def __init__(self, tree: AbstractTree) -> None:
        """Wrap a tree."""
        self.tree = tree

    def call(
        self, operation: Operation, *arguments: Any, **options: Any
    ) -> "Expression":
        """Return an operation on expressions and values."""
        return _built(operation, *arguments, **options)

    def names(self) -> frozenset[str]:
        """Return the columns that are read."""
        return self.tree.names()

    def column(self, schema: Schema) -> Column:
        """Return the facts of the result, or refuse types that make no sense."""
        return self.tree.column(schema)

    @property
    def words(self) -> Words:
        """Return those of the tree."""
        return self.tree.words

    def value(self, row: Mapping[str, Value]) -> Value:
        """Return the value for one row."""
        return self.tree.value(row)

    def same(self, other: AbstractExpression) -> bool:
        """Tell whether two expressions are written alike; `==` compares values.

        >>> (col("x") + 1).same(col("x") + 1), (col("x") + 1).same(col("x") + 1.0)
        (True, False)
        """
        return self.tree.same(lift(other))

    def __str__(self) -> str:
        return str(self.tree)

    __repr__ = __str__

    def __bool__(self) -> NoReturn:
        raise InvalidQuery(
            "an expression is neither true nor false before there is a row",
            "Write & for and, | for or, ~ for not, each side in parentheses.",
        )

    def __hash__(self) -> NoReturn:
        raise InvalidQuery(
            "an expression cannot be a key of a set or a dict",
            "Use a list, and .same(...) to tell whether two are alike.",
        )

    def __eq__(self, other: object) -> "Expression":  # type: ignore[override]
        """Return whether the values are equal: an expression, no bool."""
        return comparison.equal(self, other)

    def __ne__(self, other: object) -> "Expression":  # type: ignore[override]
        """Return whether the values differ: an expression, no bool."""
        return comparison.unequal(self, other)

    __add__ = arithmetic.add
    __radd__ = arithmetic.add_to
    __sub__ = arithmetic.subtract
    __rsub__ = arithmetic.subtract_from
    __mul__ = arithmetic.multiply
    __rmul__ = arithmetic.multiply_to
    __truediv__ = arithmetic.divide
    __rtruediv__ = arithmetic.divide_into
    __floordiv__ = arithmetic.floor_divide
    __rfloordiv__ = arithmetic.floor_divide_into
    __mod__ = arithmetic.modulo
    __rmod__ = arithmetic.modulo_into
    __neg__ = arithmetic.negate
    __lt__ = comparison.less
    __le__ = comparison.at_most
    __gt__ = comparison.greater
    __ge__ = comparison.at_least
    __and__ = logic.both
    __rand__ = logic.both_of
    __or__ = logic.either
    __ror__ = logic.either_of
    __invert__ = logic.is_false
    __abs__ = numeric.absolute

    is_null = missing.is_null
    is_nan = missing.is_nan
    is_infinite = missing.is_infinite
    fill_null = missing.fill_null
    fill_nan = missing.fill_nan
    coalesce = missing.coalesce
    replace_infinity = missing.replace_infinity

    quotient = arithmetic.quotient
    remainder = arithmetic.remainder
    greatest = extreme_values.greatest
    least = extreme_values.least
    clip = numeric.clip
    abs = numeric.absolute
    round_down = numeric.round_down
    round = numeric.round_
    sqrt = numeric.sqrt
    exp = exponentials.exp
    log = exponentials.log
    power = exponentials.power
    floor = numeric.floor
    ceil = numeric.ceil
    bin = bins.bin_
    is_in = membership.is_in
    map_values = mapping.map_values
    cast = casts.cast

    lower = text.lower
    upper = text.upper
    lowercase = letters.lowercase
    uppercase = letters.uppercase
    length = text.length
    slice = text.slice_
    contains = text.contains
    find = text.find
    like = patterns.like
    matches = automata.match_all
    split = pieces_of_text.split_
    starts_with = text.starts_with
    ends_with = text.ends_with
    concat = text.concat
    strip = text.strip
    replace = text.replace
    normalize = text.normalize

    year = dates.year
    month = dates.month
    day = dates.day
    weekday = dates.weekday
    hour = dates.hour
    minute = dates.minute
    second = dates.second
    truncate = dates.truncate
    days_between = dates.days_between
    seconds_between = dates.seconds_between
    add_days = dates.add_days
    add_seconds = dates.add_seconds
    add_hours = zones.add_hours
    utc_offset = zones.utc_offset
    local_time = zones.local_time
    strptime = formats.strptime
    strftime = formats.strftime


def col(name: str) -> Expression:
    """Return the value of a column.

    >>> col("age")
    col('age')
    """
    if not isinstance(name, str):
        raise InvalidParameter(
            "name", name, "must be the name of a column", 'Try col("age").'
        )
    return Expression(Col(str(name)))


def lit(value: Any, type: str | None = None) -> Expression:  # noqa: A002 a type it is
    """Return the same value for every row; a missing one needs a type.

    >>> lit(5), lit(None, "text"), lit(1, "f64")
    (5, lit(None, 'text'), 1.0)
    """
    return Expression(literal(value, type))


def when(condition: Any) -> conditional.Condition[Expression]:
    """Begin a choice by conditions; a missing condition is not true.

    >>> when(col("x") > 0).then("plus").when(col("x") < 0).then("minus").otherwise(None)
    when(col('x') > 0).then('plus').when(col('x') < 0).then('minus').otherwise(None)
    """
    return conditional.Condition(_built, (condition,))


def _built(operation: Operation, *arguments: Any, **options: Any) -> Expression:
    """Return a call as an expression."""
    return Expression(Call(operation, tuple(map(lift, arguments)), options))


def check_expression(**argument: Any) -> AbstractTree:
    """Return the tree of the single keyword argument, which must be an expression.

    >>> check_expression(condition="age > 17")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    sordino.errors.InvalidParameter: condition must be an expression, not text, got ...
    """
    ((name, value),) = argument.items()
    match value:
        case AbstractFluent() | AbstractTree():
            return lift(value)
        case str():
            raise InvalidParameter(
                name,
                value,
                "must be an expression, not text",
                'Write col("age") >= 18, or lit("...") for a text.',
            )
        case _:
            raise InvalidParameter(
                name,
                value,
                "must be an expression",
                "Write lit(...) around a value.",
            )
