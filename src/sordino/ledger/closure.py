"""Budgets that are closed or lowered, and never raised.

Both refuse more than before, so what the first limit promises holds all the same. A
lower limit promises no more: it was chosen after answers were seen.
"""

from sordino.budgets.limits import Limit
from sordino.errors import InvalidParameter
from sordino.ledger import earmarks
from sordino.ledger.entries import Told
from sordino.ledger.log import Log


def close(log: Log, name: str, told: Told, when: str) -> None:
    """Let nothing more be charged to a budget; what was charged stays."""
    log.required(name)
    if not log.closed(name):
        log.add("closed", {"budget": name} | told.fields(when))


def lower(log: Log, name: str, given: Limit, told: Told, when: str) -> None:
    """Lower a limit, to no less than what was charged and set aside."""
    known = log.chargeable(name)
    if given == known:
        return
    if not below(given, known):
        raise InvalidParameter(
            "limit",
            given.stated,
            f"must be counted like {known.stated}, and be no more in anything",
            "A limit is never raised: give smaller numbers of the same kind.",
        )
    total = log.spent(name, known).plus(earmarks.held(log, name, known))
    if not given.rule.holds(total):
        raise InvalidParameter(
            "limit",
            given.stated,
            f"is below what was charged and set aside, {given.rule.stated(total)!r}",
            "Close the budget instead, or free what is set aside.",
        )
    log.add("lowered", {"budget": name, "limit": given.written} | told.fields(when))


def below(one: Limit, other: Limit) -> bool:
    """Say whether a limit allows nothing that another does not.

    For any sum: the rule is the same, and each number of it bounds a sum from above.
    """
    if one.rule.rule != other.rule.rule:
        return False
    ours, theirs = one.rule.limits, other.rule.limits
    return all(ours[name] <= theirs[name] for name in theirs)
