"""A chain whose hashes were all made anew: what cannot have happened is still found."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from sordino.accounting.ledger import Ledger
from sordino.accounting.records import COLUMNS, Record
from sordino.errors import LedgerDamaged
from tests.ledgers import LIMIT, claim

History: TypeAlias = list[tuple[str, dict[str, Any]]]
"""Kinds and bodies, in order."""


def forged(path: Path, change: Callable[[History], object], start: str = "") -> None:
    """Rewrite a ledger with a changed history and hashes that fit it."""
    with Ledger.at(path) as ledger:
        history = [(one.kind, one.fields) for one in ledger.records()]
    change(history)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        guards = connection.execute(
            "SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'"
        ).fetchall()
        for name, _ in guards:
            connection.execute(f"DROP TRIGGER {name}")
        connection.execute("DELETE FROM records")
        last = Record(0, "", None, None, None, "", "", start)
        for kind, fields in history:
            last = Record.following(last.number, last.hash, kind, fields)
            marks = ", ".join("?" * len(last.row))
            connection.execute(
                f"INSERT INTO records ({COLUMNS}) VALUES ({marks})",  # noqa: S608 ours
                last.row,
            )
        connection.execute(
            "UPDATE head SET number = ?, hash = ?", (last.number, last.hash)
        )
        for _, sql in guards:
            connection.execute(sql)


def charge_less(history: History) -> None:
    """Let the first release have cost a hundredth."""
    history[2][1]["charges"]["dataset"]["epsilon"] = "1/100"


def sum_less(history: History) -> None:
    """Let the sum after the second release be that of one."""
    history[4][1]["spent"]["dataset"]["epsilon"] = "1/10"


def forget_release(history: History) -> None:
    """Take the first release and its answer out."""
    del history[2:4]


def raise_limit(history: History) -> None:
    """State the limit a second time."""
    history.insert(2, history[1])


def lower_limit(history: History) -> None:
    """Let the limit be less than what was spent."""
    history[1][1]["limit"]["limits"]["epsilon"] = "1/10"


def charge_nobody(history: History) -> None:
    """Let a release have counted against no budget."""
    history[2][1]["charges"] = {}


def answer_nothing(history: History) -> None:
    """Let an answer belong to the limit."""
    history[3][1]["charge"] = 2


def answer_longer(history: History) -> None:
    """Let an answer have had another size."""
    history[3][1]["size"] = 1


def lease_answered(history: History) -> None:
    """Lease a charge that was answered."""
    history.append(("leased", {"charge": 3, "fence": 2, "when": "", "who": ""}))


def begin_again(history: History) -> None:
    """Open the ledger a second time."""
    history.append(history[0])


FORGERIES = [
    charge_less,
    sum_less,
    forget_release,
    raise_limit,
    lower_limit,
    charge_nobody,
    answer_nothing,
    answer_longer,
    lease_answered,
    begin_again,
]


def test_a_chain_without_its_beginning_is_refused(path: Path) -> None:
    """The first record follows nothing."""
    forged(path, lambda _: None, start="0" * 64)
    with Ledger.at(path) as ledger, pytest.raises(LedgerDamaged, match="follow"):
        ledger.verify()


def forge_and_verify(path: Path, forgery: Callable[[History], object]) -> None:
    """Rewrite a ledger, which an index of the file may refuse, and walk through it."""
    forged(path, forgery)
    with Ledger.at(path) as ledger:
        ledger.verify()


@pytest.fixture(name="path")
def path_of_a_ledger(tmp_path: Path) -> Path:
    """Return a closed ledger with two answers."""
    path = tmp_path / "a.ledger"
    with Ledger.at(path, LIMIT, create=True) as ledger:
        for key in "ab":
            ledger.store(ledger.reserve(claim(key)), key.encode() * 9)
    return path


def test_a_forgery_that_changes_nothing_passes(path: Path) -> None:
    """The forger of these tests makes a ledger that is whole."""
    with Ledger.at(path) as ledger:
        before = ledger.verify()
    forged(path, lambda _: None)
    with Ledger.at(path) as ledger:
        assert ledger.verify() == before


@pytest.mark.parametrize("forgery", FORGERIES, ids=lambda one: one.__name__)
def test_a_history_that_cannot_be_is_refused(
    path: Path, forgery: Callable[[History], object]
) -> None:
    """Sums, limits, leases and answers are followed from the beginning."""
    with pytest.raises((LedgerDamaged, sqlite3.IntegrityError)):
        forge_and_verify(path, forgery)
