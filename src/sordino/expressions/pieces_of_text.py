"""Texts as lists of texts: each entry becomes a row by `flat_map`."""

from typing import Any, Final

from sordino.errors import InvalidParameter
from sordino.expressions import facts
from sordino.expressions.base import Value
from sordino.expressions.fluent import Fluent
from sordino.expressions.literals import literal
from sordino.expressions.text import LONGEST_PATTERN
from sordino.expressions.tree import Argument, Operation
from sordino.schema import Column

_CAST: Final = 'Write it as a text by .cast("text").'


def _facts(argument: Argument, separator: str) -> Column:
    """Return the facts of a list."""
    del separator
    facts.require_types("split", (argument,), ("text",), _CAST)
    return facts.result("list[text]", (argument,))


def _meaning(text: Value, separator: str) -> Value:
    """Return what stands between the separators."""
    return text.split(separator)


SPLIT: Final = Operation("split", _facts, _meaning)

OPERATIONS: Final = (SPLIT,)


def split_(self: Fluent, separator: str) -> Fluent:
    """Return what stands between the separators of a text, as a list.

    `flat_map("tags", max_rows=3)` then makes a row of each of the first three.

    >>> from sordino.expressions.language import col
    >>> col("x").split(";").value({"x": "a;;b"}), col("x").split(";").value({"x": ""})
    (['a', '', 'b'], [''])
    """
    given: Any = separator
    read = literal(given)
    if read.type != "text" or not 0 < len(read.constant) <= LONGEST_PATTERN:
        raise InvalidParameter(
            "separator", given, "must be text of 1 to 1000 characters", 'Try ";".'
        )
    return self.call(SPLIT, self, separator=read.constant)
