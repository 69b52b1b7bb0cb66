"""Margins of a small table, as the tests of several files ask for them."""

from typing import Any, Final

import numpy as np
import pyarrow as pa

import sordino as sd
from tests.effort import often

BUDGET: Final = sd.ApproxDP(1, "1e-6")
SIZE: Final = 2000
ONE_ROW: Final = sd.AddOneRow()
PLACES: Final = sd.KeySet.from_tuples(
    [("n", "a"), ("n", "b"), ("s", "c")], columns=("state", "town")
)
KEYS: Final = PLACES * sd.KeySet.from_dict({"year": [2025, 2026], "ill": [True, None]})
NESTED: Final = [("state", "town")]
VISITS: Final = sd.table("visits")
WIDE: Final = sd.KeySet.from_dict({f"c{n}": [0, 1] for n in range(often(30, 60))})
ASKED: Final = VISITS.marginals(KEYS, order=2, hierarchies=NESTED)


def rows() -> dict[str, list[Any]]:
    """Return rows of which a few have values that are no keys."""
    generator = np.random.default_rng(4)
    towns = generator.choice(
        ["a", "b", "c", "elsewhere"], SIZE, p=[0.3, 0.4, 0.25, 0.05]
    )
    state = {"a": "n", "b": "n", "c": "s", "elsewhere": "s"}
    return {
        "state": [state[town] for town in towns],
        "town": towns.tolist(),
        "year": generator.choice([2025, 2026], SIZE).tolist(),
        "ill": [True if sick else None for sick in generator.random(SIZE) < 0.1],
        "person": (np.arange(SIZE) // 2).tolist(),
        "cost": generator.random(SIZE).tolist(),
    }


ROWS: Final = rows()


def opened(engine: Any = "memory", unit: Any = ONE_ROW) -> sd.Session:
    table = sd.PrivateTable(ROWS, protects=unit)
    return sd.Session({"visits": table}, sd.GaussianDP(20), engine=engine)


def exact(*names: str) -> dict[tuple[Any, ...], int]:
    """Return the exact numbers of rows with public keys, by some columns."""
    counts: dict[tuple[Any, ...], int] = {}
    for row in zip(*(ROWS[name] for name in (*names, "town")), strict=True):
        if row[-1] != "elsewhere":
            counts[row[:-1]] = counts.get(row[:-1], 0) + 1
    return counts


def by_key(table: pa.Table) -> dict[tuple[Any, ...], float]:
    columns = [column.to_pylist() for column in table.columns]
    return {key[:-1]: key[-1] for key in zip(*columns, strict=True)}
