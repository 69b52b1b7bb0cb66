"""A ledger that was put back, or that has a twin, is found out by its witness."""

import os
import shutil
import signal
from contextlib import suppress
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sordino.errors import (
    AnswerLost,
    BudgetExceeded,
    InvalidParameter,
    LedgerDamaged,
    LedgerUnavailable,
)
from sordino.ledger.file_format import Disk, World
from sordino.ledger.ledger import Ledger
from sordino.losses.loss import PureDP
from tests.ledgers import LIMIT, TENTH, Failing, claim

QUICK = World(disk=Disk(sync=lambda _: None))
"""A world that does not wait for the disk, where no power fails."""


@pytest.fixture(name="both")
def ledger_and_witness(tmp_path: Path) -> tuple[Path, Path]:
    (tmp_path / "far").mkdir()
    path, witness = tmp_path / "a.ledger", tmp_path / "far" / "a.witness"
    Ledger.at(path, LIMIT, create=True, about="visits", witness=witness).close()
    return path, witness


def charged(path: Path, witness: Path | None, *keys: str | None) -> None:
    with Ledger.at(path, witness=witness) as ledger:
        for key in keys:
            ledger.store(ledger.reserve(claim(key)), str(key).encode())


def test_a_ledger_that_was_put_back_is_refused(both: tuple[Path, Path]) -> None:
    path, witness = both
    shutil.copy(path, path.with_name("old"))
    charged(path, witness, "a")
    shutil.copy(path.with_name("old"), path)
    for _ in range(2):
        with pytest.raises(LedgerDamaged, match="put back: its witness saw record 5"):
            Ledger.at(path, witness=witness)


def test_a_live_handle_is_compared_before_every_charge(
    both: tuple[Path, Path],
) -> None:
    """Two copies that were equal when opened: the first that charges goes on alone."""
    path, witness = both
    charged(path, witness, "a")
    twin = path.with_name("twin.ledger")
    shutil.copy(path, twin)
    first = Ledger.at(path, witness=witness)
    second = Ledger.at(twin, witness=witness)
    had = 1
    with suppress(BudgetExceeded):
        while True:
            first.reserve(claim(None))
            had += 1
    with pytest.raises(LedgerDamaged, match="put back"):
        second.reserve(claim(None))
    with pytest.raises(LedgerUnavailable, match="was found damaged before"):
        second.reserve(claim(None))
    assert had == 10
    with pytest.raises(LedgerDamaged, match="put back"):
        Ledger.at(twin, witness=witness)
    assert first.verify().releases == 10


def test_a_forked_history_is_told(both: tuple[Path, Path]) -> None:
    """Two hashes for one number are two histories, also where the twin is longer."""
    path, witness = both
    twin, lost = path.with_name("twin.ledger"), witness.with_name("lost")
    shutil.copy(path, twin)
    shutil.copy(witness, lost)
    charged(path, witness, "a")
    charged(twin, lost, "b", "c", "d")
    with pytest.raises(LedgerDamaged, match="its history was forked"):
        Ledger.at(twin, witness=witness)
    with pytest.raises(LedgerDamaged, match="put back"):
        Ledger.at(path, witness=lost)


def test_a_witness_is_not_left_out(both: tuple[Path, Path]) -> None:
    path, witness = both
    other = path.with_name("other.ledger")
    Ledger.at(other, LIMIT, create=True, witness=path.with_name("other")).close()
    cases: list[tuple[Any, type[Exception], str]] = [
        (None, InvalidParameter, "witness must be given"),
        (path.with_name("gone"), InvalidParameter, "witness must exist"),
        (path.with_name("other"), LedgerDamaged, "its history was forked"),
        (path.parent, InvalidParameter, "witness must be a regular file"),
        (path, InvalidParameter, "another file than the ledger"),
        (
            path.with_name("other.ledger"),
            InvalidParameter,
            "must be a witness, and this is a ledger",
        ),
        (7, InvalidParameter, "witness must be a path"),
    ]
    for given_witness, error, message in cases:
        for create in (False, True):
            with pytest.raises(error, match=message):
                Ledger.at(path, create=create, witness=given_witness)
    with pytest.raises(
        InvalidParameter, match="must be a ledger, and this is a witness"
    ):
        Ledger.at(witness)
    with Ledger.at(path, witness=witness) as ledger:
        assert ledger.spent() == PureDP(0)


