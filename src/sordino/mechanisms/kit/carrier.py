"""Between the values of a user and a sampler: exact conversions, refusals, dtypes."""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from sordino.errors import InvalidData
from sordino.mechanisms.kit.containers import exact_float
from sordino.mechanisms.kit.domain import NumberDomain
from sordino.sampling.bits import BitSource
from sordino.sampling.sampler import AbstractSampler, Threshold

_SIGN = np.uint64(1 << 63)
_ON_EVERY_GRID = 2.0**52
"""A double of this many steps or more is a multiple of the step already."""
_EXACT_KINDS = {
    np.dtype(name) for name in ("f8", "f4", "f2", "i4", "i2", "i1", "u4", "u2", "u1")
}
"""Dtypes whose every value is a double."""


class AbstractCarrier(ABC):
    """Brings values of a domain to a sampler and its sums back."""

    @abstractmethod
    def one(self, value: Any, bits: BitSource) -> Any:
        """Return one number with noise, of the Python or NumPy type it came in."""

    @abstractmethod
    def many(self, values: NDArray[Any], bits: BitSource) -> NDArray[Any]:
        """Return a flat array with noise, in the dtype of the domain."""

    @abstractmethod
    def select(
        self, values: NDArray[Any], threshold: Threshold, bits: BitSource
    ) -> "Passing":
        """Return the rows whose exact sums reach the threshold, with their answers.

        A row of value 0 has nothing to count: it gets no noise and never passes.
        """


@final
class Passing(NamedTuple):
    """The rows that reached a threshold, ascending, and their answers."""

    rows: NDArray[np.intp]
    answers: NDArray[Any]


@final
@dataclass(frozen=True)
class IntegerCarrier(AbstractCarrier):
    """Integers; the exact sum saturates at the ends of the dtype."""

    domain: NumberDomain
    sampler: AbstractSampler

    def one(self, value: Any, bits: BitSource) -> Any:
        """Return one integer with noise."""
        if not isinstance(value, (int, np.integer)):
            raise InvalidData(
                f"an integer mechanism takes integers, not a {type(value).__name__}. "
                "Round first, or use a float mechanism."
            )
        least, most = self.domain.bounds
        if not least <= value <= most:
            raise self._outside()
        answer = min(max(self.sampler.add_to_one(int(value), bits), least), most)
        return answer if type(value) is int else self.domain.numpy.type(answer)

    def many(self, values: NDArray[Any], bits: BitSource) -> NDArray[Any]:
        """Return integers with noise."""
        return self._saturate(self.sampler.add(self._to_signed(values), bits))

    def select(
        self, values: NDArray[Any], threshold: Threshold, bits: BitSource
    ) -> Passing:
        """Return the integers that pass; sums saturate after the comparison."""
        signed = self._to_signed(values)
        rows = _present(values)
        present = signed if rows is None else signed[rows]
        if self.domain.dtype == "u64":
            threshold = replace(threshold, level=threshold.level - (1 << 63))
        compared = self.sampler.compare(present, threshold, bits)
        places = np.flatnonzero(compared.reached)
        return Passing(_rows(rows, places), self._saturate(compared.sums[places]))

    def _saturate(self, sums: NDArray[np.int64]) -> NDArray[Any]:
        """Return sums in the dtype, the ends standing for what lies beyond."""
        if self.domain.dtype == "u64":
            return sums.view(np.uint64) ^ _SIGN
        if self.domain.dtype != "i64":
            np.clip(sums, *self.domain.bounds, out=sums)
        return sums.astype(self.domain.numpy, copy=False)

    def _to_signed(self, values: NDArray[Any]) -> NDArray[np.int64]:
        """Return the values as int64; u64 is shifted so that its ends are int64's."""
        if values.size and values.dtype.kind not in "iuO":
            raise InvalidData(
                f"an integer mechanism takes integers, not {values.dtype}. "
                "Round first, or use a float mechanism."
            )
        least, most = self.domain.bounds
        inside = np.can_cast(values.dtype, self.domain.numpy) or not values.size
        if not inside and not least <= int(values.min()) <= int(values.max()) <= most:
            raise self._outside()
        if self.domain.dtype == "u64":
            return (values.astype(np.uint64, copy=False) ^ _SIGN).view(np.int64)
        return values.astype(np.int64, copy=False)

    def _outside(self) -> InvalidData:
        """Return the refusal of a value beyond the dtype."""
        least, most = self.domain.bounds
        return InvalidData(
            f"a value lies outside {self.domain.dtype}, {least} to {most}. "
            "Clamp the values or choose a wider dtype."
        )


