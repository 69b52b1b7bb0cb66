"""Paid answers and publications, read from the ledger alone.

described (the text of a job) ── charged (names its hash) ── published (a file's hash)

What a charge says of its answer is public; the bytes are those that were given back.
"""

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction
from hashlib import file_digest
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, final

from sordino.errors import AnswerLost, InvalidParameter, InvalidQuery, UnknownName, show
from sordino.ledger.file_format import Record, hash_bytes
from sordino.ledger.log import Log
from sordino.ledger.record_kinds import DATASET, check_name, check_unicode, proof_text
from sordino.losses.budgets.filters import mu_beside_delta
from sordino.losses.closed import ZCDP, ApproxDP, ApproxZCDP, GaussianDP
from sordino.losses.loss import Loss, PureDP
from sordino.numbers import INFINITE, Extended, distance, probability
from sordino.numbers.canonical import canonical_text

if TYPE_CHECKING:
    from sordino.release.explanation import Provenance
    from sordino.release.release import Release
    from sordino.release.released_files import FilesAnswer


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
    """Publication of a file with this content; None: nothing was published."""
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


_BEFORE: Final = Fraction(95, 100)
"""The confidence of answers whose charge says none: of version 0.1."""


def find_answer(log: Log, key: str, budget: str) -> tuple[Record, bytes]:
    """Return the charge of a key, made to a budget, and the bytes of its answer."""
    charged = log.newest_about(f"key {check_name(key=key)}")
    if charged is None or budget not in {DATASET, charged.fields["budget"]}:
        raise UnknownName("key", key, [])
    answer = log.answer(charged.number)
    if answer is not None:
        return charged, answer
    if log.newest_about(f"lease {charged.number}") is not None:
        raise AnswerLost(key)
    if "words" not in charged.fields:
        raise InvalidQuery(
            f"the key {key!r} was charged by version 0.1 and never answered",
            "Ask with another key; that is charged again.",
        )
    raise InvalidQuery(
        f"the key {key!r} was charged, but its answer has not been stored yet",
        "Ask the same request again with this key: it costs nothing.",
    )


def find_key_files(log: Log, key: str) -> "tuple[str, FilesAnswer] | None":
    """Return the files that a key has, if it has some, and their request's hash."""
    from sordino.release import releases as recall  # noqa: PLC0415 brings Arrow

    charged = log.newest_about(f"key {check_name(key=key)}")
    answer = None if charged is None else log.answer(charged.number)
    if charged is None or answer is None:
        return None
    files = recall.recall_files(answer)
    return None if files is None else (str(charged.fields["request"]), files)


def read_releases(
    charged: Record, answer: bytes, book: tuple[str, Loss | None] | None = None
) -> "dict[str, Release]":
    """Releases of a stored answer by name; "" is one that was asked alone.

    `book` is the identity and the promise of a ledger that outlives the process; with
    blocks nothing is promised of all of them together.
    """
    from sordino.release import releases as recall  # noqa: PLC0415 brings Arrow

    fields = charged.fields
    if recall.recall_files(answer) is not None:
        raise InvalidQuery(
            f"the answers of the key {fields['key']!r} are files in a folder, of which "
            "a ledger has the digests",
            "Read the folder; session.release_files(..., key=...) checks its files.",
        )
    try:
        known = recall.LedgerFacts(
            read_loss(fields["known"]),
            fields["plan"],
            *_read_question(fields),
            provenance=_provenance(charged, book),
        )
        return recall.recall_releases(answer, known)
    except (ArithmeticError, LookupError, OSError, TypeError, ValueError, struct.error):
        raise InvalidQuery(
            f"the answer stored for the key {fields['key']!r} was not given by a "
            "session",
            "Reserve it again with its claim: the ticket has the bytes.",
        ) from None


def _provenance(charged: Record, book: tuple[str, Loss | None] | None) -> "Provenance":
    from sordino.release.explanation import LedgerRecord, Provenance  # noqa: PLC0415 like recall

    fields = charged.fields
    words = fields.get("words")
    record = None
    if book is not None:
        identity, promise = book
        place = (charged.number, charged.hash, fields["when"])
        record = LedgerRecord(identity, *place, promise)
    text = "" if words is None else canonical_text(words)
    return Provenance(text, record=record, proof=proof_text(fields))


def single_release(key: str, releases: "dict[str, Release]") -> "Release":
    """Return the release that was asked for alone."""
    if "" not in releases:
        raise InvalidQuery(
            f"the key {key!r} holds answers by name: {', '.join(map(repr, releases))}",
            f"Read them by answers({key!r}).",
        )
    return releases[""]


def read_loss(headline: Mapping[str, str]) -> Loss:
    """Return a bound on a loss, of what a ledger recorded of it.

    For any two neighbouring databases, with probability at least 1 - delta the release
    is epsilon-DP, mu-GDP and rho-zCDP: the first that is finite is taken.

    >>> read_loss({"epsilon": "inf", "delta": "0/1", "rho": "1/8", "mu": "1/2"})
    GaussianDP(mu=0.5)
    """
    epsilon, mu, rho = (
        _number(headline.get(name)) for name in ("epsilon", "mu", "rho")
    )
    delta = _number(headline.get("delta"))
    failure = delta if isinstance(delta, Fraction) else Fraction(1)
    if epsilon is not INFINITE:
        return ApproxDP(epsilon, failure) if failure else PureDP(epsilon)
    if mu is not INFINITE:
        return mu_beside_delta(mu, failure) if failure else GaussianDP(mu)
    if rho is not INFINITE:
        return ApproxZCDP(rho, failure) if failure else ZCDP(rho)
    return ApproxDP(INFINITE, failure)


def _number(text: Any) -> Extended:
    """Return a number as it was recorded, infinite where it cannot be read."""
    try:
        return distance(known=text)
    except InvalidParameter:
        return INFINITE


def _read_question(fields: Mapping[str, Any]) -> tuple[Fraction, dict[str, str]]:
    """Return the confidence of the intervals, and the plans of several requests.

    A plan of several is each name, a colon, its plan, and an empty line between; in
    version 0.1 the names stand nowhere else.
    """
    pieces = [piece.partition(":\n") for piece in fields["plan"].split("\n\n")]
    plans = {name: plan for name, _, plan in pieces}
    words = fields.get("words")
    if words is None:
        return _BEFORE, plans
    _, arguments = words
    names = [name for name, _ in arguments.get("requests", ())]
    return probability(confidence=arguments["confidence"]), {
        name: plans.get(name, fields["plan"]) for name in names
    }
