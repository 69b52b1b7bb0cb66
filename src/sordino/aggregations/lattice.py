"""A public lattice between two bounds, and what a row adds up to on it."""

from dataclasses import dataclass
from fractions import Fraction
from typing import final

from sordino.expressions.base import AbstractExpression
from sordino.expressions.language import Expression
from sordino.expressions.lattice import steps as steps_of


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


def steps(expression: AbstractExpression, grid: Lattice) -> AbstractExpression:
    """Return k, the nearest step within the bounds; missing where there is none."""
    return _steps(expression, grid).tree


def above(expression: AbstractExpression, grid: Lattice) -> AbstractExpression:
    """Return k - low, from 0 to the width."""
    return (_steps(expression, grid) - grid.low).tree


def below(expression: AbstractExpression, grid: Lattice) -> AbstractExpression:
    """Return high - k, from 0 to the width."""
    return (grid.high - _steps(expression, grid)).tree


def centred(expression: AbstractExpression, grid: Lattice) -> AbstractExpression:
    """Return 2 k - low - high, of size at most the width."""
    return _centred(expression, grid).tree


def spread(expression: AbstractExpression, grid: Lattice) -> AbstractExpression:
    """Return 2 (2 k - low - high)**2 - width**2, of size at most the squared width."""
    distance = _centred(expression, grid)
    return (distance * distance * 2 - grid.width**2).tree


def present(expression: AbstractExpression) -> AbstractExpression:
    """Return 1 where there is a number, missing where there is none."""
    return (_steps(expression, Lattice(0, 0, 0)) * 0 + 1).tree


def _centred(expression: AbstractExpression, grid: Lattice) -> Expression:
    """Return the doubled distance from the middle."""
    return _steps(expression, grid) * 2 - (grid.low + grid.high)


def _steps(expression: AbstractExpression, grid: Lattice) -> Expression:
    """Return the nearest step."""
    found = steps_of(expression, grid.low, grid.high, grid.exponent)
    return Expression(found)  # type: ignore[arg-type]  # every call is a tree
