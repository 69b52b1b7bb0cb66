"""How DuckDB writes our types and operations, so that they mean what Python means."""

from typing import Final

from sordino.engines import (
    rendering_cells,
    rendering_choices,
    rendering_dates,
    rendering_numbers,
    rendering_text,
)
from sordino.engines.rendering_parts import Dialect

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
        **rendering_cells.ENTRIES,
        **rendering_choices.ENTRIES,
        **rendering_numbers.ENTRIES,
        **rendering_text.ENTRIES,
        **rendering_dates.ENTRIES,
    },
)
