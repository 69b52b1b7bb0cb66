"""Between values of a user and a sampler: domains, containers, dtypes, refusals.

A number is answered by a number, a list by a list, a NumPy array, an Arrow array, a
pandas or Polars series by one of theirs: same shape, same index, same name.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import (
    TYPE_CHECKING,
    Any,
    Final,
    Literal,
    NamedTuple,
    Protocol,
    TypeAlias,
    TypeVar,
    final,
)

import numpy as np
from numpy.typing import NDArray

from sordino.errors import InvalidData
from sordino.noise.sampling.bits import BitSource
from sordino.noise.sampling.floats import (
    F32,
    F64,
    AbstractSampler,
    FloatFormat,
    Threshold,
)
from sordino.numbers import arguments

if TYPE_CHECKING:
    import pyarrow as pa


_PLAIN = frozenset({int, float})
_KINDS = "a number, a list, a NumPy array, an Arrow array or a pandas or Polars series"


class Container(Protocol):
    """What is answered by another of its kind: a column or a table of other tools."""

    def equals(self, other: Any, /) -> bool:
        """Equality of contents, which NumPy and lists do not offer as a method."""


Kind = TypeVar("Kind", bound=Container)
"""An Arrow array or table, a series or a frame of pandas or Polars."""


@final
class OpenedNumbers(NamedTuple):
    """A flat array of values, and how to close an array of answers."""

    values: NDArray[Any]
    close: Callable[[NDArray[Any]], Any]


def is_number(value: Any) -> bool:
    """Tell whether the value is a single Python or NumPy number (never a bool)."""
    return type(value) in _PLAIN or (
        isinstance(value, (int, float, np.integer, np.floating))
        and not isinstance(value, (bool, np.timedelta64))
    )


def open_numbers(value: Any) -> OpenedNumbers:
    """Return the values of a container as a flat NumPy array."""
    if isinstance(value, np.ndarray):
        return _opened_numpy(value)
    if isinstance(value, (list, tuple)):
        kind = list if isinstance(value, list) else tuple
        return OpenedNumbers(_array_of(value), lambda answer: kind(answer.tolist()))
    # Other libraries are known by name: none of them is imported to be asked.
    match type(value).__module__.partition(".")[0], type(value).__name__:
        case "pyarrow", name if name.endswith("Array"):
            return _opened_arrow(value)
        case "pandas", "Series":
            return _opened_pandas(value)
        case "polars", "Series":
            return _opened_polars(value)
    raise InvalidData(f"cannot add noise to a {type(value).__name__}. Give {_KINDS}.")


def _opened_numpy(value: NDArray[Any]) -> OpenedNumbers:
    if isinstance(value, np.ma.MaskedArray):
        raise InvalidData("a masked array has missing values. Fill them first.")
    shape = value.shape
    return OpenedNumbers(value.reshape(-1), lambda answer: answer.reshape(shape))


def _opened_arrow(value: Any) -> OpenedNumbers:
    import pyarrow as pa  # noqa: PLC0415 imported already, by whoever made the array

    if value.null_count:
        raise InvalidData("the Arrow array has nulls. Fill or drop them first.")
    if not (pa.types.is_integer(value.type) or pa.types.is_floating(value.type)):
        raise InvalidData(
            f"an Arrow array of {value.type} does not hold numbers. Cast it first."
        )
    if isinstance(value, pa.ChunkedArray):
        return OpenedNumbers(
            value.to_numpy(), lambda answer: pa.chunked_array([answer])
        )
    return OpenedNumbers(value.to_numpy(zero_copy_only=False), pa.array)


def _opened_pandas(value: Any) -> OpenedNumbers:
    if value.hasnans:
        raise InvalidData("the series has missing values. Fill or drop them first.")

    def close(answer: NDArray[Any]) -> Any:
        return type(value)(answer, index=value.index, name=value.name)

    return OpenedNumbers(value.to_numpy(), close)


def _opened_polars(value: Any) -> OpenedNumbers:
    if value.null_count():
        raise InvalidData("the series has nulls. Fill or drop them first.")
    return OpenedNumbers(
        value.to_numpy(), lambda answer: type(value)(value.name, answer)
    )


def _array_of(value: "list[Any] | tuple[Any, ...]") -> NDArray[Any]:
    for item in value:
        if not is_number(item):
            raise InvalidData(
                "a list must hold numbers, and this one holds a "
                f"{type(item).__name__}. Convert it first."
            )
    if any(isinstance(item, (float, np.floating)) for item in value):
        return np.array([exact_float(item) for item in value], np.float64)
    try:
        return np.array(value, np.int64)
    except OverflowError:
        return np.array([int(item) for item in value], object)


def exact_float(value: Any) -> float:
    """Return a number as the double it equals, or refuse it."""
    try:
        double = float(value)
    except OverflowError:
        raise _not_exact() from None
    exact = int(value) if isinstance(value, (int, np.integer)) else value
    # rounding before the noise would move answers apart by more than d_in
    if exact != double and not math.isnan(double):
        raise _not_exact()
    return double


def _not_exact() -> InvalidData:
    return InvalidData(
        "a value is too long for a float. Use an integer mechanism such as Geometric."
    )


FLOATS: Final = ("f64", "f32")
INTEGERS: Final = ("i64", "i32", "i16", "i8", "u64", "u32", "u16", "u8")

_NUMPY: Final = {
    name: np.dtype(f"{name[0]}{int(name[1:]) // 8}") for name in (*FLOATS, *INTEGERS)
}

Metric = Literal["l1", "l2", "l0, l1, linf", "l0, l2, linf", "range", "l0", "rows"]
"""How a distance between two inputs is stated: the `d_in` of a privacy map."""


@final
@dataclass(frozen=True)
class NumberDomain:
    """Finite numbers of one dtype, alone or in vectors of any length."""

    dtype: str

    @cached_property
    def numpy(self) -> np.dtype:
        """Return the NumPy dtype."""
        return _NUMPY[self.dtype]

    @cached_property
    def arrow(self) -> "pa.DataType":
        """Return the Arrow type."""
        import pyarrow as pa  # noqa: PLC0415 loaded only when it is asked for

        return pa.from_numpy_dtype(self.numpy)

    @cached_property
    def is_integer(self) -> bool:
        """Tell whether the numbers are integers."""
        return self.dtype in INTEGERS

    @cached_property
    def bounds(self) -> tuple[int, int]:
        """Return the ends of an integer dtype."""
        info = np.iinfo(self.numpy)
        return int(info.min), int(info.max)


@final
@dataclass(frozen=True)
class MapDomain:
    """Maps from keys of one kind to numbers of one dtype; 0 counts as absent."""

    values: NumberDomain

    @property
    def arrow(self) -> "pa.DataType":
        """Return the Arrow type of the values."""
        return self.values.arrow

    @property
    def is_integer(self) -> bool:
        """Tell whether the values are integers."""
        return self.values.is_integer


@final
@dataclass(frozen=True)
class ChoiceDomain:
    """What a choice is made by; what comes out is the index of a candidate.

    Exact scores of the candidates, one of so many categories, or rows in the bins of
    a public grid.
    """

    of: Literal["scores", "categories", "bins"]
    count: int | None = None
    """How many candidates there are, None where each question says so."""

    @property
    def arrow(self) -> "pa.DataType":
        """Return the Arrow type of indices."""
        return NumberDomain("i64").arrow

    @property
    def is_integer(self) -> bool:
        """Return True: an index is an integer."""
        return True


Domain: TypeAlias = NumberDomain | MapDomain | ChoiceDomain
"""What a mechanism takes."""


def float_domain(dtype: str) -> NumberDomain:
    """Return the domain of a float dtype, or refuse its name."""
    return NumberDomain(arguments.choice(FLOATS, dtype=dtype))


def integer_domain(dtype: str) -> NumberDomain:
    """Return the domain of an integer dtype, or refuse its name."""
    return NumberDomain(arguments.choice(INTEGERS, dtype=dtype))


def float_format(dtype: str) -> FloatFormat:
    """Return how sums are rounded to a float dtype."""
    return F32 if dtype == "f32" else F64


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
        if not isinstance(value, (int, np.integer)):
            raise InvalidData(
                f"an integer mechanism takes integers, not a {type(value).__name__}. "
                "Round first, or use a float mechanism."
            )
        least, most = self.domain.bounds
        if not least <= value <= most:
            raise self._outside()
        # the exact sum is clamped: what it is clamped to costs nothing
        answer = min(max(self.sampler.add_to_one(int(value), bits), least), most)
        return answer if type(value) is int else self.domain.numpy.type(answer)

    def many(self, values: NDArray[Any], bits: BitSource) -> NDArray[Any]:
        return self._saturate(self.sampler.add(self._to_signed(values), bits))

    def select(
        self, values: NDArray[Any], threshold: Threshold, bits: BitSource
    ) -> Passing:
        signed = self._to_signed(values)
        rows = _present(values)
        present = signed if rows is None else signed[rows]
        if self.domain.dtype == "u64":
            # values of u64 are shifted, and the level with them
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
        numbers = _finite(values)
        if self.grid is not None:
            numbers = _on_grid(numbers, self.grid)
        return self.sampler.add(numbers, bits)

    def select(
        self, values: NDArray[Any], threshold: Threshold, bits: BitSource
    ) -> Passing:
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
    numbers = _as_floats(values)
    if not np.isfinite(numbers).all():
        raise _not_finite()
    return numbers


def _as_floats(values: NDArray[Any]) -> NDArray[np.float64]:
    if values.dtype in _EXACT_KINDS or not values.size:
        return values.astype(np.float64, copy=False)
    if values.dtype.kind not in "iuO":
        raise InvalidData(
            f"a float mechanism takes numbers, not {values.dtype}. Convert them first."
        )
    return np.array([exact_float(value) for value in values.tolist()], np.float64)


def _not_finite() -> InvalidData:
    return InvalidData(
        "a value is NaN or infinite. Replace or drop such values first, "
        "by a rule that does not depend on other rows."
    )
