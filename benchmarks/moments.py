"""How good counts, sums, means and variances of one column are at equal privacy.

Each group holds a copy of the same number of rows, so one release is many samples.
PipelineDP is run as a package with the same groups, bounds and epsilon.
"""

import math
from collections.abc import Mapping
from fractions import Fraction
from functools import cache, partial
from operator import itemgetter
from typing import Any, Final, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

import sordino as sd
from benchmarks.frame import Figure, Row, cpu_seconds
from benchmarks.reached import Accuracy

Floats: TypeAlias = NDArray[np.float64]

ROWS_OF_GROUP: Final = 200
GROUPS: Final = 2000
PEER_GROUPS: Final = 400
PEER: Final = "PipelineDP"
WIDTH: Final = 100
BUDGET: Final = sd.ApproxDP(1, "1e-6")
NO_LIMIT: Final = sd.ApproxDP(10**7, "0.9")
FACTS: Final = {"x": sd.Column("f64", nullable=False, nan=False)}
STATISTICS: Final[Mapping[str, Any]] = {
    "count": sd.count(),
    "sum": sd.sum("x", 0, WIDTH),
    "mean": sd.mean("x", 0, WIDTH),
    "variance": sd.variance("x", 0, WIDTH),
}
UNITS: Final = {
    "count": 1.0,
    "sum": float(WIDTH),
    "mean": WIDTH / ROWS_OF_GROUP,
    "variance": WIDTH**2 / ROWS_OF_GROUP,
}
"""In what errors are told: widths of the range, over rows where it is no sum."""


@cache
def values(law: str, groups: int, rows: int = ROWS_OF_GROUP) -> Floats:
    """Return the values of each group."""
    generator = np.random.default_rng(1)
    if law == "uniform":
        return generator.uniform(0, WIDTH, (groups, rows))
    return WIDTH * generator.beta(2, 8, (groups, rows))


def truths(held: Floats) -> dict[str, Floats]:
    """Return the exact statistics of each group."""
    return {
        "count": np.full(len(held), held.shape[1], float),
        "sum": held.sum(axis=1),
        "mean": held.mean(axis=1),
        "variance": held.var(axis=1),
    }


def opened(held: Floats) -> sd.Session:
    """Return a session whose budget is no limit, over rows that protect each row."""
    groups, rows = held.shape
    table = pa.table({"g": np.repeat(np.arange(groups), rows), "x": held.ravel()})
    private = sd.PrivateTable(table, protects=sd.AddOneRow(), columns=FACTS)
    return sd.Session({"t": private}, NO_LIMIT)


def question(*, known: bool, names: tuple[str, ...] = tuple(STATISTICS)) -> sd.Request:
    """Return some statistics of each group."""
    keys: Any = sd.KeySet.from_dict({"g": list(range(GROUPS))}) if known else "g"
    asked = {name: STATISTICS[name] for name in names}
    return sd.table("t").group_by(keys).agg(**asked)


@cache
def errors(law: str, *, known: bool) -> dict[str, float]:
    """Return the root mean square errors of one release of all four statistics."""
    held = values(law, GROUPS)
    release = opened(held).release(question(known=known), BUDGET)
    shown = release["g"].to_numpy()
    return {
        name: rms(release[name].to_numpy() - exact[shown]) / UNITS[name]
        for name, exact in truths(held).items()
    }


def rms(off: Floats) -> float:
    """Return the root of the mean square."""
    return float(np.sqrt(np.mean(off**2)))


def expected(law: str) -> float:
    """Return the error of the variance over what its price told."""
    priced = opened(values(law, GROUPS)).price(question(known=True), BUDGET)
    told = priced.errors["variance"].sd / ROWS_OF_GROUP / UNITS["variance"]
    return errors(law, known=True)["variance"] / told


def shown_groups() -> float:
    """Return which share of groups of 17 rows a release of counts and means shows."""
    held = values("uniform", GROUPS, 17)
    asked = question(known=False, names=("count", "mean"))
    return len(opened(held).release(asked, BUDGET)) / GROUPS


