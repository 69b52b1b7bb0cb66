"""Values as another type, cells of text files, and dates by a format.

Casts; what makes no sense is missing:

| from | to | meaning |
|---|---|---|
| i64 | f64 | the nearest double |
| i64 | text | decimal digits |
| i64 | bool | whether it is not 0 |
| f64 | i64 | without its fraction, towards 0; NaN and what does not fit is missing |
| bool | i64, f64 | 0 or 1 |
| bool | text | true or false |
| text | i64 | digits with an optional sign; else missing |
| text | f64 | the nearest double of a decimal number, 1.5 or 15e-1; else missing |
| text | bool | true or false, in small or capital letters; else missing |
| text | date | 2026-01-31; else missing |
| text | time | 2026-01-31T23:59:59.123456Z, or less of it; else missing |
| date | time | midnight |
| date | text | 2026-01-31 |
| time | date | its day |
| time | text | 2026-01-31T23:59:59.123456 |

ASCII blanks around a text do not matter. Of a time, fraction, seconds, the clock and Z
may be left out, and T may be a space. An f64 has no text that all engines agree on.

Cells of text files, by a `Spelling`:

| type | what is read | missing |
|---|---|---|
| i64 | digits with an optional sign; 7.0 is 7 | 7.5, 1e3, what 64 bits do not hold |
| f64 | the nearest double of 1.5 or 15e-1; inf, infinity, nan | anything else |
| bool | the declared words, in small or capital letters | anything else |
| date | a day in the declared layout that the calendar has | anything else |
| time | a time in the declared layout; one without a zone is in UTC | anything else |

ASCII blanks around a cell do not matter. Fractions of a second are rounded to the
nearest microsecond, halves away from 1970. Where a sign of thousands is declared, it
parts all digits before the decimal sign into threes or none, so 1.5 is not 15; where a
currency is, it stands before or behind the number, a space between or none.

Formats of dates and times, `%d.%m.%Y %H:%M`:

| directive | what it stands for |
|---|---|
| `%Y` | a year, four digits, 0001 to 9999 |
| `%m`, `%d` | a month and a day |
| `%H`, `%M`, `%S` | the clock, hours from 0 to 23 |
| `%f` | a fraction of a second, up to nine digits |
| `%z` | the distance from UTC: `+02:00`, `+0200`, `+02`, `Z` or `UTC` |
| `%%` | a percent sign |

Months, days and clocks have one digit or two; two, and fractions nine, where digits of
another directive follow at once. Everything else stands for itself. A text that is
written by a format knows no `%z`, for times are in UTC, and `%f` has six digits.

Kernel: totals.
"""

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from functools import cache
from string import ascii_lowercase, ascii_uppercase
from typing import Any, Final, final

from sordino.errors import InvalidParameter, InvalidQuery
from sordino.expressions import tree
from sordino.expressions.arithmetic import fit_64_bits
from sordino.expressions.literals import Fluent, literal
from sordino.expressions.schema import PLAIN, Column
from sordino.expressions.text import BLANKS
from sordino.expressions.tree import (
    AbstractTree,
    Argument,
    Call,
    Col,
    Operation,
    Value,
    kind,
)
from sordino.numbers import arguments
from sordino.numbers.canonical import Words, call

YEAR: Final = "(?:000[1-9]|00[1-9][0-9]|0[1-9][0-9][0-9]|[1-9][0-9][0-9][0-9])"
OFFSET: Final = "Z|UTC|[+-](?:[01][0-9]|2[0-3])(?::?[0-5][0-9])?"
_DIRECTIVES: Final[Mapping[str, tuple[str, str]]] = {
    "Y": ("year", YEAR),
    "m": ("month", "0?[1-9]|1[0-2]"),
    "d": ("day", "0?[1-9]|[12][0-9]|3[01]"),
    "H": ("hour", "[01]?[0-9]|2[0-3]"),
    "M": ("minute", "[0-5]?[0-9]"),
    "S": ("second", "[0-5]?[0-9]"),
    "f": ("fraction", "[0-9][0-9]?[0-9]?[0-9]?[0-9]?[0-9]?[0-9]?[0-9]?[0-9]?"),
    "z": ("offset", OFFSET),
}
_DAY: Final = ("year", "month", "day")
_LONGEST: Final = 100
_PERCENT: Final = re.compile(r"%(.?)", re.DOTALL)


