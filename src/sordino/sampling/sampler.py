"""Adding noise to canonical values: int64 to int64, or doubles to a float format."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from sordino.sampling.bits import BitSource


@final
@dataclass(frozen=True)
class Threshold:
    """A level that exact sums are held against, from below or from above.

    A sum reaches it when sum >= level, or for the mirror image when sum <= level.
    """

    level: Fraction
    upward: bool


@final
class Compared(NamedTuple):
    """Values with noise, and which of the exact sums reach a threshold."""

    sums: NDArray[Any]
    reached: NDArray[np.bool_]


class AbstractSampler(ABC):
    """Exact noise added to values.

    Proof obligation: each answer is the stated rounding of value + Z, with Z exactly
    of the stated law and independent of every other draw.
    """

    @abstractmethod
    def add(self, values: NDArray[Any], bits: BitSource) -> NDArray[Any]:
        """Return a flat array of values with noise."""

    @abstractmethod
    def compare(
        self, values: NDArray[Any], threshold: Threshold, bits: BitSource
    ) -> Compared:
        """Return a flat array of values with noise, and which reach a threshold.

        For any value the decision is that of the exact sum, whatever the rounding or
        saturation of the answer.
        """

    @abstractmethod
    def add_to_one(self, value: Any, bits: BitSource) -> Any:
        """Return one value with noise."""
