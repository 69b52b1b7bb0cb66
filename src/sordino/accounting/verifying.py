"""Whether a ledger is what was written: its newest record, or all of it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, final

from sordino.accounting.entries import DATASET
from sordino.accounting.ledger_schema import VERSION
from sordino.accounting.limits import Limit
from sordino.accounting.log import Log, ordered
from sordino.accounting.records import Record

if TYPE_CHECKING:
    from sordino.accounting.charge import Charge


@final
@dataclass(frozen=True)
class Verified:
    """What was found to be whole."""

    records: int
    releases: int
    answers: int
    head: str
    """The hash of the newest record: written down elsewhere, it proves them all."""


def checked_head(log: Log) -> None:
    """Refuse a ledger whose ends do not meet.

    The first and the newest record are held against their hashes, the newest against
    the head, their number against the count, and the sums against the limits.
    """
    number, newest = log.head()
    last = log.record("number = ?", number)
    if last is None or last.hash != newest:
        raise log.damaged("its newest record is not the one that was written last")
    (count,) = log.connection.execute("SELECT count(*) FROM records").fetchone()
    if count != number:
        raise log.damaged(f"it has {count} of its {number} records")
    if log.opened().fields["format"] != VERSION:
        raise log.damaged("its first record is of another format")
    if log.limit(DATASET) is None:
        raise log.damaged("it has no limit")
    for name, limit in log.limits().items():
        if not limit.rule.holds(log.spent(name, limit)):
            raise log.damaged(f"more than the limit of {name!r} was charged")


def walked(log: Log) -> Verified:
    """Hold every record and every answer against what it follows from."""
    checked_head(log)
    verdict = log.connection.execute("PRAGMA integrity_check").fetchone()
    if verdict != ("ok",):
        raise log.damaged("its pages are not what was written")
    walk = _Walk(log)
    previous, number = "", 0
    for record in log.records("1 ORDER BY number"):
        number += 1
        if (record.number, record.previous) != (number, previous):
            raise log.damaged(f"record {record.number} does not follow")
        walk.check(record)
        previous = record.hash
    (stored,) = log.connection.execute("SELECT count(*) FROM answers").fetchone()
    if (number, stored) != (log.head()[0], len(walk.answered)):
        raise log.damaged("records and answers do not match")
    return Verified(number, len(walk.charged), stored, previous)


@final
class _Walk:
    """What was seen so far on the way through the records."""

    def __init__(self, log: Log) -> None:
        self.log = log
        self.limits: dict[str, Limit] = {}
        self.sums: dict[str, Charge] = {}
        self.charged: set[int] = set()
        self.keys: set[str] = set()
        self.leased: set[int] = set()
        self.answered: set[int] = set()

    def check(self, record: Record) -> None:
        """Check one record by its kind."""
        if not _CHECKS[record.kind](self, record, record.fields):
            raise self.log.damaged(f"record {record.number} cannot be")

    def opened(self, record: Record, fields: dict[str, Any]) -> bool:
        """Say whether this is the first."""
        return record.number == 1 and fields["format"] == VERSION

    def budget(self, record: Record, fields: dict[str, Any]) -> bool:
        """Say whether the name is new; the dataset's is the first one."""
        name = str(record.budget)
        fresh = name not in self.limits and (name == DATASET) == (not self.limits)
        self.limits[name] = Limit.read(fields["limit"])
        self.sums[name] = self.limits[name].rule.nothing
        return fresh

    def charge(self, record: Record, fields: dict[str, Any]) -> bool:
        """Say whether the sums are those of the charges, and within the limits."""
        names = set(fields["charges"])
        sound = names == {DATASET, record.budget} and record.key not in self.keys
        for name in names:
            limit = self.limits[name]
            after = self.sums[name].plus(ordered(limit, fields["charges"][name]))
            told = ordered(limit, fields["spent"][name])
            sound = sound and told == after and limit.rule.holds(after)
            self.sums[name] = after
        self.charged.add(record.number)
        self.keys |= {record.key} if record.key is not None else set()
        return sound

    def lease(self, record: Record, fields: dict[str, Any]) -> bool:
        """Say whether a charge without an answer is leased for the first time."""
        charge = fields["charge"]
        waiting = charge in self.charged and charge not in self.answered
        fresh = charge not in self.leased
        self.leased.add(charge)
        return waiting and fresh and record.charge == charge

    def answer(self, record: Record, fields: dict[str, Any]) -> bool:
        """Say whether a charge is answered for the first time, with these bytes."""
        charge = fields["charge"]
        fresh = charge in self.charged and charge not in self.answered
        self.answered.add(charge)
        stored = self.log.answer(charge)
        whole = stored is not None and len(stored) == fields["size"]
        return fresh and whole and record.charge == charge


_CHECKS: Final[dict[str, Callable[[_Walk, Record, dict[str, Any]], bool]]] = {
    "opened": _Walk.opened,
    "budget": _Walk.budget,
    "charged": _Walk.charge,
    "leased": _Walk.lease,
    "answered": _Walk.answer,
}
