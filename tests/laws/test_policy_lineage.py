"""Laws: a column that may not mark groups, choose rows or be aggregated, in disguise.

What is made of a column is of that column, under any name and by any step.
"""

from collections.abc import Callable
from typing import Any, Final

import pytest

import sordino as sd
from sordino.errors import PolicyRefusal
from sordino.session.session import Session
from tests.batches import for_each, sampled, table_of, ways_of
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
    return {"tens": row["age"] // 10}


def view_of(session: Session) -> Any:
    session.view("renamed", VISITS.rename({"age": "a"}))
    return counted(sd.table("renamed").rename({"a": "tens"}), TENS)


WAYS: Final = table_of("refused/lineage")
NAMES: Final = {**globals(), "WARDS": WARDS}
MADE: Final = ways_of(WAYS["keys"], NAMES)
"""Groups by a column that may not mark them."""
CHOSEN: Final = ways_of(WAYS["filters"], NAMES)
"""Rows chosen by a column that may not choose them, or counted by it."""
AGGREGATED: Final = ways_of(WAYS["values"], NAMES)
"""Aggregates of a column that may not be aggregated."""
ALLOWED: Final = ways_of(WAYS["allowed"], NAMES)
"""What uses listed columns alone."""


def priced(ask: Callable[[Session], Any]) -> None:
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
