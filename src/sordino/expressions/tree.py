"""Columns and literals at the leaves, calls above; what an operation declares; facts of results.

An `Operation` is a definition: what follows for the facts of the result, and what the
values mean in Python. Engines have a table with an entry for each; nothing else here
knows which operations there are.

Kernel: totals.
"""  # noqa: E501

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from functools import cached_property
from typing import Any, Final, TypeAlias, final

from sordino.errors import InvalidQuery, show
from sordino.expressions.schema import NUMBERS, Column, Schema
from sordino.numbers.canonical import Words, call, number
from sordino.numbers.frozen import fill

Value: TypeAlias = Any
"""None, bool, int, float, str, date, datetime or a list of these."""


class AbstractExpression(ABC):
    """A value computed from the columns of one row.

    Proof obligation: `value` depends on its row alone, never raises for any row of a
    schema that `column` accepted, and every engine gives the same value.
    """

    @abstractmethod
    def names(self) -> frozenset[str]:
        """Return the columns that are read."""

    @abstractmethod
    def column(self, schema: Schema) -> Column:
        """Return the facts of the result, or refuse types that make no sense."""

    @property
    @abstractmethod
    def words(self) -> Words:
        """Canonical words of the request, which outlive this program."""

    @property
    def cell(self) -> Words:
        """The range of its whole numbers, as a certificate has it; None: any."""
        return None

    @abstractmethod
    def value(self, row: Mapping[str, Value]) -> Value:
        """Return the value for one row: the meaning that every engine must keep."""


_KINDS: Final[Mapping[type, str]] = {
    bool: "bool",
    int: "i64",
    float: "f64",
    str: "text",
    date: "date",
    datetime: "time",
}


def kind(value: Value) -> str:
    """Return the type of a value that is not missing.

    >>> kind(True), kind(1), kind(1.0)
    ('bool', 'i64', 'f64')
    """
    return _KINDS[type(value)]


DEEPEST: Final = 40
"""So deep a tree can be written as SQL by functions that call themselves."""
LARGEST: Final = 4_000
"""So large a tree is read by an engine within a second."""

Options = Mapping[str, Any]


@final
@dataclass(frozen=True)
class Argument:
    """What is publicly known of an argument: its facts, and its value if literal."""

    column: Column
    constant: Value = None

    @property
    def type(self) -> str:
        """Return the type."""
        return self.column.type


@final
@dataclass(frozen=True, eq=False)
class Operation:
    """A row-wise operation: one meaning, kept by every engine.

    Proof obligation: for any values of the types that `facts` accepts, `meaning` gives
    a value of the resulting type or None and never raises. It gives None for arguments
    that are not missing only where the facts of the result are unsettled, or where the
    documentation says that this is what was asked for.
    """

    name: str
    facts: Callable[..., Column]
    """(*arguments: Argument, **options) -> facts of the result, or a refusal"""
    meaning: Callable[..., Value]
    """(*values, **options) -> value"""
    strict: bool = True
    """Whether a missing argument makes the result missing."""
    copies: int | None = 1
    """How often an engine may write out an argument; None: as half of them are many."""
    symbol: str = ""
    """How the operation is written between its arguments, if it is."""
    text: Callable[..., str] | None = None
    """(arguments, **options) -> how the operation is written otherwise"""
    words: Callable[..., Words] | None = None
    """(arguments, **options) -> its words, if they are not name, arguments, options"""
    cell: Callable[..., Words] | None = None
    """(arguments, **options) -> what whole numbers it makes, for a certificate"""


class AbstractTree(AbstractExpression):
    """A part of an expression; compared by identity, or by `same`."""

    constant: Value
    """The value of a literal, None otherwise."""
    depth: int
    """How many calls stand above each other."""
    weight: int
    """How large the expression may become when it is written out, but for literals."""

    @abstractmethod
    def same(self, other: AbstractExpression) -> bool:
        """Tell whether two trees have the same form, names and literals."""


@final
@dataclass(frozen=True, eq=False, repr=False)
class Col(AbstractTree):
    """The value of a column; the name is only ever looked up."""

    name: str
    constant: Value = field(default=None, init=False)
    depth: int = field(default=0, init=False)
    weight: int = field(default=1, init=False)

    def names(self) -> frozenset[str]:
        return frozenset((self.name,))

    def column(self, schema: Schema) -> Column:
        return schema[self.name]

    @property
    def words(self) -> Words:
        return call("col", name=self.name)

    @property
    def cell(self) -> Words:
        return {"column": self.name}

    def value(self, row: Mapping[str, Value]) -> Value:
        return row[self.name]

    def same(self, other: AbstractExpression) -> bool:
        return isinstance(other, Col) and other.name == self.name

    def __str__(self) -> str:
        return f"col({self.name!r})"

    __repr__ = __str__


