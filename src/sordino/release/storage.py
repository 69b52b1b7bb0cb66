"""An answer as bytes: what a ledger keeps, so that a repeated request costs nothing.

Kept are the numbers; price, plan and notes follow from the request, asked anew.
The format is two Arrow streams, the answers and their errors, or three with coverage,
each after its length in eight bytes, big-endian.
"""

import struct
from collections.abc import Sequence
from io import BytesIO
from typing import TYPE_CHECKING, Final, TypeAlias

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
    """Return the tables that are kept of an answer."""
    coverage = [] if answer.coverage is None else [answer.coverage]
    return [answer.table, answer.errors, *coverage]


def _write(table: "pa.Table", room: BytesIO) -> None:
    """Write the length of a table's Arrow stream, and the stream."""
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
    table.validate(full=True)
    return table
