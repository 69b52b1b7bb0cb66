"""Parts of a budget set aside; budgets closed or lowered.

What is set aside counts as if it were spent, except for the releases that it is for. So
for any history, what was charged and what is set aside are together within the limit,
and what was charged is (docs/proofs/filters.md, section 8).

Both refuse more than before, so what the first limit promises holds all the same. A
lower limit promises no more: it was chosen after answers were seen.

Kernel: charge.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import starmap
from typing import Any, Final, final

from sordino.errors import BudgetExceeded, InvalidParameter, UnknownName
from sordino.ledger import blocks
from sordino.ledger.file_format import Record
from sordino.ledger.log import Log
from sordino.ledger.record_kinds import DATASET, Remark, check_name
from sordino.losses.budgets.charge import GRID, LONGEST, Amount, Charge
from sordino.losses.budgets.limits import Limit, budget_text
from sordino.losses.loss import Loss
from sordino.numbers import INFINITE

_MOST: Final = 100
"""How many may be open at a time: a charge looks at each of them."""


@final
@dataclass(frozen=True)
class Earmark:
    """A part of a budget that is set aside, and what is left of it."""

    name: str
    budget: str
    asked: str
    """What was set aside, in words."""
    left: Loss
    """In the terms of the dataset's limit."""


def earmark(
    log: Log, name: str, part: tuple[Any, str], remark: Remark, when: str
) -> None:
    """Set so much of a budget aside; the same once more changes nothing."""
    amount, budget = part
    if not isinstance(amount, Loss):
        raise InvalidParameter(
            "amount", amount, "must be a loss", "Try sd.PureDP('0.1')."
        )
    stated = budget_text(amount)
    if log.newest_about("divided") is not None:
        raise InvalidParameter(
            "name",
            name,
            "cannot be an earmark: the ledger has blocks, and what is set aside would "
            "have to be of some of them",
            "Leave it out: each block has a budget of its own.",
        )
    if _is_known(log, check_name(name=name), (stated, budget)):
        return
    names = _open(log)
    if len(names) >= _MOST:
        raise InvalidParameter(
            "name",
            name,
            f"cannot be added: {_MOST} earmarks are open, the most that may be",
            "Free one of them first.",
        )
    rests = {}
    for budget_name in dict.fromkeys((DATASET, budget)):
        limit = log.chargeable(budget_name)
        charge = limit.rule.charge_for(amount, amount).shorten(limit.rule.zero)
        total = log.sum_of_charges(budget_name, limit).plus(
            sum_earmarks(log, budget_name, limit)
        )
        limit.rule.accept(total, charge)  # refuses what does not fit
        rests[budget_name] = charge.texts()
    fields = {"asked": stated, "budget": budget, "earmark": name, "rest": rests}
    log.add("earmarked", fields | remark.fields(when) | {"open": [*names, name]})


def free_earmark(log: Log, name: str, remark: Remark, when: str) -> None:
    """Give back what is left of an earmark."""
    names = _open(log)
    if name not in names:
        raise UnknownName("earmark", name, names)
    left = [other for other in names if other != name]
    log.add("freed", {"earmark": name, "open": left} | remark.fields(when))


def sum_earmarks(
    log: Log, budget: str, limit: Limit, without: str | None = None
) -> Charge:
    """Sum of the earmarks of a budget, except one."""
    total = limit.rule.zero
    for record in _newest(log):
        fields = record.fields
        # of a name's earmark the dataset's part counts as well: both budgets hold it
        counted = fields["earmark"] != without and budget in fields["rest"]
        if counted and not log.is_closed(fields["budget"]):
            total = total.plus(log.read_charge(limit, fields["rest"][budget]))
    return total


def rest_after(
    log: Log, name: str, budget: str, charges: Mapping[str, Mapping[str, str]]
) -> dict[str, dict[str, str]]:
    """Rest of an earmark after a charge to it; a charge too large is refused."""
    record = log.newest_about(f"earmark {name}")
    if record is None or name not in _open(log):
        raise UnknownName("earmark", name, _open(log))
    fields = record.fields
    if fields["budget"] != budget:
        raise InvalidParameter(
            "earmark",
            name,
            f"belongs to the budget {fields['budget']!r}, not to {budget!r}",
            "Ask in a session of that budget.",
        )
    left = {}
    for budget_name, texts in charges.items():
        limit = log.limit_of(budget_name)
        rest = log.read_charge(limit, fields["rest"][budget_name])
        left[budget_name] = _take_from(
            limit, rest, log.read_charge(limit, texts)
        ).texts()
    return left


