r"""Texts of policies, and Ed25519: who signs them, and who signs a ledger's records.

A policy is TOML, whose every name is known, read as rules.

>>> rules = read_rules("serial = 1\n[release]\nepsilon = 1\ndelta = 1e-6\n")
>>> rules.release.rules
('release.epsilon = 1', 'release.delta = 0.000001')
>>> read_rules("serial = 1\n[relaese]\n")
Traceback (most recent call last):
sordino.errors.InvalidPolicy: the file has no 'relaese'. Did you mean 'release'?

Records are signed by nobody, or by who holds a key.

>>> from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
>>> key = Ed25519PrivateKey.generate()
>>> signature = sign(key, b"text")
>>> is_signed(public_of(key), signature, b"text")
True
>>> is_signed(public_of(key), signature, b"another text")
False
>>> record = Record.successor(NOTHING, "opened", {})
>>> seals = Seals(public_of(key), key)
>>> signed = seals.sign(record)
>>> seals.hold(signed), seals.hold(record)
(True, False)
"""

import json
import re
import stat
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any, Final, Self, final

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import (
    Ed25519PrivateKey,
    Ed25519PublicKey,
)

from sordino.data.toml import Section, file_value, parse_toml, small_text
from sordino.errors import InvalidParameter, InvalidPolicy
from sordino.ledger.file_format import NOTHING, Record
from sordino.ledger.policy_rules import (
    ColumnRules,
    Functions,
    Least,
    Listed,
    Most,
    People,
    TableRules,
    Usage,
)
from sordino.losses.loss import Loss
from sordino.numbers import arguments, distance, probability

_PRIME: Final = 2**255 - 19
_CURVE: Final = -121665 * pow(121666, -1, _PRIME)
"""The d of the curve, y^2 - x^2 = 1 + d x^2 y^2."""


def sign(signer: Ed25519PrivateKey, text: bytes) -> str:
    """Return the signature of some bytes, in hexadecimal digits."""
    return signer.sign(text).hex()


def is_signed(public: str, signature: str, text: bytes) -> bool:
    """Say whether a signature is that of a key for these bytes."""
    try:
        encoded = bytes.fromhex(public)
        key = Ed25519PublicKey.from_public_bytes(encoded)
        key.verify(bytes.fromhex(signature), text)
    except (InvalidSignature, ValueError):
        return False
    return not _is_small(encoded)


def public_of(signer: Ed25519PrivateKey) -> str:
    """Return the public half of a key, in hexadecimal digits."""
    return signer.public_key().public_bytes_raw().hex()


def signer_of(signer: Any) -> Ed25519PrivateKey | None:
    """Return a key that signs; anything else is refused."""
    if signer is None or isinstance(signer, Ed25519PrivateKey):
        return signer
    raise InvalidParameter(
        "signer",
        type(signer),
        "must be an Ed25519 private key of the package cryptography",
        "Try signer=Ed25519PrivateKey.generate(), and keep it.",
    )


def _is_small(encoded: bytes) -> bool:
    """Say whether a key is a point of order 1, 2, 4 or 8: anybody signs for such a one.

    Of order 1 and 2 are (0, 1) and (0, -1), of order 4 the points with y = 0. Twice a
    point has y = (y^2 + x^2) / (1 - d x^2 y^2), which is 0 for order 8: there
    x^2 = -y^2, and the curve says d y^4 + 2 y^2 - 1 = 0.
    """
    y = int.from_bytes(encoded, "little") % 2**255 % _PRIME  # the last bit is of x
    square = y * y % _PRIME
    return square in {0, 1} or (_CURVE * square**2 + 2 * square - 1) % _PRIME == 0


_NAMES: Final = (
    *("schema", "serial", "title", "release", "year", "person"),
    *("groups", "tables", "functions", "people"),
)
_VERSION: Final = 1
_USUAL_DELTA: Final = Fraction(1, 10**6)
AGGREGATIONS: Final = (
    *("count", "count_ids", "count_distinct", "sum", "mean", "variance", "stdev"),
    *("median", "quantile", "quantiles", "min", "max", "bounds", "histogram"),
    *("cumulative", "keys", "top", "marginals"),
)
"""What a policy may allow, by the names under which it is asked."""
_LARGEST: Final = 2**53
_BARE: Final = re.compile(r"[A-Za-z0-9_-]+")


