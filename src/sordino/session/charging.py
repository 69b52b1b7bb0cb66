"""The ledger as a session uses it: charge, compute once, keep, give back.

reserve (durable) ── compute ── store (durable) ── what may leave

It says, too, what makes two requests the same.

Kernel: charge.
"""

import hashlib
import json
import logging
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property, partial, wraps
from pathlib import Path
from typing import (
    TYPE_CHECKING,
    Any,
    Final,
    NamedTuple,
    ParamSpec,
    TypeAlias,
    TypeVar,
    final,
)

import numpy as np
from numpy.typing import NDArray

from sordino.data.key_columns import canonical_order
from sordino.data.tables import PrivateTable
from sordino.data.units import AbstractUnit
from sordino.engines.failures import run_charged
from sordino.errors import (
    BudgetExceeded,
    EngineUnavailable,
    InvalidParameter,
    InvalidQuery,
    PolicyRefusal,
)
from sordino.ledger.blocks import Block
from sordino.ledger.ledger import Ledger
from sordino.ledger.opening import read_blocks, refuse_other_blocks
from sordino.ledger.places import is_there
from sordino.ledger.policy_file import Policy
from sordino.ledger.policy_rules import Usage
from sordino.ledger.record_kinds import (
    DATASET,
    Claim,
    FilesRead,
    Ticket,
    certificate_text,
    check_unicode,
)
from sordino.losses.budgets.charge import Charge
from sordino.losses.budgets.limits import Frame, Headroom, Limit
from sordino.losses.loss import Budget, Loss
from sordino.numbers.canonical import (
    FORM,
    Worded,
    Words,
    call,
    canonical_text,
    digest,
    number,
    refuse_wordless,
    skip_wordless,
    worded_pairs,
)
from sordino.query.certified import Step
from sordino.query.groups import Marginals
from sordino.query.request import Request
from sordino.query.steps import AbstractCatalog
from sordino.release.explanation import LedgerRecord, Provenance
from sordino.release.released_files import WrittenFile

if TYPE_CHECKING:
    import pyarrow as pa


P = ParamSpec("P")
T = TypeVar("T")
_ROOM: Final = 200
"""Calls: more than any engine needs from the charge to the answer that is stored."""


def guard_call(method: Callable[P, T]) -> Callable[P, T]:
    """Return a method that works wherever it is called, or refuses at once.

    - NumPy neither warns nor raises about numbers: what is not finite has a meaning in
      each place, and a warning that some program has made an error would come after
      the charge, of private numbers.
    - Where Python has no room for calls left, that is said. Plans and expressions have
      few enough steps for any ordinary depth; room for what runs after a charge is
      tried before it (`probe_room`).
    """

    @wraps(method)
    def called(*positional: P.args, **named: P.kwargs) -> T:
        try:
            with np.errstate(all="ignore"):
                return method(*positional, **named)
        except RecursionError:
            pass
        raise InvalidQuery(
            "the query needs more nested calls than Python allows here",
            "Call it from a shallower stack, raise sys.setrecursionlimit, or shorten "
            "the query.",
        )

    return called


def probe_room(calls: int = _ROOM) -> None:
    """Raise a RecursionError unless Python has room for `calls` nested calls.

    It is asked right before a charge: what is charged has room to be answered.
    """
    if calls:
        probe_room(calls - 1)


_AT_ONCE: Final = 2**20
"""Rows that are hashed in one piece."""


def rows_digest(table: "pa.Table") -> str:
    """Return a SHA-256 that depends on the rows alone, each as often as it is there.

    Columns come in the order of their names, rows in the order of their values, missing
    first. Of each column, and of each 2**20 rows of it, one byte for each value is
    hashed, 1 if it is there and 0 if it is missing; then the values as little-endian
    64-bit integers, 0 if missing: of doubles the bits, of texts the lengths in UTF-8;
    and for texts the UTF-8 itself. A list is hashed as the text of its JSON.
    """
    import pyarrow as pa  # noqa: PLC0415 loaded when needed

    # the same rows with columns in another order are the same public table
    names = sorted(table.column_names)
    plain = pa.table({name: _comparable(table.column(name)) for name in names})
    order = canonical_order(plain) if names else np.empty(0, np.int64)
    sha256 = hashlib.sha256()
    for column in plain.columns:
        for start in range(0, len(order), _AT_ONCE):
            piece = column.take(pa.array(order[start : start + _AT_ONCE]))
            _add(sha256, piece.combine_chunks())
    return sha256.hexdigest()