def test_a_ledger_that_is_gone_is_not_made_anew(both: tuple[Path, Path]) -> None:
    """Where the witness saw a charge, no unspent ledger is made in its place."""
    path, witness = both
    charged(path, witness, "a")
    path.unlink()
    with pytest.raises(LedgerDamaged, match="it is gone"):
        Ledger.at(path, LIMIT, create=True, witness=witness)


def test_a_witness_without_a_charge_is_taken_over(both: tuple[Path, Path]) -> None:
    """A crash before the ledger is made costs nothing; every record is there again."""
    path, witness = both
    with Ledger.at(path, witness=witness) as ledger:
        ledger.allot("ana", TENTH)
        before = ledger.records()
    path.unlink()
    with pytest.raises(InvalidParameter, match="differs from the limit"):
        Ledger.at(path, PureDP(2), create=True, witness=witness)
    with Ledger.at(path, LIMIT, create=True, witness=witness) as ledger:
        assert ledger.records() == before
        ledger.verify()
    charged(path, witness, "a")


def test_a_witness_may_come_later(tmp_path: Path) -> None:
    """Asked for with `create`, an old ledger gets one, and handles without it end."""
    path, witness = tmp_path / "a", tmp_path / "w"
    Ledger.at(path, LIMIT, create=True).close()
    charged(path, None, "a")
    before = Ledger.at(path)
    with pytest.raises(InvalidParameter, match="witness must exist"):
        Ledger.at(path, witness=witness)
    with Ledger.at(path, create=True, witness=witness) as ledger:
        assert ledger.reserve(claim("a")).answer == b"a"
        assert ledger.verify().records == 5
    with pytest.raises(InvalidParameter, match="witness must be given"):
        before.reserve(claim(None))
    charged(path, witness, "b")
    with Ledger.at(path, witness=witness) as ledger:
        assert ledger.spent() == PureDP("0.2")


@pytest.mark.parametrize("point", ["charged: written", "charged: told"])
def test_a_crash_between_ledger_and_witness_is_made_good(
    both: tuple[Path, Path], point: str
) -> None:
    """A ledger ahead of its witness told nobody; the next opening tells the witness."""
    path, witness = both

    def die(reached: str) -> None:
        if reached == point:
            os.kill(os.getpid(), signal.SIGKILL)

    child = os.fork()
    if child == 0:
        world = World(reached=die)
        Ledger.at(path, witness=witness, world=world).reserve(claim("a"))
    os.waitpid(child, 0)
    charged(path, witness, "a", "b")
    with Ledger.at(path, witness=witness) as ledger:
        assert ledger.spent() == PureDP("0.2")
        assert ledger.verify().answers == 2
    assert witness.read_bytes().count(b'"charged"') == 2


def test_a_witness_that_cannot_be_written(both: tuple[Path, Path]) -> None:
    path, witness = both
    full = Failing(2, sticky=True, acts=frozenset({"sync"}))
    ledger = Ledger.at(path, witness=witness, world=full.world)
    for _ in range(2):
        with pytest.raises(LedgerUnavailable):
            ledger.reserve(claim())
    with Ledger.at(path, witness=witness) as again:
        assert again.spent() == TENTH


def test_a_witness_keeps_no_answers(both: tuple[Path, Path]) -> None:
    path, witness = both
    charged(path, witness, "a", "b")
    records = [line for line in path.read_bytes().split(b"\n") if b'"number"' in line]
    seen = [line for line in witness.read_bytes().split(b"\n") if b'"number"' in line]
    assert [one for one in seen if b'"sum"' not in one] == [
        one for one in records if b'"sum"' not in one
    ]
    assert b'"piece"' in path.read_bytes()
    assert b'"piece"' not in witness.read_bytes()
    assert (path.stat().st_mode & 0o77, witness.stat().st_mode & 0o77) == (0, 0)


