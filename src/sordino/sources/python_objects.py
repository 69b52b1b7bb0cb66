"""Rows as Python objects: pandas frames, and dicts of lists.

What a column is follows from its dtype or from its declaration; what a cell becomes,
from that and from the cell.

| a column | without a declaration | declared |
|---|---|---|
| pandas, of a dtype with a type | that type; in float64 NaN is missing | a cast |
| pandas, dtype object or category | not usable | cell by cell; NaN is missing |
| pandas, another dtype | not usable | refused |
| the index of a pandas frame | not usable | refused |
| an array in a dict | its type | a cast |
| a list in a dict | the one type of its cells; two are refused | cell by cell |

A dict without declarations is for trying things out: its types are taken from its
values, by who opens it.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sordino.arrays import as_arrow
from sordino.errors import InvalidParameter
from sordino.schema import Column
from sordino.sources.arrow import TableSource
from sordino.sources.base import AbstractSource
from sordino.sources.python_cells import column_of_cells, kinds_of_cells

_NUMPY: Final = ("b1", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8")
_PANDAS: Final = re.compile(
    r"(U?Int(8|16|32|64)|Float(32|64)|Boolean|DatetimeTZ|String|Arrow)Dtype"
)
"""The types of pandas that say what their cells are."""


def of_pandas(frame: Any, declared: Mapping[str, Column]) -> AbstractSource:
    """Return a source of a pandas frame; its index is not a column."""
    names, arrays, unsaid = [], [], _index_of(frame)
    for place, label in enumerate(frame.columns):
        name, series = str(label), frame.iloc[:, place]
        unsaid.pop(name, None)
        array = _of_series(series, declared.get(name))
        if isinstance(array, str):
            unsaid[name] = array
            array = pa.nulls(len(series))
        names.append(name)
        arrays.append(array)
    return TableSource(pa.Table.from_arrays(arrays, names=names), unsaid)


def _index_of(frame: Any) -> dict[str, str]:
    """Return the names of a frame's index, and why they are no columns."""
    why = "it is the index of the frame, which is not read; give df.reset_index()"
    return {str(label): why for label in frame.index.names if label is not None}


def _of_series(series: Any, declared: Column | None) -> Any:
    """Return a column of pandas in Arrow, or why it has no type."""
    dtype = series.dtype
    sort = type(dtype).__name__
    if sort in {"ObjectDType", "CategoricalDtype"}:
        if declared is None:
            return (
                f"its dtype {dtype.name} says no type, which is never taken from cells;"
                ' declare it, for example columns={"day": "date"}'
            )
        return _without_nan(column_of_cells(series.array, declared.type))
    if sort == "StringDtype" and dtype.storage == "python":
        return column_of_cells(series.array, "text")
    if _is_plain(dtype) or _PANDAS.fullmatch(sort) or str(dtype).startswith("datetime"):
        return pa.Array.from_pandas(series)
    return (
        f"its dtype {dtype if isinstance(dtype, np.dtype) else sort} has no place here"
    )


def _is_plain(dtype: Any) -> bool:
    """Tell whether a dtype is one of NumPy's numbers or truths, in our byte order."""
    return isinstance(dtype, np.dtype) and dtype.isnative and dtype.str[1:] in _NUMPY


def _without_nan(array: pa.Array) -> pa.Array:
    """Return a column in which NaN is missing, as it is to pandas."""
    if not pa.types.is_floating(array.type):
        return array
    return pc.if_else(pc.is_nan(array), pa.scalar(None, array.type), array)


def of_columns(columns: Any, declared: Mapping[str, Column]) -> AbstractSource:
    """Return a source of a dict of lists."""
    arrays, unsaid = [], {}
    for name, values in columns.items():
        if not isinstance(name, str):
            raise InvalidParameter(
                "source",
                "a dict",
                "must have text as column names",
                "Name every column.",
            )
        array = _of_values(name, values, declared.get(name))
        if isinstance(array, str):
            unsaid[name] = array
            array = pa.nulls(len(values))
        arrays.append(array)
    if len({len(array) for array in arrays}) > 1:
        raise InvalidParameter(
            "source",
            "a dict",
            "must have columns of the same length",
            "Pad the shorter ones with None.",
        )
    return TableSource(pa.table(arrays, names=list(columns)), unsaid)


def _of_values(name: str, values: Any, declared: Column | None) -> Any:
    """Return a column of a dict in Arrow, or why it has no type."""
    sorts = (
        f"{ancestor.__module__}.{ancestor.__name__}"
        for ancestor in type(values).__mro__
    )
    typed = next((_TYPED[sort] for sort in sorts if sort in _TYPED), None)
    if typed is not None:
        return typed(values, declared)
    if isinstance(values, np.ndarray) and values.ndim == 1 and _is_plain(values.dtype):
        return as_arrow(values)
    if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
        raise InvalidParameter(
            "source", name, "must have a list of values in each column", "Give a list."
        )
    cells = list(values)
    if declared is not None:
        return column_of_cells(cells, declared.type)
    kinds = sorted(kinds_of_cells(cells))
    if len(kinds) > 1:
        listed = " and ".join(kind or "values of no type" for kind in kinds)
        raise InvalidParameter(
            "source",
            name,
            f"has columns without a declared type, and one mixes {listed}",
            f'Declare it: columns={{{name!r}: "{kinds[-1]}"}}.',
        )
    if kinds in ([], [""]):
        return "none of its values has a type; declare one"
    return column_of_cells(cells, kinds[0])


_TYPED: Final[Mapping[str, Callable[[Any, Column | None], Any]]] = {
    "pyarrow.lib.Array": lambda array, _: array,
    "pyarrow.lib.ChunkedArray": lambda array, _: array,
    "pandas.Series": _of_series,
    "polars.series.series.Series": lambda series, _: series.to_arrow(),
}
"""How columns that say a type become Arrow, by their class."""

FROM_OBJECTS: Final[dict[str, Callable[..., AbstractSource]]] = {
    "builtins.dict": of_columns,
    "pandas.DataFrame": of_pandas,
}
"""How the objects of each class become a source, by package and class."""
