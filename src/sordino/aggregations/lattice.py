"""A public lattice between two bounds, and the integers that a row adds on it."""

from dataclasses import dataclass
from fractions import Fraction
from typing import final

from sordino.aggregations.totals import Total
from sordino.expressions.base import AbstractExpression
from sordino.expressions.fluent import lift
from sordino.expressions.language import Expression, when
from sordino.expressions.lattice_steps import portion as portion_of
from sordino.expressions.lattice_steps import steps as steps_of
from sordino.expressions.tree import AbstractTree


@final
@dataclass(frozen=True)
class Lattice:
    """The multiples of 2**exponent from low to high, in steps.

    >>> Lattice(0, 15, -1).top
    Fraction(15, 2)
    """

    low: int
    high: int
    exponent: int

    @property
    def unit(self) -> Fraction:
        """Return the size of a step."""
        return Fraction(2) ** self.exponent

    @property
    def bottom(self) -> Fraction:
        """Return the lower bound."""
        return self.low * self.unit

    @property
    def top(self) -> Fraction:
        """Return the upper bound."""
        return self.high * self.unit

    @property
    def width(self) -> int:
        """Return how many steps there are between the bounds."""
        return self.high - self.low


def steps_total(expression: AbstractExpression, grid: Lattice) -> Total:
    """Return the sum of k, the nearest step within the bounds."""
    return Total(step(expression, grid))


def pair_totals(tall: AbstractTree, grid: Lattice) -> tuple[Total, Total]:
    """Return the sums of high - k and of k - low, both from 0 to the width."""
    return Total(tall, -1, grid.width), Total(tall)


def deviation_total(expression: AbstractExpression, grid: Lattice) -> Total:
    """Return the sum of 2 k - low - high, of size at most the width."""
    return Total(height(expression, grid), 2, -grid.width)


def middle_total(expression: AbstractExpression, grid: Lattice, finer: int) -> Total:
    """Return the sum of the width times 2**finer, less four times the middle portion.

    The middle of the three integers of `triple_totals` tells the centred square.
    """
    ends = (grid.low, grid.high, grid.exponent)
    middle = lift(portion_of(expression, *ends, 1, finer))
    return Total(middle, -4, grid.width << finer)


def triple_totals(
    expression: AbstractExpression, grid: Lattice, finer: int
) -> tuple[Total, Total, Total]:
    """Return the sums of three integers that add up to the width times 2**finer.

    The last is the square of k - low, in that many steps of the greatest square.
    """
    ends = (grid.low, grid.high, grid.exponent)
    first, second, third = (
        Total(lift(portion_of(expression, *ends, place, finer))) for place in (0, 1, 2)
    )
    return first, second, third


def gap_total(tall: AbstractTree, whole: int) -> Total:
    """Return a whole for each row whose value is missing."""
    lost = Expression(tall).is_null()
    return Total(when(lost).then(1).otherwise(0).tree, whole)


def values_total(expression: AbstractExpression, grid: Lattice) -> Total:
    """Return the number of values that are not missing."""
    return Total(height(expression, grid), 0, 1)


def position(expression: AbstractExpression, grid: Lattice) -> AbstractExpression:
    """Return k - low for each row, missing where there is no value."""
    return height(expression, grid)


def step(expression: AbstractExpression, grid: Lattice) -> AbstractTree:
    """Return k for each row, missing where there is no value."""
    return lift(steps_of(expression, grid.low, grid.high, grid.exponent))


def height(expression: AbstractExpression, grid: Lattice) -> AbstractTree:
    """Return k - low for each row, from 0 to the width, missing where k is."""
    ends = (grid.low, grid.high, grid.exponent, grid.low)
    return lift(steps_of(expression, *ends))