@cache
def peer_errors() -> dict[str, float]:
    """Return the errors of PipelineDP, with Laplace noise and known groups."""
    import pipeline_dp as peer  # noqa: PLC0415 a peer, measured where it is installed

    held = values("uniform", PEER_GROUPS)
    rows = [
        (place, group, value)
        for group, each in enumerate(held.tolist())
        for place, value in enumerate(each, group * ROWS_OF_GROUP)
    ]
    spent = peer.NaiveBudgetAccountant(total_epsilon=1, total_delta=1e-6)
    metrics = peer.Metrics
    asked = peer.AggregateParams(
        noise_kind=peer.NoiseKind.LAPLACE,
        metrics=[metrics.COUNT, metrics.SUM, metrics.MEAN, metrics.VARIANCE],
        max_partitions_contributed=1,
        max_contributions_per_partition=1,
        min_value=0,
        max_value=WIDTH,
    )
    read = peer.DataExtractors(
        privacy_id_extractor=itemgetter(0),
        partition_extractor=itemgetter(1),
        value_extractor=itemgetter(2),
    )
    engine = peer.DPEngine(spent, peer.LocalBackend())
    public = list(range(PEER_GROUPS))
    answer = engine.aggregate(rows, asked, read, public_partitions=public)
    spent.compute_budgets()
    told = dict(answer)
    return {
        name: rms(np.array([getattr(told[g], name) for g in public]) - exact)
        / UNITS[name]
        for name, exact in truths(held).items()
    }


QUESTIONS: Final = 100
PEOPLE: Final = 4000


@cache
def survey() -> NDArray[np.int64]:
    """Return the answers of people to yes/no questions."""
    generator = np.random.default_rng(2)
    likely = generator.uniform(0.1, 0.9, QUESTIONS)
    return (generator.random((PEOPLE, QUESTIONS)) < likely).astype(np.int64)


def survey_error(*, shares: bool) -> float:
    """Return the error of the numbers or shares of yes of each question, in people."""
    answers = survey()
    names = [f"q{place}" for place in range(QUESTIONS)]
    facts = {name: sd.Column("i64", nullable=False, nan=False) for name in names}
    table = pa.table(dict(zip(names, answers.T, strict=True)))
    private = sd.PrivateTable(table, protects=sd.AddOneRow(), columns=facts)
    session = sd.Session({"t": private}, NO_LIMIT)
    ask = sd.mean if shares else sd.sum
    columns: dict[str, Any] = {name: ask(name, 0, 1) for name in names}
    asked = sd.table("t").agg(**columns)
    off = []
    for _ in range(10):
        told = session.release(asked, BUDGET).table.to_pylist()[0]
        off.append(np.array([told[name] for name in names]))
    exact = answers.mean(axis=0) * PEOPLE
    return rms(np.array(off) * (PEOPLE if shares else 1) - exact)


def filtered_error(count: int, budget: sd.Budget) -> float:
    """Return the deviation of filtered counts of one batch, as the price tells."""
    names = [f"q{place}" for place in range(count)]
    private = sd.PrivateTable({name: [0] for name in names}, sd.AddOneRow())
    asked = {
        name: sd.table("t").filter(sd.col(name) == 1).agg(n=sd.count())
        for name in names
    }
    batch = sd.Session({"t": private}, NO_LIMIT).price_all(asked, budget)
    return float(batch.prices[names[-1]].errors["n"].sd)


def adaptive_error(limit: Any) -> float:
    """Return the deviation of counts that are asked one by one, of which 100 fit."""
    private = sd.PrivateTable({"q": [0]}, sd.AddOneRow())
    session = sd.Session({"t": private}, limit)
    price = session.price(
        sd.table("t").agg(n=sd.count()), session.share(Fraction(1, QUESTIONS))
    )
    if price.headroom is None or (price.headroom.more or 0) < QUESTIONS:
        return math.inf
    return float(price.errors["n"].sd)