@final
@dataclass(frozen=True)
class Layout:
    """A pattern that a text must be in full, and what its groups are.

    Python and RE2 read the pattern alike. What a group is not there for is 0.
    """

    pattern: str
    parts: tuple[str, ...]

    @classmethod
    def of(cls, name: str, given: Any, *, clock: bool) -> "Layout":
        """Return the layout of a format, refusing one that tells no date or time.

        >>> Layout.of("date", "%d.%m.%Y", clock=False).parts
        ('day', 'month', 'year')
        """
        if not isinstance(given, str) or not 0 < len(given) <= _LONGEST:
            raise _refused(name, given, "must be a format", clock=clock)
        pieces = _PERCENT.split(given)  # [text, directive, text, directive, ... text]
        pattern, parts = _literal(pieces[0]), []
        for place in range(1, len(pieces), 2):
            letter, text = pieces[place], pieces[place + 1]
            if letter == "%":
                pattern += "%" + _literal(text)
                continue
            if letter not in _DIRECTIVES:
                raise _refused(name, given, f"has no %{letter}", clock=clock)
            part, form = _DIRECTIVES[letter]
            follows = not text and place + 2 < len(pieces)
            tight = follows and pieces[place + 2] not in {"%", "z"}
            pattern += f"({_whole(form) if tight else form})" + _literal(text)
            parts.append(part)
        if len(set(parts)) < len(parts) or not set(_DAY) <= set(parts):
            problem = "must tell year, month and day, each once"
            raise _refused(name, given, problem, clock=clock)
        if not clock and len(parts) > len(_DAY):
            raise _refused(name, given, "tells more than a day", clock=clock)
        return cls(pattern, tuple(parts))


def _whole(form: str) -> str:
    return form.replace("0?", "0").replace("]?", "]")


def _literal(text: str) -> str:
    plain = (
        letter if letter.isalnum() or not letter.isascii() else f"\\{letter}"
        for letter in text
    )
    return "".join(plain)


def _refused(name: str, given: Any, problem: str, *, clock: bool) -> InvalidParameter:
    example = "%d.%m.%Y %H:%M:%S" if clock else "%d.%m.%Y"
    known = ", ".join(f"%{letter}" for letter in _DIRECTIVES)
    return InvalidParameter(
        name, given, problem, f'Try {name}="{example}"; there are {known}.'
    )


ISO_DATE: Final = Layout(f"({YEAR})-([0-9][0-9])-([0-9][0-9])", _DAY)
ISO_TIME: Final = Layout(
    f"{ISO_DATE.pattern}"
    "(?:[T ]([01][0-9]|2[0-3]):([0-5][0-9])"
    "(?::([0-5][0-9])(?:[.]([0-9]{1,9}))?)?"
    f"(?: ?({OFFSET}))?)?",
    (*_DAY, "hour", "minute", "second", "fraction", "offset"),
)
"""2025-06-01T12:00:00.123456789+02:00, or less of it; T may be a space."""


