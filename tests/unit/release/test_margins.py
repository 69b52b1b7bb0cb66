"""Margins as users ask for them: prices, tables, errors, words, refusals."""

import math
from datetime import UTC, date, datetime
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import sordino as sd
from sordino.errors import InvalidParameter, InvalidQuery, SordinoError, UnknownName
from sordino.plan.margins import buy_margins
from sordino.release.margins import _bars
from tests.asked_margins import (
    ASKED,
    BUDGET,
    KEYS,
    NESTED,
    ONE_ROW,
    PLACES,
    ROWS,
    VISITS,
    WIDE,
    by_key,
    exact,
    opened,
)
from tests.batches import for_each


@for_each("engine", ["memory", "duckdb"])
def test_tables_are_near_and_add_up(engine: Any) -> None:
    """With much to spend every table is within eight deviations of the exact one."""
    release = opened(engine).release(ASKED, sd.GaussianDP(10))
    assert len(release.tables) == 1 + 4 + 3 + 2
    for name, table in release.tables.items():
        found, known = by_key(table), exact(*name)
        deviations = release.tables.errors[name]["count sd"].to_numpy()
        for place, (key, count) in enumerate(found.items()):
            assert abs(count - known.get(key, 0)) < 8 * deviations[place]
    total = release.tables[()]["count"][0].as_py()
    for name in release.tables:
        assert sum(by_key(release.tables[name]).values()) == pytest.approx(total)
    states = by_key(release.tables["state"])
    towns = by_key(release.tables["town"])
    assert states["n",] == pytest.approx(towns["a",] + towns["b",])


def test_names_stand_in_any_order() -> None:
    release = opened().release(ASKED, BUDGET)
    one = release.tables["year", "state"]
    assert one.column_names == ["state", "year", "count"]
    assert one.equals(release.tables["state", "year"])
    assert release.tables["year"].equals(release.tables["year",])
    for unknown in ("month", ("state", "town"), ("year", "year"), 3, ("year", 3), None):
        with pytest.raises(UnknownName, match="table"):
            release.tables[unknown]


def test_the_release_is_one_stacked_table() -> None:
    release = opened().release(ASKED, BUDGET)
    assert release.keys == ("grouping", *KEYS.columns)
    assert release.names == ("count",)
    assert set(release["grouping"].to_pylist()) == {
        ", ".join(name) or "all" for name in release.tables
    }
    assert "adjusted" in release.explain()
    assert release.filter(sd.col("grouping") == "year").table.num_rows == 2
    assert "<table" in release._repr_html_()


def test_the_price_says_what_each_table_will_err() -> None:
    session = opened()
    price = session.price(ASKED, BUDGET)
    release = session.release(ASKED, BUDGET)
    assert BUDGET.admits(price.loss)
    assert price.loss == release.loss
    for name, error in price.errors.items():
        told = release.tables.errors[name]["count sd"].to_numpy()
        assert error.sd == pytest.approx(told.max())
    assert "year, ill: sd" in repr(price) or "ill, year: sd" in repr(price)
    assert "<table" in price._repr_html_()
    assert price.plan in release.plan
    many = VISITS.marginals(
        sd.KeySet.from_dict({f"c{n}": [0, 1] for n in range(6)}), order=3
    )
    table = sd.PrivateTable(
        {f"c{n}": [0, 1] for n in range(6)}, protects=sd.AddOneRow()
    )
    text = repr(sd.Session({"visits": table}, BUDGET).price(many, BUDGET))
    assert "20 tables of 3: sd" in text


@for_each("number", [0.0, 2.0**50 + 1])
def test_bars_are_rounded_outwards(number: float) -> None:
    """Beside any numbers they reach as far as they say: exactly, and not in doubles."""
    for mu in range(1, 6):
        bought = buy_margins(ASKED, opened()._desk.catalog, sd.GaussianDP(mu))
        trees = bought.request.crossing
        tables = {one: np.full(trees.shape(one), number) for one in trees.tables}
        for noise, low, high in zip(*_bars(bought, tables), strict=True):
            reach, at = Fraction(noise) * Fraction(bought.reach), Fraction(number)
            assert at + reach <= Fraction(high)
            assert low == 0 or Fraction(low) <= at - reach


