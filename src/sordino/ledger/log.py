"""What a ledger says, and how something is added to it: one transaction of a store."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, final

from sordino.budgets.charge import Charge
from sordino.budgets.limits import Limit
from sordino.errors import (
    AnswerLost,
    BudgetExceeded,
    InvalidParameter,
    LedgerDamaged,
    UnknownName,
)
from sordino.ledger.record_kinds import is_sound
from sordino.ledger.records import DEEPEST, Head, Record, hash_bytes
from sordino.ledger.signatures import Seals
from sordino.ledger.store import AbstractStore

LONGEST: Final = 1 << 24
"""Letters of a body: a line of a file is a good deal longer at most."""
_ROOM: Final = 40
"""Calls between here and where a new record is read back from the disk, and more."""


@final
@dataclass(frozen=True)
class Log:
    """The records of a ledger, as one transaction sees them."""

    store: AbstractStore
    seals: Seals
    added: list[Record] = field(default_factory=list)
    """What was added, or begun to be."""

    @property
    def head(self) -> Head:
        """Return the number and the hash of the newest record."""
        return self.store.head

    def record(self, number: int) -> Record:
        """Return a record that is there."""
        record = next(self.store.read(number), None)
        if record is None:
            raise self.damage("it has no records")
        return record

    def records(self, first: int = 1) -> Iterator[Record]:
        """Yield the records from a number on."""
        return self.store.read(first)

    def newest_about(self, subject: str) -> Record | None:
        """Return the newest record about a subject (kinds.py says which there are)."""
        number = self.store.newest(subject)
        return self.record(number) if number else None

    def every(self, kind: str) -> Iterator[Record]:
        """Yield the records of a kind."""
        return map(self.record, tuple(self.store.numbers(kind)))

    def first_record(self) -> Record:
        """Return the first record, which names the ledger."""
        record = self.record(1)
        if record.kind != "opened":
            raise self.damage("its first record is missing")
        return record

    def limits(self) -> dict[str, Limit]:
        """Return the budgets by name, the dataset's first."""
        names = dict.fromkeys(
            record.fields["budget"] for record in self.every("budget")
        )
        return {name: limit for name in names if (limit := self.limit(name))}

    def limit(self, budget: str) -> Limit | None:
        """Return the limit of one budget."""
        record = self.newest_about(f"budget {budget}")
        return None if record is None else Limit.read(record.fields["limit"])

    def limit_of(self, budget: str) -> Limit:
        """Return the limit of a budget that must be there."""
        limit = self.limit(budget)
        if limit is None:
            raise UnknownName("budget", budget, list(self.limits()))
        return limit

    def is_closed(self, budget: str) -> bool:
        """Say whether a budget was closed."""
        return self.newest_about(f"closed {budget}") is not None

    def chargeable(self, budget: str) -> Limit:
        """Return the limit of a budget, which must be there and not be closed."""
        if self.is_closed(budget):
            raise BudgetExceeded(
                f"the budget {budget!r} is closed: nothing more can be charged to it. "
                "Ask under another budget; nothing was charged."
            )
        return self.limit_of(budget)

    def first_limit(self, budget: str) -> Limit:
        """Return the limit that a budget had first: what it promises holds."""
        for record in self.every("budget"):
            if record.fields["budget"] == budget:
                return Limit.read(record.fields["limit"])
        raise UnknownName("budget", budget, list(self.limits()))

    def sum_of_charges(self, budget: str, limit: Limit) -> Charge:
        """Return what was charged to a budget so far."""
        last = self.newest_about(f"spent {budget}")
        if last is None:
            return limit.rule.zero
        return self.read_charge(limit, last.fields["spent"][budget])

    def read_charge(self, limit: Limit, texts: Mapping[str, str]) -> Charge:
        """Return amounts in the order of the filter: JSON sorts its names."""
        names = limit.rule.coordinates
        if set(names) != set(texts):
            raise self.damage("a sum does not fit its limit")
        return Charge.read({name: texts[name] for name in names})

    def add(
        self,
        kind: str,
        fields: Mapping[str, Any],
        answer: bytes = b"",
        *,
        lasting: bool = True,
    ) -> Record:
        """Add a record behind the head, with the answer that belongs to it."""
        record = self.seals.sign(Record.successor(self.head, kind, fields))
        if len(record.body) > LONGEST:
            raise InvalidParameter(
                "claim",
                f"{len(record.body)} letters",
                f"must be written in at most {LONGEST} letters",
                "Ask for less at once, or with shorter names.",
            )
        if not _can_be_read_back(record):
            raise InvalidParameter(
                "claim",
                kind,
                f"must nest at most {DEEPEST} brackets in its record",
                "Ask for less at once.",
            )
        self.added.append(record)
        self.store.append(record, answer, lasting=lasting)
        return record

    def answer(self, charge: int) -> bytes | None:
        """Return the answer that was stored for a charge, None if there is none yet."""
        record = self.newest_about(f"answer {charge}")
        if record is None:
            return None
        answer = self.store.answer(record.number)
        if hash_bytes(answer) == record.fields["sha256"]:
            return answer
        if not answer and self.is_left_behind(record.number):
            raise AnswerLost(str(self.record(charge).fields.get("key")))
        raise self.damage(f"the answer {record.number} is not what was stored")

    def has_answer(self, subject: str) -> bool:
        """Say whether the newest charge of a subject has an answer."""
        charge = self.store.newest(subject)
        return charge > 0 and self.store.newest(f"answer {charge}") > 0

    def is_left_behind(self, number: int) -> bool:
        """Say whether an answer was given after a backup that was restored later."""
        return any(
            restored.fields["after"] < number < restored.number
            for restored in self.every("restored")
        )

    def refuse_unsigned(self, record: Record) -> None:
        """Refuse a record that is not signed as this ledger is."""
        if not self.seals.hold(record):
            raise self.damage(f"record {record.number} has no valid signature")

    def damage(self, problem: str) -> LedgerDamaged:
        """Return the refusal of this ledger."""
        return LedgerDamaged(self.store.title, problem)


def _can_be_read_back(record: Record, calls: int = _ROOM) -> bool:
    """Say, from so many calls further down, whether a record is one of its kind.

    Where Python has no room for that, it says so before anything is written.
    """
    return _can_be_read_back(record, calls - 1) if calls else is_sound(record)
