"""The column that people add to: its sum needs no bounds, whatever it is asked for."""

from typing import Any, Final

import pyarrow as pa
import pytest

import sordino as sd
from sordino.errors import InvalidQuery, InvalidSQL
from sordino.plan.margins import buy_margins
from sordino.query.builder import Query
from tests.batches import for_each
from tests.unit.test_units import ALL, PAGES, VIEWS, T, numbered, session


def seen(row: Any) -> dict[str, int]:
    return {"v": row["views"]}


def test_sums_in_sql_need_no_bounds_either() -> None:
    known = session(VIEWS, sd.AddMaxTotal("views", 30))
    told = known.sql("SELECT SUM(views) AS v FROM t WHERE hour = 9", sd.PureDP(10**8))
    assert told["v"].to_pylist() == [449]
    for text in (
        "SELECT AVG(views) FROM t",
        "SELECT SUM(views) FROM t WHERE views > 3",
        "SELECT SUM(views + 1) FROM t",
    ):
        with pytest.raises(InvalidSQL, match="needs bounds"):
            known.sql(text, sd.PureDP(1))


UNSOUND: Final[dict[str, Query]] = {
    "a filter": T.filter(sd.col("views") > 100),
    "rows that are dropped": T.with_columns(v=sd.col("views") - 3).filter(
        sd.col("v") > 0
    ),
    "written anew": T.with_columns(views=sd.col("views") + 0),
    "a function": T.with_columns(sd.udf(seen, returns={"v": "i64"})),
    "several rows": T.flat_map(numbered, {"k": "i64"}, max_rows=1),
    "bins": T.bin("views", [0, 10, 100], "level"),
}


@for_each("name", UNSOUND)
def test_sums_need_bounds_once_a_number_was_read(name: str) -> None:
    """One view less may take a row of many views away."""
    known = session(VIEWS, sd.AddMaxTotal("views", 30))
    with pytest.raises(InvalidQuery, match="nothing bounds the values of sum"):
        known.price(UNSOUND[name].agg(v=sd.sum("views")), sd.PureDP(1))


@for_each(("twice", "on"), [(True, "page"), (False, "views")])
def test_joins_keep_sums_that_they_do_not_multiply(*, twice: bool, on: str) -> None:
    """With one partner a row, by another column, the sum is what it was."""
    pages = pa.table({"page": ["home", "help"], "views": [57, 2], "kind": ["a", "b"]})
    more = pa.concat_tables([pages, pages]) if twice else pages
    public = sd.PublicTable(more.select([on, "kind"]))
    private = sd.PrivateTable(VIEWS, protects=sd.AddMaxTotal("views", 30))
    known = sd.Session({"t": private, "pages": public}, ALL)
    joined = T.join_public("pages", on=on).agg(v=sd.sum("views"))
    with pytest.raises(InvalidQuery, match="nothing bounds"):
        known.price(joined, sd.PureDP(1))
    once = sd.PublicTable(pages.select(["page", "kind"]))
    known = sd.Session({"t": private, "pages": once}, ALL)
    kinds = sd.KeySet.from_dict({"kind": ["a", "b"]})
    rows = T.join_public("pages", on="page").group_by(kinds)
    told = known.release(rows.agg(v=sd.sum("views")), sd.PureDP(10**8))
    assert told["v"].to_pylist() == [802, 57]


def test_figures_over_time_need_no_bounds_either() -> None:
    """Of each hour and to date: 30 whenever it was; in hours of 390 views none."""
    known = session(VIEWS, sd.AddMaxTotal("views", 30), sd.PureDP(10**8))
    hours = T.cumulative("hour", [8, 9, 10], v=sd.sum("views"))
    change = known.price(hours, sd.PureDP(1)).sensitivity["v"]
    assert (change.l0, change.l1, change.l2) == (30, 30, 30)
    told = known.release(hours, sd.PureDP(10**7))
    assert [round(n) for n in told["v_to_date"].to_pylist()] == [412, 861, 861]
    for refused in (
        T.filter(sd.col("views") > 3).cumulative("hour", [8, 9], v=sd.sum("views")),
        T.cumulative("views", [389, 390], v=sd.sum("views")),
        T.cumulative("hour", [8, 9], v=sd.sum("views", nulls=7)),
    ):
        with pytest.raises(InvalidQuery, match="nothing bounds the values"):
            known.price(refused, sd.PureDP(1))


