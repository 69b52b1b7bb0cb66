"""Laws: a column that may not mark groups, choose rows or be aggregated, in disguise.

What is made of a column is of that column, under any name and by any step.
"""

from collections.abc import Callable
from typing import Any, Final

import pytest

import sordino as sd
from sordino.errors import PolicyRefusal
from sordino.session.session import Session
from tests.batches import for_each, sampled
from tests.policies import HALF, WARDS, clinic, ledger_under, policy_of

RULES: Final = """
serial = 1
[tables.visits]
keys = ["ward"]
filters = ["ward"]
values = ["days"]
[tables.people]
keys = []
filters = []
values = []
[tables.regions]
"""
VISITS: Final = sd.table("visits").enforce(sd.MaxRowsPerID(1))
AGE: Final = sd.col("age")
DECADES: Final = sd.KeySet.from_dict({"decade": ["thirties", "forties"]})
TENS: Final = sd.KeySet.from_dict({"tens": [3, 4, 5]})
AGES: Final = sd.KeySet.from_dict({"age": [30, 40]})


def counted(query: Any, keys: Any) -> Any:
    return query.group_by(keys).agg(n=sd.count())


def decade(row: dict[str, Any]) -> dict[str, Any]:
    """Return what is made of an age, in Python."""
    return {"tens": row["age"] // 10}


def view_of(session: Session) -> Any:
    """Name a column anew in a view, and again outside of it."""
    session.view("renamed", VISITS.rename({"age": "a"}))
    return counted(sd.table("renamed").rename({"a": "tens"}), TENS)


MADE: Final[dict[str, Callable[[Session], Any]]] = {
    "itself": lambda _: counted(VISITS, AGES),
    "unknown keys": lambda _: (
        sd.table("visits").enforce(sd.MaxGroupsPerID("age", 1)).group_by("age").keys()
    ),
    "among others": lambda _: counted(
        VISITS, sd.KeySet.from_dict({"ward": ["A"], "age": [30]})
    ),
    "renamed": lambda _: counted(VISITS.rename({"age": "tens"}), TENS),
    "renamed twice": lambda _: counted(
        VISITS.rename({"age": "x"}).rename({"x": "tens"}), TENS
    ),
    "swapped": lambda _: counted(
        VISITS.rename({"age": "ward", "ward": "age"}).with_columns(
            ward=sd.col("ward").cast("text")
        ),
        WARDS,
    ),
    "computed": lambda _: counted(VISITS.with_columns(tens=AGE // 10), TENS),
    "written over": lambda _: counted(
        VISITS.with_columns(ward=sd.when(AGE > 35).then("A").otherwise("B")), WARDS
    ),
    "computed of two": lambda _: counted(
        VISITS.with_columns(tens=sd.col("days") + AGE * 0), TENS
    ),
    "binned": lambda _: (
        VISITS
        .with_columns(b=AGE.bin([0, 40, 99]))
        .group_by(sd.KeySet.from_dict({"b": ["[0, 40)"]}))
        .agg(n=sd.count())
    ),
    "filled": lambda _: counted(VISITS.fill_null(age=30), AGES),
    "as a histogram": lambda _: VISITS.agg(h=sd.histogram("age", [0, 40, 99])),
    "of a public table": lambda _: counted(
        VISITS.join_public("regions", on="age"), DECADES
    ),
    "of another private table": lambda _: counted(
        sd
        .table("visits")
        .select("patient", "ward")
        .enforce(sd.MaxRowsPerID(1))
        .join_private(sd.table("people").enforce(sd.MaxRowsPerID(1)), on="patient"),
        AGES,
    ),
    "of a person's rows": lambda _: counted(
        sd.table("visits").per_id(age=sd.max("age", 0, 99)), AGES
    ),
    "by a person's group": lambda _: (
        sd
        .table("visits")
        .per_id("age", n=sd.count())
        .enforce(sd.MaxRowsPerID(1))
        .agg(people=sd.count())
    ),
    "of a function": lambda _: counted(
        VISITS.with_columns(sd.udf(decade, returns={"tens": "i64"})), TENS
    ),
    "of a function that makes rows": lambda _: counted(
        VISITS.flat_map(
            lambda row: [decade(row)], returns={"tens": "i64"}, max_rows=1
        ).enforce(sd.MaxRowsPerID(1)),
        TENS,
    ),
    "of a list": lambda _: counted(
        sd.table("visits").flat_map("codes", max_rows=1).enforce(sd.MaxRowsPerID(1)),
        sd.KeySet.from_dict({"codes": ["x"]}),
    ),
    "of margins": lambda _: VISITS.marginals(
        sd.KeySet.from_dict({"ward": ["A"], "age": [30, 40]}), order=1
    ),
    "over time": lambda _: VISITS.cumulative("age", range(30, 50), n=sd.count()),
    "the first few": lambda _: VISITS.group_by(AGES).top(1, by=sd.count()),
    "of a view": view_of,
    "of SQL": lambda s: s.sql(
        "SELECT age + 1 AS tens, COUNT(*) AS n FROM visits GROUP BY tens",
        limits=sd.MaxRowsPerID(1),
        keys=TENS,
    ),
    "of SQL, under a name": lambda s: s.sql(
        "WITH v AS (SELECT patient, age AS ward FROM visits) "
        "SELECT ward, COUNT(*) AS n FROM v GROUP BY ward",
        limits=sd.MaxRowsPerID(1),
        keys=sd.KeySet.from_dict({"ward": [30]}),
    ),
    "the id": lambda _: counted(VISITS, sd.KeySet.from_dict({"patient": [1, 2]})),
}
"""Groups by a column that may not mark them."""
CHOSEN: Final[dict[str, Callable[[Session], Any]]] = {
    "filter": lambda _: VISITS.filter(AGE > 35).agg(n=sd.count()),
    "filter of a new column": lambda _: (
        VISITS.with_columns(x=AGE + 1).filter(sd.col("x") > 35).agg(n=sd.count())
    ),
    "filter of two": lambda _: VISITS.filter((sd.col("ward") == "A") & (AGE > 35)).agg(
        n=sd.count()
    ),
    "filter that says nothing": lambda _: VISITS.filter((AGE > 0) | (AGE <= 0)).agg(
        n=sd.count()
    ),
    "missing values": lambda _: VISITS.drop_nulls("age").agg(n=sd.count()),
    "any missing value": lambda _: VISITS.drop_nulls().agg(n=sd.count()),
    "a person's rows": lambda _: (
        sd
        .table("visits")
        .per_id(a=sd.max("age", 0, 99))
        .filter(sd.col("a") > 35)
        .agg(n=sd.count())
    ),
    "a public table": lambda _: VISITS.join_public("regions", on="age").agg(
        n=sd.count()
    ),
    "the other side of a join": lambda _: (
        sd
        .table("visits")
        .select("patient")
        .enforce(sd.MaxRowsPerID(1))
        .join_private(
            sd.table("people").filter(AGE > 35).enforce(sd.MaxRowsPerID(1)),
            on="patient",
        )
        .agg(n=sd.count())
    ),
    "one person": lambda _: VISITS.filter(sd.col("patient") == 7).agg(n=sd.count()),
    "a bound": lambda _: (
        sd
        .table("visits")
        .enforce(sd.MaxGroupsPerID("age", 1))
        .enforce(sd.MaxRowsPerID(1))
        .agg(n=sd.count())
    ),
    "SQL": lambda s: s.sql(
        "SELECT COUNT(*) AS n FROM visits WHERE age > 35", limits=sd.MaxRowsPerID(1)
    ),
    "SQL, in an answer": lambda s: s.sql(
        "SELECT COUNT(*) FILTER (WHERE age > 35) AS n FROM visits",
        limits=sd.MaxRowsPerID(1),
    ),
}
"""Rows chosen by a column that may not choose them, or counted by it."""
AGGREGATED: Final[dict[str, Callable[[Session], Any]]] = {
    "sum": lambda _: VISITS.agg(s=sd.sum("age", 0, 99)),
    "mean": lambda _: VISITS.agg(s=sd.mean("age", 0, 99)),
    "variance": lambda _: VISITS.agg(s=sd.variance("age", 0, 99)),
    "median": lambda _: VISITS.agg(s=sd.median("age", 0, 99)),
    "bounds": lambda _: VISITS.agg(s=sd.bounds("age")),
    "the id": lambda _: VISITS.agg(s=sd.sum("patient", 0, 99)),
    "what was clamped of a person": lambda _: (
        sd
        .table("visits")
        .per_id(a=sd.max("age", 0, 35))
        .agg(n=sd.count(), coverage=True)
    ),
    "distinct": lambda _: VISITS.agg(s=sd.count_distinct("age")),
    "distinct of two": lambda _: VISITS.agg(s=sd.count_distinct("days", "age")),
    "of an expression": lambda _: VISITS.agg(s=sd.sum(AGE % 10, 0, 9)),
    "of a condition": lambda _: VISITS.agg(
        s=sd.sum(sd.when(AGE > 35).then(1).otherwise(0), 0, 1)
    ),
    "beside another": lambda _: VISITS.agg(
        d=sd.sum("days", 0, 9), s=sd.max("age", 0, 9)
    ),
    "of a person": lambda _: (
        sd.table("visits").per_id(a=sd.sum("age", 0, 99)).agg(s=sd.mean("a", 0, 99))
    ),
    "by which groups are chosen": lambda _: VISITS.group_by(WARDS).top(
        1, by=sd.sum("age", 0, 99)
    ),
    "over time": lambda _: VISITS.cumulative("ward", ["A", "B"], s=sd.sum("age", 0, 9)),
    "a list, exploded": lambda _: (
        sd
        .table("visits")
        .flat_map("codes", max_rows=1)
        .enforce(sd.MaxRowsPerID(1))
        .agg(s=sd.count_distinct("codes"))
    ),
}
"""Aggregates of a column that may not be aggregated."""
ALLOWED: Final[dict[str, Callable[[Session], Any]]] = {
    "groups": lambda _: counted(VISITS, WARDS),
    "groups that are not known": lambda _: (
        sd
        .table("visits")
        .enforce(sd.MaxGroupsPerID("ward", 1))
        .group_by("ward")
        .agg(n=sd.count_ids())
    ),
    "a filter": lambda _: VISITS.filter(sd.col("ward") == "A").agg(n=sd.count()),
    "values": lambda _: VISITS.agg(s=sd.sum("days", 0, 9), m=sd.median("days", 0, 9)),
    "people": lambda _: VISITS.agg(n=sd.count_ids()),
    "with coverage": lambda _: (
        VISITS
        .filter(sd.col("ward") == "A")
        .group_by(WARDS)
        .agg(n=sd.count_ids(), s=sd.sum("days", 0, 2), coverage=True)
    ),
    "a column that is made and not used": lambda _: VISITS.with_columns(x=AGE + 1).agg(
        n=sd.count()
    ),
    "a person's rows": lambda _: (
        sd
        .table("visits")
        .per_id(d=sd.sum("days", 0, 9), a=sd.max("age", 0, 99))
        .agg(s=sd.mean("d", 0, 9))
    ),
    "rows of the same people": lambda _: VISITS.join_private(
        sd.table("people").select("patient").enforce(sd.MaxRowsPerID(1)), on="patient"
    ).agg(n=sd.count()),
    "margins": lambda _: VISITS.marginals(WARDS, order=1),
    "names of groups": lambda _: counted(
        VISITS.rename({"ward": "w"}), (sd.KeySet.from_dict({"w": ["A"]}))
    ),
    "a constant": lambda _: counted(
        VISITS.with_columns(all=sd.lit("all")), sd.KeySet.from_dict({"all": ["all"]})
    ),
}
"""What uses listed columns alone."""


def priced(ask: Callable[[Session], Any]) -> None:
    """Price a request under the rules."""
    session = clinic(ledger_under(RULES))
    session.price(ask(session), HALF)


@sampled(10)
@for_each("way", list(MADE))
def test_no_disguise_makes_a_column_a_key(way: str) -> None:
    with pytest.raises(PolicyRefusal, match=r"tables\.(visits|people)\.(keys|filters)"):
        priced(MADE[way])


@sampled(5)
@for_each("way", list(CHOSEN))
def test_no_disguise_lets_a_column_choose_rows(way: str) -> None:
    rules = r"tables\.(visits|people)\.(filters|keys|values)"
    with pytest.raises(PolicyRefusal, match=rules):
        priced(CHOSEN[way])


@sampled(5)
@for_each("way", list(AGGREGATED))
def test_no_disguise_aggregates_a_column(way: str) -> None:
    with pytest.raises(PolicyRefusal, match=r"tables\.visits\.(values|filters|keys)"):
        priced(AGGREGATED[way])


@sampled(5)
@for_each("way", list(ALLOWED))
def test_what_is_listed_is_allowed(way: str) -> None:
    priced(ALLOWED[way])


@for_each("by", ["ward", "age"])
def test_parts_are_groups(by: str) -> None:
    """A table is parted by what may mark groups, and its parts are no filters."""
    session = clinic(ledger_under(RULES.replace('filters = ["ward"]', "filters = []")))
    session.view("own", sd.table("visits").enforce(sd.MaxGroupsPerID(by, 1)))
    values = {"ward": ["A", "B"], "age": [30, 40]}[by]
    if by == "age":
        with pytest.raises(PolicyRefusal, match=r"tables\.visits\.keys"):
            session.partition("own", by, values, HALF)
        return
    part = session.partition("own", by, values, HALF)["A"]
    rows = sd.table("own").enforce(sd.MaxRowsPerID(1))
    tenth = sd.ApproxDP("0.1", 0)
    part.release(rows.agg(d=sd.sum("days", 0, 9)), tenth)
    with pytest.raises(PolicyRefusal, match=r"tables\.visits\.filters = \[\]"):
        part.release(rows.filter(AGE > 35).agg(d=sd.sum("days", 0, 9)), tenth)


def test_what_a_join_brings_is_of_the_columns_joined_on() -> None:
    """Where a column may choose rows, its names for groups are still no groups."""
    rules = RULES.replace('filters = ["ward"]', 'filters = ["ward", "age"]')
    session = clinic(ledger_under(rules))
    joined = VISITS.join_public("regions", on="age")
    session.price(joined.agg(n=sd.count()), HALF)
    with pytest.raises(PolicyRefusal, match=r'tables\.visits\.keys = \["ward"\]'):
        session.price(counted(joined, DECADES), HALF)


def test_blocks_are_no_filters() -> None:
    """Rows of open blocks are a table; a filter by the column of blocks is a filter."""
    table = {"patient": [1, 2, 3], "cohort": ["a", "b", "a"], "days": [1, 2, 3]}
    visits = sd.PrivateTable(table, sd.AddRowsWithID("patient"), blocks="cohort")
    rules = "serial = 1\n[groups]\nleast = 2\n[tables.visits]\nfilters = []\n"
    blocks = sd.Blocks(names=["a", "b"])
    session = sd.Session({"visits": visits}, HALF, blocks=blocks, engine="memory")
    session.ledger.obey(policy_of(rules))
    for each in (session, session.in_blocks("a")):
        each.release(VISITS.agg(n=sd.count()), sd.PureDP("0.1"))
        with pytest.raises(PolicyRefusal, match=r"tables\.visits\.filters = \[\]"):
            each.price(VISITS.filter(sd.col("cohort") == "a").agg(n=sd.count()), HALF)
    counted_so_far = session.ledger.records()[-2].fields["policy"]["sum"]
    assert counted_so_far == {"epsilon": "1/5", "delta": "0/1"}
    session.ledger.verify()
