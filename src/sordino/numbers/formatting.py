"""Numbers and keys as people read them: no digit that the noise has washed out.

| given | shown |
|---|---|
| an integer | all its digits, with separators |
| a float with a known sd | rounded to about two digits of the sd |
| a float whose sd is 0, infinite or unknown | at most six significant digits |
| a float from 1e15 on, or finer than 1e-9 | in powers of ten, at most 18 digits |
| missing | "missing" |
| NaN, infinity | "NaN", "inf", "-inf" |
| a date, a text | as a key |

For any finite float and sd, what is shown lies within sd/10 of the value, or within one
part in 1e17.

>>> format_number(1234567, 12.0), format_number(1234.5678, 3.21)
('1,234,567', '1,234.6')
"""

import datetime as dt
import math
import re
import unicodedata
from collections.abc import Iterable
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Decimal
from fractions import Fraction
from itertools import accumulate, takewhile
from typing import Any, Final, TypeGuard

from sordino.numbers.rounding import decimals, without_dust

MISSING: Final = "missing"
_LARGE = 15
_FINE = -9
_DIGITS = 6
_DOUBLE = 17
_PRECISION = 1200
"""Decimal digits enough for every double."""


def format_number(value: Any, sd: float | None = None) -> str:
    """Return a number to the digits that its standard deviation allows.

    >>> format_number(3.14159), format_number(None), format_number(2.5e20, 1e18)
    ('3.14159', 'missing', '2.500e+20')
    """
    if not isinstance(value, (int, float)):
        return format_key(value)
    return _round_by_error(value, sd, ROUND_HALF_EVEN)


def format_spread(sd: float | None) -> str:
    """Return a standard deviation to two digits; unknown is empty.

    >>> format_spread(1234.5), format_spread(0.01234), format_spread(None)
    ('1,200', '0.012', '')
    """
    if sd is None or math.isnan(sd):
        return ""
    return format_number(without_dust(sd), sd)


ENDLESS: Final = ("-inf", "inf")
"""The ends of an interval that excludes no number, as texts."""


def format_interval(
    value: Any, bars: tuple[float | None, float | None, float | None]
) -> str:
    """Return "low to high", like `format_ends`; empty where an end is not known.

    >>> format_interval(118, (2.8, 112.2, 123.9))
    '112 to 124'
    >>> format_interval(7.5, (None, -math.inf, math.inf))
    'any number'
    """
    ends = format_ends(value, bars)
    return "any number" if ends == ENDLESS else " to ".join(ends)


def format_ends(
    value: Any, bars: tuple[float | None, float | None, float | None]
) -> tuple[str, ...]:
    """Return low and high, each to the digits of the value, and outward.

    `bars` are the standard deviation, low and high. The ends of an integer are
    integers. The last digit of a double is not news: 11.399999999999999 is 11.4.

    >>> format_ends(1.5, (0.2, 1.101, 1.899)), format_ends(3, (None, None, None))
    (('1.10', '1.90'), ())
    """
    sd, low, high = bars
    if low is None or high is None or math.isnan(low) or math.isnan(high):
        return ()
    place = 0 if isinstance(value, int) else None
    return tuple(
        _round_by_error(float(f"{end:.15g}"), sd, rounding, place)
        for end, rounding in ((low, ROUND_FLOOR), (high, ROUND_CEILING))
    )


def format_percent(confidence: Fraction) -> str:
    """Return a confidence in percent.

    >>> format_percent(Fraction(95, 100)), format_percent(Fraction(999, 1000))
    ('95%', '99.9%')
    """
    return f"{float(100 * confidence):.10g}%"


def format_key(value: Any) -> str:
    r"""Return the value of a key on one line; what cannot be seen is escaped.

    >>> format_key("ward 1"), format_key(None), format_key("a\nb"), format_key(True)
    ('ward 1', 'missing', 'a\\nb', 'true')
    """
    if value is None:
        return MISSING
    if isinstance(value, bool):
        return str(value).lower()
    return "".join(
        letter if letter.isprintable() else repr(letter)[1:-1] for letter in str(value)
    )


