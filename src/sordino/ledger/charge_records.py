"""The bodies of records: what a charge says, and how it is read again."""

import json
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any, Final

from sordino.budgets.budget_text import budget_text
from sordino.budgets.charge import Charge
from sordino.budgets.limits import Limit
from sordino.errors import BudgetExceeded, InvalidParameter
from sordino.ledger import block_charges, earmarks, obedience
from sordino.ledger.entries import DATASET, Claim, Entry
from sordino.ledger.log import Log
from sordino.ledger.records import Record
from sordino.losses.base import Loss

_MOST_WORDS: Final = 2**20
"""Letters of a request that a record holds; of a longer one it has the hash alone."""


def charge_fields(log: Log, claim: Claim, when: str) -> dict[str, Any]:
    """Return the body of a charge, or refuse it: each budget as it stands now."""
    obeyed = obedience.counted_part(log, claim, when)
    charges: dict[str, dict[str, str]] = {}
    sums: dict[str, dict[str, str]] = {}
    blocks = _block_fields(log, claim)
    for name in dict.fromkeys((DATASET, claim.budget)):
        if name == DATASET and blocks:
            continue  # nothing is added up over blocks
        charge, after = _charge_of(log, name, claim)
        charges[name], sums[name] = charge.texts(), after.texts()
    fields = blocks | {
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
    }
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
    """Return what would be left of a budget beside what is set aside, or refuse."""
    fields, limit = charge_fields(log, claim, when), log.chargeable(claim.budget)
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
    """Return what a charge says of blocks: nothing, in a ledger without any."""
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
    """Return what is kept of a request: all its words, unless they are very many."""
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
    """Return what was charged to a budget; of blocks, at most to any of them."""
    limit = log.limit_of(budget)
    return limit.rule.loss_of(block_charges.spent_at_most(log, budget, limit))


def rest_of(log: Log, budget: str) -> Loss:
    """Return what is left of a budget beside what is set aside, in every block."""
    limit = log.limit_of(budget)
    if log.is_closed(budget):
        return limit.rule.loss_of(limit.rule.zero)
    spent = block_charges.spent_at_most(log, budget, limit)
    return limit.rule.remainder(spent.plus(earmarks.sum_earmarks(log, budget, limit)))


def find_entry(log: Log, key: str) -> Entry | None:
    """Return the charge of a key, None if there is none."""
    record = log.newest_about(f"key {key}")
    return None if record is None else next(entries_of(log, [record]))


def _charge_of(log: Log, name: str, claim: Claim) -> tuple[Charge, Charge]:
    """Return what one budget is charged, and its sum after that.

    What is set aside for others is not there to be spent.
    """
    limit = log.chargeable(name)
    spent = log.sum_of_charges(name, limit)
    charge = limit.rule.charge_for(claim.asked, claim.loss).shorten(spent)
    aside = earmarks.sum_earmarks(log, name, limit, without=claim.earmark)
    try:
        limit.rule.accept(spent.plus(aside), charge)
    except BudgetExceeded as error:
        if name == DATASET:
            raise
        raise BudgetExceeded(f"of the budget {name!r}: {error}") from None
    return charge, spent.plus(charge)
