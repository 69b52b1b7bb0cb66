"""Infinity by name, and arithmetic that knows it.

>>> total(Fraction(1, 10), INFINITE), product(Fraction(0), INFINITE)
(inf, Fraction(0, 1))
"""

import math
from enum import ReprEnum
from fractions import Fraction
from typing import Final, TypeAlias, TypeVar, final

from sordino.numbers.precision import precision
from sordino.numbers.radical import Exact, Radical, sqrt
from sordino.numbers.rounding import ball, fraction, shortest

_SUM_BITS = 256


@final
class Infinity(float, ReprEnum):
    """The type of one value, which no number reaches.

    It compares, prints and computes like the double, and is asked for by name, so that
    a type checker knows an exact number in the other case.

    >>> INFINITE == math.inf, INFINITE > Fraction(10) ** 400, Infinity(math.inf)
    (True, True, inf)
    """

    INFINITE = math.inf

    __repr__ = float.__repr__


INFINITE: Final = Infinity.INFINITE
"""What is without bound; of an `Extended` number, ask whether it `is INFINITE`."""

_Size = TypeVar("_Size", bound=Exact)

Extended: TypeAlias = Exact | Infinity
"""An exact number, or infinity; never another double."""


def finite(size: _Size | Infinity) -> _Size:
    """Return a number that is known to be finite, by the reasons of the caller."""
    assert size is not INFINITE  # noqa: S101 who calls this has made sure
    return size


def total(*terms: Exact | float) -> Extended:
    """Return the sum, exact when rational; a sum of unlike roots is rounded up.

    A double is the number that its shortest decimal says.

    >>> total(Fraction(1, 10), 0.9)
    Fraction(1, 1)
    """
    if INFINITE in terms:
        return INFINITE
    exact_terms = [shortest(t) if isinstance(t, float) else t for t in terms]
    rational = sum((t for t in exact_terms if isinstance(t, Fraction)), Fraction(0))
    roots = [term for term in exact_terms if isinstance(term, Radical)]
    if not roots:
        return rational
    ratios = [root / roots[0] for root in roots]
    if rational == 0 and all(isinstance(ratio, Fraction) for ratio in ratios):
        return roots[0] * finite(total(*ratios))
    with precision(_SUM_BITS):
        balls = [ball(root) for root in roots]
        return fraction(sum(balls, ball(rational)).upper())


def product(left: Extended, right: Extended) -> Extended:
    """Return a product; nothing times anything is nothing.

    >>> product(Fraction(2), INFINITE), product(Fraction(2), Fraction(3))
    (inf, Fraction(6, 1))
    """
    if 0 in (left, right):
        return Fraction(0)
    if left is INFINITE or right is INFINITE:
        return INFINITE
    return left * right


def root(size: Extended) -> Extended:
    """Return the square root, also of what is without bound.

    >>> root(Fraction(4)), root(INFINITE)
    (Fraction(2, 1), inf)
    """
    return INFINITE if size is INFINITE else sqrt(size)
