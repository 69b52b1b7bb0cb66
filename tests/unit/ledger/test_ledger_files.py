"""A file that cannot be a ledger, or is not the one that was written, is refused."""

import os
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import sordino as sd
from sordino.errors import (
    InvalidParameter,
    LedgerDamaged,
    LedgerUnavailable,
    SordinoError,
)
from sordino.ledger.file_format import EMPTY, World
from tests.batches import for_each
from tests.ledgers import LIMIT, TENTH, claim


@pytest.fixture(name="path")
def path_of_a_ledger(tmp_path: Path) -> Path:
    """Return a closed ledger with two answers and a lost one."""
    path = tmp_path / "a.ledger"
    with sd.Ledger.at(path, LIMIT, create=True, about="visits") as ledger:
        for key in "ab":
            ledger.store(ledger.reserve(claim(key, plan=key * 300)), key.encode() * 900)
        ledger.reserve(claim("c"))
        ledger.reserve(claim("c"))
    assert list(tmp_path.iterdir()) == [path]
    return path


def changed(path: Path, *changes: tuple[bytes, bytes]) -> None:
    """Replace bytes of a ledger behind its back, each by as many."""
    whole = path.read_bytes()
    for old, new in changes:
        assert old in whole
        whole = whole.replace(old, new)
    path.write_bytes(whole)


def lines_of(path: Path) -> list[bytes]:
    return path.read_bytes().splitlines(keepends=True)


def without(path: Path, *dropped: int) -> None:
    """Leave some records out, counted from the first, with their answers."""
    kept = [
        line
        for line in lines_of(path)
        if not any(
            line.startswith((b'{"number":%d,' % number, b'{"piece":%d,' % number))
            for number in dropped
        )
    ]
    path.write_bytes(b"".join(kept))


