"""Coverage: what is counted, that it is right, what it costs and how it is told."""

from fractions import Fraction
from typing import Any, Final

import pyarrow as pa
import pytest

import sordino as sd
from sordino.aggregations.measurement import Total
from sordino.engines.conformance import plans
from sordino.engines.conformance.plans import (
    comparable_answer,
    question_of,
    whole_question,
)
from sordino.engines.duckdb.session import duckdb_engine
from sordino.engines.engine import AbstractEngine
from sordino.engines.memory import MemoryEngine
from sordino.errors import InvalidParameter
from sordino.losses.loss import Budget
from sordino.numbers import total
from sordino.plan.plan import exact_counts
from sordino.plan.price import Price, price_request
from sordino.query.node_rules import narrow_schema
from sordino.query.nodes import Question, Source, Unreadable
from sordino.release.answer import Answer
from sordino.release.storage import answer_bytes, read_answer
from sordino.session.tables import open_catalog
from tests.batches import for_each, sampled
from tests.duckdb_order import SALT, in_duckdb_order
from tests.planned import planned

VISITS: Final = pa.table({
    "person": [1, 1, 1, 1, 2, 2, 3, None, 4],
    "ward": ["A", "A", "B", "C", "A", "A", "B", "B", "A"],
    "days": ["3", "many", "99", "", "x", "x", None, "x", "2.5"],
    "cost": [1.0, -5.0, 400.0, float("nan"), float("inf"), None, 7.0, 900.0, 30.0],
})
KINDS: Final = {"days": "i64"}
ENGINES: Final[dict[str, Any]] = {
    "duckdb": lambda: duckdb_engine(salt=SALT),
    "in parts": lambda: duckdb_engine(salt=SALT, parts=(3,)),
    "memory": lambda: MemoryEngine(order=in_duckdb_order(SALT)),
}
PERSON: Final = sd.AddRowsWithID("person")
BUDGETS: Final[dict[str, Budget]] = {
    "pure": sd.PureDP(1),
    "approximate": sd.ApproxDP(1, "1e-6"),
    "concentrated": sd.ZCDP("0.1"),
    "approximately concentrated": sd.ApproxZCDP("0.1", "1e-6"),
    "gaussian": sd.GaussianDP("0.5"),
    "advantage": sd.Advantage("0.2"),
}


def told(engine: AbstractEngine, query: Any, unit: Any = PERSON) -> dict[str, int]:
    """Return the exact counts of a query, by what they count."""
    table = sd.PrivateTable(VISITS, protects=unit, columns=KINDS)
    found = price_request(query, open_catalog(engine, {"visits": table}), sd.PureDP(1))
    return whole_coverage(engine, found)


@for_each("engine", ["duckdb", "memory"])
def test_what_is_counted(engine: str) -> None:
    query = (
        sd
        .table("visits")
        .enforce(sd.MaxGroupsPerID("ward", 2), sd.MaxRowsPerGroupPerID("ward", 1))
        .agg(
            days=sd.sum("days", 0, 30),
            cost=sd.mean("cost", 0, 100),
            more=sd.sum("cost", 0, 100, nulls=500),
            coverage=True,
        )
    )
    found = told(ENGINES[engine](), query)
    assert found["visits.days unreadable (ids)"] == 3  # 1, 2 and 4
    cut = "MaxGroupsPerID(columns=('ward',), limit=2) cut off (ids)"
    assert found[cut] == 1  # person 1 was in three wards
    assert set(found) == {
        "visits.days unreadable (ids)",
        cut,
        "MaxRowsPerGroupPerID(columns=('ward',), limit=1) cut off (ids)",
        "limits together, up to 6 of one person cut off (rows)",
        "limits together, more than 6 of one person cut off (ids)",
        "days to [0, 30] clamped (rows)",
        "cost to [0, 100] clamped (rows)",
        "cost to [0, 100], missing as 500 clamped (rows)",
    }


