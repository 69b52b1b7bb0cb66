"""The first ten groups, and running totals: errors beside those of plain counts.

Both are told by prices, which are exact for counts; errors of ranks are those of the
noise that would put groups into the same random order.
"""

import math
from functools import partial
from typing import Final

import numpy as np

import sordino as sd
from benchmarks.frame import Row
from benchmarks.reached import Accuracy

BUDGET: Final = sd.ApproxDP(1, "1e-6")
GUMBEL: Final = math.pi / math.sqrt(6)
"""The deviation of Gumbel noise of scale 1."""
PAGES: Final = 2000


def session() -> sd.Session:
    """Return a session of page views; its rows are never read."""
    rows = {"id": [1], "page": [1], "week": [1]}
    private = sd.PrivateTable(rows, protects=sd.AddRowsWithID("id"))
    return sd.Session({"t": private}, BUDGET)


def views(groups: int) -> sd.Query:
    """Return views of ids in so many pages, each once."""
    return sd.table("t").enforce(
        sd.MaxGroupsPerID("page", groups), sd.MaxRowsPerGroupPerID("page", 1)
    )


def ranked(groups: int) -> float:
    """Return the deviation of the noise with which the first ten are chosen."""
    request = views(groups).group_by("page").top(10, by=sd.count())
    price = session().price(request, BUDGET)
    first = price._purchase.first  # noqa: SLF001 what its text says, in full
    return math.nan if first is None else GUMBEL * first.scale


def counted(groups: int) -> float:
    """Return the deviation of the counts of all groups."""
    request = views(groups).group_by("page").agg(n=sd.count())
    return session().price(request, BUDGET).errors["n"].sd


def found(people: int = 20_000) -> float:
    """Return how many of the true first ten are told, of Zipf data, on average."""
    generator = np.random.default_rng(3)
    likely = np.cumsum(np.arange(1.0, PAGES + 1) ** -1.1)
    drawn = np.searchsorted(likely / likely[-1], generator.random(people * 20))
    ids = np.repeat(np.arange(people), 20)
    pairs = np.unique(np.stack([ids, drawn]), axis=1)
    counts = np.bincount(pairs[1], minlength=PAGES)
    best = set(np.argsort(-counts)[:10].tolist())
    rows = {"id": pairs[0], "page": pairs[1], "week": pairs[0]}
    private = sd.PrivateTable(rows, protects=sd.AddRowsWithID("id"))
    limit = sd.Limit.of(sd.ApproxDP(10**6, "0.5"))
    opened = sd.Session({"t": private}, limit)
    request = views(20).group_by("page").top(10, by=sd.count())
    lists = (opened.release(request, BUDGET)["page"].to_pylist() for _ in range(5))
    return sum(len(best & set(one)) for one in lists) / 5


def to_date(periods: int) -> float:
    """Return the deviation of the last running total, in those of one count."""
    rows = sd.table("t").cumulative("week", list(range(periods)), n=sd.count())
    opened = sd.Session(
        {"t": sd.PrivateTable({"week": [1]}, protects=sd.AddOneRow())}, sd.GaussianDP(1)
    )
    return opened.price(rows, sd.GaussianDP(1)).errors["n"].sd


ROWS: tuple[Row, ...] = (
    *(
        Accuracy(
            what=f"{periods} periods to date, in deviations of one count: at the end",
            ours=partial(to_date, periods),
            unit="deviations",
            floor=floor,
            goal=goal,
            peer=partial(math.sqrt, periods),
            against="independent noise",
            better="less",
            tolerance=0.01,
        )
        for periods, floor, goal in ((12, 1.9, 1.86), (52, 2.4, 2.33), (365, 3.1, 2.95))
    ),
    *(
        Accuracy(
            what=f"first ten groups at (1, 1e-6), ids in {groups}: noise of a choice",
            ours=partial(ranked, groups),
            unit="rows",
            floor=9.5,
            goal=9.2,
            peer=partial(counted, groups),
            against="all counts",
            better="less",
            tolerance=0.01,
        )
        for groups in (20, 200)
    ),
    Accuracy(
        what="first ten of 2,000 pages, 2e4 people with 20 each: found",
        ours=found,
        unit="pages",
        floor=9.5,
        goal=9.9,
        better="more",
        tolerance=0.05,
    ),
)
