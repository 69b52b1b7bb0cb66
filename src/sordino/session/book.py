"""The ledger as a session uses it: charge, compute once, keep, give back.

reserve (durable) ── compute ── store (durable) ── what may leave
"""

import logging
import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias, final

from sordino.budgets.charge import Charge
from sordino.budgets.limits import Limit
from sordino.engines.failures import run_charged
from sordino.errors import EngineUnavailable, InvalidParameter, PolicyRefusal
from sordino.ledger.entries import DATASET, Claim, FilesRead, Ticket, check_unicode
from sordino.ledger.exposure import Block
from sordino.ledger.ledger import Ledger
from sordino.ledger.opening import read_blocks, refuse_other_blocks
from sordino.losses.base import Budget, Loss
from sordino.policy.signed import Policy
from sordino.policy.usage import Usage
from sordino.release.files_answer import WrittenFile
from sordino.release.provenance import LedgerRecord, Provenance
from sordino.session.call_guard import probe_room
from sordino.session.identity import TABLES, Identity

_LOG = logging.getLogger("sordino")
Begin: TypeAlias = Callable[[], None]
"""What makes sure that an answer is computed once."""
Write: TypeAlias = Callable[[Path], Iterable[WrittenFile]]
"""What writes an answer into a new folder."""


@final
class Remarks(NamedTuple):
    """What is recorded with every release."""

    who: str = ""
    job: str = ""


@final
class Paid(NamedTuple):
    """An answer as it may leave, and where it was paid for."""

    answer: bytes
    provenance: Provenance
    number: int
    """Of the charge."""


@final
class Turn(NamedTuple):
    """What whoever computes an answer may need: where it is paid for, and its start."""

    begin: Begin
    provenance: Provenance


@final
class Priced(NamedTuple):
    """The budget that was asked for, what it costs, which blocks and what it uses."""

    budget: Budget
    loss: Loss
    blocks: tuple[str, ...] | None = None
    usages: Callable[[], tuple[Usage, ...]] = tuple


@final
@dataclass(frozen=True, eq=False)
class Terms:
    """What a session says of its ledger."""

    budget: Any
    ledger: Any
    analyst: str | None
    remarks: Remarks
    blocks: Any
    policy: Any

    @property
    def begins(self) -> bool:
        """Say whether the ledger is made now, not opened."""
        if self.ledger is None:
            return True
        paths = isinstance(self.ledger, (str, os.PathLike))
        return paths and not _there(self.ledger)


