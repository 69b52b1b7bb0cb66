"""Covariances: what a row adds, what it costs, and what regressions say of it.

A law of intervals that is true is called false once in 1e9 runs (`FALSE_ALARM`).
"""

import json
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import Any, Final, cast

import numpy as np
import pyarrow as pa
import pytest
from numpy.typing import NDArray

import sordino as sd
from sordino.kernel import checker
from sordino.plan.purchase import best_purchase
from sordino.release.inference import NoisyMoments
from sordino.session.tables import open_catalog
from tests.batches import for_each
from tests.cases import ENGINES
from tests.effort import often
from tests.statistics import is_at_least, is_at_most

Floats = NDArray[np.float64]
BOUNDS: Final = {"x": (18, 99), "y": (-0.5, 2)}
NAMES: Final = ["x", "y", "yes"]
QUIET: Final = sd.GaussianDP(10**9)
ROWS: Final[dict[str, list[Any]]] = {
    "g": ["a", "a", "a", "a", "b", "b", "b", "b", "b"],
    "x": [18, 99, 40, 120, 7, 31, None, 64, 50],
    "y": [0.25, -3.0, 2.0, float("nan"), 1.5, 0.0, 1.0, -0.5, 0.1],
    "yes": [True, False, True, True, False, True, True, None, False],
}
"""Values beyond the bounds, and rows that lack one."""


def complete(group: str) -> Floats:
    """Return the rows of a group that have all values, clamped."""
    listed = zip(*(ROWS[name] for name in ("g", *NAMES)), strict=True)
    kept = [
        (min(max(x, 18), 99), min(max(y, -0.5), 2.0), float(yes))
        for g, x, y, yes in listed
        if g == group and x is not None and y == y and yes is not None  # noqa: PLR0124 NaN is not itself
    ]
    return np.array(kept)


@for_each("engine", ["memory", "duckdb"])
def test_sums_are_of_the_same_rows(engine: Any) -> None:
    """For any engine: a row that lacks a value is in no sum, the others are in all."""
    table = sd.PrivateTable(pa.table(ROWS), protects=sd.AddOneRow())
    session = sd.Session({"t": table}, QUIET, engine=engine)
    keys = sd.KeySet.from_dict({"g": ["a", "b"]})
    asked = sd.covariance(NAMES, BOUNDS, nulls="drop")
    release = session.release(sd.table("t").group_by(keys).agg(c=asked), QUIET)
    for group, row in zip("ab", release.table.to_pylist(), strict=True):
        rows = complete(group) - [58.5, 0.75, 0.5]
        assert row["c"] == pytest.approx(len(rows), abs=1e-4)
        for i, one in enumerate(NAMES):
            assert row[f"c: {one}"] == pytest.approx(rows[:, i].sum(), abs=0.05)
            for j, other in enumerate(NAMES[i:], i):
                told = row[f"c: {one} * {other}"]
                assert told == pytest.approx((rows[:, i] * rows[:, j]).sum(), abs=2)


def test_coverage_counts_rows_with_a_value_outside() -> None:
    """Once each, whichever of their values it is."""
    table = sd.PrivateTable(pa.table(ROWS), protects=sd.AddOneRow())
    session = sd.Session({"t": table}, QUIET, engine="memory")
    asked = sd.covariance(NAMES, BOUNDS, nulls="drop")
    release = session.release(sd.table("t").agg(c=asked, coverage=True), QUIET)
    assert release.coverage is not None
    counted = release.coverage.to_pylist()
    assert [row["count"] for row in counted if row["kind"] == "clamped"] == [3]
    assert "x from 18 to 99; y from -0.5 to 2" in release.limits


def measured(names: list[str], unit: Any) -> Any:
    """Return the purchase of a covariance for rows without groups."""
    facts = {"x": sd.Column("i64"), "y": sd.Column("f64"), "yes": sd.Column("bool")}
    facts = {name: replace(facts[name], nullable=False, nan=False) for name in facts}
    rows = {name: [1] for name in ("x", "id")} | {"y": [0.5], "yes": [True]}
    table = sd.PrivateTable(pa.table(rows), protects=unit, columns=facts)
    catalog = open_catalog(ENGINES["memory"](), {"t": table})
    query = sd.table("t")
    if unit.id_column is not None:
        query = query.enforce(sd.MaxRowsPerID(3))
    bounds = {name: ends for name, ends in BOUNDS.items() if name in names}
    request = query.agg(c=sd.covariance(names, bounds))
    return best_purchase(request, catalog, sd.GaussianDP(1))


def vector(measurement: Any, row: Mapping[str, Any]) -> Floats:
    """Return what a row adds to the numbers that are measured."""
    totals = [
        total.factor * total.expression.value(row) + total.shift
        for total in measurement.totals
    ]
    return np.asarray(np.array(totals) / 2.0**25, np.float64)


