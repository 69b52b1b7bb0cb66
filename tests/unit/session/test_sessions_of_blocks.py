"""Sessions over tables in blocks: what is read, what is charged, what is refused."""

import datetime as dt
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pytest

import sordino as sd
from sordino.aggregations.measurement import Total
from sordino.engines.engine import AbstractEngine
from sordino.engines.postgres.session import postgres_engine
from sordino.errors import BudgetExceeded, InvalidQuery, SordinoError
from sordino.expressions.literals import literal
from sordino.ledger.file_format import World
from sordino.losses.budgets.blocks import WHOLE
from sordino.plan.plan import exact_counts
from sordino.query.nodes import Question
from sordino.session.charging import request_identity
from sordino.session.tables import keep_open_blocks, open_catalog
from tests.batches import for_each
from tests.cases import ENGINES
from tests.ledgers import Standing
from tests.postgres_server import cluster, stored_table

IDS: Final = sd.AddRowsWithID("patient")
MONTHS: Final = sd.Blocks(start="2026-01", every="month")
BUDGET: Final = sd.GaussianDP("0.1")
COUNT: Final = sd.table("visits").enforce(sd.MaxRowsPerID(9)).agg(n=sd.count())


def clinic(
    ledger: Any = None, *, day: tuple[int, int, int] = (2026, 4, 2), **more: Any
) -> sd.Session:
    """Return a session on visits of five months, of which those before a day open."""
    months = [f"2026-{1 + at % 5:02}" for at in range(40)]
    visits = {
        "patient": [at % 7 for at in range(40)],
        "month": [*months[:38], None, "2031-01"],
        "ward": [("A", "B")[at % 2] for at in range(40)],
        "days": [str(at % 9) if at % 4 else "x" for at in range(40)],
    }
    people = {"patient": list(range(9)), "age": [40] * 9}
    columns = {"days": sd.Column("i64")}
    if ledger is None:
        world = World(clock=Standing(*day))
        ledger = sd.Ledger.in_memory(sd.GaussianDP("0.24"), blocks=MONTHS, world=world)
    return sd.Session(
        tables={
            "visits": sd.PrivateTable(pa.table(visits), IDS, columns, blocks="month"),
            "people": sd.PrivateTable(people, IDS),
            "wards": sd.PublicTable({"ward": ["A"], "beds": [12]}),
        },
        ledger=ledger,
        engine="memory",
        **more,
    )


def limited() -> Any:
    return sd.table("visits").enforce(sd.MaxRowsPerID(9))


_DAY: Final = dt.date(2026, 1, 31)
COLUMNS: Final[dict[str, tuple[sd.Blocks, pa.Array]]] = {
    "dates": (
        sd.Blocks(start="2026-01", every="month"),
        pa.array([
            _DAY,
            dt.date(2026, 1, 1),
            dt.date(2026, 2, 1),
            None,
            dt.date(1999, 1, 1),
        ]),
    ),
    "times": (
        sd.Blocks(start="2026-01-31", every="day"),
        pa.array(
            [
                dt.datetime(2026, 1, 31, 23, 59, 59, 999_999),  # noqa: DTZ001 UTC
                dt.datetime(2026, 1, 31),  # noqa: DTZ001 UTC
                dt.datetime(2026, 2, 1),  # noqa: DTZ001 UTC
                None,
                dt.datetime(2026, 1, 30, 23, 59, 59, 999_999),  # noqa: DTZ001 UTC
            ],
            pa.timestamp("us"),
        ),
    ),
    "texts": (
        sd.Blocks(start="2026-01", every="month"),
        pa.array(["2026-01", "2026-01", "2026-02", None, "2026-1"]),
    ),
    "years": (
        sd.Blocks(start="2026", every="year"),
        pa.array([2026, 2026, 2027, None, 1]),
    ),
    "cohorts": (
        sd.Blocks(names=["pilot"]),
        pa.array(["pilot", "pilot", "Pilot", None, ""]),
    ),
    "numbers": (sd.Blocks(names=[-1]), pa.array([-1, -1, 1, None, 0])),
}
"""Columns of which the first two rows are of the first block, the others not."""


