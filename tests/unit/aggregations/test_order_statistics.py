"""Quantiles, extremes and bounds of a column: types, bounds, errors, bad input."""

import math
from collections.abc import Mapping
from datetime import date, datetime, timedelta
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pytest

import sordino as sd
from sordino import errors
from sordino.aggregations.candidates import candidates, roundest, shortest_decimals
from sordino.errors import SordinoError
from tests.batches import calls_of, for_each, sampled

MUCH: Final = sd.PureDP(10**9)
"""A price at which hardly any noise is left."""
MANY: Final = 200
"""Groups in one release, each an answer of its own."""
DAY, LATE = date(1990, 5, 17), date(2020, 1, 1)
MORNING, AT_NOON, NOON, LATER, EVENING = (
    datetime.fromisoformat(f"2024-02-29T{clock}")
    for clock in ("08:00:00", "12:00:00", "12:00:00.25", "13:30:00", "22:00:00")
)


def told(values: Any, asked: Any, budget: Any = MUCH, engine: Any = "duckdb") -> Any:
    """Return the first answer about some values, as Python has it."""
    rows = values if isinstance(values, pa.Table) else pa.table({"x": values})
    table = sd.PrivateTable(rows, protects=sd.AddOneRow())
    session = sd.Session({"t": table}, budget, engine=engine)
    release = session.release(sd.table("t").agg(a=asked), budget)
    return release[release.names[0]][0].as_py()


def grouped(values: Any, asked: Any, epsilon: Any = 1, many: int = MANY) -> Any:
    """Return the answers of many groups that all hold the same values."""
    rows = pa.table({
        "g": np.repeat(np.arange(many), len(values)),
        "x": np.tile(values, many),
    })
    kind = "i64" if np.asarray(values).dtype.kind == "i" else "f64"
    facts = {"x": sd.Column(kind, nullable=False, nan=False)}
    table = sd.PrivateTable(rows, protects=sd.AddOneRow(), columns=facts)
    budget = sd.PureDP(epsilon)
    session = sd.Session({"t": table}, budget)
    keys = sd.KeySet.from_dict({"g": list(range(many))})
    release = session.release(sd.table("t").group_by(keys).agg(a=asked), budget)
    return np.array(release[release.names[-1]].to_pylist())


AGES: Final = np.arange(17, 91).repeat(20)


def test_the_greatest_is_not_beyond_the_data() -> None:
    """Of ages within a range ten times too wide: at the greatest, or little below.

    A walk passes all rows once in 46 answers; 30 of 200 would be a chance of 1e-16. It
    ends with more than 60 rows beyond less than once in 10**6 answers.
    """
    found = grouped(AGES, sd.max("x", 0, 1000))
    assert (found > 90).sum() < 30
    assert (found >= 87).all()
    least = grouped(AGES, sd.min("x", -(10**6), 1000))
    assert (least < 17).sum() < 30
    assert (least <= 20).all()


def test_a_choice_by_rank_would_be_beyond_the_data() -> None:
    """The planted mutant: what is nearly the quantile 1 lies anywhere above."""
    found = grouped(AGES, sd.quantile("x", "0.9999", 0, 1000))
    assert (found > 100).mean() > 0.5


@sampled(1, 2)
@for_each("high", [10**3, 10**6, 10**12])
def test_wide_bounds_cost_few_rows(high: int) -> None:
    """Of 2000 values without ties at most 60 lie beyond, however wide the bounds.

    Lemma 8: more than 8 + 4 ln(2 * 17,000 * 200 / 1e-6) = 126 once in 10**6 runs.
    """
    values = np.random.default_rng(5).lognormal(0, 1, 2000)
    found = grouped(values, sd.max("x", 0, high))
    beyond = (values > found[:, None]).sum(axis=1)
    assert beyond.max() <= 126
    assert 4 <= np.median(beyond) <= 40


