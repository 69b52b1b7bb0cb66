"""Where a curve is asked, and how its answers are rounded; the one root search.

A number is what was written, so 0.1 is a tenth, which lies between two doubles. The
curve is asked at the double on the attacker's side; where an exact parameter decides,
it is compared with what was written.

Kernel: mathematics.
"""

import math
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeAlias, TypeVar, final

import numpy as np
from numpy.typing import NDArray

from sordino.errors import InvalidParameter
from sordino.numbers import Exact, Infinity, Number, down, exact, shortest, up

Kept = TypeVar("Kept")

COARSENESS: ContextVar[float] = ContextVar("coarseness", default=1.0)
"""A factor on the steps chosen: a search may look at coarse bounds before fine ones."""


@final
class grid_property(Generic[Kept]):  # noqa: N801 read as a decorator
    """A property computed once for each coarseness; what is fine serves any search.

    A loss that a search has looked at coarsely so answers finely ever after.
    """

    def __init__(self, compute: Callable[[Any], Kept]) -> None:
        self.compute = compute
        self.name = ""
        self.__doc__ = compute.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        """Learn the name: fine values are kept under it, and found there first."""
        self.name = name

    def __get__(self, instance: Any, owner: type | None = None) -> Kept:
        if instance is None:  # asked of the class itself
            return self  # type: ignore[return-value]
        coarseness = COARSENESS.get()
        name = self.name if coarseness == 1 else f"{self.name} at {coarseness}"
        # the fine value takes the plain name, which Python finds before this descriptor
        cached = vars(instance)
        if name not in cached:
            cached[name] = self.compute(instance)
        value: Kept = cached[name]
        return value


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
        """Doubles at or below each value, at most one step away.

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
        # a probability rounded up stays one
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
    return Points(np.array([_neighbour(double, towards)]), np.array([double]), None)


def _check_range(name: str, values: Floats, least: float, most: float) -> None:
    # a NaN is the minimum of an array that holds one, and is not within anything
    if values.size and not (values.min() >= least and values.max() <= most):
        inside = (values >= least) & (values <= most)
        worst = float(values[~inside][0])
        limits = f"must lie between {least:g} and {most:g}"
        raise InvalidParameter(name, worst, limits, f"Remove NaN, clip {name}.")


def _array(name: str, values: Any) -> Floats:
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise InvalidParameter(name, values, "is ragged", "Use one shape.") from error
    if array.size and array.dtype.kind not in "iuf":
        raise InvalidParameter(name, values, "must hold real numbers", "Use floats.")
    return array.astype(np.float64, copy=False)


def _outward(doubles: Floats, towards: Towards) -> Floats:
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


_STEPS = 400


def find_least(
    holds: Callable[[float], bool], low: float, high: float, relative: float = 0.0
) -> float:
    """Return x in [low, high] where `holds` is true, within tolerance of the least.

    `holds` is false, then true. The answer is always a point where it was seen true;
    infinity if it is not true at `high`. Doubles far apart are halved by exponent.

    >>> find_least(lambda x: x * x >= 2, 0.0, 2.0) >= math.sqrt(2)
    True
    """
    if holds(low):
        return low
    if not holds(high):
        return math.inf
    for _ in range(_STEPS):
        middle = _middle(low, high)
        if not low < middle < high or high - low <= relative * abs(high):
            break
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


def find_crossing(
    excess: Callable[[float], float], low: float, high: float, relative: float
) -> float:
    """Return x where the decreasing `excess` is at most 0, close to its root.

    A secant search in a bracket (the Illinois rule): few evaluations for a smooth
    function, and the answer is the end of the bracket where `excess` was seen <= 0.
    """
    above, below = excess(low), excess(high)
    if above <= 0:
        return low
    if below > 0:
        return math.inf
    for step in range(_STEPS):
        if high - low <= relative * abs(high):
            break
        guess = (low + high) / 2
        # every fourth step halves: a secant alone may creep
        if step % 4 != 3 and below < above < math.inf:
            straight = high - below * (high - low) / (below - above)
            guess = straight if low < straight < high else guess
        if not low < guess < high:
            break
        value = excess(guess)
        if value <= 0:
            high, below, above = guess, value, above / 2
        else:
            low, above, below = guess, value, below / 2
    return high


def find_crossings(
    excess: Callable[[Floats], Floats], low: Floats, high: Floats, relative: float
) -> Floats:
    """Return where each of many decreasing functions is at most 0, close to its root.

    A secant search in brackets (the rule of Anderson and Bjorck), each guess moved by
    half of what is tolerated towards the far end, so that both ends close in. Answers
    are ends where `excess` was seen <= 0; infinity where it was not at `high`.
    """
    low, high, above, below = low.copy(), high.copy(), excess(low), excess(high)
    high[below > 0] = np.inf
    np.copyto(high, low, where=above <= 0)
    fell_last = rose_last = np.zeros(len(low), dtype=bool)
    for step in range(_STEPS):
        width, close = high - low, relative * high
        guess = low + width / 2
        if step % 8 != 7:  # every eighth step halves: a secant alone may creep
            with np.errstate(all="ignore"):
                straight = high - below * width / (below - above)
            straight += np.where(2 * straight < low + high, close, -close) / 2
            np.copyto(guess, straight, where=(low < straight) & (straight < high))
        going = (width > close) & (low < guess) & (guess < high)
        if not going.any():
            break
        value = excess(np.where(going, guess, high))
        fell = going & (value <= 0)
        rose = going & ~fell
        above = np.where(fell & fell_last, above * _less(value, below), above)
        below = np.where(rose & rose_last, below * _less(value, above), below)
        np.copyto(high, guess, where=fell)
        np.copyto(below, value, where=fell)
        np.copyto(low, guess, where=rose)
        np.copyto(above, value, where=rose)
        fell_last, rose_last = fell, rose
    return high


def _less(value: Floats, before: Floats) -> Floats:
    with np.errstate(all="ignore"):
        share = 1 - value / before
    return np.where(share > 0, share, 0.5)


def _middle(low: float, high: float) -> float:
    if low <= 0 < high and high > 2e-300:
        return min(high / 2, high * 1e-3) if low == 0 else (low + high) / 2
    if low > 0 and high > 4 * low:
        return math.sqrt(low) * math.sqrt(high)
    return low + (high - low) / 2
