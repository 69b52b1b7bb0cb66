"""A session over some blocks: it reads the rows of these, and charges these alone."""

import datetime as dt
from collections.abc import Callable
from typing import Any, Final

import pytest

import sordino as sd
from sordino.errors import (
    InvalidParameter,
    InvalidQuery,
    ProofRefused,
    SordinoError,
)
from sordino.session import tables
from tests.batches import for_each
from tests.dice import rolled

SEED: Final = 20_261_122
MONTHS: Final = [f"2026-{month:02}" for month in range(1, 11)]
WIDE: Final = [day for month in range(1, 11) for day in (1, 9, 28)]
KINDS: Final[dict[str, tuple[sd.Blocks, list[Any]]]] = {
    "dates": (
        sd.Blocks(start="2026-01", every="month"),
        [dt.date(2026, 1 + at // 3, day) for at, day in enumerate(WIDE)],
    ),
    "times": (
        sd.Blocks(start="2026-01", every="month"),
        [
            dt.datetime(2026, 1 + at // 3, day, 23, 59, tzinfo=dt.UTC)
            for at, day in enumerate(WIDE)
        ],
    ),
    "texts": (
        sd.Blocks(start="2026-01", every="month"),
        [MONTHS[at // 3] for at, _ in enumerate(WIDE)],
    ),
    "names": (
        sd.Blocks(names=MONTHS),
        [MONTHS[at // 3] for at, _ in enumerate(WIDE)],
    ),
}
COUNT: Final = sd.table("visits").enforce(sd.MaxRowsPerID(99)).agg(n=sd.count())
BUDGET: Final = sd.GaussianDP("0.1")


def clinic(kind: str = "dates", engine: Any = "memory") -> sd.Session:
    """Return a session on three visits a month, each by another person."""
    blocks, column = KINDS[kind]
    visits = {"patient": list(range(30)), "arrived": column}
    people = {"patient": list(range(30)), "age": [40] * 30}
    protects = sd.AddRowsWithID("patient")
    return sd.Session(
        tables={
            "visits": sd.PrivateTable(visits, protects, blocks="arrived"),
            "people": sd.PrivateTable(people, protects),
        },
        budget=sd.GaussianDP("0.24"),
        blocks=blocks,
        engine=engine,
    )


def exact(session: sd.Session, request: sd.Request = COUNT) -> int:
    desk = session._desk
    question = desk.buy(request, BUDGET).plan.question
    return int(desk.engine.answer(question).column(0)[0].as_py())


@for_each("engine", ["memory", "duckdb"])
@for_each("kind", KINDS)
def test_what_is_read_is_what_is_charged(kind: str, engine: str) -> None:
    """For any open blocks, with gaps or without: their rows, and these in the price."""
    session, dice = clinic(kind, engine), rolled(SEED)
    for _ in range(12):
        names = dice.several(MONTHS, 1, 10)
        narrow = session.in_blocks(*names)
        assert exact(narrow) == 3 * len(names)
        assert narrow.price(COUNT, BUDGET).blocks == tuple(sorted(names))


def test_a_gate_without_gaps_would_be_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted: from the least to the greatest value reads a month nobody pays for."""

    def whole(pairs: list[Any], step: Any) -> list[Any]:
        del step
        return [(pairs[0][0], pairs[-1][1])]

    monkeypatch.setattr(tables, "_runs", whole)
    narrow = clinic().in_blocks("2026-01", "2026-03")
    with pytest.raises(ProofRefused, match="blocks that are not open"):
        narrow.price(COUNT, BUDGET)


def test_only_these_blocks_are_charged() -> None:
    session = clinic()
    march = session.in_blocks("2026-03")
    march.release(COUNT, BUDGET)
    assert march.spent == session.spent == BUDGET
    assert session.in_blocks("2026-02").remaining == sd.GaussianDP("0.24")
    assert march.remaining == session.remaining != sd.GaussianDP("0.24")
    assert [
        block.name
        for block in session.ledger.blocks()
        if any(block.spent.sums.values())
    ] == ["2026-03"]


def test_every_kind_of_question_reads_them_alone() -> None:
    """SQL, views, joins, several requests: the blocks are below the question."""
    session = clinic()
    session.view("late", sd.table("visits").filter(sd.col("patient") >= 15))
    narrow = session.in_blocks("2026-06", "2026-02")
    text = "SELECT COUNT(*) AS n FROM visits"
    asked = {
        "sql": narrow.sql(text, limits=[sd.MaxRowsPerID(9)]),
        "view": sd.table("late").enforce(sd.MaxRowsPerID(9)).agg(n=sd.count()),
        "join": sd
        .table("visits")
        .join_private(sd.table("people"), on="patient")
        .enforce(sd.MaxRowsPerID(9))
        .agg(n=sd.count()),
        "people": sd.table("visits").per_id(n=sd.count()).agg(n=sd.count()),
    }
    assert {name: exact(narrow, request) for name, request in asked.items()} == {
        "sql": 6,
        "view": 3,
        "join": 6,
        "people": 6,
    }
    for request in asked.values():
        assert narrow.price(request, BUDGET).blocks == ("2026-02", "2026-06")
    assert narrow.price_all(asked, BUDGET).blocks == ("2026-02", "2026-06")


def test_tables_without_blocks_stay() -> None:
    request = sd.table("people").enforce(sd.MaxRowsPerID(9)).agg(n=sd.count())
    narrow = clinic().in_blocks("2026-06")
    assert exact(narrow, request) == 30
    assert narrow.price(request, BUDGET).blocks == ("*",)


def test_a_key_is_of_the_blocks_that_were_read() -> None:
    """The same blocks have the answer they had; others are another request."""
    session = clinic()
    first = session.in_blocks("2026-03").release(COUNT, BUDGET, key="k")
    again = session.in_blocks("2026-03").release(COUNT, BUDGET, key="k")
    assert first.table.equals(again.table)
    with pytest.raises(SordinoError, match="belongs to another request"):
        session.in_blocks("2026-04").release(COUNT, BUDGET, key="k")
    with pytest.raises(SordinoError, match="belongs to another request"):
        session.release(COUNT, BUDGET, key="k")
    assert len(session.history()) == 1


def test_some_of_some_blocks() -> None:
    narrow = clinic().in_blocks("2026-03", "2026-04").in_blocks("2026-04")
    assert exact(narrow) == 3
    assert narrow.price(COUNT, BUDGET).blocks == ("2026-04",)
    with pytest.raises(InvalidParameter, match="must be an open block"):
        narrow.in_blocks("2026-03")


REFUSED: dict[str, tuple[tuple[Any, ...], str]] = {
    "none": ((), "blocks must be named"),
    "a number": ((3,), "must be text"),
    "the block of other tables": (("*",), "must be an open block"),
    "the future": (("2999-01",), "the newest is '2026-10'"),
    "no period": (("x" * 4000,), "must be an open block"),
}


@for_each("case", REFUSED)
def test_blocks_that_are_not_open_are_refused(case: str) -> None:
    names, match = REFUSED[case]
    with pytest.raises(InvalidParameter, match=match) as caught:
        clinic("names").in_blocks(*names)
    assert len(str(caught.value)) < 500


def test_without_blocks_it_is_refused() -> None:
    visits = sd.PrivateTable({"a": [1]}, protects=sd.AddOneRow())
    with pytest.raises(InvalidQuery, match="do not lie in blocks"):
        sd.Session({"visits": visits}, sd.PureDP(1)).in_blocks("2026-01")


SHOWN: dict[str, Callable[[sd.Session], str]] = {
    "price": lambda session: repr(session.price(COUNT, BUDGET)),
    "page": lambda session: session.price(COUNT, BUDGET)._repr_html_(),
    "batch": lambda session: repr(session.price_all({"a": COUNT}, BUDGET)),
    "outlook": lambda session: repr(session.what_if(COUNT, BUDGET)),
}


@for_each("face", SHOWN)
def test_a_price_says_which_blocks_it_touches(face: str) -> None:
    session = clinic().in_blocks("2026-02", "2026-03")
    sentence = "touches 2026-02 and 2026-03: mu = 0.1 in each; who is in both loses it"
    assert sentence in SHOWN[face](session)


@for_each("face", [repr, lambda shown: shown._repr_html_()])
def test_a_session_and_its_ledger_show_each_block(face: Callable[[Any], str]) -> None:
    session = clinic()
    session.in_blocks("2026-03").release(COUNT, BUDGET)
    shown = face(session.describe())
    for text in (
        "2026-03",
        "mu = 0.2182",
        "12 blocks (worst: 2026-01 to 2026-10)",
        "mu = 0.8654",
    ):
        assert text in shown
    assert "mu = 0.8654" in session.ledger._repr_html_()
