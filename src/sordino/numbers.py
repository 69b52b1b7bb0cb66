"""Exact numbers, and the only conversions to float: each names its direction.

A privacy parameter is a rational (`Fraction`), a root of a rational (`Radical`), or
infinity. A number is what its reader wrote: text and decimals say what they are, and a
float stands for its shortest decimal, the one that Python prints.

>>> exact(scale="0.1"), exact(scale=0.1), exact(scale="sqrt(2)/3")
(Fraction(1, 10), Fraction(1, 10), sqrt(2/9))
>>> up(exact(scale="0.1")) > Fraction(1, 10) > down(exact(scale="0.1"))
True
"""

import math
import re
from decimal import Decimal
from fractions import Fraction
from numbers import Rational
from typing import Any, Literal, TypeAlias

import numpy as np
from flint import arb, fmpq

from sordino import _validate
from sordino.errors import InvalidParameter
from sordino.precision import decimals, precision
from sordino.radical import FORMS, Exact, Radical, as_fraction, sqrt

__all__ = [
    "Exact",
    "Number",
    "Radical",
    "ball",
    "distance",
    "down",
    "exact",
    "floor_log2",
    "fraction",
    "outcome",
    "positive",
    "probability",
    "rounded_up",
    "shortest",
    "sqrt",
    "total",
    "up",
    "written",
]

_LONGEST = 4000
_WRITTEN = 24
_LARGEST_BITS = 13_000
"""By default Python prints no integer of more than 4300 digits."""
_SUM_BITS = 256
_END_BITS = 128
_BEYOND = 1100
"""A power of two beyond which every double is 0 or infinite, in either direction."""
_DECIMAL = (
    r"[0-9]+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]{1,4})?|\.[0-9]+(?:[eE][+-]?[0-9]{1,4})?"
)
_FACTOR = rf"(?:{_DECIMAL}|sqrt\((?:{_DECIMAL})(?:/(?:{_DECIMAL}))?\))"
_TEXT = re.compile(rf"[+-]?{_FACTOR}(?:[*/]{_FACTOR})*", re.ASCII)
_SPLIT = re.compile(rf"([*/]?)(?:({_DECIMAL})|sqrt\(([^)]*)\))", re.ASCII)
Number: TypeAlias = int | float | str | Fraction | Decimal | Radical
"""What a user may write for a privacy parameter."""


def exact(**argument: Any) -> Exact:
    """Return the exact finite value of one named parameter, or refuse it by name."""
    name, given = _validate.one(**argument)
    return _finite(name, given, _read(name, given))


def outcome(**argument: Any) -> Exact:
    """Return a value that data or noise may take: a float is the very double it is."""
    _, given = _validate.one(**argument)
    if isinstance(given, float) and math.isfinite(given):
        return Fraction(given)
    return exact(**argument)


def positive(**argument: Any) -> Exact:
    """Return the exact value of a parameter that must be positive and finite."""
    name, given = _validate.one(**argument)
    value = exact(**argument)
    if value <= 0:
        raise InvalidParameter(name, given, "must be positive", f"Try {name}=1.")
    return value


def distance(**argument: Any) -> "Exact | float":
    """Return a distance or a loss: exact and at least zero, or infinity."""
    name, given = _validate.one(**argument)
    value = _read(name, given)
    if value < 0:
        raise InvalidParameter(name, given, "must not be negative", f"Try {name}=1.")
    return value


def probability(**argument: Any) -> Fraction:
    """Return an exact rational in [0, 1]."""
    name, given = _validate.one(**argument)
    value = exact(**argument)
    if not 0 <= value <= 1:
        raise InvalidParameter(
            name, given, "must lie between 0 and 1", f'Try {name}="1e-6".'
        )
    if isinstance(value, Radical):
        raise InvalidParameter(name, given, "must be rational", f'Try {name}="1e-6".')
    return value


