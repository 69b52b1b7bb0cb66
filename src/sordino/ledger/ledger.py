"""A budget that survives crashes, forks, races and restarts.

    reserve (priced, charged, durable) ── compute ── store (durable) ── give back

What is promised: no answer leaves without a charge that was durable before it was
computed; the charges never exceed the limit, for any number of threads and processes on
one machine; at most one answer belongs to a charge; a file that is not what was written
is refused. The format and what it cannot promise are in docs/ledger-format.md.

>>> from sordino.losses.loss import PureDP
>>> ledger = Ledger.in_memory(PureDP(1))
>>> half = PureDP("0.5")
>>> ticket = ledger.reserve(Claim(request="1f", asked=half, loss=half, key="monday"))
>>> ledger.store(ticket, b"42"), ledger.remaining()
(b'42', PureDP(epsilon=0.5))
>>> ledger.reserve(Claim(request="1f", asked=half, loss=half, key="monday")).answer
b'42'

Kernel: charge.
"""

from collections.abc import Callable, Mapping
from datetime import date, datetime
from typing import TYPE_CHECKING, Any, NoReturn, Self, final

from sordino.errors import SessionMoved
from sordino.ledger import answers as paid_answers
from sordino.ledger import charges, earmarks, policy_enforcement
from sordino.ledger import earmarks as closure
from sordino.ledger import opening as backup
from sordino.ledger.blocks import AbstractCalendar, division
from sordino.ledger.charges import (
    find_entry,
    headroom_of,
    list_entries,
    remaining_after,
    rest_of,
    spent_of,
)
from sordino.ledger.clocks import UNSAID, SaidDay
from sordino.ledger.earmarks import Earmark
from sordino.ledger.file_format import Record, World
from sordino.ledger.log import Handle, Log, Result, is_stated
from sordino.ledger.opening import (
    LedgerTerms,
    make_file,
    make_in_memory,
    open_file,
    refuse_unfit_places,
)
from sordino.ledger.record_kinds import (
    DATASET,
    Claim,
    Entry,
    Remark,
    Ticket,
    check_name,
    entry_for_analyst,
)
from sordino.ledger.verification import Verified, verify
from sordino.losses.budgets.blocks import Blocks
from sordino.losses.budgets.limits import Headroom, Limit
from sordino.losses.loss import Budget, Loss
from sordino.numbers.frozen import hides
from sordino.numbers.views import office

if TYPE_CHECKING:
    from sordino.release.release import Release


__all__ = ["Claim", "Entry", "Ledger", "Limit", "Ticket", "World"]


