"""Employers that hire most: the first ten, with an event or a person protected.

python examples/cases/hiring.py

Rows are invented: hires of three months. The publication protects one hire; here a
person is protected with all hires, of which three employers count.
"""

import sys
import time

import numpy as np
import pyarrow as pa

import sordino as sd

BUDGET = sd.ApproxDP("1.2", "1e-10")
FIRST = 10
EMPLOYERS_OF_A_PERSON = 3


def invent_hires(people: int) -> pa.Table:
    """A row for each hire; 95 people of 100 are hired once."""
    draw = np.random.default_rng(4)
    times = 1 + (draw.random(people) < 0.05) * draw.integers(1, 5, people)
    person = np.repeat(np.arange(people), times)
    employer = np.minimum(draw.zipf(1.35, len(person)), 20_000)
    return pa.table({
        "person": person,
        "employer": pa.array([f"employer {place:05}" for place in employer]),
    })


def count_hires(hires: pa.Table) -> dict[str, int]:
    """Exact hires by employer."""
    counts = hires.group_by("employer").aggregate([([], "count_all")])
    return dict(
        zip(
            counts["employer"].to_pylist(), counts["count_all"].to_pylist(), strict=True
        )
    )


def published_mechanism(hires: pa.Table) -> tuple[list[str], sd.LaplaceThreshold]:
    """Laplace noise for one hire and a threshold; the ten largest of what shows."""
    mechanism = sd.LaplaceThreshold.for_loss(BUDGET, (1, 1, 1), dtype="i64")
    noisy = mechanism(count_hires(hires))
    return sorted(noisy, key=noisy.__getitem__, reverse=True)[:FIRST], mechanism


def ask(hires: pa.Table) -> tuple[sd.Price, list[str]]:
    """The first ten when people are protected, by counts that are sorted."""
    table = sd.PrivateTable(hires, protects=sd.AddRowsWithID("person"))
    session = sd.Session({"hires": table}, budget=BUDGET)
    query = (
        sd
        .table("hires")
        .enforce(
            sd.MaxGroupsPerID("employer", EMPLOYERS_OF_A_PERSON),
            sd.MaxRowsPerGroupPerID("employer", 1),
        )
        .group_by("employer")
        .agg(people=sd.count_ids())
    )
    release = session.release(query, BUDGET)
    order = release.table.sort_by([("people", "descending")])
    return session.price(query, BUDGET), order["employer"].to_pylist()[:FIRST]


def row(what: str, theirs: object, ours: object) -> str:
    """A line of the table."""
    return f"{what:38}{theirs!s:>16}{ours!s:>16}"


def main(people: int = 200_000) -> list[str]:
    """Both lists beside the true one, in lines of a table."""
    hires = invent_hires(people)
    counts = count_hires(hires)
    truth = set(sorted(counts, key=counts.__getitem__, reverse=True)[:FIRST])
    theirs, mechanism = published_mechanism(hires)
    begun = time.perf_counter()
    price, ours = ask(hires)
    seconds = time.perf_counter() - begun
    deviation = 2**0.5 * float(mechanism.scale)
    shown = (float(mechanism.threshold), float(price.thresholds[0]))
    return [
        f"{hires.num_rows:,} hires of {people:,} people, {len(counts):,} employers",
        row("", "published", "ours"),
        row("protected", "a hire", "a person"),
        row("sd of the noise", f"{deviation:.2f}", f"{price.errors['people'].sd:.2f}"),
        row("an employer shows from", f"{shown[0]:.0f}", f"{shown[1]:.0f}"),
        row("of the true ten", len(truth & set(theirs)), len(truth & set(ours))),
        row("seconds", "", f"{seconds:.1f}"),
    ]


if __name__ == "__main__":
    sys.stdout.write("\n".join(main(*map(int, sys.argv[1:]))) + "\n")
