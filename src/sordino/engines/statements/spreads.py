"""Totals that stay with the workers of an engine, who give them their noise there.

Kernel: totals.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Protocol, final

import pyarrow as pa

from sordino.engines.failures import no_workers_refusal
from sordino.engines.statements.statements import Statement
from sordino.query.nodes import Question
from sordino.release.released_files import (
    AbstractFolders,
    FilesAnswer,
    FoldersHere,
    WrittenFile,
)


class PartTask(Protocol):
    """What a worker does with the exact totals of some groups; it can be sent there."""

    @property
    def schema(self) -> pa.Schema:
        """Return the columns of what it returns."""

    @property
    def names(self) -> tuple[str, ...]:
        """Return the columns among them that hold noisy numbers."""

    def __call__(self, exact: pa.Table, secret: bytes) -> pa.Table:
        """Return a function of both: the same whenever and wherever it is called."""

    def trial(self) -> str:
        """Fingerprint that machines share if they agree about that function."""


class AbstractSpread(ABC):
    """Exact totals that were computed once, and lie with the workers until they go.

    Proof obligation: each time a part of them is read its rows are the same, or reading
    fails.
    """

    @abstractmethod
    def write(self, task: PartTask, secret: bytes, folder: str) -> FilesAnswer:
        """Write what a task makes of each part to Parquet files in a new folder.

        The secret is destroyed before this returns. How exact the numbers are is told
        by the files, which are public by then.
        """

    @abstractmethod
    def close(self) -> None:
        """Have the workers let go of the totals."""


class AbstractWorkers(AbstractFolders):
    """Those who compute for an engine, each in a process of its own."""

    @abstractmethod
    def admit(self, task: PartTask, folder: str) -> None:
        """Refuse a task that they cannot do alike, or a folder that cannot be new."""

    @abstractmethod
    def spread(
        self, statement: Statement, salt: int, question: Question
    ) -> AbstractSpread:
        """Return the totals of a statement, computed now and never again."""


@final
class NoWorkers(AbstractWorkers):
    """Nobody: what workers of another engine wrote is read where it was copied to."""

    def admit(self, task: PartTask, folder: str) -> None:
        del task, folder
        raise no_workers_refusal()

    def spread(
        self, statement: Statement, salt: int, question: Question
    ) -> AbstractSpread:
        del statement, salt, question
        raise no_workers_refusal()

    def files_in(self, folder: str) -> Sequence[WrittenFile]:
        return FoldersHere().files_in(folder)

    def write_label(self, folder: str, name: str, text: str) -> None:
        FoldersHere().write_label(folder, name, text)
