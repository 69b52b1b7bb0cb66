"""How good answers are at equal privacy: (1, 1e-6) for all of a release, ids protected.

1e6 rows of 1e5 ids in 1000 groups, the n-th as likely as n ** -0.8: count and mean of
each group, none of which is known beforehand. Two ways beside it: the old one, Laplace
noise and a third of the budget each for the keys, the counts and the means; PipelineDP,
run as a package with the same bounds, with Gaussian noise.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from operator import itemgetter
from typing import Any, Final, Literal, TypeAlias, final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

import sordino as sd
from benchmarks.frame import Measured, Row, peer_number
from benchmarks.reached import lost_since

Floats: TypeAlias = NDArray[np.float64]
Way: TypeAlias = Callable[[sd.Session], pa.Table]
"""From a session to groups, counts and means."""

SIZE: Final = 1_000_000
GROUPS: Final = 1000
RELEASES: Final = 5
BUDGET: Final = sd.ApproxDP(1, "1e-6")
HALF_OF_NORMAL: Final = 0.6745
"""Half of all normal draws are within so many deviations."""

ROWS_OF_IDS: Final = sd.table("t").enforce(
    sd.MaxGroupsPerID("g", 15), sd.MaxRowsPerGroupPerID("g", 1)
)
COUNTS_FIRST: Final = (
    sd
    .table("t")
    .enforce(sd.MaxGroupsPerID("g", 16), sd.MaxRowsPerGroupPerID("g", 1))
    .group_by("g")
    .agg(weights={"n": 4}, n=sd.count(), m=sd.mean("x", 0, 100))
)
"""Where counts weigh four times as much as means."""
NEW_WAY: Final = ROWS_OF_IDS.group_by("g").agg(n=sd.count(), m=sd.mean("x", 0, 100))


@final
@dataclass(frozen=True)
class Errors:
    """What some releases came to, in the middle of them."""

    relative: float
    """The median over the groups of |count - true count| / true count."""
    shown: float
    mean: float
    """The median over the groups that show of |mean - true mean|."""


@cache
def people(size: int) -> pa.Table:
    """Return rows of ten for each id on average."""
    generator = np.random.default_rng(3)
    likely = np.arange(1.0, GROUPS + 1) ** -0.8
    return pa.table({
        "id": generator.integers(0, size // 10, size),
        "g": generator.choice(GROUPS, size, p=likely / likely.sum()),
        "x": generator.uniform(0, 100, size),
    })


@cache
def truth(size: int) -> tuple[Floats, Floats]:
    """Return the true count and mean of each group."""
    groups = people(size).column("g").to_numpy()
    values = people(size).column("x").to_numpy()
    counts = np.bincount(groups, minlength=GROUPS).astype(float)
    return counts, np.bincount(groups, values, GROUPS) / np.maximum(counts, 1)


def opened(size: int) -> sd.Session:
    """Return a session whose budget is no limit."""
    facts = {"x": sd.Column("f64", nullable=False, nan=False)}
    rows = sd.PrivateTable(people(size), protects=sd.AddRowsWithID("id"), columns=facts)
    return sd.Session({"t": rows}, sd.ApproxDP(10**6, "0.5"))


def new_way(session: sd.Session) -> pa.Table:
    """Return one release of groups, counts and means."""
    return session.release(NEW_WAY, BUDGET).table


def counts_first(session: sd.Session) -> pa.Table:
    """Return one release in which counts weigh more than means."""
    return session.release(COUNTS_FIRST, BUDGET).table


def old_way(session: sd.Session) -> pa.Table:
    """Return groups, counts and means of three releases, each for a third."""
    third = sd.PureDP("1/3")
    asked = ROWS_OF_IDS.group_by("g").agg(noise="laplace", n=sd.count_ids())
    keys = session.release(asked, sd.ApproxDP("1/3", "1e-6")).table.column("g")
    groups = ROWS_OF_IDS.group_by(sd.KeySet.from_dict({"g": keys.to_pylist()}))
    counts: dict[str, Any] = {"n": sd.count()}
    means: dict[str, Any] = {"m": sd.mean("x", 0, 100)}
    found = session.release(groups.agg(noise="laplace", **counts), third).table
    mean = session.release(groups.agg(noise="laplace", **means), third).table
    return found.append_column("m", mean.column("m"))


@cache
def peer_errors(size: int = SIZE) -> Errors:
    """Return how far one release of PipelineDP was off."""
    import pipeline_dp as peer  # noqa: PLC0415 a peer, measured where it is installed

    spent = peer.NaiveBudgetAccountant(total_epsilon=1, total_delta=1e-6)
    asked = peer.AggregateParams(
        noise_kind=peer.NoiseKind.GAUSSIAN,
        metrics=[peer.Metrics.COUNT, peer.Metrics.MEAN],
        max_partitions_contributed=15,
        max_contributions_per_partition=1,
        min_value=0,
        max_value=100,
        partition_selection_strategy=peer.PartitionSelectionStrategy.GAUSSIAN_THRESHOLDING,
    )
    read = peer.DataExtractors(
        privacy_id_extractor=itemgetter(0),
        partition_extractor=itemgetter(1),
        value_extractor=itemgetter(2),
    )
    columns = (column.to_pylist() for column in people(size).columns)
    rows = list(zip(*columns, strict=True))
    answer = peer.DPEngine(spent, peer.LocalBackend()).aggregate(rows, asked, read)
    spent.compute_budgets()
    groups, told = zip(*answer, strict=True)
    table = pa.table({
        "g": groups,
        "n": [group.count for group in told],
        "m": [group.mean for group in told],
    })
    return Errors(*off(table, size))


@cache
def errors(way: Way, size: int = SIZE) -> Errors:
    """Return how far releases in one way were off."""
    session = opened(size)
    each = [off(way(session), size) for _ in range(RELEASES)]
    return Errors(*np.median(np.array(each), axis=0).tolist())


def off(answer: pa.Table, size: int) -> tuple[float, float, float]:
    """Return the errors of one release; a group that does not show is off by all."""
    counts, means = truth(size)
    shown = answer.column("g").to_numpy()
    relative = np.ones(GROUPS)
    apart = np.abs(answer.column("n").to_numpy() - counts[shown])
    relative[shown] = apart / np.maximum(counts[shown], 1)
    aside = np.abs(answer.column("m").to_numpy() - means[shown])
    return float(np.median(relative)), float(shown.size), float(np.median(aside))


def against_price(size: int = SIZE) -> float:
    """Return the error of the counts over what their price said before."""
    expected = opened(size).price(NEW_WAY, BUDGET).errors["n"].sd * HALF_OF_NORMAL
    counts, _ = truth(size)
    told = float(np.median(expected / np.maximum(counts, 1)))
    return errors(new_way, size).relative / told


@final
@dataclass(frozen=True, kw_only=True)
class Error:
    """One number of what a release came to, and the same of the old way."""

    what: str
    number: Callable[[Errors], float]
    unit: str
    floor: float
    better: Literal["less", "more"] = "less"
    way: Way = new_way
    goal: float | None = None

    def peer(self) -> float:
        """Return the number of the peer."""
        return self.number(peer_errors())

    def measure(self) -> Measured:
        """Release in all ways."""
        ours, old = self.number(errors(self.way)), self.number(errors(old_way))
        return Measured(
            what=self.what,
            ours=f"{ours:.3g} {self.unit}",
            peer=f"the old way {old:.3g}, {peer_number(self.peer, 'PipelineDP')}",
            ratio=ours,
            floor=self.floor,
            goal=self.goal,
            better=self.better,
            lost=lost_since(self.what, ours, self.better, 0.12),
        )


@final
@dataclass(frozen=True, kw_only=True)
class Told:
    """Whether the price told beforehand how far counts would be off."""

    what: str

    def measure(self) -> Measured:
        """Price, then release."""
        price = opened(SIZE).price(NEW_WAY, BUDGET)
        level = float(price.thresholds[0])
        return Measured(
            what=self.what,
            ours=f"sd {price.errors['n'].sd:.3g}, shown from {level:.3g}",
            peer="",
            ratio=against_price(),
            floor=1.2,
            goal=None,
            better="less",
        )


ROWS: tuple[Row, ...] = (
    Error(
        what="1000 unknown groups at (1, 1e-6): median error of the counts",
        number=lambda found: found.relative * 100,
        unit="%",
        floor=3.5,
    ),
    Error(
        what="the same, counts with four times the weight of means",
        number=lambda found: found.relative * 100,
        unit="%",
        floor=2.8,
        way=counts_first,
        goal=2.5,
    ),
    Error(
        what="1000 unknown groups at (1, 1e-6): groups that show",
        number=lambda found: found.shown,
        unit="",
        floor=990,
        better="more",
    ),
    Error(
        what="1000 unknown groups at (1, 1e-6): median error of means in [0, 100]",
        number=lambda found: found.mean,
        unit="",
        floor=3,
    ),
    Told(what="1000 unknown groups at (1, 1e-6): that error over what price said"),
)
