"""The least noise within a target: one search for the whole library.

>>> from sordino.losses.closed import GaussianDP
>>> from sordino.accounting.risk import Advantage
>>> scale = calibrate(lambda scale: GaussianDP(1 / Fraction(scale)), target=Advantage("0.1"))
>>> 3.97894 < scale < 3.97900
True
"""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from sordino.accounting.risk import Target
from sordino.errors import InvalidParameter
from sordino.losses.base import Loss
from sordino.losses.root import least
from sordino.numbers import positive, up

_LIMIT = 80
"""Doublings or halvings of the first guess before giving up."""


def calibrate(
    loss_at: Callable[[float], Loss],
    *,
    target: Target,
    tolerance: Any = "1e-6",
    start: Any = 1,
) -> float:
    """Return a scale whose loss the target admits, near the least such scale.

    For any function that gives less loss for more noise: the target admits the loss at
    the scale returned, checked last, and does not at (1 - tolerance) times it.
    """
    relative, first = up(positive(tolerance=tolerance)), up(positive(start=start))
    if not 1e-15 <= relative < 1:
        raise InvalidParameter("tolerance", tolerance, "is out of range", 'Try "1e-6".')

    def admitted(scale: float) -> bool:
        loss = loss_at(scale)
        if not isinstance(loss, Loss):
            raise InvalidParameter("loss_at", loss, "must return a loss", "Return m.map(1).")
        return target.admits(loss)

    low, high = _bracket(admitted, first, target)
    scale = least(admitted, low, high, relative) if low < high else high
    if not admitted(scale):
        problem = "changes its answer from call to call"
        raise InvalidParameter("loss_at", scale, problem, "Make it a pure function.")
    return scale


def _bracket(
    admitted: Callable[[float], bool], first: float, target: Target
) -> tuple[float, float]:
    """Return scales around the edge of the target, the greater one admitted."""
    inside = admitted(first)
    high, factor = first, 2.0
    for _ in range(_LIMIT):
        other = high / factor if inside else high * factor
        if admitted(other) != inside:
            return (other, high) if inside else (high, other)
        high, factor = other, min(factor * factor, 1e12)
        if not 1e-300 < high < 1e300:
            break
    problem = "is admitted at every scale" if inside else "is admitted at no scale"
    raise InvalidParameter("target", target, problem, "Check that noise falls with scale.")
