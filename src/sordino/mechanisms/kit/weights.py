"""How much each bin of a public grid weighs as a candidate, before any data is seen.

People write round numbers. Where a fine grid has a million bins between two of them, a
choice among bins of equal weight falls between the numbers that there are; so numbers
of few decimals weigh more (docs/proofs/selection.md, section 4).
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple, final

import numpy as np

from sordino.mechanisms.kit.bin_counts import Whole

_SMOOTH: Final = 16
"""Weight of a bin that holds no round number; all numbers of a kind weigh 1 a bin."""
_WHOLE: Final = 128
"""Weight of all integers, in the same: 8 times that of all bins."""
_FEWEST: Final = 1 << 16
"""Up to so many bins all weigh the same."""


class AbstractWeights(ABC):
    """Whole weights of bins 0 .. size - 1, none of them 0."""

    size: int
    least: int
    """The least weight of a bin."""

    @abstractmethod
    def weight_before(self, bins: Whole) -> Whole:
        """Return what all bins before some bin weigh together."""

    @property
    def total(self) -> int:
        """Return what all bins weigh."""
        return int(self.weight_before(np.array([self.size]))[0])

    def bins_of(self, places: Whole) -> Whole:
        """Return the bin that each place falls in, places counted in weights."""
        low, high = np.zeros_like(places), np.full_like(places, self.size)
        while (high - low > 1).any():
            middle = low + (high - low) // 2
            beyond = self.weight_before(middle) > places
            low, high = np.where(beyond, low, middle), np.where(beyond, middle, high)
        return low


@final
@dataclass(frozen=True)
class EvenWeights(AbstractWeights):
    """All bins weigh the same.

    >>> EvenWeights(9).total
    9
    """

    size: int
    least: int = 1

    def weight_before(self, bins: Whole) -> Whole:
        """Return the number of bins."""
        return bins


@final
class _Decimals(NamedTuple):
    """Numbers of so many decimals: how many there are to a unit, and their weight."""

    per_unit: float
    weight: int


@final
@dataclass(frozen=True)
class RoundWeights(AbstractWeights):
    """Bins around multiples of 2**exponent, from low * 2**exponent on.

    All integers together weigh 8 times as much as all bins. The numbers of 1, 2, ...
    decimals, and the multiples of 10, 100, ..., weigh a 16th of all bins, those of each
    kind together. A bin that holds several kinds has the weight of all.

    >>> weights = RoundWeights(0, -10, 1 << 20)
    >>> around = np.array([511, 512, 1023, 1024])
    >>> (weights.weight_before(around + 1) - weights.weight_before(around)) // 16
    array([   1,    8,    1, 8200])
    """

    low: int
    exponent: int
    size: int
    least: int = _SMOOTH

    def weight_before(self, bins: Whole) -> Whole:
        """Return the weights, in doubles that all tables share."""
        edge = np.ldexp(2.0 * (bins + self.low) - 1, self.exponent - 1)
        start = np.ldexp(2.0 * self.low - 1, self.exponent - 1)
        weight = _SMOOTH * bins
        for kind in self._kinds:
            numbers = np.ceil(edge * kind.per_unit) - np.ceil(start * kind.per_unit)
            weight += numbers.astype(np.int64) * kind.weight
        return weight

    @cached_property
    def _kinds(self) -> tuple[_Decimals, ...]:
        """Return the decimals that lie far enough apart to be in bins of their own."""
        width = float(np.ldexp(float(self.size), self.exponent))
        most = int(np.floor(np.log10(self.size / width / 2)))
        least = -int(np.floor(np.log10(width)))
        kinds = []
        for places in range(least, most + 1):
            per_unit = 10.0**places
            share = _WHOLE if places == 0 else 1
            each = max(int(share * self.size / width / per_unit), 1)
            kinds.append(_Decimals(per_unit, each))
        return tuple(kinds)


def weights(low: int, exponent: int, size: int) -> AbstractWeights:
    """Return the weights of bins around multiples of 2**exponent."""
    if size <= _FEWEST:
        return EvenWeights(size)
    return RoundWeights(low, exponent, size)