def test_extremes_of_few_rows_are_the_other_bound() -> None:
    """Of nobody, and of fewer rows than the price says, nothing can be told."""
    nobody = pa.table({"x": pa.array([], pa.int64())})
    assert told(nobody, sd.max("x", 3, 9, nulls="drop")) == 3
    assert told(nobody, sd.min("x", 3, 9, nulls="drop")) == 9
    assert (grouped([5], sd.max("x", 0, 10)) < 5).mean() > 0.9


@sampled(1, 9)
@for_each("engine", ["duckdb", "memory"])
@for_each(
    ("values", "ends", "expected"),
    [
        ([1, 5, 9, 9, 9], (0, 10), (1, 9, 9)),
        ([1, 5, 9, 9, 9], (2, "7.5"), (2, 8, 8)),
        ([-7, 2**62, 5], (-(2**63), 2**63 - 1), (0, 0, 2**62)),
        ([1.5, 9.99, 9.99], (0, 1000), (1.5, 9.99, 9.99)),
        ([0.1, 0.2, 0.3], (0, 1), (0.1, 0.2, 0.3)),
        ([1e9 + 0.5] * 3, (0, 1e10), (1e9, 1e9, 1e9)),
        ([-math.inf, 0.25, math.inf], (-1, 2), (-1.0, 0.25, 2.0)),
        ([DAY, LATE, LATE], (date(1900, 1, 1), LATE), (DAY, LATE, LATE)),
        ([NOON, LATER, LATER], (MORNING, EVENING), (AT_NOON, LATER, LATER)),
    ],
    ids=str,
)
def test_answers_are_of_the_type_of_the_column(
    engine: str, values: list[Any], ends: Any, expected: tuple[Any, ...]
) -> None:
    asked = (
        sd.min("x", *ends, nulls="drop"),
        sd.median("x", *ends, nulls="drop"),
        sd.max("x", *ends, nulls="drop"),
    )
    found = [told(values, one, engine=engine) for one in asked]
    assert [type(one) for one in found] == [type(one) for one in expected]
    if isinstance(expected[0], float) or max(values) == 2**62:
        assert found == pytest.approx(list(expected), rel=0.05, abs=1e-3)
    else:
        assert tuple(found) == expected


def test_quantiles_may_hold_extremes() -> None:
    shares = ["0", "0.25", "0.5", "0.75", "1"]
    asked = sd.quantiles("x", shares, 0, 1000, nulls="drop")
    table = sd.PrivateTable({"x": AGES.tolist()}, protects=sd.AddOneRow())
    session = sd.Session({"t": table}, sd.PureDP(4))
    query = sd.table("t").agg(a=asked)
    price = session.price(query, sd.PureDP(4))
    assert [float(one.map(1).guarantees.epsilon) for one in price.noise["a"]] == [
        1,
        2,
        1,
    ]
    row = session.release(query, sd.PureDP(4)).table.to_pylist()[0]
    assert list(row.values()) == sorted(row.values())
    assert [type(one) for one in row.values()] == [int] * 5
    assert abs(row["a_0.5"] - 53) <= 2


@sampled(1, 1)
@for_each("engine", ["duckdb", "memory"])
def test_infinities_are_no_sizes(engine: str) -> None:
    """Of 20 infinities among 1000 values the bounds know nothing."""
    values = [*np.linspace(0, 100, 1000), *[math.inf, -math.inf] * 10]
    size = sd.bounds("x", nulls="drop", signed=False)
    found = -told(values, size, sd.PureDP(1000), engine)
    assert 100 <= found < 108
    nothing = told([math.inf] * 50, size, sd.PureDP(1000), engine)
    assert nothing == -(2.0**-10)
    signed = sd.bounds("x", nulls="drop")
    assert told(values, signed, sd.PureDP(1000), engine) == 0
    assert told([math.inf] * 50, signed, sd.PureDP(1000), engine) == -(2.0**30)