@final
@dataclass(frozen=True)
class FloatCarrier(AbstractCarrier):
    """Floats; the exact sum is rounded once.

    With a grid the values are first rounded to it; without one a value enters as the
    real number it is.
    """

    domain: NumberDomain
    sampler: AbstractSampler
    grid: int | None

    def one(self, value: Any, bits: BitSource) -> Any:
        """Return one number with noise."""
        number = value if type(value) is float else exact_float(value)
        if not math.isfinite(number):
            raise _not_finite()
        if self.grid is not None:
            number = float(_on_grid(np.array([number]), self.grid)[0])
        answer = self.sampler.add_to_one(number, bits)
        if isinstance(value, np.generic):
            return self.domain.numpy.type(answer)
        return answer

    def many(self, values: NDArray[Any], bits: BitSource) -> NDArray[Any]:
        """Return numbers with noise."""
        numbers = _finite(values)
        if self.grid is not None:
            numbers = _on_grid(numbers, self.grid)
        return self.sampler.add(numbers, bits)

    def select(
        self, values: NDArray[Any], threshold: Threshold, bits: BitSource
    ) -> Passing:
        """Return the numbers that pass; sums are rounded after the comparison."""
        numbers = _finite(values)
        rows = _present(numbers)
        present = numbers if rows is None else numbers[rows]
        if self.grid is not None:
            present = _on_grid(present, self.grid)
        compared = self.sampler.compare(present, threshold, bits)
        places = np.flatnonzero(compared.reached)
        return Passing(_rows(rows, places), compared.sums[places])


def _present(values: NDArray[Any]) -> NDArray[np.intp] | None:
    """Return the rows that are not 0, None for all of them."""
    return None if values.all() else np.flatnonzero(values)


def _rows(
    present: NDArray[np.intp] | None, places: NDArray[np.intp]
) -> NDArray[np.intp]:
    """Return the rows of what is kept of the present ones."""
    return places if present is None else present[places]


def _on_grid(values: NDArray[np.float64], grid: int) -> NDArray[np.float64]:
    """Round to multiples of 2**grid, ties upwards.

    For any two values at distance d the answers lie at most ceil(d / 2**grid) steps
    apart: rounding that treats every step alike moves both ends of a whole number of
    steps by the same amount. Ties to even would not.
    """
    with np.errstate(over="ignore"):
        steps = np.ldexp(values, -grid)
        whole = np.floor(steps)
        rounded = np.ldexp(whole + (steps - whole >= 0.5), grid)
    return np.where(np.abs(steps) < _ON_EVERY_GRID, rounded, values)


def _finite(values: NDArray[Any]) -> NDArray[np.float64]:
    """Return numbers as the doubles they equal, none of them NaN or infinite."""
    numbers = _as_floats(values)
    if not np.isfinite(numbers).all():
        raise _not_finite()
    return numbers


def _as_floats(values: NDArray[Any]) -> NDArray[np.float64]:
    """Return numbers as the doubles they equal."""
    if values.dtype in _EXACT_KINDS or not values.size:
        return values.astype(np.float64, copy=False)
    if values.dtype.kind not in "iuO":
        raise InvalidData(
            f"a float mechanism takes numbers, not {values.dtype}. Convert them first."
        )
    return np.array([exact_float(value) for value in values.tolist()], np.float64)


def _not_finite() -> InvalidData:
    """Return the refusal of NaN and infinities."""
    return InvalidData(
        "a value is NaN or infinite. Replace or drop such values first, "
        "by a rule that does not depend on other rows."
    )
