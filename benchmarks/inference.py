"""How often intervals of what follows from answers hold, and how wide they are.

Each number is in points from 95: how far the share of intervals that hold lies from it,
for the worst of all shapes. Regressions at mu = 1/4; all else at epsilon 1/3, of sums
of ones, whose noise is of no lattice: on integers intervals hold more often.
"""

from collections.abc import Callable, Iterator
from typing import Final, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

import sordino as sd
from benchmarks.frame import Figure, Row

Floats: TypeAlias = NDArray[np.float64]
COMPLETE: Final = sd.Column("f64", nullable=False, nan=False)
GROUPS: Final = 2_000
QUOTIENTS: Final = (
    (9, 18),
    (30, 100),
    (50, 1000),
    (500, 1000),
    (5, 1000),
    (200, 300),
    (40, 15),
)
"""Shapes of two counts, from noise as large as a third of one to hardly any."""


def predictors(shape: str, rng: np.random.Generator, rows: int, few: int) -> Floats:
    """Return predictors and an answer, each from -1 to 1."""
    if shape == "even":
        x = rng.uniform(-1, 1, (rows, few))
    elif shape == "narrow":
        mixed = np.eye(few) * 0.8 + 0.2 / few
        x = np.clip(rng.normal(0, 0.3, (rows, few)) @ mixed, -1, 1)
    else:
        x = np.clip(rng.lognormal(-2, 1, (rows, few)), 0, 1) * 2 - 1
        x[:, -1] = np.where(rng.random(rows) < 0.2, 1, -1)
    slopes = 0.6 / few * np.resize([1, -1], few)
    y = 0.1 + x @ slopes + rng.normal(0, 0.15, rows)
    return np.column_stack([x, np.clip(y, -1, 1)])


