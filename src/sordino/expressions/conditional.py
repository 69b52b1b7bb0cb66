"""One value or another, by the first condition that is true.

A missing condition is not true. All values have one type.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Generic, final

from sordino.errors import InvalidQuery
from sordino.expressions import facts
from sordino.expressions.base import Value
from sordino.expressions.fluent import Fluent
from sordino.expressions.tree import AbstractTree, Argument, Operation
from sordino.schema import Column
from sordino.words import Words, call

_ALIKE: Final = "Write 0.0 for an f64 and 0 for an i64, or cast one of them."
_COMPARE: Final = "Compare: when(col('x') > 0)."


def split_branches(arguments: Any, given: tuple[bool, ...]) -> tuple[Any, Any]:
    """Return the conditions and the values; one that is not given is None.

    The arguments are (condition, condition, ..., value, value, ..., last value).
    """
    count = len(given) - 1
    values = iter(arguments[count:])
    return arguments[:count], [next(values) if there else None for there in given]


def _facts(*arguments: Argument, given: tuple[bool, ...]) -> Column:
    """Return the facts of a choice."""
    conditions, values = split_branches(arguments, given)
    there = [value for value in values if value is not None]
    facts.require_types("when", conditions, ("bool",), _COMPARE)
    kind = facts.alike("when", there, _ALIKE)
    return Column(
        kind,
        nullable=not all(given) or any(value.column.nullable for value in there),
        nan=facts.any_nan(there),
        unsettled=facts.reason(there),
    )


def _meaning(*values: Value, given: tuple[bool, ...]) -> Value:
    """Return the value of the first condition that is true, else the last."""
    conditions, results = split_branches(values, given)
    pairs = zip(conditions, results, strict=False)  # the last has no condition
    return next((value for test, value in pairs if test), results[-1])


def _text(arguments: Sequence[AbstractTree], given: tuple[bool, ...]) -> str:
    """Return a choice as it is written."""
    conditions, values = split_branches(arguments, given)
    pairs = zip(conditions, values, strict=False)  # the last has no condition
    said = ".".join(f"when({test}).then({value})" for test, value in pairs)
    return f"{said}.otherwise({values[-1]})"


def _words(arguments: Sequence[AbstractTree], given: tuple[bool, ...]) -> Words:
    """Return the conditions, each with its value, and the last value."""
    conditions, values = split_branches(arguments, given)
    words: list[Words] = [None if value is None else value.words for value in values]
    tests: list[Words] = [condition.words for condition in conditions]
    cases: list[Words] = [list(pair) for pair in zip(tests, words[:-1], strict=True)]
    return call("when", cases=cases, otherwise=words[-1])


WHEN: Final = Operation(
    "when", _facts, _meaning, strict=False, text=_text, words=_words
)

OPERATIONS: Final = (WHEN,)


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
