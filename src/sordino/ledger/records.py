"""Records of a ledger, each sealed by a hash that covers all records before it.

>>> first = Record.successor(NOTHING, "opened", {"format": 2})
>>> second = Record.successor(first.head, "leased", {"charge": 1})
>>> first.is_sealed, second.is_sealed, replace(second, body="{}").is_sealed
(True, True, False)
>>> Record.read(second.line) == second
True
"""

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final, NamedTuple, Self, final

__all__ = ["NOTHING", "Head", "Record", "hash_bytes", "replace"]

DEEPEST: Final = 500
"""Brackets within brackets: what a request nests, in fewer calls than Python allows."""
_TEXT: Final = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"')
_BRACKET: Final = re.compile(r"[\[\]{}]")
_LINE: Final = re.compile(
    r'\{"number":([1-9][0-9]{0,17}),"kind":"([a-z]{1,32})",'
    r'"previous":"([0-9a-f]{64}|)","hash":"([0-9a-f]{64})",'
    r'"signature":"([0-9a-f]{128}|)","body":(\{[ -~]*\})\}'
)
"""A record as a line: what it says of itself first, its body last, word for word."""


@final
class Head(NamedTuple):
    """The number and the hash of a record: they stand for all up to it."""

    number: int
    hash: str


NOTHING: Final = Head(0, "")
"""The head of a log without records."""


@final
@dataclass(frozen=True)
class Record:
    """One line of the history of a ledger. `body` is a JSON object in ASCII."""

    number: int
    kind: str
    body: str
    previous: str
    hash: str
    signature: str = ""
    """Of the hash, by the key of the ledger; "" where a ledger has none."""

    @classmethod
    def successor(cls, head: Head, kind: str, fields: Mapping[str, Any]) -> Self:
        """Return the record after a head."""
        body = json.dumps(fields, sort_keys=True, separators=(",", ":"))
        number = head.number + 1
        sealed = seal(head.hash, number, kind, body)
        return cls(number, kind, body, head.hash, sealed)

    @classmethod
    def read(cls, line: bytes) -> "Self | None":
        """Return the record of a line, None if the line is not a record."""
        match = _LINE.fullmatch(line.decode("latin-1"))
        if match is None:
            return None
        number, kind, previous, own, signature, body = match.groups()
        return cls(int(number), kind, body, previous, own, signature)

    @property
    def line(self) -> bytes:
        """Return the record as a line of a file."""
        return (
            f'{{"number":{self.number},"kind":"{self.kind}",'
            f'"previous":"{self.previous}","hash":"{self.hash}",'
            f'"signature":"{self.signature}","body":{self.body}}}'
        ).encode()

    @cached_property
    def fields(self) -> dict[str, Any]:
        """Return the body as a dictionary; of a hostile body anything may come."""
        read: dict[str, Any] = parse_json(self.body)
        return read

    @property
    def is_sealed(self) -> bool:
        """Say whether the hash is that of the rest."""
        return self.hash == seal(self.previous, self.number, self.kind, self.body)

    @property
    def head(self) -> Head:
        """Return the head of a log that ends here."""
        return Head(self.number, self.hash)


def parse_json(text: str) -> Any:
    """Return what JSON says; text that nests too deeply is a `ValueError`.

    So a `RecursionError` is of who calls, never of the text.

    >>> parse_json('{"charge":[3,"]"]}')
    {'charge': [3, ']']}
    """
    if text.count("[") + text.count("{") > DEEPEST and _nests_deeper(text):
        raise ValueError("it nests too deeply")
    return json.loads(text)


def _nests_deeper(text: str) -> bool:
    """Say whether brackets outside of texts stand within more than DEEPEST others."""
    depth = 0
    for bracket in _BRACKET.finditer(_TEXT.sub("", text)):
        depth += 1 if bracket[0] in "[{" else -1
        if depth > DEEPEST:
            return True
    return False


def seal(previous: str, number: int, kind: str, body: str) -> str:
    """Return the hash of a record: SHA-256 of four lines."""
    return hash_bytes(f"{previous}\n{number}\n{kind}\n{body}".encode())


def hash_bytes(data: bytes) -> str:
    """Return SHA-256 in hexadecimal digits."""
    return hashlib.sha256(data).hexdigest()