def regression_that_holds(  # noqa: PLR0914 one table after the other
    shape: str, few: int, rows: int
) -> float:
    """Return the share of coefficients of rows that lie in their intervals."""
    tables = max(200, 900_000 // rows)
    cells = predictors(shape, np.random.default_rng(3), rows * tables, few)
    names = [*(f"x{place}" for place in range(few)), "y"]
    columns = dict(zip(names, cells.T, strict=True))
    groups = np.repeat(np.arange(tables), rows)
    private = sd.PrivateTable(
        pa.table({"g": groups, **columns}),
        protects=sd.AddOneRow(),
        columns=dict.fromkeys(names, COMPLETE),
    )
    session = sd.Session({"t": private}, sd.GaussianDP(1))
    keys = sd.KeySet.from_dict({"g": list(range(tables))})
    question = sd.covariance(names, dict.fromkeys(names, (-1, 1)))
    request = sd.table("t").group_by(keys).agg(c=question)
    release = session.release(request, sd.GaussianDP("1/4"))
    errors = release.regression("y", names[:-1]).errors
    low, high = (
        errors[f"estimate {end}"].to_numpy(zero_copy_only=False).reshape(tables, -1)
        for end in ("low", "high")
    )
    x = np.column_stack([np.ones(len(cells)), cells[:, :-1]])
    parts = zip(np.split(x, tables), np.split(cells[:, -1], tables), strict=True)
    exact = np.array([np.linalg.lstsq(a, b, rcond=None)[0] for a, b in parts])
    return float(((low <= exact) & (exact <= high))[~np.isnan(low)].mean())


def regressions_that_hold() -> Iterator[float]:
    """Yield that share for each shape."""
    shapes = (
        *(("even", 1, 1_000), ("even", 5, 3_000), ("narrow", 1, 3_000)),
        *(("skewed", 1, 2_000), ("skewed", 5, 12_000)),
    )
    for shape, few, rows in shapes:
        yield regression_that_holds(shape, few, rows)


def counts() -> Iterator[tuple[sd.Release, float, float]]:
    """Yield releases of pairs of counts, and the exact ones."""
    for first, second in QUOTIENTS:
        kinds = np.repeat(["a", "b"], [first, second])
        cells = {
            "g": np.repeat(np.arange(GROUPS), first + second),
            "k": np.tile(kinds, GROUPS),
            "x": np.ones(GROUPS * (first + second)),
        }
        private = sd.PrivateTable(
            pa.table(cells), protects=sd.AddOneRow(), columns={"x": COMPLETE}
        )
        session = sd.Session({"t": private}, sd.PureDP(10))
        keys = sd.KeySet.from_dict({"g": list(range(GROUPS)), "k": ["a", "b"]})
        request = sd.table("t").group_by(keys).agg(n=sd.sum("x", 0, 1))
        yield session.release(request, sd.PureDP("1/3")), float(first), float(second)


def quotients() -> Iterator[tuple[Floats, Floats, float]]:
    """Yield two answers of each group, the ends of their quotient, the exact one."""
    for release, first, second in counts():
        ratio = sd.col("n") / sd.col("n before")
        told = release.with_baseline(k="b").with_columns(r=ratio)
        ends = (
            told.errors[f"r {end}"].to_numpy(zero_copy_only=False)
            for end in ("low", "high")
        )
        answers = (told[name].to_numpy() for name in ("n", "n before"))
        yield np.stack(list(answers)), np.stack(list(ends)), first / second


def quotients_that_hold() -> Iterator[float]:
    """Yield the share of quotients of two groups that lie in their intervals."""
    for _, (low, high), exact in quotients():
        yield float((~((exact < low) | (high < exact))).mean())


def reached_by_noise(answers: Floats, quotient: Floats) -> NDArray[np.bool_]:
    """Say where a - r b is what noise of scale 3 reaches more often than 1 in 20."""
    top, bottom = answers
    u, v = 3.0, 3.0 * np.abs(quotient) * (1 + 1e-9)  # two Laplace scales that differ
    off = np.abs(top - quotient * bottom)
    beyond = u**2 * np.exp(-off / u) - v**2 * np.exp(-off / v)
    return np.asarray(beyond / (u**2 - v**2) >= 0.05)


def width_of_fieller(answers: Floats) -> Floats:
    """Return how wide Fieller's intervals of quotients are, where they have ends."""
    ends = []
    for side in (-1, 1):
        near = answers[0] / answers[1]
        far = near + side * 2.0**10
        for _ in range(60):
            middle = (near + far) / 2
            holds = reached_by_noise(answers, middle)
            near, far = np.where(holds, middle, near), np.where(holds, far, middle)
        ends.append(near)
    width: Floats = ends[1] - ends[0]
    return width


def width_over_fieller() -> float:
    """Return how wide intervals of quotients are over Fieller's, of the worst shape."""
    return max(
        float(np.median(((high - low) / width_of_fieller(answers))[np.isfinite(high)]))
        for answers, (low, high), _ in quotients()
    )


def sums_that_hold() -> Iterator[float]:
    """Yield the share of sums over groups that lie in their intervals."""
    for release, first, second in counts():
        errors = release.add_up("g").errors
        low, high = errors["n low"].to_numpy(), errors["n high"].to_numpy()
        yield float(((low <= first + second) & (first + second <= high)).mean())


def farthest(shares: Callable[[], Iterator[float]]) -> Callable[[], float]:
    """Return how many points the worst share lies from 95."""
    return lambda: max(abs(100 * share - 95) for share in shares())


ROWS: Final[tuple[Row, ...]] = (
    Figure(
        what="regressions at mu 1/4, five shapes: intervals that hold, from 95 %",
        figure=farthest(regressions_that_hold),
        unit="points",
        floor=2.5,
        goal=1.7,
    ),
    Figure(
        what="quotients of two groups, seven shapes: intervals that hold, from 95 %",
        figure=farthest(quotients_that_hold),
        unit="points",
        floor=2.5,
        goal=2.0,
    ),
    Figure(
        what="quotients of two groups, seven shapes: width over Fieller's",
        figure=width_over_fieller,
        unit="times",
        floor=1.1,
        goal=1.05,
    ),
    Figure(
        what="sums of two groups, seven shapes: intervals that hold, from 95 %",
        figure=farthest(sums_that_hold),
        unit="points",
        floor=2.5,
        goal=2.0,
    ),
)