@final
@dataclass(frozen=True)
class Rules:
    """All that a policy says; None where it says nothing."""

    serial: int
    title: str
    release: Most | None
    year: Most | None
    person: Most | None
    least: Least | None
    tables: TableRules | None
    functions: Functions
    people: People

    def refuse(
        self, usages: Sequence[Usage], loss: Loss, asker: tuple[str, str]
    ) -> None:
        """Refuse what is not allowed: which uses, at what loss, by whom, from whose.

        `asker` is who asks, and the budget that is charged.
        """
        self.people.refuse(*asker)
        for usage in usages:
            for rule in (self.tables, self.functions, self.least):
                if rule is not None:
                    rule.refuse(usage)
        answered = any(usage.is_answered for usage in usages)
        if self.release is not None and answered:
            self.release.refuse_loss(loss)

    @property
    def delta(self) -> Fraction:
        """Return the delta at which a loss counts that only a curve tells."""
        stated = None if self.release is None else self.release.delta
        return stated or _USUAL_DELTA


@lru_cache(maxsize=8)
def read_rules(text: str) -> Rules:
    """Return the rules of a text, or refuse it."""
    values = parse_toml(text, "the policy", InvalidPolicy, "docs/guides/policy.md")
    root = Section("", values, InvalidPolicy)
    root.refuse_others(*_NAMES)
    if root.values.get("schema", _VERSION) != _VERSION:
        raise root.wrong(
            "schema", f"must be {_VERSION}", "This version reads no other."
        )
    return Rules(
        serial=_whole(root, "serial"),
        title=root.text("title", ""),
        release=_read_most(root, "release"),
        year=_read_most(root, "year"),
        person=_read_most(root, "person"),
        least=_read_least(root),
        tables=_read_tables(root),
        functions=_read_functions(root),
        people=_read_people(root),
    )


def _read_most(root: Section, name: str) -> Most | None:
    """Return an epsilon and a delta, both of which must be said."""
    if name not in root:
        return None
    section = root.section(name)
    section.refuse_others("epsilon", "delta")
    with section.place_refusals("epsilon"):
        epsilon = distance(epsilon=file_value(section.value("epsilon")))
    with section.place_refusals("delta"):
        delta = probability(delta=file_value(section.value("delta")))
    if not isinstance(epsilon, Fraction):
        raise section.wrong("epsilon", "must be rational", "Write epsilon = 1.")
    if delta == 1:
        raise section.wrong("delta", "must be below 1", 'Write delta = "1e-6".')
    return Most(epsilon, delta, (_rule(section, "epsilon"), _rule(section, "delta")))


def _read_least(root: Section) -> Least | None:
    section = root.section("groups")
    section.refuse_others("least")
    if not section.values:
        return None
    return Least(_rule(section, "least"), _whole(section, "least"))


def _read_tables(root: Section) -> TableRules | None:
    """Return the tables that may be read, and the roles of their columns."""
    if "tables" not in root:
        return None
    columns = {}
    for name, section in root.sections("tables").items():
        section.refuse_others("keys", "filters", "values")
        roles = (_read_names(section, role) for role in ("keys", "filters", "values"))
        columns[name] = ColumnRules(*roles)
    named = ", ".join(f"[tables.{_key_text(name)}]" for name in columns) or "[tables]"
    return TableRules(f"{named} and no other table", columns)


def _read_functions(root: Section) -> Functions:
    section = root.section("functions")
    section.refuse_others("aggregations", "python")
    aggregations = _read_names(section, "aggregations")
    for name in sorted(aggregations.names) if aggregations else ():
        with section.place_refusals("aggregations"):
            arguments.choice(AGGREGATIONS, aggregations=name)
    runs = section.truth("python", default=True)
    return Functions(aggregations, "" if runs else _rule(section, "python"))


def _read_people(root: Section) -> People:
    section = root.section("people")
    section.refuse_others("who", "analysts")
    return People(_read_names(section, "who"), _read_names(section, "analysts"))


def _read_names(section: Section, name: str) -> Listed | None:
    """Return the names of a list, None where there is no list."""
    if name not in section:
        return None
    return Listed(_rule(section, name), frozenset(section.texts(name)))


def _whole(section: Section, name: str) -> int:
    """Return a whole number of at least 1."""
    value = section.value(name)
    if type(value) is not int or not 1 <= value <= _LARGEST:
        raise section.wrong(name, "must be a whole number", f"Write {name} = 1.")
    return value


def _rule(section: Section, name: str) -> str:
    """Return a rule as it stands in the file: its place and its value."""
    return f"{section.at(name)} = {_toml(section.values.get(name))}"


def _key_text(name: str) -> str:
    """Return a name as a key of TOML: bare where it may be."""
    return name if _BARE.fullmatch(name) else _toml(name)


def _toml(value: Any) -> str:
    """Return a value as TOML; its texts are written like those of JSON.

    >>> _toml(["ward", Decimal("0.5"), True])
    '["ward", 0.5, true]'
    """
    match value:
        case Decimal():
            return str(value)
        case list():
            return f"[{', '.join(map(_toml, value))}]"
        case _:
            return json.dumps(value, ensure_ascii=False, default=str)


