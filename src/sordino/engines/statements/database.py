"""How statements and rows reach a database, and the folder that it may fill.

A process that is killed removes no folder itself. So a shell waits at the end of a pipe
that only this process holds, is told each folder, and removes what is left of them when
the pipe closes. It is nobody's child, so that who waits for children does not meet it.

Kernel: totals.
"""

import os
import shutil
import tempfile
import weakref
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterable
from contextlib import AbstractContextManager, suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Final, TypeAlias, final

import pyarrow as pa

from sordino.data.arrow import mapped_table
from sordino.data.source import AbstractSource
from sordino.engines.statements.dialect import AbstractDialect
from sordino.engines.statements.spreads import AbstractWorkers, NoWorkers
from sordino.engines.statements.statements import Statement, Statements
from sordino.expressions.schema import Schema

if TYPE_CHECKING:
    from sordino.engines.statements.scripts import Recipe


Trial: TypeAlias = Callable[[Statement, int], object]
"""What runs a statement of no rows, with a salt, as it will run."""


@final
class MomentPassed(Exception):
    """A table was written anew before it was held, or rows that were kept are lost.

    No row was read.
    """


class AbstractDatabase(ABC):
    """One database, of which one question is asked at a time.

    Proof obligation: it writes nothing but what `forget`, `destroy` and `close` remove,
    and nothing outside of the session; rows that are run twice are the same rows.
    """

    dialect: AbstractDialect
    remote: ClassVar[bool] = False
    """Whether what is handed over leaves this machine, and others may log it."""

    @abstractmethod
    def admit(self, source: AbstractSource) -> None:
        """Learn of a source before it is read, or refuse it: no row is looked at."""

    @abstractmethod
    def connect(self) -> None:
        """Connect; what is told of a failure is public, for no row was read."""

    @abstractmethod
    def question_context(self) -> AbstractContextManager[object]:
        """Context in which everything for one question runs.

        All of it sees the rows of one moment. An interruption is a KeyboardInterrupt.
        """

    @abstractmethod
    def hand(self, name: str, rows: pa.Table | pa.RecordBatchReader) -> None:
        """Make rows known under a name, instead of others; a reader is read once."""

    @final
    def hand_parts(self, statement: Statement) -> None:
        """Hand over what a statement reads, and check what is read in place."""
        for part in statement.handed:
            if part.in_place:
                part.source.check()
            else:
                self.hand(part.name, part.source.hand_over(part.places))

    @abstractmethod
    def forget(self) -> None:
        """Drop what was handed over."""

    @abstractmethod
    def begin_kept(self, name: str, schema: Schema, widths: tuple[int, ...]) -> bool:
        """Make a place for rows of columns c0, c1, ..., and no rows, instead of others.

        With widths they are integers of so many bits, of the dialect's `narrow_types`.
        Nothing else is being asked. Only what is asked of this database sees them.
        Return whether there is such a place: who asks may have no right to one.
        """

    @abstractmethod
    def keep(self, name: str, statement: Statement, salt: int) -> None:
        """Add the rows of a statement to those in a place; they stay after the asking.

        Statements may read a place as a table of that name.
        """

    def portions(
        self, recipe: "Recipe", writes: Statements, salt: int
    ) -> Generator[Statement]:
        """Yield statements of the rows that a recipe makes, all together.

        Each is handed what it reads, and run, before the next one is asked for.
        """
        del writes, salt
        yield recipe.run.last

    def try_to_keep(self, statement: Statement, salt: int) -> None:
        """Run a statement of no rows in the way in which its rows will be kept."""
        self.table(statement, salt)

    def refuse_other_plan(self, statement: Statement, salt: int) -> None:
        """Refuse a statement that would not run as it is written; no row is read."""
        del statement, salt

    @cached_property
    def rehearsals(self) -> set[int]:
        """What ran on tables without rows in this database, by its mark."""
        return set()

    @abstractmethod
    def destroy(self, name: str) -> None:
        """Destroy a place and its rows, if it is there."""

    @abstractmethod
    def abandon(self) -> bool:
        """Give up what may be unfinished after a failure, and what was handed over.

        Return whether all rows that are kept are still there.
        """

    @abstractmethod
    def table(self, statement: Statement, salt: int) -> pa.Table:
        """Return the rows of a statement, its columns of the types that it states."""

    @abstractmethod
    def batches(self, statement: Statement, salt: int) -> pa.RecordBatchReader:
        """Return the rows of a statement, read as they are asked for."""

    def workers(self) -> AbstractWorkers:
        """Return who can give totals their noise where they lie; most have nobody."""
        return NoWorkers()

    @abstractmethod
    def is_short(self, error: Exception) -> bool:
        """Tell whether memory was short, so that parts of the ids may do."""

    @abstractmethod
    def is_stuck(self, error: Exception) -> bool:
        """Tell whether a cell may have stopped it that can be handed over."""

    @abstractmethod
    def close(self) -> None:
        """Let go of everything, for good."""