@for_each(
    "budget", [BUDGET, sd.GaussianDP("1/4"), sd.ZCDP("1/8"), sd.GaussianDP("sqrt(2)/3")]
)
def test_all_of_a_budget_is_used_and_no_more(budget: Any) -> None:
    price = opened().price(ASKED, budget)
    assert budget.admits(price.loss)
    assert not budget.admits(
        sd.GaussianDP(price.loss.guarantees.mu * Fraction(1001, 1000))
    )


def test_a_key_returns_the_same_tables_for_nothing() -> None:
    """All that is read from the ledger is what was drawn, adjusted tables included."""
    session = opened()
    first = session.release(ASKED, BUDGET, key="2026")
    left = session.remaining
    again = session.release(ASKED, BUDGET, key="2026")
    assert session.remaining == left
    assert again.table.equals(first.table)
    for name in first.tables:
        assert again.tables[name].equals(first.tables[name])
        assert again.adjusted[name].equals(first.adjusted[name])
    assert session.answer("2026").table.equals(first.table)
    with pytest.raises(SordinoError, match="key"):
        session.release(VISITS.marginals(KEYS["year", "ill"]), BUDGET, key="2026")


def test_adjusted_tables_agree() -> None:
    release = opened().release(ASKED, sd.GaussianDP("1/20"))
    for tables in (release.adjusted, release.adjusted.integers):
        assert set(tables) == set(release.tables)
        total = tables[()]["count"][0].as_py()
        for name in tables:
            counts = by_key(tables[name])
            assert min(counts.values()) >= 0
            assert sum(counts.values()) == pytest.approx(total)
        pairs, years = by_key(tables["town", "year"]), by_key(tables["year"])
        states = by_key(tables["state"])
        for year in (2025, 2026):
            there = sum(count for key, count in pairs.items() if key[1] == year)
            assert there == pytest.approx(years[year,])
        north = sum(count for key, count in pairs.items() if key[0] in {"a", "b"})
        assert north == pytest.approx(states["n",])
    assert release.adjusted.integers["year"].schema.field("count").type == pa.int64()


def test_synthetic_rows_follow_the_adjusted_tables() -> None:
    """Of 20,000 rows each share is within six deviations: 10^-8 for 20 cells."""
    release = opened().release(ASKED, sd.GaussianDP(10))
    people = release.synthetic(20_000)
    assert people.column_names == list(KEYS.columns)
    assert release.synthetic(0).num_rows == 0
    found = people.group_by(["town", "year"]).aggregate([([], "count_all")])
    drawn = {(r["town"], r["year"]): r["count_all"] for r in found.to_pylist()}
    wanted = by_key(release.adjusted["town", "year"])
    total = sum(wanted.values())
    for key, count in wanted.items():
        share = count / total
        deviation = np.sqrt(share * (1 - share) * 20_000)
        assert abs(drawn.get(key, 0) - share * 20_000) < 6 * deviation
    states = set(zip(*(people[c].to_pylist() for c in ("state", "town")), strict=True))
    assert states == {("n", "a"), ("n", "b"), ("s", "c")}
    for wrong in (-1, True, 2.5, None, "many", 10**12):
        with pytest.raises(InvalidParameter, match="rows"):
            release.synthetic(wrong)  # type: ignore[arg-type]


def test_a_release_of_one_table_has_no_others() -> None:
    release = opened().release(VISITS.agg(n=sd.count()), BUDGET)
    for ask in (
        lambda: release.tables,
        lambda: release.adjusted,
        lambda: release.synthetic(3),
    ):
        with pytest.raises(InvalidQuery, match="marginals"):
            ask()


def test_public_totals_are_exact_and_free() -> None:
    """Others err less for it, adjusted tables have them, and the promise is alike."""
    session = opened()
    years = {year: count for (year,), count in exact("year").items()}
    totals: dict[Any, Any] = {(): sum(years.values()), "year": years}
    asked = VISITS.marginals(KEYS, order=2, hierarchies=NESTED, totals=totals)
    release = session.release(asked, BUDGET)
    assert by_key(release.tables["year"]) == {(y,): float(n) for y, n in years.items()}
    assert not release.tables.errors["year"]["count sd"].to_numpy().any()
    assert by_key(release.adjusted["year"]) == pytest.approx({
        (y,): n for y, n in years.items()
    })
    plain, told = (session.price(one, BUDGET) for one in (ASKED, asked))
    assert told.errors["state", "year"].sd < plain.errors["state", "year"].sd
    assert told.loss == plain.loss
    assert "Known beforehand" in release.explain()


