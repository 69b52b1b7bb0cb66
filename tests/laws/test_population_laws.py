"""Intervals of the population that rows were drawn from, and of two groups of it.

Every group of a table is one draw of rows, with noise of its own. A law that is true is
called false once in 1e9 runs (`FALSE_ALARM`).
"""

from collections.abc import Mapping
from functools import cache
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pytest
from numpy.typing import NDArray

import sordino as sd
from sordino.noise.sampling.bits import Bits
from sordino.release.independence import compare_tables, noise_of_counts
from tests.batches import for_each
from tests.effort import SEED, often
from tests.statistics import is_at_least, is_at_most

Floats = NDArray[np.float64]
GROUPS: Final = often(1_500, 15_000)
_EVEN: Final = (sd.PureDP(1), lambda rng, size: rng.uniform(0, 10, size), 5.0)
_SKEWED: Final = (
    sd.GaussianDP("1/2"),
    lambda rng, size: 10 * rng.beta(1, 4, size),
    2.0,
)
SHAPES: Final[Mapping[str, Any]] = {
    "even, Laplace, 80 rows": (80, *_EVEN),
    "even, Laplace, 1,000 rows": (1_000, *_EVEN),
    "skewed, Gaussian, 200 rows": (200, *_SKEWED),
    "skewed, Gaussian, 1,000 rows": (1_000, *_SKEWED),
}


