"""Laws: no group is shown whose noisy count is below what a policy says.

What decides is the price; what is held against it are the answers themselves.
"""

from collections.abc import Callable
from typing import Any, Final

import pytest

import sordino as sd
from sordino.errors import PolicyRefusal
from sordino.session.session import Session
from tests.batches import for_each, sampled
from tests.policies import HALF, WARDS, clinic, ledger_under

LEAST: Final = "serial = 1\n[groups]\nleast = 20\n"
ONE: Final = sd.table("visits").enforce(sd.MaxRowsPerID(1))
COUNTED: Final = ONE.group_by(WARDS).agg(n=sd.count())
SIZES: Final = range(12, 29)
"""Of groups around the least count."""


IN_A: Final = sd.col("ward") == "A"
OWN: Final = sd.when(IN_A).then(sd.col("days")).otherwise(None)
"""The days of one ward: no other row has a value."""
MADE: Final = ONE.with_columns(z=OWN)


def unknown(budget: Any, **more: Any) -> Callable[[Session], Any]:
    """Ask for groups that are not known, whose threshold follows from the budget."""
    query = sd.table("visits").enforce(
        sd.MaxGroupsPerID("ward", 1), sd.MaxRowsPerGroupPerID("ward", 1)
    )
    request = query.group_by("ward").agg(n=sd.count_ids(), **more)
    return lambda session: session.price(request, budget)


def priced(request: Any) -> Callable[[Session], Any]:
    return lambda session: session.price(request, HALF)


REFUSED: Final[dict[str, Callable[[Session], Any]]] = {
    "known groups": priced(COUNTED),
    "a smaller minimum": priced(COUNTED.suppress_below(19)),
    "a low threshold": unknown(sd.ApproxDP(2, "1e-7")),
    "keys known in part": priced(
        sd
        .table("visits")
        .enforce(sd.MaxGroupsPerID(("ward", "age"), 1), sd.MaxRowsPerID(1))
        .group_by("ward", sd.KeySet.from_dict({"age": [30, 40]}))
        .agg(n=sd.count_ids())
    ),
    "margins": priced(ONE.marginals(WARDS, order=1)),
    "the first few": priced(ONE.group_by(WARDS).top(1, by=sd.count())),
    "figures over time": priced(ONE.cumulative("ward", ["A", "B"], n=sd.count())),
    "a histogram": priced(ONE.agg(h=sd.histogram("age", [0, 40, 99]))),
    "a histogram of groups": priced(
        ONE
        .group_by(WARDS)
        .agg(h=sd.histogram("age", [0, 40, 99]), n=sd.count())
        .suppress_below(20)
    ),
    "a filter": priced(ONE.filter(sd.col("age") == 30).agg(n=sd.count())),
    "a join": priced(ONE.join_public("regions", on="age").agg(n=sd.count())),
    "rows of a list": priced(
        sd
        .table("visits")
        .flat_map(lambda _: [], returns={"x": "i64"}, max_rows=1)
        .enforce(sd.MaxRowsPerID(1))
        .agg(n=sd.count())
    ),
    "one of several": lambda session: session.price_all(
        {"a": COUNTED.suppress_below(20), "b": COUNTED}, HALF
    ),
    "sets of groups": lambda session: session.price_all(
        ONE.group_by_sets(WARDS, ()).agg(n=sd.count()), HALF
    ),
}
"""Answers in which a group with a smaller noisy count may show."""
ALLOWED: Final[dict[str, Callable[[Session], Any]]] = {
    "known groups": priced(COUNTED.suppress_below(20)),
    "a greater minimum": priced(COUNTED.suppress_below(21)),
    "a filter, by groups": priced(
        ONE
        .filter(sd.col("age") > 30)
        .group_by(WARDS)
        .agg(n=sd.count())
        .suppress_below(20)
    ),
    "a high threshold": unknown(sd.ApproxDP("0.25", "1e-9")),
    "all rows": priced(ONE.agg(n=sd.count(), m=sd.median("age", 0, 99))),
    "all rows, by person": priced(
        sd.table("visits").per_id(d=sd.sum("days", 0, 9)).agg(m=sd.mean("d", 0, 9))
    ),
    "all rows, by person, as extremes": priced(
        sd.table("visits").per_id(d=sd.max("days", 0, 9)).agg(m=sd.max("d", 0, 9))
    ),
    "a column under another name": priced(
        MADE.rename({"days": "d"}).agg(m=sd.mean("d", 0, 9))
    ),
    "a sum of a condition": priced(
        ONE.agg(n=sd.sum(sd.when(IN_A).then(1).otherwise(0), 0, 1))
    ),
    "a sum of what is made": priced(
        MADE.agg(s=sd.sum("z", 0, 9, nulls="drop"), n=sd.count_distinct("z"))
    ),
    "a mean in SQL": lambda session: session.price(
        session.sql(
            "SELECT AVG(CLAMP(days, 0, 9)) AS m, COUNT(days) AS n FROM visits",
            limits=sd.MaxRowsPerID(1),
        ),
        HALF,
    ),
    "a mean by groups": priced(
        ONE
        .group_by(WARDS)
        .agg(n=sd.count(), m=sd.mean("days", 0, 9))
        .suppress_below(20)
    ),
}


def of_some(row: dict[str, Any]) -> dict[str, Any]:
    """Return a number for rows of one ward, in Python."""
    return {"z": row["days"] if row["ward"] == "A" else None}


def in_sql(cell: str) -> Callable[[Session], Any]:
    text = "SELECT " + cell + " AS m FROM visits"  # noqa: S608 ours
    one = sd.MaxRowsPerID(1)
    return lambda session: session.price(session.sql(text, limits=one), HALF)