def rows_read(engine: AbstractEngine, source: Any, blocks: sd.Blocks) -> list[int]:
    """Return how many rows are read of the first block, and where none is open."""
    counts = []
    first = blocks.names or tuple(blocks.periods_behind(None, 1))
    for names in ((WHOLE, *first), ()):
        table = sd.PrivateTable(source, IDS, blocks="block")
        catalog = open_catalog(engine, {"visits": table})
        keep_open_blocks(catalog, blocks, names)
        node = catalog.relations["visits"].node
        answer = engine.answer(Question(node, (), (Total(literal(1)),)))
        counts.append(int(answer.column(0)[0].as_py()))
    return counts


@for_each("kind", COLUMNS)
@for_each("engine", ENGINES)
def test_rows_of_open_blocks_are_read_and_no_others(engine: str, kind: str) -> None:
    blocks, column = COLUMNS[kind]
    rows = pa.table({"patient": [1, 2, 3, 4, 5], "block": column})
    assert rows_read(ENGINES[engine](), rows, blocks) == [2, 0]


@pytest.mark.slow
@for_each("kind", COLUMNS)
def test_in_a_server_the_same_rows_are_read(kind: str) -> None:
    blocks, column = COLUMNS[kind]
    rows = stored_table(pa.table({"patient": [1, 2, 3, 4, 5], "block": column}))
    engine = postgres_engine(cluster().address())
    assert rows_read(engine, rows, blocks) == [2, 0]
    engine.close()


EVERY: Final = ("2026-01", "2026-02", "2026-03")
MONTH: Final = sd.col("month")
MARCH: Final = MONTH == "2026-03"
PEOPLE: Final = sd.table("people").enforce(sd.MaxRowsPerID(1))
ALL: Final = limited().agg(n=sd.count())
ONE: Final = limited().filter(MARCH).agg(n=sd.count())
READ: Final[dict[str, tuple[Any, tuple[str, ...]]]] = {
    "all": (ALL, EVERY),
    "one": (ONE, EVERY[2:]),
    "from": (limited().filter(MONTH >= "2026-02").agg(n=sd.count()), EVERY[1:]),
    "carried": (
        limited()
        .rename({"month": "m"})
        .filter(sd.col("m").is_in(["2026-01"]))
        .agg(n=sd.count()),
        EVERY[:1],
    ),
    "written anew": (
        limited().with_columns(month=sd.col("ward")).filter(MARCH).agg(n=sd.count()),
        EVERY,
    ),
    "unknown keys": (
        limited().filter(MARCH).group_by("ward").agg(n=sd.count()),
        EVERY[2:],
    ),
    "per person": (
        limited().per_id("month", n=sd.count()).filter(MARCH).agg(n=sd.sum("n", 0, 3)),
        EVERY[2:],
    ),
    "with coverage": (
        limited()
        .filter(MARCH)
        .agg(n=sd.sum("days", 0, 9, nulls="drop"), coverage=True),
        EVERY,  # who is above the limit is counted of all of them
    ),
    "public": (
        limited()
        .join_public("wards", on="ward")
        .filter(MONTH < "2026-02")
        .agg(n=sd.count()),
        EVERY[:1],
    ),
    "people": (PEOPLE.agg(n=sd.count()), (WHOLE,)),
    "both": (
        limited().join_private(PEOPLE, on="patient").filter(MARCH).agg(n=sd.count()),
        EVERY[2:],
    ),
}
"""What is asked, and the blocks that are charged for it."""


@for_each("name", READ)
def test_each_release_is_charged_to_the_blocks_that_it_reads(name: str) -> None:
    """All that are open, or those that pass a filter above."""
    request, blocks = READ[name]
    asked = sd.ApproxZCDP("0.0002", "1e-9")
    world = World(clock=Standing(2026, 4, 2))
    ledger = sd.Ledger.in_memory(asked, blocks=MONTHS, world=world)
    price = clinic(ledger).price(request, asked)
    assert price.blocks == blocks


def test_what_is_asked_together_is_charged_to_all_that_it_reads() -> None:
    session = clinic()
    together = {"one": ONE, "people": READ["people"][0]}
    assert session.price_all(together, BUDGET).blocks == (WHOLE, "2026-03")
    assert session.what_if(ONE, BUDGET).blocks == ("2026-03",)


