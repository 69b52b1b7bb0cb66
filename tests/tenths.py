"""Sessions that spend tenths of a ledger: here, in forked children, in fresh processes.

The functions that run in children stand at the top of a module that a child imports.
"""

import os
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Final, final

import sordino as sd
from sordino.errors import BudgetExceeded, SordinoError
from sordino.losses.loss import PureDP
from tests.ledgers import FRESH

FRESH.set_forkserver_preload(["tests.ledgers", "tests.sessions", "tests.tenths"])

QUERY: Final = sd.table("t").agg(n=sd.count())


def clinic(path: Path | str, budget: PureDP | None = None) -> sd.Session:
    table = sd.PrivateTable({"patient": list(range(9))}, protects=sd.AddOneRow())
    return sd.Session({"t": table}, budget, ledger=path, engine="memory")


def spend(session: sd.Session, most: int = 99) -> int:
    had = 0
    with suppress(BudgetExceeded):
        while had < most:
            session.release(QUERY, PureDP("0.1"))
            had += 1
    return had


def elsewhere(path: Path, most: int = 99) -> int:
    """Return how many tenths a fresh process had."""
    reader, writer = FRESH.Pipe(duplex=False)
    child = FRESH.Process(target=_spend, args=(path, most, writer))
    child.start()
    had: int = reader.recv()
    child.join(60)
    return had


def _spend(path: Path, most: int, writer: Connection) -> None:
    """Spend, and tell how many tenths were had."""
    writer.send(spend(clinic(path), most))


def forked(act: Callable[[], object]) -> "Child":
    """Run an act in a forked child, which exits without cleaning up."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            told = str(act())
        except SordinoError as error:
            told = type(error).__name__
        os.write(writer, told.encode())
        os._exit(0)
    os.close(writer)
    return Child(child, reader)


@final
class Child:
    """A forked process, and what it says when it ends."""

    def __init__(self, process: int, reader: int) -> None:
        self.process = process
        self._reader = reader

    def told(self) -> str:
        with os.fdopen(self._reader) as said:
            text = said.read()
        os.waitpid(self.process, 0)
        return text
