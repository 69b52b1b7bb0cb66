"""One value of several: when, is_in, map_values, greatest, least.

A missing condition is not true. Of the greatest and the least, what is missing is left
out, and values are compared as `<` compares: NaN is greater than all other numbers. All
values have one type.

Kernel: totals.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cmp_to_key, partial
from typing import Any, Final, Generic, final

from sordino.errors import InvalidParameter, InvalidQuery
from sordino.expressions import tree
from sordino.expressions.literals import Fluent, literal
from sordino.expressions.logic import (
    EQUAL,
    IS_NULL,
    first_facts,
    order,
    require_others,
)
from sordino.expressions.schema import Column
from sordino.expressions.tree import (
    AbstractTree,
    Argument,
    Call,
    Operation,
    Value,
    receiver,
)
from sordino.numbers.canonical import Words, call

_ALIKE: Final = "Write 0.0 for an f64 and 0 for an i64, or cast one of them."
_ORDER: Final = cmp_to_key(order)


def _meaning(choose: Callable[..., Value]) -> Callable[..., Value]:
    def chosen(*values: Value) -> Value:
        there = [value for value in values if value is not None]
        return choose(there, key=_ORDER) if there else None

    return chosen


GREATEST: Final = Operation(
    "greatest", partial(first_facts, "greatest"), _meaning(max), strict=False
)
LEAST: Final = Operation(
    "least", partial(first_facts, "least"), _meaning(min), strict=False
)


def greatest(self: Fluent, *others: Any) -> Fluent:
    """Return the greatest of the values that are not missing.

    >>> from sordino.expressions.language import col
    >>> col("x").greatest(col("y"), 0).value({"x": -1, "y": None})
    0
    """
    return self.call(GREATEST, self, *require_others("greatest", others))


def least(self: Fluent, *others: Any) -> Fluent:
    """Return the least of the values that are not missing.

    >>> from sordino.expressions.language import col
    >>> col("x").least(col("y"), 0).value({"x": -1, "y": None})
    -1
    """
    return self.call(LEAST, self, *require_others("least", others))


_COMPARE: Final = "Compare: when(col('x') > 0)."


def split_branches(arguments: Any, given: tuple[bool, ...]) -> tuple[Any, Any]:
    """Return the conditions and the values; one that is not given is None.

    The arguments are (condition, condition, ..., value, value, ..., last value).
    """
    count = len(given) - 1
    values = iter(arguments[count:])
    return arguments[:count], [next(values) if there else None for there in given]


def _when_facts(*arguments: Argument, given: tuple[bool, ...]) -> Column:
    conditions, values = split_branches(arguments, given)
    there = [value for value in values if value is not None]
    tree.require_types("when", conditions, ("bool",), _COMPARE)
    kind = tree.alike("when", there, _ALIKE)
    return Column(
        kind,
        nullable=not all(given) or any(value.column.nullable for value in there),
        nan=tree.any_nan(there),
        unsettled=tree.reason(there),
        longer=tree.longest(there),
    )


def _when_meaning(*values: Value, given: tuple[bool, ...]) -> Value:
    conditions, results = split_branches(values, given)
    pairs = zip(conditions, results, strict=False)  # the last has no condition
    return next((value for test, value in pairs if test), results[-1])


def _text(arguments: Sequence[AbstractTree], given: tuple[bool, ...]) -> str:
    conditions, values = split_branches(arguments, given)
    pairs = zip(conditions, values, strict=False)  # the last has no condition
    said = ".".join(f"when({test}).then({value})" for test, value in pairs)
    return f"{said}.otherwise({values[-1]})"


def _words(arguments: Sequence[AbstractTree], given: tuple[bool, ...]) -> Words:
    conditions, values = split_branches(arguments, given)
    words: list[Words] = [None if value is None else value.words for value in values]
    tests: list[Words] = [condition.words for condition in conditions]
    cases: list[Words] = [list(pair) for pair in zip(tests, words[:-1], strict=True)]
    return call("when", cases=cases, otherwise=words[-1])


def _cell(arguments: Sequence[AbstractTree], given: tuple[bool, ...]) -> Words:
    """Return the numbers of the branches; of 1 for what is missing, that it is."""
    tests, values = split_branches(arguments, given)
    cells: list[Words] = [value.cell for value in values if value is not None]
    match tests, cells:
        case [Call(operation=operation, arguments=[of])], [{"is": 1}, {"is": 0}] if (
            operation is IS_NULL
        ):
            return {"missing": of.cell}
        case _:
            return {"either": cells}


WHEN: Final = Operation(
    "when",
    _when_facts,
    _when_meaning,
    strict=False,
    text=_text,
    words=_words,
    cell=_cell,
)


@final
@dataclass(frozen=True, eq=False)
class Condition(Generic[Fluent]):
    """A condition whose value is still to be said."""

    build: Callable[..., Fluent]
    conditions: tuple[Any, ...]
    values: tuple[Any, ...] = ()

    def then(self, value: Any) -> "Branches[Fluent]":
        """Say the value where the condition is true; None for missing."""
        return Branches(self.build, self.conditions, (*self.values, value))


@final
@dataclass(frozen=True, eq=False)
class Branches(Generic[Fluent]):
    """Conditions and their values; `otherwise` makes an expression of them."""

    build: Callable[..., Fluent]
    conditions: tuple[Any, ...]
    values: tuple[Any, ...]

    def when(self, condition: Any) -> "Condition[Fluent]":
        """Add a condition for where those before are not true."""
        return Condition(self.build, (*self.conditions, condition), self.values)

    def otherwise(self, value: Any) -> Fluent:
        """Return the expression, with the value where no condition is true."""
        values = (*self.values, value)
        given = tuple(result is not None for result in values)
        there = [result for result in values if result is not None]
        if not there:
            raise InvalidQuery(
                "every branch is a missing value, so the result has no type",
                'Write lit(None, "i64") for one of them.',
            )
        return self.build(WHEN, *self.conditions, *there, given=given)


MOST_PAIRS: Final = 1_000


def map_values(
    self: Fluent, values: Mapping[Any, Any], otherwise: Any = None
) -> Fluent:
    """Value that a dict maps this one to, else `otherwise`, or missing.

    A key None stands for a missing value.

    >>> from sordino.expressions.language import col
    >>> side = col("x").map_values({"l": "left", "r": "right"}, otherwise="?")
    >>> side.value({"x": "l"}), side.value({"x": "m"}), side.value({"x": None})
    ('left', '?', '?')
    """
    pairs: Any = values
    if not isinstance(pairs, Mapping) or not 0 < len(pairs) <= MOST_PAIRS:
        raise InvalidParameter(
            "values",
            values,
            f"must be a dict of 1 to {MOST_PAIRS} values",
            'Try {"m": "male"}, or join a public table.',
        )
    tests = [
        self.call(IS_NULL, self) if key is None else self.call(EQUAL, self, key)
        for key in values
    ]
    results = [*values.values(), otherwise]
    given = tuple(result is not None for result in results)
    there = [result for result in results if result is not None]
    if not there:
        raise InvalidParameter(
            "values",
            values,
            "maps every value to a missing one",
            "Give a value for one.",
        )
    return self.call(WHEN, *tests, *there, given=given)


MOST_VALUES: Final = 10_000
_REMEDY: Final = "Cast the column, or write values of its type."


def _member_facts(argument: Argument, *values: Argument) -> Column:
    tree.comparable("is_in", (argument, *values), _REMEDY)
    return tree.result("bool", (argument,))


def _member_meaning(value: Value, *values: Value) -> Value:
    if any(isinstance(candidate, float) for candidate in values):
        value = float(value)
    return any(order(value, candidate) == 0 for candidate in values)


def _member_text(arguments: Sequence[AbstractTree]) -> str:
    return f"{receiver(arguments[0])}.is_in([{', '.join(map(str, arguments[1:]))}])"


IS_IN: Final = Operation("is_in", _member_facts, _member_meaning, text=_member_text)


def is_in(self: Fluent, values: Iterable[Any]) -> Fluent:
    """Return whether the value is one of some literals; missing stays missing.

    NaN equals NaN. If one of the literals is an f64, all are compared as f64.

    >>> from sordino.expressions.language import col
    >>> col("ward").is_in(["a", "b"]).value({"ward": "b"})
    True
    """
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise InvalidParameter(
            "values", values, "must be a list of literals", 'Try ["a", "b"].'
        )
    listed = (
        sorted(values, key=repr) if isinstance(values, AbstractSet) else list(values)
    )
    if len(listed) > MOST_VALUES:
        raise InvalidParameter(
            "values",
            f"{len(listed)} of them",
            f"must have at most {MOST_VALUES} entries",
            "Make a public table of them, and join it.",
        )
    return self.call(IS_IN, self, *map(literal, listed))


OPERATIONS: Final = (
    GREATEST,
    LEAST,
    WHEN,
    IS_IN,
)