def test_a_backup_is_a_whole_ledger(both: tuple[Path, Path]) -> None:
    path, witness = both
    charged(path, witness, "a", None)
    copy = path.with_name("copy")
    with Ledger.at(path, witness=witness) as ledger:
        ledger.backup(copy)
        for taken in (copy, path):
            with pytest.raises(InvalidParameter, match="must not exist yet"):
                ledger.backup(taken)
        with pytest.raises(InvalidParameter, match="must lie in a folder that exists"):
            ledger.backup(path / "x" / "y")
        before = ledger.records()
    for limit in (None, LIMIT):
        with pytest.raises(InvalidParameter, match="this is a backup"):
            Ledger.at(copy, limit, create=limit is not None, witness=witness)
    with Ledger.read(copy) as again:
        assert again.records() == before
        assert again.reserve(claim("a")).answer == b"a"
        again.verify()
        with pytest.raises(InvalidParameter, match="a backup is never charged"):
            again.reserve(claim("new"))
        again.backup(path.with_name("copy of a copy"))
    with pytest.raises(InvalidParameter, match="older than what it saw"):
        Ledger.read(copy, witness=witness)


def test_a_ledger_in_memory_has_backups_too(tmp_path: Path) -> None:
    with Ledger.in_memory(LIMIT) as ledger:
        ledger.store(ledger.reserve(claim()), b"17")
        ledger.backup(tmp_path / "kept")
    with Ledger.read(tmp_path / "kept") as kept:
        assert kept.reserve(claim()).answer == b"17"
        assert kept.verify().releases == 1


def test_a_restored_copy_counts_up_to_its_witness(both: tuple[Path, Path]) -> None:
    path, witness = both
    charged(path, witness, "a")
    copy, restored = path.with_name("copy"), path.with_name("restored")
    with Ledger.at(path, witness=witness) as ledger:
        ledger.backup(copy)
        ledger.allot("ana", PureDP("0.2"))
        ledger.store(ledger.reserve(claim("b", budget="ana")), b"b")
        ledger.store(ledger.reserve(claim(None)), b"none")
        ledger.reserve(claim("waiting"))
    path.unlink()
    with Ledger.restore(copy, restored, witness=witness) as ledger:
        assert ledger.spent() == PureDP("0.4")
        assert ledger.spent("ana") == TENTH
        assert ledger.reserve(claim("a")).answer == b"a"
        with pytest.raises(AnswerLost):
            ledger.reserve(claim("b", budget="ana"))
        retried = ledger.reserve(claim("waiting"))
        assert ledger.store(retried, b"late") == b"late"
        assert ledger.verify().releases == 4
    charged(restored, witness, "c")
    copy.write_bytes(copy.read_bytes().replace(b'"backup"', b'"ledger"', 1))
    with pytest.raises(LedgerDamaged, match="put back"):
        Ledger.at(copy, witness=witness)


def test_a_restored_copy_is_restored_again(both: tuple[Path, Path]) -> None:
    """Gaps of several restorations add up, and nothing in them is drawn again."""
    path, witness = both
    for turn in range(3):
        with Ledger.at(path, witness=witness) as ledger:
            ledger.backup(path.with_name(f"copy {turn}"))
            ledger.store(ledger.reserve(claim(f"{turn}")), b"x")
        path = path.with_name(f"restored {turn}")
        Ledger.restore(path.with_name(f"copy {turn}"), path, witness=witness).close()
    with Ledger.at(path, witness=witness) as ledger:
        for turn in range(3):
            with pytest.raises(AnswerLost):
                ledger.reserve(claim(f"{turn}"))
        assert ledger.verify().releases == 3
        assert ledger.spent() == PureDP("0.3")