WORDS: Final = "(?i:[+-]?inf(?:inity)?|nan)"
"""Doubles that are no numbers, as their writers spell them."""
_DIGITS: Final = 19  # of the longest i64
SPACES: Final = " \u00a0\u202f"
"""A space, and those that break no line: spreadsheets write each of them."""
_MOST_THREES: Final = 110  # the greatest double has 103; engines bound repetitions
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
    thousands: str = ""
    currency: tuple[str, ...] = ()

    @property
    def whole(self) -> str:
        """Return the pattern of an integer."""
        return self._sign_pattern(f"{self._digits}(?:[{self.decimal}]0*)?")

    @property
    def real(self) -> str:
        """Return the pattern of a double."""
        return f"{self.number}|{WORDS}"

    @property
    def number(self) -> str:
        """Return the pattern of a double that is a number."""
        point = f"[{self.decimal}]"
        digits = f"(?:{self._digits}{point}?[0-9]*|{point}[0-9]+)"
        return self._sign_pattern(f"{digits}(?:[eE][+-]?[0-9]+)?")

    @property
    def _digits(self) -> str:
        if not self.thousands:
            return "[0-9]+"
        sign = SPACES if self.thousands == " " else self.thousands
        return f"(?:[0-9]+|[0-9]{{1,3}}(?:[{sign}][0-9]{{3}}){{1,{_MOST_THREES}}})"

    def _sign_pattern(self, number: str) -> str:
        plain = f"[+-]?{number}"
        if not self.currency:
            return plain
        money, space = "|".join(map(_literal, self.currency)), f"[{SPACES}]?"
        before = f"(?:{money}){space}[+-]?|[+-](?:{money}){space}"
        return f"(?:(?:{before}){number}|{plain}(?:{space}(?:{money}))?)"

    @property
    def left_out(self) -> tuple[str, ...]:
        """What a number may be written with, and is read without."""
        if not self.thousands and not self.currency:
            return ()
        return (*self.currency, *self.thousands, *SPACES)

    def without_signs(self, number: str) -> str:
        """Return a number of its pattern as digits with a decimal point."""
        for sign in self.left_out:
            number = number.replace(sign, "")
        return number.replace(self.decimal, ".")

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
    if re.fullmatch(spelling.whole, cell) is None:
        return None
    number = spelling.without_signs(cell).partition(".")[0]
    digits = number.lstrip("+-").lstrip("0") or "0"
    if len(digits) > _DIGITS:  # int() refuses very many digits
        return None
    return fit_64_bits(-int(digits) if number.startswith("-") else int(digits))


def _double(cell: str, spelling: Spelling) -> Value:
    if re.fullmatch(spelling.real, cell) is None:
        return None
    return float(spelling.without_signs(cell)) + 0.0  # + 0.0: never -0.0


def _truth(cell: str, spelling: Spelling) -> Value:
    word = fold_ascii(cell)
    return True if word in spelling.true else False if word in spelling.false else None


def _day(cell: str, spelling: Spelling) -> Value:
    parts = _parts(cell, spelling.date)
    return None if parts is None else _calendar(parts)


def _moment(cell: str, spelling: Spelling) -> Value:
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
    ticks += rest > _HALF or (rest == _HALF and ticks >= 0)  # halves away from 1970
    try:
        return _EPOCH + timedelta(microseconds=ticks)
    except OverflowError:  # beyond the years 1 to 9999
        return None


def _parts(cell: str, layout: Layout) -> dict[str, str | None] | None:
    match = re.fullmatch(layout.pattern, cell)
    return (
        None if match is None else dict(zip(layout.parts, match.groups(), strict=True))
    )


def _calendar(parts: Mapping[str, str | None]) -> date | None:
    try:
        return date(*(int(parts[part] or 0) for part in ("year", "month", "day")))
    except ValueError:
        return None


def _offset(text: str | None) -> int:
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
    del spelling
    tree.require_types(
        f"a {to} read from text", (argument,), ("text",), "Declare its type."
    )
    if to not in _READERS:
        raise InvalidQuery(
            f"a text file cannot hold values of type {to}", "Leave the column out."
        )
    return tree.result(to, (argument,), nan=to == "f64", lost=f"a cell that is no {to}")


def spelled_value(cell: Value, to: str, spelling: Spelling) -> Value:
    """Return the value of a cell."""
    return _READERS[to](cell.strip(BLANKS), spelling)


def _words(of: tuple[AbstractTree, ...], to: str, spelling: Spelling) -> Words:
    (cell,) = of
    return call("read", of=cell.words, to=to, spelling=repr(spelling))


READ: Final = Operation("read", _facts, spelled_value, copies=5, words=_words)


