"""Numbers as they were written: each reader takes one named argument, or refuses it.

Text and decimals say what they are; a float stands for its shortest decimal, the one
that Python prints.

>>> exact(scale="0.1"), exact(scale=0.1), exact(scale="sqrt(2)/3")
(Fraction(1, 10), Fraction(1, 10), sqrt(2/9))

Kernel: mathematics.
"""

import math
import re
from collections.abc import Collection
from decimal import Decimal
from fractions import Fraction
from numbers import Integral, Rational
from typing import Any, TypeAlias

import numpy as np

from sordino.errors import InvalidParameter
from sordino.numbers.exact import FORMS, Exact, Radical, as_fraction, sqrt
from sordino.numbers.rounding import INFINITE, Extended, Infinity


def integer(
    *, least: int | None = None, most: int | None = None, **argument: Any
) -> int:
    """Return an integer within [least, most]; a bool is not a number."""
    ((name, value),) = argument.items()
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, Integral):
        raise InvalidParameter(name, value, "must be an integer", f"Try {name}=1.")
    number = int(value)
    if least is not None and number < least:
        raise InvalidParameter(
            name, value, f"must be at least {least}", f"Try {name}={least}."
        )
    if most is not None and number > most:
        raise InvalidParameter(
            name, value, f"must be at most {most}", f"Try {name}={most}."
        )
    return number


def text(**argument: Any) -> str:
    """Return a text, such as the name of a column."""
    ((name, value),) = argument.items()
    if not isinstance(value, str):
        raise InvalidParameter(name, value, "must be text", f'Try {name}="name".')
    return value


def unicode_text(**argument: Any) -> str:
    """Return a text in valid Unicode, which can name what requests are asked of."""
    ((name, value),) = argument.items()
    try:
        text(**argument).encode()
    except UnicodeEncodeError as error:
        raise InvalidParameter(
            name,
            value[error.start : error.end],
            "must be valid Unicode (no lone surrogates)",
            "Decode the name again from its source.",
        ) from None
    return str(value)


def choice(options: Collection[str], **argument: Any) -> str:
    """Return one of the given words."""
    ((name, value),) = argument.items()
    if not isinstance(value, str) or value not in options:
        listed = ", ".join(f'"{option}"' for option in options)
        raise InvalidParameter(
            name,
            value,
            f"must be one of {listed}",
            f'Try {name}="{next(iter(options))}".',
        )
    return value


_LONGEST = 4000
_LARGEST_BITS = 13_000
"""By default Python prints no integer of more than 4300 digits."""
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
    ((name, raw),) = argument.items()
    value = _read(name, raw)
    if value is INFINITE:
        raise InvalidParameter(name, raw, "must be finite", FORMS)
    return value


def outcome(**argument: Any) -> Exact:
    """Return a value that data or noise may take: a float is the very double it is."""
    (value,) = argument.values()
    if isinstance(value, float) and math.isfinite(value):
        return Fraction(value)
    return exact(**argument)


def positive(**argument: Any) -> Exact:
    """Return the exact value of a parameter that must be positive and finite."""
    ((name, raw),) = argument.items()
    value = exact(**argument)
    if value <= 0:
        raise InvalidParameter(name, raw, "must be positive", f"Try {name}=1.")
    return value


def distance(**argument: Any) -> Extended:
    """Return a distance or a loss: exact and at least zero, or infinity."""
    ((name, raw),) = argument.items()
    value = _read(name, raw)
    if value < 0:
        raise InvalidParameter(name, raw, "must not be negative", f"Try {name}=1.")
    return value


def probability(**argument: Any) -> Fraction:
    """Return an exact rational in [0, 1]."""
    ((name, raw),) = argument.items()
    value = exact(**argument)
    if not 0 <= value <= 1:
        raise InvalidParameter(
            name, raw, "must lie between 0 and 1", f'Try {name}="1e-6".'
        )
    if isinstance(value, Radical):
        raise InvalidParameter(
            name, raw, "must be a rational number", f'Try {name}="1e-6".'
        )
    return value


def _read(name: str, raw: Any) -> Extended:
    match raw:
        # first: a bool is an int, a timedelta64 an np.number
        case bool() | np.bool_() | np.timedelta64():
            kind = type(raw).__name__
            problem = f"must be a number, not a {kind}"
            raise InvalidParameter(name, raw, problem, FORMS)
        case float() | np.floating():
            return _shortest(name, raw)
        case np.number():
            return _read(name, raw.item())
        case Radical():
            return raw
        case str():
            return _parse(name, raw)
        case Decimal():
            return _keep_decimal(name, raw, raw)
        case Rational():
            value = as_fraction(raw)
            _printable(name, raw, value)
            return value
    raise InvalidParameter(name, raw, "must be a number", FORMS)


def _shortest(name: str, raw: "float | np.floating[Any]") -> "Fraction | Infinity":
    if isinstance(raw, float):
        # np.float64 has a repr of its own
        return _keep_decimal(name, raw, Decimal(float.__repr__(raw)))
    # np.float32(0.1) is a tenth; as a double it would be 0.10000000149
    return _keep_decimal(name, raw, Decimal(np.format_float_scientific(raw)))


def _keep_decimal(name: str, raw: object, decimal: Decimal) -> "Fraction | Infinity":
    """Return a decimal exactly; one beyond the doubles stays finite."""
    if decimal.is_nan():
        raise InvalidParameter(name, raw, "must not be NaN", FORMS)
    if decimal.is_infinite():
        if decimal < 0:
            raise InvalidParameter(name, raw, "must not be negative infinity", FORMS)
        return INFINITE
    if abs(decimal.adjusted()) > _LONGEST:  # before Fraction writes it out in full
        raise InvalidParameter(name, raw, "must have at most about 4000 digits", FORMS)
    value = Fraction(decimal)
    _printable(name, raw, value)
    return value


def _printable(name: str, raw: object, value: Exact) -> None:
    rational = value.radicand if isinstance(value, Radical) else value
    if max(abs(rational.numerator), rational.denominator).bit_length() > _LARGEST_BITS:
        raise InvalidParameter(name, raw, "must have at most about 4000 digits", FORMS)


def _parse(name: str, text: str) -> Exact:
    """Read a product of decimals and square roots such as "2*sqrt(3)/7"."""
    body = text.strip(" ")
    # before it is parsed: "1e999999999" would fill the memory
    if len(body) > _LONGEST or not _TEXT.fullmatch(body):
        raise InvalidParameter(
            name, text, "must be a number that can be read exactly", FORMS
        )
    size: Exact = Fraction(1)
    for operator, decimal, radicand in _SPLIT.findall(body.lstrip("+-")):
        factor = Fraction(decimal) if decimal else _root_of(name, text, radicand)
        if operator == "/" and factor == 0:
            raise InvalidParameter(name, text, "must not divide by zero", FORMS)
        size = size / factor if operator == "/" else size * factor
        _printable(name, text, size)  # at each factor: a product grows with every one
    if not body.startswith("-"):
        return size
    if isinstance(size, Radical):
        raise InvalidParameter(name, text, "must not be negative", FORMS)
    return -size


def _root_of(name: str, raw: str, ratio: str) -> Exact:
    above, _, below = ratio.partition("/")
    denominator = Fraction(below or 1)
    if denominator == 0:
        raise InvalidParameter(name, raw, "must not divide by zero", FORMS)
    return sqrt(Fraction(above) / denominator)
