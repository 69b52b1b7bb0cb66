"""The file of a ledger, format 2: where its lines lie, and what they look like.

header, one block ── marks, two blocks, written in turn ── lines: pieces of an answer,
then the record that they belong to, and so on. See docs/ledger-format.md.
"""

import base64
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any, Final, Literal, Self, TypeAlias, final

from sordino.ledger.records import Record, hash_bytes, parse_json

FORMAT: Final = 2
BLOCK: Final = 4096
"""Bytes that a disk writes wholly or not at all."""
SECTOR: Final = 512
"""Bytes that every disk writes wholly or not at all."""
MARKS: Final = 2
PIECE: Final = 1 << 20
"""Bytes of an answer in one line, before they are written as base64."""
LARGEST: Final = 1 << 30
"""Bytes that an answer may have."""
LONGEST: Final = 1 << 26
"""Bytes that a line may have."""
Role: TypeAlias = Literal["ledger", "witness", "backup"]
_PIECE_START: Final = b'{"piece":'
_SQLITE: Final = b"SQLite format 3\0"


@final
@dataclass(frozen=True)
class Header:
    """What a file says of itself in its first block."""

    role: str
    format: int
    begins: int
    """Where the marks begin; the lines come after them."""

    @property
    def block(self) -> bytes:
        """Return the first block of a file: one line, and one of spaces."""
        fields = {"application": "sordino", **asdict(self)}
        return _pad(json.dumps(fields, separators=(",", ":")) + "\n")

    @property
    def sector(self) -> bytes:
        """Return the part of the block that has the line."""
        return self.block[:SECTOR]

    @property
    def first_line(self) -> int:
        """Return where the lines begin."""
        return self.begins + MARKS * BLOCK

    @classmethod
    def read(cls, block: bytes) -> "Self | None":
        """Return the header in a first block, None if the file is not a ledger."""
        line, ended, _ = block[:SECTOR].partition(b"\n")
        fields = _object(line) if ended else {}
        if fields.pop("application", None) != "sordino" or set(fields) != set(_HEADER):
            return None
        header = cls(**fields)
        right = type(header.begins) is int and header.begins >= BLOCK
        return header if right and type(header.format) is int else None


@final
@dataclass(frozen=True)
class Mark:
    """How far a file was durable when this was written, and by which record."""

    end: int
    number: int
    hash: str

    @property
    def block(self) -> bytes:
        """Return the block of a mark, with a sum over it."""
        return _pad(json.dumps({**asdict(self), "sum": self._sum}))

    @classmethod
    def read(cls, block: bytes) -> "Self | None":
        """Return the mark of a block, None where it is empty or was cut short."""
        fields = _object(block)
        claimed = fields.pop("sum", None)
        if set(fields) != set(_MARK):
            return None
        mark = cls(**fields)
        right = type(mark.end) is int and type(mark.number) is int
        return mark if right and claimed == mark._sum else None

    @property
    def _sum(self) -> str:
        """Return the hash of what it says."""
        return hash_bytes(f"{self.end}\n{self.number}\n{self.hash}".encode())


_HEADER: Final = ("role", "format", "begins")
_MARK: Final = ("end", "number", "hash")
EMPTY: Final = b" " * (BLOCK - 1) + b"\n"
"""A block without a mark."""


def is_format_1(block: bytes) -> bool:
    """Say whether a first block is that of an SQLite file."""
    return block.startswith(_SQLITE)


def record_lines(record: Record, answer: bytes) -> Iterator[bytes]:
    """Yield the lines of a record, its answer in pieces before it."""
    view = memoryview(answer)
    for start in range(0, len(answer), PIECE):
        piece = base64.b64encode(view[start : start + PIECE]).decode()
        yield f'{{"piece":{record.number},"bytes":"{piece}"}}\n'.encode()
    yield record.line + b"\n"


def is_piece(line: bytes) -> bool:
    """Say whether a line is a piece of an answer."""
    return line.startswith(_PIECE_START)


def read_piece(line: bytes, number: int) -> bytes:
    """Return the bytes of a piece that belongs to a record; b"" if it does not."""
    fields = _object(line)
    if fields.get("piece") != number or not isinstance(fields.get("bytes"), str):
        return b""
    try:
        return base64.b64decode(fields["bytes"], validate=True)
    except ValueError:
        return b""


def _pad(text: str) -> bytes:
    """Return text as a block that ends a line."""
    return text.encode().ljust(BLOCK - 1) + b"\n"


def _object(text: bytes) -> dict[str, Any]:
    """Return the JSON object of a line, an empty one where there is none."""
    try:
        content = parse_json(text.decode("ascii"))
    except ValueError:
        return {}
    return content if isinstance(content, dict) else {}
