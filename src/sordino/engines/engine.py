"""What every engine is: it opens sources and answers questions, exactly.

Proof obligations: for any question the totals are exact; the rows kept by a bound
depend on the rows of their own group alone, and are those of one moment of the session
for all plans of one mark (`query.node_rules`) until they are forgotten; nothing that is
raised, logged or returned depends on data but through the answer. Any failure is an
`EngineFailure`, or, where no private row can have been read, an `EngineUnavailable`.

Python functions of rows are held to what was declared of them:

| what the function does | what becomes of it |
|---|---|
| leaves a column out, or gives it another type | the value is missing |
| returns further columns | they are not looked at |
| raises, or returns something else than a dict | map: all its columns are missing |
| | flat map: no further row |
| yields more rows than the limit | they are not even made |

Kernel: totals.
"""

import itertools
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeVar

import pyarrow as pa

from sordino.data.python_rows import coerce
from sordino.data.source import Opened, lookup
from sordino.engines.failures import no_workers_refusal, run_uncharged
from sordino.expressions.schema import Column, Schema
from sordino.numbers import progress
from sordino.numbers.progress import Line
from sordino.query.nodes import AbstractNode, FlatMap, MapRows, Question
from sordino.release.released_files import AbstractFolders, FoldersHere

if TYPE_CHECKING:
    from sordino.engines.statements.spreads import AbstractSpread, PartTask


T = TypeVar("T")


class AbstractEngine(ABC):
    """Holds the tables of one session."""

    _tables: dict[str, Opened]
    _frozen: "dict[str, pa.Table]"

    @abstractmethod
    def open(self, table: str, source: Any, declared: Mapping[str, Column]) -> Schema:
        """Make a source known under a name and return its public schema.

        Only names and types are read, no rows; whether a text file is well-formed is
        looked at. Declared facts take precedence over those of the source; a declared
        column that the source lacks is refused.
        """

    def lossy(self, table: str) -> frozenset[str]:
        """Return the columns of a table that lie as another type: cells can be lost."""
        return lookup(self._tables, table).lossy

    @abstractmethod
    def freeze(self, table: str) -> None:
        """Read the rows of a public table, now and never again.

        Whatever becomes of its source, this session asks the rows that were read.
        """

    def frozen_rows(self, table: str) -> "pa.Table":
        """Return the rows of a frozen table: our types, sorted by all columns in turn.

        The same rows are the same table, but for where its chunks begin and end.
        """
        return lookup(self._frozen, table)

    def doubt(self, table: str) -> str:
        """Return why a row of a table may depend on more than one row, or nothing."""
        return lookup(self._tables, table).source.doubt

    def unusable(self, table: str) -> Mapping[str, str]:
        """Return the columns of a table that are in no schema, and why."""
        return lookup(self._tables, table).unusable

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
        """Run work where workers write; a failure is an `EngineFailure`."""
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


_EVERY: Final = 0.2


@contextmanager
def watch(percent: Callable[[], float]) -> Generator[None]:
    """Say on stderr how far the work is, once it takes more than two seconds.

    A percent below 0 is not known.

    >>> with watch(lambda: 50.0):
    ...     1 + 1
    2
    """
    done = threading.Event()
    watcher = threading.Thread(target=_watch, args=(percent, done), daemon=True)
    watcher.start()
    try:
        yield
    finally:
        done.set()
        watcher.join()


def _watch(percent: Callable[[], float], done: threading.Event) -> None:
    began = time.monotonic()
    if done.wait(progress.PATIENCE):
        return
    line = Line()
    while not done.wait(_EVERY):
        far = percent()
        share = f" {far:.0f} %," if far >= 0 else ""
        line.say(f"computing:{share} {time.monotonic() - began:.0f} s")
    line.wipe()


Row: TypeAlias = dict[str, Any]


def mapped_row(node: MapRows, row: Row) -> Row:
    """Return a row with what the function of a node makes of it."""
    try:
        answer = node.function(dict(row))  # a copy: the row itself goes on unchanged
    except Exception:  # noqa: BLE001 whatever it raises, the row goes on without
        answer = None
    return _join_row(node, row, _as_mapping(answer))


def flat_mapped(node: FlatMap, row: Row) -> Iterator[Row]:
    """Yield the rows that the function of a node makes of one, up to its limit."""
    try:
        answers = iter(node.function(dict(row)))
    except Exception:  # noqa: BLE001 whatever it raises, there are no rows
        return
    # cut here: what is beyond the limit is not even made, however long it would take
    for answer in itertools.islice(_until_failure(answers), node.limit):
        yield _join_row(node, row, _as_mapping(answer))


def _as_mapping(answer: Any) -> Mapping[str, Any]:
    try:  # an object may lie about its class
        return answer if isinstance(answer, Mapping) else {}
    except Exception:  # noqa: BLE001 an object of the user's own may fail
        return {}


def _until_failure(answers: Iterator[Any]) -> Iterator[Any]:
    while True:
        try:
            answer = next(answers)
        except Exception:  # noqa: BLE001 StopIteration, or a failure half-way
            return
        yield answer


def _join_row(node: MapRows | FlatMap, row: Row, answer: Mapping[str, Any]) -> Row:
    return {
        name: coerce(_cell(answer, name), column.type)
        if name in node.returns
        else row[name]
        for name, column in node.schema.columns
    }


def _cell(answer: Mapping[str, Any], name: str) -> Any:
    try:
        return answer.get(name)
    except Exception:  # noqa: BLE001 a mapping of the user's own may fail
        return None


def made_rows(
    node: MapRows | FlatMap, batches: Iterable[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """Yield the rows that a node makes of batches, its columns called c0, c1, ..."""
    names = node.child.schema.names
    work = _RUNS[type(node)]
    for batch in batches:
        lists = [batch.column(place).to_pylist() for place in range(len(names))]
        across = zip(*lists, strict=True) if lists else [()] * batch.num_rows
        rows = (dict(zip(names, values, strict=True)) for values in across)
        yield _batch(node, [new_row for row in rows for new_row in work(node, row)])


def made_schema(node: MapRows | FlatMap) -> pa.Schema:
    """Return the form of the rows that a node makes; rows of no columns have one."""
    columns = [column.arrow for _, column in node.schema.columns] or [pa.bool_()]
    return pa.schema([(f"c{place}", kind) for place, kind in enumerate(columns)])


def _batch(node: MapRows | FlatMap, rows: list[Row]) -> pa.RecordBatch:
    names = node.schema.names or ("",)
    form = made_schema(node)
    arrays = [
        pa.array([row.get(name) for row in rows], field.type)
        for name, field in zip(names, form, strict=True)
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=form)


_RUNS: Final[dict[type[AbstractNode], Callable[[Any, Row], Iterable[Row]]]] = {
    MapRows: lambda node, row: (mapped_row(node, row),),
    FlatMap: flat_mapped,
}
