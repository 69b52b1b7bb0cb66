"""One row for each id: what it holds, what is known of it, and what is refused."""

import datetime as dt
import math
import statistics
from collections.abc import Mapping
from typing import Any, Final

import pytest

import sordino as sd
from sordino.auditing.drawn_queries import PER_ID
from sordino.auditing.drawn_queries import draw_query as drawn
from sordino.auditing.worlds import world
from sordino.engines.memory import MemoryEngine
from sordino.errors import SordinoError
from sordino.query.builder import Query
from sordino.query.steps import Relation
from sordino.session.tables import Catalog, open_catalog
from tests.batches import calls_of, for_each
from tests.dice import rolled

DAY: Final = dt.date(2026, 1, 1)
ROWS: Final[Mapping[str, list[Any]]] = {
    "p": ["a", "a", "a", "b", "b", None, None],
    "ward": ["x", "x", None, "y", None, "x", "x"],
    "days": [3, 50, None, -2, 4, 9, 9],
    "cost": [1.5, math.nan, 0.25, None, None, 7.0, 7.0],
    "ill": [False, True, None, False, None, True, True],
    "born": [DAY, None, DAY.replace(day=9), None, None, DAY, DAY],
    "codes": [[1], [], None, [2], [3], [4], [5]],
}
LATER: Final = dt.date(2026, 1, 5)
DAYS: Final = (DAY, LATER)
TABLE: Final = sd.PrivateTable(ROWS, protects=sd.AddRowsWithID("p"))


def catalog(**more: Any) -> Catalog:
    return open_catalog(MemoryEngine(), {"visits": TABLE, **more})


def rows_of(query: Query) -> list[dict[str, Any]]:
    opened = catalog()
    assert isinstance(opened.engine, MemoryEngine)
    return opened.engine.rows(query.resolve(opened).node)


def test_what_each_row_comes_to() -> None:
    query = sd.table("visits").per_id(
        n=sd.count(),
        wards=sd.count_distinct("ward"),
        days=sd.sum("days"),
        held=sd.sum("days", 0, 10),
        filled=sd.sum("days", 0, 10, nulls=5),
        cost=sd.sum("cost", 0, 4),
        mean=sd.mean("days", 0, 10),
        plain=sd.mean("days"),
        least=sd.min("days"),
        most=sd.max("cost"),
        late=sd.max("born", DAY, LATER),
        ever=sd.max("ill"),
        always=sd.min("ill"),
    )
    a, b = rows_of(query)
    assert a == {
        "p": "a",
        "n": 3,
        "wards": 1,
        "days": 53,
        "held": 13,
        "filled": 18,
        "cost": 1.75,
        "mean": 6.5,
        "plain": 26.5,
        "least": 3,
        "most": 1.5,
        "late": LATER,
        "ever": True,
        "always": False,
    }
    assert b == {
        "p": "b",
        "n": 2,
        "wards": 1,
        "days": 2,
        "held": 4,
        "filled": 4,
        "cost": None,
        "mean": 2.0,
        "plain": 1.0,
        "least": -2,
        "most": None,
        "late": None,
        "ever": False,
        "always": False,
    }


def test_a_row_for_each_id_and_group() -> None:
    query = sd.table("visits").per_id("ward", n=sd.count())
    found = sorted(map(str, rows_of(query)))
    assert found == sorted(
        map(
            str,
            [
                {"p": "a", "ward": "x", "n": 2},
                {"p": "a", "ward": None, "n": 1},
                {"p": "b", "ward": "y", "n": 1},
                {"p": "b", "ward": None, "n": 1},
            ],
        )
    )


def test_no_questions_leave_ids_and_groups() -> None:
    """Without questions there is a row for each id: its people are its rows."""
    assert rows_of(sd.table("visits").per_id()) == [{"p": "a"}, {"p": "b"}]


def test_names_of_totals_are_their_own() -> None:
    asked = {"m": sd.mean("days", 0, 10), "m'": sd.mean("cost", 0, 1)}
    query = sd.table("visits").with_columns(**{"m''": sd.col("ward")})
    found = rows_of(query.per_id("m''", **asked))
    assert {row["m''"]: (row["m"], row["m'"]) for row in found if row["p"] == "a"} == {
        "x": (6.5, 1.0),
        None: (None, 0.25),
    }


