"""A budget that survives crashes, forks, races and restarts.

    reserve (priced, charged, durable) ── compute ── store (durable) ── give back

What is promised: no answer leaves without a charge that was durable before it was
computed; the charges never exceed the limit, for any number of threads and processes on
one machine; at most one answer belongs to a charge; a file that is not what was written
is refused. The format and what it cannot promise are in docs/ledger-format.md.

>>> from sordino.losses.closed import PureDP
>>> ledger = Ledger.in_memory(PureDP(1))
>>> half = PureDP("0.5")
>>> ticket = ledger.reserve(Claim(request="1f", asked=half, loss=half, key="monday"))
>>> ledger.store(ticket, b"42"), ledger.remaining()
(b'42', PureDP(epsilon=0.5))
>>> ledger.reserve(Claim(request="1f", asked=half, loss=half, key="monday")).answer
b'42'
"""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, NoReturn, Self, final

from sordino.accounting.entries import DATASET, Claim, Entry, Ticket, name_of
from sordino.accounting.guarded import Guarded
from sordino.accounting.ledger_file import World
from sordino.accounting.limits import Limit
from sordino.accounting.log import Log, ordered
from sordino.accounting.opening import found, made, made_in_memory, wanted
from sordino.accounting.records import Record, digest
from sordino.accounting.verifying import Verified, walked
from sordino.accounting.writing import charge_fields, entry_of, refuse_unknown
from sordino.errors import AnswerLost, InvalidParameter, InvalidQuery, SessionMoved
from sordino.losses.base import Budget, Loss

__all__ = ["Claim", "Entry", "Ledger", "Limit", "Ticket", "World"]


