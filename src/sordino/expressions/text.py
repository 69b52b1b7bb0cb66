"""Texts: sequences of Unicode code points, never of bytes, never of a language.

`lower` and `upper` know ASCII letters; for those of all scripts see letters.py. A text
that would grow beyond 1 MiB of UTF-8 is missing instead.
"""

import re
import unicodedata
from collections.abc import Callable
from string import ascii_lowercase, ascii_uppercase, whitespace
from typing import Any, Final

from sordino import _validate
from sordino.errors import InvalidParameter
from sordino.expressions import facts
from sordino.expressions.base import Value
from sordino.expressions.fluent import Fluent
from sordino.expressions.literals import literal
from sordino.expressions.settled import PATTERN
from sordino.expressions.tree import Argument, Operation
from sordino.schema import Column

LONGEST: Final = 2**20
"""UTF-8 bytes of a text that is made."""
LONGEST_PATTERN: Final = 1000
BLANKS: Final = whitespace
_FARTHEST: Final = 2**31 - 1
_UP: Final = str.maketrans(ascii_lowercase, ascii_uppercase)
_DOWN: Final = str.maketrans(ascii_uppercase, ascii_lowercase)
_CAST: Final = 'Write it as a text by .cast("text").'
_TOO_LONG: Final = "a text beyond 1 MiB is not made"


def _texts(name: str, kind: str) -> Callable[..., Column]:
    """Return the facts of an operation on texts that always has an answer."""

    def known(*arguments: Argument, **options: Any) -> Column:
        del options
        facts.require_types(name, arguments, ("text",), _CAST)
        return facts.result(kind, arguments)

    return known


def _concat_facts(*arguments: Argument) -> Column:
    """Return the facts of a joined text."""
    facts.require_types("concat", arguments, ("text",), _CAST)
    return facts.result("text", arguments, lost=_TOO_LONG)


def _replace_facts(argument: Argument, old: Argument, new: Argument) -> Column:
    """Return the facts of a text that may grow."""
    facts.require_types("replace", (argument,), ("text",), _CAST)
    grows = size(new.constant) > size(old.constant)
    return facts.result("text", (argument,), lost=_TOO_LONG if grows else None)


def size(text: str) -> int:
    """Return the number of bytes in UTF-8."""
    return len(text.encode())


def _lower(text: Value) -> Value:
    """Return a text with small ASCII letters."""
    return text.translate(_DOWN)


def _upper(text: Value) -> Value:
    """Return a text with capital ASCII letters."""
    return text.translate(_UP)


def _slice(text: Value, start: int, length: int | None) -> Value:
    """Return a part of a text."""
    rest = text[start:]
    return rest if length is None else rest[:length]


def _contains(text: Value, part: Value) -> Value:
    """Return whether one text has the other within."""
    return part in text


def _find(text: Value, part: Value) -> Value:
    """Return where one text first has the other within, -1 for nowhere."""
    return text.find(part)


def _concat(*values: Value) -> Value:
    """Return texts one after the other."""
    return "".join(values) if sum(map(size, values)) <= LONGEST else None


def _strip_facts(argument: Argument, letters: str | None = None) -> Column:
    """Return the facts of a text that does not grow."""
    del letters
    facts.require_types("strip", (argument,), ("text",), _CAST)
    return facts.result("text", (argument,))


def _strip(text: Value, letters: str | None = None) -> Value:
    """Return a text without some letters around it, or without ASCII blanks."""
    return text.strip(BLANKS if letters is None else letters)


def _replace(text: Value, old: Value, new: Value) -> Value:
    """Return a text with each occurrence replaced, from left to right."""
    growth = size(new) - size(old)
    if growth > 0 and size(text) + text.count(old) * growth > LONGEST:
        return None
    return text.replace(old, new)


def _normalize(text: Value) -> Value:
    """Return a text composed, if all its characters are settled."""
    settled = re.fullmatch(PATTERN, text) is not None
    return unicodedata.normalize("NFC", text) if settled else text


LOWER: Final = Operation("lower", _texts("lower", "text"), _lower)
UPPER: Final = Operation("upper", _texts("upper", "text"), _upper)
LENGTH: Final = Operation("length", _texts("length", "i64"), len)
SLICE: Final = Operation("slice", _texts("slice", "text"), _slice)
CONTAINS: Final = Operation("contains", _texts("contains", "bool"), _contains)
FIND: Final = Operation("find", _texts("find", "i64"), _find)
STARTS_WITH: Final = Operation(
    "starts_with", _texts("starts_with", "bool"), str.startswith
)
ENDS_WITH: Final = Operation("ends_with", _texts("ends_with", "bool"), str.endswith)
CONCAT: Final = Operation("concat", _concat_facts, _concat, copies=2)
STRIP: Final = Operation("strip", _strip_facts, _strip)
REPLACE: Final = Operation("replace", _replace_facts, _replace, copies=4)
NORMALIZE: Final = Operation(
    "normalize", _texts("normalize", "text"), _normalize, copies=3
)

