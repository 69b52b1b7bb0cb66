"""An answer as the bytes that a ledger keeps; files written whole or not at all.

Kept are the numbers; price, plan and notes follow from the request, asked anew.
The format is two Arrow streams, the answers and their errors, or three with coverage,
each after its length in eight bytes, big-endian.
"""

import os
import struct
from collections.abc import Callable, Sequence
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from sordino.errors import InvalidParameter
from sordino.release.answer import Answer

if TYPE_CHECKING:
    import pyarrow as pa


_LENGTH: Final = struct.Struct(">Q")
Stored: TypeAlias = bytes | memoryview


def answer_bytes(answer: Answer) -> bytes:
    """Return the numbers of an answer."""
    room = BytesIO()
    for table in _tables_of(answer):
        _write(table, room)
    return room.getvalue()


def answer_size(answer: Answer) -> int:
    """Return how many bytes that are, without making them.

    >>> import pyarrow as pa
    >>> answer = Answer(pa.table({"n": [1, 2]}), pa.table({"n sd": [0.5, None]}))
    >>> answer_size(answer) == len(answer_bytes(answer))
    True
    """
    import pyarrow as pa  # noqa: PLC0415 loaded when needed

    size = 0
    for table in _tables_of(answer):
        sink = pa.MockOutputStream()
        with pa.ipc.new_stream(sink, table.schema) as writer:
            writer.write_table(table)
        size += _LENGTH.size + sink.size()
    return size


def read_answer(stored: Stored) -> Answer:
    """Return the answer that was stored."""
    return Answer(*map(read_table, split_answers(stored)))


def join_answers(answers: Sequence[Stored]) -> bytes:
    """Return several answers as one, each copied once.

    >>> [bytes(one) for one in split_answers(join_answers([b"one", b""]))]
    [b'one', b'']
    """
    pairs = ((_LENGTH.pack(len(answer)), answer) for answer in answers)
    return b"".join(part for pair in pairs for part in pair)


def split_answers(stored: Stored) -> list[memoryview]:
    """Return the answers that were joined, where they lie."""
    answers, place, whole = [], 0, memoryview(stored)
    while place < len(whole):
        (length,) = _LENGTH.unpack_from(whole, place)
        place += _LENGTH.size
        answers.append(whole[place : place + length])
        place += length
    return answers


def _tables_of(answer: Answer) -> "list[pa.Table]":
    coverage = [] if answer.coverage is None else [answer.coverage]
    return [answer.table, answer.errors, *coverage]


def _write(table: "pa.Table", room: BytesIO) -> None:
    import pyarrow as pa  # noqa: PLC0415 loaded when needed

    start = room.tell()
    room.write(_LENGTH.pack(0))
    with pa.ipc.new_stream(room, table.schema) as writer:
        writer.write_table(table)
    end = room.tell()
    room.seek(start)
    room.write(_LENGTH.pack(end - start - _LENGTH.size))
    room.seek(end)


def read_table(stream: Stored) -> "pa.Table":
    """Return the table of an Arrow stream, whose numbers stay where they lie."""
    import pyarrow as pa  # noqa: PLC0415 loaded when needed

    table = pa.ipc.open_stream(pa.py_buffer(stream)).read_all()
    # bytes of a ledger are from outside: offsets that lie would read beyond them
    table.validate(full=True)
    return table


LINK: Final = "is a symbolic link, and none is followed"


def write_whole(path: Any, write: Callable[[Path], object]) -> None:
    """Write a file whole or not at all, with the files that `write` adds."""
    target = _target(path)
    try:
        problem = _problem(target)
        if not problem:
            _replace(target, write)
    except OSError as error:
        raise _refusal(path, "cannot be written there") from error
    if problem:
        raise _refusal(path, problem)


def write_text(path: Any, text: str) -> None:
    """Write a text file whole or not at all."""
    # the same bytes on every system
    write_whole(path, lambda file: file.write_text(text, "utf-8", newline="\n"))


def _replace(target: Path, write: Callable[[Path], object]) -> None:
    # beside the target: only on one volume a file is replaced in one step
    with TemporaryDirectory(prefix=".sordino-", dir=target.parent) as folder:
        unfinished = Path(folder) / target.name
        write(unfinished)
        others = [file for file in Path(folder).iterdir() if file != unfinished]
        # the named file comes last: where it is, the others are, too
        places = {file: target.parent / file.name for file in (*others, unfinished)}
        # a link would let somebody else say where paid noise is written
        for place in filter(Path.is_symlink, places.values()):
            raise _refusal(place, LINK)
        for file, place in places.items():
            # in one step: a reader finds the old file or the new one, never half of it
            file.replace(place)


def _target(path: Any) -> Path:
    """Return the real place of a file: in a folder behind links, itself no link."""
    try:
        named = Path(path)
        os.path.realpath(named)  # refuses what is no path
        return Path(os.path.realpath(named.parent)) / named.name
    except (OSError, TypeError, ValueError) as error:
        raise _refusal(path, "is no path of a file") from error


def _problem(target: Path) -> str:
    if target.is_symlink():
        return LINK
    if target.is_dir():
        return "is a folder"
    if target.exists() and not target.is_file():
        return "is no ordinary file"
    if not target.parent.is_dir():
        return "lies in a folder that does not exist"
    return ""


def _refusal(path: Any, problem: str) -> InvalidParameter:
    shown = str(path) if isinstance(path, os.PathLike) else path
    remedy = 'Name a file in a folder you may write to, such as "out.csv".'
    return InvalidParameter("path", shown, problem, remedy)
