"""Heads of a ledger that are published elsewhere, and what stands in it under them.

records ── tree (merkle.py) ── head, signed, 32 bytes to publish ── path of a record

A reader has a head, a path and a file, and neither the ledger nor a network. Anybody
may have written them: all is checked, from the bytes of the file to the head.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, Self, final

from sordino.errors import InvalidLabel, InvalidParameter
from sordino.ledger.file_format import Record, hash_bytes, parse_json, seal
from sordino.ledger.log import Log
from sordino.ledger.merkle import (
    WrongPath,
    growth_path,
    inclusion_path,
    leaf_hash,
    root_by_path,
    roots_by_growth,
    tree_root,
)
from sordino.ledger.policy_file import is_signed, public_of, sign
from sordino.ledger.record_kinds import is_sound

_FORM: Final = 1
_SCHEMA: Final = f"sordino.head/{_FORM}"
_STANDING: Final = f"sordino.standing/{_FORM}"
_MOST: Final = 2**53
_LARGEST: Final = 2**20
"""Bytes of a file of a head, or of what stands under one."""
_HASH: Final = re.compile(r"[0-9a-f]{64}")
_IDENTITY: Final = re.compile(r"[0-9a-f]{1,64}")
_KEY: Final = re.compile(r"[0-9a-f]{64}|")
_SIGNATURE: Final = re.compile(r"[0-9a-f]{128}|")


@final
@dataclass(frozen=True)
class Growth:
    """What shows that a tree begins with an earlier one."""

    number: int
    root: str
    path: tuple[str, ...]

    @property
    def fields(self) -> dict[str, Any]:
        """Fields of its JSON."""
        return {"number": self.number, "root": self.root, "path": self.path}

    @classmethod
    def read(cls, fields: Mapping[str, Any]) -> Self:
        """Growth that JSON states; a wrong statement is an error of Python's."""
        path = tuple(_match(_HASH, digits) for digits in fields["path"])
        return cls(_count(fields["number"]), _match(_HASH, fields["root"]), path)


@final
@dataclass(frozen=True)
class PublishedHead:
    """The root of the tree over the first records of a ledger, and who says so.

    >>> head = PublishedHead("ab", 3, "0" * 64)
    >>> head.text.splitlines()[2:4], len(bytes.fromhex(head.digest))
    (['ab', '3'], 32)
    """

    ledger: str
    number: int
    """How many records are under it."""
    root: str
    signed_by: str = ""
    signature: str = ""
    since: Growth | None = None

    @property
    def text(self) -> str:
        """Text that is signed: no record is such a one, and no policy."""
        lines = ("sordino head", str(_FORM), self.ledger, str(self.number))
        return "\n".join((*lines, self.root, self.signed_by))

    @property
    def digest(self) -> str:
        """Digits of the 32 bytes that are published."""
        return hash_bytes(self.text.encode())

    @property
    def fields(self) -> dict[str, Any]:
        """Fields of its JSON."""
        return {
            "schema": _SCHEMA,
            "digest": self.digest,
            "ledger": self.ledger,
            "number": self.number,
            "root": self.root,
            "signed_by": self.signed_by,
            "signature": self.signature,
            "since": None if self.since is None else self.since.fields,
        }

    @property
    def is_signed(self) -> bool:
        """Say whether the key that it names has signed it."""
        return is_signed(self.signed_by, self.signature, self.text.encode())

    @classmethod
    def read(cls, name: str, fields: Any) -> Self:
        """Head that JSON states; a wrong statement is refused."""
        try:
            head = cls._parse(fields)
        except (LookupError, TypeError, ValueError):
            raise InvalidLabel(name, "holds no head of a ledger") from None
        if head.digest != fields.get("digest"):
            raise InvalidLabel(name, "holds a head with a digest of another one")
        # an unsigned ledger has no key; one that has a key signs
        if head.signed_by and not head.is_signed:
            raise InvalidLabel(name, "holds a head that its key has not signed")
        return head

    @classmethod
    def _parse(cls, fields: Mapping[str, Any]) -> Self:
        if fields["schema"] != _SCHEMA:
            raise ValueError
        since = fields["since"]
        return cls(
            _match(_IDENTITY, fields["ledger"]),
            _count(fields["number"]),
            _match(_HASH, fields["root"]),
            _match(_KEY, fields["signed_by"]),
            _match(_SIGNATURE, fields["signature"]),
            None if since is None else Growth.read(since),
        )


def read_json_file(path: Path) -> Any:
    """Value of a small file of JSON; any other file is refused."""
    try:
        with path.open("rb") as file:
            text = file.read(_LARGEST + 1)
        if len(text) <= _LARGEST:
            return parse_json(text.decode())
    except OSError:
        raise InvalidLabel(path.name, "cannot be read", "Name a file.") from None
    except ValueError:
        pass
    raise InvalidLabel(path.name, "is no JSON that can be read")


def _match(pattern: "re.Pattern[str]", value: Any) -> str:
    text: str = value
    if pattern.fullmatch(text) is None:
        raise ValueError
    return text