def _add(sha256: "hashlib._Hash", piece: "pa.Array") -> None:
    import pyarrow as pa  # noqa: PLC0415 loaded when needed

    # a missing value is filled with 0: without this byte it would hash like a 0
    sha256.update(piece.is_valid().cast(pa.uint8()).to_numpy().tobytes())
    if piece.type == pa.int64():
        sha256.update(_integers(piece).tobytes())
        return
    texts = [text.encode() for text in piece.fill_null("").to_pylist()]
    # without lengths "ab", "c" and "a", "bc" would be one table and one paid answer
    sha256.update(np.array([len(text) for text in texts], "<i8").tobytes())
    sha256.update(b"".join(texts))


def _integers(piece: "pa.Array") -> NDArray[np.int64]:
    """Return integers, 0 where one is missing."""
    numbers: NDArray[np.int64] = piece.fill_null(0).to_numpy().astype("<i8")
    return numbers


def _comparable(column: "pa.ChunkedArray") -> "pa.ChunkedArray":
    """Return a column as integers or texts: equal where the values are equal."""
    import pyarrow as pa  # noqa: PLC0415 loaded when needed

    kind = column.type
    if pa.types.is_list(kind):
        listed = [
            None if cell is None else _list_text(cell) for cell in column.to_pylist()
        ]
        return pa.chunked_array([pa.array(listed, pa.string())])
    if kind == pa.string():
        return column
    if kind == pa.float64():
        return pa.chunked_array([_bits(chunk) for chunk in column.chunks], pa.int64())
    narrow = {pa.bool_(): pa.uint8(), pa.date32(): pa.int32()}
    return column.cast(narrow.get(kind, pa.int64())).cast(pa.int64())


def _bits(doubles: "pa.Array") -> "pa.Array":
    """Return the bits of doubles: one kind of zero, one kind of NaN."""
    import pyarrow as pa  # noqa: PLC0415 loaded when needed

    # + 0.0 turns -0.0 into 0.0: equal values must not be told apart and paid for twice
    values = doubles.fill_null(0.0).to_numpy(zero_copy_only=False) + 0.0
    values = np.where(np.isnan(values), np.nan, values)
    return pa.array(values.view(np.int64), mask=doubles.is_null().to_numpy(False))


def _list_text(entries: list[object]) -> str:
    """Return a list as a text: its entries have one type."""
    listed = [entry.hex() if isinstance(entry, float) else entry for entry in entries]
    return json.dumps(listed, default=str)


TABLES: Final = "tables "
"""How a ledger that a session made begins to say what it is for."""


@final
@dataclass(frozen=True)
class Identity:
    """A request in words that last, and their SHA-256 (docs/ledger-format.md)."""

    words: str
    fingerprint: str


def request_identity(
    request: Request | Marginals,
    catalog: AbstractCatalog,
    budget: Budget,
    key: str | None,
    verb: str = "release",
) -> Identity:
    """Return the words of a release: its rows, its noise and its budget.

    The same request of the same tables has the same words, in every process and every
    version. Private rows are not of it, the rows of public tables and key sets are.
    """
    words = call(
        verb,
        form=FORM,
        request=request.words(catalog),
        budget=_budget_words(budget),
        confidence=number(request.confidence),
    )
    return _hash_words(words, key)