@for_each("engine", ["duckdb", "memory"])
def test_rows_that_limits_cut_off(engine: str) -> None:
    """The rows of each id before the limits less those after, up to a most."""
    in_wards = {1: (9, 1), 2: (2, 2), 3: (4,), 4: (1, 1, 1), 5: (30,), None: (7,)}
    cells = [
        (person, f"W{place}")
        for person, sizes in in_wards.items()
        for place, size in enumerate(sizes)
        for _ in range(size)
    ]
    persons, wards = map(list, zip(*cells, strict=True))
    rows = {"person": persons, "ward": wards}
    tables = {"visits": sd.PrivateTable(rows, protects=PERSON)}
    each, all_of_one = sd.MaxRowsPerGroupPerID("ward", 2), sd.MaxRowsPerID(3)
    limited = sd.table("visits").enforce(each, all_of_one)
    for query in (limited, limited.filter(sd.col("ward") == "W0")):
        open_engine = ENGINES[engine]()
        asked = query.agg(n=sd.count(), coverage=True)
        price = price_request(asked, open_catalog(open_engine, tables), sd.PureDP(1))
        found = whole_coverage(open_engine, price)
        # kept are 3, 3, 2, 3 and 2 rows; no more than 9 of one person are counted
        assert found["limits together, up to 9 of one person cut off (rows)"] == (
            (10 - 3) + (4 - 3) + (4 - 2) + 0 + 9
        )
        assert found["limits together, more than 9 of one person cut off (ids)"] == 1
    # all that a promise allows is counted, unless it is far beyond what is kept
    for promised, most, lost in ((40, 38, 7 + 1 + 2 + 28), (300, 9, 7 + 1 + 2 + 9)):
        all_of_one = sd.MaxRowsPerID(3, at_most=promised)
        query = sd.table("visits").enforce(each, all_of_one)
        asked = query.agg(n=sd.count(), coverage=True)
        price = price_request(asked, open_catalog(open_engine, tables), sd.PureDP(1))
        found = whole_coverage(open_engine, price)
        what = f"limits together, up to {most} of one person cut off (rows)"
        assert found[what] == lost


def whole_coverage(engine: AbstractEngine, price: Price) -> dict[str, int]:
    """Return the exact counts of a price, by what they count."""
    plan = price._purchase.plan
    answers = [engine.answer(one) for one in plan.coverage_questions]
    counts = tuple(plan.coverage.values())
    return dict(zip(map(str, counts), exact_counts(counts, answers), strict=True))


def test_what_limits_cut_off_is_told_in_a_sentence() -> None:
    """By a release that bought it: how many rows, and how many people lose more."""
    rows = {"person": [n % 50 for n in range(1000)], "day": [1] * 1000}
    tables = {"visits": sd.PrivateTable(rows, protects=PERSON)}
    query = (
        sd.table("visits").enforce(sd.MaxRowsPerID(4)).agg(n=sd.count(), coverage=True)
    )
    release = sd.Session(tables, sd.PureDP(10**6)).release(query, sd.PureDP(10**5))
    assert release.limits == (
        "Limits: 4 rows of one person. They cut off about 600 rows (600 to 600), "
        "up to 12 of one person; 50 to 50 lose more. Intervals do not include it."
    )
    wide = sd.table("visits").enforce(sd.MaxGroupsPerID("day", 2))
    asked = wide.agg(n=sd.count_ids(), coverage=True)
    release = sd.Session(tables, sd.PureDP(10**6)).release(asked, sd.PureDP(10**5))
    # nothing bounds the rows of one person, so none can be counted
    assert "What they cut off is counted. Inter" in release.limits


@for_each("engine", ["duckdb", "memory"])
def test_rows_are_counted_where_rows_are_protected(engine: str) -> None:
    """Rows with unreadable cells, also those that a filter loses for it."""
    query = sd.table("visits").filter(sd.col("days") > 0)
    found = told(
        ENGINES[engine](), query.agg(n=sd.count(), coverage=True), sd.AddOneRow()
    )
    assert found == {"visits.days unreadable (rows)": 6}
    clamped = sd.table("visits").agg(cost=sd.median("cost", 0, 100), coverage=True)
    assert told(ENGINES[engine](), clamped, sd.AddOneRow()) == {
        "cost to [0, 100] clamped (rows)": 4
    }