def _count(value: Any) -> int:
    if type(value) is not int or not 1 <= value < _MOST:
        raise ValueError
    return value


def make_head(log: Log, signer: Any, since: PublishedHead | None) -> PublishedHead:
    """Head of all records that there are, signed by the key of the ledger."""
    opened = log.first_record().fields
    public = opened.get("signed_by") or ""
    if signer is not None and public_of(signer) != public:
        raise InvalidParameter(
            "--sign",
            public_of(signer),
            f"is not the key of this ledger, {public or 'which has none'}",
            "Compare the public keys.",
        )
    leaves = _leaves(log)
    root = tree_root(leaves).hex()
    head = PublishedHead(opened["identity"], len(leaves), root, public)
    if since is not None:
        _refuse_other(log, leaves, since)
        path = growth_path(leaves, since.number)
        grown = Growth(since.number, since.root, tuple(map(bytes.hex, path)))
        head = replace(head, since=grown)
    if signer is None:
        return head
    return replace(head, signature=sign(signer, head.text.encode()))


def _leaves(log: Log) -> list[bytes]:
    return [leaf_hash(bytes.fromhex(record.hash)) for record in log.records()]


def _refuse_other(log: Log, leaves: Sequence[bytes], head: PublishedHead) -> None:
    """Refuse a ledger that does not begin with what stood under a head of it."""
    if head.ledger != log.first_record().fields["identity"]:
        raise InvalidParameter(
            "head", head.digest, "is of another ledger", "Name a head of this one."
        )
    if head.number > len(leaves):
        raise log.damage(f"it was put back: a head of {head.number} records is known")
    if tree_root(leaves[: head.number]).hex() != head.root:
        raise log.damage(f"it has other records than the head of {head.number} says")


def gap_between(earlier: PublishedHead, later: PublishedHead) -> str:
    """What keeps a head from following an earlier one; "" if it does."""
    if later.ledger != earlier.ledger:
        return "is of another ledger"
    if later.signed_by != earlier.signed_by:
        return "is signed by another key"
    if later.number < earlier.number:
        return "is of an older copy: it has fewer records"
    if later.number == earlier.number:
        return "" if later.root == earlier.root else "has other records"
    since = later.since
    if since is None or (since.number, since.root) != (earlier.number, earlier.root):
        return "has no path from that one: make it with --since"
    try:
        roots = roots_by_growth(
            bytes.fromhex(earlier.root),
            earlier.number,
            later.number,
            list(map(bytes.fromhex, since.path)),
        )
    except WrongPath:
        roots = None
    known = (bytes.fromhex(earlier.root), bytes.fromhex(later.root))
    return "" if roots == known else "does not go on from that one"


def standing_text(log: Log, head: PublishedHead, digests: Iterable[str]) -> str:
    """Text that shows that a ledger has published some files under a head."""
    leaves = _leaves(log)
    _refuse_other(log, leaves, head)
    leaves = leaves[: head.number]
    fields = replace(head, since=None).fields

    def stand(sha256: str) -> dict[str, Any]:
        record = log.newest_about(f"file {sha256}")
        if record is None or record.number > head.number:
            raise InvalidParameter(
                "head",
                head.digest,
                "must be younger than the publication of the file",
                "Publish another head, and name that.",
            )
        path = inclusion_path(leaves, record.number - 1)
        return {
            "number": record.number,
            "previous": record.previous,
            "body": record.body,
            "path": list(map(bytes.hex, path)),
        }

    records = [stand(sha256) for sha256 in dict.fromkeys(digests)]
    document = {"schema": _STANDING, "head": fields, "records": records}
    return json.dumps(document, indent=1) + "\n"


@final
@dataclass(frozen=True)
class Standing:
    """Files that stand under a head, by their SHA-256, and the charge of each."""

    head: PublishedHead
    charges: Mapping[str, int]

    @classmethod
    def read(cls, name: str, document: Any) -> Self:
        """Files that stand, each record held by its path; all else is refused."""
        if not isinstance(document, dict) or document.get("schema") != _STANDING:
            raise InvalidLabel(name, "does not say what stands in a ledger")
        head = PublishedHead.read(name, document.get("head"))
        try:
            records = [_record_under(head, fields) for fields in document["records"]]
        except (AttributeError, LookupError, TypeError, ValueError):
            raise InvalidLabel(
                name, "shows no records that stand under its head"
            ) from None
        bodies = [record.fields for record in records]
        return cls(head, {body["sha256"]: body["charge"] for body in bodies})


def _record_under(head: PublishedHead, fields: Mapping[str, Any]) -> Record:
    number, previous, body = (
        _count(fields["number"]),
        fields["previous"],
        fields["body"],
    )
    own = seal(_match(_HASH, previous), number, "published", body)
    record = Record(number, "published", body, previous, own)
    path = [bytes.fromhex(_match(_HASH, digits)) for digits in fields["path"]]
    # a place beyond the end would be read as one within it
    if number > head.number or not is_sound(record):
        raise ValueError
    leaf = leaf_hash(bytes.fromhex(own))
    if root_by_path(leaf, number - 1, head.number, path).hex() != head.root:
        raise ValueError
    return record
