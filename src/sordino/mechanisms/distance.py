"""Reading the `d_in` of a privacy map, and the rounding a grid adds to it."""

import math
from fractions import Fraction
from typing import Any

from sordino.numbers import Exact, distance, sqrt, total
from sordino.sensitivity import Sensitivity


def l1(d_in: Any, grid: int | None = None) -> "Exact | float":
    """Return an l1 distance, after rounding to the grid 2**grid if there is one.

    Rounding moves each of the n changed values by at most 2**grid relative to its
    neighbour, so it adds n * 2**grid; a plain number is the change of one value.
    """
    given = _norm(d_in, "l1")
    if grid is None or given == 0:
        return given
    return total(given, _count(d_in) * Fraction(2) ** grid)


def l2(d_in: Any, grid: int | None = None) -> "Exact | float":
    """Return an l2 distance, rounding added as sqrt(n) * 2**grid."""
    given = _norm(d_in, "l2")
    if grid is None or given == 0:
        return given
    count = _count(d_in)
    root = count if isinstance(count, float) else sqrt(count)
    return total(given, root * Fraction(2) ** grid)


def ratio(change: "Exact | float", spread: Exact) -> "Exact | float":
    """Return change / spread; nothing changed costs nothing, no noise costs all."""
    if change == 0:
        return Fraction(0)
    if spread == 0 or isinstance(change, float):
        return math.inf
    return change / spread


def _norm(d_in: Any, norm: str) -> "Exact | float":
    """Return one norm of a stated distance."""
    if isinstance(d_in, Sensitivity):
        return d_in.l1 if norm == "l1" else d_in.l2
    return distance(d_in=d_in)


def _count(d_in: Any) -> "Fraction | float":
    """Return how many values may change."""
    if isinstance(d_in, Sensitivity):
        return d_in.l0 if isinstance(d_in.l0, float) else Fraction(d_in.l0)
    return Fraction(1)