@final  # noqa: PLR0904 one handle, asked many things
class Ledger:
    """Charges against a limit, and the answers that were paid for.

    A handle belongs to the process that opened it: a fork, a pickle or a copy of it
    refuses. Threads may share one, and processes may open one file each.
    """

    def __init__(self, file: Guarded, clock: Callable[[], datetime]) -> None:
        """Take over a checked file; make ledgers by `at` and `in_memory`."""
        self._file = file
        self._clock = clock
        with file.reading() as log:
            opened = log.opened().fields
            self.identity: str = opened["identity"]
            self.about: str = opened["about"]

    @classmethod
    def at(
        cls,
        path: Any,
        limit: "Limit | Budget | None" = None,
        *,
        create: bool = False,
        about: str = "",
        anchor: Any = None,
        world: World | None = None,
    ) -> Self:
        """Open the ledger in a file.

        `limit` and `about`, which says whose data it is for, are recorded when the
        ledger is made and must be the same ever after; without a limit the recorded one
        counts. With `create` a file that is missing is made. `anchor` is a second file,
        kept elsewhere, by which a ledger that was put back is found out.
        """
        around = world or World()
        asked = wanted(limit)
        if create:
            made(path, asked, about, anchor, around)
        file = found(path, asked, about, anchor, around)
        return cls(file, around.clock)

    @classmethod
    def in_memory(
        cls, limit: "Limit | Budget", *, about: str = "", world: World | None = None
    ) -> Self:
        """Return a ledger that ends with the process: for trying out."""
        around = world or World()
        return cls(made_in_memory(limit, about, around), around.clock)

    @property
    def durable(self) -> bool:
        """Say whether this outlives the process."""
        return self._file.durable

    def allot(self, name: str, limit: "Limit | Budget") -> None:
        """Give somebody a budget of their own, under that of the dataset.

        A release that is claimed under a name counts against both. A name keeps the
        limit that it was first given.
        """
        name_of(name=name)
        given = limit if isinstance(limit, Limit) else Limit.of(limit)
        with self._file.writing("allot") as log:
            known = log.limit(name)
            if known is None:
                fields = {"budget": name, "limit": given.written, "when": self._when()}
                log.add("budget", fields)
            elif known.stated != given.stated:
                raise InvalidParameter(
                    "limit",
                    given.stated,
                    f"differs from that of {name!r}, {known.stated}",
                    "Use the recorded one, or another name.",
                )

    def holds(self, claim: Claim) -> bool:
        """Say whether the key of a claim has an answer, which then costs nothing."""
        if claim.key is None:
            return False
        with self._file.reading() as log:
            known = log.record("kind = 'charged' AND key = ?", claim.key)
            return known is not None and log.answer(known.number) is not None

    def reserve(self, claim: Claim) -> Ticket:
        """Charge a release, durably; or return the answer that its key has.

        The same key and the same request cost nothing: the stored answer comes back,
        or, where it was lost, the right to compute it once more. The same key with
        another request is refused. Whatever is refused is not charged.
        """
        with self._file.writing("reserve") as log:
            known = None
            if claim.key is not None:
                known = log.record("kind = 'charged' AND key = ?", claim.key)
            if known is not None:
                return self._again(log, known, claim)
            charged = log.add("charged", charge_fields(log, claim, self._when()))
        return Ticket(self.identity, charged.number, 1, claim.key is not None)

    def store(self, ticket: Ticket, answer: bytes) -> bytes:
        """Store an answer, durably, and return the one that may leave.

        Only the first answer of a charge counts: whoever comes later gets that one.
        An answer without a key cannot be asked for again: the disk is not waited for.
        """
        if not isinstance(answer, bytes):
            raise InvalidParameter(
                "answer", type(answer), "must be bytes", "Serialise it."
            )
        with self._file.writing("store", lasting=ticket.keyed) as log:
            self._refuse_foreign(log, ticket)
            committed = log.answer(ticket.number)
            if committed is not None:
                return committed
            fields = {
                "charge": ticket.number,
                "fence": ticket.fence,
                "sha256": digest(answer),
                "size": len(answer),
                "when": self._when(),
            }
            log.store(log.add("answered", fields).number, answer)
        return answer

    def what_if(self, claim: Claim) -> Loss:
        """Return what would be left of a budget; nothing is charged.

        A release that does not fit is refused as `reserve` would refuse it.
        """
        with self._file.reading() as log:
            spent = charge_fields(log, claim, "")["spent"]
            return self._left(log, claim.budget, spent[claim.budget])

    def limit(self, budget: str = DATASET) -> Limit:
        """Return the limit of the dataset, or of a name."""
        with self._file.reading() as log:
            return refuse_unknown(log, budget)

    def limits(self) -> Mapping[str, Limit]:
        """Return all limits by name, the dataset's first."""
        with self._file.reading() as log:
            return log.limits()

    def spent(self, budget: str = DATASET) -> Loss:
        """Return the sum of what was charged: bookkeeping, what holds is the limit."""
        with self._file.reading() as log:
            limit = refuse_unknown(log, budget)
            return limit.rule.stated(log.spent(budget, limit))

    def remaining(self, budget: str = DATASET) -> Loss:
        """Return a loss that still fits."""
        with self._file.reading() as log:
            limit = refuse_unknown(log, budget)
            return limit.rule.left(log.spent(budget, limit))

    def entries(self) -> tuple[Entry, ...]:
        """Return the charged releases, the first one first."""
        with self._file.reading() as log:
            answered = {one.charge for one in log.records("kind = 'answered'")}
            charged = log.records("kind = 'charged' ORDER BY number")
            limits = log.limits()
            return tuple(
                entry_of(one, limits, answered=one.number in answered)
                for one in charged
            )

    def records(self) -> tuple[Record, ...]:
        """Return everything that was recorded, in order."""
        with self._file.reading() as log:
            return tuple(log.records("1 ORDER BY number"))

    def verify(self) -> Verified:
        """Walk through all records and answers, or refuse the ledger.

        Every hash, every sum, every answer, and the pages of the file are checked;
        opening checks only the newest (docs/ledger-format.md says exactly what).
        """
        with self._file.reading() as log:
            return walked(log)

    def close(self) -> None:
        """Let go of the file; what was charged stays charged."""
        self._file.close()

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(self, *raised: object) -> None:
        """Close it."""
        self.close()

    def __repr__(self) -> str:
        """Show where it is; nothing is read."""
        return f"Ledger({self._file.shown})"

    def __reduce__(self) -> NoReturn:
        """Refuse to be pickled or copied."""
        raise SessionMoved("copied or pickled", "ledger")

    def _again(self, log: Log, known: Record, claim: Claim) -> Ticket:
        """Return the answer that a key has, or the right to compute it once more."""
        same = known.fields["request"] == claim.request
        if not same or known.budget != claim.budget:
            raise InvalidQuery(
                f"the key {claim.key!r} belongs to another request",
                "Choose another key",
            )
        answer = log.answer(known.number)
        if answer is not None:
            return Ticket(self.identity, known.number, 1, True, answer)
        if log.record("kind = 'leased' AND charge = ?", known.number) is not None:
            raise AnswerLost(str(claim.key))
        log.add(
            "leased",
            {
                "charge": known.number,
                "fence": 2,
                "who": claim.who,
                "when": self._when(),
            },
        )
        return Ticket(self.identity, known.number, 2, True)

    def _refuse_foreign(self, log: Log, ticket: Ticket) -> None:
        """Refuse a ticket that this ledger did not give."""
        charged = log.charged(ticket.number)
        known = charged is not None and ticket.ledger == self.identity
        if not known or ticket.keyed != (
            charged is not None and charged.key is not None
        ):
            raise InvalidParameter(
                "ticket", ticket, "is of another ledger", "Reserve it here first."
            )

    def _left(self, log: Log, budget: str, texts: Mapping[str, str]) -> Loss:
        """Return what is left after a written sum."""
        limit = refuse_unknown(log, budget)
        return limit.rule.left(ordered(limit, texts))

    def _when(self) -> str:
        """Return the time as it is recorded."""
        return self._clock().isoformat()