def batch_identity(
    requests: Mapping[str, Request],
    catalog: AbstractCatalog,
    budget: Budget,
    key: str | None,
    weights: Words = None,
) -> Identity:
    """Identity of requests that are planned together, by their names in order.

    All have one confidence; shares of the budget are said where they were asked for.
    """
    (confidence,) = {request.confidence for request in requests.values()}
    beside: dict[str, Words] = {} if weights is None else {"weights": weights}
    words = call(
        "release_all",
        **beside,
        form=FORM,
        requests=worded_pairs(
            (name, request.words(catalog)) for name, request in requests.items()
        ),
        budget=_budget_words(budget),
        confidence=number(confidence),
    )
    return _hash_words(words, key)


def partition_identity(
    rows: list[Words], by: str, values: list[Words], budget: Budget
) -> Identity:
    """Identity of a partition: its rows, its column, its values."""
    words = call(
        "partition",
        form=FORM,
        rows=rows,
        by=by,
        values=values,
        budget=_budget_words(budget),
    )
    return _hash_words(words, None)


def part_step(by: str, value: Words) -> Words:
    """Return the step from a table to the part of it that a value marks."""
    return call("part", by=by, value=value)


def protection_text(tables: Mapping[str, Any]) -> str:
    """Return whom the private tables of a session protect, as a ledger records it."""
    named = sorted(
        f"{name!r}: {_unit_text(table.protects)}{_beside_text(table)}"
        for name, table in tables.items()
        if isinstance(table, PrivateTable)
    )
    return TABLES + "; ".join(named)


def _beside_text(table: PrivateTable) -> str:
    """Return how rows lie in blocks, or of what rate a table is a secret sample."""
    if table.sampled is not None:
        return f" in a secret sample of {table.sampled}"
    return "" if table.blocks is None else f" in blocks of {table.blocks!r}"


def _unit_text(unit: AbstractUnit) -> str:
    """Return a unit as it was written: a name and its arguments.

    >>> from sordino.data.units import AddMaxRows
    >>> _unit_text(AddMaxRows(3))
    'AddMaxRows(max_rows=3)'
    """
    verb, arguments = unit.words
    called = ", ".join(f"{name}={argument!r}" for name, argument in arguments.items())
    return f"{verb}({called})"


def _hash_words(words: Words, key: str | None) -> Identity:
    """Return words and their hash; what has none is refused only where a key is given.

    Without a key an answer cannot be asked for again, so nothing need be told apart.
    """
    written = canonical_text(words, skip_wordless if key is None else refuse_wordless)
    return Identity(written, digest(written))


