"""Records of a ledger, each sealed by a hash that covers all records before it.

>>> first = Record.following(0, "", "opened", {"format": 1})
>>> second = Record.following(first.number, first.hash, "leased", {"charge": 1})
>>> first.sealed, second.sealed, replace(second, body="{}").sealed
(True, True, False)
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, Self, final

__all__ = ["COLUMNS", "Record", "digest", "replace"]

COLUMNS: Final = "number, kind, budget, key, charge, body, previous, hash"
"""The columns of the table, in the order of the fields."""


@final
@dataclass(frozen=True)
class Record:
    """One line of the history of a ledger. `body` is JSON; what the rest says is in it.

    `budget`, `key` and `charge` repeat fields of the body, for the indexes of the file.
    """

    number: int
    kind: str
    budget: str | None
    key: str | None
    charge: int | None
    body: str
    previous: str
    hash: str

    @classmethod
    def following(
        cls, number: int, previous: str, kind: str, fields: Mapping[str, Any]
    ) -> Self:
        """Return the record after the one of that number and hash."""
        body = json.dumps(fields, sort_keys=True, separators=(",", ":"))
        sealed = seal(previous, number + 1, kind, body)
        return cls(
            number=number + 1,
            kind=kind,
            budget=fields.get("budget"),
            key=fields.get("key"),
            charge=fields.get("charge"),
            body=body,
            previous=previous,
            hash=sealed,
        )

    @property
    def fields(self) -> dict[str, Any]:
        """Return the body as a dictionary."""
        read: dict[str, Any] = json.loads(self.body)
        return read

    @property
    def sealed(self) -> bool:
        """Say whether the hash is that of the rest."""
        if self.hash != seal(self.previous, self.number, self.kind, self.body):
            return False
        fields = self.fields
        indexed = (self.budget, self.key, self.charge)
        return indexed == tuple(fields.get(n) for n in ("budget", "key", "charge"))

    @property
    def row(self) -> tuple[Any, ...]:
        """Return the values of the columns."""
        columns = (self.number, self.kind, self.budget, self.key, self.charge)
        return (*columns, self.body, self.previous, self.hash)


def seal(previous: str, number: int, kind: str, body: str) -> str:
    """Return the hash of a record: SHA-256 of four lines."""
    return digest(f"{previous}\n{number}\n{kind}\n{body}".encode())


def digest(data: bytes) -> str:
    """Return SHA-256 in hexadecimal digits."""
    return hashlib.sha256(data).hexdigest()
