"""Steps that make several rows of one: what is made of a row shares its old columns."""

from typing import Any

import sordino as sd
from tests.batches import for_each
from tests.sessions import Engine

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