@final
@dataclass(frozen=True, eq=False, repr=False)
class Literal(AbstractTree):
    """A public value, the same for every row; or a missing value of a type."""

    type: str
    constant: Value
    depth: int = field(default=0, init=False)
    weight: int = field(default=0, init=False)

    def names(self) -> frozenset[str]:
        return frozenset()

    def column(self, schema: Schema) -> Column:  # noqa: ARG002 the same for any
        return Column(
            self.type,
            nullable=self.constant is None,
            nan=self.constant != self.constant,  # only NaN
        )

    @property
    def words(self) -> Words:
        value = None if self.constant is None else _SAID[self.type](self.constant)
        return call("lit", type=self.type, value=value)

    @property
    def cell(self) -> Words:
        return {"is": self.constant} if self.type == "i64" else None

    def value(self, row: Mapping[str, Value]) -> Value:  # noqa: ARG002 the same for any
        return self.constant

    def same(self, other: AbstractExpression) -> bool:
        return (
            isinstance(other, Literal)
            and other.type == self.type
            and repr(other.constant) == repr(self.constant)  # NaN does not equal NaN
        )

    def __str__(self) -> str:
        if self.constant is None:
            return f"lit(None, {self.type!r})"
        return show(self.constant)

    __repr__ = __str__


@final
@dataclass(frozen=True, eq=False, repr=False)
class Call(AbstractTree):
    """An operation on the values of some expressions."""

    operation: Operation
    arguments: tuple[AbstractTree, ...]
    options: Options
    constant: Value = field(default=None, init=False)
    depth: int = field(init=False)
    weight: int = field(init=False)

    def __post_init__(self) -> None:
        depth = 1 + max(argument.depth for argument in self.arguments)
        copies = self.operation.copies or len(self.arguments) // 2
        weight = 1 + copies * sum(argument.weight for argument in self.arguments)
        if depth > DEEPEST or weight > LARGEST:
            raise InvalidQuery(
                "this expression is too large to be computed at once",
                "Name a part of it with with_columns, and go on from that column.",
            )
        fill(self, depth=depth, weight=weight)

    def names(self) -> frozenset[str]:
        return self._names

    @cached_property
    def _names(self) -> frozenset[str]:
        return frozenset().union(*(argument.names() for argument in self.arguments))

    def column(self, schema: Schema) -> Column:
        known = (
            Argument(argument.column(schema), argument.constant)
            for argument in self.arguments
        )
        return self.operation.facts(*known, **self.options)

    @property
    def words(self) -> Words:
        if self.operation.words is not None:
            return self.operation.words(self.arguments, **self.options)
        given = {name: _option(value) for name, value in self.options.items()}
        of = [argument.words for argument in self.arguments]
        return call(self.operation.name, of=of, **given)

    @property
    def cell(self) -> Words:
        rule = self.operation.cell
        return None if rule is None else rule(self.arguments, **self.options)

    def value(self, row: Mapping[str, Value]) -> Value:
        values = [argument.value(row) for argument in self.arguments]
        if self.operation.strict and any(value is None for value in values):
            return None
        return self.operation.meaning(*values, **self.options)

    def same(self, other: AbstractExpression) -> bool:
        return (
            isinstance(other, Call)
            and other.operation is self.operation
            and other.options == self.options
            and len(other.arguments) == len(self.arguments)
            and all(map(_same, self.arguments, other.arguments))
        )

    def __str__(self) -> str:
        if self.operation.text is not None:
            return self.operation.text(self.arguments, **self.options)
        if self.operation.symbol:
            return _infix(self.operation.symbol, self.arguments)
        further = [*map(str, self.arguments[1:]), *_named(self.options)]
        name = f"{receiver(self.arguments[0])}.{self.operation.name}"
        return f"{name}({', '.join(further)})"

    __repr__ = __str__


def _option(value: Value) -> Words:
    return None if value is None else Literal(kind(value), value).words