def bounds_of(values: Any, **options: Any) -> Any:
    """Return the bounds of many groups that all hold the same values."""
    numbers = np.asarray(values)
    rows = pa.table({
        "g": np.repeat(np.arange(MANY), numbers.size),
        "x": np.tile(numbers, MANY),
    })
    kind = "i64" if numbers.dtype.kind == "i" else "f64"
    facts = {"x": sd.Column(kind, nullable=False, nan=False)}
    table = sd.PrivateTable(rows, protects=sd.AddOneRow(), columns=facts)
    session = sd.Session({"t": table}, sd.PureDP(1))
    keys = sd.KeySet.from_dict({"g": list(range(MANY))})
    query = sd.table("t").group_by(keys).agg(a=sd.bounds("x", **options))
    release = session.release(query, sd.PureDP(1))
    return np.array([release["a_low"].to_pylist(), release["a_high"].to_pylist()])


TIGHT: Final[Mapping[str, tuple[Any, float, float]]] = {
    "ages": (AGES, 16, 96),
    "years": (1990 + AGES % 36, 1792, 2048),
    "below zero": (-(AGES - 0.5), -96.0, -16.0),
    "both signs": (AGES - 60.25, -48.0, 32.0),
    "never negative": (AGES % 7 * 1.0, 0.0, 7.0),
}


@sampled(2, 2)
@for_each("name", TIGHT)
def test_signed_bounds_are_tight(name: str) -> None:
    """Of both bounds most are the nearest steps, a quarter of a doubling long.

    A walk passes the last bin with rows once in ten: fewer than 120 of 200 right ones
    would be a chance of 1e-15. More than 4 + 8 ln(2 * 330 * 400 / 1e-9) = 270 rows lie
    beyond once in 1e9 runs (lemma 8).
    """
    values, low, high = TIGHT[name]
    lows, highs = bounds_of(values)
    assert (lows == low).sum() > 120
    assert (highs == high).sum() > 120
    beyond = (values < lows[:, None]) | (values > highs[:, None])
    assert beyond.sum(axis=1).max() <= 2 * 270
    sizes = bounds_of(values, signed=False)
    assert (sizes[0] == -sizes[1]).all()


def test_signed_bounds_of_few_rows_are_those_of_all_numbers() -> None:
    """Five rows are fewer than can be told from none: 8 / epsilon are."""
    lows, highs = bounds_of([3, 4, 5, 6, 7], up_to=8)
    assert np.median(lows) == -256
    assert np.median(highs) == 256
    assert (lows <= highs).all()


def test_extremes_bound_the_others() -> None:
    """Asked with the greatest, a quantile near the end stays in the data.

    Alone, most are beyond. A walk passes 60 ages without rows once in 4,000 answers: 20
    of 200 would be once in 10**40 runs.
    """
    asked = sd.quantiles("x", ["0.9999", "1"], 0, 1000)
    rows = pa.table({
        "g": np.repeat(np.arange(MANY), AGES.size),
        "x": np.tile(AGES, MANY),
    })
    facts = {"x": sd.Column("i64", nullable=False)}
    table = sd.PrivateTable(rows, protects=sd.AddOneRow(), columns=facts)
    session = sd.Session({"t": table}, sd.PureDP(2))
    keys = sd.KeySet.from_dict({"g": list(range(MANY))})
    query = sd.table("t").group_by(keys).agg(a=asked)
    release = session.release(query, sd.PureDP(2))
    found = np.array(release["a_0.9999"].to_pylist())
    assert (found > 150).sum() < 20
    assert (np.array(release["a_1"].to_pylist()) >= found).all()


ERRORS: Final[Mapping[str, tuple[Any, str]]] = {
    "median": (sd.median("days", 0, 120), "ranks"),
    "quantiles": (sd.quantiles("days", ["0.1", "0.5"], 0, 120), "ranks"),
    "max": (sd.max("days", 0, 120), "about 8 rows lie beyond"),
    "bounds": (sd.bounds("days"), "1024 times or more in 1 of 342 answers"),
    "bounds of a size": (
        sd.bounds("days", signed=False),
        "1024 times or more in 1 of 384 answers",
    ),
}