@hides(  # noqa: PLR0904 one handle, asked many things
    *("charge", "counted_by", "files_of", "folder_beside", "is_stated", "look"),
    *("paid_answer", "publish_of"),
    "store",
)
@final
class Ledger(AbstractCalendar):
    """Charges against a limit, and the answers that were paid for.

    A handle belongs to the process that opened it: a fork, a pickle or a copy of it
    refuses. Threads may share one, and processes may open one file each.
    """

    def __init__(
        self,
        guarded: Handle,
        clock: Callable[[], datetime],
        word: SaidDay = UNSAID,
    ) -> None:
        """Take over a checked store; make ledgers by `at` and `in_memory`."""
        self._guarded = guarded
        self._clock = clock
        self._said = word
        opened = guarded.use(lambda log: log.first_record().fields)
        self.identity: str = opened["identity"]
        self.about: str = opened["about"]
        self.division: Blocks | None = guarded.use(division)
        self._warn_of_clock()

    @classmethod
    def at(  # noqa: PLR0913 by keyword, and most are left out
        cls,
        path: Any,
        limit: "Limit | Budget | None" = None,
        *,
        create: bool = False,
        about: str = "",
        witness: Any = None,
        signer: Any = None,
        blocks: Blocks | None = None,
        world: World | None = None,
        only_writer: bool = False,
        on: date | None = None,
        catch_up: bool = False,
    ) -> Self:
        """Open the ledger in a file.

        `limit` and `about`, which says whose data it is for, are recorded when the
        ledger is made and must be the same ever after; without a limit the recorded one
        counts. With `create` a file that is missing is made. `witness` is a second
        file, kept elsewhere, by which a ledger that was put back is found out: given
        when it is made, it is needed ever after. So is `signer`, an Ed25519 private key
        that signs every record, to whoever charges. The limit of `blocks` is of each.

        On a file system whose locks may not reach every writer it is refused, unless
        whoever says `only_writer` sees to it that no other process opens it meanwhile.
        Blocks open by the clock; where that contradicts the ledger, or has leapt over
        periods, by the day `on`, or if `catch_up` says that they have passed.
        """
        terms = LedgerTerms.of(limit, about, witness, signer, world, blocks)
        word = SaidDay(on, catch_up, terms.world.is_unsynchronised)
        refuse_unfit_places(path, terms, only_writer=only_writer)
        if create:
            make_file(path, terms)
        return cls(open_file(path, terms), terms.world.clock, word)

    @classmethod
    def read(
        cls, path: Any, *, witness: Any = None, world: World | None = None
    ) -> Self:
        """Open a ledger, or a backup, to look: whatever would write is refused."""
        terms = LedgerTerms.of_reader(witness, world)
        return cls(open_file(path, terms), terms.world.clock)

    @classmethod
    def in_memory(
        cls,
        limit: "Limit | Budget",
        *,
        about: str = "",
        blocks: Blocks | None = None,
        world: World | None = None,
    ) -> Self:
        """Return a ledger that ends with the process: for trying out."""
        terms = LedgerTerms.of(limit, about, None, None, world, blocks)
        forgotten = SaidDay(catch_up=True)  # it ends with the process, as does the leap
        return cls(make_in_memory(terms), terms.world.clock, forgotten)

    @classmethod
    def restore(
        cls,
        copy: Any,
        path: Any,
        *,
        witness: Any,
        signer: Any = None,
        world: World | None = None,
        only_writer: bool = False,
    ) -> Self:
        """Make a ledger of a backup and of what its witness saw after it; open it.

        All that was charged counts, also what was charged after the backup. Answers
        that were stored after it are lost, and their keys are refused.
        """
        terms = LedgerTerms.of(None, "", witness, signer, world)
        refuse_unfit_places(path, terms, only_writer=only_writer)
        backup.restore_copy(copy, path, terms)
        return cls(open_file(path, terms), terms.world.clock)

    @classmethod
    def move(
        cls,
        source: Any,
        target: Any,
        *,
        witness: Any = None,
        signer: Any = None,
        world: World | None = None,
    ) -> Self:
        """Have a ledger go on in another file or on a server, whole; open it there.

        It is verified before and compared after. At its old place it can be read, and
        is never charged again. What was cut short is finished by the same once more.
        """
        terms = LedgerTerms.of(None, "", witness, signer, world)
        backup.move_ledger(source, target, terms)
        return cls(open_file(target, terms), terms.world.clock)

    def backup(self, path: Any) -> None:
        """Write a whole copy to a new file: it is read and restored, never charged."""
        place = backup.free_place(path, World())
        self._guarded.look(lambda log: backup.write_copy(log, place))

    @property
    def place(self) -> str:
        """Where it is: a path, or the address of a server without its password."""
        return self._guarded.title

    @property
    def durable(self) -> bool:
        """Say whether this outlives the process."""
        return self._guarded.durable

    def allot(self, name: str, limit: "Limit | Budget") -> None:
        """Give somebody a budget of their own, under that of the dataset.

        A release that is claimed under a name counts against both. A name keeps the
        limit that it was first given.
        """
        check_name(name=name)
        recorded = limit if isinstance(limit, Limit) else Limit.of(limit)
        self._guarded.use(
            lambda log: charges.allot(log, name, recorded, self._when(log))
        )

    def holds(self, claim: Claim) -> bool:
        """Say whether the key of a claim has an answer, which then costs nothing."""
        if claim.key is None:
            return False
        return self._guarded.use(lambda log: log.has_answer(f"key {claim.key}"))

    def lower(
        self, name: str, limit: "Limit | Budget", *, who: str = "", why: str = ""
    ) -> None:
        """Lower the limit of a budget; no limit is ever raised again.

        It is counted as before, and nothing that was charged or set aside is beyond it.
        """
        lower = limit if isinstance(limit, Limit) else Limit.of(limit)
        remark = Remark(who, why)
        self._guarded.use(
            lambda log: closure.lower_limit(log, name, lower, remark, self._when(log))
        )

    def close_budget(self, name: str, *, who: str = "", why: str = "") -> None:
        """Let nothing more be charged to a budget, for ever; answers stay."""
        remark = Remark(who, why)
        self._guarded.use(
            lambda log: closure.close_for_ever(log, name, remark, self._when(log))
        )

    def earmark(
        self,
        name: str,
        amount: Loss,
        *,
        budget: str = DATASET,
        who: str = "",
        why: str = "",
    ) -> None:
        """Set a part of a budget aside for what is planned.

        Only releases that name the earmark can spend it, until it is freed. The same
        once more changes nothing.
        """
        part, remark = (amount, budget), Remark(who, why)
        self._guarded.use(
            lambda log: earmarks.earmark(log, name, part, remark, self._when(log))
        )

    def free(self, name: str, *, who: str = "", why: str = "") -> None:
        """Give back what is left of what was set aside."""
        remark = Remark(who, why)
        self._guarded.use(
            lambda log: earmarks.free_earmark(log, name, remark, self._when(log))
        )

    def earmarks(self) -> tuple[Earmark, ...]:
        """All earmarks, in the order in which they were made."""
        return self._guarded.look(earmarks.list_earmarks)

    def reserve(self, claim: Claim) -> Ticket:
        """Charge a release, durably; or return the answer that its key has.

        The same key and request cost nothing: the stored answer comes back, or, where
        it was lost, the right to compute it once more. What is refused is not charged.
        """
        return self._guarded.use(
            lambda log: charges.reserve(log, self.identity, claim, self._when(log)),
            "" if claim.key is None else f"key {claim.key}",
        )

    def begin(self, ticket: Ticket) -> None:
        """Have an answer computed by this ticket alone, and never again (`claims`)."""
        claimed = (self.identity, ticket)
        self._guarded.use(lambda log: charges.begin(log, claimed, self._when(log)))

    def refuse_unlawful(self, claim: Claim) -> None:
        """Refuse a claim that the policy does not allow; nothing is charged."""
        self._guarded.use(
            lambda log: policy_enforcement.counted_part(log, claim, self._when(log))
        )

    def store(self, ticket: Ticket, answer: bytes) -> bytes:
        """Store an answer, durably, and return the one that may leave.

        Only the first answer of a charge counts: whoever comes later gets that one.
        Without a key only its hash is kept, and the disk is not waited for.
        """
        charges.refuse_large_answer(answer)
        return self._guarded.use(
            lambda log: charges.store(
                log, self.identity, (ticket, answer), self._when(log)
            )
        )

    def answer(self, key: str, budget: str = DATASET) -> "Release":
        """Return a paid answer by its key alone, also one of an earlier version.

        It is as it was drawn, before what a request does with noisy answers; its price
        is a bound without a curve. With the name of a budget only what was charged to
        it is found. `answers` has several asked together.
        """
        releases = self.answers(key, budget)
        return paid_answers.single_release(key, releases)

    def answers(self, key: str, budget: str = DATASET) -> "dict[str, Release]":
        """Return the paid answers of a key by name, like `answer`.

        An answer that was asked for alone has the empty name.
        """
        charged, answer = self.paid_answer(key, budget)
        promise = None if self.division else self.first_limit().promise
        book = (self.identity, promise) if self.durable else None
        return paid_answers.read_releases(charged, answer, book)

    def paid_answer(self, key: str, budget: str = DATASET) -> tuple[Record, bytes]:
        """Return the charge of a key, and the bytes of its answer."""
        return self._guarded.use(lambda log: paid_answers.find_answer(log, key, budget))

    def charge(self, number: int) -> Record:
        """Return the record of a charge."""
        return self._guarded.use(lambda log: log.record(number))

    def what_if(self, claim: Claim) -> Loss:
        """Rest after a claim, refused as `reserve` refuses it; nothing is charged."""
        return self._guarded.use(
            lambda log: remaining_after(log, claim, self._when(log))
        )

    def limit(self, budget: str = DATASET) -> Limit:
        """Return the limit of the dataset, or of a name."""
        return self._guarded.use(lambda log: log.limit_of(budget))

    def first_limit(self, budget: str = DATASET) -> Limit:
        """Return the limit that a budget was first given: its promise is what holds.

        A lower one refuses more. It was chosen after answers, so it promises no more.
        """
        return self._guarded.use(lambda log: log.first_limit(budget))

    def limits(self) -> Mapping[str, Limit]:
        """Return all limits by name, the dataset's first."""
        return self._guarded.look(Log.limits)

    def spent(self, budget: str = DATASET) -> Loss:
        """Loss charged so far, of blocks the largest; the guarantee is the limit."""
        return self._guarded.use(lambda log: spent_of(log, budget))

    def remaining(self, budget: str = DATASET) -> Loss:
        """Return a loss that still fits, beside what is set aside, in every block."""
        return self._guarded.use(lambda log: rest_of(log, budget))

    def headroom(self, budget: Budget, loss: Loss, name: str = DATASET) -> Headroom:
        """How many more releases of one price fit, and would under other countings."""
        return self._guarded.use(lambda log: headroom_of(log, name, budget, loss))

    def counted_by(self, budget: Budget, loss: Loss, name: str = DATASET) -> Limit:
        """Return the limit that a release asked for and lost so is charged to."""
        return self._guarded.use(
            lambda log: charges.counted_by(log, name, (budget, loss))
        )

    def is_stated(self, limit: Limit) -> bool:
        """Say whether these are the words of the dataset's limit."""
        return self._guarded.use(lambda log: is_stated(log, limit))

    def entries(self) -> tuple[Entry, ...]:
        """Return the charged releases, the first one first."""
        return self._guarded.look(list_entries)

    def entry(self, key: str) -> Entry | None:
        """Return the charge of a key, None if nothing was charged under it."""
        return self._guarded.use(lambda log: find_entry(log, check_name(key=key)))

    def history(self, analyst: str | None = None) -> tuple[Entry, ...]:
        """Return the charged releases, or as much as an analyst may see of them.

        An analyst sees the own ones in full, and of others what cannot be hidden from
        who sees how much is left for all: that, when, and what was charged.
        """
        entries = self.entries()
        if analyst is not None:
            self.limit(analyst)  # refuses a name that is not there
            entries = tuple(entry_for_analyst(analyst, entry) for entry in entries)
        shown: tuple[Entry, ...] = office.History(entries)
        return shown

    def records(self) -> tuple[Record, ...]:
        """Return everything that was recorded, in order."""
        return self._guarded.look(lambda log: tuple(log.records()))

    def look(self, act: Callable[[Log], Result]) -> Result:
        """Result of an act on the records as they are now; it writes nothing."""
        return self._guarded.look(act)

    def verify(self) -> Verified:
        """Walk through all records and answers, or refuse the ledger.

        Every hash, every sum, every answer, every signature is checked; opening checks
        no answers and no sums but the newest (docs/ledger-format.md says exactly what).
        """
        return self._guarded.look(verify)

    def close(self) -> None:
        """Let go of the file; what was charged stays charged."""
        self._guarded.close()

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(self, *raised: object) -> None:
        """Close it."""
        self.close()

    def __repr__(self) -> str:
        """Show where it is; nothing is read."""
        return f"Ledger({self._guarded.title})"

    def _repr_html_(self) -> str:  # noqa: PLW3201 the name notebooks look for
        """Show in a notebook each budget with what is left, and the last releases."""
        shown: str = office.ledger_page(self.about, self)
        return shown

    def __reduce__(self) -> NoReturn:
        """Refuse to be pickled or copied."""
        raise SessionMoved("copied or pickled", "ledger")
