"""A file that cannot be a ledger, or is not the one that was written, is refused."""

import os
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from sordino.accounting.ledger import Ledger, Limit, World
from sordino.errors import (
    InvalidParameter,
    LedgerDamaged,
    LedgerUnavailable,
    SordinoError,
)
from sordino.losses.closed import ApproxDP, PureDP
from tests.ledgers import LIMIT, TENTH, claim


@pytest.fixture(name="path")
def path_of_a_ledger(tmp_path: Path) -> Path:
    """Return a closed ledger with two answers and a lost one."""
    path = tmp_path / "a.ledger"
    with Ledger.at(path, LIMIT, create=True, about="visits") as ledger:
        for key in "ab":
            ledger.store(ledger.reserve(claim(key, plan=key * 300)), key.encode() * 900)
        ledger.reserve(claim("c"))
        ledger.reserve(claim("c"))
    assert not path.with_name("a.ledger-wal").exists()
    return path


def changed(path: Path, *statements: str) -> None:
    """Change a ledger behind its back, without its triggers."""
    with closing(sqlite3.connect(path)) as connection:
        triggers = connection.execute(
            "SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'"
        ).fetchall()
        for name, _ in triggers:
            connection.execute(f"DROP TRIGGER {name}")
        for statement in statements:
            connection.execute(statement)
        for _, sql in triggers:
            connection.execute(sql)
        connection.commit()


def other_program(path: Path) -> None:
    """Make another program's file."""
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE notes (text TEXT)")
        connection.commit()


def newer(path: Path) -> None:
    """Make a ledger of a later format."""
    Ledger.at(path, LIMIT, create=True).close()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version = 2")


def twice_named(path: Path) -> None:
    """Make a ledger with two names."""
    Ledger.at(path, LIMIT, create=True).close()
    os.link(path, path.with_name("other name"))


REFUSED: dict[str, tuple[Callable[[Path], object], str]] = {
    "is no file": (Path.mkdir, "a folder"),
    "is no ledger": (Path.touch, "an empty file"),
    "is no ledger of": (lambda path: path.write_text("name,age\n" * 99), "a table"),
    "or a broken one": (other_program, "another program's file"),
    "has format 2": (newer, "a newer format"),
    "hard links": (twice_named, "two names"),
    "is no file,": (os.mkfifo, "a pipe"),
}


@pytest.mark.parametrize("problem", REFUSED)
@pytest.mark.parametrize("create", [False, True])
def test_what_is_no_ledger_is_refused(
    tmp_path: Path,
    problem: str,
    create: bool,  # noqa: FBT001 a parameter of the test
) -> None:
    """A path to something else is refused, and what is there stays as it is."""
    path = tmp_path / "a"
    REFUSED[problem][0](path)
    before = path.read_bytes() if path.is_file() else b""
    with pytest.raises(InvalidParameter, match=problem):
        Ledger.at(path, LIMIT, create=create)
    assert path.exists()
    assert before == (path.read_bytes() if path.is_file() else b"")


@pytest.mark.parametrize("path", [None, 7, "", "a\0b", b"\xff\0"])
def test_what_is_no_path_is_refused(path: Any) -> None:
    """A path that is none, or leads to a folder, is refused by its name."""
    with pytest.raises(InvalidParameter, match="ledger"):
        Ledger.at(path, LIMIT, create=True)


def test_a_missing_file_is_no_new_budget(tmp_path: Path) -> None:
    """Without `create` nothing is made, and a missing folder never is."""
    path = tmp_path / "a"
    with pytest.raises(InvalidParameter, match="does not exist"):
        Ledger.at(path, LIMIT)
    with pytest.raises(InvalidParameter, match="folder that does not exist"):
        Ledger.at(path / "b", LIMIT, create=True)
    with pytest.raises(InvalidParameter, match="limit"):
        Ledger.at(path, create=True)
    assert list(tmp_path.iterdir()) == []


def test_a_name_that_is_taken_meanwhile_is_not_taken_over(tmp_path: Path) -> None:
    """Of two processes that make one ledger, the later opens what the first made."""
    path = tmp_path / "a"

    def meanwhile(point: str) -> None:
        if point == "create: filled":
            with Ledger.at(path, LIMIT, create=True) as first:
                first.reserve(claim())

    world = World(reached=meanwhile)
    with Ledger.at(path, LIMIT, create=True, world=world) as second:
        assert second.spent() == TENTH
    assert list(tmp_path.iterdir()) == [path]


