"""A chain whose hashes were all made anew: what cannot have happened is still found."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from sordino.errors import LedgerDamaged
from sordino.ledger import file_format
from sordino.ledger.file_format import Head, Record, World
from sordino.ledger.ledger import Ledger
from tests.ledgers import LIMIT, claim

History: TypeAlias = list[tuple[str, dict[str, Any]]]
"""Kinds and bodies, in order."""


def forged(path: Path, change: Callable[[History], object], start: str = "") -> None:
    """Rewrite a ledger with a changed history and hashes that fit it."""
    with Ledger.at(path) as ledger:
        history = [(one.kind, one.fields) for one in ledger.records()]
        answers = {2: b"", 4: b"a" * 9, 6: b"b" * 9}
    change(history)
    contents, head = [], Head(0, start)
    for kind, fields in history:
        record = Record.successor(head, kind, fields)
        answer = answers.get(record.number, b"") if kind == "answered" else b""
        contents.append((record, answer))
        head = record.head
    path.unlink()
    assert file_format.create_file(path, World(), "ledger", contents)


def charge_less(history: History) -> None:
    history[2][1]["charges"]["dataset"]["epsilon"] = "1/100"


def say_otherwise(history: History) -> None:
    history[2][1]["words"] = ["release", {"form": 1}]


def say_nonsense(history: History) -> None:
    history[2][1]["words"] = ["release", {"form": 1, "x": float("nan"), "y": "\ud800"}]


def sum_less(history: History) -> None:
    history[4][1]["spent"]["dataset"]["epsilon"] = "1/10"


def forget_release(history: History) -> None:
    del history[2:4]


def ask_for_more(history: History) -> None:
    history[2][1]["asked"] = "PureDP(epsilon=1/9)"


def know_of_more(history: History) -> None:
    history[2][1]["asked"] = "Advantage(most=1/10)"
    history[2][1]["known"]["epsilon"] = "sqrt(1/99)"


def know_nothing(history: History) -> None:
    history[2][1]["known"] = {"epsilon": "1e999999999"}


def raise_limit(history: History) -> None:
    history.insert(2, history[1])


def lower_limit(history: History) -> None:
    history[1][1]["limit"]["limits"]["epsilon"] = "1/10"


def charge_nobody(history: History) -> None:
    history[2][1]["charges"] = {}


def answer_nothing(history: History) -> None:
    history[3][1]["charge"] = 2


def answer_longer(history: History) -> None:
    history[3][1]["size"] = 1


def lease_answered(history: History) -> None:
    history.append((
        "leased",
        {"charge": 3, "fence": 2, "when": history[0][1]["when"], "who": ""},
    ))


def begin_again(history: History) -> None:
    history.append(history[0])


FORGERIES = [
    charge_less,
    say_otherwise,
    say_nonsense,
    ask_for_more,
    know_of_more,
    know_nothing,
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
    forged(path, lambda _: None, start="0" * 64)
    with pytest.raises(LedgerDamaged, match="follow"):
        Ledger.at(path)


def forge_and_verify(path: Path, forgery: Callable[[History], object]) -> None:
    """Rewrite a ledger, which opening may refuse, and walk through it."""
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
    with Ledger.at(path) as ledger:
        before = ledger.verify()
    forged(path, lambda _: None)
    with Ledger.at(path) as ledger:
        assert ledger.verify() == before


@pytest.mark.parametrize("forgery", FORGERIES, ids=lambda one: one.__name__)
def test_a_history_that_cannot_be_is_refused(
    path: Path, forgery: Callable[[History], object]
) -> None:
    with pytest.raises(LedgerDamaged):
        forge_and_verify(path, forgery)
