"""How far two maps may lie apart: the `d_in` of a thresholded release, tightened.

A map is read as a number for every key, 0 for an absent one. Two maps at distance
(l0, l1, linf) differ at no more than l0 keys, by at most linf at each and l1 in all;
at distance (l0, l2, linf) the Euclidean norm of the change is at most l2.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, Final, Literal, TypeAlias, final

from sordino import _validate
from sordino.errors import InvalidParameter
from sordino.numbers import (
    INFINITE,
    Extended,
    Infinity,
    Number,
    distance,
    product,
    rational_above,
    root,
    sqrt,
    total,
)
from sordino.sensitivity import Sensitivity

Norm = Literal["l1", "l2"]

MapDistance: TypeAlias = (
    tuple[Number | Infinity, Number | Infinity, Number | Infinity] | Sensitivity
)
"""The `d_in` of a thresholded release: (l0, l1, linf) or (l0, l2, linf)."""

_FINEST: Final = Fraction(2) ** -1074
"""Every double is a multiple of this."""


@final
@dataclass(frozen=True)
class Change:
    """A change of a map after rounding: how many keys, how much in all and each."""

    l0: int | Infinity
    whole: Extended
    linf: Extended

    def keep(self, keys: int, norm: Norm, least: Fraction) -> "Change":
        """Return the change left to `keys` keys when the other l0 - keys are new.

        A key that is new, or vanishes, changes by `least` or more.
        """
        power = 1 if norm == "l1" else 2
        if self.l0 == 0 or keys == 0:
            return NO_CHANGE
        whole, linf = self.whole, self.linf
        if whole is not INFINITE:
            spent = (Fraction(self.l0) - keys) * least**power
            left = max(rational_above(whole**power) - spent, Fraction(0))
            whole = left if norm == "l1" else sqrt(left)
        if linf is not INFINITE:
            linf = rational_above(linf)
        return _tighten(keys, whole, linf, norm, None, False)


NO_CHANGE: Final = Change(0, Fraction(0), Fraction(0))


def read_change(
    d_in: Any, norm: Norm, unit: Fraction | None, *, integer: bool
) -> Change:
    """Return a stated distance, tightened; with a unit, after rounding to multiples.

    Integers change by integers, so what must be integral is floored. Rounding to a grid
    moves a value of a changed key by less than a unit relative to its neighbour, and
    only changed keys can round differently: it adds to each of the l0 of them.
    """
    if isinstance(d_in, Sensitivity):
        stated = (d_in.l0, d_in.l1 if norm == "l1" else d_in.l2, d_in.linf)
    else:
        stated = _read_triple(d_in, norm)
    return _tighten(*stated, norm, unit, integer)


def _read_triple(d_in: Any, norm: Norm) -> tuple[int, Extended, Extended]:
    """Read a triple."""
    expected = f"must be three numbers (l0, {norm}, linf)"
    if not isinstance(d_in, (tuple, list)) or len(d_in) != 3:
        example = "Write d_in=(1, 1, 1), or sd.Sensitivity(l0=1, linf=1)."
        raise InvalidParameter("d_in", d_in, expected, example)
    count, whole, largest = d_in
    return (
        _validate.integer(l0=count, least=0),
        distance(**{norm: whole}),
        distance(linf=largest),
    )


@lru_cache(maxsize=1024)
def _tighten(
    l0: int | Infinity,
    whole: Extended,
    linf: Extended,
    norm: Norm,
    unit: Fraction | None,
    integer: bool,  # noqa: FBT001 a cache takes arguments by position
) -> Change:
    """Replace each bound by what the others imply where that is less."""
    if integer:
        whole = _integer_norm(whole, norm)
        linf = floor_to(linf, Fraction(1))
        l0 = _count(l0, whole, norm)
    if 0 in (l0, whole, linf):
        return NO_CHANGE
    linf = min(linf, whole)
    if integer:
        linf = floor_to(linf, Fraction(1))
    whole = min(whole, _most(l0, linf, norm))
    if integer or unit is None:
        return Change(l0, whole, linf)
    excess = unit - _FINEST
    linf = floor_to(total(linf, excess), unit)
    whole = total(whole, _most(l0, excess, norm))
    if norm == "l1":
        whole = floor_to(whole, unit)
    whole = min(whole, _most(l0, linf, norm))
    return Change(l0, whole, min(linf, floor_to(whole, unit)))


def _count(l0: int | Infinity, whole: Extended, norm: Norm) -> int | Infinity:
    """Return how many integers can change if that was not said: each by 1 or more."""
    if l0 is not INFINITE or whole is INFINITE:
        return l0
    return math.floor(whole if norm == "l1" else whole**2)


def _most(l0: int | Infinity, each: Extended, norm: Norm) -> Extended:
    """Return the norm of a change of l0 keys by `each`."""
    keys = INFINITE if l0 is INFINITE else Fraction(l0)
    return product(each, keys if norm == "l1" else root(keys))


def _integer_norm(whole: Extended, norm: Norm) -> Extended:
    """Return the greatest norm of a change in integers within a bound."""
    if norm == "l1" or whole is INFINITE:
        return floor_to(whole, Fraction(1))
    return root(floor_to(whole**2, Fraction(1)))


def floor_to(value: Extended, unit: Fraction) -> Fraction | Infinity:
    """Return the greatest multiple of the unit within a bound.

    >>> floor_to(Fraction(7, 2), Fraction(1)), floor_to(sqrt(Fraction(5)), Fraction(1))
    (Fraction(3, 1), Fraction(2, 1))
    """
    if value is INFINITE:
        return INFINITE
    steps = value / unit
    if isinstance(steps, Fraction):
        return math.floor(steps) * unit
    count, index = math.floor(steps.radicand), steps.index
    while index > 1:  # the floor of a root is that of the root of the floor
        count, index = math.isqrt(count), index // 2
    return count * unit
