"""A ledger obeys the policy it adopted, asked before each charge, under its lock.

adopted (text, signature) ── rules ── claim refused, or counted ── charged (digest, sum)

Kernel: charge.
"""

from abc import ABC, abstractmethod
from bisect import bisect_right
from datetime import UTC, date, datetime
from functools import lru_cache
from pathlib import Path
from tempfile import gettempdir
from typing import TYPE_CHECKING, Any, final

from sordino.errors import InvalidPolicy, PolicyRefusal
from sordino.ledger import answers
from sordino.ledger.answers import FileFacts, Publication, read_loss
from sordino.ledger.file_format import Record
from sordino.ledger.log import Handle, Log
from sordino.ledger.policy_file import Policy
from sordino.ledger.policy_rules import (
    NONE,
    YEAR,
    DayTally,
    count_recorded,
    count_release,
    counted_since,
    next_day,
    read_counted,
)
from sordino.ledger.record_kinds import DATASET, Claim, check_unicode
from sordino.losses.budgets.charge import Charge
from sordino.numbers import INFINITE

if TYPE_CHECKING:
    from sordino.release.released_files import FilesAnswer


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
    """Policy in force; None: the ledger has no policy."""
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
    """Fields by which the policy counts a claim; None without a policy."""
    policy = policy_in_force(log)
    if policy is None:
        return None
    rules = policy.rules
    # what is not said cannot be held against a rule: so nothing said is refused
    usages = claim.usages()
    if not usages:
        raise PolicyRefusal(
            "that a release says what it reads",
            "this claim does not",
            "Ask by a session.",
        )
    rules.refuse(usages, claim.loss, (claim.who, claim.budget))
    counted = count_release(claim.asked, claim.loss, rules.delta)
    # an infinite sum would forbid every later release for ever
    if INFINITE in counted.amounts:
        raise PolicyRefusal(
            "that losses are finite", "this one is not", "Ask for noise."
        )
    newest = _newest_tally(log)
    day = next_day(newest.day, utc_day(when))
    # upwards, so that the year's sum is never below what was lost
    counted = counted.shorten(newest.total)
    after = DayTally(day, newest.total.plus(counted))
    if rules.year is not None:
        year = _sum_of_year(log, after)
        rules.year.refuse_sum(counted, year, "366 days in a row")
    if rules.person is not None:
        # what people lost before the first policy, they have lost
        ever = after.total.plus(earlier_sum(_first_adoption(log)))
        rules.person.refuse_sum(counted, ever, "all releases together")
    return {"sha256": policy.sha256, "counted": counted.texts(), **after.fields()}


def sum_before(log: Log, last: int, policy: Policy) -> Charge:
    """Charges up to a record, before there was a policy."""
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
    """Charges before the first policy, as its adoption recorded them."""
    return read_counted(adoption.fields["before"])


def utc_day(when: str) -> date:
    """Return the day of a time, by UTC."""
    return datetime.fromisoformat(when).astimezone(UTC).date()


