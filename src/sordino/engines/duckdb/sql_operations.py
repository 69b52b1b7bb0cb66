"""How DuckDB writes our types and operations, so that they mean what Python means."""

from typing import Final

from sordino.engines.duckdb import (
    sql_cells,
    sql_choices,
    sql_dates,
    sql_numbers,
    sql_text,
)
from sordino.engines.sql.pieces import Dialect

_TYPES: Final = {
    "i64": "BIGINT",
    "f64": "DOUBLE",
    "text": "VARCHAR",
    "bool": "BOOLEAN",
    "date": "DATE",
    "time": "TIMESTAMP",
}

DUCKDB: Final = Dialect(
    "duckdb",
    _TYPES | {f"list[{one}]": f"{name}[]" for one, name in _TYPES.items()},
    {
        **sql_cells.ENTRIES,
        **sql_choices.ENTRIES,
        **sql_numbers.ENTRIES,
        **sql_text.ENTRIES,
        **sql_dates.ENTRIES,
    },
)