def test_margins_the_first_few_and_suggestions_are_charged_alike() -> None:
    session = clinic()
    narrow = limited().filter(sd.col("month") == "2026-02")
    keys = sd.KeySet.from_dict({"ward": ["A", "B"]})
    margins = narrow.marginals(keys, order=1)
    assert session.price(margins, BUDGET).blocks == ("2026-02",)
    session.release(margins, sd.GaussianDP("0.02"))
    session.release(narrow.group_by(keys).top(1, by=sd.count()), sd.GaussianDP("0.02"))
    session.release_all({"a": narrow.agg(n=sd.count())}, sd.GaussianDP("0.02"))
    session.suggest(
        sd.table("visits").filter(sd.col("month") == "2026-02").agg(n=sd.count()),
        sd.GaussianDP("0.02"),
        limits={"rows": [1, 2]},
    )
    assert {entry.blocks for entry in session.history()} == {("2026-02",)}
    assert session.ledger.verify().releases == 4


def test_cells_of_closed_blocks_are_not_counted_either() -> None:
    request = (
        sd
        .table("visits")
        .enforce(sd.MaxRowsPerID(99))
        .agg(n=sd.sum("days", 0, 9, nulls="drop"), coverage=True)
    )
    counts = []
    for day in ((2026, 2, 1), (2026, 6, 1)):
        desk = clinic(day=day)._desk
        plan = desk.buy(request, BUDGET).plan
        answers = [desk.engine.answer(each) for each in plan.coverage_questions]
        exact = exact_counts(tuple(plan.coverage.values()), answers)
        names = map(str, plan.coverage.values())
        counts.append(
            dict(zip(names, exact, strict=True))["visits.days unreadable (ids)"]
        )
    rows = [at for at in range(38) if at % 4 == 0]
    assert counts[0] == len({at % 7 for at in rows if at % 5 == 0})
    assert counts[1] == len({at % 7 for at in rows})


def test_a_budget_of_one_block_ends_and_others_go_on(tmp_path: Path) -> None:
    """Old blocks stay spent, in every session of the ledger; a new month is new."""
    path = tmp_path / "a.ledger"
    clock = Standing(2026, 4, 2)
    ledger = sd.Ledger.at(
        path,
        sd.GaussianDP("0.24"),
        create=True,
        blocks=MONTHS,
        world=World(clock=clock),
    )
    session = clinic(ledger)
    session.release(COUNT, sd.GaussianDP("0.24"), key="april")
    with pytest.raises(BudgetExceeded, match="of 2026-01"):
        session.release(COUNT, BUDGET)
    clock.now = Standing(2026, 5, 2).now
    later = clinic(ledger)
    with pytest.raises(BudgetExceeded, match="of 2026-03") as refusal:
        later.release(COUNT, BUDGET)
    assert "2026-04" not in str(refusal.value)
    new = limited().filter(sd.col("month") == "2026-04").agg(n=sd.count())
    later.release(new, sd.GaussianDP("0.24"))
    assert later.release(COUNT, sd.GaussianDP("0.24"), key="april").table is not None
    assert later.answer("april").table == session.answer("april").table
    exposure = ledger.exposure(12)
    assert exposure.charged == sd.GaussianDP("sqrt(0.1152)")
    assert exposure.promise == sd.GaussianDP("sqrt(0.7488)")  # of 12 months, and of "*"
    ledger.verify()


def test_the_words_of_tables_in_blocks_last() -> None:
    """The column is of them, and which blocks are open is not: a key outlives months.

    A table without blocks has the words that it always had.
    """
    session = clinic()
    budget = sd.PureDP(1)

    def rows(opened: sd.Session, request: Any) -> Any:
        catalog = opened._desk.catalog
        words = json.loads(request_identity(request, catalog, budget, "k").words)
        return words[1]["request"][1]["rows"]

    expected = [
        "table",
        {
            "blocks": "month",
            "columns": [
                ["days", "i64"],
                ["month", "text"],
                ["patient", "i64"],
                ["ward", "text"],
            ],
            "name": "visits",
            "protects": ["AddRowsWithID", {"column": "patient", "id_space": "default"}],
        },
    ]
    assert rows(session, ALL)[0] == expected
    assert rows(clinic(day=(2026, 6, 1)), ALL) == rows(session, ALL)
    assert "blocks" not in rows(session, READ["people"][0])[0][1]
    narrow = rows(session.in_blocks("2026-02"), ALL)
    assert narrow[:2] == [expected, ["in_blocks", {"names": ["2026-02"]}]]