def total(*terms: "Exact | float") -> "Exact | float":
    """Return the sum, exact when rational; a sum of unlike roots is rounded up.

    >>> total(Fraction(1, 10), Fraction(9, 10))
    Fraction(1, 1)
    """
    if math.inf in terms:
        return math.inf
    exact_terms = [shortest(t) if isinstance(t, float) else t for t in terms]
    rational = sum((t for t in exact_terms if isinstance(t, Fraction)), Fraction(0))
    roots = [term for term in exact_terms if isinstance(term, Radical)]
    if not roots:
        return rational
    shares = [root / roots[0] for root in roots]
    if rational == 0 and all(isinstance(share, Fraction) for share in shares):
        return roots[0] * total(*shares)
    with precision(_SUM_BITS):
        balls = [ball(root) for root in roots]
        return fraction(sum(balls, ball(rational)).upper())


def ball(value: "Exact") -> arb:
    """Return an enclosure at the working precision of flint."""
    if isinstance(value, Radical):
        root = ball(value.radicand)
        for _ in range(value.index.bit_length() - 1):
            root = root.sqrt()
        return root
    return arb(fmpq(value.numerator, value.denominator))


def fraction(point: arb) -> Fraction:
    """Return an exact ball as a rational."""
    mantissa, exponent = (int(part) for part in point.man_exp())
    return Fraction(mantissa) * Fraction(2) ** exponent


def shortest(value: float) -> Fraction:
    """Return what a finite double stands for: its shortest decimal.

    >>> shortest(0.1), shortest(2.5e-7)
    (Fraction(1, 10), Fraction(1, 4000000))
    """
    return Fraction(float.__repr__(value))


def written(value: object) -> str:
    """Return what a user may write for the value; "~" marks one that is too long.

    >>> written(Fraction(1, 10)), written(Fraction(1, 10**6)), written(Fraction(1, 3))
    ('0.1', '1e-06', "'1/3'")
    >>> written(Fraction(3, 10) + Fraction(1, 2**70))
    "'~0.3000000000'"
    """
    if not isinstance(value, (Fraction, Radical)):
        return repr(value)
    if isinstance(value, Radical):
        return repr(str(value)) if len(str(value)) <= _WRITTEN else _long(value)
    if value.denominator == 1 and abs(value.numerator) < 10**_WRITTEN:
        return str(value.numerator)
    for nearest in filter(math.isfinite, (_directed(value, 1), _directed(value, -1))):
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


def up(value: "Exact | float | arb") -> float:
    """Return the least double that is not below the value.

    >>> up(Fraction(1, 3)) > Fraction(1, 3)
    True
    """
    return _directed(value, 1)


def down(value: "Exact | float | arb") -> float:
    """Return the greatest double that is not above the value."""
    return _directed(value, -1)


def rounded_up(value: "Exact") -> Fraction:
    """Return the least short decimal, as doubles are printed, not below the value.

    >>> rounded_up(Fraction(1, 3)), rounded_up(Fraction(1, 10))
    (Fraction(33333333333333337, 100000000000000000), Fraction(1, 10))
    """
    near = down(value)
    while shortest(near) < value:
        near = math.nextafter(near, math.inf)
    return shortest(near)


def floor_log2(value: "Exact") -> int:
    """Return the greatest e with 2**e <= value, for a positive value.

    >>> floor_log2(Fraction(3, 8)), floor_log2(sqrt(Fraction(8)))
    (-2, 1)
    """
    if isinstance(value, Radical):
        return floor_log2(value.radicand) // value.index
    exponent = value.numerator.bit_length() - value.denominator.bit_length()
    return exponent - (Fraction(2) ** exponent > value)


def _read(name: str, given: Any) -> "Exact | float":
    """Return the exact value of what was given, or infinity."""
    match given:
        case bool() | np.bool_() | np.timedelta64():
            kind = type(given).__name__
            problem = f"must be a number, not a {kind}"
            raise InvalidParameter(name, given, problem, FORMS)
        case float() | np.floating():
            return _shortest(name, given)
        case np.number():
            return _read(name, given.item())
        case Radical():
            return given
        case str():
            return _parsed(name, given)
        case Decimal():
            return _unrounded(name, given, given)
        case Rational():
            value = as_fraction(given)
            _printable(name, given, value)
            return value
    raise InvalidParameter(name, given, "must be a number", FORMS)


