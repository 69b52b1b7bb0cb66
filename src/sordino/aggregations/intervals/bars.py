"""Standard deviations and intervals, as columns."""

from typing import TYPE_CHECKING, Any, NamedTuple, final

import numpy as np

from sordino.arrays import with_gaps
from sordino.curves.points import Floats

if TYPE_CHECKING:
    import pyarrow as pa

_ROUNDING = 2.0**-48
"""More than a few operations in doubles round, relative to the sizes of their terms."""


def error_names(name: str) -> tuple[str, ...]:
    """Return the names of the three columns of errors of an aggregate.

    >>> error_names("n")
    ('n sd', 'n low', 'n high')
    """
    return f"{name} sd", f"{name} low", f"{name} high"


@final
class Bars(NamedTuple):
    """Standard deviations of the noise and the ends of intervals, NaN where unknown."""

    sd: Floats
    low: Floats
    high: Floats

    def columns(self, name: str) -> "dict[str, pa.Array]":
        """Return the columns of a table of errors, null where unknown.

        >>> list(Bars(np.zeros(1), np.zeros(1), np.zeros(1)).columns("n"))
        ['n sd', 'n low', 'n high']
        """
        return {
            part: with_gaps(values)
            for part, values in zip(error_names(name), self, strict=True)
        }

    def move(self, start: float, width: float, most: float) -> "Bars":
        """Return the bars of start + width * answer, cut to start ... most.

        What doubles round goes outward.
        """
        pad = _ROUNDING * (abs(start) + abs(most) + width)
        low, high = start + width * self.low - pad, start + width * self.high + pad
        sd = width * self.sd
        return Bars(sd, np.clip(low, start, most), np.clip(high, start, most))

    @property
    def root(self) -> "Bars":
        """Return the bars of the roots of answers that are not negative.

        The standard deviation is the delta method's, at the middle of the interval.
        """
        low, high = np.sqrt(self.low), np.sqrt(self.high)
        with np.errstate(invalid="ignore", divide="ignore"):
            sd = np.where(high > 0, self.sd / (low + high), self.sd)
        return Bars(sd, low, high)


def unknown_bars(size: int) -> Bars:
    """Return the bars of answers whose distance from the exact ones is private."""
    return Bars(*(np.full(size, np.nan) for _ in range(3)))


def blank_missing(bars: Bars, missing: Any) -> Bars:
    """Return the bars, NaN where the answer is missing."""
    return Bars(*(np.where(missing, np.nan, part) for part in bars))
