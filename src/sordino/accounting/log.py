"""Reading and adding records within one transaction of a ledger."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, final

from sordino.accounting.charge import Charge
from sordino.accounting.entries import DATASET
from sordino.accounting.limits import Limit
from sordino.accounting.records import COLUMNS, Record, digest
from sordino.errors import LedgerDamaged


class Connection(Protocol):
    """What a ledger needs of a connection to SQLite."""

    def execute(self, sql: str, values: tuple[Any, ...] = ..., /) -> Any:
        """Run one statement."""

    def close(self) -> None:
        """Let go of the file."""


@final
@dataclass(frozen=True)
class Log:
    """The records of a ledger, as one transaction sees them.

    Whatever is read is held against its hash first.
    """

    connection: Connection
    path: str

    def head(self) -> tuple[int, str]:
        """Return the number and the hash of the newest record."""
        row = self.connection.execute("SELECT number, hash FROM head").fetchone()
        if row is None:
            raise self.damaged("it has no head")
        return int(row[0]), str(row[1])

    def records(self, where: str = "1", *values: Any) -> Iterator[Record]:
        """Yield records by number, each held against its hash."""
        query = f"SELECT {COLUMNS} FROM records WHERE {where}"  # noqa: S608 our words
        for row in self.connection.execute(query, values):
            record = Record(*row)
            if not record.sealed:
                raise self.damaged(f"record {record.number} is not what was written")
            yield record

    def record(self, where: str, *values: Any) -> Record | None:
        """Return the first of some records."""
        return next(self.records(f"{where} LIMIT 1", *values), None)

    def opened(self) -> Record:
        """Return the first record, which names the ledger."""
        record = self.record("number = 1 AND kind = 'opened'")
        if record is None:
            raise self.damaged("its first record is missing")
        return record

    def charged(self, number: int) -> Record | None:
        """Return a charge."""
        return self.record("kind = 'charged' AND number = ?", number)

    def limits(self) -> dict[str, Limit]:
        """Return the budgets by name, the dataset's first."""
        found = self.records("kind = 'budget' ORDER BY number")
        return {str(one.budget): Limit.read(one.fields["limit"]) for one in found}

    def limit(self, budget: str) -> Limit | None:
        """Return the limit of one budget."""
        record = self.record("kind = 'budget' AND budget = ?", budget)
        return None if record is None else Limit.read(record.fields["limit"])

    def spent(self, budget: str, limit: Limit) -> Charge:
        """Return what was charged to a budget so far."""
        if budget == DATASET:
            last = self.record("kind = 'charged' ORDER BY number DESC")
        else:
            last = self.record(
                "kind = 'charged' AND budget = ? ORDER BY number DESC", budget
            )
        if last is None:
            return limit.rule.nothing
        return ordered(limit, last.fields["spent"][budget])

    def add(self, kind: str, fields: Mapping[str, Any]) -> Record:
        """Add a record behind the head."""
        number, last = self.head()
        record = Record.following(number, last, kind, fields)
        self.connection.execute(
            f"INSERT INTO records ({COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",  # noqa: S608 our words
            record.row,
        )
        return record

    def answer(self, charge: int) -> bytes | None:
        """Return the answer that was stored for a charge."""
        record = self.record("kind = 'answered' AND charge = ?", charge)
        if record is None:
            return None
        row = self.connection.execute(
            "SELECT bytes FROM answers WHERE number = ?", (record.number,)
        ).fetchone()
        if row is None or digest(row[0]) != record.fields["sha256"]:
            raise self.damaged(f"the answer {record.number} is not what was stored")
        return bytes(row[0])

    def store(self, number: int, answer: bytes) -> None:
        """Keep the bytes of an answer."""
        self.connection.execute(
            "INSERT INTO answers (number, bytes) VALUES (?, ?)", (number, answer)
        )

    def damaged(self, problem: str) -> LedgerDamaged:
        """Return the refusal of this ledger."""
        return LedgerDamaged(self.path, problem)


def ordered(limit: Limit, texts: Mapping[str, str]) -> Charge:
    """Return amounts in the order of the filter: JSON sorts its names."""
    names = limit.rule.coordinates
    return Charge.read({name: texts[name] for name in names})
