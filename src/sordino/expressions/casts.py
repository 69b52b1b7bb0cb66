"""Values as values of another type, or missing where that makes no sense.

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
"""

import math
import re
from collections.abc import Callable, Mapping
from datetime import date, datetime, time
from typing import Final

from sordino import _validate
from sordino.errors import InvalidQuery
from sordino.expressions import facts
from sordino.expressions.arithmetic import fit_64_bits
from sordino.expressions.base import Value
from sordino.expressions.fluent import Fluent
from sordino.expressions.kinds import kind
from sordino.expressions.text import BLANKS
from sordino.expressions.tree import Argument, Operation
from sordino.schema import PLAIN, Column

_YEAR: Final = "(?:000[1-9]|00[1-9][0-9]|0[1-9][0-9][0-9]|[1-9][0-9][0-9][0-9])"
_DAY: Final = f"{_YEAR}-[0-9][0-9]-[0-9][0-9]"
_CLOCK: Final = (
    "(?:[01][0-9]|2[0-3]):[0-5][0-9]"
    "(?::[0-5][0-9](?:[.][0-9][0-9]?[0-9]?[0-9]?[0-9]?[0-9]?)?)?"
)
GRAMMARS: Final[Mapping[str, str]] = {
    "i64": "[+-]?[0-9]+",
    "f64": "[+-]?(?:[0-9]+[.]?[0-9]*|[.][0-9]+)(?:[eE][+-]?[0-9]+)?",
    "date": _DAY,
    "time": f"{_DAY}(?:[T ]{_CLOCK}Z?)?",
}
"""What a text without blanks around it must be in full, for Python and for RE2."""

_DIGITS: Final = 19  # of the longest i64


def _of_i64(text: str) -> Value:
    """Return digits as an integer that fits."""
    digits = text.lstrip("+-").lstrip("0") or "0"
    if len(digits) > _DIGITS:
        return None
    return fit_64_bits(-int(digits) if text.startswith("-") else int(digits))


def _of_f64(text: str) -> Value:
    """Return the nearest double, which may be an infinity."""
    return float(text) + 0.0


def _of_bool(text: str) -> Value:
    """Return a truth."""
    return {"true": True, "false": False}.get(text.lower() if text.isascii() else "")


def _of_date(text: str) -> Value:
    """Return a date that the calendar has."""
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None


def _of_time(text: str) -> Value:
    """Return a time on a day that the calendar has."""
    day = _of_date(text[:10])
    if day is None:
        return None
    clock, _, fraction = text[11:].rstrip("Z").partition(".")
    hour, minute, second = (*map(int, clock.split(":") if clock else ()), 0, 0, 0)[:3]
    return datetime.combine(
        day, time(hour, minute, second, int(fraction.ljust(6, "0")))
    )


_READERS: Final[Mapping[str, Callable[[str], Value]]] = {
    "i64": _of_i64,
    "f64": _of_f64,
    "bool": _of_bool,
    "date": _of_date,
    "time": _of_time,
}


def _reader(to: str) -> Callable[[Value], Value]:
    """Return what reads a text of a grammar."""

    def read(text: Value) -> Value:
        bare = text.strip(BLANKS)
        grammar = GRAMMARS.get(to)
        if grammar is not None and re.fullmatch(grammar, bare) is None:
            return None
        return _READERS[to](bare)

    return read


def _truncated(number: Value) -> Value:
    """Return a double without its fraction, as an integer that fits."""
    return fit_64_bits(math.trunc(number)) if math.isfinite(number) else None


def _word(truth: Value) -> Value:
    """Return the name of a truth."""
    return "true" if truth else "false"


def _midnight(day: Value) -> Value:
    """Return the first moment of a day."""
    return datetime.combine(day, time())


_CASTS: Final[Mapping[tuple[str, str], Callable[[Value], Value]]] = {
    ("i64", "f64"): float,
    ("i64", "text"): str,
    ("i64", "bool"): bool,
    ("f64", "i64"): _truncated,
    ("bool", "i64"): int,
    ("bool", "f64"): float,
    ("bool", "text"): _word,
    **{("text", to): _reader(to) for to in _READERS},
    ("date", "time"): _midnight,
    ("date", "text"): date.isoformat,
    ("time", "date"): datetime.date,
    ("time", "text"): lambda moment: moment.isoformat(timespec="microseconds"),
}
CASTS: Final = tuple(_CASTS)
"""Every (type, other type) that has a meaning."""


def _facts(argument: Argument, to: str) -> Column:
    """Return the facts of a cast, or refuse one without a meaning."""
    if argument.type == to and to in PLAIN:
        return facts.result(to, (argument,), nan=argument.column.nan)
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
    return facts.result(to, (argument,), lost=lost.get(argument.type))


def _cast(value: Value, to: str) -> Value:
    """Return a value of another type."""
    known = kind(value)
    return value if known == to else _CASTS[known, to](value)


CAST: Final = Operation("cast", _facts, _cast, copies=2)

OPERATIONS: Final = (CAST,)


def cast(self: Fluent, to: str) -> Fluent:
    """Return the value as one of another type, or missing where that makes no sense.

    >>> from sordino.expressions.language import col
    >>> number = col("x").cast("i64")
    >>> number.value({"x": " -12 "}), number.value({"x": "1e3"})
    (-12, None)
    """
    return self.call(CAST, self, to=_validate.choice(PLAIN, to=to))
