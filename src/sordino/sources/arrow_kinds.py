"""Which of our types an Arrow type becomes when a table is opened."""

from collections.abc import Callable
from typing import Final

import pyarrow as pa

from sordino.schema import PLAIN

_SCALES: Final = range(-76, 77)  # of decimals whose powers of ten are doubles
_TESTS: Final[tuple[tuple[Callable[[pa.DataType], bool], str], ...]] = (
    (pa.types.is_integer, "i64"),
    (pa.types.is_float32, "f64"),
    (pa.types.is_float64, "f64"),
    (pa.types.is_decimal, "f64"),
    (pa.types.is_boolean, "bool"),
    (pa.types.is_string, "text"),
    (pa.types.is_large_string, "text"),
    (pa.types.is_string_view, "text"),
    (pa.types.is_date, "date"),
    (pa.types.is_timestamp, "time"),
)
_LISTS: Final = (
    pa.types.is_list,
    pa.types.is_large_list,
    pa.types.is_fixed_size_list,
    pa.types.is_list_view,
    pa.types.is_large_list_view,
)


def kind_of(arrow: pa.DataType) -> str | None:
    """Return the name of our type, or None for types that cannot be used.

    >>> kind_of(pa.uint16()), kind_of(pa.list_(pa.string())), kind_of(pa.binary())
    ('i64', 'list[text]', None)
    """
    bare = storage_type(arrow)
    if is_list(bare):
        inner = kind_of(bare.value_type)
        return f"list[{inner}]" if inner in PLAIN else None
    if pa.types.is_decimal(bare) and bare.scale not in _SCALES:
        return None
    return next((kind for test, kind in _TESTS if test(bare)), None)


def is_list(arrow: pa.DataType) -> bool:
    """Tell whether values of a type are lists."""
    return any(test(arrow) for test in _LISTS)


def is_uuid(arrow: pa.DataType) -> bool:
    """Tell whether values of a type are UUIDs."""
    return isinstance(arrow, pa.UuidType)


def storage_type(arrow: pa.DataType) -> pa.DataType:
    """Return the type of the values themselves: text for UUIDs, no dictionaries."""
    if is_uuid(arrow):
        return pa.string()
    if isinstance(arrow, pa.BaseExtensionType):
        return storage_type(arrow.storage_type)
    return storage_type(arrow.value_type) if pa.types.is_dictionary(arrow) else arrow
