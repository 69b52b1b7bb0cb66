"""Exponentials, logarithms and powers, the same to the last bit on every engine.

They are made of +, -, *, / and comparisons of doubles, which IEEE 754 rounds in one way
(ADR 177). Engines take the steps of `_exp` and `_log` in the same order.

Kernel: totals.
"""

import math
from fractions import Fraction
from typing import Any, Final

from sordino.errors import InvalidParameter
from sordino.expressions import tree
from sordino.expressions.arithmetic import DIVIDE, MULTIPLY
from sordino.expressions.casts import CAST
from sordino.expressions.choices import WHEN
from sordino.expressions.literals import Fluent, literal
from sordino.expressions.logic import EQUAL
from sordino.expressions.schema import NUMBERS, Column
from sordino.expressions.tree import Argument, Operation, Value

LOG2_E: Final = 1 / math.log(2)
"""Near enough: which whole number it gives is followed by exact steps."""
LN_2: Final = 0.6931471803691238, 1.9082149292705877e-10
"""The logarithm of 2 in two parts; the first times a whole number is exact."""
EXP_ENDS: Final = -708.0, 709.782712893384
EXP_SERIES: Final = tuple(
    float(Fraction(1, math.factorial(n))) for n in range(13, 1, -1)
)
"""1/13!, ..., 1/2!"""
LOG_SERIES: Final = tuple(float(Fraction(2, 2 * n + 1)) for n in range(10, 0, -1))
"""2/21, ..., 2/3"""
SQRT_2: Final = math.sqrt(2)
LEAST_TO_TELL: Final = 2.0**-60
"""Numbers nearer to 0 have 1 as their exponential."""
LEAST_NORMAL: Final = 2.0**-1022
TINY_SHIFT: Final = 54
"""By so many powers of two numbers below the least normal one are moved."""
MOST_FACTORS: Final = 64
_IN_A_ROW: Final = 4
_LARGEST_EXPONENT: Final = 1000
_CAST: Final = 'Read a text as a number by .cast("f64").'
_NO_LOGARITHM: Final = "zero and negative numbers have no logarithm"


def _exp_facts(argument: Argument) -> Column:
    tree.require_types("exp", (argument,), NUMBERS, _CAST)
    return tree.result("f64", (argument,), nan=argument.column.nan)


def _log_facts(argument: Argument) -> Column:
    tree.require_types("log", (argument,), NUMBERS, _CAST)
    return tree.result("f64", (argument,), nan=argument.column.nan, lost=_NO_LOGARITHM)


def _exp(number: Value) -> Value:
    x = float(number)
    low, high = EXP_ENDS
    if x < low:
        return 0.0
    if not x <= high:
        return x if math.isnan(x) else math.inf
    k = math.floor(x * LOG2_E + 0.5)
    r = (x - k * LN_2[0]) - k * LN_2[1]
    series = EXP_SERIES[0]
    for factor in EXP_SERIES[1:]:
        series = series * r + factor
    half = k // 2
    return (1.0 + (r + r * r * series)) * 2.0**half * 2.0 ** (k - half)


def _log(number: Value) -> Value:
    x = float(number)
    if x <= 0:
        return None
    if not x < math.inf:
        return x
    mantissa, k = math.frexp(x)
    if mantissa < SQRT_2 / 2:
        mantissa, k = mantissa * 2, k - 1
    f = mantissa - 1.0
    s = f / (2.0 + f)
    z = s * s
    series = LOG_SERIES[0]
    for factor in LOG_SERIES[1:]:
        series = series * z + factor
    square = f * f * 0.5
    rest = s * (square + series * z) + k * LN_2[1]
    return k * LN_2[0] - ((square - rest) - f)


EXP: Final = Operation("exp", _exp_facts, _exp, copies=3)
LOG: Final = Operation("log", _log_facts, _log, copies=3)

OPERATIONS: Final = (EXP, LOG)


def exp(self: Fluent) -> Fluent:
    """Return e to the power of the number; below -708 it is 0.

    The last bit is the same on every engine, and within 2**-51 of the truth.

    >>> from sordino.expressions.language import col
    >>> col("x").exp().value({"x": 2}), col("x").exp().value({"x": 1000})
    (7.38905609893065, inf)
    """
    return self.call(EXP, self)


def log(self: Fluent) -> Fluent:
    """Return the natural logarithm; only positive numbers have one.

    The last bit is the same on every engine, and within 2**-51 of the truth.

    >>> from sordino.expressions.language import col
    >>> col("x").log().value({"x": 10}), col("x").log().value({"x": 0})
    (2.302585092994046, None)
    """
    return self.call(LOG, self)


def power(self: Fluent, exponent: Any) -> Fluent:
    """Return the number to a power, in f64.

    A whole power of at most 64 is a product, or 1 divided by one. Others are
    exp(exponent * log(x)): 0 stays 0, and negative numbers have none.

    >>> from sordino.expressions.language import col
    >>> col("x").power(10).value({"x": 2}), col("x").power(-1).value({"x": 4})
    (1024.0, 0.25)
    >>> col("x").power(1.5)
    when(col('x') == 0.0).then(0.0).otherwise((col('x').log() * 1.5).exp())
    """
    read = literal(exponent)
    number = read.constant
    if read.type not in NUMBERS or not 0 < abs(number) <= _LARGEST_EXPONENT:
        raise InvalidParameter(
            "exponent",
            exponent,
            f"must be a number other than 0, at most {_LARGEST_EXPONENT} in size",
            "Try power(2).",
        )
    if number == int(number) and abs(number) <= MOST_FACTORS:
        product = _product(self, abs(int(number)))
        return product if number > 0 else self.call(DIVIDE, 1.0, product)
    scaled = self.call(MULTIPLY, self.call(LOG, self), float(number))
    result = self.call(EXP, scaled)
    if number < 0:
        return result
    zero = self.call(EQUAL, self, 0.0)
    return self.call(WHEN, zero, 0.0, result, given=(True, True))


def _product(number: Fluent, factors: int) -> Fluent:
    if factors == 1:
        return number.call(CAST, number, to="f64")
    if factors % 2 or factors <= _IN_A_ROW:
        last = _product(number, 1)
        return number.call(MULTIPLY, _product(number, factors - 1), last)
    half = _product(number, factors // 2)
    return number.call(MULTIPLY, half, half)