def other_program(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE notes (text TEXT)")
        connection.commit()


def newer(path: Path) -> None:
    sd.Ledger.at(path, LIMIT, create=True).close()
    changed(path, (b'"format":2,"begins', b'"format":3,"begins'))


def witness_of_another(path: Path) -> None:
    other = path.with_name("other")
    sd.Ledger.at(other, LIMIT, create=True, witness=path).close()
    other.unlink()


REFUSED: dict[str, tuple[Callable[[Path], object], str]] = {
    "must be a regular file": (Path.mkdir, "a folder"),
    "must be a ledger of Sordino;": (Path.touch, "an empty file"),
    "this file is not one": (
        lambda path: path.write_text("name,age\n" * 99),
        "a table",
    ),
    "or is damaged": (other_program, "another program's file"),
    "has format 3": (newer, "a newer format"),
    "must be a ledger, and this is a witness": (witness_of_another, "a witness"),
    "must be a regular file,": (os.mkfifo, "a pipe"),
}


@for_each("problem", REFUSED)
@for_each("create", [False, True])
def test_what_is_no_ledger_is_refused(
    tmp_path: Path,
    problem: str,
    create: bool,  # noqa: FBT001 a parameter of the test
) -> None:
    path = tmp_path / "a"
    REFUSED[problem][0](path)
    before = path.read_bytes() if path.is_file() else b""
    with pytest.raises(InvalidParameter, match=problem):
        sd.Ledger.at(path, LIMIT, create=create)
    assert path.exists()
    assert before == (path.read_bytes() if path.is_file() else b"")


@for_each("path", [None, 7, "", "a\0b", b"\xff\0"])
def test_what_is_no_path_is_refused(path: Any) -> None:
    with pytest.raises(InvalidParameter, match="ledger"):
        sd.Ledger.at(path, LIMIT, create=True)


def test_a_missing_file_is_no_new_budget(tmp_path: Path) -> None:
    """Without `create` nothing is made, and a missing folder never is."""
    path = tmp_path / "a"
    with pytest.raises(InvalidParameter, match="must exist"):
        sd.Ledger.at(path, LIMIT)
    with pytest.raises(InvalidParameter, match="must lie in a folder that exists"):
        sd.Ledger.at(path / "b", LIMIT, create=True)
    with pytest.raises(InvalidParameter, match="limit"):
        sd.Ledger.at(path, create=True)
    assert list(tmp_path.iterdir()) == []


def test_a_name_that_is_taken_meanwhile_is_not_taken_over(tmp_path: Path) -> None:
    path = tmp_path / "a"

    def meanwhile(point: str) -> None:
        if point == "create ledger: filled":
            with sd.Ledger.at(path, LIMIT, create=True) as first:
                first.reserve(claim())

    world = World(reached=meanwhile)
    with sd.Ledger.at(path, LIMIT, create=True, world=world) as second:
        assert second.spent() == TENTH
    assert list(tmp_path.iterdir()) == [path]


def test_a_place_that_is_read_only_is_refused(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for closed, name in ((path, path), (path.parent, path.with_name("new"))):
        monkeypatch.setattr(
            os, "access", lambda place, _, closed=closed: place != closed
        )
        with pytest.raises(InvalidParameter, match="must be readable and writable"):
            sd.Ledger.at(name, LIMIT, create=True)


def test_a_second_opening_means_the_same(path: Path) -> None:
    tight = sd.Limit.of(sd.ApproxDP(1, "1e-6"), "concentrated")
    for other in (sd.PureDP(2), sd.ApproxDP(1, 0), sd.ApproxDP(1, "1e-6"), tight):
        with pytest.raises(InvalidParameter, match="limit"):
            sd.Ledger.at(path, other)
    with pytest.raises(InvalidParameter, match="about"):
        sd.Ledger.at(path, LIMIT, about="patients")
    for same in (LIMIT, sd.PureDP("1.0"), sd.Limit.of(LIMIT), None):
        with sd.Ledger.at(path, same, create=True, about="visits") as ledger:
            assert ledger.spent() == sd.PureDP("0.3")


def test_a_link_leads_to_the_same_ledger(path: Path) -> None:
    link = path.with_name("link")
    link.symlink_to(path)
    with sd.Ledger.at(link) as first, sd.Ledger.at(str(path)) as second:
        first.reserve(claim("x"))
        assert second.spent() == sd.PureDP("0.4")
        assert first.identity == second.identity


CHEATS: dict[str, Callable[[Path], object]] = {
    "a smaller charge": lambda path: changed(path, (b'"1/10"', b'"0/10"')),
    "a smaller sum": lambda path: changed(path, (b'"3/10"', b'"1/10"')),
    "the newest record gone": lambda path: without(path, 8),
    "a record in the middle gone": lambda path: without(path, 5),
    "the first record gone": lambda path: without(path, 1),
    "a record twice": lambda path: path.write_bytes(
        path.read_bytes() + lines_of(path)[-1]
    ),
    "an answer changed": lambda path: changed(path, (b"YWFhYWFh", b"YWFhYWFi")),
    "an answer that is no base64": lambda path: changed(
        path, (b"YWFhYWFh", b"YWF_YWFh")
    ),
    "an answer gone": lambda path: path.write_bytes(
        b"".join(one for one in lines_of(path) if not one.startswith(b'{"piece":4'))
    ),
    "an answer of another": lambda path: changed(path, (b'{"piece":4', b'{"piece":6')),
    "a key changed": lambda path: changed(path, (b'"key":"a"', b'"key":"z"')),
    "a time changed": lambda path: changed(path, (b'"when":"202', b'"when":"201')),
    "another hash": lambda path: changed(path, (b'"hash":"', b'"hash":"0')),
    "no marks": lambda path: path.write_bytes(
        b"".join([lines_of(path)[0], EMPTY, EMPTY, *lines_of(path)[3:]])
    ),
    "no records": lambda path: path.write_bytes(b"".join(lines_of(path)[:3])),
    "a line more": lambda path: changed(
        path, (b'{"number":5', b'{"numbers":5}\n{"number":5')
    ),
}
LATE = {
    "an answer changed",
    "an answer that is no base64",
    "an answer of another",
}
"""What only verifying finds, or whoever asks for the answer again."""


@pytest.mark.parametrize("cheat", CHEATS)
def test_a_changed_ledger_is_refused(path: Path, cheat: str) -> None:
    with sd.Ledger.at(path) as ledger:
        ledger.verify()
    CHEATS[cheat](path)
    if cheat not in LATE:
        with pytest.raises(LedgerDamaged):
            sd.Ledger.at(path)
        return
    with pytest.raises(LedgerDamaged), sd.Ledger.at(path) as ledger:
        ledger.verify()
    with pytest.raises(LedgerDamaged, match="answer"), sd.Ledger.at(path) as ledger:
        ledger.reserve(claim("a", plan="a" * 300))


def seen(path: Path) -> tuple[Any, ...]:
    with sd.Ledger.at(path) as ledger:
        ledger.verify()
        answers = [ledger.reserve(claim(key)).answer for key in "ab"]
        return ledger.records(), ledger.spent(), *answers


@pytest.mark.parametrize("part", range(8))
@pytest.mark.sampled(1)
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
        try:
            assert seen(path) == truth
        except SordinoError:
            refused += 1
    assert 0 < refused < len(places)


@pytest.mark.parametrize("pages", [0, 0.1, 0.5, 0.9])
def test_a_cut_file_is_refused(path: Path, pages: float) -> None:
    whole = path.read_bytes()
    path.write_bytes(whole[: int(pages * len(whole))])
    with pytest.raises(SordinoError), sd.Ledger.at(path) as ledger:
        ledger.verify()


@pytest.mark.parametrize(
    "act",
    [lambda ledger: ledger.reserve(claim("x")), sd.Ledger.spent, sd.Ledger.entries],
    ids=["charge", "spent", "entries"],
)
def test_a_file_that_is_replaced_while_in_use(
    path: Path, act: Callable[[sd.Ledger], object]
) -> None:
    """A handle whose file was moved away charges nothing more, and tells nothing."""
    with sd.Ledger.at(path) as ledger:
        shutil.copy(path, path.with_name("copy"))
        path.with_name("copy").replace(path)
        with pytest.raises(LedgerDamaged, match="replaced"):
            act(ledger)


def test_a_handle_that_met_damage_ends(path: Path) -> None:
    """After one record or answer that is not what was written, nothing is charged."""
    with sd.Ledger.at(path) as ledger:
        CHEATS["an answer changed"](path)
        with pytest.raises(LedgerDamaged, match="answer"):
            ledger.reserve(claim("a"))
        with pytest.raises(LedgerUnavailable, match="was found damaged before"):
            ledger.reserve(claim("new"))