def list_earmarks(log: Log) -> tuple[Earmark, ...]:
    """All earmarks, in the order in which they were made."""
    limit = log.limit_of(DATASET)
    stated = {
        record.fields["earmark"]: record.fields["asked"]
        for record in log.every("earmarked")
    }
    earmarks = []
    for newest in _newest(log):
        fields = newest.fields
        if not log.is_closed(fields["budget"]):
            left = limit.rule.loss_of(log.read_charge(limit, fields["rest"][DATASET]))
            name = fields["earmark"]
            earmarks.append(Earmark(name, fields["budget"], stated.get(name, ""), left))
    return tuple(earmarks)


def _take_from(limit: Limit, rest: Charge, charge: Charge) -> Charge:
    pairs = list(zip(rest.amounts, charge.amounts, strict=True))
    # every coordinate: one that passes its part would be taken from what is left for
    # others
    if any(amount > left for left, amount in pairs):
        stated = limit.rule.loss_of
        raise BudgetExceeded(
            f"this costs {stated(charge)!r}, and {stated(rest)!r} is left of what was "
            "set aside. Ask for less, or without the earmark; nothing was charged."
        )
    return Charge(rest.coordinates, tuple(starmap(_less, pairs)))


def _is_known(log: Log, name: str, part: tuple[str, str]) -> bool:
    """Say whether this is set aside already; a name that was used is refused."""
    for record in log.every("earmarked"):
        fields = record.fields
        if fields["earmark"] != name:
            continue
        if name in _open(log) and (fields["asked"], fields["budget"]) == part:
            return True
        raise InvalidParameter(
            "name", name, "was used for another earmark", "Choose another name."
        )
    return False


def _open(log: Log) -> list[str]:
    """Return the names of what is set aside and was not given back."""
    record = log.newest_about("earmarks")
    names: list[str] = [] if record is None else record.fields["open"]
    return names


def _newest(log: Log) -> Iterator[Record]:
    """Yield the newest record about each of them: it says what is left."""
    for name in _open(log):
        record = log.newest_about(f"earmark {name}")
        if record is not None:
            yield record


def _less(left: Amount, amount: Amount) -> Amount:
    """Return a difference, rounded down where it would grow long."""
    if left is INFINITE:
        return INFINITE
    rest = left - Fraction(amount)
    if rest.denominator.bit_length() <= LONGEST:
        return rest
    # down: what is left may be told too small, never too large
    return Fraction(math.floor(rest * GRID), GRID)


def close_for_ever(log: Log, name: str, remark: Remark, when: str) -> None:
    """Let nothing more be charged to a budget; what was charged stays."""
    log.limit_of(name)
    if not log.is_closed(name):
        log.add("closed", {"budget": name} | remark.fields(when))


def lower_limit(log: Log, name: str, limit: Limit, remark: Remark, when: str) -> None:
    """Lower a limit, to no less than what was charged and set aside."""
    recorded = log.chargeable(name)
    if limit == recorded:
        return
    if not is_below(limit, recorded):
        raise InvalidParameter(
            "limit",
            limit.stated,
            f"must be of the same kind as {recorded.stated} and not above it",
            "Limits are never raised: give smaller numbers of the same kind.",
        )
    total = blocks.spent_at_most(log, name, recorded).plus(
        sum_earmarks(log, name, recorded)
    )
    # below what is spent, a limit would promise what was broken already
    if not limit.rule.holds(total):
        raise InvalidParameter(
            "limit",
            limit.stated,
            f"is below what was charged and set aside, {limit.rule.loss_of(total)!r}",
            "Close the budget instead, or free what is set aside.",
        )
    log.add("lowered", {"budget": name, "limit": limit.fields} | remark.fields(when))


def is_below(lower: Limit, upper: Limit) -> bool:
    """Say whether a limit allows nothing that another does not.

    For any sum: the rule is the same, and each number of it bounds a sum from above.
    """
    if lower.rule.rule != upper.rule.rule:
        return False
    ours, theirs = lower.rule.limits, upper.rule.limits
    # coordinate by coordinate: a larger delta for a smaller epsilon is no lower limit
    return all(ours[name] <= theirs[name] for name in theirs)
