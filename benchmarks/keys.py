"""How many keys show that nobody named, and how often intervals near thresholds hold.

100,000 ids draw 20 of 100,000 keys each, the n-th as likely as n to a power; each id
is in at most 20 groups. Beside it PipelineDP, run as a package with the selection that
shows most there, and keys that are shown by their noisy numbers of ids.
"""

from functools import cache, partial
from operator import itemgetter
from typing import Final

import numpy as np
import pyarrow as pa

import sordino as sd
from benchmarks.frame import Row
from benchmarks.reached import Accuracy

IDS: Final = 100_000
DRAWS: Final = 20
GROUPS: Final = 4000
BUDGET: Final = sd.ApproxDP(1, "1e-6")
NO_LIMIT: Final = sd.ApproxDP(10**6, "0.9")
BOUNDED: Final = sd.table("t").enforce(sd.MaxGroupsPerID("g", DRAWS)).group_by("g")
POWERS: Final = {0.8: (2200, 2300), 1.1: (2000, 2100), 1.4: (1080, 1120)}
"""Floors and goals."""


def draws(power: float, ids: int) -> pa.Table:
    """Return the draws of some ids."""
    generator = np.random.default_rng(10)
    likely = np.cumsum(np.arange(1.0, IDS + 1) ** -power)
    drawn = np.searchsorted(likely / likely[-1], generator.random(ids * DRAWS))
    people = np.repeat(np.arange(ids), DRAWS)
    return pa.table({"id": people, "g": np.minimum(drawn, IDS - 1)})


@cache
def opened(power: float, ids: int) -> sd.Session:
    """Return a session with the draws of some ids."""
    private = sd.PrivateTable(draws(power, ids), protects=sd.AddRowsWithID("id"))
    return sd.Session({"t": private}, NO_LIMIT)


def peer_shown(power: float, ids: int = IDS) -> float:
    """Return how many keys PipelineDP shows, by a Gaussian threshold."""
    import pipeline_dp as peer  # noqa: PLC0415 a peer, measured where it is installed

    spent = peer.NaiveBudgetAccountant(total_epsilon=1, total_delta=1e-6)
    asked = peer.SelectPartitionsParams(
        max_partitions_contributed=DRAWS,
        partition_selection_strategy=peer.PartitionSelectionStrategy.GAUSSIAN_THRESHOLDING,
    )
    read = peer.DataExtractors(
        privacy_id_extractor=itemgetter(0),
        partition_extractor=itemgetter(1),
        value_extractor=itemgetter(1),
    )
    columns = (column.to_pylist() for column in draws(power, ids).columns)
    rows = list(zip(*columns, strict=True))
    engine = peer.DPEngine(spent, peer.LocalBackend())
    answer = engine.select_partitions(rows, asked, read)
    spent.compute_budgets()
    return len(list(answer))


def shown(power: float, ids: int = IDS) -> float:
    """Return how many keys show, where keys alone are asked."""
    return len(opened(power, ids).release(BOUNDED.keys(), BUDGET))


def counted(power: float, ids: int = IDS, *, weighted: bool = False) -> float:
    """Return how many keys show where each has its number of ids.

    By that number, or by weights, with as much of the budget for keys as for numbers.
    """
    weights = {"keys": 1} if weighted else None
    asked = BOUNDED.agg(weights=weights, n=sd.count_ids())
    return len(opened(power, ids).release(asked, BUDGET))


def held(groups: int = GROUPS) -> float:
    """Return the share of intervals that hold, of groups that show at the threshold."""
    asked = sd.table("t").group_by("g").agg(n=sd.count(), m=sd.mean("x", 0, 1))
    facts = {"x": sd.Column("f64", nullable=False, nan=False)}

    def session(size: int) -> sd.Session:
        rows = {"g": np.repeat(np.arange(groups), size), "x": np.zeros(groups * size)}
        private = sd.PrivateTable(
            pa.table(rows), protects=sd.AddOneRow(), columns=facts
        )
        return sd.Session({"t": private}, NO_LIMIT)

    size = round(float(session(1).price(asked, BUDGET).thresholds[0]))
    errors = session(size).release(asked, BUDGET).errors
    low, high = (errors[f"n {end}"].to_numpy() for end in ("low", "high"))
    return float(np.mean((low <= size) & (size <= high)))


ROWS: tuple[Row, ...] = (
    *(
        Accuracy(
            what=f"keys of 1e5 ids, Zipf {power}, at (1, 1e-6): how many show",
            ours=partial(shown, power),
            unit="keys",
            floor=floor,
            goal=goal,
            peer=partial(peer_shown, power),
            against="PipelineDP",
            better="more",
            tolerance=0.03,
        )
        for power, (floor, goal) in POWERS.items()
    ),
    Accuracy(
        what="keys and numbers of ids, Zipf 1.4, at (1, 1e-6): how many show",
        ours=partial(counted, 1.4, weighted=True),
        unit="keys",
        floor=850,
        goal=875,
        peer=partial(counted, 1.4),
        against="by counts",
        better="more",
        tolerance=0.03,
    ),
    Accuracy(
        what="95 % intervals of counts at the threshold, given that they show: hold",
        ours=lambda: 100 * held(),
        unit="%",
        floor=93,
        goal=94,
        better="more",
        tolerance=0.015,
    ),
)
