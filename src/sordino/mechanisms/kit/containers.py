"""Opening what a user hands over, and closing the answer in the same kind.

A number is answered by a number, a list by a list, a NumPy array, an Arrow array, a
pandas or Polars series by one of theirs: same shape, same index, same name.
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol, TypeVar, final

import numpy as np
from numpy.typing import NDArray

from sordino.errors import InvalidData

_PLAIN = frozenset({int, float})
_KINDS = "a number, a list, a NumPy array, an Arrow array or a pandas or Polars series"


class Container(Protocol):
    """What is answered by another of its kind: a column or a table of other tools."""

    def equals(self, other: Any, /) -> bool:
        """Tell whether two hold the same; NumPy and lists have no such method."""


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
    """Open an array of any shape."""
    if isinstance(value, np.ma.MaskedArray):
        raise InvalidData("a masked array has missing values. Fill them first.")
    shape = value.shape
    return OpenedNumbers(value.reshape(-1), lambda answer: answer.reshape(shape))


def _opened_arrow(value: Any) -> OpenedNumbers:
    """Open an Arrow array, chunked or not, that has no nulls."""
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
    """Open a pandas series, keeping its index and name."""
    if value.hasnans:
        raise InvalidData("the series has missing values. Fill or drop them first.")

    def close(answer: NDArray[Any]) -> Any:
        return type(value)(answer, index=value.index, name=value.name)

    return OpenedNumbers(value.to_numpy(), close)


def _opened_polars(value: Any) -> OpenedNumbers:
    """Open a Polars series, keeping its name."""
    if value.null_count():
        raise InvalidData("the series has nulls. Fill or drop them first.")
    return OpenedNumbers(
        value.to_numpy(), lambda answer: type(value)(value.name, answer)
    )


def _array_of(value: "list[Any] | tuple[Any, ...]") -> NDArray[Any]:
    """Return a flat list of numbers as an array that loses nothing."""
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
    if exact != double and not math.isnan(double):
        raise _not_exact()
    return double


def _not_exact() -> InvalidData:
    """Return the refusal of a number that no double equals."""
    return InvalidData(
        "a value is too long for a float. Use an integer mechanism such as Geometric."
    )
