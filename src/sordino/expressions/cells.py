"""The cells of text files as values: one rule for each type, told by a `Spelling`.

| type | what is read | missing |
|---|---|---|
| i64 | digits with an optional sign; 7.0 is 7 | 7.5, 1e3, what 64 bits do not hold |
| f64 | the nearest double of 1.5 or 15e-1; inf, infinity, nan | anything else |
| bool | the declared words, in small or capital letters | anything else |
| date | a day in the declared layout that the calendar has | anything else |
| time | a time in the declared layout; one without a zone is in UTC | anything else |

ASCII blanks around a cell do not matter. Fractions of a second are rounded to the
nearest microsecond, halves away from 1970.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from string import ascii_lowercase, ascii_uppercase
from typing import Final, final

from sordino.errors import InvalidQuery
from sordino.expressions import facts
from sordino.expressions.arithmetic import fit_64_bits
from sordino.expressions.base import Value
from sordino.expressions.layouts import ISO_DATE, ISO_TIME, Layout
from sordino.expressions.text import BLANKS
from sordino.expressions.tree import AbstractTree, Argument, Call, Col, Operation
from sordino.schema import Column

WORDS: Final = "(?i:[+-]?inf(?:inity)?|nan)"
"""Doubles that are no numbers, as their writers spell them."""
_DIGITS: Final = 19  # of the longest i64
_EPOCH: Final = datetime(1970, 1, 1)  # noqa: DTZ001 UTC without a zone, as all times
_CLOCK: Final = ("hour", "minute", "second")
_SECOND: Final = 10**6
_HALF: Final = 500
_DOWN: Final = str.maketrans(ascii_uppercase, ascii_lowercase)


@final
@dataclass(frozen=True)
class Spelling:
    """How the cells of a file are spelled."""

    decimal: str = "."
    date: Layout = ISO_DATE
    time: Layout = ISO_TIME
    true: tuple[str, ...] = ("true", "t", "yes", "y", "1")
    false: tuple[str, ...] = ("false", "f", "no", "n", "0")

    @property
    def whole(self) -> str:
        """Return the pattern of an integer."""
        return f"[+-]?[0-9]+(?:[{self.decimal}]0*)?"

    @property
    def real(self) -> str:
        """Return the pattern of a double."""
        point = f"[{self.decimal}]"
        digits = f"(?:[0-9]+{point}?[0-9]*|{point}[0-9]+)"
        return f"[+-]?{digits}(?:[eE][+-]?[0-9]+)?|{WORDS}"

    def value_of(self, kind: str) -> AbstractTree:
        """Return the value of a cell x of text as one of a type, or missing.

        >>> number = Spelling(decimal=",").value_of("f64")
        >>> number.value({"x": "-1,5"}), number.value({"x": "1.5"})
        (-1.5, None)
        """
        cell = Col("x")
        if kind == "text":
            return cell
        return Call(READ, (cell,), {"to": kind, "spelling": self})


def fold_ascii(word: str) -> str:
    """Return a word in small letters, as far as they are ASCII."""
    return word.translate(_DOWN)


def _integer(cell: str, spelling: Spelling) -> Value:
    """Return digits as an integer that fits."""
    if re.fullmatch(spelling.whole, cell) is None:
        return None
    number = cell.partition(spelling.decimal)[0]
    digits = number.lstrip("+-").lstrip("0") or "0"
    if len(digits) > _DIGITS:
        return None
    return fit_64_bits(-int(digits) if number.startswith("-") else int(digits))


def _double(cell: str, spelling: Spelling) -> Value:
    """Return the nearest double, which may be an infinity or NaN."""
    if re.fullmatch(spelling.real, cell) is None:
        return None
    return float(cell.replace(spelling.decimal, ".")) + 0.0


def _truth(cell: str, spelling: Spelling) -> Value:
    """Return a truth by its word."""
    word = fold_ascii(cell)
    return True if word in spelling.true else False if word in spelling.false else None


def _day(cell: str, spelling: Spelling) -> Value:
    """Return a date that the calendar has."""
    parts = _parts(cell, spelling.date)
    return None if parts is None else _calendar(parts)


def _moment(cell: str, spelling: Spelling) -> Value:
    """Return a time in UTC, of the years 1 to 9999."""
    parts = _parts(cell, spelling.time)
    day = None if parts is None else _calendar(parts)
    if parts is None or day is None:
        return None
    hour, minute, second = (int(parts.get(part) or 0) for part in _CLOCK)
    moment = datetime.combine(day, time(hour, minute, second))
    nanoseconds = int((parts.get("fraction") or "0").ljust(9, "0"))
    seconds = (moment - _EPOCH) // timedelta(seconds=1) - _offset(parts.get("offset"))
    ticks = seconds * _SECOND + nanoseconds // 1000
    rest = nanoseconds % 1000
    ticks += rest > _HALF or (rest == _HALF and ticks >= 0)
    try:
        return _EPOCH + timedelta(microseconds=ticks)
    except OverflowError:
        return None


def _parts(cell: str, layout: Layout) -> dict[str, str | None] | None:
    """Return the parts of a cell in a layout."""
    match = re.fullmatch(layout.pattern, cell)
    return (
        None if match is None else dict(zip(layout.parts, match.groups(), strict=True))
    )


def _calendar(parts: Mapping[str, str | None]) -> date | None:
    """Return the day that some parts tell."""
    try:
        return date(*(int(parts[part] or 0) for part in ("year", "month", "day")))
    except ValueError:
        return None


def _offset(text: str | None) -> int:
    """Return the seconds by which a zone is ahead of UTC."""
    if not text or text in {"Z", "UTC"}:
        return 0
    digits = text[1:].replace(":", "").ljust(4, "0")
    size = int(digits[:2]) * 3600 + int(digits[2:]) * 60
    return -size if text.startswith("-") else size


_READERS: Final[Mapping[str, Callable[[str, Spelling], Value]]] = {
    "i64": _integer,
    "f64": _double,
    "bool": _truth,
    "date": _day,
    "time": _moment,
}


def _facts(argument: Argument, to: str, spelling: Spelling) -> Column:
    """Return the facts of a cell that is read, or refuse a type that has no cells."""
    del spelling
    facts.require_types(
        f"a {to} read from text", (argument,), ("text",), "Declare its type."
    )
    if to not in _READERS:
        raise InvalidQuery(
            f"a text file cannot hold values of type {to}", "Leave the column out."
        )
    return facts.result(
        to, (argument,), nan=to == "f64", lost=f"a cell that is no {to}"
    )


def spelled_value(cell: Value, to: str, spelling: Spelling) -> Value:
    """Return the value of a cell."""
    return _READERS[to](cell.strip(BLANKS), spelling)


READ: Final = Operation("read", _facts, spelled_value, copies=5)

OPERATIONS: Final = (READ,)
