"""Visits to places against a baseline: percentage changes with intervals.

python examples/cases/mobility.py

Rows are invented: users visit places of six categories in regions, on a baseline day
and on a later one. A user on a day is protected, as in the publication.
"""

import sys
import time

import numpy as np
import pyarrow as pa

import sordino as sd

EPSILON = sd.PureDP("1.76")
PLACES_OF_A_DAY = 4
LEAST = 100
WIDEST = 10
"""Points by which a change may be off."""
CATEGORIES = ("grocery", "parks", "retail", "transit", "home", "work")
REGIONS = 60


def invent_visits(users: int) -> pa.Table:
    """A row for each visit; most regions are small, later visits are fewer."""
    draw = np.random.default_rng(5)
    weights = draw.pareto(0.9, REGIONS) + 0.02
    parts = []
    for day, (shown, factor) in enumerate((("baseline", 1.0), ("later", 0.72))):
        visits = draw.poisson(2.0 * factor, users)
        user = np.repeat(np.arange(users), visits)
        region = draw.choice(REGIONS, users, p=weights / weights.sum())[user]
        category = draw.choice(6, len(user), p=[0.2, 0.08, 0.22, 0.14, 0.2, 0.16])
        parts.append(
            pa.table({
                "user and day": 2 * user + day,
                "day": pa.array([shown]).take(pa.array(np.zeros(len(user), int))),
                "region": region,
                "category": pa.array(CATEGORIES).take(pa.array(category)),
            })
        )
    return pa.concat_tables(parts)


def exact_users(visits: pa.Table) -> dict[tuple[str, int, str], int]:
    """Exact users by day, region and category."""
    names = ["day", "region", "category"]
    cells = visits.group_by(names).aggregate([("user and day", "count_distinct")])
    rows = zip(*(cells[name].to_pylist() for name in names), strict=True)
    return dict(
        zip(rows, cells["user and day_count_distinct"].to_pylist(), strict=True)
    )


def published_mechanism(
    exact: dict[tuple[str, int, str], int],
) -> dict[tuple[int, str], float]:
    """Laplace noise, cells below 100 dropped, changes in per cent."""
    noise = sd.Geometric(PLACES_OF_A_DAY / EPSILON.epsilon)
    changes = {}
    for region in range(REGIONS):
        for category in CATEGORIES:
            before, after = (
                noise(exact.get((day, region, category), 0))
                for day in ("baseline", "later")
            )
            if min(before, after) >= LEAST:
                changes[region, category] = 100 * (after / before - 1)
    return changes


def ask(visits: pa.Table) -> tuple[sd.Price, sd.Release]:
    """The same counts here, the baseline beside each, and changes computed of them."""
    table = sd.PrivateTable(visits, protects=sd.AddRowsWithID("user and day"))
    session = sd.Session({"visits": table}, budget=EPSILON)
    keys = sd.KeySet.from_dict({
        "day": ["baseline", "later"],
        "region": range(REGIONS),
        "category": CATEGORIES,
    })
    place = ("day", "region", "category")
    query = (
        sd
        .table("visits")
        .enforce(sd.MaxGroupsPerID(place, PLACES_OF_A_DAY))
        .group_by(keys)
        .agg(users=sd.count_ids())
    )
    release = session.release(query, EPSILON)
    change = 100 * (sd.col("users") / sd.col("users before") - 1)
    beside = release.with_baseline(day="baseline").with_columns(change=change)
    return session.price(query, EPSILON), beside


def row(what: str, theirs: object, ours: object) -> str:
    """A line of the table."""
    return f"{what:38}{theirs!s:>16}{ours!s:>16}"


def main(users: int = 150_000) -> list[str]:
    """Both ways beside the exact changes, in lines of a table."""
    visits = invent_visits(users)
    exact = exact_users(visits)
    theirs = published_mechanism(exact)
    begun = time.perf_counter()
    price, release = ask(visits)
    seconds = time.perf_counter() - begun
    rows = zip(
        release["region"].to_pylist(),
        release["category"].to_pylist(),
        release["change"].to_pylist(),
        release.errors["change low"].to_pylist(),
        release.errors["change high"].to_pylist(),
        strict=True,
    )
    ours, held = {}, []
    for region, category, change, low, high in rows:
        if high - low <= 2 * WIDEST:
            ours[region, category] = change
            held.append(low <= true_change(exact, region, category) <= high)
    errors = [
        np.abs([change - true_change(exact, *cell) for cell, change in shown.items()])
        for shown in (theirs, ours)
    ]
    wrong = [int((error > WIDEST).sum()) for error in errors]
    middle = [f"{np.median(error) if len(error) else 0:.2f}" for error in errors]
    scale = float(price.noise["users"][0].scale)
    return [
        f"{visits.num_rows:,} visits of {users:,} users, {REGIONS * 6} changes",
        row("", "published", "ours"),
        row("scale of the noise", f"{4 / 1.76:.2f}", f"{scale:.2f}"),
        row("changes shown", len(theirs), len(ours)),
        row("off by more than 10 points", *wrong),
        row("median error, points", *middle),
        row("intervals that hold", "none", f"{100 * np.mean(held or [True]):.1f}%"),
        row("seconds", "", f"{seconds:.1f}"),
    ]


def true_change(
    exact: dict[tuple[str, int, str], int], region: int, category: str
) -> float:
    """Exact change of a cell, in per cent."""
    before, after = (
        exact.get((day, region, category), 0) for day in ("baseline", "later")
    )
    return 100 * (after / max(before, 1) - 1)


if __name__ == "__main__":
    sys.stdout.write("\n".join(main(*map(int, sys.argv[1:]))) + "\n")
