"""How often intervals hold what their heading says; how good suggested limits are.

The demo and 20 drawn tables, half of which promise how many rows one person has. A row
tells of the share of printed intervals that miss the figure they name, in percent: the
exact answer of the rows that limits keep, or that of all rows of the table. Regret is
how many times as far off the suggested limits are as the best of the same grid.
"""

import math
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, Final, TypeAlias, final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

import sordino as sd
from benchmarks.frame import Figure
from sordino.errors import WeakBudget
from sordino.office.demo.clinic import visits_table

Counts: TypeAlias = Callable[[np.random.Generator, int], NDArray[np.int64]]
KINDS: Final[dict[str, Counts]] = {
    "few": lambda rng, people: rng.integers(1, 8, people),
    "lognormal": lambda rng, people: np.maximum(
        1, rng.lognormal(1, 1, people).astype(int)
    ),
    "zipf": lambda rng, people: np.minimum(rng.zipf(1.8, people), 200),
}
RELEASES: Final = 20
SHAPES: Final = 20


@final
@dataclass(frozen=True)
class Table:
    """Rows of people in groups, and the limits of a question about them."""

    rows: pa.Table
    group: str
    value: str
    ids: str
    groups: tuple[Any, ...]
    limits: tuple[Any, ...]
    epsilon: str

    def ask(self, session: sd.Session) -> sd.Release:
        """Release counts, people and a sum of each group, with what limits cut off."""
        keys: Any = sd.KeySet.from_dict({self.group: list(self.groups)})
        query = sd.table("t").enforce(*self.limits).group_by(keys)
        asked = query.agg(
            n=sd.count(),
            people=sd.count_ids(),
            x=sd.sum(self.value, 0, 30),
            coverage=True,
            weights={"coverage": "1/3"},  # a tenth of the whole
        )
        return session.release(asked, sd.PureDP(self.epsilon))

    @property
    def exact(self) -> dict[str, list[float]]:
        """Figures of the table, group by group."""
        ids, group, value = (
            np.array(self.rows[name].to_pylist())
            for name in (self.ids, self.group, self.value)
        )
        inside = [group == each for each in sorted(self.groups)]
        return {
            "n": [float(part.sum()) for part in inside],
            "people": [float(len(set(ids[part].tolist()))) for part in inside],
            "x": [float(np.clip(value[part], 0, 30).sum()) for part in inside],
        }


def drawn_table(seed: int) -> Table:
    """Draw a table; every other one comes with a promise of its longest person."""
    rng = np.random.default_rng(seed)
    people, groups = int(rng.integers(1000, 8000)), int(rng.integers(3, 12))
    counts = [*KINDS.values()][seed % 3](rng, people)
    ids = np.repeat(np.arange(people), counts)
    chances = np.arange(1.0, groups + 1) ** -0.8
    group = rng.choice(groups, ids.size, p=chances / chances.sum())
    value = np.minimum(rng.gamma(2, 5, ids.size), 60).astype(int)
    most = int(counts.max())
    kept = max(1, int(np.quantile(counts, 0.95)))
    limits = (sd.MaxRowsPerID(kept, at_most=most if seed % 2 else None),)
    rows = pa.table({"id": ids, "g": group, "x": value})
    epsilon = str(rng.choice(["0.3", "1", "3"]))
    return Table(rows, "g", "x", "id", tuple(range(groups)), limits, epsilon)


def demo_table() -> Table:
    """Return the table of `sordino demo clinic`, and its question."""
    wards = ("Cardiology", "Emergency", "Oncology", "Radiology", "Surgery")
    limits = (sd.MaxRowsPerID(15, at_most=15),)
    rows = visits_table(0, 40_000, 24_000)
    return Table(rows, "ward", "days", "patient", wards, limits, "1")


def tables(which: str) -> Iterator[Table]:
    """Yield the tables of a name."""
    if which == "the demo":
        yield demo_table()
    else:
        yield from map(drawn_table, range(SHAPES))


def opened(table: Table) -> sd.Session:
    """Open a session that pays for all releases."""
    unit = sd.AddRowsWithID(table.ids)
    private = sd.PrivateTable(table.rows, protects=unit)
    return sd.Session({"t": private}, sd.PureDP(10**6))


@cache
def misses(which: str) -> dict[str, list[bool]]:
    """Tell of each interval whether it misses what it holds, by what it holds."""
    missed: dict[str, list[bool]] = {"the noise": [], "the table": []}
    for table in tables(which):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", WeakBudget)
            session = opened(table)
            figures = {"the noise": rows_kept(table, session), "the table": table.exact}
        for _ in range(RELEASES * (1 if which != "the demo" else 5)):
            release = table.ask(session)
            for name in release.names:
                word = release.figures[name].split(",")[0].removeprefix("of ")
                low, high = (
                    release.errors[f"{name} {end}"].to_pylist()
                    for end in ("low", "high")
                )
                missed[word] += [
                    not least <= figure <= most
                    for least, figure, most in zip(
                        low, figures[word][name], high, strict=True
                    )
                ]
    return missed


