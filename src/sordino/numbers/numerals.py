"""Exact numbers as texts, short enough for a message."""

import math
from decimal import Decimal
from fractions import Fraction

from sordino.numbers.precision import decimals
from sordino.numbers.radical import Exact, Radical
from sordino.numbers.rounding import down, shortest, up

_WRITTEN = 24


def number_text(value: object) -> str:
    """Return what a user may write for the value; "~" marks one that is too long.

    >>> [number_text(Fraction(1, below)) for below in (10, 10**6, 3)]
    ['0.1', '1e-06', "'1/3'"]
    >>> number_text(Fraction(3, 10) + Fraction(1, 2**70))
    "'~0.3000000000'"
    """
    if not isinstance(value, (Fraction, Radical)):
        return repr(value)
    if isinstance(value, Radical):
        return repr(str(value)) if len(str(value)) <= _WRITTEN else _long(value)
    if value.denominator == 1 and abs(value.numerator) < 10**_WRITTEN:
        return str(value.numerator)
    for nearest in filter(math.isfinite, (up(value), down(value))):
        if shortest(nearest) == value:
            return repr(nearest)
    text = str(value)
    return repr(text) if len(text) <= _WRITTEN else _long(value)


def _long(value: Exact) -> str:
    """Return a value too long to write out, to ten digits."""
    if isinstance(value, Fraction):
        with decimals(10):
            return f"'~{Decimal(value.numerator) / Decimal(value.denominator)}'"
    return f"'~{up(value):.10g}'"