@for_each("names", [["x"], ["y", "yes"], ["x", "y", "yes"], ["yes", "x"]])
def test_no_row_adds_more_than_is_priced(names: list[str]) -> None:
    """For any values of a row; and at the corners it is that, but for a rounding."""
    purchase, rng = measured(names, sd.AddOneRow()), np.random.default_rng(2)
    (measurement,) = purchase.plan.measurements.values()
    drawn = [
        {"x": int(x), "y": float(y), "yes": bool(yes)}
        for x, y, yes in zip(
            rng.choice([-(2**63), 17, 18, 58, 59, 99, 2**62], 200),
            rng.choice([-np.inf, -0.5, 0.75, 0.7500001, 2, 1e308], 200),
            rng.integers(0, 2, 200),
            strict=True,
        )
    ]
    longest = max(np.sqrt((vector(measurement, row) ** 2).sum()) for row in drawn)
    priced, p = float(measurement.change.l2), len(names)
    assert priced * 0.98 < longest <= priced * (1 + 1e-12)
    assert priced**2 <= 1 + p + p * (p - 1) / 2 + p / 4


@for_each("unit", [sd.AddMaxRows(2), sd.ChangeOneRow(), sd.AddRowsWithID("id")])
def test_several_rows_of_a_unit_add_up(unit: Any) -> None:
    (measurement,) = measured(["x", "yes"], unit).plan.measurements.values()
    (alone,) = measured(["x", "yes"], sd.AddOneRow()).plan.measurements.values()
    rows = 3 if unit.id_column is not None else 2
    assert float(measurement.change.l2) == pytest.approx(rows * float(alone.change.l2))
    # one group may hold all of it: no single number stands for what moves there
    assert measurement.change.linf == measurement.change.l2


def test_the_kernel_finds_the_price() -> None:
    """A charge that is a thousandth too small is refused, and the price is not."""
    session = sd.Session(
        {"t": sd.PrivateTable(pa.table(ROWS), protects=sd.AddMaxRows(3))},
        sd.GaussianDP(1),
        engine="memory",
    )
    asked = sd.covariance(NAMES, BOUNDS, nulls="drop")
    release = session.release(sd.table("t").agg(c=asked), sd.GaussianDP("1/4"))
    body = json.loads(release.proof)
    checker.check(json.dumps(body))
    body["charge"]["mu_squared"] = "624/10000"
    with pytest.raises(checker.Refused):
        checker.check(json.dumps(body))


def test_what_one_group_holds_is_priced_where_keys_show() -> None:
    """A key that both databases have may hold all that a unit moves."""
    table = sd.PrivateTable(pa.table(ROWS), protects=sd.AddMaxRows(3))
    session = sd.Session({"t": table}, sd.ApproxDP(1, "1e-6"), engine="memory")
    asked = sd.covariance(NAMES, BOUNDS, nulls="drop")
    request = sd.table("t").group_by("g").agg(n=sd.count(), c=asked)
    release = session.release(request, sd.ApproxDP(1, "1e-6"))
    assert release.names[0] == "n"
    assert session.spent == sd.ApproxDP(1, "1e-6")
    assert not len(release) or release.regression("y", ["x"]).keys == ("g", "term")


REPETITIONS: Final = often(1_500, 20_000)
SHAPES: Final = {"even": 4_000, "narrow": 6_000, "rare": 4_000}
"""Rows of each shape of predictors."""


def drawn(shape: str, rng: np.random.Generator) -> Floats:
    """Return a constant, two predictors and an answer, each from -1 to 1."""
    n = SHAPES[shape]
    if shape == "even":
        x = rng.uniform(-1, 1, (n, 2))
    elif shape == "narrow":
        one = rng.normal(0, 0.3, n)
        x = np.clip(np.c_[one, 0.6 * one + rng.normal(0, 0.25, n)], -1, 1)
    else:
        x = np.c_[np.clip(rng.lognormal(-2, 1, n), 0, 1) * 2 - 1, rng.random(n) < 0.15]
        x[:, 1] = 2 * x[:, 1] - 1
    y = 0.05 + 0.75 * x[:, 0] - 0.15 * x[:, 1] + rng.normal(0, 0.1, n)
    rows: Floats = np.column_stack([np.ones(n), x, np.clip(y, -1, 1)])
    return rows