def test_a_mean_is_the_nearest_double() -> None:
    held = [1, 2, 4, 7, 9, 9]
    table = sd.PrivateTable(
        {"p": [1] * len(held), "x": held}, protects=sd.AddRowsWithID("p")
    )
    opened = catalog(one=table)
    assert isinstance(opened.engine, MemoryEngine)
    query = sd.table("one").per_id(m=sd.mean("x", 0, 10))
    (row,) = opened.engine.rows(query.resolve(opened).node)
    assert row["m"] == statistics.mean(held)


def known(query: Query, name: str) -> Any:
    """Return within which bounds a column lies."""
    return query.resolve(catalog()).schema[name].bounds


BOUNDS: Final[dict[str, tuple[Any, Any, Any]]] = {
    "count": (sd.count(), None, (1, 3)),
    "different values": (sd.count_distinct("ward"), None, (0, 3)),
    "sum": (sd.sum("days", -1, 10), None, (-3, 30)),
    "sum of doubles": (sd.sum("cost", "0.5", 2), None, (0, 6)),
    "sum of parts": (sd.sum("cost", "-0.25", "0.5"), None, (-0.75, 1.5)),
    "sum without bounds": (sd.sum("days"), None, None),
    "mean": (sd.mean("days", -1, 10), (-1, 10), (-1, 10)),
    "mean of doubles": (sd.mean("cost", 0, "0.5"), (0, 0.5), (0, 0.5)),
    "least": (sd.min("days", -1, "9.5"), (-1, 10), (-1, 10)),
    "greatest": (sd.max("cost", 0, "0.5"), (0.0, 0.5), (0.0, 0.5)),
    "least without bounds": (sd.min("days"), None, None),
    "last date": (sd.max("born", *DAYS), DAYS, DAYS),
    "any": (sd.max("ill"), None, None),
}


@for_each("name", BOUNDS)
def test_bounds_follow_from_limits(name: str) -> None:
    """They are known of all ids where a limit bounds their rows."""
    asked, free, limited = BOUNDS[name]
    whole = sd.table("visits")
    few = whole.enforce(sd.MaxRowsPerID(3))
    assert known(whole.per_id(it=asked), "it") == free
    assert known(few.per_id(it=asked), "it") == limited


def test_bounds_by_group() -> None:
    """A limit on the rows of a group bounds what is made of them."""
    few = sd.table("visits").enforce(sd.MaxRowsPerGroupPerID("ward", 2))
    assert known(few.per_id("ward", n=sd.count()), "n") == (1, 2)
    assert known(few.per_id(n=sd.count()), "n") is None
    both = few.enforce(sd.MaxGroupsPerID("ward", 3))
    assert known(both.per_id(n=sd.count()), "n") == (1, 6)
    assert known(both.per_id("ward").per_id(n=sd.count()), "n") == (1, 3)
    alone = sd.table("visits").enforce(sd.MaxRowsPerID(1))
    assert known(alone.per_id(n=sd.count()), "n") == (0, 1)


def test_known_bounds_stand_in() -> None:
    session = sd.Session({"visits": TABLE}, sd.PureDP(9), engine="memory")
    people = (
        sd
        .table("visits")
        .enforce(sd.MaxRowsPerID(3))
        .per_id(n=sd.sum("days", -1, 10), born=sd.min("born", DAY, LATER))
    )
    for word in (sd.sum, sd.mean, sd.variance, sd.stdev, sd.median, sd.min, sd.max):
        one, other = (
            session.price(people.agg(n=asked), sd.PureDP(1))
            for asked in (word("n"), word("n", -3, 30))
        )
        assert (one.noise, one.errors) == (other.noise, other.errors)
    assert session.price(people.agg(b=sd.median("born")), sd.PureDP(1)).budget


def test_within_bounds_in_every_world() -> None:
    """For drawn rows and steps, what is known of a column is so of all its values."""
    told = 0
    for seed in range(250):
        dice = rolled(seed)
        one = world(dice)
        opened = one.catalog(MemoryEngine(), one.private)
        found = drawn(dice, opened, PER_ID).relation
        told += sum(1 for _ in values_within(found, opened))
    assert told > 100


