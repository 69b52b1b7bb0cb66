"""One extreme row changes numbers, and nothing else that can be seen of an answer."""

import math
import random
from collections.abc import Iterator, Mapping
from typing import Any, Final

import pyarrow as pa
import pytest

import sordino as sd
from sordino.auditing.drawn_queries import AGGREGATIONS
from sordino.data.source import LONGEST
from sordino.engines.conformance.plans import comparable_answer
from sordino.engines.duckdb.session import duckdb_engine
from sordino.engines.engine import AbstractEngine
from sordino.engines.memory import MemoryEngine
from sordino.plan.purchase import Purchase, best_purchase
from sordino.query.groups import Grouped
from sordino.release.answer import noisy_answer
from sordino.session.tables import Catalog, open_catalog
from tests.batches import for_each, sampled
from tests.distances import broken, claim, exact
from tests.doors import DOORS, across
from tests.duckdb_order import SALT, in_duckdb_order
from tests.extremes import BASE, EXTREMES, PUBLIC, STEPS, STRANGER, Row, table

BUDGETS: Final = {
    "no groups": sd.ApproxDP(1, "1e-5"),
    "known groups": sd.PureDP(1),
    "unknown groups": sd.ApproxDP(10_000, "0.4"),  # so much that groups are shown
}
KEYS: Final = sd.KeySet.from_dict({"g": ["b", "a", None, "z"]})
BOUNDED: Final = sd.table("visits").enforce(sd.MaxRowsPerID(3))
_ORDER: Final = in_duckdb_order(SALT)


def engines() -> dict[str, AbstractEngine]:
    return {
        "memory": MemoryEngine(order=_ORDER),
        "duckdb": duckdb_engine(salt=SALT, threads=1),
    }


def opened(engine: AbstractEngine, rows: pa.Table, door: str = "arrow") -> Catalog:
    """Return a catalog over some visits, with a view that bounds them."""
    made = open_catalog(
        engine,
        {"visits": DOORS[door].private(rows, sd.AddRowsWithID("id"))}
        | {name: sd.PublicTable(held) for name, held in PUBLIC.items()},
    )
    made.relations["bounded"] = BOUNDED.resolve(made)
    return made


def requests() -> dict[str, sd.Request]:
    """Return every aggregation of a numeric column, for all kinds of groups."""
    x, y = (
        {name: made(column, (0, 10)) for name, made in AGGREGATIONS.items()}
        for column in ("x", "y")
    )
    known = {name: made for name, made in y.items() if "laplace" in made.families}
    return {
        "no groups": agg(BOUNDED, x),
        "known groups": agg(BOUNDED.group_by(KEYS), known),
        "unknown groups": agg(BOUNDED.group_by("g"), y),
    }


def agg(rows: sd.Query | Grouped, asked: Mapping[str, Any]) -> sd.Request:
    return rows.agg(**asked)


def released(purchase: Purchase, engine: AbstractEngine) -> sd.Release:
    plan = purchase.plan
    bins = {key: engine.answer(asked) for key, asked in plan.choice_questions.items()}
    answer = noisy_answer(purchase, engine.answer(plan.question), bins)
    return sd.Release.of(purchase, answer, purchase.plan_text)


@pytest.fixture(scope="module")
def prices() -> dict[str, Purchase]:
    return prices_of(opened(MemoryEngine(), table(*BASE)))


def prices_of(known: Catalog) -> dict[str, Purchase]:
    return {
        name: best_purchase(one, known, BUDGETS[name])
        for name, one in requests().items()
    }


@pytest.fixture(scope="module")
def expected(prices: dict[str, Purchase]) -> dict[str, sd.Release]:
    """Return releases without the extreme row."""
    engine = MemoryEngine()
    opened(engine, table(*BASE))
    return {name: released(one, engine) for name, one in prices.items()}


@sampled(1, 10)
@for_each("name", EXTREMES)
def test_a_release_looks_the_same(
    name: str, prices: dict[str, Purchase], expected: dict[str, sd.Release]
) -> None:
    """With an extreme row nothing fails; columns, types, and known keys are the same.

    Of unknown keys at most the one that the row has is new (a text that is too long to
    be read counts as missing), and they are sorted.
    """
    row = {**STRANGER, **EXTREMES[name]}
    held = engines()["memory"]
    opened(held, table(*BASE, row))
    _looks_the_same(held, row, prices, expected)


@pytest.mark.slow
@sampled(1, 4)
@for_each(("name", "door"), across(list(EXTREMES)))
def test_a_release_looks_the_same_by_every_door(
    name: str, door: str, prices: dict[str, Purchase], expected: dict[str, sd.Release]
) -> None:
    row = {**STRANGER, **EXTREMES[name]}
    held = engines()["duckdb"]
    known = opened(held, table(*BASE, row), door)
    if set(known.relation("visits").schema.names) < set(row):  # texts hold no lists
        prices = prices_of(known)
    _looks_the_same(held, row, prices, expected)


def _looks_the_same(
    held: AbstractEngine,
    row: Row,
    prices: dict[str, Purchase],
    expected: dict[str, sd.Release],
) -> None:
    """Ask for all releases, and compare what can be seen of them."""
    for groups, found in prices.items():
        release = released(found, held)
        assert release.table.schema == expected[groups].table.schema
        assert release.errors.schema == expected[groups].errors.schema
        if groups == "known groups":
            assert release["g"].to_pylist() == [None, "a", "b", "z"]
        if groups == "no groups":
            assert len(release) == 1
        if groups == "unknown groups":
            keys = release["g"].to_pylist()
            new = None if len(row["g"] or "") > LONGEST else row["g"]
            assert {"a"} <= set(keys) <= {"a", "b", new}
            assert keys == sorted(keys, key=lambda one: (one is not None, one))


