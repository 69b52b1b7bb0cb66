"""Answers too large for a ledger, and facts of the files that are read.

size ── files, as digests ── store (the first wins) ── files beside the ledger ── told

For any charge, whatever is seen is a function of the answer that was stored for it: who
stores second goes on with what was stored first, and until then nothing is written or
raised (docs/adr/0219-an-answer-too-large-for-a-ledger-is-written-to-files.md).

How many files private tables are read from, and when the newest was written, are facts
of whoever keeps the files, for whoever keeps the ledger.
"""

import hashlib
import os
import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, Final, NamedTuple, final

from sordino.data.csv import Csv
from sordino.data.files import find_files
from sordino.errors import (
    AnswerTooLarge,
    InvalidParameter,
    InvalidQuery,
    OutputFailure,
    show,
)
from sordino.ledger import file_format
from sordino.ledger.answers import FileFacts
from sordino.ledger.record_kinds import FilesRead
from sordino.numbers.views import office
from sordino.plan.purchase import Purchase
from sordino.release import storage
from sordino.release.answer import Answer
from sordino.release.explanation import Provenance, join_exactness, release_notes
from sordino.release.release import Release
from sordino.release.released_files import FilesAnswer, WrittenFile, holds_files
from sordino.session.charging import Book, Identity, Paid, Priced, Turn
from sordino.session.tables import private_sources

if TYPE_CHECKING:
    import pyarrow as pa


def files_behind(tables: Mapping[str, Any]) -> FilesRead | None:
    """Return the files of all private tables, None if one is not made of files."""
    try:
        paths = {
            path
            for source in private_sources(tables)
            for pattern in _patterns(source)
            for path in find_files(pattern)
        }
        times = [Path(path).stat().st_mtime for path in paths]
        return FilesRead(len(times), datetime.fromtimestamp(max(times), UTC))
    except (InvalidParameter, OSError, OverflowError, TypeError, ValueError):
        return None  # rows in memory, of a server, or where a cluster alone can look


def _patterns(source: Any) -> list[Any]:
    """Return the paths and patterns of a source; what is not of files is refused."""
    place = source.path if isinstance(source, Csv) else source
    listed = place if isinstance(place, list) else [place]
    if not all(isinstance(path, (str, PurePath)) for path in listed):
        raise TypeError
    return listed


_BESIDE: Final = 8
"""Bytes of an answer among several: its length."""
_BAR: Final = 32
"""Bytes of a noisy number and its three error columns."""


_AGAIN: Final = (
    "With the same key session.release_files(query, budget, folder, key=...) checks "
    "and describes them there, at no new charge."
)


_ROOM: Final = (
    "The answer is paid for, is too large for the ledger and is in this session alone: "
    "make room and ask again with the same key, or have it written to another new "
    "folder by session.release_files(query, budget, folder, key=...), at no new charge."
)
_LOST: Final = (
    "What was charged stays charged, and without a key an answer cannot be asked for "
    "again: make room, and ask with a key."
)


@final
class Charged(NamedTuple):
    """What is charged: which request, for how much, and what is recorded with it."""

    identity: Identity
    priced: Priced
    details: dict[str, Any]


@final
class AnswerForm(NamedTuple):
    """What answers become: bytes of a ledger, or releases that carry a label."""

    stored: Callable[[Sequence[Answer]], bytes]
    releases: Callable[[Sequence[Answer], Provenance], Iterable[Release]]
    """As they were drawn, before what a request does with noisy answers."""
    is_described: bool = False
    """Whether `session.release_files` describes what lies in files."""


@final
@dataclass(frozen=True, eq=False)
class Drawn:
    """Answers that are committed, and are not written yet."""

    releases: tuple[Release, ...]

    @cached_property
    def answer(self) -> FilesAnswer:
        """Names, sizes and hashes of files to be written; nothing is written."""
        files = []
        for name, table in self._tables():
            sink = _Sink()
            office.write_parquet(table, sink)
            files.append(WrittenFile(name, sink.size, sink.sha256.hexdigest()))
        exactness = join_exactness(each.exactness for each in self.releases)
        return FilesAnswer(tuple(files), exactness)

    def write(self, folder: Path) -> list[WrittenFile]:
        """Write the files and their label to a new folder; or leave none behind."""
        folder.mkdir()
        try:
            return self._write_all(folder)
        except BaseException:
            # half of an answer would be taken for all of it
            shutil.rmtree(folder, ignore_errors=True)
            raise

    def _write_all(self, folder: Path) -> list[WrittenFile]:
        """Write what was stored, and the label of one release for all of it."""
        files = [_write(folder / name, table) for name, table in self._tables()]
        if set(files) != set(self.answer.files):
            raise OSError  # the disk holds others
        if len(self.releases) > 1:
            return files
        text = office.folder_label(office.label_facts(self.releases[0]), files)
        office.write_label(folder / office.FOLDER_LABEL, text)
        return [*files, office.written_file(folder / office.FOLDER_LABEL)]

    def _tables(self) -> "Iterable[tuple[str, pa.Table]]":
        """Return the files by name, each with its label."""
        alone = len(self.releases) == 1
        for place, release in enumerate(self.releases, 1):
            name = "answer.parquet" if alone else f"answer-{place}.parquet"
            yield name, office.labelled_table(release)


