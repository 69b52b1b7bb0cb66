"""Small and capital letters of all scripts, one code point for one.

Of each letter that is settled (`settled.py`) Unicode tells one small and one capital
letter, for ever. A letter whose other form has several code points or is not settled
stays as it is; a text with a letter that is not settled is changed in A to Z alone.
"""

import re
from collections.abc import Callable, Mapping
from functools import cache
from typing import Final

from sordino.expressions import facts
from sordino.expressions.base import Value
from sordino.expressions.fluent import Fluent
from sordino.expressions.settled import PATTERN, RUNS
from sordino.expressions.text import LOWER, UPPER
from sordino.expressions.tree import Argument, Operation
from sordino.schema import Column

_CAST: Final = 'Write it as a text by .cast("text").'
_SMALL: Final = {"\u0130": "i", "\u10c7": "\u2d27", "\u10cd": "\u2d2d"}
"""A letter whose small form has several code points, and two in runs too short."""
_CAPITAL: Final = (
    {"\u00df": "\u1e9e"}
    | {
        chr(small): chr(small + 8)
        for first in (0x1F80, 0x1F90, 0x1FA0)
        for small in range(first, first + 8)
    }
    | {"\u1fb3": "\u1fbc", "\u1fc3": "\u1fcc", "\u1ff3": "\u1ffc"}
)
"""Letters whose full capital form has several code points, and that have another."""


@cache
def changed_letters(word: str) -> Mapping[int, str]:
    """Return the letters that a change of case changes."""
    odd = _SMALL if word == "lower" else _CAPITAL
    settled = {chr(code) for first, last in RUNS for code in range(first, last + 1)}
    changed: dict[int, str] = {}
    for letter in settled:
        partner = odd.get(letter) or (
            letter.lower() if word == "lower" else letter.upper()
        )
        if letter in odd or (
            len(partner) == 1 and partner != letter and partner in settled
        ):
            changed[ord(letter)] = partner
    return changed


def _facts(what: str) -> Callable[..., Column]:
    """Return the facts of a text with other letters."""

    def known(argument: Argument) -> Column:
        facts.require_types(what, (argument,), ("text",), _CAST)
        return facts.result("text", (argument,))

    return known


def _meaning(word: str, plain: Callable[[Value], Value]) -> Callable[[Value], Value]:
    """Return what changes the case of all letters, or of A to Z."""

    def change(text: Value) -> Value:
        if text.isascii() or re.fullmatch(PATTERN, text) is None:
            return plain(text)
        return text.translate(changed_letters(word))

    return change


LOWERCASE: Final = Operation(
    "lowercase", _facts("lowercase"), _meaning("lower", LOWER.meaning), copies=3
)
UPPERCASE: Final = Operation(
    "uppercase", _facts("uppercase"), _meaning("upper", UPPER.meaning), copies=3
)

OPERATIONS: Final = (LOWERCASE, UPPERCASE)


def lowercase(self: Fluent) -> Fluent:
    """Return the text in small letters, of all scripts, each one code point.

    >>> from sordino.expressions.language import col
    >>> col("x").lowercase().value({"x": "ÉCOLE ΑΣ İ"})
    'école ασ i'
    """
    return self.call(LOWERCASE, self)


def uppercase(self: Fluent) -> Fluent:
    """Return the text in capital letters, of all scripts, each one code point.

    >>> from sordino.expressions.language import col
    >>> col("x").uppercase().value({"x": "école ß ŉ"})
    'ÉCOLE ẞ ŉ'
    """
    return self.call(UPPERCASE, self)
