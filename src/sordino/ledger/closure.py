"""Budgets that are closed or lowered, and never raised.

Both refuse more than before, so what the first limit promises holds all the same. A
lower limit promises no more: it was chosen after answers were seen.
"""

from sordino.budgets.limits import Limit
from sordino.errors import InvalidParameter
from sordino.ledger import block_charges, earmarks
from sordino.ledger.entries import Remark
from sordino.ledger.log import Log


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
    total = block_charges.spent_at_most(log, name, recorded).plus(
        earmarks.sum_earmarks(log, name, recorded)
    )
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
    return all(ours[name] <= theirs[name] for name in theirs)
