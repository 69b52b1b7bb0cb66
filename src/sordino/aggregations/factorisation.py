"""Figures over time: what is measured of ordered periods, and what is made of it.

y = C x + noise, C lower triangular with f_0, f_1, ... on its diagonals. Figures of a
period, to date and of the last few are forms in y (docs/proofs/over-time.md).
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any, Final, final

import numpy as np
from numpy.typing import NDArray

from sordino.curves.points import Floats

STEPS: Final = 8
"""Factors are multiples of 2**-8: integers are added up, whatever the data."""
_HALF_WORD: Final = 26


@final
@dataclass(frozen=True)
class Factorisation:
    """Integers f_0 = 2**8, f_1, ..., that never rise, for so many periods."""

    factors: tuple[int, ...]

    @property
    def periods(self) -> int:
        """Return how many periods there are."""
        return len(self.factors)

    @cached_property
    def matrix(self) -> NDArray[np.int64]:
        """Return the factors as a lower triangular matrix."""
        return _toeplitz(np.array(self.factors, np.int64))

    @cached_property
    def back(self) -> Floats:
        """Return g with which the figures of periods are made of measured ones."""
        factors = np.array(self.factors) / 2.0**STEPS
        back = np.zeros(self.periods)
        back[0] = 1.0
        for place in range(1, self.periods):
            back[place] = -np.dot(factors[1 : place + 1], back[place - 1 :: -1])
        return back

    def measure(self, exact: NDArray[np.int64]) -> Floats:
        """Return C x for rows of periods, in units of x; totals stop at 2**53 steps.

        Halves of the words of x are added up apart, so that nothing overflows.
        """
        high, low = exact >> _HALF_WORD, exact & ((1 << _HALF_WORD) - 1)
        sums = (high @ self.matrix.T, low @ self.matrix.T)
        steps = sums[0].astype(object) * (1 << _HALF_WORD) + sums[1]
        most = 2**53
        numbers = np.clip(steps, -most, most).astype(np.float64)
        return np.asarray(np.ldexp(numbers, -STEPS))

    def forms(self, last: int | None) -> Floats:
        """Return the forms in y, a row for each period, of the last few or of all."""
        sums = np.cumsum(self.back)
        if last is not None:
            sums[last:] -= np.cumsum(self.back)[:-last]
        return _toeplitz(sums)

    @cached_property
    def squares(self) -> tuple[int, ...]:
        """Return |c_1 + ... + c_k|**2 in 2**-16, for k = 0, 1, ... columns of C."""
        sums = np.cumsum(self.matrix.astype(object), axis=1)
        squares = (sums * sums).sum(axis=0)
        return (0, *(int(square) for square in squares))

    def change_squared(
        self, entries: int, bounds: tuple[Fraction, Fraction], *, blocks: bool
    ) -> Fraction:
        """Return how far C x moves at most, squared, in all blocks together.

        So many `entries` of x move, each and together within `bounds`. With `blocks`
        there may be several of all periods, in which columns are shared out at will.
        """
        largest, whole = bounds
        columns = min(entries, math.ceil(whole / largest))
        most = min(columns, self.periods)
        steps = Fraction(self.squares[most])
        if blocks:
            each = (Fraction(self.squares[j], j) for j in range(1, most + 1))
            steps = columns * max(each)
        moved = min(largest**2 * steps, whole**2 * self.squares[1])
        return moved / 4**STEPS


@lru_cache(maxsize=32)
def square_root(periods: int) -> Factorisation:
    """Return the square root of running totals: f_j = f_(j-1) (2 j - 1) / (2 j)."""
    factor, factors = Fraction(1), [1 << STEPS]
    for place in range(1, periods):
        factor *= Fraction(2 * place - 1, 2 * place)
        factors.append(round(factor * (1 << STEPS)))
    return Factorisation(tuple(factors))


@lru_cache(maxsize=32)
def each_alone(periods: int) -> Factorisation:
    """Return every period by itself."""
    return Factorisation((1 << STEPS, *([0] * (periods - 1))))


def _toeplitz(first: NDArray[Any]) -> NDArray[Any]:
    """Return the lower triangular matrix with a first column on its diagonals."""
    size = len(first)
    gaps = np.subtract.outer(np.arange(size), np.arange(size))
    return np.where(gaps >= 0, first[np.maximum(gaps, 0)], 0)
