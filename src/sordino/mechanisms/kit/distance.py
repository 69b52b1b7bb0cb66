"""Reading the `d_in` of a privacy map, and the rounding a grid adds to it."""

from fractions import Fraction
from typing import Any, NamedTuple, TypeAlias, final

from sordino.numbers import (
    INFINITE,
    Exact,
    Extended,
    Infinity,
    Number,
    distance,
    product,
    root,
    total,
)
from sordino.sensitivity import Sensitivity

Distance: TypeAlias = Number | Infinity | Sensitivity
"""The `d_in` of noise on numbers."""


@final
class Rounding(NamedTuple):
    """The step of a grid, and how many values one unit can change, if not stated."""

    step: Fraction
    values: int


def rounding_of(granularity: int | None, values: int | None) -> Rounding | None:
    """Return the rounding of a mechanism; one value is meant where nothing is said."""
    if granularity is None:
        return None
    return Rounding(Fraction(2) ** granularity, 1 if values is None else values)


def l1(d_in: Any, rounding: Rounding | None = None) -> Extended:
    """Return an l1 distance, after rounding to a grid if there is one.

    Rounding moves each of the n changed values by at most a step relative to its
    neighbour, so it adds n steps; a `Sensitivity` brings its own n, l0.
    """
    norm = _norm(d_in, "l1")
    if rounding is None or norm == 0:
        return norm
    return total(norm, product(_count(d_in, rounding), rounding.step))


def l2(d_in: Any, rounding: Rounding | None = None) -> Extended:
    """Return an l2 distance, rounding added as sqrt(n) steps."""
    norm = _norm(d_in, "l2")
    if rounding is None or norm == 0:
        return norm
    return total(norm, product(root(_count(d_in, rounding)), rounding.step))


def change_ratio(change: Extended, spread: Exact) -> Extended:
    """Return change / spread; nothing changed costs nothing, no noise costs all."""
    if change == 0:
        return Fraction(0)
    if spread == 0 or change is INFINITE:
        return INFINITE
    return change / spread


def _norm(d_in: Any, norm: str) -> Extended:
    """Return one norm of a stated distance."""
    if isinstance(d_in, Sensitivity):
        return d_in.l1 if norm == "l1" else d_in.l2
    return distance(d_in=d_in)


def _count(d_in: Any, rounding: Rounding) -> Extended:
    """Return how many values may change."""
    if isinstance(d_in, Sensitivity):
        return INFINITE if d_in.l0 is INFINITE else Fraction(d_in.l0)
    return Fraction(rounding.values)
