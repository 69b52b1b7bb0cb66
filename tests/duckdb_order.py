"""The order in which DuckDB keeps rows, written apart from the engine."""

from typing import Any, Final

import duckdb
import pyarrow as pa

from sordino.engines.memory import Order
from sordino.expressions.schema import arrow_type

SALT: Final = 0x9E3779B97F4A7C15


def in_duckdb_order(salt: int) -> Order:
    """Return the order in which a DuckDB engine of a key keeps rows."""
    connection = duckdb.connect()

    def order(rows: list[tuple[Any, ...]], kinds: tuple[str, ...]) -> list[Any]:
        names = [f"c{place}" for place in range(len(kinds))]
        columns = list(zip(*rows, strict=True)) or [()] * len(kinds)
        arrays = [
            pa.array(column, arrow_type(kind))
            for column, kind in zip(columns, kinds, strict=True)
        ]
        held = pa.Table.from_arrays(
            [*arrays, pa.array(range(len(rows)))], names=[*names, "place"]
        )
        connection.register("held", held)
        missing = [f"{name} IS NULL" for name in names]
        values = ", ".join([*names, *missing, "$1"])
        text = f"SELECT hash(hash({values})) FROM held ORDER BY place"  # noqa: S608 ours
        return [one for (one,) in connection.sql(text, params=[salt]).fetchall()]

    return order
