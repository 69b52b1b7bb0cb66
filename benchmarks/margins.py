"""Tables that belong together, on generated people of published shapes, at (1, 1e-6).

Deaths by county and month (JHU: 3,334 counties in 56 states, 7 months, 66 % zeros) with
five margins, in one `release_all` whose weights follow the number of cells; 560 tables
of three of 16 yes/no columns (NLTCS: 21,574 people of latent classes); people by tract
or county or state, by race, origin and age (a census: most cells small, few large).
Errors are root mean squares over all cells of a table and over several releases.
"""

import itertools
import math
import time
from collections.abc import Callable
from functools import cache, partial
from typing import Any, Final, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

import sordino as sd
from benchmarks.frame import Figure, Row
from benchmarks.reached import Accuracy

Floats: TypeAlias = NDArray[np.float64]

BUDGET: Final = sd.ApproxDP(1, "1e-6")
NO_LIMIT: Final = sd.ApproxDP(10**6, "0.9")
COUNTIES, STATES, MONTHS = 3334, 56, 7
RELEASES: Final = 6
GOALS: Final = {
    "state, county, month": (3.0, 2.2),
    "county": (5.0, 4.2),
    "state, month": (8.0, 6.8),
    "state": (11.0, 9.5),
    "month": (18.0, 15.0),
    "all": (25.0, 20.0),
}
"""Floors and goals, from the many cells to the one."""
MANY: Final = ("state, county, month", "county", "state, month")
"""Tables of many cells; of a few cells errors differ from run to run."""
COLUMNS: Final = tuple(f"c{place:02}" for place in range(16))
PEOPLE: Final = 21_574
YES_OR_NO: Final = sd.KeySet.from_dict({name: [0, 1] for name in COLUMNS})