@sampled(1, 2)
@for_each("engine", ["memory", "duckdb"])
@for_each("rows", [(), ({**STRANGER, **EXTREMES["nothing"]},)], ids=len)
def test_empty_tables_have_answers(
    engine: str, rows: Any, prices: dict[str, Purchase], expected: dict[str, sd.Release]
) -> None:
    held = engines()[engine]
    opened(held, table(*rows))
    for groups, found in prices.items():
        release = released(found, held)
        assert release.table.schema == expected[groups].table.schema
        if groups == "known groups":
            means = release["mean"].to_pylist()
            assert all(0 <= one <= 10 for one in means)


def asked(step: str) -> Iterator[sd.Request]:
    """Return what is asked after a step: of all rows, and of groups."""
    query = STEPS[step](sd.table("visits")).enforce(sd.MaxRowsPerID(3))
    yield query.agg(
        n=sd.count(),
        x=sd.sum("x", -5, 5, nulls=0) if step != "a list" else sd.count_ids(),
        y=sd.mean("y", -5, 5, nulls="drop"),
        middle=sd.median("y", -5, 5, nulls="drop"),
    )
    yield query.group_by("g").agg(n=sd.count(), ids=sd.count_ids())


@sampled(1, 3)
@for_each("step", STEPS)
def test_a_step_gives_the_same_on_every_engine(step: str) -> None:
    """With every extreme row no step fails, and engines give the same answers."""
    rows = table(*BASE, *(extreme_row(n) for n in range(len(EXTREMES))))
    held = {name: opened(one, rows) for name, one in engines().items()}
    for request in asked(step):
        made = claim(request, held["memory"])
        for question in (made.question, *made.choice_questions):
            told = [
                comparable_answer(question, one.engine.answer(question))
                for one in held.values()
            ]
            assert told[0] == told[1]


@sampled(1, 3)
@for_each(
    ("step", "door"),
    [one for one in across(list(STEPS)) if DOORS[one[1]].lists or one[0] != "a list"],
)
def test_a_step_gives_the_same_by_every_door(step: str, door: str) -> None:
    every = table(*BASE, *(extreme_row(n) for n in range(len(EXTREMES))))
    rows = DOORS[door].held(every)
    plain = "arrow" if DOORS[door].nan else door
    made = engines()
    held = [opened(made["memory"], rows, plain), opened(made["duckdb"], rows, door)]
    for request in asked(step):
        found = claim(request, held[0])
        for question in (found.question, *found.choice_questions):
            told = [
                comparable_answer(question, one.engine.answer(question)) for one in held
            ]
            assert told[0] == told[1]


FALSE: Final = sd.Column("f64", nullable=False, nan=False)
ODD: Final = (math.nan, None, math.inf, -math.inf, 1e308, 5e-324, -0.0)
NUMERIC: Final[dict[str, Any]] = {
    name: made("x", (0, 10)) for name, made in AGGREGATIONS.items()
}


@sampled(1, 3)
@for_each(("odd", "door"), across(ODD))
def test_false_facts_fail_nothing(odd: float | None, door: str) -> None:
    """Where a column is said to hold no NaN and nothing missing, and does.

    Nothing fails, and one row moves no answer by more than is claimed.
    """
    asked = {name: one for name, one in NUMERIC.items() if name != "count_ids"}
    request = sd.table("t").agg(**asked)
    found = []
    for values in ([1.0, 2.0, 5.0], [1.0, 2.0, 5.0, odd]):
        rows = pa.table({"x": pa.array(values, pa.float64(), from_pandas=False)})
        private = DOORS[door].private(rows, sd.AddOneRow(), {"x": FALSE})
        held = engines()["duckdb"]
        made = claim(request, open_catalog(held, {"t": private}))
        found.append(exact(made, held))
    assert not broken(made, *found)


def extreme_row(place: int) -> Row:
    row = {**STRANGER, "id": f"q{place}", **list(EXTREMES.values())[place]}
    return {**row, "g": row["g"] and row["g"][:1000]}


def many_rows(count: int) -> pa.Table:
    """Return many rows of few ids, with extreme ones among them."""
    dice = random.Random(5)
    small = {k: v for k, v in EXTREMES.items() if "long" not in k}
    extremes = list(small.values())
    return table(
        *(
            {
                **STRANGER,
                **dice.choice(extremes),
                "id": f"p{dice.randrange(count // 9)}",
            }
            for _ in range(count)
        )
    )


LOSING: Final = ("bounds", "a join with itself", "a list")
"""Steps in which some rows are kept and others are not."""


@sampled(1, 1)
@for_each("step", LOSING)
def test_the_order_of_rows_changes_no_answer(step: str) -> None:
    rows = many_rows(20_000)
    places = list(range(rows.num_rows))
    random.Random(6).shuffle(places)
    answers = []
    for threads, held in ((1, rows), (8, rows), (8, rows.take(places))):
        engine = duckdb_engine(salt=SALT, threads=threads)
        known = opened(engine, held)
        made = [claim(request, known) for request in asked(step)]
        answers.append([
            comparable_answer(question, engine.answer(question))
            for one in made
            for question in (one.question, *one.choice_questions)
        ])
    assert answers[0] == answers[1] == answers[2]


@pytest.mark.slow
def test_the_order_of_rows_changes_no_answer_of_the_memory_engine() -> None:
    rows = many_rows(60)
    answers = []
    for held in (rows, rows.take(list(range(59, -1, -1)))):
        engine = MemoryEngine(order=_ORDER)
        known = opened(engine, held)
        made = [claim(request, known) for step in LOSING for request in asked(step)]
        answers.append([
            comparable_answer(one.question, engine.answer(one.question)) for one in made
        ])
    assert answers[0] == answers[1]
