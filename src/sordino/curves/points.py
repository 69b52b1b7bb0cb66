"""Where a curve is asked, and how its answers leave: towards the attacker.

A number is what was written, so 0.1 is a tenth, which lies between two doubles. The
curve is asked at the double on the attacker's side; where an exact parameter decides,
it is compared with what was written.
"""

import math
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from sordino.errors import InvalidParameter
from sordino.numbers import Exact, Infinity, Number, down, exact, shortest, up

Floats: TypeAlias = NDArray[np.float64]
"""A flat array of doubles."""

One: TypeAlias = Number | Infinity | np.number[Any]
"""A single number."""

Many: TypeAlias = NDArray[Any] | list[Any] | tuple[Any, ...]
"""Numbers of any shape."""

Answer: TypeAlias = Any
"""A float for one number; an array of the shape of the question otherwise."""

Towards: TypeAlias = Literal[1, 0, -1]
"""Up, down, or the very double that is given."""

_ULP = float(np.finfo(np.float64).eps)
ELEMENTARY = 24 * _ULP
"""Relative error allowed for a handful of exp, log and arithmetic steps in doubles.

NumPy and the C library state at most 4 units in the last place for each of these.
"""

_FEW = 64
_LEAST_NORMAL = float(np.finfo(np.float64).tiny)
_PLAIN, _LARGEST = 128.0, 1e8
"""Multiples of 1 / 128 below 10**8 have 15 digits: they are their shortest decimals."""


@final
@dataclass(frozen=True)
class Points:
    """The values asked for, flat, and the shape to answer in.

    `values` are doubles on the attacker's side of what was written: `written` is one
    exact number, or doubles that stand for their shortest decimals.
    """

    values: Floats
    written: "Exact | float | Floats"
    shape: tuple[int, ...] | None

    def answer(self, values: Floats) -> Answer:
        """Return the values in the shape of the question."""
        if self.shape is None:
            return float(values[0])
        return values.reshape(self.shape)

    @property
    def lower_values(self) -> Floats:
        """Return doubles on the lower side such that the next ones are not beyond.

        A bound on these, one double further up, is a bound on what was written.
        """
        normal = self.values >= _LEAST_NORMAL
        lower = np.where(normal, np.nextafter(self.values, 0.0), self.values)
        if isinstance(self.written, np.ndarray):
            return np.where(self.values < self.written, self.values, lower)
        return lower

    def reaches(self, bound: "Exact | float") -> NDArray[np.bool_]:
        """Tell where what was written is at least an exact number."""
        if isinstance(self.written, np.ndarray):
            reached: NDArray[np.bool_] = self.written >= _least_double(bound)
            return reached
        return np.array([self.written >= bound])


def read(
    towards: Towards,
    *,
    most: float = np.inf,
    least: float = 0.0,
    **argument: Any,
) -> Points:
    """Return the points of one named argument, rounded in one direction.

    A bool, a NaN, a complex number or a value outside [least, most] is refused.

    >>> read(1, most=1.0, alpha=[0.5, 1]).values.tolist()
    [0.5, 1.0]
    >>> read(1, most=1.0, alpha=0.3).values > 0.3
    array([ True])
    """
    ((name, value),) = argument.items()
    if isinstance(value, (np.ndarray, list, tuple)):
        array = _array(name, value)
        flat = array.ravel()
        _check_range(name, flat, least, most)
        moved = np.minimum(_outward(flat, towards), most) if towards else flat
        return Points(moved, flat, array.shape)
    if isinstance(value, float) and least <= value <= most:
        return _one(float(value), towards)
    number = exact(**{name: value})
    for double in (down(number), up(number)):
        # the same number, however it was written, is asked at the same point
        if math.isfinite(double) and shortest(double) == number:
            _check_range(name, np.array([double]), least, most)
            return _one(double, towards)
    values = np.array([(down if towards < 0 else up)(number)])
    _check_range(name, values, least, most)
    return Points(values, number, None)


def _one(double: float, towards: Towards) -> Points:
    """Return the point of one double that stands for its shortest decimal."""
    return Points(np.array([_neighbour(double, towards)]), np.array([double]), None)