def test_a_place_that_is_read_only_is_refused(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file, or a folder, without the right to write is refused."""
    for closed in (path, path.parent):
        monkeypatch.setattr(
            os, "access", lambda place, _, closed=closed: place != closed
        )
        with pytest.raises(InvalidParameter, match="cannot be written"):
            Ledger.at(path)


def test_a_second_opening_means_the_same(path: Path) -> None:
    """Another limit, another counting or other data is refused; the same is not."""
    tight = Limit.of(ApproxDP(1, "1e-6"), "concentrated")
    for other in (PureDP(2), ApproxDP(1, 0), ApproxDP(1, "1e-6"), tight):
        with pytest.raises(InvalidParameter, match="limit"):
            Ledger.at(path, other)
    with pytest.raises(InvalidParameter, match="about"):
        Ledger.at(path, LIMIT, about="patients")
    for same in (LIMIT, PureDP("1.0"), Limit.of(LIMIT), None):
        with Ledger.at(path, same, create=True, about="visits") as ledger:
            assert ledger.spent() == PureDP("0.3")


def test_a_link_leads_to_the_same_ledger(path: Path) -> None:
    """A symbolic link and a relative path are the same file."""
    link = path.with_name("link")
    link.symlink_to(path)
    with Ledger.at(link) as first, Ledger.at(str(path)) as second:
        first.reserve(claim("x"))
        assert second.spent() == PureDP("0.4")
        assert first.identity == second.identity


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE records SET body = replace(body, '1/10', '0/10')",
        "DELETE FROM records WHERE number = 4",
        "DELETE FROM answers",
        "UPDATE answers SET bytes = x'00'",
        "UPDATE head SET number = 2",
        "DELETE FROM head",
        "INSERT OR REPLACE INTO records SELECT * FROM records WHERE number = 3",
        "INSERT INTO records VALUES (99, 'charged', NULL, 'z', NULL, '{}', '', '')",
    ],
)
def test_records_are_for_ever(path: Path, statement: str) -> None:
    """The file itself refuses to forget, whoever asks."""
    with (
        closing(sqlite3.connect(path)) as connection,
        pytest.raises(sqlite3.IntegrityError),
    ):
        connection.execute(statement)


CHEATS = {
    "a smaller charge": ["UPDATE records SET body = replace(body, '1/10', '1/100')"],
    "a smaller sum": [
        "UPDATE records SET body = replace(body, '3/10', '1/10') WHERE number = 7"
    ],
    "the newest record gone": ["DELETE FROM records WHERE number = 8"],
    "a record in the middle gone": ["DELETE FROM records WHERE number = 5"],
    "the end gone, the head put back": [
        "DELETE FROM records WHERE number > 3",
        "UPDATE head SET number = 3",
    ],
    "an answer changed": ["UPDATE answers SET bytes = x'00' WHERE number = 4"],
    "an answer gone": ["DELETE FROM answers WHERE number = 4"],
    "a key changed": ["UPDATE records SET key = 'z' WHERE number = 3"],
    "a time changed": ["UPDATE records SET body = replace(body, '202', '201')"],
    "another head": ["UPDATE head SET hash = 'x'"],
    "no head": ["DELETE FROM head"],
    "no records": ["DELETE FROM records"],
    "an index gone": ["DROP INDEX one_answer_per_charge"],
    "a table more": ["CREATE TABLE more (x)"],
}


AT_ONCE = [
    "a smaller charge",
    "a smaller sum",
    "the newest record gone",
    "a record in the middle gone",
    "the end gone, the head put back",
    "another head",
    "no head",
    "no records",
    "an index gone",
    "a table more",
]


@pytest.mark.parametrize("cheat", CHEATS)
def test_a_changed_ledger_is_refused(path: Path, cheat: str) -> None:
    """What was changed behind its back is found, at the latest when all is verified."""
    changed(path)
    with Ledger.at(path) as ledger:
        ledger.verify()
    changed(path, *CHEATS[cheat])
    with pytest.raises(LedgerDamaged), Ledger.at(path) as ledger:
        ledger.verify()


@pytest.mark.parametrize("cheat", AT_ONCE)
def test_a_changed_end_is_refused_at_once(path: Path, cheat: str) -> None:
    """What opening promises to find is found by opening alone."""
    changed(path, *CHEATS[cheat])
    with pytest.raises(LedgerDamaged):
        Ledger.at(path)


def test_a_dropped_trigger_is_found(path: Path) -> None:
    """A ledger without one of its guards is refused when it is opened."""
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("DROP TRIGGER records_stay")
    with pytest.raises(LedgerDamaged, match="tables"):
        Ledger.at(path)


def seen(path: Path) -> tuple[Any, ...]:
    """Return all that a ledger tells, verified."""
    with Ledger.at(path) as ledger:
        ledger.verify()
        answers = [ledger.reserve(claim(key)).answer for key in "ab"]
        return ledger.records(), ledger.spent(), *answers


@pytest.mark.parametrize("part", range(8))
def test_a_flipped_byte_is_found_or_harmless(path: Path, part: int) -> None:
    """Any byte of the file may rot: a refusal, or exactly what was written."""
    whole = path.read_bytes()
    truth = seen(path)
    refused = 0
    places = range(31 * part, len(whole), 31 * 8)
    for place in places:
        rotten = bytearray(whole)
        rotten[place] ^= 0x41
        path.write_bytes(rotten)
        for journal in ("-wal", "-shm"):
            path.with_name(path.name + journal).unlink(missing_ok=True)
        try:
            assert seen(path) == truth
        except SordinoError:
            refused += 1
    assert 0 < refused < len(places)


@pytest.mark.parametrize("pages", [0, 0.1, 0.5, 0.9])
def test_a_cut_file_is_refused(path: Path, pages: float) -> None:
    """A file that lost its end is refused."""
    whole = path.read_bytes()
    path.write_bytes(whole[: int(pages * len(whole))])
    with pytest.raises(SordinoError), Ledger.at(path) as ledger:
        ledger.verify()


def test_a_file_that_is_replaced_while_in_use(path: Path) -> None:
    """A handle whose file was moved away charges nothing more."""
    with Ledger.at(path) as ledger:
        shutil.copy(path, path.with_name("copy"))
        path.with_name("copy").replace(path)
        with pytest.raises(LedgerDamaged, match="replaced"):
            ledger.reserve(claim("x"))


def test_a_handle_that_met_damage_ends(path: Path) -> None:
    """After one record or answer that is not what was written, nothing is charged."""
    with Ledger.at(path) as ledger:
        changed(path, *CHEATS["an answer changed"])
        with pytest.raises(LedgerDamaged, match="answer"):
            ledger.reserve(claim("a"))
        with pytest.raises(LedgerUnavailable, match="failed before"):
            ledger.reserve(claim("new"))


def test_a_ledger_that_was_put_back_is_found_by_its_anchor(tmp_path: Path) -> None:
    """An older copy looks whole; only the anchor, kept elsewhere, knows better."""
    path, anchor = tmp_path / "a", tmp_path / "anchor"
    Ledger.at(path, LIMIT, create=True, anchor=anchor).close()
    shutil.copy(path, tmp_path / "old")
    with Ledger.at(path, anchor=anchor) as ledger:
        ledger.store(ledger.reserve(claim()), b"1")
    with Ledger.at(path, anchor=anchor) as ledger:
        assert ledger.spent() == TENTH
    shutil.copy(tmp_path / "old", path)
    with Ledger.at(path) as ledger:
        assert ledger.spent() == PureDP(0)  # which is why there are anchors
    with pytest.raises(LedgerDamaged, match="rolled back"):
        Ledger.at(path, anchor=anchor)


def test_anchors_are_there_and_of_their_ledger(tmp_path: Path) -> None:
    """A missing anchor, another ledger's, or one without its ledger is refused."""
    path, anchor = tmp_path / "a", tmp_path / "anchor"
    Ledger.at(path, LIMIT, create=True, anchor=anchor).close()
    with pytest.raises(InvalidParameter, match="anchor"):
        Ledger.at(path, anchor=tmp_path / "none")
    Ledger.at(tmp_path / "b", LIMIT, create=True, anchor=tmp_path / "c").close()
    with pytest.raises(LedgerDamaged, match="another ledger"):
        Ledger.at(path, anchor=tmp_path / "c")
    path.unlink()
    with pytest.raises(LedgerDamaged, match="it is gone"):
        Ledger.at(path, LIMIT, create=True, anchor=anchor)


def test_a_torn_line_of_an_anchor_is_passed_over(tmp_path: Path) -> None:
    """A crash in the middle of a line spoils neither the lines before nor after it."""
    path, anchor = tmp_path / "a", tmp_path / "anchor"
    Ledger.at(path, LIMIT, create=True, anchor=anchor).close()
    identity, number, _ = anchor.read_text("ascii").split()
    with anchor.open("a", encoding="ascii") as file:
        file.write(f"\n{identity} {number}7 0123")
    with Ledger.at(path, anchor=anchor) as ledger:
        ledger.reserve(claim())
    assert anchor.read_text("ascii").split("\n")[-2].split()[:2] == [identity, "3"]
    Ledger.at(path, anchor=anchor).close()


def test_an_anchor_that_cannot_be_written(tmp_path: Path) -> None:
    """A charge that cannot be anchored gives no ticket, and the handle ends."""
    path, anchor = tmp_path / "a", tmp_path / "anchor"
    ledger = Ledger.at(path, LIMIT, create=True, anchor=anchor)
    anchor.unlink()
    for _ in range(2):
        with pytest.raises(SordinoError, match="the ledger"):
            ledger.reserve(claim())
    with Ledger.at(path) as again:
        assert again.spent() == TENTH
    ledger.close()