OPERATIONS: Final = (
    LOWER,
    UPPER,
    LENGTH,
    SLICE,
    CONTAINS,
    FIND,
    STARTS_WITH,
    ENDS_WITH,
    CONCAT,
    STRIP,
    REPLACE,
    NORMALIZE,
)


def lower(self: Fluent) -> Fluent:
    """Return the text with A to Z made small; all else stays.

    >>> from sordino.expressions.language import col
    >>> col("x").lower().value({"x": "Ab Ö"})
    'ab Ö'
    """
    return self.call(LOWER, self)


def upper(self: Fluent) -> Fluent:
    """Return the text with a to z made capital; all else stays.

    >>> from sordino.expressions.language import col
    >>> col("x").upper().value({"x": "Ab ß"})
    'AB ß'
    """
    return self.call(UPPER, self)


def length(self: Fluent) -> Fluent:
    """Return the number of code points.

    >>> from sordino.expressions.language import col
    >>> col("x").length().value({"x": "né"})
    2
    """
    return self.call(LENGTH, self)


def slice_(self: Fluent, start: int, length: int | None = None) -> Fluent:
    """Return the text from a code point on, at most `length` of it, as Python does.

    A negative start counts from the end; what lies beyond the text is empty.

    >>> from sordino.expressions.language import col
    >>> part = col("x").slice(-3, 2)
    >>> part.value({"x": "hello"}), part.value({"x": "o"}), part.value({"x": ""})
    ('ll', 'o', '')
    """
    _validate.integer(start=start, least=-_FARTHEST, most=_FARTHEST)
    if length is not None:
        length = _validate.integer(length=length, least=0, most=_FARTHEST)
    return self.call(SLICE, self, start=int(start), length=length)


def contains(self: Fluent, other: Any) -> Fluent:
    """Return whether the text has another within; the empty one is in all.

    >>> from sordino.expressions.language import col
    >>> col("x").contains("ell").value({"x": "hello"})
    True
    """
    return self.call(CONTAINS, self, other)


def find(self: Fluent, other: Any) -> Fluent:
    """Return at which code point another text first begins, from 0; -1 for nowhere.

    >>> from sordino.expressions.language import col
    >>> mark = col("x").find("@")
    >>> mark.value({"x": "é@b"}), mark.value({"x": "b"})
    (1, -1)
    """
    return self.call(FIND, self, other)


def starts_with(self: Fluent, other: Any) -> Fluent:
    """Return whether the text begins with another.

    >>> from sordino.expressions.language import col
    >>> col("x").starts_with(col("y")).value({"x": "hello", "y": "he"})
    True
    """
    return self.call(STARTS_WITH, self, other)


def ends_with(self: Fluent, other: Any) -> Fluent:
    """Return whether the text ends with another.

    >>> from sordino.expressions.language import col
    >>> col("x").ends_with("lo").value({"x": "hello"})
    True
    """
    return self.call(ENDS_WITH, self, other)


def concat(self: Fluent, *others: Any) -> Fluent:
    """Return the text with others behind it; missing if one is, or beyond 1 MiB.

    >>> from sordino.expressions.language import col
    >>> col("x").concat("-", col("y")).value({"x": "a", "y": "b"})
    'a-b'
    """
    return self.call(CONCAT, self, *others)


def strip(self: Fluent, letters: str | None = None) -> Fluent:
    """Return the text without the ASCII blanks around it, or without other letters.

    >>> from sordino.expressions.language import col
    >>> col("x").strip().value({"x": " a b "}), col("x").strip("*").value({"x": "*a "})
    ('a b', 'a ')
    """
    if letters is None:
        return self.call(STRIP, self)
    read = literal(letters)
    if read.type != "text" or not 0 < len(read.constant) <= LONGEST_PATTERN:
        raise InvalidParameter(
            "letters",
            letters,
            "must be text of 1 to 1000 characters",
            'Try letters=" ".',
        )
    return self.call(STRIP, self, letters=read.constant)


def replace(self: Fluent, old: str, new: str) -> Fluent:
    """Return the text with a literal replaced wherever it stands, from left to right.

    >>> from sordino.expressions.language import col
    >>> col("x").replace("-", "").value({"x": "555-0100"})
    '5550100'
    """
    for name, given in (("old", old), ("new", new)):
        read = literal(given)
        if read.type != "text" or len(read.constant) > LONGEST_PATTERN:
            raise InvalidParameter(
                name, given, "must be text of at most 1000 characters", "Shorten it."
            )
    if not old:
        raise InvalidParameter("old", old, "must not be empty", "Name what to replace.")
    return self.call(REPLACE, self, old, new)


def normalize(self: Fluent) -> Fluent:
    """Return the text in Unicode's composed form (NFC): one form for equal letters.

    A text with NUL, or with a character of a small historic script or later than
    Unicode 14, is left as it is.

    >>> from sordino.expressions.language import col
    >>> col("x").normalize().value({"x": "e\u0301"}) == "é"
    True
    """
    return self.call(NORMALIZE, self)