def values_within(found: Relation, opened: Catalog) -> Any:
    """Yield the values of which bounds are known, all within them."""
    assert isinstance(opened.engine, MemoryEngine)
    rows = opened.engine.rows(found.node)
    for name, column in found.schema.columns:
        for value in (row[name] for row in rows):
            assert value is not None or column.nullable
            if column.bounds is not None and value is not None:
                assert column.bounds[0] <= value <= column.bounds[1]
                yield value


def test_one_id_moves_one_row() -> None:
    """No limit is needed: an id has one row, or one in each of its groups."""
    session = sd.Session({"visits": TABLE}, sd.PureDP(9), engine="memory")
    people = sd.table("visits").per_id(n=sd.count())
    price = session.price(people.agg(n=sd.count()), sd.PureDP(1))
    assert price.sensitivity["n"].l1 == 1
    wards = sd.table("visits").enforce(sd.MaxGroupsPerID("ward", 2)).per_id("ward")
    keys = sd.KeySet.from_dict({"ward": ["x", "y"]})
    price = session.price(wards.group_by(keys).agg(n=sd.count()), sd.PureDP(1))
    assert price.sensitivity["n"].l1 == 2


def test_clamped_ids_are_counted() -> None:
    session = sd.Session({"visits": TABLE}, sd.PureDP(10**9), engine="memory")
    people = sd.table("visits").per_id(n=sd.sum("days", 0, 10))
    asked = people.agg(coverage=True, n=sd.sum("n", 0, 12))
    coverage: Any = session.release(asked, sd.PureDP(10**8)).coverage
    found = {
        (row["what"], row["counted"]): row["count"] for row in coverage.to_pylist()
    }
    assert found == {("days to [0, 10]", "ids"): 2, ("n to [0, 12]", "rows"): 1}
    plain = people.agg(coverage=True, n=sd.count())
    coverage = session.release(plain, sd.PureDP(1)).coverage
    assert len(coverage) == 1


def test_parts_of_people() -> None:
    """In a part charged by the row a result row is priced for the whole unit."""
    session = sd.Session({"visits": TABLE}, sd.PureDP(9), engine="memory")
    session.view("few", sd.table("visits").enforce(sd.MaxRowsPerID(3)))
    parts = session.partition("few", by="ward", values=["x", "y"], budget=sd.PureDP(1))
    plain = sd.table("few").agg(n=sd.count())
    asked = sd.table("few").per_id(n=sd.count()).agg(n=sd.count())
    both = [parts["x"].price(one, sd.PureDP(1)).noise["n"] for one in (plain, asked)]
    noise: list[Any] = [*both]
    assert [one.scale for (one,) in noise] == [3, 3]
    assert [one.dtype for (one,) in noise] == ["i64", "i64"]


REFUSED: Final = calls_of("refused/per_id", globals(), q=sd.table("visits"))


def asked_of(ask: Any) -> Any:
    asked = ask()
    return asked.agg(k=sd.count()) if isinstance(asked, Query) else asked


@for_each("name", REFUSED)
def test_refused(name: str) -> None:
    ask, said = REFUSED[name]
    session = sd.Session({"visits": TABLE}, sd.PureDP(9), engine="memory")
    with pytest.raises(SordinoError, match=said):
        session.price(asked_of(ask), sd.PureDP(1))


@for_each(
    "unit", [sd.AddOneRow(), sd.AddMaxRows(3), sd.AddMaxRowsInMaxGroups("ward", 2, 3)]
)
def test_rows_have_no_ids(unit: Any) -> None:
    table = sd.PrivateTable(ROWS, protects=unit)
    query = sd.table("rows").per_id("ward", n=sd.count())
    with pytest.raises(sd.errors.InvalidQuery, match="this table protects rows"):
        query.resolve(catalog(rows=table))


def test_bounds_are_not_declared() -> None:
    """Two tables of the same words have the same columns."""
    columns = {"days": sd.Column("i64", bounds=(0, 3))}
    with pytest.raises(sd.errors.InvalidParameter, match="cannot be declared"):
        sd.PrivateTable(ROWS, protects=sd.AddOneRow(), columns=columns)
