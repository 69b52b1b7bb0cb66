"""The shortest number of a range, to write a choice between public ends.

Candidates stand for ranges of values. Of each range the number with the fewest digits
is told, so that a price of 9.99 comes back as 9.99 and not as a sum of powers of two.
"""

import math
from typing import Final

import numpy as np

from sordino.curves.points import Floats

_FINEST: Final = 330
_LARGEST: Final = 10**19


def shortest_decimals(low: Floats, high: Floats) -> Floats:
    """Return the number with the fewest decimals in each range low <= x < high.

    Of several with equally few digits the one nearest to the middle.

    >>> low, high = np.array([9.98999, -0.2, 1230]), np.array([9.99001, 0.7, 1239])
    >>> shortest_decimals(low, high)
    array([   9.99,    0.  , 1230.  ])
    """
    middle = low + (high - low) / 2
    shortest, open_ = middle.copy(), np.ones(middle.size, np.bool_)
    for places in _places(low, high):
        tens = 10.0 ** abs(places)
        scaled = middle * tens if places > 0 else middle / tens
        rounded = np.rint(scaled)
        decimal = (rounded / tens if places > 0 else rounded * tens) + 0.0
        fits = open_ & (low <= decimal) & (decimal < high)
        shortest[fits] = decimal[fits]
        open_ &= ~fits
    return shortest


def _places(low: Floats, high: Floats) -> range:
    """Return numbers of decimals, from too few for any range to enough for all."""
    if not low.size:
        return range(0)
    farthest = max(float(np.abs(low).max()), float(np.abs(high).max()))
    narrowest = float((high - low).min())
    first = -math.ceil(math.log10(farthest)) - 1
    last = math.ceil(-math.log10(narrowest)) + 1 if narrowest > 0 else _FINEST
    return range(first, min(last, _FINEST) + 1)


def roundest(low: int, high: int) -> int:
    """Return the integer with the most zeros at its end within low <= x <= high.

    >>> roundest(1230, 1239), roundest(-7, 9), roundest(5, 5), roundest(1995, 2003)
    (1230, 0, 5, 2000)
    """
    power = _LARGEST
    while (multiple := -(-low // power) * power) > high:
        power //= 10
    return multiple
