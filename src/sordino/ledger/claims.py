"""What a ledger does with a claim: charge it once, answer it once.

Each function is one transaction, and adds one record at most.
"""

import json
from typing import Any

from sordino.budgets.limits import Limit
from sordino.errors import AnswerLost, InvalidParameter, InvalidQuery
from sordino.ledger import block_charges, file_format
from sordino.ledger.charge_records import charge_fields
from sordino.ledger.entries import Claim, Ticket
from sordino.ledger.log import Log
from sordino.ledger.records import Record, hash_bytes
from sordino.words import FORM


def allot(log: Log, name: str, limit: Limit, when: str) -> None:
    """Give a name a limit, unless it has this one."""
    recorded = log.limit(name)
    if recorded is None:
        log.add("budget", {"budget": name, "limit": limit.fields, "when": when})
    elif (first := log.first_limit(name).stated) != limit.stated:
        raise InvalidParameter(
            "limit",
            limit.stated,
            f"differs from the recorded limit of {name!r}, {first}",
            "Give the recorded limit, or choose another name.",
        )


def reserve(log: Log, identity: str, claim: Claim, when: str) -> Ticket:
    """Charge a claim, or return what its key has."""
    charged = None if claim.key is None else log.newest_about(f"key {claim.key}")
    if charged is not None:
        return _again(log, identity, (charged, claim), when)
    charge = log.add("charged", charge_fields(log, claim, when))
    keyed = claim.key is not None
    return Ticket(identity, charge.number, 1, keyed, hash=charge.hash, when=when)


def begin(log: Log, claimed: tuple[str, Ticket], when: str) -> None:
    """Take the attempt that is left, or refuse where somebody else has taken it.

    For any charge one ticket at most gets through, and none does after it was lost.
    """
    identity, ticket = claimed
    _refuse_foreign(log, identity, ticket)
    if log.newest_about(f"answer {ticket.number}") is not None:
        raise _answered_refusal(ticket)
    if not ticket.keyed or ticket.fence > 1:
        return
    charged = log.record(ticket.number).fields
    if log.newest_about(f"lease {ticket.number}") is not None:
        raise AnswerLost(str(charged.get("key")))
    leased = {"charge": ticket.number, "fence": 2, "who": charged["who"], "when": when}
    log.add("leased", leased)


def store(log: Log, identity: str, answered: tuple[Ticket, bytes], when: str) -> bytes:
    """Store the answer of a ticket, or return the one that is there."""
    ticket, answer = answered
    _refuse_foreign(log, identity, ticket)
    stored = log.newest_about(f"answer {ticket.number}")
    if stored is not None and not ticket.keyed:
        return _once(stored, ticket, answer)
    committed = log.answer(ticket.number)
    if committed is not None:
        return committed
    fields = {
        "charge": ticket.number,
        "fence": ticket.fence,
        "sha256": hash_bytes(answer),
        "size": len(answer),
        "when": when,
    }
    # nobody can ask for an answer without a key: what is kept of it is its hash
    log.add("answered", fields, answer if ticket.keyed else b"", lasting=ticket.keyed)
    return answer


def refuse_large_answer(answer: Any) -> None:
    """Refuse an answer that is too large for a ledger, or no bytes."""
    if not isinstance(answer, bytes) or len(answer) > file_format.LARGEST:
        raise InvalidParameter(
            "answer",
            type(answer),
            f"must be at most {file_format.LARGEST} bytes",
            "Ask for fewer groups at once; what was charged stays charged.",
        )


def _once(stored: Record, ticket: Ticket, answer: bytes) -> bytes:
    """Return an answer without a key that is stored again; another is refused."""
    if hash_bytes(answer) != stored.fields["sha256"]:
        raise _answered_refusal(ticket)
    return answer


def _answered_refusal(ticket: Ticket) -> InvalidParameter:
    """Return the refusal of a ticket that has its answer."""
    return InvalidParameter(
        "ticket",
        ticket,
        "was already answered",
        "Reserve a release for each answer.",
    )


def _form(charged: Record) -> Any:
    """Return the form in which a charge holds its request; None in version 0.1."""
    if "words" not in charged.fields:
        return None
    words = charged.fields["words"]
    return FORM if words is None else words[1]["form"]


def _form_of(claim: Claim) -> Any:
    """Return the form in which a claim holds its request."""
    return json.loads(claim.words)[1]["form"] if claim.words else FORM


def _again(
    log: Log, identity: str, charge_and_claim: tuple[Record, Claim], when: str
) -> Ticket:
    """Return the answer that a key has, or the right to compute it once more."""
    charged, claim = charge_and_claim
    same = charged.fields["request"] == claim.request
    if not same and _form(charged) != _form_of(claim):
        raise InvalidQuery(
            f"the key {claim.key!r} was used by another version, which wrote requests "
            "down in another form: whether it is of this one cannot be told",
            f"Read its answer by ledger.answer({claim.key!r}), or choose another key",
        )
    if not same or charged.fields["budget"] != claim.budget:
        raise InvalidQuery(
            f"the key {claim.key!r} belongs to another request",
            "Choose another key",
        )
    answer = log.answer(charged.number)
    if answer is not None:
        return Ticket(identity, charged.number, 1, True, answer, **_mark(charged))
    _refuse_other_blocks(log, charged, claim)
    if log.newest_about(f"lease {charged.number}") is not None:
        raise AnswerLost(str(claim.key))
    leased = {"charge": charged.number, "fence": 2, "who": claim.who, "when": when}
    log.add("leased", leased)
    return Ticket(identity, charged.number, 2, True, **_mark(charged))


def _mark(charged: Record) -> dict[str, Any]:
    """Return what a ticket says of the record of its charge."""
    return {"hash": charged.hash, "when": charged.fields["when"]}


def _refuse_other_blocks(log: Log, charged: Record, claim: Claim) -> None:
    """Refuse to compute a lost answer of other blocks than those that were charged."""
    runs = charged.fields.get("blocks")
    paid = [place for place, _ in block_charges.spread_runs(runs or ())]
    if paid != block_charges.places_of(log, claim.blocks or ()):
        raise InvalidQuery(
            f"the answer of the key {claim.key!r} was lost, and computed now it would "
            "be of other blocks than it was charged for",
            "Choose another key, or ask for the same blocks by a filter.",
        )


def _refuse_foreign(log: Log, identity: str, ticket: Ticket) -> None:
    """Refuse a ticket that this ledger did not give."""
    there = ticket.ledger == identity and 1 <= ticket.number <= log.head.number
    charged = log.record(ticket.number) if there else None
    if (
        charged is None
        or charged.kind != "charged"
        or ticket.keyed != (charged.fields.get("key") is not None)
    ):
        raise InvalidParameter(
            "ticket",
            ticket,
            "belongs to another ledger",
            "Reserve the release in this ledger first.",
        )
