"""Rows that are kept answer as rows that are bounded anew, whatever is asked."""

import itertools
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sordino as sd
from sordino.aggregations.measurement import Distinct, Missing, Total
from sordino.auditing.dice import Dice
from sordino.auditing.drawn_queries import draw_query as drawn
from sordino.auditing.drawn_queries import draw_request as asked
from sordino.auditing.worlds import world
from sordino.engines import memory
from sordino.engines.conformance import plans
from sordino.engines.conformance.plans import (
    comparable_answer,
    question_of,
    sortable_rows,
)
from sordino.engines.duckdb.session import DuckDB, duckdb_engine
from sordino.engines.engine import AbstractEngine
from sordino.engines.memory import MemoryEngine
from sordino.engines.statements import cached_rows, narrow
from sordino.engines.statements.scripts import Script, WrittenScripts
from sordino.errors import EngineFailure, SordinoError
from sordino.expressions.bins import steps
from sordino.expressions.language import lit
from sordino.expressions.tree import AbstractExpression
from sordino.query import node_rules
from sordino.query.nodes import (
    AbstractNode,
    KeepRows,
    Kept,
    Question,
    Source,
    nodes_below,
)
from tests.batches import for_each, sampled
from tests.dice import shrinking
from tests.distances import claim
from tests.duckdb_order import SALT, in_duckdb_order
from tests.sqlite_engine.engine import sqlite_engine

QUESTIONS: Final = 4
ENGINES: Final[dict[str, Any]] = {
    "duckdb": lambda: duckdb_engine(salt=SALT, threads=2),
    "in parts": lambda: duckdb_engine(salt=SALT, threads=2, parts=(3,)),
    "sqlite": lambda: sqlite_engine(salt=SALT),
    "memory": lambda: MemoryEngine(order=in_duckdb_order(SALT)),
}


def bounded_anew(engine: AbstractEngine, question: Question) -> pa.Table:
    with pytest.MonkeyPatch.context() as patch:
        for room in (cached_rows, memory):
            patch.setattr(room, "with_kept_rows", lambda rows, _: rows)
        # nor with the script of before, which reads the rows that were kept
        patch.setattr(WrittenScripts, "script", lambda _, __, write: write(None))
        return engine.answer(question)


def answers(name: str, dice: Dice) -> Iterator[tuple[Question, Any, Any]]:
    """Draw a database and questions: the answers of kept rows, and of rows anew.

    Each is asked in both ways twice, forgetting in between or not, as it falls.
    """
    one = world(dice)
    try:
        kept = one.catalog(ENGINES[name](), one.private)
        anew = one.catalog(ENGINES[name](), one.private)
    except EngineFailure:  # a public number of rows is counted when a table is opened
        if name != "in parts":
            raise
        return
    for _ in range(QUESTIONS):
        try:
            made = claim(asked(drawn(dice, kept)), kept)
            first = kept.engine.answer(made.question)
        except EngineFailure:
            if name != "in parts":  # what does not add up cannot be had in parts
                raise
            continue
        except SordinoError:
            continue
        expected = bounded_anew(anew.engine, made.question)
        yield made.question, first, expected
        if dice.one((True, False)):
            kept.engine.forget()
        yield made.question, kept.engine.answer(made.question), expected


def disagreements(name: str, dice: Dice) -> list[Question]:
    """Return the questions that kept rows answer otherwise."""
    return [
        question
        for question, told, expected in answers(name, dice)
        if comparable_answer(question, told) != comparable_answer(question, expected)
    ]


