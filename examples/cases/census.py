"""A census-like hierarchy: counts that add up, with state totals that are public.

python examples/cases/census.py

Rows are invented: people in tracts of counties of states, by sex and age group. The
published way measures each level by itself and repairs the tables afterwards.
"""

import sys
import time
from fractions import Fraction

import numpy as np
import pyarrow as pa

import sordino as sd

RHO = Fraction("2.56")
STATES = 8
COUNTIES = 10
TRACTS = 10
CELLS = ("f young", "f old", "m young", "m old")
LEVELS = ("state", "county", "tract")


def invent_people(people: int) -> pa.Table:
    """A row for each person; a few tracts are large, many are nearly empty."""
    draw = np.random.default_rng(2)
    size = STATES * COUNTIES * TRACTS
    weights = draw.pareto(1.1, size) + 0.01
    tract = draw.choice(size, people, p=weights / weights.sum())
    cell = draw.choice(len(CELLS), people, p=[0.3, 0.21, 0.31, 0.18])
    return pa.table({
        "state": tract // (COUNTIES * TRACTS),
        "county": tract // TRACTS,
        "tract": tract,
        "who": pa.array(CELLS).take(pa.array(cell)),
    })


def exact_tables(people: pa.Table) -> dict[str, np.ndarray]:
    """Exact counts by place and kind of person, for each level."""
    cell = pa.compute.index_in(people["who"], pa.array(CELLS)).to_numpy()
    tables = {}
    for level, size in zip(LEVELS, (1, COUNTIES, COUNTIES * TRACTS), strict=True):
        place = people[level].to_numpy() * len(CELLS) + cell
        tables[level] = np.bincount(place, minlength=STATES * size * len(CELLS))
    return tables


def measure_levels(exact: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Discrete Gaussian noise on each level, an even share of rho for each.

    A row that takes the place of another moves two cells by one: l2 is the root of 2.
    """
    share = RHO / len(LEVELS)
    noise = sd.DiscreteGaussian(variance=2 / (2 * share))
    return {level: np.maximum(noise(table), 0) for level, table in exact.items()}


def ask(people: pa.Table, totals: dict[int, int]) -> sd.Release:
    """The same tables here, measured together, with the totals that are public."""
    tracts = STATES * COUNTIES * TRACTS
    places = [(n // (COUNTIES * TRACTS), n // TRACTS, n) for n in range(tracts)]
    keys = sd.KeySet.from_tuples(places, columns=LEVELS) * sd.KeySet.from_dict({
        "who": CELLS
    })
    table = sd.PrivateTable(people, protects=sd.ChangeOneRow())
    session = sd.Session({"people": table}, budget=sd.ZCDP(RHO))
    query = sd.table("people").marginals(
        keys,
        tables=[(level, "who") for level in LEVELS],
        hierarchies=[LEVELS],
        totals={"state": totals},
    )
    return session.release(query, sd.ZCDP(RHO))


def read_level(table: pa.Table, level: str) -> np.ndarray:
    """Counts of an adjusted table in the order of exact ones."""
    rows = table.sort_by(level)
    kind = pa.compute.index_in(rows["who"], pa.array(CELLS)).to_numpy()
    counts = np.zeros(table.num_rows, dtype=np.int64)
    counts[rows[level].to_numpy() * len(CELLS) + kind] = rows["count"].to_numpy()
    return counts


def miss_states(tables: dict[str, np.ndarray]) -> int:
    """How far a state is from the sum of its tracts, at most."""
    sums = tables["tract"].reshape(STATES, -1, len(CELLS)).sum(axis=1)
    return int(np.abs(tables["state"].reshape(sums.shape) - sums).max())


def miss_totals(tables: dict[str, np.ndarray], totals: np.ndarray) -> int:
    """How far a state is from its public total, at most."""
    return int(np.abs(tables["state"].reshape(STATES, -1).sum(axis=1) - totals).max())


def row(what: str, theirs: object, ours: object) -> str:
    """A line of the table."""
    return f"{what:38}{theirs!s:>16}{ours!s:>16}"


def main(people: int = 400_000) -> list[str]:
    """Mean errors of both ways by level, in lines of a table."""
    rows = invent_people(people)
    exact = exact_tables(rows)
    totals = exact["state"].reshape(STATES, len(CELLS)).sum(axis=1)
    alone = measure_levels(exact)
    begun = time.perf_counter()
    release = ask(rows, dict(enumerate(totals.tolist())))
    whole = release.adjusted.integers
    ours = {level: read_level(whole[level, "who"], level) for level in LEVELS}
    seconds = time.perf_counter() - begun
    lines = [
        f"{people:,} people, {STATES * COUNTIES * TRACTS:,} tracts, rho {float(RHO)}",
        row("", "each level alone", "ours"),
    ]
    deviations = []
    for level in LEVELS:
        deviation = release.tables.errors[level, "who"]["count sd"][0].as_py()
        alone_sd = float(2 / (2 * RHO / len(LEVELS))) ** 0.5
        deviations.append(row(f"{level}, sd", f"{alone_sd:.2f}", f"{deviation:.2f}"))
        errors = [np.abs(table[level] - exact[level]).mean() for table in (alone, ours)]
        lines.append(
            row(f"{level}, mean error", f"{errors[0]:.2f}", f"{errors[1]:.2f}")
        )
    both = (alone, ours)
    return [
        *lines,
        *deviations,
        row("tracts miss a state by", *(miss_states(tables) for tables in both)),
        row("states miss totals by", *(miss_totals(tables, totals) for tables in both)),
        row("seconds", "", f"{seconds:.1f}"),
    ]


if __name__ == "__main__":
    sys.stdout.write("\n".join(main(*map(int, sys.argv[1:]))) + "\n")
