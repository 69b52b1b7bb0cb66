"""What every engine is: it opens sources and answers questions, exactly.

Proof obligations: for any question the totals are exact; the rows kept by a bound
depend on the rows of their own group alone, and are those of one moment of the session
for all plans of one mark (`query.kept_plans`) until they are forgotten; nothing that is
raised, logged or returned depends on data but through the answer. Any failure is an
`EngineFailure`, or, where no private row can have been read, an `EngineUnavailable`.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from sordino.engines.failures import no_workers_refusal, run_uncharged
from sordino.engines.released_folders import AbstractFolders, FoldersHere
from sordino.query.question import Question
from sordino.schema import Column, Schema
from sordino.sources.base import Opened, lookup

if TYPE_CHECKING:
    import pyarrow as pa

    from sordino.engines.sql.spreads import AbstractSpread, PartTask

T = TypeVar("T")


class AbstractEngine(ABC):
    """Holds the tables of one session."""

    _tables: dict[str, Opened]

    @abstractmethod
    def open(self, table: str, source: Any, declared: Mapping[str, Column]) -> Schema:
        """Make a source known under a name and return its public schema.

        Only names and types are read, no rows; whether a text file is well-formed is
        looked at. Declared facts take precedence over
        those of the source; a declared column that the source lacks is refused.
        """

    @abstractmethod
    def lossy(self, table: str) -> frozenset[str]:
        """Return the columns of a table that lie as another type: cells can be lost."""

    @abstractmethod
    def freeze(self, table: str) -> None:
        """Read the rows of a public table, now and never again.

        Whatever becomes of its source, this session asks the rows that were read.
        """

    @abstractmethod
    def frozen_rows(self, table: str) -> "pa.Table":
        """Return the rows of a frozen table: our types, sorted by all columns in turn.

        The same rows are the same table, but for where its chunks begin and end.
        """

    def doubt(self, table: str) -> str:
        """Return why a row of a table may depend on more than one row, or nothing."""
        return lookup(self._tables, table).source.doubt

    @abstractmethod
    def unusable(self, table: str) -> Mapping[str, str]:
        """Return the columns of a table that are in no schema, and why."""

    @abstractmethod
    def multiplicity(self, table: str, on: tuple[str, ...]) -> int:
        """Return how many rows of a frozen table share their values of `on`, at most.

        Rows in which one of them is missing match nothing and do not count; 0 for an
        empty table.
        """

    @abstractmethod
    def prepare(self, question: Question) -> "Callable[[], pa.Table]":
        """Rehearse a question on empty tables, and return what answers it.

        What would fail for any rows is refused here, where no row has been read, and
        told. What fails later is an `EngineFailure`.
        """

    @abstractmethod
    def answer(self, question: Question) -> "pa.Table":
        """Return the exact totals."""

    def prepare_spread(
        self, question: Question, task: "PartTask", folder: str
    ) -> "Callable[[], AbstractSpread]":
        """Rehearse a question, and return what leaves its totals with the workers.

        Refused is a task that they cannot do, a folder that cannot be new, and all
        where there are no workers.
        """
        del question, task, folder
        raise no_workers_refusal()

    def in_folders(self, work: Callable[[AbstractFolders], T]) -> T:
        """Return what is done where workers write; a failure is told."""
        return run_uncharged(lambda: work(FoldersHere()))

    @abstractmethod
    def forget(self) -> None:
        """Destroy the rows that are kept; what needs them makes them again."""

    @abstractmethod
    def close(self) -> None:
        """Let go of all tables, and destroy all that was made of them."""

    @abstractmethod
    def statement(self, question: Question) -> str:
        """Return the text of what would run, for people to read."""
