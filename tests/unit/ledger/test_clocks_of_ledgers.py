"""Time in a ledger: it never goes back, and a clock in doubt decides nothing."""

import itertools
import logging
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any, Final

import pytest

import sordino as sd
from sordino.errors import InvalidParameter
from sordino.ledger.file_format import Record, World
from sordino.ledger.ledger import Ledger
from sordino.ledger.record_kinds import Ticket
from sordino.numbers.calendar import CALENDARS
from tests.dice import rolled
from tests.ledgers import LIMIT, TENTH, claim

START: Final = datetime(2026, 11, 22, 12, tzinfo=UTC)
MONTHS: Final = sd.Blocks(start="2026-09", every="month")


def at_time(now: datetime, *, doubted: bool = False) -> World:
    return World(clock=lambda: now, is_unsynchronised=lambda: doubted)


def make(path: Path, **more: Any) -> None:
    Ledger.at(path, LIMIT, create=True, world=at_time(START), **more).close()


def every_door(folder: Path, world: World) -> tuple[Ticket, tuple[Record, ...]]:
    path, terms = folder / "a", {"witness": folder / "a.seen", "world": world}
    (folder / "f").write_text("1", encoding="ascii")
    with Ledger.at(path, LIMIT, create=True, world=world) as ledger:
        ledger.allot("ana", TENTH)
    with Ledger.at(path, create=True, **terms) as ledger:  # type: ignore[arg-type]
        ledger.earmark("later", TENTH)
        ledger.describe("a job")
        ticket = ledger.reserve(claim("k"))
        ledger.store(ticket, b"1")
        for _ in range(2):
            ledger.reserve(claim("lost"))
        ledger.free("later")
        ledger.lower("ana", sd.PureDP("0.05"))
        ledger.publish("k", folder / "f")
        ledger.backup(folder / "copy")
        ledger.close_budget("ana")
    with Ledger.restore(folder / "copy", folder / "b", **terms) as ledger:  # type: ignore[arg-type]
        assert ledger.verify()
        return ticket, ledger.records()


def test_no_record_is_earlier_than_one_before(tmp_path: Path) -> None:
    """Whatever the clock does, through every door that records something."""
    dice = rolled(7)

    def wild() -> datetime:
        return START + timedelta(days=dice.between(-900, 20), seconds=dice.below(99))

    ticket, records = every_door(tmp_path, World(clock=wild))
    times = [datetime.fromisoformat(record.fields["when"]) for record in records]
    pairs = zip(records[1:], itertools.pairwise(times), strict=True)
    assert [one.kind for one, (late, soon) in pairs if soon < late] == []
    assert records[-1].kind == "restored"
    assert ticket.when == records[ticket.number - 1].fields["when"]


def test_a_ledger_of_the_future_says_so_and_opens_nothing(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """More than a day ahead of the clock: told at every opening, and no block opens."""
    path = tmp_path / "a"
    make(path, blocks=MONTHS)
    days: list[tuple[int, bool]] = []
    for hours in (23, 24, 25, 4000):
        caplog.clear()
        late = at_time(START - timedelta(hours=hours))
        with caplog.at_level(logging.WARNING, "sordino"):
            Ledger.at(path, world=late).close()
        days.append((hours, "one of two clocks was wrong" in caplog.text))
    assert days == [(23, False), (24, False), (25, True), (4000, True)]
    late = at_time(START - timedelta(days=40))
    with Ledger.at(path, world=late) as ledger:
        for act in (ledger.open_blocks, lambda: ledger.trusted_day("month")):
            with pytest.raises(InvalidParameter, match=r"2026-11-22.*--on DATE"):
                act()
        assert ledger.blocks() == ()
        assert ledger.records()[-1].kind == "divided"
    with Ledger.at(path, world=late, on=date(2026, 10, 13)) as ledger:
        assert ledger.open_blocks() == ("2026-09",)
        assert ledger.trusted_day("month") == date(2026, 10, 13)
        assert ledger.records()[-1].fields["when"] == START.isoformat()


def test_a_leap_over_periods_must_be_confirmed(tmp_path: Path) -> None:
    """Two periods between, or one by a clock that the system doubts; any calendar."""
    path = tmp_path / "a"
    make(path)
    wrong = []
    for calendar, leapt, doubted, said in itertools.product(
        CALENDARS.values(), range(4), (False, True), ("", "on", "catch_up")
    ):
        day = START.date()
        for _ in range(leapt + 1):
            day = calendar.next_start(day)
        now = datetime.combine(day, START.timetz())
        world, more = at_time(now, doubted=doubted), dict[str, Any]()
        if said:
            more = {said: day if said == "on" else True}
        if said == "on":
            world = at_time(START, doubted=doubted)
        fine = said == "catch_up" or leapt < (1 if doubted and said != "on" else 2)
        with Ledger.at(path, world=world, **more) as ledger:
            told = _outcome(lambda: ledger.trusted_day(calendar.every))  # noqa: B023 now
        if told != (day if fine else "catch_up"):
            wrong.append((calendar.every, leapt, doubted, said, told))
    assert wrong == []


def test_blocks_do_not_open_ahead(tmp_path: Path) -> None:
    """A clock that is months ahead for once opens none, in a session, too."""
    path = tmp_path / "a"
    make(path, blocks=MONTHS)
    ahead = at_time(datetime(2027, 6, 15, tzinfo=UTC))
    rows = {"day": [date(2026, 9, 3)] * 9}
    table = sd.PrivateTable(rows, protects=sd.AddOneRow(), blocks="day")
    with Ledger.at(path, world=ahead) as ledger:
        with pytest.raises(InvalidParameter, match="6 periods, 2026-12 to 2027-05"):
            sd.Session({"visits": table}, ledger=ledger)
        assert ledger.blocks() == ()
    with Ledger.at(path, world=at_time(START)) as ledger:
        assert ledger.open_blocks() == ("2026-09", "2026-10")
    with Ledger.at(path, world=ahead, catch_up=True) as ledger:
        assert ledger.open_blocks()[-1] == "2027-05"


def test_what_is_no_day_is_refused(tmp_path: Path) -> None:
    make(tmp_path / "a")
    for day in ("2026-11-22", START, 0):
        with pytest.raises(InvalidParameter, match=r"^on must be a date"):
            Ledger.at(tmp_path / "a", on=day)  # type: ignore[arg-type]


def _outcome(act: Callable[[], Any]) -> Any:
    try:
        return act()
    except InvalidParameter as refusal:
        return refusal.name
