"""What a mechanism takes, in what distance, and what it promises: public facts."""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final, Literal, TypeAlias, final

import numpy as np

from sordino import _validate
from sordino.sampling.floats import F32, F64, FloatFormat

if TYPE_CHECKING:
    import pyarrow as pa

FLOATS: Final = ("f64", "f32")
INTEGERS: Final = ("i64", "i32", "i16", "i8", "u64", "u32", "u16", "u8")

_NUMPY: Final = {
    "f64": np.float64,
    "f32": np.float32,
    "i64": np.int64,
    "i32": np.int32,
    "i16": np.int16,
    "i8": np.int8,
    "u64": np.uint64,
    "u32": np.uint32,
    "u16": np.uint16,
    "u8": np.uint8,
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
        return np.dtype(_NUMPY[self.dtype])

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
    return NumberDomain(_validate.choice(FLOATS, dtype=dtype))


def integer_domain(dtype: str) -> NumberDomain:
    """Return the domain of an integer dtype, or refuse its name."""
    return NumberDomain(_validate.choice(INTEGERS, dtype=dtype))


def float_format(dtype: str) -> FloatFormat:
    """Return how sums are rounded to a float dtype."""
    return F32 if dtype == "f32" else F64