def test_a_suggestion_leaves_such_a_sum_as_it_is() -> None:
    """Bounds are tried of others, and of it where they are listed."""
    known = session(VIEWS, sd.AddMaxTotal("views", 30))
    beside = T.agg(v=sd.sum("views"), h=sd.mean("hour", 0, 20))
    tried = known.suggest(beside, sd.PureDP(1), sample=VIEWS)
    alone = known.price(T.agg(v=sd.sum("views")), sd.PureDP(1))
    assert alone.errors["v"].sd > 30
    assert {"h from", "v noise"} <= set(tried.table.column_names)
    assert "v from" not in tried.table.column_names
    listed = known.suggest(beside, sd.PureDP(1), sample=VIEWS, limits={"v": [(0, 9)]})
    assert listed.table["v to"].to_pylist() == [9]
    with pytest.raises(InvalidQuery, match="neither limits nor bounds"):
        known.suggest(T.agg(v=sd.sum("views")), sd.PureDP(1), sample=VIEWS)


MOVED: Final[dict[str, tuple[Any, pa.Table, Query, tuple[int, int]]]] = {
    "rows": (sd.AddMaxRows(30), VIEWS, T, (30, 900)),
    "what people add": (sd.AddMaxTotal("views", 30), VIEWS, T, (30, 900)),
    "what depends on it": (
        sd.AddMaxTotal("views", 30),
        VIEWS,
        T.filter(sd.col("views") > 3),
        (60, 1800),
    ),
    "replaced": (sd.ChangeOneRow(), VIEWS, T, (2, 2)),
}


@for_each("name", MOVED)
def test_how_far_margins_move(name: str) -> None:
    """By hand: the counts of all combinations of keys, together and squared."""
    unit, rows, query, (whole, squares) = MOVED[name]
    known = session(rows, unit, sd.GaussianDP(1))
    request = query.marginals(PAGES, order=1)
    bought = buy_margins(request, known._desk.catalog, sd.GaussianDP(1))
    change: Any = bought.change.size
    assert (change.l1, change.l2**2) == (whole, squares)


def test_margins_of_a_part_are_priced_by_its_rows() -> None:
    """A row that is charged alone may leave a part for another one."""
    known = session(VIEWS, sd.AddMaxTotal("views", 30), sd.GaussianDP(100))
    part = known.partition("t", "hour", [8, 9], sd.GaussianDP(1))[9]
    request = T.marginals(PAGES, order=1)
    bought = buy_margins(request, part._desk.catalog, sd.GaussianDP(1))
    assert bought.relation.spread is not None
    assert bought.change.size.l1 == 60


def test_groups_of_its_own_values_are_refused() -> None:
    """There a number that grows by one moves all of it to another group."""
    known = session(VIEWS, sd.AddMaxTotal("views", 30))
    with pytest.raises(InvalidQuery, match="in groups of its own values"):
        known.price(T.group_by("views").agg(v=sd.sum("views")), sd.ApproxDP(1, "1e-6"))


def test_unknown_groups_show_by_what_people_did() -> None:
    """A page of one row and many views shows, and one of few views does not."""
    known = session(VIEWS, sd.AddMaxTotal("views", 30), sd.ApproxDP(200, "1e-6"))
    release = known.release(
        T.group_by("page").agg(v=sd.sum("views")), sd.ApproxDP(100, "1e-6")
    )
    assert release["page"].to_pylist() == ["help", "home"]


def test_a_row_that_holds_everything() -> None:
    """Totals stop growing at 2**53, and the noise is that of 30 all the same."""
    rows = pa.table({"views": [2**62, 2**62, 1]})
    known = session(rows, sd.AddMaxTotal("views", 30))
    release = known.release(T.agg(v=sd.sum("views")), sd.PureDP(10**8))
    assert release["v"].to_pylist() == [2**53]
