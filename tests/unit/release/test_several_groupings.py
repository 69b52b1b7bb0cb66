"""Several sets of columns at once: one price, and one table of them."""

from typing import Any, Final

import pyarrow as pa
import pytest

import sordino as sd
from sordino.errors import InvalidParameter, SordinoError
from tests.batches import for_each

ROWS: Final = {
    "ward": ["A", "A", "B", None, "B"] * 40,
    "year": [2023, 2024, 2024, 2024, None] * 40,
    "days": [1, 2, 3, 4, 5] * 40,
}
LOUD: Final = sd.ApproxDP(10**6, "0.1")
"""So much that hardly any noise is left."""
ASKED: Final[dict[str, Any]] = {"n": sd.count(), "days": sd.sum("days", 0, 5)}
VISITS: Final = sd.table("visits")
SETS: Final = VISITS.group_by_sets(("ward", "year"), "ward", ()).agg(**ASKED)


def session() -> sd.Session:
    private = sd.PrivateTable(ROWS, protects=sd.AddOneRow())
    return sd.Session({"visits": private}, sd.ApproxDP(10**7, "0.9"))


def test_sets_are_requests_by_name() -> None:
    assert list(SETS) == ["ward, year", "ward", "all"]
    assert repr(SETS["ward"]) == repr(VISITS.group_by("ward").agg(**ASKED))
    assert repr(SETS["all"]) == repr(VISITS.agg(**ASKED))


@pytest.mark.slow
def test_one_table_is_that_of_grouping_sets() -> None:
    """With hardly any noise the stacked table is what SQL's GROUPING SETS answers."""
    import duckdb  # noqa: PLC0415 the oracle of this test

    visits = pa.table(ROWS)
    told_by_sql: Any = duckdb.sql(
        "SELECT ward, year, count(*) n, sum(days)::BIGINT AS d, "
        "grouping(ward, year) g FROM visits "
        "GROUP BY GROUPING SETS ((ward, year), (ward), ())"
    )
    exact = told_by_sql.fetchall()
    names = {0: "ward, year", 1: "ward", 3: "all"}
    wanted = {(names[g], ward, year, n, days) for ward, year, n, days, g in exact}
    assert visits.num_rows == 200
    stacked = sd.stack(session().release_all(SETS, LOUD), LOUD)
    assert stacked.keys == ("grouping", "ward", "year")
    told = {tuple(row.values()) for row in stacked.table.to_pylist()}
    assert {(*key, n, round(days)) for *key, n, days in told} == wanted
    assert LOUD.admits(stacked.loss)
    assert stacked.errors.num_rows == len(wanted)


def test_sets_share_one_charge() -> None:
    """All of them cost what was asked, and each price tells what that gave it."""
    opened, budget = session(), sd.ApproxDP(1, "1e-6")
    batch = opened.price_all(SETS, budget)
    releases = opened.release_all(SETS, budget)
    assert opened.spent == budget
    assert {one.gain for one in batch.prices.values()} == {batch.gain}
    for release in releases.values():
        told = [note for note in release.notes if "Planned together" in note]
        assert bool(told) == (batch.gain > 1)


def test_a_column_named_like_the_mark_stays() -> None:
    """The column that names the set gives way."""
    rows = VISITS.rename({"ward": "grouping"})
    sets = rows.group_by_sets("grouping", ()).agg(n=sd.count())
    assert sd.stack(session().release_all(sets, LOUD)).keys == ("grouping_", "grouping")


@for_each("sets", [(), ("ward", "ward"), ((), []), (5,), ("ward", (7,))])
def test_what_is_no_set_is_refused(sets: tuple[Any, ...]) -> None:
    with pytest.raises(SordinoError):
        VISITS.group_by_sets(*sets)


def test_what_cannot_be_one_table_is_refused() -> None:
    released = session().release_all(
        {"a": VISITS.agg(n=sd.count()), "b": VISITS.agg(m=sd.count())}, LOUD
    )
    wrong: Any
    for wrong in (released, {}, [*released.values()], {"a": 5}):
        with pytest.raises(InvalidParameter, match="releases"):
            sd.stack(wrong)


def test_columns_of_one_name_have_one_type() -> None:
    years = VISITS.select("year").rename({"year": "ward"})
    asked = {
        "a": VISITS.group_by("ward").agg(n=sd.count()),
        "b": years.group_by("ward").agg(n=sd.count()),
        "c": VISITS.agg(n=sd.mean("days", 0, 5)),
    }
    released = session().release_all(asked, LOUD)
    for other in ("b", "c"):
        with pytest.raises(InvalidParameter, match="of one type"):
            sd.stack({"a": released["a"], other: released[other]})


@for_each("name", [5, None, "\ud800"])
def test_names_of_sets_are_texts(name: Any) -> None:
    released = session().release(VISITS.agg(n=sd.count()), LOUD)
    with pytest.raises(InvalidParameter):
        sd.stack({name: released})


def test_a_stack_is_priced_in_terms_of_a_budget() -> None:
    """What is none is refused when it is given, not when the price is shown."""
    released = session().release(VISITS.agg(n=sd.count()), LOUD)
    wrong: Any = "a lot"
    with pytest.raises(InvalidParameter, match="budget"):
        sd.stack({"all": released}, wrong)
