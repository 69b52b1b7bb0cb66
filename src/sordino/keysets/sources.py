"""What a user hands over, as canonical tables of keys."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sordino import _validate
from sordino.errors import InvalidParameter
from sordino.keysets.canonical import KINDS, sort_canonically
from sordino.keysets.columns import (
    Read,
    argument,
    read_arrow,
    read_days,
    read_ticks,
    refused_type,
)
from sordino.keysets.objects import read_objects
from sordino.schema import arrow_type, unknown

Types: TypeAlias = Mapping[str, str] | None

_TICKS: Final = ("s", "ms", "us", "ns")
_TABLES: Final = "an Arrow table, a pandas or Polars frame, or a dict of lists"


def columns_of_dict(columns: Any, types: Types) -> list[pa.Table]:
    """Return a canonical table for each column of a dict."""
    if not isinstance(columns, Mapping) or not columns:
        raise InvalidParameter(
            "columns",
            columns,
            "must be a dict from names to values",
            'Write KeySet.from_dict({"ward": ["A", "B"]}).',
        )
    pairs = list(columns.items())
    checked_names(name for name, _ in pairs)
    declared = _checked_types(types, columns)
    return [
        sort_canonically(pa.table({name: _column(name, values, declared.get(name))}))
        for name, values in pairs
    ]


def table_of_tuples(keys: Any, columns: Any, types: Types) -> pa.Table:
    """Return the canonical table of keys that are tuples."""
    names = checked_names(_names(columns))
    rows = _sequence("keys", keys)
    for row in rows:
        if not isinstance(row, (tuple, list)) or len(row) != len(names):
            raise InvalidParameter(
                "keys",
                row,
                f"must be tuples of {len(names)}, one value for each of the columns",
                'Write KeySet.from_tuples([("A", 1)], columns=("ward", "year")).',
            )
    if not rows:
        raise _empty("keys", rows)
    declared = _checked_types(types, names)
    columns_of_rows = zip(*rows, strict=True)
    return sort_canonically(
        pa.table({
            name: _column(name, list(values), declared.get(name))
            for name, values in zip(names, columns_of_rows, strict=True)
        })
    )


def table_of_table(rows: Any, types: Types) -> pa.Table:
    """Return the canonical table of the rows of a table of any kind."""
    pairs = _pairs(rows)
    names = checked_names(name for name, _ in pairs)
    declared = _checked_types(types, names)
    columns = {
        name: _column(name, values, declared.get(name)) for name, values in pairs
    }
    lengths = {name: len(column) for name, column in columns.items()}
    if len(set(lengths.values())) > 1:
        raise InvalidParameter(
            "table",
            lengths,
            "must have columns of the same length",
            "Use KeySet.from_dict for every combination of some values.",
        )
    return sort_canonically(pa.table(columns))


def checked_names(names: Iterable[Any]) -> tuple[str, ...]:
    """Return the names of columns: text, one at least, each once."""
    listed = tuple(names)
    for place, name in enumerate(listed):
        if not isinstance(name, str) or not name:
            raise InvalidParameter(
                "columns",
                name,
                "must have text as names",
                'Name every column, such as "ward".',
            )
        if not _is_unicode(name):
            raise InvalidParameter(
                "columns", name, "must have names in valid Unicode", "Rename it."
            )
        if name in listed[:place]:
            raise InvalidParameter(
                "columns", name, "must name each column once", "Rename one of them."
            )
    if not listed:
        raise InvalidParameter(
            "columns", listed, "must name at least one column", 'Write ("ward",).'
        )
    return tuple(map(str, listed))


def _is_unicode(text: str) -> bool:
    """Tell whether text has no lone surrogates."""
    return text.isascii() or not any("\ud800" <= letter <= "\udfff" for letter in text)


def _names(columns: Any) -> Sequence[Any]:
    """Return names that were given as a tuple or list."""
    if not isinstance(columns, (tuple, list)):
        raise InvalidParameter(
            "columns", columns, "must be a tuple of names", 'Write ("ward", "year").'
        )
    return columns


def _checked_types(types: Types, names: Iterable[str]) -> dict[str, str]:
    """Return declared types, for columns that exist and types that keys have."""
    if not isinstance(types or {}, Mapping):
        raise InvalidParameter(
            "types", types, "must be a dict from names to types", 'Try {"year": "i64"}.'
        )
    listed = list(names)
    for name, kind in (types or {}).items():
        if name not in listed:
            raise unknown("column", name, listed)
        if kind == "f64":
            raise InvalidParameter(
                "types",
                kind,
                "must not be a float, which is seldom exactly equal",
                "Bin them first.",
            )
        _validate.choice(tuple(KINDS.values()), types=kind)
    return dict(types or {})


def _pairs(rows: Any) -> list[tuple[Any, Any]]:
    """Return the names and the values of the columns of a table of any kind."""
    if isinstance(rows, Mapping):
        return list(rows.items())
    # Other libraries are known by name: none of them is imported to be asked.
    match type(rows).__module__.partition(".")[0], type(rows).__name__:
        case "pyarrow", "Table" | "RecordBatch":
            return list(zip(rows.schema.names, rows.columns, strict=True))
        case "pandas", "DataFrame":
            places = range(rows.shape[1])
            return [(rows.columns[place], rows.iloc[:, place]) for place in places]
        case "polars", "DataFrame":
            return [(column.name, column) for column in rows.get_columns()]
        case "polars", "LazyFrame":
            raise InvalidParameter(
                "table",
                type(rows).__name__,
                "must hold its rows, and this one is lazy",
                "Collect it first.",
            )
    raise InvalidParameter(
        "table", rows, f"must be {_TABLES}", 'Write {"ward": ["A", "B"]}.'
    )


def _column(name: str, cells: Any, declared: str | None) -> pa.Array:
    """Return the values of a column in our type, one at least."""
    kind, values = _read(name, cells)
    if not len(values):
        raise _empty(argument(name), [])
    if kind is None and declared is None:
        raise InvalidParameter(
            argument(name),
            None,
            "must have a value or a declared type: all its values are missing",
            f'Declare it: types={{{name!r}: "i64"}}.',
        )
    if kind is None:
        return pa.nulls(len(values), arrow_type(str(declared)))
    if declared not in (None, kind):
        raise InvalidParameter(
            argument(name),
            values[0].as_py(),
            f"must hold {declared}, as declared, and holds {kind}",
            "Convert the values, or leave out the declaration.",
        )
    return values


def _empty(name: str, cells: object) -> InvalidParameter:
    """Return the refusal of no keys."""
    return InvalidParameter(
        name,
        cells,
        "must hold at least one key",
        "List the groups that the release will show.",
    )


def _read(name: str, cells: Any) -> Read:
    """Return the values of one column of any kind."""
    if isinstance(cells, np.ndarray):
        return _read_numpy(name, cells)
    try:
        match type(cells).__module__.partition(".")[0], type(cells).__name__:
            case "pyarrow", "ChunkedArray":
                return read_arrow(name, _one_chunk(cells))
            case "pyarrow", kind if kind.endswith("Array"):
                return read_arrow(name, cells)
            case "polars", "Series":
                return read_arrow(name, cells.to_arrow())
            case "pandas", "Series" | "Index" if cells.dtype != object:
                return read_arrow(name, _one_chunk(pa.Array.from_pandas(cells)))
    except pa.ArrowException:
        raise refused_type(name, str(cells.dtype), type(cells).__name__) from None
    return read_objects(name, _sequence(argument(name), cells))


def _one_chunk(array: Any) -> pa.Array:
    """Return a column in one piece."""
    return array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array


def _read_numpy(name: str, cells: NDArray[Any]) -> Read:
    """Return the values of a NumPy array."""
    if isinstance(cells, np.ma.MaskedArray):
        return read_objects(name, cells.tolist())
    if cells.ndim != 1:
        raise InvalidParameter(
            argument(name), cells, "must have one dimension", "Flatten it first."
        )
    if cells.dtype.kind in "biuf":
        return read_arrow(name, pa.array(cells.astype(cells.dtype.newbyteorder("="))))
    unit, step = np.datetime_data(cells.dtype) if cells.dtype.kind == "M" else ("", 0)
    if step != 1 or unit not in ("D", *_TICKS):
        return read_objects(name, list(cells))
    missing = np.isnat(cells)
    ticks = np.where(missing, 0, cells.astype(np.int64))
    if unit == "D":
        return read_days(name, ticks, missing)
    return read_ticks(name, ticks, unit, missing)


def _sequence(name: str, cells: Any) -> Sequence[Any]:
    """Return the members of a list, a set, a range or the like."""
    if isinstance(cells, (str, bytes, Mapping)) or not isinstance(cells, Iterable):
        raise InvalidParameter(name, cells, "must be a list", "Write [...] around it.")
    return list(cells)