_SAID: Final[Mapping[str, Callable[[Value], Words]]] = {
    "i64": number,
    "f64": number,
    "text": str,
    "bool": bool,
    "date": date.isoformat,
    # words last for ever: by itself isoformat leaves out a fraction of 0
    "time": lambda moment: moment.isoformat(timespec="microseconds"),
}
"""How the value of a literal is said."""


def _same(left: AbstractTree, right: AbstractTree) -> bool:
    return left.same(right)


def receiver(tree: AbstractTree) -> str:
    """Return the text of what a method is called of."""
    return f"lit({tree})" if isinstance(tree, Literal) else _enclosed(tree)


def _enclosed(tree: AbstractTree) -> str:
    infix = isinstance(tree, Call) and tree.operation.symbol
    return f"({tree})" if infix else str(tree)


def _infix(symbol: str, arguments: Sequence[AbstractTree]) -> str:
    texts = [_enclosed(argument) for argument in arguments]
    return f" {symbol} ".join(texts) if len(texts) > 1 else symbol + texts[0]


def _named(options: Options) -> list[str]:
    return [f"{name}={value!r}" for name, value in options.items()]


def result(
    kind: str,
    arguments: Sequence[Argument],
    *,
    nan: bool = False,
    lost: str | None = None,
) -> Column:
    """Return the facts of a result that is missing where an argument is.

    `lost` is the reason why it may be missing where no argument is.
    """
    unsettled = reason(arguments) or lost
    nullable = unsettled is not None or any(
        argument.column.nullable for argument in arguments
    )
    longer = longest(arguments)
    return Column(kind, nullable=nullable, nan=nan, unsettled=unsettled, longer=longer)


def longest(arguments: Sequence[Argument]) -> int:
    """How many times as long as what was read a text that is one of some may be."""
    return max((argument.column.longer for argument in arguments), default=1)


def first(kind: str, arguments: Sequence[Argument]) -> Column:
    """Return the facts of one of the values that are there: missing if none is."""
    nullable = all(argument.column.nullable for argument in arguments)
    return Column(
        kind,
        nullable=nullable,
        nan=any_nan(arguments),
        unsettled=reason(arguments) if nullable else None,  # else a value is there
        longer=longest(arguments),
    )


def reason(arguments: Sequence[Argument]) -> str | None:
    """Return the first reason why a value may be missing that the data did have."""
    reasons = (argument.column.unsettled for argument in arguments)
    return next((text for text in reasons if text is not None), None)


def any_nan(arguments: Sequence[Argument]) -> bool:
    """Tell whether an argument may be NaN."""
    return any(argument.column.nan for argument in arguments)


def may_be_infinite(argument: Argument) -> bool:
    """Tell whether an argument may be an infinity."""
    known = isinstance(argument.constant, float) and math.isfinite(argument.constant)
    return argument.type == "f64" and not known


def may_be_zero(argument: Argument) -> bool:
    """Tell whether an argument may be 0."""
    # a column may hold any value
    return argument.constant is None or argument.constant == 0


def require_types(
    what: str, arguments: Sequence[Argument], kinds: Sequence[str], remedy: str
) -> None:
    """Refuse arguments of other types; a bool is not a number."""
    if any(argument.type not in kinds for argument in arguments):
        wanted = "numbers" if kinds is NUMBERS else " or ".join(kinds)
        raise InvalidQuery(
            f"{what} takes {wanted}, not {list_types(arguments)}", remedy
        )


def alike(what: str, arguments: Sequence[Argument], remedy: str) -> str:
    """Return the one type that all arguments have, or refuse them."""
    if len({argument.type for argument in arguments}) > 1 or "[" in arguments[0].type:
        raise InvalidQuery(
            f"{what} takes values of one type, not {list_types(arguments)}", remedy
        )
    return arguments[0].type


def comparable(what: str, arguments: Sequence[Argument], remedy: str) -> str:
    """Return the type in which arguments are compared: numbers meet in f64."""
    if all(argument.type in NUMBERS for argument in arguments):
        return joint(arguments)
    return alike(what, arguments, remedy)


def joint(arguments: Sequence[Argument]) -> str:
    """Return the type in which numbers meet."""
    return "f64" if any(argument.type == "f64" for argument in arguments) else "i64"


def list_types(arguments: Sequence[Argument]) -> str:
    """Return the types for a message: i64, text and f64."""
    kinds = list(dict.fromkeys(argument.type for argument in arguments))
    return " and ".join(", ".join(kinds).rsplit(", ", 1))
