"""One meaning: whatever can be asked, Spark and PostgreSQL answer what is meant.

| what is asked | how it is held |
|---|---|
| a verb, an aggregation, a bound | each call of tests/worded.py, asked of tables |
| a unit | a count and a sum over a table that protects it |
| margins, blocks, suggestions | sessions, with so much budget that there is no noise |
| an operation of rows | all of tests/worded_cells.py are asked at extremes elsewhere |

Neither refuses a verb; operations that one lacks it names with the reason (`absent`).
"""

import datetime as dt
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pytest

import sordino as sd
from sordino.aggregations.measurement import Total
from sordino.engines.conformance.operations import FORMS, Form
from sordino.engines.conformance.plans import comparable_answer, question_of
from sordino.engines.memory import MemoryEngine
from sordino.engines.postgres.dialect import PostgresDialect
from sordino.engines.spark.dialect import SparkDialect
from sordino.engines.statements.engine import SQLEngine
from sordino.errors import InvalidQuery, UnknownName
from sordino.expressions.literals import literal
from sordino.expressions.tree import AbstractTree, Call
from sordino.query.groups import Marginals
from sordino.query.nodes import AbstractNode, Question
from sordino.session.tables import Catalog, open_catalog
from tests import worded
from tests.batches import for_each
from tests.distances import claim
from tests.doors import DOORS
from tests.laws import test_postgres_laws as of_server
from tests.laws import test_spark_laws as of_spark
from tests.postgres_server import cluster
from tests.spark_here import engine_beside, users_session
from tests.worded_cells import CELLS

ROWS: Final = 60
ENGINES: Final[Mapping[str, tuple[str, Callable[[], SQLEngine]]]] = {
    "postgres": ("table of a server", of_server.engine_of_server),
    "spark": ("frame of Spark", engine_beside),
}
"""Through which door tables are opened, and who is asked."""
ROW: Final = Total(literal(1))
slow = pytest.mark.slow
each_engine = for_each("name", ENGINES)


def stays(count: int) -> dict[str, list[Any]]:
    """Return rows in which every column of tests/worded.py has values and misses.

    One of each person, and of one person more rows that are alike: whichever are kept,
    the answers are the same. Which are, is held by the cases of conformance.
    """
    nan, inf = float("nan"), float("inf")
    days, costs = (3, None, 8, 1, 2), (1.5, None, -2.5, nan, inf, 0.0, 99.25)
    moment = dt.datetime(2026, 1, 31, 12)  # noqa: DTZ001 no zone is UTC
    return {
        "person": [n if n % 11 else None for n in range(count)],
        "ward": [("A", "B", None, "a ")[n * n % 4] for n in range(count)],
        "days": [days[n % 5] for n in range(count)],
        "cost": [costs[n % 7] for n in range(count)],
        "born": [
            dt.date(1990, 1 + n % 12, 28) if n % 5 else None for n in range(count)
        ],
        "seen": [
            moment + dt.timedelta(hours=n) if n % 3 else None for n in range(count)
        ],
        "codes": [
            (["a", "b"], [], None, ["b", None, "c"])[n % 4] for n in range(count)
        ],
    }


KINDS: Final = pa.schema([
    ("person", pa.int64()),
    ("ward", pa.string()),
    ("days", pa.int64()),
    ("cost", pa.float64()),
    ("born", pa.date32()),
    ("seen", pa.timestamp("us")),
    ("codes", pa.list_(pa.string())),
])


def rows_of_people() -> pa.Table:
    rows = pa.table(stays(ROWS), schema=KINDS)
    return pa.concat_tables([rows, *[rows.slice(2, 1)] * 5])


def catalog_of(engine: Any, door: str, plain: bool = False) -> Catalog:  # noqa: FBT001, FBT002 only here
    """Return the tables of tests/worded.py with more rows, opened through a door."""
    rows = DOORS[door].held(rows_of_people())
    more = pa.table({
        "person": [1, 3, 2, 5, None],
        "ward": ["A", "B", "A", "A", "B"],
        "days": [3, 1, 2, 3, 8],
        "beds": [2, 3, 4, 5, 6],
    })
    source = DOORS["arrow" if plain else door].opened
    ids, one = sd.AddRowsWithID("person"), sd.AddOneRow()
    sources = {
        "visits": (rows, ids),
        "stays": (more.select(["person", "ward", "beds"]), ids),
        "rows": (rows, one),
        "others": (more.select(["ward", "days", "beds"]), one),
    }
    folder = Path(tempfile.gettempdir())  # these doors write no file
    private = {
        name: sd.PrivateTable(source(table, folder), protects=unit)
        for name, (table, unit) in sources.items()
    }
    publics = {name: worded.TABLES[name] for name in ("wards", "towns")}
    return open_catalog(engine, {**private, **publics})


