"""What a release was made by, and which files were made of it.

described (the text of a job) ── charged (names its hash) ── published (a file's hash)
"""

from dataclasses import dataclass
from datetime import datetime
from hashlib import file_digest
from pathlib import Path
from typing import Any, final

from sordino.errors import InvalidParameter, UnknownName, show
from sordino.ledger.entries import check_name, check_unicode
from sordino.ledger.log import Log
from sordino.ledger.records import hash_bytes


@final
@dataclass(frozen=True)
class Publication:
    """A file that was made of an answer, as the ledger recorded it."""

    charge: int
    """The number of the charge that paid for the answer."""
    name: str
    when: datetime
    who: str
    sha256: str
    size: int


@final
@dataclass(frozen=True)
class FileFacts:
    """What is recorded of a file: the hash stands for every bit of it."""

    name: str
    sha256: str
    size: int

    @classmethod
    def of(cls, path: Any) -> "FileFacts":
        """Return the facts of a file that can be read, or refuse its path."""
        try:
            with Path(path).open("rb") as file:
                sha256 = file_digest(file, "sha256").hexdigest()
                return cls(check_unicode("path", Path(path).name), sha256, file.tell())
        except (OSError, TypeError, ValueError):
            shown = path if isinstance(path, str) else str(show(path))
            raise InvalidParameter(
                "path", shown, "must be a file that can be read", 'Try "out/wards.csv".'
            ) from None

    @classmethod
    def of_text(cls, name: str, text: str) -> "FileFacts":
        """Return the facts of a file that holds a text."""
        content = text.encode()
        return cls(name, hash_bytes(content), len(content))


def describe(log: Log, text: str, who: str, when: str) -> str:
    """Record a text once, and return its hash, by which charges name it."""
    sha256 = hash_bytes(check_unicode("text", text).encode())
    if log.newest_about(f"job {sha256}") is None:
        who = check_unicode("who", who)
        fields = {"sha256": sha256, "text": text, "when": when, "who": who}
        log.add("described", fields)
    return sha256


def find_description(log: Log, sha256: str) -> str:
    """Return the text that has a hash."""
    record = log.newest_about(f"job {sha256}")
    if record is None:
        raise UnknownName("job", sha256, [])
    return str(record.fields["text"])


def publish(log: Log, key: str, file: FileFacts, who: str, when: str) -> None:
    """Record that a file was made of the answer of a key; the same again is nothing."""
    charged = log.newest_about(f"key {check_name(key=key)}")
    if charged is None:
        raise UnknownName("key", key, [])
    publish_of(log, charged.number, file, who, when)


def publish_of(log: Log, charge: int, file: FileFacts, who: str, when: str) -> None:
    """Do the same of the answer of a charge."""
    known = find_publication(log, file)
    if known is not None and known.charge == charge:
        return
    fields = {
        "charge": charge,
        "name": file.name,
        "sha256": file.sha256,
        "size": file.size,
        "when": when,
        "who": check_unicode("who", who),
    }
    log.add("published", fields)


def find_publication(log: Log, file: FileFacts) -> Publication | None:
    """Return what is recorded of a file with this content, if anything is."""
    record = log.newest_about(f"file {file.sha256}")
    if record is None:
        return None
    fields = record.fields
    return Publication(
        fields["charge"],
        fields["name"],
        datetime.fromisoformat(fields["when"]),
        fields["who"],
        fields["sha256"],
        fields["size"],
    )
