"""Rows that a join or a step multiplies are priced as often as they stand."""

from collections import Counter
from typing import Any, Final

import sordino as sd
from sordino.data.limits import AbstractTruncation
from sordino.engines.memory import MemoryEngine, keyed_order
from sordino.plan.price import Price, price_request
from sordino.session.tables import Catalog, open_catalog
from tests.batches import for_each
from tests.sessions import Engine

Side = dict[str, list[Any]]

BUDGET: Final = sd.ApproxDP(1, "1e-6")
LEFT: Final[Side] = {"key": ["one", "one", "two", "two"], "a": [1, 2, 1, 2]}
RIGHT: Final[Side] = {"key": ["one", "one", "two", "two"], "b": [1, 2, 1, 2]}
TRIES: Final = 64
"""Rows that are tried; of three rows two are kept, by a hash whose key is fixed."""


def with_row(side: Side, key: str, value: int) -> Side:
    name = list(side)[1]
    return {"key": [*side["key"], key], name: [*side[name], value]}


def priced(
    left: Side, right: Side, first: AbstractTruncation, second: AbstractTruncation
) -> tuple[Price, Catalog]:
    """Return the price of all pairs, each in a group of its own, and its catalog."""
    one = sd.PrivateTable(left, protects=sd.AddOneRow())
    other = sd.PrivateTable(right, protects=sd.AddOneRow())
    engine = MemoryEngine(order=keyed_order(7))
    catalog = open_catalog(engine, {"left": one, "right": other})
    pairs = sd.table("left").join_private("right", "key", left=first, right=second)
    asked = pairs.group_by("key", "a", "b").agg(n=sd.count())
    return price_request(asked, catalog, BUDGET), catalog


def counted(left: Side, right: Side) -> Counter[tuple[Any, ...]]:
    found, catalog = priced(left, right, sd.DropExcess(2), sd.DropExcess(2))
    answer = catalog.engine.answer(found._purchase.plan.question)
    *keys, counts = (column.to_pylist() for column in answer.columns)
    return Counter(dict(zip(zip(*keys, strict=True), counts, strict=True)))


def moved(left: Side, right: Side) -> int:
    before, after = counted(LEFT, RIGHT), counted(left, right)
    return ((before - after) + (after - before)).total()


@for_each(
    ("first", "second", "most"),
    [
        (sd.DropExcess(2), sd.DropExcess(2), 8),
        (sd.DropExcess(3), sd.DropExcess(2), 10),
        (sd.DropExcess(2), sd.DropNonUnique(), 4),
        (sd.DropNonUnique(), sd.DropNonUnique(), 2),
    ],
)
def test_the_price_of_a_join(
    first: AbstractTruncation, second: AbstractTruncation, most: int
) -> None:
    """A row on each side moves tau_l s_r + tau_r s_l pairs."""
    found, _ = priced(LEFT, RIGHT, first, second)
    assert found._purchase.plan.relation.contribution.most_rows() == most


def test_two_rows_move_eight_pairs() -> None:
    """The bound of two `DropExcess(2)` is reached, and never passed: 4 is no bound."""
    seen = {
        moved(with_row(LEFT, "one", value), with_row(RIGHT, "two", value))
        for value in range(3, 3 + TRIES)
    }
    assert max(seen) == 8


ROWS = {"person": [1, 2, 2, 3], "ward": ["A", "B", "A", "B"], "tags": [[1, 2]] * 4}
WARDS = {"ward": ["A", "A", "B", "B"], "nurse": ["x", "y", "x", "z"]}


def twice(row: Any) -> Any:
    del row
    return [{"half": 0}, {"half": 1}]


STEPS: dict[str, Any] = {
    "flat_map": lambda q: q.flat_map(twice, {"half": "i64"}, 2),
    "explode": lambda q: q.flat_map("tags", max_rows=2),
    "join": lambda q: q.join_public("wards", on="ward"),
}


def session(protects: Any, engine: Engine = "memory") -> sd.Session:
    columns = {"tags": sd.Column("list[i64]")}
    visits = sd.PrivateTable(ROWS, protects=protects, columns=columns)
    tables = {"visits": visits, "wards": sd.PublicTable(WARDS)}
    return sd.Session(tables, sd.ApproxDP(10, "1e-3"), engine=engine)


def change(protects: Any, query: Any) -> sd.Sensitivity:
    price = session(protects).price(query.agg(n=sd.count()), sd.ApproxDP(1, "1e-6"))
    found = price.sensitivity["n"]
    assert isinstance(found, sd.Sensitivity)
    return found


@for_each("step", STEPS.values(), ids=STEPS)
@for_each("rows", [1, 3])
def test_old_columns_take_as_many_values_as_there_were_rows(
    step: Any, rows: int
) -> None:
    """Grouped by an old column a unit is in so many groups; by a new one in twice."""
    unit = sd.AddMaxRows(rows)
    query = step(sd.table("visits"))
    old = change(unit, query.group_by("ward"))
    assert old.l0 == rows
    assert old.l1 == old.l2 == old.linf == 2 * rows
    anew = query.with_columns(ward=sd.col("ward").upper())
    assert change(unit, anew.group_by("ward")).l0 == 2 * rows
    again = STEPS["flat_map"](query).group_by("ward")
    assert change(unit, again).l0 == rows


def test_rows_of_an_id_stay_together_too() -> None:
    """A bound on the rows of an id, before they are multiplied, bounds its groups."""
    query = STEPS["flat_map"](sd.table("visits").enforce(sd.MaxRowsPerID(3)))
    found = change(sd.AddRowsWithID("person"), query.group_by("ward"))
    assert found.l0 == 3
    assert found.l1 == found.linf == 6
    new = change(sd.AddRowsWithID("person"), query.group_by("half"))
    assert new.l0 == 6


@for_each("step", STEPS.values(), ids=STEPS)
def test_parts_by_an_old_column_are_charged_once(step: Any) -> None:
    """The rows made of one row lie in one part: the charge is that of one part."""
    whole = session(sd.AddOneRow())
    whole.view("many", step(sd.table("visits")))
    parts = whole.partition("many", "ward", ["A", "B"], sd.PureDP(1))
    assert whole.spent.guarantees.epsilon == 1
    asked = sd.table("many").agg(n=sd.count())
    price = parts["A"].price(asked, sd.PureDP(1))
    found = price.sensitivity["n"]
    assert isinstance(found, sd.Sensitivity)
    assert found.l1 == 2