def calls() -> Iterator[tuple[str, Any]]:
    """Yield each call of each verb, aggregation and bound, under a name."""
    for verb, made in worded.QUERIES.items():
        yield from ((f"query {verb} {name}".strip(), one) for name, one in made.items())
    for verb, made in worded.AGGREGATIONS.items():
        for name, one in made.items():
            yield f"question {verb} {name}".strip(), worded.aggregated(one)
    for verb, made in worded.BOUNDS.items():
        for name, one in made.items():
            yield f"bound {verb} {name}".strip(), worded.VISITS.enforce(one)


def questions(call: Any, catalog: Catalog) -> list[Question]:
    """Return what an engine is asked for a call: all totals that a plan may need.

    Of a query, and of a request that lacks a bound, each of its rows.
    """
    try:
        made = claim(call, catalog)
    except (AttributeError, InvalidQuery):
        node = getattr(call, "rows", call).resolve(catalog).node
        names = (n for n in node.schema if "list" not in node.schema[n].type)
        return [question_of(node, *names)]
    first = [] if made.first is None else [made.first.question_after(None)]
    beside = [question_of(place.rows) for place in made.counts]
    return [made.question, *made.choice_questions, *first, *beside]


def asked_of(meaning: Catalog) -> Iterator[tuple[str, Any]]:
    """Yield what engines are asked: each verb, and again where its form is another.

    That is, where its plan has other nodes or other totals: a question takes Spark some
    tenths of a second.
    """
    known: set[object] = set()
    for label, call in calls():
        if isinstance(call, Marginals):  # a session is asked for them, below
            continue
        forms = {form_of(question) for question in questions(call, meaning)}
        new = forms - known or label.split()[1] not in known
        known |= {*forms, label.split()[1]}
        if new:
            yield label, call


def form_of(question: Question) -> object:
    """Return the nodes of a question's plan, and its kinds of totals."""

    def nodes(node: AbstractNode) -> tuple[object, ...]:
        return (type(node).__name__, *map(nodes, node.inputs))

    totals = frozenset(type(total).__name__ for total in question.totals)
    return nodes(question.rows), totals, len(question.by), question.keys is None


@dataclass
class Asked:
    """What is asked of an engine, and what is meant; once for the same rows.

    So all aggregations of some rows are one question, of the totals of all of them.
    """

    pairs: dict[str, tuple[set[str], Question, Question]] = field(default_factory=dict)
    """By the rows and their groups: whose they are, both questions."""
    refused: set[str] = field(default_factory=set)

    def add(self, name: str, rows: str, one: Question, other: Question) -> None:
        names, asked, meant = self.pairs.get(rows, ({name}, one, other))
        if asked is not one:
            asked = replace(asked, totals=asked.totals + one.totals)
            meant = replace(meant, totals=meant.totals + other.totals)
        self.pairs[rows] = ({*names, name}, asked, meant)


def gathered(
    engine: SQLEngine, opened: Catalog, meaning: Catalog, labels: Sequence[str]
) -> Asked:
    """Return all that is asked; what an engine lacks, it refuses here."""
    asked = Asked()
    for label, call in asked_of(catalog_of(MemoryEngine(), "arrow")):
        if labels and label not in labels:
            continue
        try:
            for one, other in zip(
                questions(call, opened), questions(call, meaning), strict=True
            ):
                rows = engine.statement(replace(one, totals=(ROW,)))
                keys = "" if one.keys is None else str(one.keys.to_pydict())
                asked.add(label, rows + keys, one, other)
        except (InvalidQuery, UnknownName):
            asked.refused.add(label)
    return asked


def differing(name: str, labels: Sequence[str] = ()) -> tuple[set[str], set[str]]:
    """Return the calls of which an engine makes something else, and what it refuses."""
    door, engine_of = ENGINES[name]
    engine, memory = engine_of(), MemoryEngine()
    opened, meaning = catalog_of(engine, door), catalog_of(memory, door, plain=True)
    asked = gathered(engine, opened, meaning, labels)
    wrong = set()
    for names, one, other in asked.pairs.values():
        told = comparable_answer(one, engine.answer(one))
        wrong |= (
            set() if told == comparable_answer(other, memory.answer(other)) else names
        )
    engine.close()
    return wrong, asked.refused


@slow
@each_engine
def test_every_verb_means_the_same(name: str) -> None:
    """Each verb, aggregation and bound, of tables that are read in place."""
    wrong, refused = differing(name)
    assert not wrong
    assert not refused


