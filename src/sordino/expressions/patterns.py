"""Texts held to a pattern with wildcards: `%` for any text, `_` for one character.

A match is looked for from left to right, piece by piece between the wildcards `%`, so
it takes no longer than the product of both lengths, whatever the pattern.
"""

from collections.abc import Sequence
from typing import Any, Final

from sordino.errors import InvalidParameter
from sordino.expressions import facts
from sordino.expressions.base import Value
from sordino.expressions.fluent import Fluent
from sordino.expressions.literals import literal
from sordino.expressions.text import LONGEST_PATTERN
from sordino.expressions.tree import AbstractTree, Argument, Operation, receiver
from sordino.schema import Column

ESCAPE: Final = "\\"
"""What stands before a wildcard that means itself, in the pattern of an operation."""
_CAST: Final = 'Write it as a text by .cast("text").'
_SPECIAL: Final = ("%", "_", ESCAPE)
_ANY: Final = None

Piece = tuple[str | None, ...]
"""Characters one after the other; None stands for any one."""


def _facts(argument: Argument, pattern: str) -> Column:
    """Return the facts of an answer that is there for each text."""
    del pattern
    facts.require_types("like", (argument,), ("text",), _CAST)
    return facts.result("bool", (argument,))


def _meaning(text: Value, pattern: str) -> Value:
    """Return whether a text is all of a pattern."""
    first, *others = read_pieces(pattern)
    if not others:
        return len(text) == len(first) and _fits(text, first, 0)
    last = others.pop()
    end = len(text) - len(last)
    if len(first) > end or not _fits(text, first, 0) or not _fits(text, last, end):
        return False
    place = len(first)
    for piece in others:
        place = _place_of(text, piece, place, end)
        if place < 0:
            return False
        place += len(piece)
    return True


def _place_of(text: str, piece: Piece, start: int, end: int) -> int:
    """Return where a piece is first found between two places, -1 for nowhere."""
    places = range(start, end - len(piece) + 1)
    return next((place for place in places if _fits(text, piece, place)), -1)


def _fits(text: str, piece: Piece, place: int) -> bool:
    """Tell whether a text has a piece at a place that leaves room for it."""
    return all(
        wanted is _ANY or text[place + at] == wanted for at, wanted in enumerate(piece)
    )


def read_pieces(pattern: str) -> list[Piece]:
    """Return what stands between the wildcards % of a pattern, None for any letter."""
    pieces: list[list[str | None]] = [[]]
    letters = iter(pattern)
    for letter in letters:
        if letter == "%":
            pieces.append([])
        elif letter == "_":
            pieces[-1].append(_ANY)
        else:
            pieces[-1].append(next(letters) if letter == ESCAPE else letter)
    return [tuple(piece) for piece in pieces]


def _text(arguments: Sequence[AbstractTree], pattern: str) -> str:
    """Return a match as it is written."""
    escape = f", escape={ESCAPE!r}" if ESCAPE in pattern else ""
    return f"{receiver(arguments[0])}.like({pattern!r}{escape})"


LIKE: Final = Operation("like", _facts, _meaning, text=_text)

OPERATIONS: Final = (LIKE,)


def like(self: Fluent, pattern: str, escape: str | None = None) -> Fluent:
    """Return whether all of the text is as a pattern says, in its very letters.

    `%` stands for any text, also none, and `_` for one code point; after the letter
    `escape` they stand for themselves.

    >>> from sordino.expressions.language import col
    >>> named = col("x").like("A%_n")
    >>> named.value({"x": "Adrian"}), named.value({"x": "An"})
    (True, False)
    >>> col("x").like("100!%", escape="!").value({"x": "100%"})
    True
    """
    read = literal(pattern)
    if read.type != "text" or len(read.constant) > LONGEST_PATTERN:
        raise InvalidParameter(
            "pattern", pattern, "must be text of at most 1000 characters", "Shorten it."
        )
    given: Any = escape
    if given is not None and (not isinstance(given, str) or len(given) != 1):
        raise InvalidParameter(
            "escape",
            escape,
            "must be one character",
            "Try escape='!', or leave it out.",
        )
    return self.call(LIKE, self, pattern=_settled(pattern, escape))


def _settled(pattern: str, escape: str | None) -> str:
    """Return a pattern with our own sign before what means itself."""
    settled, letters = "", iter(pattern)
    for letter in letters:
        meant: Any = next(letters, None) if letter == escape else letter
        if letter == escape and (meant is None or meant not in ("%", "_", escape)):
            raise InvalidParameter(
                "pattern",
                pattern,
                "has an escape before a character that is not a wildcard",
                "Escape only %, _ and the escape itself.",
            )
        plain = letter in ("%", "_") and letter != escape
        settled += letter if plain else _itself(meant)
    return settled


def _itself(letter: str) -> str:
    """Return a letter that means itself."""
    return ESCAPE + letter if letter in _SPECIAL else letter