def _budget_words(budget: Budget) -> Words:
    """Return the words of a budget, or the refusal to tell it from another."""
    if isinstance(budget, Worded):
        return budget.words
    return InvalidParameter(
        "budget",
        budget,
        "cannot be recorded, which a key requires",
        "State it as sd.ApproxDP or sd.GaussianDP.",
    )


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
    proof: Callable[[], Step] | None = None


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
    sampled: Fraction | None = None
    """Rate of the secret sample that the table is."""

    @property
    def begins(self) -> bool:
        """Say whether the ledger is made now, not opened."""
        if self.ledger is None:
            return True
        paths = isinstance(self.ledger, (str, os.PathLike))
        return paths and not is_there(self.ledger)


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
        """Guarantee of all releases together; with blocks, of each block."""
        return self.ledger.first_limit(self.name).rule.promise

    @property
    def frame(self) -> Frame | None:
        """Population of which the table is a secret sample, if it is one."""
        return self.ledger.first_limit().frame

    @property
    def spent(self) -> Loss:
        """Loss charged so far; with blocks, the largest of one that is read."""
        if not self._by_block:
            return self.ledger.spent(self.name)
        return self._loss(max, (block.spent for block in self.blocks_read()))

    @property
    def remaining(self) -> Loss:
        """Rest of the budget; with blocks, the smallest of those that are read."""
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
            proof=priced.proof,
            **details,
        )
        # a hint alone: `reserve` asks again under the lock
        is_paid = self.ledger.holds(claim)
        if self.whole is not None and not is_paid:
            self.whole.refuse_newer_policy()
        # before rows are prepared; asked again with the charge
        if self.ledger.obeys and not is_paid:
            self.ledger.refuse_unlawful(claim)
        ready = None if is_paid else self._ready(claim, prepare)
        if self.whole is not None and not is_paid:
            self.whole.refuse_newer_policy()  # to prepare may take a while
        described = self._describe_job(claim)
        # a RecursionError after the charge would leave it paid and unanswered
        probe_room()
        ticket = self._reserve(described, priced)
        # charged by this call, and not found charged
        if ticket.fence == 1 and ticket.answer is None:
            self.charged.add(ticket.number)
        provenance = Provenance(
            identity.words,
            record=self._record(ticket),
            proof=ticket.proof,
            charge=(ticket.ledger, ticket.number, ticket.hash),
        )
        if ticket.answer is not None:
            return Paid(ticket.answer, provenance, ticket.number)
        compute = ready or prepare()
        turn = Turn(partial(self.ledger.begin, ticket), provenance)
        # from here on a failure says that the charge stays
        answer = run_charged(lambda: compute(turn))
        # what was stored is told: a restart tells the same
        return Paid(self.ledger.store(ticket, answer), provenance, ticket.number)

    @cached_property
    def _promise(self) -> Loss | None:
        """Promise of the whole ledger, which never changes.

        None with blocks: each brings a budget of its own.
        """
        if self.ledger.division is not None:
            return None
        return self.ledger.first_limit().promise

    def _record(self, ticket: Ticket) -> LedgerRecord | None:
        """Return which record paid, if it outlives the process."""
        if not self._lasts:
            return None
        return LedgerRecord(
            ticket.ledger, ticket.number, ticket.hash, ticket.when, self._promise
        )

    @cached_property
    def _lasts(self) -> bool:
        return self.ledger.durable

    def _describe_job(self, claim: Claim) -> Claim:
        """Return a claim that names what it is made by, which the ledger then has."""
        if not self.job:
            return claim
        return replace(claim, job=self.ledger.describe(self.job, who=self.who))

    def _reserve(self, claim: Claim, priced: Priced) -> Ticket:
        """Charge a claim; a refusal names the counting that answers more."""
        try:
            return self.ledger.reserve(claim)
        except BudgetExceeded as error:
            room = self.headroom(priced)
            if room is None or not room.advice:
                raise
            raise BudgetExceeded(f"{error} {room.advice}") from None

    def _ready(
        self, claim: Claim, prepare: Callable[[], Callable[[Turn], bytes]]
    ) -> Callable[[Turn], bytes]:
        try:
            return prepare()
        except EngineUnavailable as error:
            refusal = error
        # of a paid key the answer may be read though the engine is away
        if claim.key is None:
            self.ledger.what_if(claim)
        raise refusal

    def left_after(
        self, identity: Identity, priced: Priced, earmark: str | None
    ) -> Loss:
        """Rest after a request; one that does not fit is refused."""
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

    def proof_of(self, priced: Priced) -> str:
        """Return the certificate of a price: what the dataset's limit would add up."""
        assert priced.proof is not None  # noqa: S101 prices of a session have one
        return certificate_text(priced.proof(), self.charge_of(priced).texts())

    def charge_of(self, priced: Priced) -> Charge:
        """Charge that the dataset's limit would add up.

        A budget that it cannot add up, or the limit of a name cannot, is refused.
        """
        rule = self._first_limit.rule
        charge = rule.charge_within(priced.budget, priced.loss.guarantees)
        if charge is None:
            # the first charge may choose how the budget is counted, or had it chosen
            rule = self.ledger.counted_by(priced.budget, priced.loss).rule
            charge = rule.charge_for(priced.budget, priced.loss)
        if self.name != DATASET:
            self.ledger.limit(self.name).rule.charge_for(priced.budget, priced.loss)
        return charge

    def headroom(self, priced: Priced) -> Headroom | None:
        """How many more of one price fit; None with blocks, each of which has its own.

        >>> import sordino as sd
        >>> table = sd.PrivateTable({"age": [34, 51]}, protects=sd.AddOneRow())
        >>> session = sd.Session({"t": table}, sd.ApproxDP(1, "1e-6"))
        >>> query = sd.table("t").agg(n=sd.count())
        >>> session.price(query, sd.PureDP("0.1")).headroom.more
        10
        """
        if self.blocks is not None:
            return None
        return self.ledger.headroom(priced.budget, priced.loss, self.name)

    @cached_property
    def _first_limit(self) -> Limit:
        # counted anew by another's first charge, it is only certificates' of prices
        return self.ledger.first_limit()

    def share(self, part: Fraction) -> Loss:
        """Part of the whole budget, as its limit counts it, or would from the start."""
        limit = self.ledger.first_limit(self.name)
        by_mu = limit.by_mu
        if by_mu is not None and self.name == DATASET:
            whole = by_mu.rule.share(Fraction(1))
            limit = self.ledger.counted_by(whole, whole)
        share: Loss = limit.rule.share(part)
        return share

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
        """The whole of which parts are made, with the policy of this moment."""
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
        forgotten = _limit(terms.budget, terms.sampled)
        return Ledger.in_memory(forgotten, about=about, blocks=blocks)
    limit = None if terms.budget is None else _limit(terms.budget, terms.sampled)
    if isinstance(ledger, Ledger):
        return _check(ledger, limit, about, terms)
    if not isinstance(ledger, (str, os.PathLike)):
        raise InvalidParameter(
            "ledger",
            ledger,
            "must be a path, the address of a server, or an open ledger",
            'Try ledger="clinic.ledger".',
        )
    if limit is None or not terms.begins:
        opened = Ledger.at(ledger, limit, blocks=blocks)
        return _check(opened, limit, about, terms)
    opened = Ledger.at(ledger, limit, create=True, about=about, blocks=blocks)
    _LOG.warning("a new ledger, with nothing spent, was made at %s", opened.place)
    return opened