@cache
def deaths() -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the state of each county, and deaths by county and month."""
    generator = np.random.default_rng(11)
    likely = generator.dirichlet(np.full(STATES, 2.0))
    state = np.sort(generator.choice(STATES, COUNTIES, p=likely))
    state[:STATES] = np.arange(STATES)
    state.sort()
    size = generator.lognormal(0, 2.2, COUNTIES) * 2.9
    season = generator.dirichlet(np.full(MONTHS, 2.0), STATES)[state]
    rates = generator.gamma(0.5, 2, (COUNTIES, MONTHS)) * size[:, None] * season * 1.2
    return state, generator.poisson(rates)


@cache
def opened_deaths() -> tuple[sd.Session, dict[str, Any]]:
    """Return a session of deaths, and the six tables to ask for."""
    state, counts = deaths()
    place = np.repeat(np.arange(COUNTIES * MONTHS), counts.ravel())
    county, month = np.divmod(place, MONTHS)
    rows = pa.table({"state": state[county], "county": county, "month": month})
    pairs = list(zip(state.tolist(), range(COUNTIES), strict=True))
    places = sd.KeySet.from_tuples(pairs, columns=("state", "county"))
    months = sd.KeySet.from_dict({"month": range(MONTHS)})
    sets = sd.table("t").group_by_sets(
        places * months,
        places["county"],
        places["state"] * months,
        places["state"],
        months,
        (),
    )
    private = sd.PrivateTable(rows, protects=sd.AddOneRow())
    return sd.Session({"t": private}, NO_LIMIT), sets.agg(n=sd.count())


@cache
def errors_of_deaths() -> dict[str, tuple[float, float]]:
    """Return the error of each table, adjusted and as it was measured."""
    session, asked = opened_deaths()
    exact = session.release_all(asked, sd.PureDP(10**5))
    squares: dict[str, list[tuple[float, float]]] = {name: [] for name in asked}
    for _ in range(RELEASES):
        releases = session.release_all(asked, BUDGET, weights="cells")
        for name, release in releases.items():
            known = exact[name]["n"].to_numpy()
            off = releases.adjusted[name]["n"].to_numpy() - known
            raw = release["n"].to_numpy() - known
            squares[name].append((float(np.mean(off**2)), float(np.mean(raw**2))))
    means = {name: np.sqrt(np.mean(each, axis=0)) for name, each in squares.items()}
    return {name: (float(one), float(raw)) for name, (one, raw) in means.items()}


@cache
def opened_people(size: int) -> sd.Session:
    """Return a session of people with 16 yes/no columns of six latent classes."""
    generator = np.random.default_rng(5)
    kinds = generator.choice(6, size, p=[0.35, 0.2, 0.15, 0.12, 0.1, 0.08])
    likely = generator.beta(0.6, 1.6, (6, 16)) * np.linspace(0.1, 1.6, 6)[:, None]
    rows = generator.random((size, 16)) < np.clip(likely, 0.01, 0.97)[kinds]
    columns = {
        name: rows[:, place].astype(np.int64) for place, name in enumerate(COLUMNS)
    }
    private = sd.PrivateTable(pa.table(columns), protects=sd.AddOneRow())
    return sd.Session({"t": private}, NO_LIMIT)


def ask_people(size: int, budget: sd.Budget = BUDGET) -> sd.Release:
    """Return all tables of up to three columns."""
    query = sd.table("t").marginals(YES_OR_NO, order=3)
    return opened_people(size).release(query, budget)


@cache
def errors_of_people() -> tuple[float, float]:
    """Return the error of a cell of tables of three, adjusted and as measured."""
    exact = ask_people(PEOPLE, sd.ApproxDP(10**5, "0.1"))
    squares = []
    for _ in range(RELEASES):
        release = ask_people(PEOPLE)
        for tables in (release.adjusted, release.tables):
            off = [
                tables[name]["count"].to_numpy()
                - exact.tables[name]["count"].to_numpy()
                for name in itertools.combinations(COLUMNS, 3)
            ]
            squares.append(float(np.mean(np.square(off))))
    adjusted, raw = np.sqrt(np.reshape(squares, (-1, 2)).mean(axis=0))
    return float(adjusted), float(raw)


def one_by_one() -> float:
    """Return the error of 560 tables that share the budget one by one: sqrt(m) / mu."""
    mu = opened_people(PEOPLE).price(
        sd.table("t").agg(noise="gaussian", n=sd.count()), BUDGET
    )
    return math.sqrt(560) * float(mu.noise["n"][0].scale)  # type: ignore[attr-defined]


def seconds(action: Callable[[], object]) -> float:
    """Return how long an action takes, once."""
    before = time.perf_counter()
    action()
    return time.perf_counter() - before


def fit_seconds() -> float:
    """Return how long the law of 2**16 combinations takes to be fitted."""
    release = ask_people(PEOPLE)
    return seconds(lambda: release.adjusted[()])


def adjust_seconds() -> float:
    """Return how long a table of 1e5 cells and its margins take to be adjusted."""
    generator = np.random.default_rng(0)
    counts = generator.poisson(generator.gamma(0.2, 10, 100_000))
    places = np.repeat(np.arange(100_000), counts)
    rows = pa.table({"a": places // 10, "b": places % 10})
    keys = sd.KeySet.from_dict({"a": range(10_000), "b": range(10)})
    private = sd.PrivateTable(rows, protects=sd.AddOneRow())
    session = sd.Session({"t": private}, NO_LIMIT)
    release = session.release(sd.table("t").marginals(keys, order=2), BUDGET)
    return seconds(lambda: release.adjusted[()])


CENSUS: Final = ("race", "origin", "age")


@cache
def census(
    states: int, counties: int, tracts: int, people: float
) -> tuple[sd.Session, sd.KeySet]:
    """Return people of tracts, counties and states, by three columns of 7, 2 and 2."""
    generator = np.random.default_rng(53)
    size = states * counties * tracts
    races = generator.gamma(np.array([8, 1.5, 0.2, 1, 0.1, 0.5, 0.7]), 1, (size, 7))
    likely = generator.lognormal(0, 0.7, (size, 1)) * races
    rest = np.outer([0.82, 0.18], [0.23, 0.77]).ravel()
    likely = (likely[:, :, None] * rest).reshape(size, 28)
    counts = generator.poisson(likely * people / likely.sum())
    tract, kind = np.divmod(np.repeat(np.arange(counts.size), counts.ravel()), 28)
    columns = {
        "state": tract // (tracts * counties),
        "county": tract // tracts,
        "tract": tract,
        "race": kind // 4,
        "origin": kind // 2 % 2,
        "age": kind % 2,
    }
    number = np.arange(size)
    places = sd.KeySet.from_table(
        pa.table({
            "state": number // (tracts * counties),
            "county": number // tracts,
            "tract": number,
        })
    )
    kinds = sd.KeySet.from_dict({"race": range(7), "origin": [0, 1], "age": [0, 1]})
    private = sd.PrivateTable(pa.table(columns), protects=sd.AddOneRow())
    return sd.Session({"t": private}, NO_LIMIT), places * kinds


def nested_seconds(*sizes: int, people: float) -> float:
    """Return how long tables by tract, county and state take to be adjusted."""
    session, keys = census(*sizes, people)
    sets = sd.table("t").group_by_sets(
        keys, keys["state", "county", *CENSUS], keys["state", *CENSUS]
    )
    releases = session.release_all(sets.agg(n=sd.count()), BUDGET, weights="cells")
    return seconds(lambda: releases.adjusted)


def crossed_seconds() -> float:
    """Return how long all tables of two columns of a census take to be adjusted."""
    session, keys = census(5, 12, 20, 845_000)
    query = sd.table("t").marginals(
        keys, order=2, hierarchies=[("state", "county", "tract")]
    )
    release = session.release(query, BUDGET)
    return seconds(lambda: release.adjusted)


ROWS: tuple[Row, ...] = (
    *(
        Accuracy(
            what=f"county x month and margins at (1, 1e-6): RMSE of {name}, adjusted",
            ours=partial(lambda table: errors_of_deaths()[table][0], name),
            unit="rows",
            floor=floor,
            goal=goal,
            peer=partial(lambda table: errors_of_deaths()[table][1], name),
            against="as measured",
            tolerance=0.08 if name in MANY else 0.8,
        )
        for name, (floor, goal) in GOALS.items()
    ),
    Accuracy(
        what="560 tables of three of 16 columns at (1, 1e-6): RMSE, adjusted",
        ours=lambda: errors_of_people()[0],
        unit="rows",
        floor=40,
        goal=25,
        peer=one_by_one,
        against="one by one",
        tolerance=0.06,
    ),
    Accuracy(
        what="560 tables of three of 16 columns at (1, 1e-6): RMSE, unbiased",
        ours=lambda: errors_of_people()[1],
        unit="rows",
        floor=40,
        goal=28,
        peer=one_by_one,
        against="one by one",
        tolerance=0.06,
    ),
    Figure(
        what="560 tables of three of 16 columns, 1e6 rows: released in",
        figure=lambda: seconds(lambda: ask_people(1_000_000)),
        unit="s",
        floor=20,
        goal=10,
    ),
    Figure(
        what="a law of 2^16 combinations: fitted in",
        figure=fit_seconds,
        unit="s",
        floor=10,
        goal=4,
    ),
    Figure(
        what="a table of 1e5 cells and its margins: adjusted in",
        figure=adjust_seconds,
        unit="s",
        floor=1,
        goal=0.5,
    ),
    Figure(
        what="census, 33,600 cells by tract, county and state: adjusted in",
        figure=lambda: nested_seconds(5, 12, 20, people=845_000),
        unit="s",
        floor=5,
        goal=1,
    ),
    Figure(
        what="census, 33,600 cells, all tables of two columns: adjusted in",
        figure=crossed_seconds,
        unit="s",
        floor=5,
        goal=1,
    ),
    Figure(
        what="census, 1.0e6 cells by tract, county and state: adjusted in",
        figure=lambda: nested_seconds(50, 30, 24, people=2_000_000),
        unit="s",
        floor=60,
        goal=10,
    ),
)
