"""Values in the place of others, as a dict says: a choice by equality."""

from collections.abc import Mapping
from typing import Any, Final

from sordino.errors import InvalidParameter
from sordino.expressions.comparison import EQUAL
from sordino.expressions.conditional import WHEN
from sordino.expressions.fluent import Fluent
from sordino.expressions.missing import IS_NULL

MOST_PAIRS: Final = 1_000


def map_values(
    self: Fluent, values: Mapping[Any, Any], otherwise: Any = None
) -> Fluent:
    """Return what a dict has for the value, else another value, or missing.

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