@for_each("engine", ["duckdb", "memory"])
def test_keys_that_a_join_truncates(engine: str) -> None:
    """A private join of rows counts the keys of each side that lose rows."""
    query = sd.table("visits").join_private(
        "visits", on="ward", left=sd.DropExcess(3), right=sd.DropNonUnique()
    )
    found = told(
        ENGINES[engine](), query.agg(n=sd.count(), coverage=True), sd.AddMaxRows(2)
    )
    assert found == {
        "DropExcess(limit=3) cut off (keys)": 1,
        "DropNonUnique() cut off (keys)": 2,
    }


@sampled(5, 12)
@for_each("limit", [1, 2, 4])
@for_each("groups", [(), ("ward",), ("ward", "person")])
@for_each("per", [("person",), ("person", "ward"), ("ward",)])
def test_engines_agree_on_what_is_crowded(
    per: tuple[str, ...], groups: tuple[str, ...], limit: int
) -> None:
    """Each value above a limit is one row, of ids, pairs and keys, in parts as well."""
    answers = []
    for name in ("memory", "duckdb", "in parts"):
        engine = ENGINES[name]()
        rows = Source("t", engine.open("t", VISITS.select(["person", "ward"]), {}))
        above = plans.crowded_ids(rows, per, groups, limit)
        asked = (
            question_of(above) if name == "in parts" else whole_question(above, *per)
        )
        answers.append(comparable_answer(asked, engine.answer(asked))[1])
    assert answers[0] == answers[1]
    assert answers[2] == [((1, len(answers[0])),)]


@for_each("budget", BUDGETS.values(), ids=list(BUDGETS))
@for_each("noise", [None, "laplace", "gaussian"])
@for_each("keys", [sd.KeySet.from_dict({"ward": ["A", "B"]}), "ward"])
def test_coverage_is_within_the_budget(budget: Budget, noise: Any, keys: Any) -> None:
    if noise == "gaussian" and isinstance(budget, sd.PureDP):
        return
    if keys == "ward" and not isinstance(budget, (sd.ApproxDP, sd.ApproxZCDP)):
        return
    found = _priced(keys, budget, noise=noise)
    assert len(found.coverage) == 6
    if isinstance(budget, sd.ApproxDP):  # epsilons of the two add up
        spent = total(*(one.guarantees.epsilon for one in found._purchase.losses_apart))
        rest = sd.ApproxDP(Fraction(1) - Fraction(str(spent)), budget.delta)
        assert rest.admits(found._purchase.additive_loss)
    else:
        assert budget.admits(found.loss)
    alone = _priced(keys, budget, noise=noise, coverage=False)
    assert found.errors["cost"].sd > alone.errors["cost"].sd
    assert found.errors["cost"].sd < 1.2 * alone.errors["cost"].sd


def _priced(keys: Any, budget: Budget, *, coverage: bool = True, **given: Any) -> Price:
    """Return the price of a question with limits and bounds."""
    table = sd.PrivateTable(VISITS, protects=PERSON, columns=KINDS)
    limits = sd.MaxGroupsPerID("ward", 4), sd.MaxRowsPerGroupPerID("ward", 2)
    query = (
        sd.table("visits").filter(sd.col("days") > 0).enforce(*limits).group_by(keys)
    )
    request = query.agg(cost=sd.sum("cost", 0, 100), coverage=coverage, **given)
    return planned(sd.Session({"visits": table}, sd.PureDP(1)), request, budget)


def test_both_sides_of_a_join_are_counted() -> None:
    table = sd.PrivateTable(VISITS, protects=PERSON, columns=KINDS)
    session = sd.Session({"visits": table, "stays": table}, sd.PureDP(10))
    session.view("few", sd.table("stays").enforce(sd.MaxRowsPerID(2)))
    query = sd.table("visits").enforce(sd.MaxRowsPerID(2)).join_private("few", "person")
    found = session.price(query.agg(n=sd.count(), coverage=True), sd.PureDP(1))
    name = "MaxRowsPerID(limit=2) cut off (ids)"
    assert list(found.coverage)[::3] == [name, f"{name}, again"]
    assert len(found.coverage) == 6