def counts_error() -> float:
    """Return the error of 100 counts of known groups, each person in all of them."""
    table = pa.table({
        "id": np.repeat(np.arange(PEOPLE), QUESTIONS),
        "g": np.tile(np.arange(QUESTIONS), PEOPLE),
    })
    private = sd.PrivateTable(table, protects=sd.AddRowsWithID("id"))
    session = sd.Session({"t": private}, NO_LIMIT)
    keys = sd.KeySet.from_dict({"g": list(range(QUESTIONS))})
    limits = sd.MaxGroupsPerID("g", QUESTIONS), sd.MaxRowsPerGroupPerID("g", 1)
    asked = sd.table("t").enforce(*limits).group_by(keys).agg(n=sd.count())
    told = [session.release(asked, BUDGET)["n"].to_numpy() for _ in range(10)]
    return rms(np.array(told) - PEOPLE)


def batch_seconds(*, known: bool) -> float:
    """Return the CPU time of pricing a hundred requests together.

    Counts of all rows, or counts and means of groups that nobody named beforehand.
    """
    session = opened(values("uniform", 10))
    names = ("count",) if known else ("count", "mean")
    asked = {name: STATISTICS[name] for name in names}
    rows = [sd.table("t").filter(sd.col("x") > place) for place in range(QUESTIONS)]
    requests = {
        f"above {place}": one.agg(**asked) if known else one.group_by("g").agg(**asked)
        for place, one in enumerate(rows)
    }
    session.price_all(requests, BUDGET)
    return cpu_seconds(lambda: session.price_all(requests, BUDGET), 1)


def columns_seconds() -> float:
    """Return the CPU time of pricing a hundred counts and means, each of a column."""
    names = [f"x{place}" for place in range(QUESTIONS)]
    facts = dict.fromkeys(names, FACTS["x"])
    table = pa.table({"g": [0], **{name: [0.5] for name in names}})
    private = sd.PrivateTable(table, protects=sd.AddOneRow(), columns=facts)
    session = sd.Session({"t": private}, NO_LIMIT)
    requests = {
        name: sd
        .table("t")
        .group_by("g")
        .agg(count=sd.count(), mean=sd.mean(name, 0, WIDTH))
        for name in names
    }
    session.price_all(requests, BUDGET)
    return cpu_seconds(lambda: session.price_all(requests, BUDGET), 1)


FEW: Final = 50
"""Rows of groups so small that their mean errs much."""
FEWEST: Final = 3
"""Noisy counts below are no divisors."""


def errors_of_variances(rows: Floats) -> Floats:
    """Return draws of what noise of scale 1 does to a variance of values in [0, 1]."""
    generator = np.random.default_rng(3)
    lower, middle, upper = generator.laplace(size=(3, 400_000))
    count = rows.size + lower + middle + upper
    first = rows.sum() + middle / 2 + upper
    off = ((rows**2).sum() + upper) / count - (first / count) ** 2 - rows.var()
    return np.asarray(off[count > FEWEST])


def width_of_variances(law: str) -> float:
    """Return the width of intervals over the least that knows the law of the error.

    Those have even tails or even reach, and are cut to the public range as ours are.
    """
    rows = values(law, 1, FEW)
    release = opened(np.tile(rows, (GROUPS, 1))).release(
        question(known=True), sd.PureDP(1)
    )
    high, low = (
        release.errors[f"variance {end}"].to_numpy() for end in ("high", "low")
    )
    off = errors_of_variances(rows / WIDTH)
    told = rows.var() / WIDTH**2 + off[:, None]
    reach = float(np.quantile(np.abs(off), 0.95))
    ends = [np.quantile(off, (0.025, 0.975)), np.array([-reach, reach])]
    least = min(
        float(np.clip(told - end, 0, 0.25).mean(axis=0) @ (1, -1)) for end in ends
    )
    return float(np.mean(high - low)) / WIDTH**2 / least