def test_a_naive_refresh_is_refused() -> None:
    """The same rows asked again in a new month are still those of spent blocks."""
    clock = Standing(2026, 4, 2)
    ledger = sd.Ledger.in_memory(
        sd.GaussianDP("0.24"), blocks=MONTHS, world=World(clock=clock)
    )
    clinic(ledger).release(COUNT, sd.GaussianDP("0.24"))
    for month in range(5, 13):
        clock.now = Standing(2026, month, 2).now
        with pytest.raises(BudgetExceeded):
            clinic(ledger).release(COUNT, sd.GaussianDP("0.01"))


def test_what_is_not_of_blocks_is_refused() -> None:
    session = clinic()
    refusals: list[Callable[[], object]] = [
        lambda: session.partition("visits", "ward", ["A", "B"], BUDGET),
        lambda: session.release(COUNT, BUDGET, earmark="year"),
        lambda: session.price(
            limited().filter(sd.col("month") == "2026-04").agg(n=sd.count()), BUDGET
        ),
        lambda: session.release(
            limited().filter(sd.col("month") == "x").agg(n=sd.count()), BUDGET
        ),
    ]
    for refusal in refusals:
        with pytest.raises(SordinoError):
            refusal()
    assert session.history() == ()
    early = clinic(day=(2026, 1, 31))
    with pytest.raises(InvalidQuery, match="none is open yet"):
        early.release(COUNT, BUDGET)
    assert early.remaining == sd.GaussianDP("0.24")


def test_rows_are_protected_in_blocks_too() -> None:
    """A filter below a join of rows narrows what is read, one above it does not."""
    rows = {"month": ["2026-01", "2026-02"] * 5, "ward": ["A", "B"] * 5}
    world = World(clock=Standing(2026, 4, 1))
    ledger = sd.Ledger.in_memory(sd.PureDP(1), blocks=MONTHS, world=world)
    table = sd.PrivateTable(rows, sd.AddOneRow(), blocks="month")
    session = sd.Session({"v": table}, ledger=ledger, engine="memory")
    march = sd.col("month") == "2026-01"

    def joined(left: Any, right: Any) -> Any:
        return left.join_private(
            right, on="ward", left=sd.DropExcess(2), right=sd.DropExcess(2)
        )

    whole = sd.table("v")
    above = joined(whole, whole).filter(march).agg(n=sd.count())
    below = joined(whole.filter(march), whole.filter(march)).agg(n=sd.count())
    one = joined(whole.filter(march), whole).agg(n=sd.count())
    every = ("2026-01", "2026-02", "2026-03")
    assert session.price(above, sd.PureDP("0.1")).blocks == every
    assert session.price(below, sd.PureDP("0.1")).blocks == ("2026-01",)
    assert session.price(one, sd.PureDP("0.1")).blocks == every


def test_cohorts_open_when_they_are_named() -> None:
    rows = {"cohort": ["a", "b", "c"] * 3}
    ledger = sd.Ledger.in_memory(sd.PureDP(1), blocks=sd.Blocks(names=["a"]))
    table = sd.PrivateTable(rows, sd.AddOneRow(), blocks="cohort")

    def opened(blocks: sd.Blocks | None) -> tuple[str, ...]:
        session = sd.Session(
            {"v": table}, ledger=ledger, blocks=blocks, engine="memory"
        )
        request = sd.table("v").agg(n=sd.count())
        return session.price(request, sd.PureDP("0.1")).blocks

    assert opened(sd.Blocks(names=["a"])) == ("a",)
    assert opened(sd.Blocks(names=["c", "a"])) == ("a", "c")
    assert opened(None) == ("a", "c")
    assert opened(sd.Blocks(names=["b"])) == ("a", "c", "b")
    assert [block.name for block in ledger.blocks()] == ["a", "c", "b"]