@final
@dataclass(frozen=True, eq=False)
class Book:
    """A ledger, the budget in it that is charged, and who charges it."""

    ledger: Ledger
    name: str = DATASET
    who: str = ""
    job: str = ""
    """The text that its releases are made by."""
    blocks: tuple[str, ...] | None = None
    """The blocks that are read, of those open when it was made; None without blocks."""
    files: FilesRead | None = None
    """What its releases read, None where that is not files."""
    whole: "Whole | None" = None
    """What it is a part of, if it is one of a partition."""
    unwritten: dict[int, Write] = field(default_factory=dict)
    """What writes answers of charges into folders, that could not be written yet."""
    charged: set[int] = field(default_factory=set)
    """The numbers of the charges that this session made."""

    @property
    def promise(self) -> Loss:
        """Return what holds of all releases together; with blocks, of one block."""
        return self.ledger.first_limit(self.name).rule.promise

    @property
    def spent(self) -> Loss:
        """Return what was charged; with blocks, the most that one of these was."""
        if not self._by_block:
            return self.ledger.spent(self.name)
        return self._loss(max, (block.spent for block in self.blocks_read()))

    @property
    def remaining(self) -> Loss:
        """Return what is left; with blocks, what is in every one of these."""
        if not self._by_block:
            return self.ledger.remaining(self.name)
        return self._loss(min, (block.remaining for block in self.blocks_read()))

    @property
    def _by_block(self) -> bool:
        """Say whether blocks are charged: the budget of a name is one for all."""
        return bool(self.blocks) and self.name == DATASET

    def blocks_read(self) -> tuple[Block, ...]:
        """Return the blocks that are read, as the ledger has them now."""
        names = frozenset(self.blocks or ())
        return tuple(block for block in self.ledger.blocks() if block.name in names)

    def _loss(self, worst: Callable[..., Any], losses: Iterable[Loss]) -> Loss:
        """Return the worst of some sums of charges, coordinate by coordinate."""
        rule = self.ledger.first_limit().rule
        rows = [[loss.sums[name] for name in rule.coordinates] for loss in losses]
        amounts = tuple(map(worst, zip(*rows, strict=True)))
        return rule.loss_of(Charge(rule.coordinates, amounts))

    def answer(
        self,
        identity: Identity,
        priced: Priced,
        details: dict[str, Any],
        prepare: Callable[[], Callable[[], bytes]],
    ) -> "Paid":
        """Charge a request and return its answer; a known key returns what it had.

        `details` may hold key, why, plan and earmark. `prepare` refuses what cannot be
        answered and returns what does, before the charge; not where an answer is there.
        """

        def prepare_alone() -> Callable[[Turn], bytes]:
            compute = prepare()
            return lambda _: compute()

        return self.answer_in_turn(identity, priced, details, prepare_alone)

    def answer_in_turn(
        self,
        identity: Identity,
        priced: Priced,
        details: dict[str, Any],
        prepare: Callable[[], Callable[[Turn], bytes]],
    ) -> "Paid":
        """Do the same where more than the answer is made, which names its record.

        Where parts of it may be seen before it is stored, `begin` is called before any
        noise is drawn: from there on nobody draws any for this charge, whatever becomes
        of it.
        """
        claim = Claim(
            request=identity.fingerprint,
            asked=priced.budget,
            loss=priced.loss,
            budget=self.name,
            who=self.who,
            words=identity.words,
            blocks=priced.blocks,
            usages=priced.usages,
            files=self.files,
            **details,
        )
        is_paid = self.ledger.holds(claim)
        if self.whole is not None and not is_paid:
            self.whole.refuse_newer_policy()
        if self.ledger.obeys and not is_paid:
            self.ledger.refuse_unlawful(claim)
        ready = None if is_paid else self._ready(claim, prepare)
        if self.whole is not None and not is_paid:
            self.whole.refuse_newer_policy()  # to prepare may take a while
        described = self._describe_job(claim)
        probe_room()
        ticket = self.ledger.reserve(described)
        if ticket.fence == 1 and ticket.answer is None:
            self.charged.add(ticket.number)
        provenance = Provenance(identity.words, record=self._record(ticket))
        if ticket.answer is not None:
            return Paid(ticket.answer, provenance, ticket.number)
        compute = ready or prepare()
        turn = Turn(partial(self.ledger.begin, ticket), provenance)
        answer = run_charged(lambda: compute(turn))
        return Paid(self.ledger.store(ticket, answer), provenance, ticket.number)

    @cached_property
    def _promise(self) -> Loss | None:
        """Return what everything together is within, which never changes.

        None with blocks: each brings a budget of its own.
        """
        if self.ledger.division is not None:
            return None
        return self.ledger.first_limit().rule.promise

    def _record(self, ticket: Ticket) -> LedgerRecord | None:
        """Return which record paid, if it outlives the process."""
        if not self._lasts:
            return None
        return LedgerRecord(
            ticket.ledger, ticket.number, ticket.hash, ticket.when, self._promise
        )

    @cached_property
    def _lasts(self) -> bool:
        """Tell whether the ledger outlives the process."""
        return self.ledger.durable

    def _describe_job(self, claim: Claim) -> Claim:
        """Return a claim that names what it is made by, which the ledger then has."""
        if not self.job:
            return claim
        return replace(claim, job=self.ledger.describe(self.job, who=self.who))

    def _ready(
        self, claim: Claim, prepare: Callable[[], Callable[[Turn], bytes]]
    ) -> Callable[[Turn], bytes]:
        """Return what computes an answer; a spent budget is the first refusal."""
        try:
            return prepare()
        except EngineUnavailable as error:
            refusal = error
        if claim.key is None:
            self.ledger.what_if(claim)
        raise refusal

    def left_after(
        self, identity: Identity, priced: Priced, earmark: str | None
    ) -> Loss:
        """Return what would be left; a request that does not fit is refused."""
        if self.whole is not None:
            self.whole.refuse_newer_policy()
        claim = Claim(
            request=identity.fingerprint,
            asked=priced.budget,
            loss=priced.loss,
            budget=self.name,
            who=self.who,
            earmark=earmark,
            blocks=priced.blocks,
            usages=priced.usages,
        )
        return self.ledger.what_if(claim)

    def refuse_unlawful(self, priced: Priced) -> None:
        """Refuse what the policy does not allow; nothing is charged."""
        if self.whole is not None:
            self.whole.refuse_newer_policy()
        claim = Claim(
            request="",
            asked=priced.budget,
            loss=priced.loss,
            budget=self.name,
            who=self.who,
            usages=priced.usages,
        )
        self.ledger.refuse_unlawful(claim)

    def as_whole(self) -> "Whole":
        """Return what parts are made of: before they are charged, by this policy."""
        return Whole(self, self.ledger.policy())

    def adopt(self, policy: Any) -> None:
        """Obey the policy in a file from now on, if one is given."""
        if policy is not None:
            self.ledger.adopt(policy, who=self.who)


