"""The bodies of records: what a charge says, and how it is read again."""

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from sordino.accounting.charge import Charge
from sordino.accounting.entries import DATASET, Claim, Entry, budget_text
from sordino.accounting.limits import Limit
from sordino.accounting.log import Log
from sordino.accounting.records import Record
from sordino.errors import BudgetExceeded, UnknownName

_MOST_WORDS: Final = 2**20
"""Letters of a request that a record holds; of a longer one it has the hash alone."""


def charge_fields(log: Log, claim: Claim, when: str) -> dict[str, Any]:
    """Return the body of a charge, or refuse it: each budget as it stands now."""
    charges: dict[str, dict[str, str]] = {}
    sums: dict[str, dict[str, str]] = {}
    for name in dict.fromkeys((DATASET, claim.budget)):
        charge, after = _charged(log, name, claim)
        charges[name], sums[name] = charge.texts(), after.texts()
    return {
        "asked": budget_text(claim.asked),
        "budget": claim.budget,
        "charges": charges,
        "key": claim.key,
        "known": claim.known,
        "loss": repr(claim.loss),
        "plan": claim.plan,
        "request": claim.request,
        "spent": sums,
        "when": when,
        "who": claim.who,
        "why": claim.why,
        "words": _words(claim.words),
    }


def _words(text: str) -> Any:
    """Return what is kept of a request: all its words, unless they are very many."""
    return json.loads(text) if 0 < len(text) <= _MOST_WORDS else None


def refuse_unknown(log: Log, budget: str) -> Limit:
    """Return the limit of a budget that must be there."""
    limit = log.limit(budget)
    if limit is None:
        raise UnknownName("budget", budget, list(log.limits()))
    return limit


def entry_of(log: Log, record: Record, limits: Mapping[str, Limit]) -> Entry:
    """Return a charge as it is shown."""
    fields = record.fields
    if not set(fields["charges"]) <= set(limits):
        raise log.damaged(f"record {record.number} cannot be")
    return Entry(
        number=record.number,
        when=datetime.fromisoformat(fields["when"]),
        who=fields["who"],
        why=fields["why"],
        key=fields["key"],
        budget=fields["budget"],
        asked=fields["asked"],
        loss=fields["loss"],
        plan=fields["plan"],
        charges={
            name: log.ordered(limits[name], texts)
            for name, texts in fields["charges"].items()
        },
        answered=log.store.newest(f"answer {record.number}") > 0,
    )


def _charged(log: Log, name: str, claim: Claim) -> tuple[Charge, Charge]:
    """Return what one budget is charged, and its sum after that."""
    limit = refuse_unknown(log, name)
    price = limit.rule.price(claim.asked, claim.loss)
    try:
        return limit.rule.charged(log.spent(name, limit), price)
    except BudgetExceeded as error:
        if name == DATASET:
            raise
        raise BudgetExceeded(f"of the budget {name!r}: {error}") from None
