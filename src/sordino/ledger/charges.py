"""Claims and the bodies of records: charge once, answer once.

Each function is one transaction, and adds one record at most.

Kernel: charge.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any, Final

from sordino.errors import AnswerLost, BudgetExceeded, InvalidParameter, InvalidQuery
from sordino.ledger import blocks as block_charges
from sordino.ledger import earmarks, file_format, policy_enforcement, verification
from sordino.ledger.file_format import Record, hash_bytes
from sordino.ledger.log import Log
from sordino.ledger.record_kinds import DATASET, Claim, Entry, Ticket, proof_text
from sordino.losses.budgets.charge import Charge
from sordino.losses.budgets.limits import Headroom, Limit, budget_text
from sordino.losses.loss import Budget, Loss
from sordino.numbers.canonical import FORM

_BEGUN: Final = ("charged", "earmarked", "divided")
"""Kinds of records after which a budget is counted as it is."""
_MOST_WORDS: Final = 2**20
"""Letters of a request that a record holds; of a longer one it has the hash alone."""


def charge_fields(log: Log, claim: Claim, when: str) -> dict[str, Any]:
    """Return the body of a charge, or refuse it: each budget as it stands now."""
    # the policy is read under the same lock as the budget: none comes in between
    obeyed = policy_enforcement.counted_part(log, claim, when)
    charges: dict[str, dict[str, str]] = {}
    sums: dict[str, dict[str, str]] = {}
    chosen: dict[str, Any] = {}
    blocks = _block_fields(log, claim)
    for name in dict.fromkeys((DATASET, claim.budget)):
        if name == DATASET and blocks:
            continue  # nothing is added up over blocks
        limit = log.chargeable(name)
        counted = counted_by(log, name, (claim.asked, claim.loss))
        charge, after = _charge_of(log, name, counted, claim)
        charges[name], sums[name] = charge.texts(), after.texts()
        if counted != limit:
            chosen["limit"] = counted.fields
    fields = (
        blocks
        | chosen
        | {
            "asked": budget_text(claim.asked),
            "budget": claim.budget,
            "charges": charges,
            "key": claim.key,
            "known": claim.loss_texts,
            "loss": repr(claim.loss),
            "plan": claim.plan,
            "request": claim.request,
            "spent": sums,
            "when": when,
            "who": claim.who,
            "why": claim.why,
            "words": _words(claim.words),
            "proof": None if claim.proof is None else claim.proof(),
        }
    )
    if claim.job:
        fields["job"] = claim.job
    if claim.files is not None:
        fields["files"] = claim.files.fields
    if obeyed is not None:
        fields["policy"] = obeyed
    if claim.earmark is None:
        return fields
    left = earmarks.rest_after(log, claim.earmark, claim.budget, charges)
    return fields | {"earmark": claim.earmark, "rest": left}


def remaining_after(log: Log, claim: Claim, when: str) -> Loss:
    """Rest of a budget after a claim and all earmarks; a claim too large is refused."""
    fields = charge_fields(log, claim, when)
    limit = counted_by(log, claim.budget, (claim.asked, claim.loss))
    aside = earmarks.sum_earmarks(log, claim.budget, limit, without=claim.earmark)
    own = fields.get("rest")
    if own is not None:
        aside = aside.plus(log.read_charge(limit, own[claim.budget]))
    if claim.budget in fields["spent"]:
        spent = log.read_charge(limit, fields["spent"][claim.budget])
    else:
        after = [log.read_charge(limit, texts) for *_, texts in fields["blocks"]]
        spent = block_charges.worst_sum(limit, after)
    return limit.rule.remainder(spent.plus(aside))


def _block_fields(log: Log, claim: Claim) -> dict[str, Any]:
    """Blocks of a charge, as its record has them: none in a ledger without blocks."""
    divided = log.store.newest("divided") > 0
    if divided == (claim.blocks is None):
        problem = "has blocks, and each is charged" if divided else "has no blocks"
        raise InvalidParameter(
            "blocks",
            claim.blocks,
            f"does not fit the ledger, which {problem}",
            "Name the blocks that the rows can be of."
            if divided
            else "Leave them out.",
        )
    return block_charges.block_fields(log, claim) if divided else {}


def _words(text: str) -> Any:
    """Words of a request, as the record keeps them, unless they are very many."""
    return json.loads(text) if 0 < len(text) <= _MOST_WORDS else None


def entries_of(log: Log, records: Iterable[Record]) -> Iterator[Entry]:
    """Yield charges as they are shown."""
    limits, names = log.limits(), block_charges.block_names(log)
    for record in records:
        yield entry_of(log, record, limits, names)


def entry_of(
    log: Log, record: Record, limits: Mapping[str, Limit], names: tuple[str, ...]
) -> Entry:
    """Return a charge as it is shown."""
    fields = record.fields
    places = [
        place for place, _ in block_charges.spread_runs(fields.get("blocks") or ())
    ]
    known = set(fields["charges"]) <= set(limits) and DATASET in limits
    if not known or max(places, default=-1) >= len(names):
        raise log.damage(f"record {record.number} does not follow from those before it")
    each = fields.get("each")
    return Entry(
        number=record.number,
        when=datetime.fromisoformat(fields["when"]),
        who=fields["who"],
        why=fields["why"],
        key=fields.get("key"),
        budget=fields["budget"],
        asked=fields["asked"],
        loss=fields["loss"],
        plan=fields["plan"],
        charges={
            name: log.read_charge(limits[name], texts)
            for name, texts in fields["charges"].items()
        },
        answered=log.store.newest(f"answer {record.number}") > 0,
        job=fields.get("job") or "",
        policy=(fields.get("policy") or {}).get("sha256", ""),
        blocks=tuple(names[place] for place in places),
        each=None if each is None else log.read_charge(limits[DATASET], each),
    )


def list_entries(log: Log) -> tuple[Entry, ...]:
    """Return all charges as they are shown, in order."""
    return tuple(entries_of(log, log.every("charged")))


def spent_of(log: Log, budget: str) -> Loss:
    """Loss charged to a budget; with blocks, the largest that one of them has."""
    limit = log.limit_of(budget)
    return limit.rule.loss_of(block_charges.spent_at_most(log, budget, limit))


def rest_of(log: Log, budget: str) -> Loss:
    """Rest of a budget that no earmark holds; with blocks, of every block."""
    limit = log.limit_of(budget)
    if log.is_closed(budget):
        return limit.rule.loss_of(limit.rule.zero)
    return limit.rule.remainder(_add_earmarks(log, budget, limit))


def _add_earmarks(log: Log, budget: str, limit: Limit) -> Charge:
    """Sum of what was charged and of what is set aside."""
    spent = block_charges.spent_at_most(log, budget, limit)
    return spent.plus(earmarks.sum_earmarks(log, budget, limit))


def headroom_of(log: Log, name: str, budget: Budget, loss: Loss) -> Headroom:
    """How many releases of one price fit beside what is spent and set aside."""
    limit, promise = log.limit_of(name), log.first_limit(name).rule.promise
    counted = counted_by(log, name, (budget, loss))
    limit, promise = (
        (limit, promise) if counted == limit else (counted, counted.rule.promise)
    )
    spent = _add_earmarks(log, name, limit)
    room = Headroom.of(promise, limit.rule, spent, (budget, loss))
    if not log.is_closed(name) or room.more is None:
        return room
    return replace(room, more=0, rest=rest_of(log, name))


def find_entry(log: Log, key: str) -> Entry | None:
    """Charge of a key; None: there is no charge."""
    record = log.newest_about(f"key {key}")
    return None if record is None else next(entries_of(log, [record]))


def counted_by(log: Log, name: str, release: tuple[Budget, Loss]) -> Limit:
    """Limit that a release asked for and lost so is charged to.

    The first charge of a ledger may choose how its budget is counted: what cannot be
    added up as it was asked is counted in squares of mu, and so is all that follows.
    """
    limit = log.limit_of(name)
    # a choice after an answer, or beside a part set aside, would be no filter's
    if name != DATASET or any(map(log.store.numbers, _BEGUN)):
        return limit
    budget, known = release[0], release[1].guarantees
    if limit.rule.charge_within(budget, known) is not None:
        return limit
    chosen = limit.by_mu
    if chosen is None or chosen.rule.charge_within(budget, known) is None:
        return limit
    return chosen


def _charge_of(
    log: Log, name: str, limit: Limit, claim: Claim
) -> tuple[Charge, Charge]:
    """Charge to one budget, and its sum after it.

    What is set aside for others is not there to be spent.
    """
    spent = log.sum_of_charges(name, limit)
    # shortened upwards: a sum stays short and is never below what was charged
    charge = limit.rule.charge_for(claim.asked, claim.loss).shorten(spent)
    aside = earmarks.sum_earmarks(log, name, limit, without=claim.earmark)
    try:
        # earmarks count as spent: what is promised to one is not sold to another
        limit.rule.accept(spent.plus(aside), charge)
    except BudgetExceeded as error:
        if name == DATASET:
            raise
        raise BudgetExceeded(f"of the budget {name!r}: {error}") from None
    return charge, spent.plus(charge)


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
    # looked up in the transaction that charges: two processes make one charge of a key
    charged = None if claim.key is None else log.newest_about(f"key {claim.key}")
    if charged is not None:
        return _again(log, identity, (charged, claim), when)
    fields = charge_fields(log, claim, when)
    verification.refuse_unproved(log, fields, claim.blocks or ())
    charge = log.add("charged", fields)
    keyed = claim.key is not None
    return Ticket(identity, charge.number, 1, keyed, **_mark(charge))


def begin(log: Log, claimed: tuple[str, Ticket], when: str) -> None:
    """Take the attempt that is left, or refuse where somebody else has taken it.

    For any charge one ticket at most gets through, and none does after it was lost.
    """
    identity, ticket = claimed
    _refuse_foreign(log, identity, ticket)
    if log.newest_about(f"answer {ticket.number}") is not None:
        raise _answered_refusal(ticket)
    # without a key nobody else can come; the second attempt is leased already
    if not ticket.keyed or ticket.fence > 1:
        return
    charged = log.record(ticket.number).fields
    # two attempts at one charge could tell two noisy answers for the price of one
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
    # first come, first kept: a second answer to one charge is never told
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
    return json.loads(claim.words)[1]["form"] if claim.words else FORM


def _again(
    log: Log, identity: str, charge_and_claim: tuple[Record, Claim], when: str
) -> Ticket:
    """Return the answer that a key has, or the right to compute it once more."""
    charged, claim = charge_and_claim
    # another request under a paid key would be answered for nothing
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
    # recomputed later, it would read blocks that nobody was charged for
    _refuse_other_blocks(log, charged, claim)
    if log.newest_about(f"lease {charged.number}") is not None:
        raise AnswerLost(str(claim.key))
    leased = {"charge": charged.number, "fence": 2, "who": claim.who, "when": when}
    log.add("leased", leased)
    return Ticket(identity, charged.number, 2, True, **_mark(charged))


def _mark(charged: Record) -> dict[str, Any]:
    text = proof_text(charged.fields)
    return {"hash": charged.hash, "when": charged.fields["when"], "proof": text}


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