def mean_of(rows: Any, **more: Any) -> Callable[[Session], Any]:
    return priced(rows.agg(m=sd.mean("z", 0, 9, nulls="drop"), **more))


ONLY: Final[dict[str, Callable[[Session], Any]]] = {
    "mean": mean_of(MADE),
    "mean with a number for the others": priced(
        MADE.agg(m=sd.mean("z", 0, 9, nulls=0))
    ),
    "variance": priced(MADE.agg(v=sd.variance("z", 0, 9, nulls="drop"))),
    "stdev": priced(MADE.agg(v=sd.stdev("z", 0, 9, nulls="drop"))),
    "median": priced(MADE.agg(v=sd.median("z", 0, 9, nulls="drop"))),
    "quantile": priced(MADE.agg(v=sd.quantile("z", "0.9", 0, 9, nulls="drop"))),
    "quantiles": priced(MADE.agg(v=sd.quantiles("z", ["0.1"], 0, 9, nulls="drop"))),
    "min": priced(MADE.agg(v=sd.min("z", 0, 9, nulls="drop"))),
    "max": priced(MADE.agg(v=sd.max("z", 0, 9, nulls="drop"))),
    "bounds": priced(MADE.agg(v=sd.bounds("z", nulls="drop"))),
    "beside a count, with coverage": mean_of(MADE, n=sd.count(), coverage=True),
    "in the question": priced(ONE.agg(m=sd.mean(OWN, 0, 9, nulls="drop"))),
    "a number that stands for the others": priced(
        ONE.agg(m=sd.max(sd.when(IN_A).then(sd.col("days")).otherwise(0), 0, 9))
    ),
    "in groups": priced(
        MADE
        .group_by(WARDS)
        .agg(n=sd.count(), m=sd.mean("z", 0, 9, nulls="drop"))
        .suppress_below(20)
    ),
    "renamed": mean_of(MADE.rename({"z": "x"}).rename({"x": "z"})),
    "written over": priced(
        ONE.with_columns(days=OWN).agg(m=sd.mean("days", 0, 9, nulls="drop"))
    ),
    "a cast that fails": mean_of(ONE.with_columns(z=sd.col("ward").cast("i64"))),
    "a division by zero": mean_of(
        ONE.with_columns(z=sd.col("days") // (sd.col("age") - 30))
    ),
    "a function": mean_of(ONE.with_columns(sd.udf(of_some, returns={"z": "i64"}))),
    "a left join": lambda session: session.price(
        ONE
        .join_public("lengths", on="days", how="left")
        .group_by(WARDS)
        .agg(m=sd.mean("z", 0, 9, nulls="drop"))
        .suppress_below(20),
        HALF,
    ),
    "an extreme of a person": mean_of(
        sd.table("visits").with_columns(z=OWN).per_id(z=sd.max("z", 0, 9, nulls="drop"))
    ),
    "a sum of a person, in the question": mean_of(
        sd.table("visits").per_id(z=sd.sum(OWN, 0, 9, nulls="drop"))
    ),
    "SQL: CASE": in_sql("AVG(CLAMP(CASE WHEN ward = 'A' THEN days END, 0, 9))"),
    "SQL: NULLIF": in_sql("AVG(CLAMP(NULLIF(days, 3), 0, 9))"),
    "SQL: FILTER": in_sql("AVG(CLAMP(days, 0, 9)) FILTER (WHERE ward = 'A')"),
}
"""Answers about the rows that have a value, where the question says which have one."""


@for_each("way", list(ONLY))
def test_a_value_that_few_rows_have_makes_no_group(way: str) -> None:
    """For any wording: the rows with a value are a group that nothing counts."""
    with pytest.raises(PolicyRefusal, match=r"groups\.least = 20, .* have a value"):
        ONLY[way](clinic(ledger_under(LEAST)))


@sampled(7)
@for_each("way", list(REFUSED))
def test_what_may_show_less_is_refused(way: str) -> None:
    with pytest.raises(PolicyRefusal, match=r"groups\.least = 20"):
        REFUSED[way](clinic(ledger_under(LEAST)))


@for_each("way", list(ALLOWED))
def test_what_shows_no_less_is_allowed(way: str) -> None:
    ALLOWED[way](clinic(ledger_under(LEAST)))


@for_each("is_known", [True, False])
def test_no_smaller_noisy_count_is_shown(*, is_known: bool) -> None:
    """For any draw: what passes the policy shows no count below it."""
    names = [f"g{size}" for size in SIZES]
    wards = [name for name, size in zip(names, SIZES, strict=True) for _ in range(size)]
    table = {"patient": list(range(len(wards))), "ward": wards}
    visits = sd.PrivateTable(table, protects=sd.AddRowsWithID("patient"))
    ledger = ledger_under(LEAST)
    session = sd.Session({"visits": visits}, ledger=ledger, engine="memory")
    query = sd.table("visits").enforce(
        sd.MaxGroupsPerID("ward", 1), sd.MaxRowsPerGroupPerID("ward", 1)
    )
    keys = sd.KeySet.from_dict({"ward": names}) if is_known else "ward"
    request = query.group_by(keys).agg(n=sd.count_ids())
    request = request.suppress_below(20) if is_known else request
    counts = []
    for _ in range(4):
        release = session.release(request, sd.ApproxDP("1", "1e-9"))
        counts += release.table["n"].to_pylist()
    assert counts
    assert min(counts) >= 20
    assert len(counts) < 4 * len(names)
