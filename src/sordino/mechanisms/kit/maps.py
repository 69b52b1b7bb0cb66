"""Opening a map from keys to numbers, and closing the answer in the same kind.

A dict is answered by a dict, an Arrow table by an Arrow table, a pair of arrays by a
pair of arrays, a pandas series by a series with the same kind of index, a Polars frame
by a frame: the keys that passed, in their canonical order.

Nothing of an answer may tell of keys that did not pass. Containers remember more than
they show: the width of the longest text, the categories of a column, the levels of an
index, the dictionary of an encoded array. Each is made anew from what passed.
"""

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias, final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sordino.errors import InvalidData
from sordino.mechanisms.kit.containers import open_numbers
from sordino.mechanisms.kit.map_keys import AbstractMapKeys, ObjectKeys, column_keys

Rows: TypeAlias = NDArray[np.intp]

Take: TypeAlias = Callable[[Rows, Rows], Any]
"""Takes ascending rows of a column of keys, and puts them in an order."""

_KINDS = (
    "a dict, an Arrow table, a pair (keys, values) of arrays, "
    "a pandas series or a Polars frame"
)


@final
class OpenedMap(NamedTuple):
    """Keys and values of a map, and how to close an answer of some of its rows."""

    keys: AbstractMapKeys
    values: NDArray[Any]
    close: Callable[[Rows, Rows, NDArray[Any]], Any]
    """Takes ascending rows, the order to put them in, and the answers in that order."""


def open_map(source: Any) -> OpenedMap:
    """Return the keys and values of a map, checked."""
    opened = _open_any(source)
    if opened.keys.count != opened.values.size:
        raise InvalidData("there must be one value for each key.")
    opened.keys.check()
    return opened


def _open_any(source: Any) -> OpenedMap:
    """Open a map of any kind."""
    if isinstance(source, dict):
        return _open_dict(source)
    if isinstance(source, tuple):
        return _open_pair(source)
    if isinstance(source, pa.RecordBatch):
        return _open_table(pa.Table.from_batches([source]))
    if isinstance(source, pa.Table):
        return _open_table(source)
    match type(source).__module__.partition(".")[0], type(source).__name__:
        case "pandas", "Series":
            return _open_series(source)
        case "polars", "DataFrame":
            return _open_frame(source)
    raise InvalidData(f"a {type(source).__name__} is not a map. Give {_KINDS}.")


def _open_dict(source: dict[Any, Any]) -> OpenedMap:
    """Open a dict."""
    keys = list(source)

    def close(rows: Rows, order: Rows, answers: NDArray[Any]) -> dict[Any, Any]:
        chosen = (keys[row] for row in rows[order].tolist())
        return dict(zip(chosen, answers.tolist(), strict=True))

    return OpenedMap(
        ObjectKeys(keys, unique=True), _numbers(list(source.values())), close
    )


def _open_pair(source: tuple[Any, ...]) -> OpenedMap:
    """Open a pair of keys and values; keys may be a list, a NumPy or an Arrow array."""
    if len(source) != 2:
        raise InvalidData(
            f"a tuple of {len(source)} is not a map: give a pair (keys, values)."
        )
    keys, values = source
    if isinstance(keys, (pa.Array, pa.ChunkedArray)):
        map_keys: AbstractMapKeys = column_keys([keys])
        take = _arrow_take(keys)
    elif isinstance(keys, np.ndarray) and keys.dtype.kind in "iuM":
        map_keys, take = column_keys([_flat(keys)]), _array_take(keys)
    elif isinstance(keys, np.ndarray):
        map_keys, take = (
            ObjectKeys(_flat(keys).tolist(), unique=False),
            _array_take(keys),
        )
    elif isinstance(keys, (list, tuple)):
        map_keys, take = ObjectKeys(keys, unique=False), _list_take(keys)
    else:
        raise InvalidData(
            f"keys must not be a {type(keys).__name__}: "
            "give a list, a NumPy array or an Arrow array."
        )
    finish = _finisher(values)

    def close(rows: Rows, order: Rows, answers: NDArray[Any]) -> tuple[Any, Any]:
        return take(rows, order), finish(answers)

    return OpenedMap(map_keys, _numbers(values), close)