@cache
def released(shape: str) -> sd.Release:
    size, budget, draw, mean = SHAPES[shape]
    rng = np.random.default_rng(3)
    x = draw(rng, (GROUPS, size))
    yes = rng.random((GROUPS, size)) < 0.1 * mean
    table = {
        "g": np.repeat(np.arange(GROUPS) // 2, size),
        "arm": np.repeat(np.arange(GROUPS) % 2, size),
        "x": x.ravel(),
        "yes": yes.ravel(),
    }
    facts = {
        "x": sd.Column("f64", nullable=False, nan=False),
        "yes": sd.Column("bool", nullable=False),
    }
    private = sd.PrivateTable(pa.table(table), sd.AddOneRow(), columns=facts)
    session = sd.Session({"t": private}, budget)
    keys: Any = sd.KeySet.from_dict({"g": list(range(GROUPS // 2)), "arm": [0, 1]})
    asked = sd.table("t").group_by(keys)
    request = asked.agg(
        n=sd.count(),
        m=sd.mean("x", 0, 10),
        v=sd.variance("x", 0, 10),
        p=sd.mean("yes"),
    )
    return session.release(request, budget, population=True)


def held(
    release: sd.Release, name: str, exact: float, times: float = 1
) -> NDArray[np.bool_]:
    """Whether intervals so many times as wide hold a number."""
    low, high = (
        release.errors[f"{name} {end}"].to_numpy(zero_copy_only=False)
        for end in ("low", "high")
    )
    middle, half = (low + high) / 2, times * (high - low) / 2
    # an interval that is not told excludes nothing
    return np.asarray(~((exact < middle - half) | (middle + half < exact)))


@for_each("shape", list(SHAPES))
@for_each("name", ["m", "p"])
def test_the_mean_of_the_population_is_held(shape: str, name: str) -> None:
    """In 93 to 98 of 100 draws, of means and of shares."""
    mean = SHAPES[shape][-1]
    inside = held(released(shape), name, mean if name == "m" else 0.1 * mean)
    assert is_at_least(inside, 0.94)
    assert is_at_most(inside, 0.98)


@for_each("shape", list(SHAPES))
@for_each("name", ["m", "p"])
def test_the_difference_of_two_groups_is_held(shape: str, name: str) -> None:
    """In 93 to 98 of 100 pairs of groups; the draw of one of both is too little."""
    release = released(shape).difference(name, arm=0)
    inside = held(release, f"{name} difference", 0)
    assert is_at_least(inside, 0.94)
    assert is_at_most(inside, 0.98)
    alone = held(release, f"{name} difference", 0, times=0.6)
    assert not is_at_least(alone, 0.94)


RATE: Final = 0.1
FRAMES: Final = {"few": (60, 1), "many": (2_000, 1), "with several rows": (400, 3)}


def sampled(size: int, most: int) -> tuple[sd.Release, Mapping[str, Any]]:
    """Counts of samples of a frame in each group, and the exact ones of the frames."""
    rng, groups = np.random.default_rng(5), GROUPS // 3
    rows = rng.integers(1, most + 1, (groups, size))
    drawn = rng.random(rows.shape) < RATE
    ids = np.arange(rows.size).reshape(rows.shape)
    table = {
        "id": np.repeat(ids[drawn], rows[drawn]),
        "g": np.repeat(ids[drawn] // size, rows[drawn]),
    }
    unit = sd.AddRowsWithID("id")
    private = sd.PrivateTable(pa.table(table), unit, sampled=str(RATE))
    session = sd.Session({"t": private}, sd.PureDP(2))
    keys: Any = sd.KeySet.from_dict({"g": list(range(groups))})
    asked = sd.table("t").enforce(sd.MaxRowsPerID(most)).group_by(keys)
    request = asked.agg(n=sd.count(), people=sd.count_ids())
    release = session.release(request, sd.PureDP(2))
    return release, {"n": rows.sum(axis=1), "people": np.full(groups, size)}


@for_each("people", list(FRAMES))
def test_the_frame_of_a_sample_is_held(people: str) -> None:
    """Counts hold all who might have been drawn; each group is a frame of its own.

    Means of groups are off by a fifth but once in 1e9 runs.
    """
    release, exact = sampled(*FRAMES[people])
    frame = release.estimate_frame()
    assert frame.holds == "for the population"
    for name, number in exact.items():
        inside = held(frame, name, number)
        assert is_at_least(inside, 0.93)
        # of rows of several the variance is bounded, and not known
        assert name == "n" or is_at_most(inside, 0.99)
        assert abs(frame[name].to_numpy().mean() / number.mean() - 1) < 0.2
    # planted: coins that are forgotten
    if people == "many":
        ends = (release.errors[f"people {end}"].to_numpy() for end in ("low", "high"))
        low, high = (end / RATE for end in ends)
        assert not is_at_least((low <= 2_000) & (high >= 2_000), 0.93)


def test_noise_alone_is_not_the_population() -> None:
    """Planted: an interval of the noise alone, of as many rows as drown it."""
    size, budget, draw, mean = SHAPES["even, Laplace, 1,000 rows"]
    x = draw(np.random.default_rng(3), (300, size))
    table = {"g": np.repeat(np.arange(300), size), "x": x.ravel()}
    facts = {"x": sd.Column("f64", nullable=False, nan=False)}
    private = sd.PrivateTable(pa.table(table), sd.AddOneRow(), columns=facts)
    session = sd.Session({"t": private}, budget)
    keys = sd.KeySet.from_dict({"g": list(range(300))})
    request = sd.table("t").group_by(keys).agg(n=sd.count(), m=sd.mean("x", 0, 10))
    errors = session.release(request, budget).errors
    low, high = errors["m low"].to_numpy(), errors["m high"].to_numpy()
    assert not is_at_least((low <= mean) & (mean <= high), 0.94)


def test_only_means_are_told() -> None:
    """The number of rows that were drawn says nothing of how many there are."""
    release = released("skewed, Gaussian, 200 rows")
    assert release.errors["n low"].null_count == GROUPS
    assert release.errors["v sd"].null_count == GROUPS
    assert release.errors["m low"].null_count < GROUPS
    assert "for the population" in str(release.select("m"))
    assert "draw of rows" in release.explain()
    made = release.with_columns(half=sd.col("m") / 2)
    assert made.holds == release.holds
    assert made.errors["half low"].null_count in {0, GROUPS}


COUNT, MEAN = sd.count(), sd.mean("x", 0, 10, nulls=0)


UNSAID: Final[dict[str, Any]] = {
    "no population": lambda release: release.difference("m", g=0),
    "computed": lambda release: release.with_columns(k=sd.col("n")).estimate_frame(),
    "no counts": lambda release: release.estimate_frame(),
    "groups that show": lambda release: release.estimate_frame(),
    "no sample": lambda release: release.estimate_frame(),
}


@for_each("name", list(UNSAID))
def test_what_says_nothing_of_a_population_is_refused(name: str) -> None:
    rows = pa.table({"id": [1, 2], "g": [0, 1], "x": [1.0, 2.0]})
    rate = None if name == "no sample" else "0.5"
    table = sd.PrivateTable(rows, sd.AddRowsWithID("id"), sampled=rate)
    session = sd.Session({"t": table}, sd.ApproxDP(1, "1e-3"), engine="memory")
    keys = "g" if name == "groups that show" else sd.KeySet.from_dict({"g": [0, 1]})
    asked = sd.table("t").enforce(sd.MaxRowsPerID(1)).group_by(keys)
    questions: dict[str, Any] = {"m": MEAN} | (
        {} if name == "no counts" else {"n": COUNT}
    )
    release = session.release(asked.agg(**questions), sd.ApproxDP(1, "1e-3"))
    with pytest.raises(sd.errors.InvalidQuery):
        UNSAID[name](release)


REFUSED: Final[dict[str, tuple[Any, Any, str]]] = {
    "no mean": (sd.AddOneRow(), {"n": COUNT}, "none is asked"),
    "no count": (sd.AddOneRow(), {"m": MEAN}, "their number"),
    "two rows": (sd.AddMaxRows(2), {"n": COUNT, "m": MEAN}, "independently"),
    "missing values": (
        sd.AddOneRow(),
        {"n": COUNT, "m": sd.mean("x", 0, 10, nulls="drop")},
        "without a value",
    ),
}


@for_each("name", list(REFUSED))
def test_refused(name: str) -> None:
    """Before the charge, by public facts."""
    unit, asked, said = REFUSED[name]
    table = sd.PrivateTable(pa.table({"x": [1.0, None]}), protects=unit)
    session = sd.Session({"t": table}, sd.PureDP(1), engine="memory")
    with pytest.raises(sd.errors.InvalidQuery, match=said):
        session.release(sd.table("t").agg(**asked), sd.PureDP(1), population=True)
    assert session.spent.epsilon == 0


TABLES: Final = often(400, 5_000)
DEVIATION: Final = 6.0


def draw_noise(tables: int, cells: int, bits: Any) -> Floats:
    del bits
    return np.random.default_rng([SEED, 31]).normal(0, DEVIATION, (tables, cells))


def rejected(size: int, dependence: float, draw: Any = draw_noise) -> Any:
    """Whether noisy tables of 3 x 4 cells are called dependent at 5 percent."""
    rng, cells = np.random.default_rng(9), (3, 4)
    found = []
    for _ in range(TABLES):
        rows, columns = (rng.dirichlet(np.full(k, 3.0)) for k in cells)
        chances = np.outer(rows, columns)
        uneven = 1 + dependence * rng.choice([-1, 1], cells)
        chances = chances * uneven / (chances * uneven).sum()
        table = rng.multinomial(size, chances.ravel()).reshape(cells).astype(float)
        noisy = table + rng.normal(0, DEVIATION, cells)
        _, p = compare_tables(noisy, DEVIATION, draw, draws=199)
        found.append(p <= 0.05)
    return np.array(found)


@for_each("size", [300, 2_000, 20_000])
def test_independent_keys_are_seldom_called_dependent(size: int) -> None:
    """In 5 of 100 tables, whatever the noise is beside the counts."""
    assert is_at_most(rejected(size, 0), 0.05)


def test_dependent_keys_are_found() -> None:
    assert is_at_least(rejected(20_000, 0.3), 0.95)


def test_noise_that_is_forgotten_is_taken_for_dependence() -> None:
    """Planted: tables without noise beside the noisy one."""
    nothing = rejected(2_000, 0, lambda tables, cells, _: np.zeros((tables, cells)))
    assert not is_at_most(nothing, 0.05)


@for_each("budget", [sd.PureDP("1/4"), sd.GaussianDP("1/4")])
def test_the_noise_that_is_put_in_is_that_of_the_release(budget: Any) -> None:
    """As wide as it is told to be, and not the same in two cells."""
    table = sd.PrivateTable(pa.table({"g": [0]}), protects=sd.AddOneRow())
    session = sd.Session({"t": table}, budget, engine="memory")
    keys = sd.KeySet.from_dict({"g": [0, 1]})
    release = session.release(sd.table("t").group_by(keys).agg(n=sd.count()), budget)
    deviation, draw = noise_of_counts(release.read_laws(), "n")
    assert deviation == pytest.approx(release.errors["n sd"][0].as_py(), rel=0.01)
    drawn = draw(20_000, 4, Bits())
    # of 80,000 squares the mean is off by a tenth once in far more than 1e9 times
    assert drawn.std() == pytest.approx(deviation, rel=0.05)
    related = np.corrcoef(drawn.T) - np.eye(4)
    assert np.abs(related).max() < 0.05


def clinic(unit: Any, keys: Any, **more: Any) -> sd.Release:
    rng = np.random.default_rng(1)
    rows = {"ward": rng.choice(["A", "B"], 4_000), "sex": rng.choice(["f", "m"], 4_000)}
    private = sd.PrivateTable(pa.table(rows), protects=unit)
    session = sd.Session({"t": private}, sd.ApproxDP(1, "1e-6"), engine="memory")
    request = sd.table("t").group_by(*keys).agg(n=sd.count(), **more)
    return session.release(request, sd.ApproxDP(1, "1e-6"))


FULL: Final = sd.KeySet.from_dict({"ward": ["A", "B"], "sex": ["f", "m"]})


def test_a_release_is_tested() -> None:
    """Of these rows p is 0.39, with a deviation of 0.03 by the noise."""
    test = clinic(sd.AddOneRow(), [FULL]).test_independence("sex", "ward")
    assert test.keys == ("sex", "ward")
    assert 0.1 < test.p < 0.8
    assert "the noise of the release taken into account" in str(test)


UNTESTED: Final[dict[str, tuple[Any, Any, str]]] = {
    "two rows": (sd.AddMaxRows(2), [FULL], "independently"),
    "keys that show": (sd.AddOneRow(), ["ward", "sex"], "not known, or cut"),
    "a part of the pairs": (
        sd.AddOneRow(),
        [sd.KeySet.from_tuples([("A", "f"), ("B", "m")], columns=("ward", "sex"))],
        "all pairs",
    ),
    "one key": (sd.AddOneRow(), ["ward"], "two keys"),
}


@for_each("name", list(UNTESTED))
def test_untested(name: str) -> None:
    unit, keys, said = UNTESTED[name]
    with pytest.raises(sd.errors.SordinoError, match=said):
        clinic(unit, keys).test_independence("ward", "sex")