@cache
def noisy(shape: str) -> tuple[NoisyMoments, Floats, Floats]:
    """Noisy matrices of many tables; coefficients of each, and of the population."""
    names = ["x", "z", "y"]
    facts = dict.fromkeys(names, sd.Column("f64", nullable=False, nan=False))
    table = sd.PrivateTable(
        pa.table({name: [0.5] for name in names}), sd.AddOneRow(), columns=facts
    )
    session = sd.Session({"t": table}, sd.GaussianDP(1), engine="memory")
    asked = sd.covariance(names, dict.fromkeys(names, (-1, 1)))
    release = session.release(sd.table("t").agg(c=asked), sd.GaussianDP("1/4"))
    known = release.read_moments()
    assert known is not None
    moments, rng = known["c"], np.random.default_rng(8)
    matrices, slopes = [], []
    for _ in range(REPETITIONS):
        rows = drawn(shape, rng)
        exact = rows.T @ rows
        slopes.append(np.linalg.solve(exact[:3, :3], exact[:3, 3]))
        z = rng.normal(0, moments.spread, moments.forms.shape[2])
        matrices.append(exact + moments.forms @ z)
    # the slopes of the population, to a hundredth of their deviations
    return (
        replace(moments, matrices=np.array(matrices)),
        np.array(slopes),
        np.mean(slopes, axis=0),
    )


def held(told: list[Any], exact: Floats) -> NDArray[np.bool_]:
    """Whether intervals hold, of the tables of which anything is told."""
    low, high = (
        np.array([getattr(bars, end) for _, bars in told]) for end in ("low", "high")
    )
    inside = (low <= exact) & (exact <= high)
    return np.asarray(inside[~np.isnan(low)])


@for_each("shape", list(SHAPES))
@for_each("population", [False, True])
def test_coefficients_are_held(shape: str, population: bool) -> None:  # noqa: FBT001 a case
    """Those of the rows, or of the population, in 93 to 97 of 100 tables."""
    moments, ofrows, of_all = noisy(shape)
    told = moments.regress("y", ["x", "z"], population=population)
    inside = held(told, np.broadcast_to(of_all, ofrows.shape) if population else ofrows)
    assert len(inside) > REPETITIONS  # hardly any table is too small
    assert is_at_least(inside, 0.94)
    assert is_at_most(inside, 0.965)


@for_each("shape", list(SHAPES))
def test_correlations_are_held(shape: str) -> None:
    moments, _, _ = noisy(shape)
    exact = []
    rng = np.random.default_rng(8)
    for _ in range(REPETITIONS):
        rows = drawn(shape, rng)
        exact.append(np.corrcoef(rows[:, 1], rows[:, 3])[0, 1])
        rng.normal(0, 1, moments.forms.shape[2])
    inside = held(moments.correlate([("x", "y")]), np.array(exact)[:, None])
    assert len(inside) == REPETITIONS
    assert is_at_least(inside, 0.94)
    assert is_at_most(inside, 0.97)


def test_what_hides_in_the_noise_is_not_told() -> None:
    """Of a column that hardly varies there is neither slope nor correlation."""
    rng, n = np.random.default_rng(1), 3_000
    table = {"x": rng.normal(0, 0.01, n), "y": rng.random(n), "z": rng.random(n)}
    facts = dict.fromkeys(table, sd.Column("f64", nullable=False, nan=False))
    private = sd.PrivateTable(pa.table(table), sd.AddOneRow(), columns=facts)
    session = sd.Session({"t": private}, sd.GaussianDP(1))
    asked = sd.covariance(["x", "y", "z"], dict.fromkeys(table, (-1, 1)))
    release = session.release(sd.table("t").agg(c=asked), sd.GaussianDP("1/4"))
    slopes = release.regression("y", ["x"])
    assert slopes["estimate"].null_count == 2
    assert any("cannot be told" in note for note in slopes.notes)
    assert release.correlation(["x", "y"])["estimate"].null_count == 1
    assert release.components(["x", "y"])["share"].null_count == 2
    assert release.regression("y", ["z"])["estimate"].null_count == 0


