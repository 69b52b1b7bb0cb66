"""Infinity by name, and arithmetic that knows it."""

import math
from fractions import Fraction

from sordino.numbers.precision import precision
from sordino.numbers.radical import Exact, Radical
from sordino.numbers.rounding import ball, fraction, shortest

_SUM_BITS = 256


def total(*terms: "Exact | float") -> "Exact | float":
    """Return the sum, exact when rational; a sum of unlike roots is rounded up.

    >>> total(Fraction(1, 10), Fraction(9, 10))
    Fraction(1, 1)
    """
    if math.inf in terms:
        return math.inf
    exact_terms = [shortest(t) if isinstance(t, float) else t for t in terms]
    rational = sum((t for t in exact_terms if isinstance(t, Fraction)), Fraction(0))
    roots = [term for term in exact_terms if isinstance(term, Radical)]
    if not roots:
        return rational
    shares = [root / roots[0] for root in roots]
    if rational == 0 and all(isinstance(share, Fraction) for share in shares):
        return roots[0] * total(*shares)
    with precision(_SUM_BITS):
        balls = [ball(root) for root in roots]
        return fraction(sum(balls, ball(rational)).upper())
