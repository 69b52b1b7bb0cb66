"""How far two exact answers can lie apart when one privacy unit changes.

>>> Sensitivity(l0=3, linf=1)
Sensitivity(l0=3, l1=Fraction(3, 1), l2=sqrt(3), linf=Fraction(1, 1))
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, final

from sordino import _validate
from sordino.errors import InvalidParameter
from sordino.numbers import Exact, distance, sqrt


@final
@dataclass(frozen=True, init=False)
class Sensitivity:
    """Bounds on the change of a vector: how many values, and how far in each norm.

    Bounds that follow from the others are filled in or tightened, so a norm left out
    costs nothing where the rest implies it; what is not implied is infinite.

    For any change d with at most l0 nonzero entries of size at most linf:
    |d|_1 <= l0 linf, |d|_2 <= sqrt(l0) linf, |d|_2 <= sqrt(l1 linf),
    |d|_inf <= |d|_2 <= |d|_1 <= sqrt(l0) |d|_2.
    """

    l0: int | float
    l1: Exact | float
    l2: Exact | float
    linf: Exact | float

    def __init__(
        self, *, l0: Any = None, l1: Any = None, l2: Any = None, linf: Any = None
    ) -> None:
        """Read the given bounds exactly and tighten them."""
        if l0 is l1 is l2 is linf is None:
            raise InvalidParameter(
                "l1", None, "is missing", "Give one of l1, l2, linf."
            )
        count = math.inf if l0 is None else _validate.integer(l0=l0, least=0)
        one = math.inf if l1 is None else distance(l1=l1)
        two = math.inf if l2 is None else distance(l2=l2)
        largest = math.inf if linf is None else distance(linf=linf)
        if 0 in (count, one, two, largest):
            count, one, two, largest = 0, Fraction(0), Fraction(0), Fraction(0)
        many = count if isinstance(count, float) else Fraction(count)
        root = _root(many)
        largest = min(largest, one, two)
        one = min(one, _product(many, largest), _product(root, two))
        two = min(two, one, _product(root, largest), _root(_product(one, largest)))
        largest = min(largest, one, two)
        for name, value in zip(
            ("l0", "l1", "l2", "linf"), (count, one, two, largest), strict=True
        ):
            object.__setattr__(self, name, value)


def bounded(norm: Exact | float) -> Exact:
    """Return a norm of a change that is known to be finite."""
    assert not isinstance(norm, float)  # noqa: S101 every measurement bounds its change
    return norm


def _product(one: Exact | float, other: Exact | float) -> Exact | float:
    """Multiply, where an unbounded factor times anything positive is unbounded."""
    if math.inf in (one, other):
        return Fraction(0) if 0 in (one, other) else math.inf
    return one * other


def _root(size: Exact | float) -> Exact | float:
    """Return the square root, also of what is unbounded."""
    return size if isinstance(size, float) else sqrt(size)
