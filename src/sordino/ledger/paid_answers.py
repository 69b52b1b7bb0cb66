"""Paid answers, read from the ledger alone: no table, no request, in any version.

What a charge says of its answer is public; the bytes are those that were given back.
"""

import struct
from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

from sordino.budgets.filter_sums import mu_beside_delta
from sordino.errors import AnswerLost, InvalidParameter, InvalidQuery, UnknownName
from sordino.ledger.entries import DATASET, check_name
from sordino.ledger.log import Log
from sordino.ledger.records import Record
from sordino.losses.base import Loss, PureDP
from sordino.losses.closed import ZCDP, ApproxDP, ApproxZCDP, GaussianDP
from sordino.numbers import INFINITE, Extended, distance, probability
from sordino.words import canonical_text

if TYPE_CHECKING:
    from sordino.release.files_answer import FilesAnswer
    from sordino.release.provenance import Provenance
    from sordino.release.release import Release

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
    from sordino.release import recall  # noqa: PLC0415 brings Arrow

    charged = log.newest_about(f"key {check_name(key=key)}")
    answer = None if charged is None else log.answer(charged.number)
    if charged is None or answer is None:
        return None
    files = recall.recall_files(answer)
    return None if files is None else (str(charged.fields["request"]), files)


def read_releases(
    charged: Record, answer: bytes, book: tuple[str, Loss | None] | None = None
) -> "dict[str, Release]":
    """Return what was answered, by name: without a name where one was asked alone.

    `book` is the identity and the promise of a ledger that outlives the process; with
    blocks nothing is promised of all of them together.
    """
    from sordino.release import recall  # noqa: PLC0415 brings Arrow

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
    """Return what was asked, and which record paid for it."""
    from sordino.release.provenance import LedgerRecord, Provenance  # noqa: PLC0415 like recall

    fields = charged.fields
    words = fields.get("words")
    record = None
    if book is not None:
        identity, promise = book
        place = (charged.number, charged.hash, fields["when"])
        record = LedgerRecord(identity, *place, promise)
    return Provenance("" if words is None else canonical_text(words), record=record)


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