@slow
@each_engine
def test_a_verb_that_means_something_else_is_found_out(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    kind, planted = {
        "postgres": (PostgresDialect, of_server._rows_for_people),
        "spark": (SparkDialect, of_spark._rows_for_people),
    }[name]
    monkeypatch.setattr(kind, "distinct", planted)
    label = "query group_by columns"
    assert differing(name, [label, "query filter"]) == ({label}, set())


@slow
@each_engine
def test_every_unit_means_the_same(name: str) -> None:
    door, engine_of = ENGINES[name]
    rows = rows_of_people().drop_columns(["codes"])
    told = []
    for engine, way in ((engine_of(), door), (MemoryEngine(), "arrow")):
        source = DOORS[way].opened(rows, Path(tempfile.gettempdir()))
        tables = {
            unit: sd.PrivateTable(source, protects=made[""])
            for unit, made in worded.UNITS.items()
        }
        catalog = open_catalog(engine, tables)
        answers = []
        for unit, made in worded.UNITS.items():
            query = sd.table(unit)
            if made[""].id_column is not None:
                query = query.enforce(sd.MaxRowsPerID(ROWS))
            request = query.agg(n=sd.count(), days=sd.sum("days", 0, 30, nulls=0))
            answers += [
                comparable_answer(one, engine.answer(one))
                for one in questions(request, catalog)
            ]
        told.append(answers)
        engine.close()
    assert told[0] == told[1]
    assert len(told[0]) >= len(worded.UNITS)


def operations(tree: Any) -> Iterator[str]:
    if isinstance(tree, Call):
        yield tree.operation.name
        for argument in tree.arguments:
            yield from operations(argument)


def unheld(forms: Sequence[Form]) -> set[str]:
    known = {name for form in forms for name in operations(_tree(form.on_columns()))}
    made = (one for calls in CELLS.values() for one in calls.values())
    return {name for one in made for name in operations(_tree(one))} - known


def _tree(expression: Any) -> AbstractTree:
    tree: AbstractTree = expression.tree
    return tree


def test_every_operation_is_asked_at_extremes() -> None:
    """Of Spark in test_spark_engine.py, of a server in test_postgres_engine.py.

    A form that is left out is missed.
    """
    assert not unheld(FORMS)
    left = [form for form in FORMS if "lowercase" not in str(form)]
    assert unheld(left) == {"lowercase"}


ENDLESS: Final = sd.PureDP(10**7)
"""Noise that this buys is other than zero less than once in e^1000 draws."""
BUDGET: Final = ENDLESS.times(Fraction(9))
SHARP: Final = sd.GaussianDP(10**6)
"""The same for margins, which are rounded."""
EVERYBODY: Final = sd.table("t").enforce(sd.MaxRowsPerID(ROWS))
COUNTS: Final = EVERYBODY.agg(n=sd.count(), days=sd.sum("days", 0, 30, nulls=0))


def told_of(opened: Callable[..., sd.Session]) -> Iterator[Any]:
    """Yield margins, a suggestion, what is told of two blocks, and all at once."""
    unit = sd.AddRowsWithID("person")
    with opened(unit, budget=SHARP) as session:
        margins = session.release(EVERYBODY.marginals(worded.PAIRS, order=2), SHARP)
        yield [round(count) for count in margins["count"].to_pylist()]
    with opened(unit) as session:
        yield repr(session.suggest(COUNTS, ENDLESS, share="0.5"))
        both = {
            "counts": COUNTS,
            "wards": EVERYBODY.group_by(worded.WARDS).agg(n=sd.count()),
        }
        told = session.release_all(both, ENDLESS)
        yield {name: told[name].table.to_pydict() for name in both}
    with opened(unit, blocks=sd.Blocks(start="1990-01", every="month")) as session:
        months = session.in_blocks("1990-03", "1990-07")
        yield months.release(COUNTS, ENDLESS).table.to_pydict()


def told_by(name: str) -> list[Any]:
    """Return what sessions over the same rows are told without noise."""
    rows = rows_of_people().drop_columns(["codes"])
    door = ENGINES[name][0] if name in ENGINES else "arrow"
    source = DOORS[door].opened(rows, Path(tempfile.gettempdir()))

    def opened(unit: Any, blocks: Any = None, budget: sd.Loss = BUDGET) -> sd.Session:
        column = None if blocks is None else "born"
        table = sd.PrivateTable(source, protects=unit, blocks=column)
        engine: Any = name
        return sd.Session({"t": table}, budget, engine=engine, blocks=blocks)

    return list(told_of(opened))


@slow
@each_engine
@pytest.mark.filterwarnings("ignore::sordino.errors.WeakBudget")
def test_margins_blocks_and_suggestions_mean_the_same(name: str) -> None:
    if name == "postgres":
        cluster()
    else:
        users_session()
    assert told_by(name) == told_by("memory")
