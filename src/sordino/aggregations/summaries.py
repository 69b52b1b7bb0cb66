"""What is exactly known of the rows of one id: the columns of a table per id.

Each is a function of the multiset of these rows, made of exact totals and extremes.
Within which bounds it lies follows from public limits alone.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, final

from sordino.aggregations.totals import AbstractTotal, Extreme
from sordino.expressions.language import Expression
from sordino.numbers import down, up

Ends = tuple[Any, Any]
_LARGEST: Final = Fraction(2) ** 200
"""Beyond, bounds are of no use to any question."""
_FIRST: Final = -(2**63)
_LAST: Final = 2**63 - 1


def _alone(total: Expression) -> Expression:
    """Return the one total."""
    return total


@final
@dataclass(frozen=True)
class Summary:
    """Totals and extremes of the rows of an id, and the value that they make."""

    totals: tuple[AbstractTotal, ...] = ()
    extremes: tuple[Extreme, ...] = ()
    value: Callable[..., Expression] = _alone
    """Takes the totals, then the extremes."""
    bounds: Ends | None = None
    nullable: bool = False
    """Whether it is missing where no row has a value."""


def ends_of_sum(ends: tuple[Any, Any], most: int | None) -> Ends | None:
    """Return the ends of the sum of up to so many numbers, each within two bounds.

    >>> ends_of_sum((-1, 3), 5), ends_of_sum((-0.25, 0.5), 3)
    ((-5, 15), (-0.75, 1.5))
    """
    if most is None:
        return None
    least, greatest = (most * Fraction(end) for end in ends)
    low, high = min(Fraction(0), least), max(Fraction(0), greatest)
    if max(-low, high) > _LARGEST:
        return None
    return plain_ends(low, high)


def plain_ends(low: Fraction, high: Fraction) -> Ends:
    """Return bounds as integers, or as the doubles around them.

    >>> plain_ends(Fraction(0), Fraction(15, 2))
    (0, 7.5)
    """
    return (
        int(low) if low.denominator == 1 else down(low),
        int(high) if high.denominator == 1 else up(high),
    )


def whole_ends(low: Fraction, high: Fraction) -> tuple[int, int]:
    """Return the integers around two bounds, as far as they fit into 64 bits.

    >>> whole_ends(Fraction(-1, 2), Fraction(10**30))
    (-1, 9223372036854775807)
    """
    first, last = low.__floor__(), high.__ceil__()
    return min(max(first, _FIRST), _LAST), min(max(last, _FIRST), _LAST)