def _check_range(name: str, values: Floats, least: float, most: float) -> None:
    """Refuse values that are outside the limits or no numbers."""
    # a NaN is the minimum of an array that holds one, and is not within anything
    if values.size and not (values.min() >= least and values.max() <= most):
        inside = (values >= least) & (values <= most)
        worst = float(values[~inside][0])
        limits = f"must lie between {least:g} and {most:g}"
        raise InvalidParameter(name, worst, limits, f"Remove NaN, clip {name}.")


def _array(name: str, values: Any) -> Floats:
    """Return an array of real numbers as doubles."""
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise InvalidParameter(name, values, "is ragged", "Use one shape.") from error
    if array.size and array.dtype.kind not in "iuf":
        raise InvalidParameter(name, values, "must hold real numbers", "Use floats.")
    return array.astype(np.float64, copy=False)


def _outward(doubles: Floats, towards: Towards) -> Floats:
    """Return doubles on one side of both the doubles given and their decimals."""
    if doubles.size <= _FEW:
        return np.array([_neighbour(x, towards) for x in doubles.tolist()], np.float64)
    size = np.abs(doubles)
    with np.errstate(over="ignore", under="ignore"):
        moved = np.where(size > 0, np.nextafter(doubles, towards * np.inf), doubles)
    for place in np.flatnonzero((size < _LEAST_NORMAL) & (size > 0)):
        moved[place] = _neighbour(float(doubles[place]), towards)
    return moved


def _neighbour(double: float, towards: Towards) -> float:
    """Return the same of one double; denormals are far from their decimals."""
    plain = abs(double) < _LARGEST and (double * _PLAIN).is_integer()
    if plain or math.isinf(double) or towards == 0:
        return double
    if abs(double) >= _LEAST_NORMAL:
        return math.nextafter(double, towards * math.inf)
    decimal = shortest(double)
    return max(double, up(decimal)) if towards > 0 else min(double, down(decimal))


def _least_double(bound: "Exact | float") -> float:
    """Return the least double that is written as a number not below a bound."""
    near = down(bound)
    while math.isfinite(near) and shortest(near) < bound:
        near = math.nextafter(near, math.inf)
    return near


def double_of_bound(bound: "Exact | float") -> float:
    """Return the least double that bounds a number from above, however it is read.

    As the double it is, or as the decimal that it is written as.

    >>> from fractions import Fraction
    >>> third = double_of_bound(Fraction(1, 3))
    >>> double_of_bound(Fraction(1, 10)), Fraction(third) * 3 > 1
    (0.1, True)
    """
    return max(up(bound), _least_double(bound))


def raise_bounds(values: Floats, most: float = 1.0) -> Floats:
    """Return values one double further up, at most `most`: what is not known is most.

    The decimal that a double is written as lies within half a unit of it, so it is a
    bound as well.

    >>> raise_bounds(np.array([0.5, np.nan, 0, 2])).tolist()
    [0.5000000000000001, 1.0, 5e-324, 1.0]
    """
    known = np.where(np.isnan(values), most, np.maximum(values, 0.0))
    return np.minimum(np.nextafter(known, np.inf), most)


def raise_epsilons(values: Floats) -> Floats:
    """Return epsilons one double further up; 0 is enough where no more is needed.

    >>> raise_epsilons(np.array([0.5, np.nan, -1])).tolist()
    [0.5000000000000001, inf, 0.0]
    """
    return np.where(values <= 0, 0.0, raise_bounds(values, np.inf))


def lower_bounds(values: Floats) -> Floats:
    """Return values one double further down, at least 0, and 0 for what is not known.

    >>> lower_bounds(np.array([0.5, np.nan, 0])).tolist()
    [0.49999999999999994, 0.0, 0.0]
    """
    known = np.where(np.isnan(values), 0.0, values)
    return np.maximum(np.nextafter(known, -np.inf), 0.0)


def complement(values: Floats) -> Floats:
    """Return 1 - x, rounded down, for x in [0, 1].

    >>> complement(np.array([0.25, 1e-30, 1.0])).tolist()
    [0.75, 0.9999999999999999, 0.0]
    """
    rest = 1 - values
    # what was lost in the subtraction is itself a double (Dekker)
    return np.where((1 - rest) < values, np.nextafter(rest, 0.0), rest)


def grow(values: Floats, margin: float = ELEMENTARY) -> Floats:
    """Return upper ends: the values grown by a relative margin."""
    return values * (1 + margin)


def shrink(values: Floats, margin: float = ELEMENTARY) -> Floats:
    """Return lower ends: the values shrunk by a relative margin."""
    return values * (1 - margin)
