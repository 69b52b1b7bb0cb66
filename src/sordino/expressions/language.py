"""The words that expressions are written with, and the list of all operations.

>>> (col("age") + 1) * 2 >= 36
((col('age') + 1) * 2) >= 36
"""

from collections.abc import Mapping
from typing import Any, Final, NoReturn, final

from sordino.errors import InvalidParameter, InvalidQuery
from sordino.expressions import (
    arithmetic,
    bins,
    casts,
    choices,
    dates,
    exponentials,
    logic,
    regular,
    text,
)
from sordino.expressions.literals import AbstractFluent, lift, literal
from sordino.expressions.schema import Column, Schema
from sordino.expressions.tree import (
    AbstractExpression,
    AbstractTree,
    Call,
    Col,
    Operation,
    Value,
)
from sordino.numbers.canonical import Words

OPERATIONS: Final[tuple[Operation, ...]] = (
    *arithmetic.OPERATIONS,
    *logic.COMPARISONS,
    *logic.OPERATIONS,
    *exponentials.OPERATIONS,
    *bins.OPERATIONS,
    *casts.OPERATIONS,
    *choices.OPERATIONS,
    *text.OPERATIONS,
    *regular.OPERATIONS,
    *dates.OPERATIONS,
)


@final
class Expression(AbstractFluent):
    """A value computed from the columns of one row, in a way that always succeeds.

    >>> from sordino.expressions.schema import Schema, Column
    >>> half = col("x") / 2
    >>> half.value({"x": 3}), half.value({"x": None})
    (1.5, None)
    """

    __array_ufunc__ = None
    """NumPy numbers leave operators to us."""

    def __init__(self, tree: AbstractTree) -> None:
        self.tree = tree

    def call(
        self, operation: Operation, *arguments: Any, **options: Any
    ) -> "Expression":
        return _built(operation, *arguments, **options)

    def names(self) -> frozenset[str]:
        return self.tree.names()

    def column(self, schema: Schema) -> Column:
        return self.tree.column(schema)

    @property
    def words(self) -> Words:
        return self.tree.words

    def value(self, row: Mapping[str, Value]) -> Value:
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
        return logic.equal(self, other)

    def __ne__(self, other: object) -> "Expression":  # type: ignore[override]
        return logic.unequal(self, other)

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
    __lt__ = logic.less
    __le__ = logic.at_most
    __gt__ = logic.greater
    __ge__ = logic.at_least
    __and__ = logic.both
    __rand__ = logic.both_of
    __or__ = logic.either
    __ror__ = logic.either_of
    __invert__ = logic.is_false
    __abs__ = arithmetic.absolute

    is_null = logic.is_null
    is_nan = logic.is_nan
    is_infinite = logic.is_infinite
    fill_null = logic.fill_null
    fill_nan = logic.fill_nan
    coalesce = logic.coalesce
    replace_infinity = logic.replace_infinity

    quotient = arithmetic.quotient
    remainder = arithmetic.remainder
    greatest = choices.greatest
    least = choices.least
    clip = arithmetic.clip
    abs = arithmetic.absolute
    round_down = arithmetic.round_down
    round = arithmetic.round_
    sqrt = arithmetic.sqrt
    exp = exponentials.exp
    log = exponentials.log
    power = exponentials.power
    floor = arithmetic.floor
    ceil = arithmetic.ceil
    bin = bins.bin_
    is_in = choices.is_in
    map_values = choices.map_values
    cast = casts.cast

    lower = text.lower
    upper = text.upper
    lowercase = text.lowercase
    uppercase = text.uppercase
    length = text.length
    slice = text.slice_
    contains = text.contains
    find = text.find
    like = text.like
    matches = regular.match_all
    extract = regular.extract
    replace_matches = regular.replace_matches
    split = text.split_
    starts_with = text.starts_with
    ends_with = text.ends_with
    concat = text.concat
    strip = text.strip
    strip_start = text.strip_start
    strip_end = text.strip_end
    substring = text.text_between
    piece = text.piece
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
    add_months = dates.add_months
    add_seconds = dates.add_seconds
    add_hours = dates.add_hours
    utc_offset = dates.utc_offset
    local_time = dates.local_time
    strptime = casts.strptime
    strftime = casts.strftime


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


def when(condition: Any) -> choices.Condition[Expression]:
    """Begin a choice by conditions; a missing condition is not true.

    >>> when(col("x") > 0).then("plus").when(col("x") < 0).then("minus").otherwise(None)
    when(col('x') > 0).then('plus').when(col('x') < 0).then('minus').otherwise(None)
    """
    return choices.Condition(_built, (condition,))


def _built(operation: Operation, *arguments: Any, **options: Any) -> Expression:
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