_CAST_DAY: Final = f"{YEAR}-[0-9][0-9]-[0-9][0-9]"
_CAST_CLOCK: Final = (
    "(?:[01][0-9]|2[0-3]):[0-5][0-9]"
    "(?::[0-5][0-9](?:[.][0-9][0-9]?[0-9]?[0-9]?[0-9]?[0-9]?)?)?"
)
GRAMMARS: Final[Mapping[str, str]] = {
    "i64": "[+-]?[0-9]+",
    "f64": "[+-]?(?:[0-9]+[.]?[0-9]*|[.][0-9]+)(?:[eE][+-]?[0-9]+)?",
    "date": _CAST_DAY,
    "time": f"{_CAST_DAY}(?:[T ]{_CAST_CLOCK}Z?)?",
}
"""What a text without blanks around it must be in full, for Python and for RE2."""


def _of_i64(text: str) -> Value:
    digits = text.lstrip("+-").lstrip("0") or "0"
    if len(digits) > _DIGITS:  # int() refuses very many digits
        return None
    return fit_64_bits(-int(digits) if text.startswith("-") else int(digits))


def _of_f64(text: str) -> Value:
    return float(text) + 0.0  # + 0.0: never -0.0


def _of_bool(text: str) -> Value:
    return {"true": True, "false": False}.get(text.lower() if text.isascii() else "")


def _of_date(text: str) -> Value:
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None


def _of_time(text: str) -> Value:
    day = _of_date(text[:10])
    if day is None:
        return None
    clock, _, fraction = text[11:].rstrip("Z").partition(".")
    hour, minute, second = (*map(int, clock.split(":") if clock else ()), 0, 0, 0)[:3]
    return datetime.combine(
        day, time(hour, minute, second, int(fraction.ljust(6, "0")))
    )


_CAST_READERS: Final[Mapping[str, Callable[[str], Value]]] = {
    "i64": _of_i64,
    "f64": _of_f64,
    "bool": _of_bool,
    "date": _of_date,
    "time": _of_time,
}


def _reader(to: str) -> Callable[[Value], Value]:
    def read(text: Value) -> Value:
        bare = text.strip(BLANKS)
        grammar = GRAMMARS.get(to)
        if grammar is not None and re.fullmatch(grammar, bare) is None:
            return None
        return _CAST_READERS[to](bare)

    return read


def _truncated(number: Value) -> Value:
    return fit_64_bits(math.trunc(number)) if math.isfinite(number) else None


def _word(truth: Value) -> Value:
    return "true" if truth else "false"


def _midnight(day: Value) -> Value:
    return datetime.combine(day, time())


_CASTS: Final[Mapping[tuple[str, str], Callable[[Value], Value]]] = {
    ("i64", "f64"): float,
    ("i64", "text"): str,
    ("i64", "bool"): bool,
    ("f64", "i64"): _truncated,
    ("bool", "i64"): int,
    ("bool", "f64"): float,
    ("bool", "text"): _word,
    **{("text", to): _reader(to) for to in _CAST_READERS},
    ("date", "time"): _midnight,
    ("date", "text"): date.isoformat,
    ("time", "date"): datetime.date,
    # by itself isoformat leaves out a fraction of 0
    ("time", "text"): lambda moment: moment.isoformat(timespec="microseconds"),
}
CASTS: Final = tuple(_CASTS)
"""Every (type, other type) that has a meaning."""


def _cast_facts(argument: Argument, to: str) -> Column:
    if argument.type == to and to in PLAIN:
        return tree.result(to, (argument,), nan=argument.column.nan)
    if (argument.type, to) not in _CASTS:
        possible = [target for kind_, target in _CASTS if kind_ == argument.type]
        raise InvalidQuery(
            f"{argument.type} cannot be cast to {to}",
            f"Try {' or '.join(possible)}." if possible else "Explode the list first.",
        )
    lost = {
        "text": f"a text that is no {to} has no value",
        "f64": "NaN and numbers beyond 64 bits are no integers",
    }
    return tree.result(to, (argument,), lost=lost.get(argument.type))


def _cast(value: Value, to: str) -> Value:
    known = kind(value)
    return value if known == to else _CASTS[known, to](value)


CAST: Final = Operation("cast", _cast_facts, _cast, copies=2)


