"""The normal law in doubles: chances, their logarithms, and quantiles.

All rest on one function, M(x) = exp(x^2 / 2) Phi(-x) for x >= 0, which falls slowly
from 1/2 to 0 and is given as a quotient of two polynomials. Every coefficient is
positive, so no digit is lost in summing them (docs/proofs/normal.md).

Kernel: mathematics.
"""

from collections.abc import Callable
from functools import wraps
from typing import Final

import numpy as np
from numpy.typing import NDArray

Doubles = NDArray[np.float64]

NORMAL_ERROR: Final = 1.25e-13
"""The relative error allowed for chances of at least 1e-300, and for logarithms."""

_ABOVE: Final = (
    *(3.074424335566897e-07, 9.145657677382928e-06, 0.00013442148458840683),
    *(0.0012669328940240856, 0.008410286926606161, 0.040899387856755724),
    *(0.14728687726415834, 0.38814725158673613, 0.7191582158369085),
    *(0.8530012278302397, 0.5),
)
_BENEATH: Final = (
    *(7.706438967745611e-07, 2.292476412422416e-05, 0.0003377153378839356),
    *(0.0031986545783481424, 0.021416866413858145, 0.1056494423235931),
    *(0.38960873021710657, 1.0693382515344263, 2.1330046916448673),
    *(2.9361292241046546, 2.503887016463345, 1.0),
)
"""Coefficients from the highest power down: the quotient meets M at 22 points."""

_GUESS_ABOVE: Final = (0.01341034009, 0.8004675188, 4.928649811, 2.96201503)
_GUESS_BENEATH: Final = (0.001914209629, 0.1869403134, 2.048444059, 3.615477017, 1.0)
"""t less the quantile z, where t^2 = -2 ln Phi(-z): within 5e-6."""

_FARTHEST: Final = 1e27
"""Farther out M is taken from here: higher powers of x do not fit a double."""
_VANISHED: Final = 40.0
"""exp(-x^2 / 2) is 0 in doubles from here on."""
_DENSITY: Final = float(1 / np.sqrt(2 * np.pi))
_BLOCK: Final = 8192
"""Numbers whose intermediate results stay in the processor's cache."""


def _by_blocks(function: Callable[[Doubles], Doubles]) -> Callable[[Doubles], Doubles]:
    @wraps(function)
    def blocked(values: Doubles) -> Doubles:
        if values.size <= _BLOCK:
            return function(values)
        flat, answers = values.ravel(), np.empty(values.size)
        for start in range(0, values.size, _BLOCK):
            block = slice(start, start + _BLOCK)
            answers[block] = function(flat[block])
        return answers.reshape(values.shape)

    return blocked


@_by_blocks
def scaled_normal_tail(x: Doubles) -> Doubles:
    """Return M(x) = exp(x^2 / 2) Phi(-x) for x >= 0.

    >>> scaled_normal_tail(np.array([0.0, 10.0])).round(6).tolist()
    [0.5, 0.039507]
    """
    x = np.minimum(x, _FARTHEST)
    above = _value(_ABOVE, x)
    above /= _value(_BENEATH, x)
    return above


@_by_blocks
def normal_chance(x: Doubles) -> Doubles:
    """Return Phi(x)."""
    size = np.minimum(np.abs(x), _VANISHED)
    tail = scaled_normal_tail(size)
    tail *= np.exp(-size * size / 2)
    return np.where(x > 0, 1 - tail, tail)


@_by_blocks
def log_normal_chance(x: Doubles) -> Doubles:
    """Return ln Phi(x), also where Phi(x) is too small for a double.

    >>> log_normal_chance(np.array([-1e3])).round(3).tolist()
    [-500007.827]
    """
    size = np.abs(x)
    with np.errstate(over="ignore"):
        below = np.log(scaled_normal_tail(size)) - size * size / 2
    return np.where(x > 0, np.log1p(-np.exp(below)), below)


@_by_blocks
def normal_quantile_of(chance: Doubles) -> Doubles:
    """Return the x with Phi(x) = chance, without a margin: infinite at 0 and 1.

    One step of Halley's method takes the third power of the error of a guess.

    >>> normal_quantile_of(np.array([0.0, 0.975])).round(6).tolist()
    [-inf, 1.959964]
    """
    with np.errstate(divide="ignore"):
        log = np.log(np.minimum(chance, 1 - chance))  # the lesser tail keeps its digits
    root = np.sqrt(np.minimum(-2 * log, _VANISHED**2))
    z = root - _value(_GUESS_ABOVE, root) / _value(_GUESS_BENEATH, root)
    z = np.maximum(z, 0.0)  # the quotient M is given for x >= 0 alone
    tail = scaled_normal_tail(z)
    hazard = _DENSITY / tail
    with np.errstate(invalid="ignore"):
        excess = np.log(tail) - z * z / 2 - log
        z += 2 * excess / (2 * hazard + excess * (hazard - z))
    z = np.where(np.isneginf(log), np.inf, z)
    return np.where(chance > 0.5, z, -z)


def _value(coefficients: tuple[float, ...], x: Doubles) -> Doubles:
    first, second, *rest = coefficients
    value = first * x
    value += second
    for coefficient in rest:
        value *= x
        value += coefficient
    return value