ENDING: Final = ".sig"
"""What the name of the file with the signature adds to that of the policy."""
_DIGITS: Final = re.compile(r"[0-9a-f]+")
_AGAIN: Final = "Read it again, and sign that."
_REMEDY: Final = "Ask its officer for the file and the signature beside it."


@final
@dataclass(frozen=True)
class Policy:
    """What an officer allows, word for word, and the signature of it."""

    text: str
    officer: str
    """The public key, in hexadecimal digits."""
    signature: str
    """Of the bytes of the text, by Ed25519, in hexadecimal digits."""

    @classmethod
    def read(cls, path: Any) -> Self:
        """Return the policy in a file, refusing one that its officer did not sign."""
        place = locate_policy(path)
        text, beside = _file_text(place), _signature_path(place)
        if not beside.exists():
            raise InvalidPolicy(str(place), f"has no signature {beside.name}", _REMEDY)
        policy = cls(text, *_read_signature(beside))
        if not policy.is_signed:
            raise InvalidPolicy(
                str(place), "is not what was signed, or another key signed it", _REMEDY
            )
        read_rules(text)
        return policy

    @classmethod
    def sign(
        cls, path: Any, signer: "Ed25519PrivateKey", *, shown: str | None = None
    ) -> Self:
        """Sign the policy in a file; the signature is written to `<file>.sig`.

        A file that is not the text that was `shown` to who signs is refused.
        """
        place = locate_policy(path)
        text, key = _file_text(place), signer_of(signer)
        if shown not in {None, text}:
            raise InvalidPolicy(str(place), "has changed since it was shown", _AGAIN)
        read_rules(text)
        if key is None:
            raise InvalidPolicy(str(place), "has no signer", "Give the private key.")
        policy = cls(text, public_of(key), sign(key, text.encode()))
        named = {"officer": policy.officer, "signature": policy.signature}
        try:
            _signature_path(place).write_text(
                f"{json.dumps(named)}\n", encoding="utf-8"
            )
        except OSError:
            raise InvalidPolicy(
                str(_signature_path(place)), "cannot be written", "Check the folder."
            ) from None
        return policy

    @property
    def sha256(self) -> str:
        """Return the SHA-256 of the text, by which charges name it."""
        return sha256(self.text.encode()).hexdigest()

    @property
    def rules(self) -> Rules:
        """Rules of the policy."""
        return read_rules(self.text)

    @property
    def is_signed(self) -> bool:
        """Say whether the signature is that of the officer for this text."""
        written = _DIGITS.fullmatch(self.officer) and _DIGITS.fullmatch(self.signature)
        return written is not None and is_signed(
            self.officer, self.signature, self.text.encode()
        )


def locate_policy(path: Any) -> Path:
    """Return the path of a policy; anything that is not a path is refused."""
    try:
        return Path(path)
    except TypeError:
        raise InvalidPolicy(
            "policy", "is not a path", 'Try policy="policy.toml".'
        ) from None


def policy_text(path: Any) -> str:
    """Text of a policy that may not be signed yet."""
    return _file_text(locate_policy(path))


def _signature_path(place: Path) -> Path:
    return place.with_name(place.name + ENDING)


def _file_text(place: Path) -> str:
    """Return the text of a regular file of at most 1 MB, as it stands there."""
    try:
        if stat.S_ISREG(place.stat().st_mode):  # a pipe would be waited for
            return small_text(place)
    except (OSError, UnicodeDecodeError, ValueError):
        pass
    raise InvalidPolicy(
        str(place), "cannot be read as a text file of at most 1 MB", _REMEDY
    )


def _read_signature(beside: Path) -> tuple[str, str]:
    text = _file_text(beside)
    try:
        read = json.loads(text)
        officer, signature = read["officer"], read["signature"]
    except (LookupError, RecursionError, TypeError, ValueError):
        officer, signature = None, None
    if not isinstance(officer, str) or not isinstance(signature, str):
        raise InvalidPolicy(str(beside), "is no signature", _REMEDY)
    return officer.lower(), signature.lower()


__all__ = ["NOTHING", "Seals"]


@final
@dataclass(frozen=True)
class Seals:
    """The public key of a ledger, "" if it has none, and its private one, if known."""

    public: str = ""
    signer: Ed25519PrivateKey | None = None

    def sign(self, record: Record) -> Record:
        """Return a record with its signature, which is of its hash."""
        if not self.public:
            return record
        if self.signer is None:
            raise InvalidParameter(
                "signer",
                None,
                "must be given: this ledger is signed",
                "Open it with signer=, the key that it was made with.",
            )
        return replace(record, signature=sign(self.signer, record.hash.encode()))

    def hold(self, record: Record) -> bool:
        """Say whether a record has the signature that it must have, or none."""
        if not self.public:
            return not record.signature
        return is_signed(self.public, record.signature, record.hash.encode())
