"""A release as bytes: what a ledger keeps, so that a repeated request costs nothing.

Kept are the numbers; price, plan and notes follow from the request, asked anew.
The format is two Arrow streams, the answers and their errors, or three with coverage,
each after its length in eight bytes, big-endian.
"""

import struct
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from sordino.planning.price import CONFIDENCE, Price
from sordino.release.notes import notes
from sordino.release.release import Release

if TYPE_CHECKING:
    import pyarrow as pa

_LENGTH: Final = struct.Struct(">Q")


def to_bytes(release: Release) -> bytes:
    """Return the numbers of a release."""
    beside = [] if release.coverage is None else [release.coverage]
    return joined([_stream(one) for one in (release.table, release.errors, *beside)])


def from_bytes(kept: bytes, price: Price) -> Release:
    """Return the release of a request from its numbers."""
    table, errors, *beside = map(table_of, split(kept))
    return Release(
        table,
        errors,
        price.request.by,
        CONFIDENCE,
        price.loss,
        price.plan,
        notes(price),
        price.budget,
        *beside,
    )


def joined(answers: Sequence[bytes]) -> bytes:
    """Return several answers as one.

    >>> split(joined([b"one", b""]))
    [b'one', b'']
    """
    return b"".join(_LENGTH.pack(len(one)) + one for one in answers)


def split(kept: bytes) -> list[bytes]:
    """Return the answers that were joined."""
    found, place = [], 0
    while place < len(kept):
        (length,) = _LENGTH.unpack_from(kept, place)
        place += _LENGTH.size
        found.append(kept[place : place + length])
        place += length
    return found


def _stream(table: "pa.Table") -> bytes:
    """Return a table as an Arrow stream."""
    import pyarrow as pa  # noqa: PLC0415 loaded when needed

    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue())


def table_of(stream: bytes) -> "pa.Table":
    """Return the table of an Arrow stream."""
    import pyarrow as pa  # noqa: PLC0415 loaded when needed

    table = pa.ipc.open_stream(stream).read_all()
    table.validate(full=True)
    return table