def test_the_lost_ledger_that_turns_up_again_is_refused(
    both: tuple[Path, Path],
) -> None:
    """After a restoration only the restored ledger goes on, live handles included."""
    path, witness = both
    copy = path.with_name("copy")
    alive = Ledger.at(path, witness=witness)
    alive.backup(copy)
    alive.reserve(claim(None))
    Ledger.restore(copy, path.with_name("restored"), witness=witness).close()
    with pytest.raises(LedgerDamaged, match="put back"):
        alive.reserve(claim(None))


def test_restoring_is_refused_in_words(both: tuple[Path, Path]) -> None:
    path, witness = both
    copy, new = path.with_name("copy"), path.with_name("new")
    with Ledger.at(path, witness=witness) as ledger:
        ledger.backup(copy)
    other = path.with_name("other.ledger")
    with Ledger.at(other, LIMIT, create=True) as ledger:
        ledger.reserve(claim())
    cases: list[tuple[Any, Any, Any, type[Exception], str]] = [
        (copy, new, None, InvalidParameter, "witness must be given: only it knows"),
        (copy, path, witness, InvalidParameter, "path must not exist yet"),
        (path.with_name("x"), new, witness, InvalidParameter, "copy must exist"),
        (copy, new, path.with_name("x"), InvalidParameter, "witness must exist"),
        (witness, new, witness, InvalidParameter, "another file than the ledger"),
        (copy, new, path, InvalidParameter, "must be a witness, and this is a ledger"),
        (
            other,
            new,
            witness,
            LedgerDamaged,
            "not belong to the history",
        ),
        (5, new, witness, InvalidParameter, "copy must be a path"),
        (copy, new, copy, InvalidParameter, "another file than the ledger"),
        (copy, path.parent, witness, InvalidParameter, "must be a regular file"),
    ]
    for copied, place, seen, error, message in cases:
        with pytest.raises(error, match=message):
            Ledger.restore(copied, place, witness=seen)
    assert not new.exists()


def _asked(ledger: Ledger, key: str, turn: str) -> bytes:
    """Charge a key; answer it, unless its answer shall be lost."""
    ticket = ledger.reserve(claim(key))
    return b"" if turn == "lose" else ledger.store(ticket, key.encode())


@given(turns=st.lists(st.sampled_from(["ask", "lose", "copy", "restore"]), max_size=14))
def test_any_history_of_accidents_charges_everything(
    tmp_path_factory: pytest.TempPathFactory, turns: list[str]
) -> None:
    """Backups, losses and restorations in any order: sums and answers stay one."""
    folder = tmp_path_factory.mktemp("accidents")
    path, witness = folder / "0", folder / "w"
    Ledger.at(path, LIMIT, create=True, witness=witness, world=QUICK).close()
    copies: list[Path] = []
    asked: dict[str, bytes] = {}
    for number, turn in enumerate(turns, 1):
        with Ledger.at(path, witness=witness, world=QUICK) as ledger:
            if turn in ("ask", "lose") and len(asked) < 10:
                asked[str(number)] = _asked(ledger, str(number), turn)
            elif turn == "copy":
                copies.append(folder / f"copy {number}")
                ledger.backup(copies[-1])
        if turn == "restore" and copies:
            path = folder / str(number)
            made = Ledger.restore(copies[-1], path, witness=witness, world=QUICK)
            made.close()
    with Ledger.at(path, witness=witness, world=QUICK) as ledger:
        assert ledger.spent() == PureDP(Fraction(len(asked), 10))
        assert ledger.verify().releases == len(asked)
        for key, answer in asked.items():
            with suppress(AnswerLost):
                assert ledger.reserve(claim(key)).answer == (answer or None)


def test_a_lost_key_is_never_answered_anew(both: tuple[Path, Path]) -> None:
    path, witness = both
    copy = path.with_name("copy")
    with Ledger.at(path, witness=witness) as ledger:
        ledger.backup(copy)
        ticket = ledger.reserve(claim("a"))
        ledger.store(ticket, b"first")
    restored = Ledger.restore(copy, path.with_name("new"), witness=witness)
    with restored, pytest.raises(AnswerLost):
        restored.store(ticket, b"second")
