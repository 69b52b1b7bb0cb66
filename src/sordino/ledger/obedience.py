"""What a ledger obeys: the policy it adopted, asked before each charge, under its lock.

adopted (text, signature) ── rules ── claim refused, or counted ── charged (digest, sum)
"""

from bisect import bisect_right
from datetime import UTC, date, datetime
from functools import lru_cache
from typing import Any

from sordino.budgets.charge import Charge
from sordino.errors import InvalidPolicy, PolicyRefusal
from sordino.ledger.entries import DATASET, Claim, check_unicode
from sordino.ledger.log import Log
from sordino.ledger.paid_answers import read_loss
from sordino.ledger.records import Record
from sordino.numbers import INFINITE
from sordino.policy.signed import Policy
from sordino.policy.tally import (
    NONE,
    YEAR,
    DayTally,
    count_recorded,
    count_release,
    counted_since,
    next_day,
    read_counted,
)


def adopt(log: Log, policy: Policy, who: str, when: str) -> None:
    """Obey a policy from now on; the one in force is nothing new."""
    if not policy.is_signed:
        raise InvalidPolicy("the policy", "is not signed", "Read it by Policy.read.")
    recorded = policy_in_force(log)
    if recorded is not None and recorded.sha256 == policy.sha256:
        return
    if recorded is None:
        earlier = sum_before(log, log.head.number, policy)
    else:
        _refuse_older(policy, recorded)
        earlier = earlier_sum(_first_adoption(log))
    fields = {
        "before": earlier.texts(),
        "day": next_day(_newest_day(log), utc_day(when)).isoformat(),
        "officer": policy.officer,
        "serial": policy.rules.serial,
        "sha256": policy.sha256,
        "signature": policy.signature,
        "text": policy.text,
        "when": when,
        "who": check_unicode("who", who),
    }
    log.add("adopted", fields)


def policy_in_force(log: Log) -> Policy | None:
    """Return the policy that a ledger obeys, None if there is none."""
    record = log.newest_about("policy")
    if record is None:
        return None
    policy = policy_of(record)
    if not _is_signed(policy):
        raise log.damage(f"the policy of record {record.number} has no valid signature")
    return policy


def policy_of(record: Record) -> Policy:
    """Return the policy that a record has."""
    fields = record.fields
    return Policy(fields["text"], fields["officer"], fields["signature"])


def counted_part(log: Log, claim: Claim, when: str) -> dict[str, Any] | None:
    """Return what a claim counts under the policy, None without one; or refuse it."""
    policy = policy_in_force(log)
    if policy is None:
        return None
    rules = policy.rules
    usages = claim.usages()
    if not usages:
        raise PolicyRefusal(
            "that a release says what it reads",
            "this claim does not",
            "Ask by a session.",
        )
    rules.refuse(usages, claim.loss, (claim.who, claim.budget))
    counted = count_release(claim.asked, claim.loss, rules.delta)
    if INFINITE in counted.amounts:
        raise PolicyRefusal(
            "that losses are finite", "this one is not", "Ask for noise."
        )
    newest = _newest_tally(log)
    day = next_day(newest.day, utc_day(when))
    counted = counted.shorten(newest.total)
    after = DayTally(day, newest.total.plus(counted))
    if rules.year is not None:
        year = _sum_of_year(log, after)
        rules.year.refuse_sum(counted, year, "366 days in a row")
    if rules.person is not None:
        ever = after.total.plus(earlier_sum(_first_adoption(log)))
        rules.person.refuse_sum(counted, ever, "all releases together")
    return {"sha256": policy.sha256, "counted": counted.texts(), **after.fields()}


def sum_before(log: Log, last: int, policy: Policy) -> Charge:
    """Return what was charged up to a record, before there was a policy."""
    total = NONE
    for record in log.every("charged"):
        if record.number <= last:
            fields = record.fields
            counted = count_recorded(
                fields.get("each") or fields["charges"].get(DATASET, {}),
                read_loss(fields["known"]),
                policy.rules.delta,
            )
            total = total.plus(counted.shorten(total))
    return total


def earlier_sum(adoption: Record) -> Charge:
    """Return what the first adoption says was charged before it."""
    return read_counted(adoption.fields["before"])


def utc_day(when: str) -> date:
    """Return the day of a time, by UTC."""
    return datetime.fromisoformat(when).astimezone(UTC).date()


def _sum_of_year(log: Log, after: DayTally) -> Charge:
    """Return what is counted in the year that ends with a day.

    What was charged before the first policy counts as of the day of that.
    """
    start, first = after.day - YEAR, _first_adoption(log)
    numbers = log.store.numbers("charged")
    counted = bisect_right(numbers, first.number)
    place = bisect_right(
        numbers,
        start,
        lo=counted,
        key=lambda number: _tally_of(log.record(number)).day,
    )
    older = place > counted
    earlier = _tally_of(log.record(numbers[place - 1])).total if older else NONE
    year = counted_since(after.total, earlier)
    adopted = date.fromisoformat(first.fields["day"])
    return year.plus(earlier_sum(first)) if adopted > start else year


def _refuse_older(policy: Policy, recorded: Policy) -> None:
    """Refuse a policy of another officer, and one that is not newer."""
    if policy.officer != recorded.officer:
        raise InvalidPolicy(
            "the policy",
            f"is signed by {policy.officer}, and this ledger obeys {recorded.officer}",
            "Compare the public keys: a ledger has one officer.",
        )
    serial, newest = policy.rules.serial, recorded.rules.serial
    if serial <= newest:
        raise InvalidPolicy(
            "the policy",
            f"has serial = {serial}, and this ledger obeys serial = {newest}",
            "A policy is never taken back: sign one with a greater serial.",
        )


@lru_cache(maxsize=8)
def _is_signed(policy: Policy) -> bool:
    """Say whether a policy is signed; every charge asks."""
    return policy.is_signed


def _first_adoption(log: Log) -> Record:
    """Return the record of the first policy."""
    return next(iter(log.every("adopted")))


def _tally_of(record: Record) -> DayTally:
    """Return what was counted up to a charge."""
    return DayTally.read(record.fields["policy"])


def _newest_tally(log: Log) -> DayTally:
    """Return what was counted so far."""
    newest = log.newest_about("counted")
    day = _newest_day(log)
    assert day is not None  # noqa: S101 asked where there is a policy
    return DayTally(day, NONE if newest is None else _tally_of(newest).total)


def _newest_day(log: Log) -> date | None:
    """Return the day of the newest charge or policy, None before the first policy."""
    adoption, charge = log.newest_about("policy"), log.newest_about("counted")
    if adoption is None:
        return None
    adopted = date.fromisoformat(adoption.fields["day"])
    return adopted if charge is None else max(adopted, _tally_of(charge).day)
