"""Counts, sums, means and variances of odd columns: the documented answer, no failure.

With hardly any noise, so that answers can be compared; every interval holds them.
"""

import math
from collections.abc import Mapping
from typing import Any, Final

import pytest

import sordino as sd
from sordino.errors import InvalidParameter, InvalidQuery
from tests.batches import for_each, sampled

EXACTLY: Final = sd.PureDP(10**6)
ENDS: Final = (0, 10)
KEYS: Final = sd.KeySet.from_dict({"g": ["a", "nobody"]})

COLUMNS: Final[Mapping[str, tuple[list[float], tuple[Any, Any], dict[str, float]]]] = {
    "constant": ([4.0] * 50, ENDS, {"n": 50, "t": 200, "m": 4, "v": 0, "s": 0}),
    "beyond the bounds": (
        [99.0] * 50,
        ENDS,
        {"n": 50, "t": 500, "m": 10, "v": 0, "s": 0},
    ),
    "infinities": (
        [math.inf, -math.inf] * 25,
        ENDS,
        {"n": 50, "t": 250, "m": 5, "v": 25, "s": 5},
    ),
    "huge": ([1e300, -1e300] * 25, ENDS, {"n": 50, "t": 250, "m": 5, "v": 25, "s": 5}),
    "tiny bounds": (
        [1e-9] * 50,
        (0, 1e-9),
        {"n": 50, "t": 5e-8, "m": 1e-9, "v": 0, "s": 0},
    ),
    "wide bounds": (
        [0.5] * 50,
        (-(10**9), 10**9),
        {"n": 50, "t": 25, "m": 0.5, "v": 0.0, "s": 0.0},
    ),
    "not numbers": ([math.nan] * 40 + [3.0] * 10, ENDS, {"n": 50, "t": 30, "m": 3}),
}
"""Values, bounds, and what is true of them after clamping."""


def asked(ends: tuple[Any, Any]) -> dict[str, Any]:
    return {
        "n": sd.count(),
        "t": sd.sum("x", *ends, nulls="drop"),
        "m": sd.mean("x", *ends, nulls="drop"),
        "v": sd.variance("x", *ends, nulls="drop"),
        "s": sd.stdev("x", *ends, nulls="drop"),
    }


@sampled(2)
@for_each("noise", ["laplace", "gaussian"])
@for_each("name", COLUMNS)
def test_odd_columns_have_the_documented_answer(name: str, noise: Any) -> None:
    """All statistics together, of a group with odd values and of one without rows.

    False alarms: each of at most 140 intervals misses with a chance of 1e-9.
    """
    values, ends, truth = COLUMNS[name]
    table = sd.PrivateTable({"g": ["a"] * 50, "x": values}, protects=sd.AddOneRow())
    budget = EXACTLY if noise == "laplace" else sd.ZCDP(10**6)
    session = sd.Session({"t": table}, budget)
    request = sd.table("t").group_by(KEYS).agg(noise=noise, **asked(ends))
    release = session.release(request, budget, confidence="0.999999999")
    first = release.table.to_pylist()[0]
    bars = release.errors.to_pylist()
    for column, exact in truth.items():
        width = {"t": 50, "v": float(ends[1] - ends[0])}.get(column, 1)
        size = 1 if column == "n" else float(ends[1] - ends[0]) * width
        assert first[column] == pytest.approx(exact, abs=1e-2 * size)
        assert bars[0][f"{column} low"] <= exact <= bars[0][f"{column} high"]
    assert bars[1]["n low"] <= 0 <= bars[1]["n high"]
    assert bars[1]["t low"] <= 0 <= bars[1]["t high"]
    for column in ("m", "v", "s"):
        assert math.isfinite(release.table.to_pylist()[1][column])


def test_one_value_a_million_times_is_added_exactly() -> None:
    """Totals of a million rows are exact, and so are mean and variance."""
    table = sd.PrivateTable({"x": [7] * 10**6}, protects=sd.AddOneRow())
    session = sd.Session({"t": table}, EXACTLY)
    columns = asked(ENDS)
    release = session.release(sd.table("t").agg(**columns), EXACTLY)
    (row,) = release.table.to_pylist()
    assert row["n"] == 10**6
    assert row["t"] == 7 * 10**6
    assert row["m"] == pytest.approx(7, abs=1e-6)
    assert row["v"] == pytest.approx(0, abs=1e-4)


