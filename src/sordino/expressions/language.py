"""The words that expressions are written with: `col`, `lit`, and what they have.

>>> (col("age") + 1) * 2 >= 36
((col('age') + 1) * 2) >= 36
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NoReturn, final

from sordino import _validate
from sordino.errors import InvalidParameter, InvalidQuery
from sordino.expressions import arithmetic, comparison, logic
from sordino.expressions.base import AbstractExpression, Value
from sordino.expressions.fluent import AbstractFluent, lifted
from sordino.expressions.literals import literal
from sordino.expressions.tree import AbstractTree, Call, Col, Operation
from sordino.schema import Column, Schema


@final
@dataclass(frozen=True, eq=False, repr=False)
class Expression(AbstractFluent):
    """A value computed from the columns of one row, in a way that always succeeds.

    >>> from sordino.schema import Schema, Column
    >>> half = col("x") / 2
    >>> half.value({"x": 3}), half.value({"x": None})
    (1.5, None)
    """

    root: AbstractTree

    __array_ufunc__ = None
    """NumPy numbers leave operators to us."""

    @property
    def tree(self) -> AbstractTree:
        """Return the tree: what plans hold."""
        return self.root

    def call(
        self, operation: Operation, *arguments: Any, **options: Any
    ) -> "Expression":
        """Return an operation on expressions and values."""
        return Expression(Call(operation, tuple(map(lifted, arguments)), options))

    def names(self) -> frozenset[str]:
        """Return the columns that are read."""
        return self.root.names()

    def column(self, schema: Schema) -> Column:
        """Return the facts of the result, or refuse types that make no sense."""
        return self.root.column(schema)

    def value(self, row: Mapping[str, Value]) -> Value:
        """Return the value for one row."""
        return self.root.value(row)

    def same(self, other: AbstractExpression) -> bool:
        """Tell whether two expressions are written alike; `==` compares values.

        >>> (col("x") + 1).same(col("x") + 1), (col("x") + 1).same(col("x") + 1.0)
        (True, False)
        """
        return self.root.same(lifted(other))

    def __str__(self) -> str:
        return str(self.root)

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
    __eq__ = comparison.equal  # type: ignore[assignment]  # == builds an expression
    __ne__ = comparison.unequal  # type: ignore[assignment]  # != as well
    __lt__ = comparison.less
    __le__ = comparison.at_most
    __gt__ = comparison.greater
    __ge__ = comparison.at_least
    __and__ = logic.both
    __rand__ = logic.both_of
    __or__ = logic.either
    __ror__ = logic.either_of
    __invert__ = logic.negated


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


def checked(**argument: Any) -> AbstractTree:
    """Return the tree of the single keyword argument, which must be an expression.

    >>> checked(condition="age > 17")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    sordino.errors.InvalidParameter: condition must be an expression, not text, got ...
    """
    name, value = _validate.one(**argument)
    match value:
        case AbstractFluent() | AbstractTree():
            return lifted(value)
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
