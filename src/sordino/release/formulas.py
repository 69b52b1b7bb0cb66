"""Tables for spreadsheets, which run a text as a formula if it begins like one."""

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import pyarrow as pa

BEGINS: Final = ("=", "+", "-", "@", "\t", "\r")
"""How a text begins that a spreadsheet takes for a formula."""


def without_formulas(table: "pa.Table") -> "pa.Table":
    """Return a table in which an apostrophe stands before each such text, also a name.

    >>> import pyarrow as pa
    >>> table = pa.table({"=a": ["=1+1", "A", None], "n": [-1, 2, 3]})
    >>> without_formulas(table).to_pydict()
    {"'=a": ["'=1+1", 'A', None], 'n': [-1, 2, 3]}
    """
    import pyarrow as pa  # noqa: PLC0415 loaded when needed

    columns = [
        pa.array(map(_harmless, column.to_pylist()), column.type)
        if pa.types.is_string(column.type) or pa.types.is_large_string(column.type)
        else column
        for column in table.columns
    ]
    return pa.table(columns, list(map(_harmless, table.column_names)))


def _harmless(text: str | None) -> str | None:
    """Return a text that is shown as it is."""
    return f"'{text}" if text is not None and text.startswith(BEGINS) else text