@sampled(1)
@for_each("name", ERRORS)
def test_price_and_release_tell_how_far_off(name: str) -> None:
    """In ranks and rows, before and after, in the same words; the method is named."""
    asked, words = ERRORS[name]
    table = sd.PrivateTable(
        {"days": list(range(100))},
        protects=sd.AddOneRow(),
        columns={"days": sd.Column("i64", nullable=False)},
    )
    session = sd.Session({"t": table}, sd.PureDP(1))
    query = sd.table("t").agg(a=asked)
    price = session.price(query, sd.PureDP(1))
    assert words in str(price.errors["a"])
    release = session.release(query, sd.PureDP(1))
    assert f"a is chosen among public candidates: {price.errors['a']}." in release.notes
    assert type(price.noise["a"][0]).__name__ in release.plan


def test_the_half_width_in_ranks_holds() -> None:
    """Of 600 answers none is further off than told; a 20th of it would not hold.

    On these values errors fall by e every 1.8 ranks, and nobody lies 80 above: false
    alarms below 1e-12. One answer in 24 is off by more than a 20th: missed once in
    1e11 runs.
    """
    values = np.random.default_rng(6).random(500)
    table = sd.PrivateTable({"x": values}, protects=sd.AddOneRow())
    asked = sd.quantile("x", "0.9", 0, 10**6, nulls="drop")
    session = sd.Session({"t": table}, sd.PureDP(1))
    half = (
        session.price(sd.table("t").agg(a=asked), sd.PureDP(1)).errors["a"].half_width
    )
    found = grouped(values, asked, many=600)
    ranks = (values < found[:, None]).sum(axis=1)
    assert half / 20 < np.abs(ranks - 450).max() <= half < 120


REFUSED: Final = calls_of("refused/choices", globals())


@for_each("name", REFUSED)
def test_senseless_bounds_are_refused(name: str) -> None:
    act, kind, words = REFUSED[name]
    with pytest.raises(vars(errors)[kind], match=words) as caught:
        act()
    assert isinstance(caught.value, SordinoError)


def test_words_tell_dates_apart() -> None:
    said = {
        str(sd.median("x", low, LATE).words)
        for low in (DAY, DAY + timedelta(days=1), date(1, 1, 1))
    }
    assert len(said) == 3


def test_the_shortest_decimal_is_within() -> None:
    rng = np.random.default_rng(8)
    for exponent in (-200, -60, -34, -3, 0, 30, 150):
        low = np.ldexp(rng.integers(-(2**40), 2**40, 300).astype(float), exponent)
        high = low + np.ldexp(1.0, exponent)
        found = shortest_decimals(low, high)
        assert ((low <= found) & (found < high)).all()
    cents = rng.integers(0, 10**6, 300) / 100
    steps = np.floor(cents * 2**20 + 0.5)
    found = shortest_decimals(np.ldexp(steps - 0.5, -20), np.ldexp(steps + 0.5, -20))
    assert (found == cents).all()


@for_each(
    ("low", "high"), [(0, 0), (-5, 5), (17, 23), (-23, -17), (10**18, 2**63), (99, 101)]
)
def test_the_roundest_integer_is_within(low: int, high: int) -> None:
    found = roundest(low, high)
    assert low <= found <= high
    if found:
        power = 10 ** (len(str(found)) - len(str(found).rstrip("0")) + 1)
        assert -(-low // power) * power > high


@for_each(
    ("low", "high", "kind"),
    [(0, 9, "i64"), (-5, 10**9, "i64"), (0, 1, "f64"), (-3, 10**6, "f64")],
)
def test_stretches_cover_all_candidates(low: int, high: int, kind: str) -> None:
    """They ascend, end at the last candidate, and are short near zero."""
    grid = candidates(low, high, kind)
    lasts = grid.stretches
    assert (np.diff(lasts) > 0).all()
    assert lasts[0] >= 0
    assert lasts[-1] == grid.last
    assert grid.last < 2**16 or 2**14 < lasts.size < 2**15
    # what is 0 or less ends a stretch
    zero = grid.values(lasts, lasts).to_numpy() <= 0
    assert (
        zero.sum() == 0
        or grid.values(lasts[zero][-1:], lasts[zero][-1:])[0].as_py() == 0
    )