def answer_or_files(
    book: Book,
    charged: Charged,
    prepare: Callable[[], Callable[[], Sequence[Answer]]],
    form: AnswerForm,
) -> Paid:
    """Charge a request and return its answer; one that is too large lies in files."""
    drawn: list[Drawn] = []

    def prepare_in_turn() -> Callable[[Turn], bytes]:
        compute = prepare()

        def draw(turn: Turn) -> bytes:
            answers = compute()
            size = sum(storage.answer_size(each) + _BESIDE for each in answers)
            # after the charge: how large an answer is depends on rows, and must not be
            # refused for free
            if size <= file_format.LARGEST:
                return form.stored(answers)
            drawn.append(Drawn(tuple(form.releases(answers, turn.provenance))))
            return drawn[0].answer.ledger_bytes

        return draw

    paid = book.answer_in_turn(*charged, prepare_in_turn)
    if not holds_files(paid.answer):
        return paid
    answer = FilesAnswer.read(paid.answer)
    folder = book.ledger.folder_beside(paid.number)
    # only the drawing that was committed is ever written
    if drawn and drawn[0].answer.ledger_bytes == paid.answer:
        book.unwritten[paid.number] = drawn[0].write
    if paid.number in book.unwritten:
        write_drawn(book, paid.number, folder, keyed=charged.details["key"] is not None)
    again = form.is_described and charged.details.get("key") is not None
    raise AnswerTooLarge(
        answer.exactness.groups,
        file_format.LARGEST,
        str(folder),
        _AGAIN if again else "",
    )


def write_drawn(book: Book, number: int, folder: Path, *, keyed: bool = True) -> None:
    """Write what was drawn for a charge to a new folder, and have it on record."""
    try:
        files = book.unwritten[number](folder)
    except Exception:  # noqa: BLE001 whatever a disk or Arrow says
        files = ()
    if not keyed or files:
        del book.unwritten[number]
    if not files:
        raise OutputFailure(str(folder), _ROOM if keyed else _LOST)
    for file in files:
        facts = FileFacts(file.name, file.sha256, file.size)
        book.ledger.publish_of(number, facts, who=book.who)


def raw_release(
    purchase: Purchase, answer: Answer, plan: str, provenance: Provenance
) -> Release:
    """Return an answer as it was drawn, before what its request does with it."""
    request = purchase.plan.request
    return Release(
        answer.table,
        answer.errors,
        request.by,
        request.confidence,
        purchase.loss,
        plan,
        release_notes(purchase),
        purchase.budget,
        answer.coverage,
        provenance=replace(provenance.with_noise(purchase), is_processed=False),
    )


def refuse_large_known(purchases: Iterable[Purchase]) -> None:
    """Refuse what a ledger cannot keep, where that is public before anything is read.

    Counted are the keys, beside numbers and beside errors, and eight bytes a number.
    """
    groups = size = 0
    for purchase in purchases:
        plan, request = purchase.plan, purchase.plan.request
        if (
            request.selects_keys
            or plan.stage is not None
            or request.minimum is not None
        ):
            continue  # how many groups show is not public
        keys = plan.question.keys
        if keys is None:
            continue
        columns = sum(len(each.columns(name)) for name, each in request.columns)
        groups += keys.num_rows
        size += 2 * keys.nbytes + keys.num_rows * columns * _BAR
    if size > file_format.LARGEST:
        raise InvalidQuery(
            f"the answer would have {show(groups)} groups, {show(size)} bytes, and a "
            f"ledger keeps {file_format.LARGEST} bytes of one",
            "Ask session.release_files(query, budget, folder) on Spark, or ask for "
            "fewer groups or columns at once. Nothing was charged.",
        )


@final
class _Sink:
    """Takes the bytes of a file, and keeps their number and their hash alone."""

    closed = False

    def __init__(self) -> None:
        """Begin with none."""
        self.size = 0
        self.sha256 = hashlib.sha256()

    def write(self, data: Any) -> int:
        """Take some."""
        view = memoryview(data).cast("B")
        self.sha256.update(view)
        self.size += len(view)
        return len(view)

    def tell(self) -> int:
        """Return how many there were."""
        return self.size

    def flush(self) -> None:
        """Do nothing: nothing is held back."""

    def close(self) -> None:
        """Do nothing: it takes no room."""

    def writable(self) -> bool:
        """Say that it takes bytes."""
        return True

    def readable(self) -> bool:
        """Say that nothing can be read of it."""
        return False

    def seekable(self) -> bool:
        """Say that it has no places."""
        return False


def _write(path: Path, table: "pa.Table") -> WrittenFile:
    """Write a file, durably."""
    # x: never over a file that is there, or through a link
    with path.open("xb") as file:
        office.write_parquet(table, file)
        file.flush()
        with suppress(OSError):
            os.fsync(file.fileno())
    shown: WrittenFile = office.written_file(path)
    return shown