def test_weights_and_names() -> None:
    """Coverage has a weight of its own; its name is not that of an answer."""
    heavy = _priced("ward", BUDGETS["approximate"], weights={"coverage": 1})
    light = _priced("ward", BUDGETS["approximate"])
    name = "visits.days unreadable (ids)"
    assert heavy.coverage[name].sd < light.coverage[name].sd / 4
    assert heavy.errors["cost"].sd > light.errors["cost"].sd
    table = sd.table("visits")
    wrongs: list[Any] = [1, None, sd.count()]
    for wrong in wrongs:
        with pytest.raises(InvalidParameter, match="coverage must be True or False"):
            table.agg(n=sd.count(), coverage=wrong)
    with pytest.raises(sd.errors.UnknownName, match="coverage"):
        table.agg(n=sd.count(), weights={"coverage": 2})


@for_each("engine", ["duckdb", "memory"])
def test_a_release_tells_its_coverage(engine: Any, tmp_path: Any) -> None:
    table = sd.PrivateTable(VISITS, protects=PERSON, columns=KINDS)
    session = sd.Session({"visits": table}, sd.PureDP(1000), engine=engine)
    query = sd.table("visits").enforce(sd.MaxRowsPerID(2))
    request = query.agg(days=sd.sum("days", 0, 30), coverage=True)
    release = session.release(request, sd.PureDP(500), key="x")
    assert release.coverage is not None
    rows = {row["what"]: row for row in release.coverage.to_pylist()}
    assert list(rows) == [
        "visits.days",
        "MaxRowsPerID(limit=2)",
        "limits together, up to 6 of one person",
        "limits together, more than 6 of one person",
        "days to [0, 30]",
    ]
    assert rows["visits.days"]["count"] in range(1, 6)  # 3 but with a chance of 1e-7
    line = "visits.days unreadable (ids): about"
    assert all(line in text for text in (str(release), release.explain()))
    assert "unreadable" in release._repr_html_()
    again = session.release(request, sd.PureDP(500), key="x")
    assert again.coverage is not None
    assert again.coverage.equals(release.coverage)
    answer = Answer(release.table, release.errors, release.coverage)
    back = read_answer(answer_bytes(answer)).coverage
    assert back is not None
    assert back.equals(release.coverage)
    release.to_parquet(tmp_path / "t.parquet")
    assert (
        b"unreadable"
        in pa.parquet.read_schema(tmp_path / "t.parquet").metadata[b"sordino"]
    )


def test_a_part_knows_nothing_of_the_whole() -> None:
    """Parts of a table are charged once: none of them counts rows of another."""
    table = sd.PrivateTable(VISITS, protects=sd.AddOneRow(), columns=KINDS)
    session = sd.Session({"visits": table}, sd.PureDP(10))
    part = session.partition("visits", "ward", ["A", "B"], sd.PureDP(1))["A"]
    request = sd.table("visits").agg(days=sd.sum("days", 0, 30), coverage=True)
    found = part.price(request, sd.PureDP(1))
    assert list(found.coverage) == ["days to [0, 30] clamped (rows)"]


def test_unreadable_rows_carry_ids_alone() -> None:
    for engine in (ENGINES["duckdb"](), ENGINES["memory"]()):
        schema = engine.open("t", VISITS, {"days": sd.Column("i64")})
        carried = narrow_schema(schema, ["person"])
        rows = Unreadable("t", "days", carried)
        answer = engine.answer(Question(rows, ("person",), (Total(sd.lit(1)),)))
        assert sorted(answer.to_pylist(), key=str) == [
            {"person": 1, "total 0": 2},
            {"person": 2, "total 0": 2},
            {"person": 4, "total 0": 1},
            {"person": None, "total 0": 1},
        ]
