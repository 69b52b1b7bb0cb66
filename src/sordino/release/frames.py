"""A release as a table of another library."""

from typing import TYPE_CHECKING, Any

from sordino.errors import MissingDependency

if TYPE_CHECKING:
    import pyarrow as pa


def to_pandas(table: "pa.Table") -> Any:
    """Return a pandas frame; integers and bools with missing values stay exact."""
    try:
        import pandas as pd  # noqa: PLC0415 an optional extra
    except ImportError as error:
        raise MissingDependency("to_pandas()", "pandas", "pandas") from error
    import pyarrow as pa  # noqa: PLC0415 loaded when needed

    exact = {pa.int64(): pd.Int64Dtype(), pa.bool_(): pd.BooleanDtype()}
    columns = {}
    for name in table.column_names:
        column = table[name]
        mapped = exact.get if column.null_count else None
        columns[name] = column.to_pandas(types_mapper=mapped)
    return pd.DataFrame(columns)


def to_polars(table: "pa.Table") -> Any:
    """Return a Polars frame."""
    try:
        import polars as pl  # noqa: PLC0415 an optional extra
    except ImportError as error:
        raise MissingDependency("to_polars()", "polars", "polars") from error
    return pl.from_arrow(table)
