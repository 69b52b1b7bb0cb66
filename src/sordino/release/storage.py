"""An answer as bytes: what a ledger keeps, so that a repeated request costs nothing.

Kept are the numbers; price, plan and notes follow from the request, asked anew.
The format is two Arrow streams, the answers and their errors, or three with coverage,
each after its length in eight bytes, big-endian.
"""

import struct
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from sordino.release.answer import Answer

if TYPE_CHECKING:
    import pyarrow as pa

_LENGTH: Final = struct.Struct(">Q")


def answer_bytes(answer: Answer) -> bytes:
    """Return the numbers of an answer."""
    tables = [answer.table, answer.errors]
    tables += [] if answer.coverage is None else [answer.coverage]
    return join_answers([_stream(table) for table in tables])


def read_answer(stored: bytes) -> Answer:
    """Return the answer that was stored."""
    return Answer(*map(read_table, split_answers(stored)))


def join_answers(answers: Sequence[bytes]) -> bytes:
    """Return several answers as one.

    >>> split_answers(join_answers([b"one", b""]))
    [b'one', b'']
    """
    return b"".join(_LENGTH.pack(len(answer)) + answer for answer in answers)


def split_answers(stored: bytes) -> list[bytes]:
    """Return the answers that were joined."""
    answers, place = [], 0
    while place < len(stored):
        (length,) = _LENGTH.unpack_from(stored, place)
        place += _LENGTH.size
        answers.append(stored[place : place + length])
        place += length
    return answers


def _stream(table: "pa.Table") -> bytes:
    """Return a table as an Arrow stream."""
    import pyarrow as pa  # noqa: PLC0415 loaded when needed

    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue())


def read_table(stream: bytes) -> "pa.Table":
    """Return the table of an Arrow stream."""
    import pyarrow as pa  # noqa: PLC0415 loaded when needed

    table = pa.ipc.open_stream(stream).read_all()
    table.validate(full=True)
    return table