def rows_kept(table: Table, session: sd.Session) -> dict[str, list[float]]:
    """Return the answers of the rows that limits keep, of a budget without noise."""
    keys: Any = sd.KeySet.from_dict({table.group: list(table.groups)})
    query = sd.table("t").enforce(*table.limits).group_by(keys)
    days = sd.sum(table.value, 0, 30)
    asked = query.agg(n=sd.count(), people=sd.count_ids(), x=days)
    release = session.release(asked, sd.PureDP(10**5))
    return {name: list(map(round, release[name].to_pylist())) for name in release.names}


def missed_of(which: str, word: str) -> float:
    """Return the share of intervals of a kind that miss what they hold."""
    return 100 * float(np.mean(misses(which)[word]))


def missed_from_five() -> float:
    """Return how many points the share of all intervals that miss lies from 5 %."""
    tables = ("the demo", "20 drawn tables")
    each = [
        missed for which in tables for word in misses(which).values() for missed in word
    ]
    return abs(100 * float(np.mean(each)) - 5)


PEOPLE: Final = 20_000
SPREADS: Final[dict[str, Counts]] = {
    "1 to 3 rows": lambda rng, people: rng.integers(1, 4, people),
    "lognormal rows": KINDS["lognormal"],
    "Zipf rows": lambda rng, people: np.minimum(rng.zipf(1.7, people), 300),
}


def drawn_rows(spread: str, seed: int, people: int) -> dict[str, NDArray[np.int64]]:
    """Draw rows of people in 20 groups, with values that are skewed."""
    rng = np.random.default_rng(seed)
    ids = np.repeat(np.arange(people), SPREADS[spread](rng, people))
    chances = np.arange(1.0, 21) ** -0.8
    group = rng.choice(20, ids.size, p=chances / chances.sum())
    value = np.clip(rng.lognormal(2.5, 1.2, ids.size), 0, 1000).astype(int)
    return {"id": ids, "g": group, "x": value}


def told_by_limits(rows: dict[str, NDArray[np.int64]], row: dict[str, Any]) -> Any:
    """Return counts and sums of the rows that limits keep, on average, by group."""
    cell = rows["id"] * 20 + rows["g"]
    _, place, size = np.unique(cell, return_inverse=True, return_counts=True)
    cells = np.unique(cell)
    groups = np.bincount(cells // 20)[rows["id"]]
    stays = np.minimum(1, row["groups per id"] / groups)
    stays *= np.minimum(1, row["rows per id and group"] / size[place])
    value = np.clip(rows["x"], row["x from"], row["x to"])
    return [np.bincount(rows["g"], stays * each, 20) for each in (1, value)]


@cache
def regret(spread: str, epsilon: str) -> float:
    """Return how many times as far off the suggested row is as the best one."""
    rows = drawn_rows(spread, 43, PEOPLE)
    sample = drawn_rows(spread, 44, PEOPLE // 5)
    unit, keys = sd.AddRowsWithID("id"), sd.KeySet.from_dict({"g": list(range(20))})
    private = sd.PrivateTable(pa.table(rows), protects=unit)
    session = sd.Session({"t": private}, sd.ApproxDP(1, "1e-6"))
    asked = sd.table("t").group_by(keys).agg(n=sd.count(), x=sd.sum("x", 0, 200))
    budget = sd.ApproxDP(epsilon, "1e-6")
    found = session.suggest(asked, budget, pa.table(sample), people=PEOPLE)
    exact = [np.bincount(rows["g"], each, 20) for each in (None, rows["x"])]
    errors = [
        np.prod([
            np.sqrt(np.mean((row[f"{name} noise"] ** 2 + (k - t) ** 2) / t**2))
            for name, k, t in zip("nx", told_by_limits(rows, row), exact, strict=True)
        ])
        for row in found.table.to_pylist()
    ]
    return math.sqrt(errors[found.best] / min(errors))


ROWS: Final = (
    Figure(
        what="95 % intervals of the demo and 20 drawn tables: that hold, from 95 %",
        figure=missed_from_five,
        unit="points",
        floor=2,
        goal=1.5,
    ),
    *(
        Figure(
            what=f"95 % intervals of {which}, {word}: printed figures that miss it",
            figure=partial(missed_of, which, word),
            unit="%",
            floor=7,
            goal=6,
        )
        for which, word in (
            ("the demo", "the table"),
            ("20 drawn tables", "the noise"),
            ("20 drawn tables", "the table"),
        )
    ),
    *(
        Figure(
            what=f"limits suggested for {spread} an id, epsilon {epsilon}: regret",
            figure=partial(regret, spread, epsilon),
            unit="times the best",
            floor=1.3,
            goal=1.2,
        )
        for spread in SPREADS
        for epsilon in ("0.1", "1")
    ),
)