@cache
def quiet() -> tuple[sd.Release, dict[str, Floats]]:
    """A release with hardly any noise of two groups, and the columns."""
    rng, n = np.random.default_rng(4), 500
    x, z = rng.uniform(18, 99, n), rng.random(n) < 0.3
    y = np.clip(5 + 0.2 * x - 3 * z + rng.normal(0, 2, n), 0, 40)
    rows = {"g": np.repeat([0, 1], n // 2), "x": x, "z": z, "y": y}
    private = sd.PrivateTable(pa.table(rows), protects=sd.AddOneRow())
    session = sd.Session({"t": private}, QUIET)
    asked = sd.covariance(["x", "z", "y"], {"x": (18, 99), "y": (0, 40)}, nulls="drop")
    keys = sd.KeySet.from_dict({"g": [0, 1]})
    return session.release(sd.table("t").group_by(keys).agg(c=asked), QUIET), rows


def test_without_noise_a_regression_is_that_of_least_squares() -> None:
    """In the units of the columns, of each group, in the order that was asked."""
    release, rows = quiet()
    told = release.regression("y", ["z", "x"], population=True)
    assert told.table.column_names == ["g", "term", "estimate"]
    assert told["term"].to_pylist() == ["(constant)", "z", "x"] * 2
    estimates = told["estimate"].to_numpy().reshape(2, 3)
    sds = told.errors["estimate sd"].to_numpy().reshape(2, 3)
    for group in (0, 1):
        there = rows["g"] == group
        x = np.c_[np.ones(len(there)), rows["z"], rows["x"]][there]
        slopes, left, *_ = np.linalg.lstsq(x, rows["y"][there], rcond=None)
        spread = np.linalg.inv(x.T @ x) * left / (len(x) - 3)
        assert estimates[group] == pytest.approx(slopes, rel=0.01)
        assert sds[group] == pytest.approx(np.sqrt(np.diag(spread)), rel=0.01)
    assert "95% for the population" in str(told)
    assert "95% of the noise" in str(release.regression("y", ["x"]))


def test_without_noise_correlations_and_components_are_exact() -> None:
    release, rows = quiet()
    related = release.correlation(["x", "y"])["estimate"].to_numpy()
    groups = [rows["g"] == group for group in (0, 1)]
    exact = [np.corrcoef(rows["x"][g], rows["y"][g])[0, 1] for g in groups]
    assert related == pytest.approx(exact, abs=0.002)
    parts = release.components(["x", "y"])
    assert parts["component"].to_pylist() == [1, 2, 1, 2]
    assert parts["share"].to_pylist()[0] == pytest.approx((1 + exact[0]) / 2, abs=0.002)
    assert parts["x"].to_pylist()[0] == pytest.approx(0.5**0.5, abs=0.01)


REFUSED: Final[dict[str, tuple[Any, str]]] = {
    "a text": (lambda r: r.regression("y", ["name"]), "columns of one covariance"),
    "of itself": (lambda r: r.regression("y", ["y"]), "different"),
    "nothing": (lambda r: r.components([]), "different columns"),
    "no list": (lambda r: r.regression("y", 3), "predictors"),
    "a list in a list": (lambda r: r.correlation([["x"], "y"]), "columns"),
    "computed": (lambda r: r.with_columns(w=sd.col("c")).components(["w"]), "one cov"),
    "of a file": (
        lambda r: sd.Release(
            r.table, r.errors, r.keys, r.confidence, r.loss, r.plan
        ).regression("y", ["x"]),
        "only the numbers are known",
    ),
}


@for_each("name", list(REFUSED))
def test_refused(name: str) -> None:
    ask, said = REFUSED[name]
    private = sd.PrivateTable(pa.table({"x": [1], "y": [2]}), protects=sd.AddOneRow())
    session = sd.Session({"t": private}, sd.GaussianDP(1), engine="memory")
    asked = sd.covariance(["x", "y"], {"x": (0, 9), "y": (0, 9)})
    release = session.release(sd.table("t").agg(c=asked), sd.GaussianDP(1))
    with pytest.raises(sd.errors.SordinoError, match=said):
        ask(release)


UNASKED: Final[dict[str, tuple[Any, str]]] = {
    "no columns": (lambda: sd.covariance([]), "1 to 20"),
    "a name": (lambda: sd.covariance("x"), "1 to 20"),
    "twice": (lambda: sd.covariance(["x", "x"]), "different"),
    "other bounds": (
        lambda: sd.covariance(["x"], {"y": (0, 1)}),
        "none of the columns",
    ),
    "one end": (lambda: sd.covariance(["x"], cast("Any", {"x": 3})), "two numbers"),
    "reversed": (lambda: sd.covariance(["x"], {"x": (3, 1)}), "less than high"),
    "no bounds": (lambda: sd.covariance(["x"], nulls=0), "nothing bounds"),
    "a text": (lambda: sd.covariance(["g"], {"g": (0, 1)}), "type text"),
    "unknown": (lambda: sd.covariance(["v"], {"v": (0, 1)}), "v"),
    "pure": (lambda: sd.covariance(["x"], {"x": (0, 1)}), "gaussian noise"),
}


@for_each("name", list(UNASKED))
def test_not_asked(name: str) -> None:
    """Refused before anything is charged."""
    ask, said = UNASKED[name]
    table = sd.PrivateTable(pa.table({"x": [1], "g": ["a"]}), protects=sd.AddOneRow())
    session = sd.Session({"t": table}, sd.ApproxDP(1, "1e-6"), engine="memory")
    budget = sd.PureDP(1) if name == "pure" else sd.ApproxDP(1, "1e-6")
    with pytest.raises(sd.errors.SordinoError, match=said):
        session.release(sd.table("t").agg(c=ask()), budget)
    assert session.spent.epsilon == 0
