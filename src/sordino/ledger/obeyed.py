"""Whether every charge of a ledger was counted under the policy that was in force."""

from bisect import bisect_right
from datetime import date
from typing import TYPE_CHECKING, Any, final

from sordino.errors import InvalidPolicy
from sordino.ledger.log import Log
from sordino.ledger.obedience import earlier_sum, policy_of, sum_before, utc_day
from sordino.ledger.records import Record
from sordino.policy.tally import (
    NONE,
    YEAR,
    DayTally,
    counted_since,
    next_day,
    read_counted,
)

if TYPE_CHECKING:
    from sordino.policy.signed import Policy


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