def _check(ledger: Ledger, limit: Limit | None, about: str, terms: Terms) -> Ledger:
    """Refuse a ledger of another limit, or one that a session made for other tables.

    A ledger that was made by hand is for what its maker says.
    """
    recorded = ledger.first_limit()
    # a larger budget at a second opening would be one that nobody agreed to
    if limit is not None and not ledger.is_stated(limit):
        raise InvalidParameter(
            "budget",
            limit.stated,
            f"differs from that of the ledger, {recorded.stated}",
            "The budget of a ledger never changes: leave it out, or create another.",
        )
    _refuse_other_rate(recorded, terms.sampled)
    refuse_other_blocks(read_blocks(terms.blocks, recorded), ledger.division)
    # charges for other people's rows do not pay for these
    if ledger.about.startswith(TABLES) and ledger.about != about:
        raise InvalidParameter(
            "tables",
            about.removeprefix(TABLES),
            f"differ from those of the ledger, {ledger.about.removeprefix(TABLES)}",
            "A ledger belongs to one set of tables: create another ledger.",
        )
    return ledger


def _limit(budget: Any, sampled: Fraction | None) -> Limit:
    """Return the limit of a budget, or one that says how it is counted."""
    if not isinstance(budget, Limit):
        return Limit.of(budget, sampled=sampled)
    _refuse_other_rate(budget, sampled)
    return budget


def _refuse_other_rate(limit: Limit, sampled: Fraction | None) -> None:
    """Refuse a limit of another sample than the table is, or of one that it is not."""
    rate = None if limit.frame is None else limit.frame.rate
    # a smaller rate would allow more to be lost of the table than the frame may lose
    if rate != sampled:
        raise InvalidParameter(
            "sampled",
            sampled,
            f"is not that of the limit, {limit.stated}",
            'Say it in both: sd.PrivateTable(..., sampled="0.1") and '
            'sd.Limit.of(budget, sampled="0.1").',
        )
