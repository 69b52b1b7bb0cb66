"""The columns of a release: which there are, and how errors stand beside values."""

from collections.abc import Container
from typing import TYPE_CHECKING

from sordino.aggregations.intervals import error_names
from sordino.errors import InvalidParameter

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = [
    "check_tables",
    "error_names",
    "grouping_name",
    "names_with_errors",
    "side_by_side",
]
_MARK = "grouping"


def names_with_errors(keys: tuple[str, ...], names: tuple[str, ...]) -> list[str]:
    """Return the names of a table of values and errors, or refuse two of one name.

    Ask before anything is charged: a release with such columns cannot be made.

    >>> names_with_errors(("ward",), ("n",))
    ['ward', 'n', 'n sd', 'n low', 'n high']
    >>> names_with_errors((), ("n", "n sd"))
    Traceback (most recent call last):
    sordino.errors.InvalidParameter: columns names two columns, one of them of errors...
    """
    listed = [*keys]
    for name in names:
        listed += [name, *error_names(name)]
    for place, name in enumerate(listed):
        if name in listed[:place]:
            problem = "names two columns, one of them of errors"
            raise InvalidParameter("columns", name, problem, "Rename the other.")
    return listed


def grouping_name(taken: Container[str]) -> str:
    """Return the name of the column that says of which set a row is.

    >>> grouping_name({"grouping"})
    'grouping_'
    """
    name = _MARK
    while name in taken:
        name += "_"
    return name


def check_tables(table: "pa.Table", errors: "pa.Table", keys: tuple[str, ...]) -> None:
    """Refuse tables that do not belong together."""
    names = tuple(table.column_names)
    if names[: len(keys)] != keys:
        raise InvalidParameter(
            "table", names, "must begin with the key columns", f"Begin with {keys}."
        )
    listed = names_with_errors(keys, names[len(keys) :])
    wanted = [name for name in listed if name in keys or name not in names]
    if errors.column_names != wanted:
        raise InvalidParameter(
            "errors", errors.column_names, "has the wrong columns", f"Give {wanted}."
        )
    if errors.num_rows != table.num_rows:
        raise InvalidParameter(
            "errors",
            errors.num_rows,
            "has the wrong number of rows",
            f"Give {table.num_rows}.",
        )
    if not keys and table.num_rows != 1:
        raise InvalidParameter(
            "table",
            table.num_rows,
            "must have exactly one row if there are no keys",
            "Give one.",
        )


def side_by_side(table: "pa.Table", errors: "pa.Table", size: int) -> "pa.Table":
    """Return the keys (so many columns), then each aggregate before its errors."""
    import pyarrow as pa  # noqa: PLC0415 loaded when needed

    homes = [(table, name) for name in table.column_names[:size]]
    for name in table.column_names[size:]:
        homes.append((table, name))
        homes += [(errors, part) for part in error_names(name)]
    fields = [home.schema.field(name) for home, name in homes]
    schema = pa.schema(fields, table.schema.metadata)
    return pa.Table.from_arrays([home[name] for home, name in homes], schema=schema)