@sampled(1)
@for_each("name", ENGINES)
def test_kept_rows_answer_as_rows_anew(name: str) -> None:
    """For any database and any question, asked first or again, and after forgetting."""

    @settings(max_examples=max(2, settings().max_examples // 20))
    @given(st.data())
    def agree(data: st.DataObject) -> None:
        assert not disagreements(name, shrinking(data))

    agree()


VISITS: Final = pa.table({
    "id": [n % 7 for n in range(90)],
    "ward": ["abcde"[n * n % 5] for n in range(90)],
    "days": [n % 4 for n in range(90)],
    "cost": [None if n % 11 == 0 else n // 2 for n in range(90)],
})
COLUMNS: Final = (
    (),
    ("ward",),
    ("days", "id"),
    ("cost", "ward"),
    tuple(VISITS.schema.names),
)
BOUNDS: Final[dict[str, Any]] = {
    "rows": lambda rows: plans.bound_rows(rows, ("id",), 3),
    "groups": lambda rows: plans.bound_groups(rows, ("id",), ("ward",), 2),
    "rows of groups": lambda rows: plans.bound_rows(
        plans.bound_groups(rows, ("id",), ("ward", "days"), 3), ("id", "ward"), 1
    ),
    "groups of rows": lambda rows: plans.bound_groups(
        plans.bound_rows(rows, ("id",), 4), ("id",), ("days",), 2
    ),
    "a key": lambda rows: plans.bound_rows(rows, ("ward", "days"), 2),
    "alone": lambda rows: plans.bound_unique(rows, ("id", "days")),
}


def whole_rows(engine: AbstractEngine, rows: AbstractNode) -> list[tuple[Any, ...]]:
    told = engine.answer(question_of(rows, *VISITS.schema.names)).to_pylist()
    return [
        tuple(row[name] for name in VISITS.schema.names)
        for row in told
        for _ in range(row["total 0"])
    ]


def other_rows(engine: AbstractEngine) -> list[str]:
    """Return where a question of few columns is about other rows than one of all."""
    source = Source("t", engine.open("t", VISITS, {}))
    found = []
    for (name, bound), columns in itertools.product(BOUNDS.items(), COLUMNS):
        places = [VISITS.schema.names.index(one) for one in columns]
        rows = whole_rows(engine, bound(source))
        expected = Counter(tuple(row[place] for place in places) for row in rows)
        asked_for = question_of(bound(source), *columns)
        for answer in (engine.answer(asked_for), bounded_anew(engine, asked_for)):
            counts = {
                tuple(row[one] for one in columns): row["total 0"]
                for row in answer.to_pylist()
            }
            if +Counter(counts) != expected:
                found.append(f"{name} by {columns}")
    return found


@sampled(1, 2)
@for_each("name", ["duckdb", "sqlite", "memory"])
def test_all_questions_are_about_the_same_rows(name: str) -> None:
    assert not other_rows(ENGINES[name]())


@pytest.mark.slow
def test_an_order_of_the_columns_asked_for_is_found_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The mutant: a digest of the columns that the question needs, and no others."""
    pruned = node_rules._read_beside

    def narrow(node: Any, needed: Any, read: Any) -> AbstractNode:
        if not isinstance(node, KeepRows):
            return pruned(node, needed, read)
        order = tuple(name for name in node.order if name in needed)
        return pruned(replace(node, order=order), needed, frozenset(node.per))

    monkeypatch.setattr(node_rules, "_read_beside", narrow)
    assert other_rows(duckdb_engine(salt=SALT))


def test_plans_alike_share_their_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows are made once for all questions whose plans are alike up to the bound."""
    made: list[str] = []
    keep = DuckDB.keep

    def counted(database: DuckDB, name: str, *said: Any) -> None:
        made.append(name)
        keep(database, name, *said)

    monkeypatch.setattr(DuckDB, "keep", counted)
    session = sd.Session(
        {"t": sd.PrivateTable(VISITS, protects=sd.AddRowsWithID("id"))}, sd.PureDP(100)
    )

    def few(limit: int, least: int) -> Any:
        old = sd.table("t").with_columns(more=sd.col("days") + 1)
        return old.filter(sd.col("more") > least).enforce(sd.MaxRowsPerID(limit))

    spending = sd.PureDP(1)
    session.release(few(3, 1).agg(n=sd.count()), spending)
    session.release(few(3, 1).filter(sd.col("days") < 3).agg(n=sd.count()), spending)
    asked_for = {
        "sums": few(3, 1).agg(s=sd.sum("cost", 0, 50, nulls=0)),
        "means": few(3, 1).agg(m=sd.mean("days", 0, 4)),
    }
    session.release_all(asked_for, spending)
    assert len(made) == 1
    session.release(few(2, 1).agg(n=sd.count()), spending)
    session.release(few(3, 2).agg(n=sd.count()), spending)
    assert len(set(made)) == len(made) == 3
    session.forget()
    session.release(few(3, 1).agg(n=sd.count()), spending)
    assert len(made) == 4
    assert made[3] == made[0]


def twice(row: dict[str, Any]) -> dict[str, Any]:
    return {"n": row["days"] * 2}


FILTERED: Final[dict[str, Any]] = {
    "nothing": lambda rows: rows,
    "more than 1": lambda rows: plans.filter_rows(rows, sd.col("days") > 1),
    "more than 2": lambda rows: plans.filter_rows(rows, sd.col("days") > 2),
    "at least 2": lambda rows: plans.filter_rows(rows, sd.col("days") >= 2),
    "truth": lambda rows: plans.filter_rows(
        rows, sd.col("days") > sd.lit(True).cast("i64")
    ),
    "of cost": lambda rows: plans.filter_rows(rows, sd.col("cost") > 1),
    "renamed": lambda rows: plans.rename_columns(rows, {"cost": "price"}),
    "a function": lambda rows: plans.call_rows(rows, twice, n="i64"),
    "another": lambda rows: plans.call_rows(rows, lambda row: twice(row), n="i64"),
}


def different_plans(source: Source) -> list[AbstractNode]:
    below = {**FILTERED, "another table": lambda _: Source("u", source.schema)}
    rows = [make(source) for make in below.values()]
    bounds = [bound(source) for bound in BOUNDS.values()]
    bounds += [plans.bound_rows(one, ("id",), 3) for one in rows[1:]]
    bounds.append(plans.bound_rows(source, ("id",), 2))
    bounds.append(plans.bound_rows(source, ("ward",), 3))
    return bounds


def test_plans_that_differ_have_other_marks(monkeypatch: pytest.MonkeyPatch) -> None:
    source = Source("t", MemoryEngine().open("t", VISITS, {}))
    plans_once, plans_again = different_plans(source), different_plans(source)
    first = [node_rules.mark_of(one) for one in plans_once]
    again = [node_rules.mark_of(one) for one in plans_again]
    assert len(set(first)) == len(first)
    alone = [place for place, one in enumerate(first) if one != again[place]]
    # a function written anew is another one
    assert alone == [len(BOUNDS) + [*FILTERED].index("another") - 1]
    seen = node_rules.mark_of

    def blind(part: Any) -> Any:
        return 0 if isinstance(part, AbstractExpression) else seen(part)

    monkeypatch.setattr(node_rules, "mark_of", blind)
    mutant = [node_rules.mark_of(one) for one in plans_once]
    assert len(set(mutant)) < len(mutant)


def test_a_function_that_does_something_else_has_other_rows() -> None:
    """Rows are not shared once a value changes that the function holds, or may have."""
    source = Source("t", MemoryEngine().open("t", VISITS, {}))
    held = {"factor": 2}

    def multiplied(row: dict[str, Any]) -> dict[str, Any]:
        return {"z": row["days"] * held["factor"]}

    model = object()  # nobody can read what it is

    def unreadable(row: dict[str, Any]) -> dict[str, Any]:
        return {"z": row["days"] if model else 0}

    def mark(function: Any) -> Any:
        return node_rules.mark_of(plans.call_rows(source, function, z="i64"))

    before = mark(multiplied)
    assert mark(multiplied) == before
    held["factor"] = 3
    assert mark(multiplied) != before
    assert mark(unreadable) != mark(unreadable)


def test_only_so_many_are_kept() -> None:
    engine = duckdb_engine(salt=SALT)
    source = Source("t", engine.open("t", VISITS, {}))
    questions = [
        question_of(plans.bound_rows(source, ("id",), limit), "ward")
        for limit in range(1, node_rules.MOST + 4)
    ]
    first = [sorted(sortable_rows(engine.answer(one))) for one in questions]
    connection = engine._database._connect()  # type: ignore[attr-defined]
    tables = "SELECT count(*) FROM duckdb_tables()"
    assert connection.sql(tables).fetchall() == [(node_rules.MOST,)]
    again = [sorted(sortable_rows(engine.answer(one))) for one in questions]
    assert again == first
    engine.forget()
    assert connection.sql(tables).fetchall() == [(0,)]


def close_questions(source: Source, keys: str) -> Iterator[Question]:
    """Yield questions that differ from the first in one thing each."""
    days = steps(sd.col("days").tree, 0, 3, 0)
    totals = (Total(lit(1)), Total(days), Distinct(("cost",)))
    more = sd.col("days") > 1
    rows = plans.bound_rows(plans.filter_rows(source, more), ("id",), 3)
    yield question_of(rows, "ward", totals=totals)
    for other in (sd.col("days") > 2, sd.col("days") >= 1, sd.col("cost") > 1):
        below = plans.filter_rows(source, other)
        yield question_of(plans.bound_rows(below, ("id",), 3), "ward", totals=totals)
    for limit in (1, 2):
        below = plans.filter_rows(source, more)
        yield question_of(
            plans.bound_rows(below, ("id",), limit), "ward", totals=totals
        )
    yield question_of(rows, "id", totals=totals)
    yield question_of(rows, totals=totals)
    for total in (Total(days, 2), Total(days, 1, 1), Missing(days), Distinct(("id",))):
        yield question_of(rows, "ward", totals=(totals[0], total, totals[2]))
    for listed in (keys, keys[::-1], "xyz"):
        yield question_of(
            rows, "ward", totals=totals, keys={"ward": sorted(set(listed))}
        )


def scripts_written(monkeypatch: pytest.MonkeyPatch) -> list[Question]:
    """Return a list to which each question is added whose script is written."""
    written: list[Question] = []
    of = Script.of

    def noted(statements: Any, question: Question, asked_for: Question) -> Script:
        written.append(asked_for)
        return of(statements, question, asked_for)

    monkeypatch.setattr(Script, "of", noted)
    return written


def told(engine: AbstractEngine, question: Question) -> Any:
    return comparable_answer(question, engine.answer(question))


def test_a_script_is_that_of_its_question(monkeypatch: pytest.MonkeyPatch) -> None:
    """A question that is asked again has its script, and none of those that are close.

    Each is made anew, of other objects; of three keys the third set is another.
    """
    engine = duckdb_engine(salt=SALT)
    source = Source("t", engine.open("t", VISITS, {}))
    expected = []
    for question in close_questions(source, "abc"):
        fresh = duckdb_engine(salt=SALT)
        fresh.open("t", VISITS, {})
        expected.append(told(fresh, question))
    written = scripts_written(monkeypatch)
    assert [told(engine, one) for one in close_questions(source, "abc")] == expected
    first = len(written)
    assert len(expected) - 1 == first  # the same keys in another order are the same
    again = [told(engine, one) for one in reversed([*close_questions(source, "abc")])]
    assert again == expected[::-1]
    # keys of one number take turns
    assert len(written) <= first + 2


def of_wards(engine: Any, make: Any = lambda rows: rows) -> Question:
    rows = make(Source("t", engine.as_opened("t").schema))
    return question_of(rows, "ward")


def test_no_script_outlives_its_tables(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Tables that are frozen, opened anew, or forgotten."""
    written = scripts_written(monkeypatch)
    path = tmp_path / "t.parquet"
    pq.write_table(VISITS, path)
    engine = duckdb_engine(salt=SALT)
    engine.open("t", path, {})
    whole = told(engine, of_wards(engine))
    engine.freeze("t")
    pq.write_table(VISITS.slice(45), path)
    assert told(engine, of_wards(engine)) == whole
    engine.open("t", path, {})
    assert told(engine, of_wards(engine)) != whole
    engine.open("t", VISITS, {})
    assert [told(engine, of_wards(engine)) for _ in range(3)] == [whole] * 3
    assert len(written) == 4
    engine.forget()
    assert told(engine, of_wards(engine)) == whole
    assert len(written) == 5


def test_no_script_outlives_a_function_or_a_place(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Functions may change; where there is no place for rows none is looked for."""
    written = scripts_written(monkeypatch)
    engine = duckdb_engine(salt=SALT)
    engine.open("t", VISITS, {})
    made = of_wards(engine, lambda rows: plans.call_rows(rows, twice, n="i64"))
    for _ in range(2):
        engine.answer(made)
    assert len(written) == 2
    bounded = of_wards(engine, lambda rows: plans.bound_rows(rows, ("id",), 3))
    expected = told(engine, bounded)
    engine.forget()
    tried: list[str] = []

    def no_place(_: Any, name: str, *__: Any) -> bool:
        tried.append(name)
        return False

    monkeypatch.setattr(DuckDB, "begin_kept", no_place)
    assert [told(engine, bounded) for _ in range(3)] == [expected] * 3
    assert len(tried) == 1  # what has no place is not tried again


def of_people(engine: Any, *totals: Any, keys: Any = None) -> Question:
    source = Source("t", engine.as_opened("t").schema)
    rows = plans.bound_rows(source, ("id",), 3)
    named = {"ward": keys} if keys else None
    return question_of(rows, *(named or ()), totals=totals, keys=named)


ENDS: Final = (
    *((-128, 127), (-128, 128), (-129, 127), (0, 127), (0, 128)),
    *((-(2**15), 2**15 - 1), (-(2**15), 2**15), (-(2**15) - 1, 0)),
    *((0, 2**31 - 1), (0, 2**31), (-(2**31), -1), (-(2**31) - 1, 0)),
)
"""Ends of lattices that meet a width, or miss it by one."""


def test_values_at_the_ends_of_widths_are_held() -> None:
    """Asked again, of neighbouring tables whose rows lie at all ends and beyond."""
    ends = sorted({end + more for both in ENDS for end in both for more in (-1, 0, 1)})
    count = len(ends) + 1
    keys = [*range(128 - count // 2, 128 + count - count // 2)]
    rows = pa.table({"id": keys, "ward": keys, "cost": [*ends, None]})
    for table in (rows, rows.slice(1)):
        engine = duckdb_engine(salt=SALT)
        engine.open("t", table, {})
        for size, first in ((128, 0), (129, 4), (1000, 8)):
            cells = [
                steps(sd.col("cost").tree, low, high, 0, origin)
                for low, high in ENDS[first : first + 4]
                for origin in (0, low)
            ]
            totals = (*map(Total, cells), Missing(cells[0]))
            question = of_people(engine, *totals, keys=[*range(size)])
            expected = told(engine, question)
            assert [told(engine, question) for _ in range(2)] == [expected] * 2
            assert "FROM n" in engine.statement(question)


def held_in_few_bits(engine: Any) -> list[str]:
    tables = "SELECT table_name FROM duckdb_tables() WHERE table_name LIKE 'n%'"
    return [name for (name,) in engine._database._connect().sql(tables).fetchall()]


def test_rows_in_few_bits_are_those_of_their_question() -> None:
    """Other keys, other values; forgetting."""
    cells = [steps(sd.col(name).tree, 0, 9, 0) for name in ("days", "cost")]
    engine, anew = duckdb_engine(salt=SALT), duckdb_engine(salt=SALT)
    for each in (engine, anew):
        each.open("t", VISITS, {})
    many = [
        of_people(engine, Total(lit(1)), Total(cell, -1, 9), Missing(cell), keys=keys)
        for keys in (None, ["a", "b"], ["b", "x"], ["a", "b", "d"])
        for cell in cells
    ]
    many += [of_people(engine, Total(lit(1)), keys=keys) for keys in (None, ["a"])]
    expected = [comparable_answer(one, bounded_anew(anew, one)) for one in many]
    for _ in range(3):
        assert [told(engine, one) for one in many] == expected
    held = held_in_few_bits(engine)
    assert held
    # who asks the first time for what others asked for again reads their rows
    told(engine, of_people(engine, Total(cells[0]), keys=["a", "b"]))
    assert held_in_few_bits(engine) == held
    engine.forget()
    assert not held_in_few_bits(engine)


def test_rows_in_few_bits_are_given_up_where_there_is_no_room(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The rows that they are made of are not; a file that has changed is refused."""
    path = tmp_path / "t.parquet"
    pq.write_table(VISITS, path)
    engine = duckdb_engine(salt=SALT)
    engine.open("t", path, {})
    cell = steps(sd.col("days").tree, 0, 9, 0)
    question = of_people(engine, Total(cell, -1, 9), Missing(cell), keys=["a", "b"])
    expected = told(engine, question)
    engine.forget()
    begin, tried = DuckDB.begin_kept, []

    def no_room(database: DuckDB, name: str, *said: Any) -> bool:
        tried.append(name)
        return not name.startswith("n") and begin(database, name, *said)

    with monkeypatch.context() as patch:
        patch.setattr(DuckDB, "begin_kept", no_room)
        assert [told(engine, question) for _ in range(4)] == [expected] * 4
        assert [name[0] for name in tried] == ["k", "n"]
    engine.open("t", path, {})
    for _ in range(3):
        assert told(engine, question) == expected
    pq.write_table(VISITS.select(["id", "ward"]), path)
    with pytest.raises(SordinoError):
        engine.prepare(question)


def test_what_does_not_fit_is_missing_and_stops_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Were a width too small, a row would bring what a missing value brings."""
    engine = duckdb_engine(salt=SALT)
    costs = [5, 127, 128, -129, 10**6, None]
    engine.open("t", pa.table({"id": range(6), "ward": ["a"] * 6, "cost": costs}), {})
    cell = steps(sd.col("cost").tree, -(10**6), 10**6, 0)
    question = of_people(engine, Total(cell), Missing(cell), keys=["a"])
    monkeypatch.setattr(narrow, "bits_of", lambda *_: 8)
    rows = [engine.answer(question).to_pylist()[0] for _ in range(3)]
    totals = [(row["total 0"], row["total 1"]) for row in rows]
    assert totals == [(5 + 127 + 128 - 129 + 10**6, 1), (132, 4), (132, 4)]


def test_plans_end_where_rows_are_kept() -> None:
    source = Source("t", MemoryEngine().open("t", VISITS, {}))
    inner = plans.bound_rows(source, ("id",), 3)
    outer = plans.bound_groups(inner, ("id",), ("ward",), 1)
    filtered = plans.filter_rows(outer, sd.col("days") > 1)
    found = [
        one
        for one in nodes_below(node_rules.with_kept_rows(filtered, lambda _: "k0"))
        if isinstance(one, Kept)
    ]
    assert [one.rows for one in found] == [outer]
    crowd = plans.crowded_ids(inner, ("id",), ("ward",), 1)
    assert node_rules.with_kept_rows(crowd, lambda _: "k0") is crowd
