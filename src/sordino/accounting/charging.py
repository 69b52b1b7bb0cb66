"""What a ledger does with a claim: charge it once, answer it once.

Each function is one transaction, and adds one record at most.
"""

from sordino.accounting.entries import Claim, Ticket
from sordino.accounting.limits import Limit
from sordino.accounting.log import Log
from sordino.accounting.records import Record, digest
from sordino.accounting.writing import charge_fields
from sordino.errors import AnswerLost, InvalidParameter, InvalidQuery


def allot(log: Log, name: str, given: Limit, when: str) -> None:
    """Give a name a limit, unless it has this one."""
    known = log.limit(name)
    if known is None:
        log.add("budget", {"budget": name, "limit": given.written, "when": when})
    elif known.stated != given.stated:
        raise InvalidParameter(
            "limit",
            given.stated,
            f"differs from that of {name!r}, {known.stated}",
            "Use the recorded one, or another name.",
        )


def reserve(log: Log, identity: str, claim: Claim, when: str) -> Ticket:
    """Charge a claim, or return what its key has."""
    known = None if claim.key is None else log.about(f"key {claim.key}")
    if known is not None:
        return _again(log, identity, (known, claim), when)
    charged = log.add("charged", charge_fields(log, claim, when))
    return Ticket(identity, charged.number, 1, claim.key is not None)


def store(log: Log, identity: str, told: tuple[Ticket, bytes], when: str) -> bytes:
    """Store the answer of a ticket, or return the one that is there."""
    ticket, answer = told
    _refuse_foreign(log, identity, ticket)
    committed = log.answer(ticket.number)
    if committed is not None:
        return committed
    fields = {
        "charge": ticket.number,
        "fence": ticket.fence,
        "sha256": digest(answer),
        "size": len(answer),
        "when": when,
    }
    log.add("answered", fields, answer, lasting=ticket.keyed)
    return answer


def _again(log: Log, identity: str, asked: tuple[Record, Claim], when: str) -> Ticket:
    """Return the answer that a key has, or the right to compute it once more."""
    known, claim = asked
    same = known.fields["request"] == claim.request
    if not same or known.fields["budget"] != claim.budget:
        raise InvalidQuery(
            f"the key {claim.key!r} belongs to another request",
            "Choose another key",
        )
    answer = log.answer(known.number)
    if answer is not None:
        return Ticket(identity, known.number, 1, True, answer)
    if log.about(f"lease {known.number}") is not None:
        raise AnswerLost(str(claim.key))
    leased = {"charge": known.number, "fence": 2, "who": claim.who, "when": when}
    log.add("leased", leased)
    return Ticket(identity, known.number, 2, True)


def _refuse_foreign(log: Log, identity: str, ticket: Ticket) -> None:
    """Refuse a ticket that this ledger did not give."""
    there = ticket.ledger == identity and 1 <= ticket.number <= log.head.number
    charged = log.record(ticket.number) if there else None
    if (
        charged is None
        or charged.kind != "charged"
        or ticket.keyed != (charged.fields["key"] is not None)
    ):
        raise InvalidParameter(
            "ticket", ticket, "is of another ledger", "Reserve it here first."
        )