def cast(self: Fluent, to: str) -> Fluent:
    """Return the value as one of another type, or missing where that makes no sense.

    >>> from sordino.expressions.language import col
    >>> number = col("x").cast("i64")
    >>> number.value({"x": " -12 "}), number.value({"x": "1e3"})
    (-12, None)
    """
    return self.call(CAST, self, to=arguments.choice(PLAIN, to=to))


_MOMENTS: Final = ("date", "time")
_FORMAT_DAY: Final = {"Y": 4, "m": 2, "d": 2}
_FORMAT_CLOCK: Final = {"H": 2, "M": 2, "S": 2, "f": 6}
_CAST: Final = 'Read a text as a date by .cast("date"), or by .strptime(...).'


@cache
def spelling_of(layout: str, to: str) -> Spelling:
    """Return how the cells of a format are spelled."""
    read = Layout.of("layout", layout, clock=to == "time")
    return Spelling(date=read) if to == "date" else Spelling(time=read)


def _read_facts(argument: Argument, layout: str, to: str) -> Column:
    tree.require_types("strptime", (argument,), ("text",), "Leave it out.")
    return tree.result(to, (argument,), lost=f"a text that is no {layout} has no value")


def _read(text: Value, layout: str, to: str) -> Value:
    return spelled_value(text, to=to, spelling=spelling_of(layout, to))


def _write_facts(argument: Argument, layout: str) -> Column:
    tree.require_types("strftime", (argument,), _MOMENTS, _CAST)
    clock = {letter for letter in _PERCENT.findall(layout) if letter in _FORMAT_CLOCK}
    if clock:
        tree.require_types("strftime with a clock", (argument,), ("time",), _CAST)
    return tree.result("text", (argument,))


def _write(moment: Value, layout: str) -> Value:
    # strftime of C writes years below 1000 in several ways
    return _PERCENT.sub(lambda match: _written(moment, match[1]), layout)


def _written(moment: date | datetime, letter: str) -> str:
    if letter == "%":
        return "%"
    parts = {"Y": moment.year, "m": moment.month, "d": moment.day}
    if isinstance(moment, datetime):
        parts |= {
            "H": moment.hour,
            "M": moment.minute,
            "S": moment.second,
            "f": moment.microsecond,
        }
    return str(parts[letter]).zfill((_FORMAT_DAY | _FORMAT_CLOCK)[letter])


STRPTIME: Final = Operation("strptime", _read_facts, _read, copies=5)
STRFTIME: Final = Operation("strftime", _write_facts, _write)


def strptime(self: Fluent, layout: str, to: str = "time") -> Fluent:
    """Return the date or time that a text tells in a format; else it is missing.

    >>> from sordino.expressions.language import col
    >>> day = col("x").strptime("%d.%m.%Y", "date")
    >>> day.value({"x": "31.1.2026"}), day.value({"x": "30.2.2026"})
    (datetime.date(2026, 1, 31), None)
    """
    kind = arguments.choice(_MOMENTS, to=to)
    spelling_of(_checked(layout), kind)  # refuses what tells no date
    return self.call(STRPTIME, self, layout=layout, to=kind)


def strftime(self: Fluent, layout: str) -> Fluent:
    """Return a date or a time as a text in a format.

    >>> from sordino.expressions.language import col
    >>> col("x").strftime("%Y-%m").value({"x": date(2026, 1, 31)})
    '2026-01'
    """
    known = {*_FORMAT_DAY, *_FORMAT_CLOCK, "%"}
    given = _checked(layout)
    if not set(_PERCENT.findall(given)) <= known:
        raise InvalidParameter(
            "layout",
            layout,
            "has a part that is not understood",
            f"Use only {', '.join(f'%{letter}' for letter in sorted(known))}.",
        )
    return self.call(STRFTIME, self, layout=given)


def _checked(layout: Any) -> str:
    read = literal(layout) if isinstance(layout, str) else None
    if read is None or not 0 < len(read.constant) <= _LONGEST:
        raise InvalidParameter(
            "layout", layout, "must be text of 1 to 100 characters", 'Try "%Y-%m-%d".'
        )
    return str(read.constant)


OPERATIONS: Final = (
    READ,
    CAST,
    STRPTIME,
    STRFTIME,
)
