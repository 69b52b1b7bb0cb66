"""Where a curve is asked: one number, or an array of any shape."""

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from sordino import _validate
from sordino.errors import InvalidParameter
from sordino.numbers import down, exact, up

Floats: TypeAlias = NDArray[np.float64]
"""A flat array of doubles."""

Answer: TypeAlias = Any
"""A float for one number; an array of the shape of the question otherwise."""

_ULP = float(np.finfo(np.float64).eps)
ELEMENTARY = 24 * _ULP
"""Relative error allowed for a handful of exp, log and arithmetic steps in doubles.

NumPy and the C library state at most 4 units in the last place for each of these.
"""


@final
@dataclass(frozen=True)
class Points:
    """The values asked for, flat, and the shape to answer in."""

    values: Floats
    shape: tuple[int, ...] | None

    def answer(self, values: Floats) -> Answer:
        """Return the values in the shape of the question."""
        if self.shape is None:
            return float(values[0])
        return values.reshape(self.shape)


def read(
    towards: Literal[1, -1],
    *,
    most: float = np.inf,
    least: float = 0.0,
    **argument: Any,
) -> Points:
    """Return the points of one named argument, rounded in one direction.

    A bool, a NaN, a complex number or a value outside [least, most] is refused.

    >>> read(1, most=1.0, alpha=[0.5, 1]).values.tolist()
    [0.5, 1.0]
    """
    name, given = _validate.one(**argument)
    if isinstance(given, (np.ndarray, list, tuple)):
        flat = _array(name, given)
        values, shape = flat.ravel(), flat.shape
    else:
        values, shape = np.array([_scalar(name, given, towards)]), None
    # a NaN is the minimum of an array that holds one, and is not within anything
    if values.size and not (values.min() >= least and values.max() <= most):
        inside = (values >= least) & (values <= most)
        worst = float(values[~inside][0])
        limits = f"must lie between {least:g} and {most:g}"
        raise InvalidParameter(name, worst, limits, f"Remove NaN, clip {name}.")
    return Points(values, shape)


def _array(name: str, given: Any) -> Floats:
    """Return an array of real numbers as doubles."""
    try:
        array = np.asarray(given)
    except ValueError as error:
        raise InvalidParameter(name, given, "is ragged", "Use one shape.") from error
    if array.size and array.dtype.kind not in "iuf":
        raise InvalidParameter(name, given, "must hold real numbers", "Use floats.")
    return array.astype(np.float64, copy=False)


def _scalar(name: str, given: Any, towards: Literal[1, -1]) -> float:
    """Return one number as a double, rounded in one direction."""
    if isinstance(given, (float, np.floating)):
        return float(given)
    return (up if towards > 0 else down)(exact(**{name: given}))


def raised(values: Floats, margin: float = ELEMENTARY) -> Floats:
    """Return upper ends: the values grown by a relative margin."""
    return values * (1 + margin)


def lowered(values: Floats, margin: float = ELEMENTARY) -> Floats:
    """Return lower ends: the values shrunk by a relative margin."""
    return values * (1 - margin)
