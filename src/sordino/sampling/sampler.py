"""Adding noise to canonical values: int64 to int64, or doubles to a float format."""

from abc import ABC, abstractmethod
from typing import Any

from numpy.typing import NDArray

from sordino.sampling.bits import Source


class AbstractSampler(ABC):
    """Exact noise added to values.

    Proof obligation: each answer is the stated rounding of value + Z, with Z exactly
    of the stated law and independent of every other draw.
    """

    @abstractmethod
    def add(self, values: NDArray[Any], bits: Source) -> NDArray[Any]:
        """Return a flat array of values with noise."""

    @abstractmethod
    def add_to_one(self, value: Any, bits: Source) -> Any:
        """Return one value with noise."""
