"""A registry of births: invented rows that keep all tables of two columns.

python examples/cases/births.py

Rows are invented in the shape of a national registry: six fields of a birth. What is
released is again rows, as in the publication, at a tenth of its epsilon.
"""

import sys
import time

import numpy as np
import pyarrow as pa

import sordino as sd

FIELDS = {"month": 12, "mother": 8, "parity": 5, "week": 6, "sex": 2, "weight": 8}
"""Columns and how many values each has."""
BUDGET = sd.ApproxDP(1, "1e-6")
PUBLISHED_EPSILON = 9.98
PUBLISHED_ERROR = 0.44
"""Largest error of a table of one column, in per cent of the rows, as published."""


def invent_births(births: int) -> pa.Table:
    """A row for each birth; parity follows the mother's age, weight the week."""
    draw = np.random.default_rng(3)

    def near(centre: np.ndarray, values: int) -> np.ndarray:
        moved = np.rint(centre + draw.normal(0, 1, births))
        return np.clip(moved, 0, values - 1).astype(int)

    mother = near(np.full(births, 3.5), 8)
    week = near(np.full(births, 3.8), 6)
    return pa.table({
        "month": draw.integers(0, 12, births),
        "mother": mother,
        "parity": near(mother / 2.5, 5),
        "week": week,
        "sex": (draw.random(births) < 0.487).astype(int),
        "weight": near(1.2 * week, 8),
    })


def release_births(births: pa.Table) -> sd.Release:
    """All tables of one and two columns, measured together."""
    table = sd.PrivateTable(births, protects=sd.AddOneRow())
    session = sd.Session({"births": table}, budget=BUDGET)
    keys = sd.KeySet.from_dict({name: range(size) for name, size in FIELDS.items()})
    return session.release(sd.table("births").marginals(keys, order=2), BUDGET)


def largest_error(rows: pa.Table, births: pa.Table, names: list[str]) -> float:
    """Largest error of a cell of a table, in per cent of all rows."""
    sizes = [FIELDS[name] for name in names]
    counts = [
        np.bincount(
            np.ravel_multi_index([one[name].to_numpy() for name in names], sizes),
            minlength=int(np.prod(sizes)),
        )
        for one in (rows, births)
    ]
    return 100 * float(np.abs(counts[0] - counts[1]).max()) / births.num_rows


def row(what: str, theirs: object, ours: object) -> str:
    """A line of the table."""
    return f"{what:38}{theirs!s:>16}{ours!s:>16}"


def main(births: int = 165_915) -> list[str]:
    """Errors of the tables that invented rows have, in lines of a table."""
    registry = invent_births(births)
    begun = time.perf_counter()
    release = release_births(registry)
    rows = release.synthetic(births)
    seconds = time.perf_counter() - begun
    pairs = [[one, two] for one in FIELDS for two in FIELDS if one < two]
    single = max(largest_error(rows, registry, [name]) for name in FIELDS)
    double = max(largest_error(rows, registry, names) for names in pairs)
    return [
        f"{births:,} births, {np.prod(list(FIELDS.values())):,} combinations of values",
        row("", "published", "ours"),
        row("epsilon", PUBLISHED_EPSILON, 1),
        row("delta", 0, "1e-6"),
        row("largest error, one column", f"{PUBLISHED_ERROR}%", f"{single:.2f}%"),
        row("largest error, two columns", "-", f"{double:.2f}%"),
        row("seconds", "", f"{seconds:.1f}"),
    ]


if __name__ == "__main__":
    sys.stdout.write("\n".join(main(*map(int, sys.argv[1:]))) + "\n")