def test_rare_keys_alone_make_an_empty_answer() -> None:
    """Where every group has one row, nobody shows, with columns of the right types."""
    table = {"g": [f"k{place}" for place in range(500)], "x": [1.0] * 500}
    private = sd.PrivateTable(table, protects=sd.AddOneRow())
    session = sd.Session({"t": private}, sd.ApproxDP(1, "1e-13"))
    request = sd.table("t").group_by("g").agg(**asked(ENDS))
    release = session.release(request, sd.ApproxDP(1, "1e-13"))
    assert len(release) == 0  # but for a chance of 500 * 1e-13
    assert [str(one) for one in release.table.schema.types[:3]] == [
        "string",
        "int64",
        "double",
    ]


def test_an_id_that_holds_everything_counts_as_far_as_it_may() -> None:
    """A million rows of one id are as many as its limit says."""
    table = sd.PrivateTable(
        {"id": [1] * 1000, "x": [5.0] * 1000}, protects=sd.AddRowsWithID("id")
    )
    session = sd.Session({"t": table}, EXACTLY)
    request = sd.table("t").enforce(sd.MaxRowsPerID(3)).agg(**asked(ENDS))
    (row,) = session.release(request, EXACTLY).table.to_pylist()
    assert (row["n"], round(row["t"]), round(row["m"])) == (3, 15, 5)


def test_the_divisor_of_a_sample_is_one_less() -> None:
    """Two values at both ends: 25 of all values, 50 as of a sample; alone within.

    Each of the two intervals misses with a chance of 1e-9.
    """
    table = {"g": ["two", "two", "one"], "x": [0.0, 10.0, 3.0]}
    session = sd.Session(
        {"t": sd.PrivateTable(table, protects=sd.AddOneRow())}, EXACTLY
    )
    keys = sd.KeySet.from_dict({"g": ["one", "two"]})
    columns: dict[str, Any] = {
        "all": sd.variance("x", *ENDS, nulls="drop"),
        "sample": sd.variance("x", *ENDS, nulls="drop", ddof=1),
        "root": sd.stdev("x", *ENDS, nulls="drop", ddof=1),
    }
    request = sd.table("t").group_by(keys).agg(**columns)
    release = session.release(request, EXACTLY, confidence="0.999999999")
    one, two = release.table.to_pylist()
    assert two["all"] == pytest.approx(25, abs=0.01)
    assert two["sample"] == pytest.approx(50, abs=0.02)
    assert two["root"] == pytest.approx(math.sqrt(50), abs=0.01)
    assert 0 <= one["sample"] <= 50
    (alone, both) = release.errors.to_pylist()
    assert both["sample low"] <= 50 <= both["sample high"]
    assert (alone["sample low"], alone["sample high"]) == (0, 50)


def test_missing_values_count_as_is_said() -> None:
    """As an integer among integers; as a half among doubles alone."""
    halves = sd.Column("f64", nullable=True)
    rows = {"n": [1, None, None], "x": [1.0, None, None]}
    table = sd.PrivateTable(rows, protects=sd.AddOneRow(), columns={"x": halves})
    session = sd.Session({"t": table}, sd.PureDP(10**7))
    sums = sd.sum("n", 0, 9, nulls=3), sd.sum("x", 0, 9, nulls=0.5)
    answer = session.release(sd.table("t").agg(n=sums[0], x=sums[1]), EXACTLY)
    (row,) = answer.table.to_pylist()
    assert (row["n"], round(row["x"], 3)) == (7, 2.0)
    with pytest.raises(InvalidParameter, match="nulls must be an integer"):
        session.price(sd.table("t").agg(n=sd.sum("n", 0, 9, nulls=0.5)), EXACTLY)


@pytest.mark.slow
def test_too_many_columns_are_refused_before_anything_is_read() -> None:
    names = [f"c{place}" for place in range(600)]
    table = sd.PrivateTable({name: [1] for name in names}, protects=sd.AddOneRow())
    session = sd.Session({"t": table}, EXACTLY)
    columns: dict[str, Any] = {name: sd.sum(name, 0, 1, nulls=0) for name in names}
    with pytest.raises(InvalidQuery, match="totals"):
        session.price(sd.table("t").agg(**columns), EXACTLY)