@final
class Whole(NamedTuple):
    """A book that is parted, and the policy that the parts are charged by."""

    book: Book
    policy: Policy | None

    def part(self, budget: Any) -> Book:
        """Return a book for a part of a table, under the same policy."""
        book, ledger = self.book, Ledger.in_memory(budget)
        if book.name != DATASET:
            ledger.allot(book.name, budget)
        if self.policy is not None:
            ledger.obey(self.policy, who=book.who)
        return Book(ledger, book.name, book.who, book.job, whole=self)

    def refuse_newer_policy(self) -> None:
        """Refuse to ask parts of a ledger that has adopted another policy since.

        What marks the parts was held against the one before, so that to obey the newer
        one from now on would be too little. A ledger that is closed refuses, too.
        """
        if self.book.whole is not None:
            self.book.whole.refuse_newer_policy()
        newest = self.book.ledger.policy()
        if newest is not None and newest != self.policy:
            raise PolicyRefusal(
                f"serial = {newest.rules.serial}",
                "it was adopted after these parts were made, which answer no more",
                "Make the parts anew, by session.partition.",
            )


def open_book(terms: Terms, about: str) -> Book:
    """Return the book of a session: in a file, or for a try-out in memory.

    A file that is missing is made if a budget was given, and that is said: to begin
    with an unspent budget is then what was asked for.
    """
    name = DATASET if terms.analyst is None else terms.analyst
    check_unicode("job", terms.remarks.job)
    return Book(_open_ledger(terms, about), name, *terms.remarks)


def _open_ledger(terms: Terms, about: str) -> Ledger:
    """Return the ledger that is meant, or a new one."""
    ledger, blocks = terms.ledger, terms.blocks
    if ledger is None:
        return Ledger.in_memory(_limit(terms.budget), about=about, blocks=blocks)
    limit = None if terms.budget is None else _limit(terms.budget)
    if isinstance(ledger, Ledger):
        return _check(ledger, limit, about, blocks)
    if not isinstance(ledger, (str, os.PathLike)):
        raise InvalidParameter(
            "ledger",
            ledger,
            "must be a path or an open ledger",
            'Try ledger="clinic.ledger".',
        )
    if limit is None or not terms.begins:
        opened = Ledger.at(ledger, limit, blocks=blocks)
        return _check(opened, limit, about, blocks)
    opened = Ledger.at(ledger, limit, create=True, about=about, blocks=blocks)
    _LOG.warning("a new ledger, with nothing spent, was made at %s", ledger)
    return opened


def _check(ledger: Ledger, limit: Limit | None, about: str, blocks: Any) -> Ledger:
    """Refuse a ledger of another limit, or one that a session made for other tables.

    A ledger that was made by hand is for what its maker says.
    """
    recorded = ledger.first_limit()
    if limit is not None and limit.stated != recorded.stated:
        raise InvalidParameter(
            "budget",
            limit.stated,
            f"differs from that of the ledger, {recorded.stated}",
            "The budget of a ledger never changes: leave it out, or create another.",
        )
    refuse_other_blocks(read_blocks(blocks, recorded), ledger.division)
    if ledger.about.startswith(TABLES) and ledger.about != about:
        raise InvalidParameter(
            "tables",
            about.removeprefix(TABLES),
            f"differ from those of the ledger, {ledger.about.removeprefix(TABLES)}",
            "A ledger belongs to one set of tables: create another ledger.",
        )
    return ledger


def _there(path: Any) -> bool:
    """Say whether something is at a path; what is wrong with it, the ledger says."""
    try:
        return Path(path).exists()
    except (OSError, ValueError):
        return False


def _limit(budget: Any) -> Limit:
    """Return the limit of a budget, or one that says how it is counted."""
    return budget if isinstance(budget, Limit) else Limit.of(budget)