def _finisher(values: Any) -> Callable[[NDArray[Any]], Any]:
    """Return how to close answers in the kind of the values of a pair."""
    if isinstance(values, (list, tuple)):
        return lambda answers: type(values)(answers.tolist())
    if isinstance(values, (pa.Array, pa.ChunkedArray)):
        return open_numbers(values).close
    if isinstance(values, np.ndarray) and values.ndim == 1:
        return lambda answers: answers
    raise InvalidData(
        f"values must not be a {type(values).__name__}: "
        "give a list, a flat NumPy array or an Arrow array."
    )


def _open_table(table: pa.Table) -> OpenedMap:
    """Open a table whose last column holds the values and the others the keys."""
    names = _names(table.column_names)
    keys = column_keys(table.columns[:-1])

    def close(rows: Rows, order: Rows, answers: NDArray[Any]) -> pa.Table:
        columns = [_arrow_take(column)(rows, order) for column in table.columns[:-1]]
        whole = [column.combine_chunks() for column in columns]
        return pa.table([*whole, pa.array(answers)], names=names)

    return OpenedMap(keys, _numbers(table.columns[-1]), close)


def _open_series(series: Any) -> OpenedMap:
    """Open a pandas series whose index holds the keys."""
    index = series.index
    keys = ObjectKeys(index.tolist(), unique=index.is_unique)

    def close(rows: Rows, order: Rows, answers: NDArray[Any]) -> Any:
        chosen = _index_take(index, rows[order])
        return type(series)(answers, index=chosen, name=series.name)

    return OpenedMap(keys, _numbers(series), close)


def _open_frame(frame: Any) -> OpenedMap:
    """Open a Polars frame whose last column holds the values, the others the keys."""
    names = _names(frame.columns)
    keys = column_keys(frame.select(names[:-1]).to_arrow().columns)

    def close(rows: Rows, order: Rows, answers: NDArray[Any]) -> Any:
        values = type(frame)({names[-1]: answers}).get_column(names[-1])
        chosen = frame.select(names[:-1])[rows[order]]
        texts = {
            name: str for name in names[:-1] if "Categorical" in str(chosen[name].dtype)
        }
        return chosen.cast(texts).with_columns(values)

    return OpenedMap(keys, _numbers(frame.get_column(names[-1])), close)


def _names(names: list[str]) -> list[str]:
    """Return the names of the columns of a table of keys and values."""
    if len(names) < 2:
        raise InvalidData(
            "a table needs a column of keys and, last, the column of values."
        )
    return list(names)


def _numbers(values: Any) -> NDArray[Any]:
    """Return the values of a container as a flat array."""
    numbers = open_numbers(values).values
    # Objects may be anything: let the reader of lists look at each.
    return (
        open_numbers(numbers.tolist()).values if numbers.dtype.kind == "O" else numbers
    )


def _flat(keys: NDArray[Any]) -> NDArray[Any]:
    """Refuse keys in more than one dimension, and masked ones."""
    if keys.ndim != 1 or isinstance(keys, np.ma.MaskedArray):
        raise InvalidData(
            "keys must be a plain array of one dimension. Flatten it first."
        )
    return keys


def _arrow_take(column: "pa.Array | pa.ChunkedArray") -> Take:
    """Return how to take rows of an Arrow column: in two steps that are both short."""
    if not pa.types.is_dictionary(column.type):
        return lambda rows, order: column.take(pa.array(rows)).take(pa.array(order))

    def take(rows: Rows, order: Rows) -> Any:
        chosen = column.take(pa.array(rows)).take(pa.array(order))
        return chosen.cast(column.type.value_type).dictionary_encode().cast(column.type)

    return take


def _array_take(keys: NDArray[Any]) -> Take:
    """Return how to take items of an array; text gets the width that its items need."""
    if keys.dtype.kind not in "US":
        return lambda rows, order: keys[rows[order]]
    kind = keys.dtype.kind
    return lambda rows, order: np.array(keys[rows[order]].tolist(), kind)


def _index_take(index: Any, rows: Rows) -> Any:
    """Return rows of a pandas index, without levels or categories left unused."""
    chosen = index.take(rows)
    match type(index).__name__:
        case "MultiIndex" if rows.size:
            return type(index).from_tuples(chosen.tolist(), names=index.names)
        case "MultiIndex":
            return chosen.remove_unused_levels()
        case "CategoricalIndex":
            return chosen.remove_unused_categories()
        case _:
            return chosen


def _list_take(keys: "list[Any] | tuple[Any, ...]") -> Take:
    """Return how to take items of a list."""
    return lambda rows, order: type(keys)(keys[row] for row in rows[order].tolist())