def _shortest(name: str, given: "float | np.floating[Any]") -> "Fraction | float":
    """Read a float as the shortest decimal that its own precision tells apart."""
    if isinstance(given, float):
        return _unrounded(name, given, Decimal(float.__repr__(given)))
    return _unrounded(name, given, Decimal(np.format_float_scientific(given)))


def _unrounded(name: str, given: object, decimal: Decimal) -> "Fraction | float":
    """Return a decimal exactly; one beyond the doubles stays finite."""
    if decimal.is_nan():
        raise InvalidParameter(name, given, "must not be NaN", FORMS)
    if decimal.is_infinite():
        return math.copysign(math.inf, decimal)
    if abs(decimal.adjusted()) > _LONGEST:
        raise InvalidParameter(name, given, "is out of every useful range", FORMS)
    value = Fraction(decimal)
    _printable(name, given, value)
    return value


def _printable(name: str, given: object, value: Exact) -> None:
    """Refuse a number of more digits than Python prints."""
    shown = value.radicand if isinstance(value, Radical) else value
    if max(abs(shown.numerator), shown.denominator).bit_length() > _LARGEST_BITS:
        raise InvalidParameter(name, given, "is out of every useful range", FORMS)


def _parsed(name: str, text: str) -> Exact:
    """Read a product of decimals and square roots such as "2*sqrt(3)/7"."""
    body = text.strip(" ")
    if len(body) > _LONGEST or not _TEXT.fullmatch(body):
        raise InvalidParameter(name, text, "is not a number I can read", FORMS)
    size: Exact = Fraction(1)
    for operator, decimal, radicand in _SPLIT.findall(body.lstrip("+-")):
        factor = Fraction(decimal) if decimal else _root_of(name, text, radicand)
        if operator == "/" and factor == 0:
            raise InvalidParameter(name, text, "divides by zero", FORMS)
        size = size / factor if operator == "/" else size * factor
        _printable(name, text, size)
    if not body.startswith("-"):
        return size
    if isinstance(size, Radical):
        raise InvalidParameter(name, text, "must not be negative", FORMS)
    return -size


def _root_of(name: str, given: str, ratio: str) -> Exact:
    """Read the "2" of "sqrt(2)", or the "2/3"."""
    above, _, below = ratio.partition("/")
    denominator = Fraction(below or 1)
    if denominator == 0:
        raise InvalidParameter(name, given, "divides by zero", FORMS)
    return sqrt(Fraction(above) / denominator)


def _finite(name: str, given: object, value: "Exact | float") -> Exact:
    """Refuse infinity."""
    if isinstance(value, float):
        raise InvalidParameter(name, given, "must be finite", FORMS)
    return value


def _directed(value: "Exact | float | arb", towards: Literal[1, -1]) -> float:
    """Round to a double in one direction."""
    if isinstance(value, float):
        return value
    if isinstance(value, Radical):
        return _directed_root(value, towards)
    if isinstance(value, arb):
        return _directed_ball(value, towards)
    try:
        nearest = value.numerator / value.denominator
    except OverflowError:
        nearest = math.inf if value > 0 else -math.inf
    if math.isinf(nearest):
        return nearest if nearest * towards > 0 else math.nextafter(nearest, 0.0)
    error = (Fraction(nearest) - value) * towards
    return nearest if error >= 0 else math.nextafter(nearest, math.inf * towards)


def _directed_root(value: Radical, towards: Literal[1, -1]) -> float:
    """Round a root: start from an enclosure and step until the powers agree."""
    digits = 128
    while True:
        with precision(digits):
            enclosure = ball(value)
            low, high = fraction(enclosure.lower()), fraction(enclosure.upper())
        answer = _directed(high, towards)
        if answer == _directed(low, towards):
            return answer
        digits *= 2


def _directed_ball(value: arb, towards: Literal[1, -1]) -> float:
    """Round the outer end of a ball."""
    if not value.is_finite():
        return math.inf * towards
    with precision(_END_BITS):
        end = value.upper() if towards > 0 else value.lower()
    mantissa, exponent = (int(part) for part in end.man_exp())
    size = exponent + abs(mantissa).bit_length()
    exponent += min(0, _BEYOND - size) + max(0, -_BEYOND - size)
    return _directed(Fraction(mantissa) * Fraction(2) ** exponent, towards)