_SHELL: Final = "/bin/sh"
_WAITS: Final = (
    '(while IFS= read -r path; do set -- "$@" "$path"; done; rm -rf -- "$@") <&3 3<&- &'
)
_pipes: dict[int, int] = {}
"""The end of the pipe that is written to, by the process that holds it."""


def guard_folder(path: str) -> None:
    """Have a folder removed when this process is gone; where there is no shell, not."""
    if "\n" in path:
        return  # the shell reads lines, and would take it for two folders
    with suppress(OSError, AttributeError, NotImplementedError):
        process = os.getpid()  # a forked child has a pipe and a shell of its own
        if process not in _pipes:
            _pipes[process] = _waiting_shell()
        os.write(_pipes[process], os.fsencode(path) + b"\n")


def _waiting_shell() -> int:
    reading, writing = os.pipe()
    null = os.open(os.devnull, os.O_RDWR)
    actions = [(os.POSIX_SPAWN_DUP2, null, place) for place in (0, 1, 2)]
    try:
        started = os.posix_spawn(
            _SHELL,
            [_SHELL, "-c", _WAITS],
            {"PATH": os.defpath},
            file_actions=[*actions, (os.POSIX_SPAWN_DUP2, reading, 3)],
            setsid=True,  # a signal to this process's group does not end it
        )
    finally:
        os.close(reading)
        os.close(null)
    os.waitpid(started, 0)
    return writing


def _let_go() -> None:
    while _pipes:
        os.close(_pipes.popitem()[1])


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_let_go)


@final
class Room:
    """A folder that its user alone may enter."""

    def __init__(self) -> None:
        self._end: Callable[[], object] | None = None
        self._made: tuple[int, ...] | None = None

    @cached_property
    def path(self) -> str:
        """Make it, when it is first asked for.

        It is removed when nobody holds it, or the process is no more.
        """
        path = tempfile.mkdtemp(prefix="sordino-")  # for this user alone (0700)
        guard_folder(path)
        self._end = weakref.finalize(self, _remove, path, os.getpid())
        self._made = _identity(path)
        return path

    @property
    def is_as_made(self) -> bool:
        """Tell whether the folder is the one that was made, for one user alone."""
        return self._made is not None and _identity(self.path) == self._made

    def map_rows(self, batches: Iterable[pa.RecordBatch], schema: Schema) -> pa.Table:
        """Return rows as a table that lies in a file here."""
        handle, path = tempfile.mkstemp(dir=self.path, suffix=".arrow")
        os.close(handle)
        return mapped_table(batches, schema, Path(path))

    def close(self) -> None:
        """Remove the folder and what is in it."""
        if self._end is not None:
            self._end()


def _identity(path: str) -> tuple[int, ...] | None:
    with suppress(OSError):
        facts = os.lstat(path)
        return facts.st_dev, facts.st_ino, facts.st_uid, facts.st_mode
    return None


def _remove(path: str, owner: int) -> None:
    # in a forked child it is the parent that owns the folder
    if os.getpid() == owner:
        shutil.rmtree(path, ignore_errors=True)
