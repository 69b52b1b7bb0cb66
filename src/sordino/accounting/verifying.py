"""Whether a ledger is what was written: all of it, followed from the beginning."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, final

from sordino.accounting.entries import DATASET
from sordino.accounting.limits import Limit
from sordino.accounting.log import Log
from sordino.accounting.records import Record, digest

if TYPE_CHECKING:
    from sordino.accounting.charge import Charge

FORMATS: Final = (1, 2)
"""Of the first record: a ledger that was migrated keeps it."""


@final
@dataclass(frozen=True)
class Verified:
    """What was found to be whole."""

    records: int
    releases: int
    answers: int
    head: str
    """The hash of the newest record: written down elsewhere, it proves them all."""
    signed_by: str
    """The public key in hexadecimal digits, to be compared with one that is known."""


def refuse_overspent(log: Log) -> None:
    """Refuse a ledger without a limit, and one of which more than it was charged."""
    if log.opened().fields["format"] not in FORMATS:
        raise log.damaged("its first record is of another format")
    if log.limit(DATASET) is None:
        raise log.damaged("it has no limit")
    for name, limit in log.limits().items():
        if not limit.rule.holds(log.spent(name, limit)):
            raise log.damaged(f"more than the limit of {name!r} was charged")


def walked(log: Log) -> Verified:
    """Hold every record and every answer against what it follows from."""
    refuse_overspent(log)
    log.store.verify()
    walk = _Walk(log)
    for record in log.records():
        log.refuse_unsigned(record)
        walk.check(record)
    return Verified(
        records=log.head.number,
        releases=len(walk.charged),
        answers=len(walk.answered),
        head=log.head.hash,
        signed_by=log.seals.public,
    )


@final
class _Walk:
    """What was seen so far on the way through the records."""

    def __init__(self, log: Log) -> None:
        self.log = log
        self.limits: dict[str, Limit] = {}
        self.sums: dict[str, Charge] = {}
        self.charged: set[int] = set()
        self.keys: set[str] = set()
        self.keyed: set[int] = set()
        self.leased: set[int] = set()
        self.answered: set[int] = set()
        self.witnessed = 0

    def check(self, record: Record) -> None:
        """Check one record by its kind."""
        if not _CHECKS[record.kind](self, record, record.fields):
            raise self.log.damaged(f"record {record.number} cannot be")

    def opened(self, record: Record, fields: dict[str, Any]) -> bool:
        """Say whether this is the first."""
        return record.number == 1 and fields["format"] in FORMATS

    def budget(self, record: Record, fields: dict[str, Any]) -> bool:
        """Say whether the name is new; the dataset's is the first one."""
        del record
        name = fields["budget"]
        fresh = name not in self.limits and (name == DATASET) == (not self.limits)
        self.limits[name] = Limit.read(fields["limit"])
        self.sums[name] = self.limits[name].rule.nothing
        return fresh

    def charge(self, record: Record, fields: dict[str, Any]) -> bool:
        """Say whether the sums are those of the charges, and within the limits."""
        key = fields["key"]
        sound = key not in self.keys and set(fields["charges"]) <= set(self.limits)
        for name in fields["charges"] if sound else ():
            limit = self.limits[name]
            after = self.sums[name].plus(
                self.log.ordered(limit, fields["charges"][name])
            )
            told = self.log.ordered(limit, fields["spent"][name])
            sound = sound and told == after and limit.rule.holds(after)
            self.sums[name] = after
        self.charged.add(record.number)
        self.keys |= {key} if key is not None else set()
        self.keyed |= {record.number} if key is not None else set()
        return sound

    def lease(self, record: Record, fields: dict[str, Any]) -> bool:
        """Say whether a charge without an answer is leased for the first time."""
        del record
        charge = fields["charge"]
        waiting = charge in self.charged and charge not in self.answered
        fresh = charge not in self.leased
        self.leased.add(charge)
        return waiting and fresh

    def answer(self, record: Record, fields: dict[str, Any]) -> bool:
        """Say whether a charge is answered for the first time, with these bytes."""
        charge = fields["charge"]
        fresh = charge in self.charged and charge not in self.answered
        self.answered.add(charge)
        stored = self.log.store.answer(record.number)
        keyed = charge in self.keyed
        if not stored and (not keyed or self.log.left_behind(record.number)):
            return fresh
        whole = (len(stored), digest(stored)) == (fields["size"], fields["sha256"])
        return fresh and whole

    def witness(self, record: Record, fields: dict[str, Any]) -> bool:
        """Say whether the ledger has a witness for the first time."""
        del record, fields
        self.witnessed += 1
        return self.witnessed == 1

    def restored(self, record: Record, fields: dict[str, Any]) -> bool:
        """Say whether a backup that was there before was restored, by a witness."""
        return fields["after"] < record.number and self.witnessed == 1


_CHECKS: Final[dict[str, Callable[[_Walk, Record, dict[str, Any]], bool]]] = {
    "opened": _Walk.opened,
    "budget": _Walk.budget,
    "charged": _Walk.charge,
    "leased": _Walk.lease,
    "answered": _Walk.answer,
    "witnessed": _Walk.witness,
    "restored": _Walk.restored,
}