def four(name: str, unit: str, floor: float, goal: float) -> Accuracy:
    """Return the row of one of the four statistics, beside the peer."""
    return Accuracy(
        what=f"count, sum, mean, variance at epsilon 1, known groups: error of {name}",
        ours=lambda: errors("uniform", known=True)[name],
        unit=unit,
        floor=floor,
        goal=goal,
        peer=lambda: peer_errors()[name],
        against=PEER,
    )


ROWS: tuple[Row, ...] = (
    four("count", "", 2.75, 2.5),
    four("sum", "R", 1.85, 1.65),
    four("mean", "R/n", 1.2, 1.05),
    four("variance", "R^2/n", 0.75, 0.62),
    Accuracy(
        what="the same, Beta(2, 8) values: error of variance",
        ours=lambda: errors("Beta(2, 8)", known=True)["variance"],
        unit="R^2/n",
        floor=1.2,
        goal=1.0,
    ),
    Accuracy(
        what="the same, Beta(2, 8) values: error of variance over its price",
        ours=lambda: expected("Beta(2, 8)"),
        unit="",
        floor=1.2,
        goal=1.1,
    ),
    Accuracy(
        what="the same, unknown groups at (1, 1e-6): error of mean",
        ours=lambda: errors("uniform", known=False)["mean"],
        unit="R/n",
        floor=1.2,
        goal=1.05,
    ),
    Accuracy(
        what="count and mean, unknown groups at (1, 1e-6): groups of 17 shown",
        ours=shown_groups,
        unit="",
        floor=0.4,
        goal=0.5,
        better="more",
    ),
    Accuracy(
        what="100 yes/no questions at (1, 1e-6): error of the numbers of yes",
        ours=lambda: survey_error(shares=False),
        unit="people",
        floor=34,
        goal=23.5,
        tolerance=0.2,
    ),
    Accuracy(
        what="100 yes/no questions at (1, 1e-6): error of the shares of yes, times n",
        ours=lambda: survey_error(shares=True),
        unit="people",
        floor=25,
        goal=22.5,
    ),
    Accuracy(
        what="100 known groups, an id in all, at (1, 1e-6): error of the counts",
        ours=counts_error,
        unit="",
        floor=34,
        goal=23.5,
        tolerance=0.2,
    ),
    Accuracy(
        what="100 filtered counts of one batch at (1, 1e-6): sd (apart: 41.6)",
        ours=lambda: filtered_error(100, BUDGET),
        unit="",
        floor=25,
        goal=23.5,
        tolerance=0.01,
    ),
    Accuracy(
        what="20 filtered counts of one batch, pure epsilon 1: sd (apart: 28.3)",
        ours=lambda: filtered_error(20, sd.PureDP(1)),
        unit="",
        floor=18,
        goal=17.5,
        tolerance=0.01,
    ),
    Accuracy(
        what="100 adaptive counts as shares of (1, 1e-6): sd (as asked: 141)",
        ours=lambda: adaptive_error(BUDGET),
        unit="",
        floor=50,
        goal=42.5,
        tolerance=0.01,
    ),
    Accuracy(
        what="100 adaptive counts as shares of the same, stated to be counted by mu",
        ours=lambda: adaptive_error(sd.Limit.of(BUDGET, counting="gaussian")),
        unit="",
        floor=50,
        goal=42.5,
        tolerance=0.01,
    ),
    Figure(
        what="a hundred requests priced together",
        figure=lambda: batch_seconds(known=True),
        unit="s",
        floor=1.0,
    ),
    *(
        Accuracy(
            what=f"95 % intervals of variances of 50 rows, {law}: width over exact",
            ours=partial(width_of_variances, law),
            unit="",
            floor=1.2,
            goal=1.1,
        )
        for law in ("uniform", "Beta(2, 8)")
    ),
    Figure(
        what="a hundred counts and means of a hundred columns priced together",
        figure=columns_seconds,
        unit="s",
        floor=1.0,
    ),
    Figure(
        what="a hundred counts and means of unknown groups priced together",
        figure=lambda: batch_seconds(known=False),
        unit="s",
        floor=1.0,
    ),
)