def test_ids_need_limits_and_pay_for_their_rows() -> None:
    """One row for each id is as for rows; two are dearer, at most twice."""
    session = opened(unit=sd.AddRowsWithID("person"))
    with pytest.raises(InvalidQuery, match="MaxRowsPerID"):
        session.price(ASKED, BUDGET)
    once, twice = (
        session
        .price(
            VISITS.enforce(sd.MaxRowsPerID(most)).marginals(KEYS, hierarchies=NESTED),
            BUDGET,
        )
        .errors["year",]
        .sd
        for most in (1, 2)
    )
    assert once == pytest.approx(opened().price(ASKED, BUDGET).errors["year",].sd)
    assert once < twice <= 2 * once * (1 + 1e-9)


@pytest.mark.slow
def test_dozens_of_columns_can_be_asked_for() -> None:
    """Nobody lists their combinations: only those that somebody has are counted."""
    names = list(WIDE.columns)
    generator = np.random.default_rng(0)
    rows = {name: generator.integers(0, 2, 500).tolist() for name in names}
    session = sd.Session(
        {"visits": sd.PrivateTable(rows, protects=sd.AddOneRow())}, sd.GaussianDP(50)
    )
    release = session.release(VISITS.marginals(WIDE, order=2), sd.GaussianDP(40))
    assert len(release.tables) == 1 + len(names) + math.comb(len(names), 2)
    both = sum(a * b for a, b in zip(rows["c3"], rows["c27"], strict=True))
    found = by_key(release.tables["c3", "c27"])[1, 1]
    assert found == pytest.approx(both, abs=12)
    with pytest.raises(InvalidQuery, match="add up as they are"):
        release.adjusted["c3"]


def test_keys_of_every_type() -> None:
    columns: dict[str, list[Any]] = {
        "county": ["a", None, "b"],
        "day": [date(2026, 1, 1), None, date(2025, 1, 1)],
        "at": [datetime(2026, 1, 1, 5, tzinfo=UTC), None, None],
        "ill": [True, False, None],
    }
    table = sd.PrivateTable(columns, protects=ONE_ROW)
    session = sd.Session({"visits": table}, sd.GaussianDP(10**6))
    keys = sd.KeySet.from_dict({name: set(one) for name, one in columns.items()})
    release = session.release(VISITS.marginals(keys, order=2), sd.GaussianDP(10**6))
    for name, values in columns.items():
        found = {
            key.replace(tzinfo=UTC) if isinstance(key, datetime) else key: round(count)
            for (key,), count in by_key(release.tables[name]).items()
        }
        assert found == {value: values.count(value) for value in values}


def test_a_law_of_nobody_is_even() -> None:
    """Where the total is below zero, invented rows still have all columns."""
    table = sd.PrivateTable(ROWS, protects=ONE_ROW)
    session = sd.Session({"visits": table}, sd.GaussianDP(1), engine="memory")
    nobody = VISITS.filter(sd.col("year") > 9999)
    keys = sd.KeySet.from_dict({"year": [2025, 2026]})
    asked = nobody.marginals(keys, order=1, totals={(): 0})
    release = session.release(asked, sd.GaussianDP(1))
    assert release.adjusted["year"]["count"].to_pylist() == [0.0, 0.0]
    assert set(release.synthetic(200)["year"].to_pylist()) == {2025, 2026}


def test_a_row_in_two_places_at_once_is_in_no_table() -> None:
    """A town in another state than that of the keys is no key."""
    rows = {"state": ["n", "s", "n"], "town": ["a", "a", "b"]}
    table = sd.PrivateTable(rows, protects=ONE_ROW)
    session = sd.Session({"visits": table}, sd.GaussianDP(10**6), engine="memory")
    asked = VISITS.marginals(PLACES, order=1, hierarchies=NESTED)
    release = session.release(asked, sd.GaussianDP(10**6))
    assert by_key(release.tables["state"]) == pytest.approx(
        {("n",): 2, ("s",): 0}, abs=1e-3
    )


def test_a_part_of_a_table_has_the_share_of_its_rows() -> None:
    """A unit with one of its two rows in a part pays there for both: half of mu**2."""
    asked = VISITS.marginals(KEYS["town",], order=1)
    whole = opened(unit=sd.AddMaxRows(2))
    parts = whole.partition("visits", "year", [2025, 2026], sd.GaussianDP(1))
    one, other = (
        session.price(asked, sd.GaussianDP(1)).errors["town",].sd
        for session in (whole, parts[2025])
    )
    assert other == pytest.approx(np.sqrt(2) * one)