def format_keys(values: Iterable[Any]) -> list[str]:
    """Return the values of a key; days that all begin months are months.

    >>> format_keys([dt.date(2026, 1, 1), None, dt.date(2026, 2, 1)])
    ['2026-01', 'missing', '2026-02']
    >>> format_keys([dt.datetime(2026, 1, 1), dt.datetime(2026, 1, 9)])
    ['2026-01-01', '2026-01-09']
    """
    listed = list(values)
    known = {value for value in listed if value is not None}
    if not known or not all(isinstance(value, dt.date) for value in known):
        return list(map(format_key, listed))
    places = _places_told(known)
    return [MISSING if day is None else str(day)[:places] for day in listed]


_DAY_PLACES, _MONTH_PLACES = 10, 7


def _places_told(days: set[Any]) -> int | None:
    """How many letters of the text of dates or times tell them apart; None for all."""
    if any(
        isinstance(day, dt.datetime) and (day.time() != dt.time() or day.tzinfo)
        for day in days
    ):
        return None
    # one day alone may well be the first of a month
    begins = len(days) > 1 and all(day.day == 1 for day in days)
    return _MONTH_PLACES if begins else _DAY_PLACES


def cut_text(text: str, most: int) -> str:
    """Text cut to at most `most` columns, its end replaced by an ellipsis.

    >>> cut_text("a long name of a street", 10)
    'a long na…'
    """
    if text_width(text) <= most:
        return text
    ends = accumulate(map(_columns, text))
    places = sum(1 for _ in takewhile(lambda end: end < most, ends))
    return f"{text[:places].rstrip()}…"


def text_width(text: str) -> int:
    """Return how many columns of a terminal a text takes.

    >>> text_width("abc"), text_width("病院"), text_width("e\u0301")
    (3, 4, 1)
    """
    return sum(map(_columns, text))


def _columns(letter: str) -> int:
    """Return 2 for wide letters, 0 for marks upon the letter before, else 1."""
    if unicodedata.combining(letter):
        return 0
    return 2 if unicodedata.east_asian_width(letter) in ("W", "F") else 1


def _limits(sd: float | None) -> TypeGuard[float]:
    return sd is not None and 0 < sd < math.inf


def _place(value: float, sd: float | None) -> int:
    if isinstance(value, int) or not math.isfinite(value):
        return 0
    if _limits(sd):
        return _exponent(sd) - 1
    return _exponent(value) + 1 - _DIGITS if value else 0


def _exponent(size: float) -> int:
    return _decimal(size).adjusted()


def _decimal(value: float) -> Decimal:
    return Decimal(repr(float(value)))  # Decimal(0.1) would show 55 digits


def _round_by_error(
    value: float, sd: float | None, rounding: str, place: int | None = None
) -> str:
    text = _round_to_place(
        value, _place(value, sd) if place is None else place, rounding
    )
    if _limits(sd) or "." not in text or "e" in text:
        return text
    return text.rstrip("0").rstrip(".")


def _round_to_place(value: float, place: int, rounding: str) -> str:
    if isinstance(value, int):
        return f"{value:,}"
    if not math.isfinite(value):
        return "NaN" if math.isnan(value) else f"{value:g}"
    # a double knows no digit further down
    place = max(place, _exponent(value) - _DOUBLE) if value else place
    with decimals(_PRECISION):
        rounded = _decimal(value).quantize(Decimal((0, (1,), place)), rounding)
        if not rounded:
            return "0" if place < _FINE else f"{abs(rounded):,f}"
        if rounded.adjusted() >= _LARGE or place < _FINE:
            return f"{rounded:.{rounded.adjusted() - place}e}"
        return f"{rounded:,f}" if place <= 0 else f"{int(rounded):,}"


def format_amounts(budget: str) -> str:
    """Amounts of a budget as they are read, not as they are kept.

    >>> format_amounts("ApproxDP(epsilon=1/2, delta=1/1000000)")
    'epsilon = 0.5, delta = 1e-06'
    >>> format_amounts("PureDP(epsilon=1/3)")
    'epsilon = about 0.3333'
    """
    amounts = []
    for name, text in _AMOUNT.findall(budget):
        try:
            number = f"{float(Fraction(text)):.4g}"
            if Fraction(number) != Fraction(text):  # else what was spent looks less
                number = f"about {number}"
        except (OverflowError, ValueError, ZeroDivisionError):
            number = text
        if number != "0":
            amounts.append(f"{name} = {number}")
    return ", ".join(amounts) or budget


_AMOUNT: Final = re.compile(r"(\w+)=([^,()]+)")
