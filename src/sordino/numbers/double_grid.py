"""Bins of doubles at any scale: numbers that start with the same binary digits.

A double lies above a power of two, and its bin is told by so many of its digits. All
steps are exact: products with powers of two, and what is cut off of them. So every
engine finds the bin that Python does.

Kernel: mathematics.
"""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Final, Self, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

Whole: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]

FINEST_GRID: Final = 56
"""Grids have up to 2**56 bins: with their weights they are below 2**61."""
BINARY_DIGITS: Final = 52
"""Steps of a double from one power of two to the next, as a power of two."""
_BINADES: Final = 95
"""How many powers of two below the larger bound have bins of their own."""
_LEAST_POWER: Final = -900
"""Bins of a smaller power of two would be too many to 1 for a double."""


@final
@dataclass(frozen=True)
class DoubleGrid:
    """Bins as fine as doubles are: each is a short range of one power of two.

    Bin 0 is around zero; bin m > 0 is what lies from its least number up to the next
    one, and bin -m mirrors it. From 2**k up to 2**(k + 1) there are 2**digits bins of
    one length, and as many below 2**least, where they stay as long as above it.

    >>> grid = DoubleGrid.of_bounds(0.0, 1000.0)
    >>> grid.digits, grid.least, grid.bin(1.0) - grid.bin(0.5) == 2**grid.digits
    (49, -86, True)
    >>> grid.starts(np.array([grid.bin(0.25), grid.bin(-3.0)]))
    array([ 0.25, -3.  ])
    """

    low: float
    high: float
    digits: int
    least: int

    @classmethod
    def of_bounds(cls, low: float, high: float) -> Self:
        """Return the finest grid between two bounds."""
        top = math.frexp(max(abs(low), abs(high)))[1] - 1
        finest = cls(low, high, BINARY_DIGITS, max(top - _BINADES, _LEAST_POWER))
        while finest.size > 1 << FINEST_GRID:
            finest = cls(low, high, finest.digits - 1, finest.least)
        return finest

    @cached_property
    def first(self) -> int:
        """Return the bin of the lower bound."""
        return self.bin(self.low)

    @property
    def size(self) -> int:
        """Return how many bins there are."""
        return self.bin(self.high) - self.first + 1

    def bin(self, number: float) -> int:
        """Return the bin of a number within the bounds; every step is exact."""
        return bin_of_double(number, self.digits, self.least)

    def starts(self, bins: Whole) -> Floats:
        """Return the least double of each bin."""
        above = bins > 0
        # below zero a bin ends with its round number: the next double begins it
        place = np.where(above, bins, 1 - bins)
        binade = np.maximum((place >> self.digits) - 1, 0)
        steps = (place - (binade << self.digits)).astype(np.float64)
        number = np.ldexp(steps, binade + (self.least - self.digits))
        starts: Floats = np.where(above, number, np.nextafter(-number, math.inf))
        return starts


def bin_of_double(number: float, digits: int, least: int) -> int:
    """Return the bin of a number, by its digits after the first one.

    >>> [bin_of_double(number, 4, -2) for number in (0.75, -0.75, 0.1, 0.0)]
    [40, -40, 6, 0]
    """
    size = abs(number)
    power = max(math.frexp(size)[1] - 1, least) if size else least
    place = math.floor(size * 2.0 ** (digits - power)) + ((power - least) << digits)
    return -place if number < 0 else place