def _sum_of_year(log: Log, after: DayTally) -> Charge:
    """Sum of the year that ends with a day.

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
    # else anybody with a key of his own could loosen the rules
    if policy.officer != recorded.officer:
        raise InvalidPolicy(
            "the policy",
            f"is signed by {policy.officer}, and this ledger obeys {recorded.officer}",
            "Compare the public keys: a ledger has one officer.",
        )
    serial, newest = policy.rules.serial, recorded.rules.serial
    # an older, looser policy is signed as well: it must not come back
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
    return next(iter(log.every("adopted")))


def _tally_of(record: Record) -> DayTally:
    return DayTally.read(record.fields["policy"])


def _newest_tally(log: Log) -> DayTally:
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


class AbstractKeeping(ABC):
    """A ledger, as far as it keeps what is not charged."""

    _guarded: Handle
    identity: str

    def adopt(self, path: Any, *, who: str = "") -> Policy:
        """Obey the policy in a file from now on, and return it.

        It must be signed, in the file beside it; after the first one by the same
        officer, with a greater serial. Nothing is ever charged without it again.
        """
        policy = Policy.read(path)
        self.obey(policy, who=who)
        return policy

    def obey(self, policy: Policy, *, who: str = "") -> None:
        """Obey a policy that was read."""
        self._guarded.use(lambda log: adopt(log, policy, who, self._when(log)))

    @property
    def obeys(self) -> bool:
        """Say whether this handle has met a policy; a charge looks for one anew."""
        return self._guarded.knows("policy")

    def policy(self) -> Policy | None:
        """Policy that every charge obeys; None: the ledger has no policy."""
        return self._guarded.use(policy_in_force)

    def describe(self, text: str, *, who: str = "") -> str:
        """Record the text that releases are made by, such as a job file, once.

        Returns its SHA-256, which charges name (`Claim.job`, `sd.Session(job=...)`).
        """
        return self._guarded.use(
            lambda log: answers.describe(log, text, who, self._when(log))
        )

    def description(self, sha256: str) -> str:
        """Return the text that was recorded by `describe`."""
        return self._guarded.use(lambda log: answers.find_description(log, sha256))

    def publish(self, key: str, path: Any, *, who: str = "") -> None:
        """Record that a file was made of the answer of a key, by the file's SHA-256."""
        facts = FileFacts.of(path)
        self._guarded.use(
            lambda log: answers.publish(log, key, facts, who, self._when(log))
        )

    def publish_of(self, charge: int, file: FileFacts, *, who: str = "") -> None:
        """Do the same of the answer of a charge, which may have no key."""
        self._guarded.use(
            lambda log: answers.publish_of(log, charge, file, who, self._when(log))
        )

    def files_of(self, key: str) -> "tuple[str, FilesAnswer] | None":
        """Return the files that a key has, if it has some, and their request's hash."""
        return self._guarded.use(lambda log: answers.find_key_files(log, key))

    def folder_beside(self, charge: int) -> Path:
        """Return where the answer of a charge lies if it is too large to be kept.

        Beside the ledger, or where temporary files lie if that ends with the process.
        """
        if self._guarded.durable:
            ledger = Path(self._guarded.title).absolute()
            return Path(f"{ledger}-answer-{charge}-{self.identity[:8]}")
        return Path(gettempdir(), f"sordino-answer-{charge}-{self.identity}")

    def publication(self, path: Any) -> Publication | None:
        """Publication of a file; None: no file of this content was published.

        A file of which one bit was changed is another file.
        """
        facts = FileFacts.of(path)
        return self._guarded.use(lambda log: answers.find_publication(log, facts))

    @abstractmethod
    def _when(self, log: Log) -> str:
        """Return the time as it is recorded."""


@final
class PolicyWalk:
    """What was adopted and counted so far on the way through the records."""

    def __init__(self, log: Log) -> None:
        """Begin where nothing is obeyed."""
        self.log = log
        self.policy: Policy | None = None
        self.first: Record | None = None
        self.tallies: list[DayTally] = []
        self.day: date | None = None

    def adoption(self, record: Record, fields: dict[str, Any]) -> bool:
        """Say whether a policy is signed, newer, and of the one officer."""
        policy, earlier = policy_of(record), self.policy
        try:
            serial = policy.rules.serial
        except InvalidPolicy:
            return False
        sound = policy.is_signed and serial == fields["serial"]
        if earlier is None:
            self.first = record
            was = sum_before(self.log, record.number, policy)
        else:
            was = earlier_sum(self.first or record)
            sound = sound and policy.officer == earlier.officer
            sound = sound and serial > earlier.rules.serial
        self.policy = policy
        return sound and earlier_sum(record) == was and self._follows(fields, fields)

    def charge(self, fields: dict[str, Any]) -> bool:
        """Say whether a charge was counted, and within the sums of the policy."""
        part = fields.get("policy")
        if self.policy is None or self.first is None or part is None:
            return part is None and self.policy is None
        total = self.tallies[-1].total if self.tallies else NONE
        tally = DayTally.read(part)
        sound = part["sha256"] == self.policy.sha256
        sound = sound and tally.total == total.plus(read_counted(part["counted"]))
        sound = sound and self._follows(part, fields)
        self.tallies.append(tally)
        return sound and self._is_within(tally, self.first)

    def _follows(self, part: dict[str, Any], fields: dict[str, Any]) -> bool:
        """Say whether a day is that of the clock, or the newest one before it."""
        day = next_day(self.day, utc_day(fields["when"]))
        self.day = day
        is_right: bool = part["day"] == day.isoformat()
        return is_right

    def _is_within(self, tally: DayTally, first: Record) -> bool:
        """Say whether what one person may lose is within the rules."""
        assert self.policy is not None  # noqa: S101 asked where there is one
        rules, start = self.policy.rules, tally.day - YEAR
        place = bisect_right(self.tallies, start, key=lambda each: each.day)
        year = counted_since(
            tally.total, self.tallies[place - 1].total if place else NONE
        )
        if date.fromisoformat(first.fields["day"]) > start:
            year = year.plus(earlier_sum(first))
        ever = tally.total.plus(earlier_sum(first))
        sums = ((rules.year, year), (rules.person, ever))
        return all(most is None or most.holds(total) for most, total in sums)
