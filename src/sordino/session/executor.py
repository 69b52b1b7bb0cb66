"""Buy, rehearse, charge, answer: of a request, of margins, of answers in files.

buy (public facts) ── prepare (no rows) ── charge ── exact totals ── noise ── release

An answer too large for the ledger is written to files by workers:

charge ── totals of workers ── begin (once, durable) ── secret ── noise there ── digests
                                                                         └── label

Kernel: charge.
"""

import os
from collections.abc import Callable, Hashable, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial
from operator import is_
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeAlias, TypedDict, TypeVar, final

from sordino import kernel
from sordino.engines.engine import AbstractEngine
from sordino.engines.failures import run_uncharged
from sordino.errors import (
    EngineUnavailable,
    InvalidParameter,
    InvalidQuery,
    OutputFailure,
    ProofRefused,
    SessionMoved,
)
from sordino.ledger.answers import FileFacts
from sordino.losses.budgets.limits import Limit
from sordino.losses.curves.points import COARSENESS
from sordino.losses.loss import Budget, Loss
from sordino.noise.sampling.bits import fresh_secret
from sordino.numbers import arguments
from sordino.numbers.canonical import Worded
from sordino.numbers.views import office
from sordino.plan.bundle import Bundle, Given, best_bundle, share_budget
from sordino.plan.certificates import (
    certify,
    certify_margins,
    certify_parts,
    certify_release,
)
from sordino.plan.margins import MarginsPrice, MarginsPurchase, buy_margins
from sordino.plan.price import Batch, Price
from sordino.plan.purchase import Purchase, best_purchase
from sordino.query.builder import Query
from sordino.query.certified import Step
from sordino.query.groups import Marginals
from sordino.query.nodes import AbstractNode, FlatMap, MapRows, nodes_below
from sordino.query.request import CONFIDENCE, Request
from sordino.query.steps import Relation
from sordino.release import storage
from sordino.release.answer import Answer, answers_by_name, noisy_answer, rehearse
from sordino.release.margins import margins_answer, margins_release
from sordino.release.release import Release
from sordino.release.released_files import (
    AbstractFolders,
    FilesAnswer,
    FoldersHere,
    PartNoise,
    ReleasedFiles,
    WrittenFile,
    refuse_whole,
)
from sordino.release.releases import Releases
from sordino.session import charging
from sordino.session.charging import Book, Paid, Priced, Turn, Whole
from sordino.session.files import (
    AnswerForm,
    Charged,
    answer_or_files,
    raw_release,
    refuse_large_known,
    write_drawn,
)
from sordino.session.sql import read_request
from sordino.session.tables import (
    Catalog,
    Partition,
    blocks_of,
    partition_of,
    value_words,
)
from sordino.session.usages import usage_of, usage_of_margins, usage_of_parts, usages_of

T = TypeVar("T")
Best: TypeAlias = Callable[[Request, Catalog, Budget], Purchase]
"""What buys for a request, from public facts alone."""
_TRIES: Final = 12
_LESS: Final = 1 - Fraction(1, 256)
"""Of a budget, where what it buys cannot be proved to be within it."""


def buy_proved(
    bought: Callable[[Budget], T], proof_of: Callable[[T], str], budget: Any
) -> T:
    """Return the purchase of a budget whose charge the kernel will accept.

    Where curves are composed the kernel's bound is a little looser than planning's, so
    a little of the budget is left over: it is never the charge that fails.
    """
    part, proof, why = budget, "", ""
    for _ in range(_TRIES):  # each try buys more noise, never a looser proof
        purchase = bought(part)
        proof = proof_of(purchase)
        try:
            kernel.check(proof)
        except kernel.Refused as refusal:
            why, is_loose = str(refusal), refusal.is_loose
        else:
            return purchase
        if not is_loose:
            break
        part = part.times(_LESS)
    raise ProofRefused(why, proof)


@final
@dataclass(frozen=True, eq=False, repr=False)
class Outlook:
    """The price of a release that was not made, and what would be left after it."""

    price: Price
    remaining: Loss
    """With blocks, what would be left in every one that it reads."""

    @property
    def blocks(self) -> tuple[str, ...]:
        """Return the blocks that it reads, where there are blocks."""
        return self.price.blocks

    def explain(self) -> str:
        """Return the price, what it means to an attacker, and what would be left."""
        return "\n".join([
            repr(self.price),
            self.price.loss.explain(),
            f"After it {self.remaining!r} would be left{self._where}.",
        ])

    def __repr__(self) -> str:
        """Show the price and what would be left."""
        shown = f"{self.price!r}\nleft after it{self._where}: {self.remaining!r}"
        room = self.price.headroom
        return f"{shown}\n{room}" if room is not None and room.more else shown

    @property
    def _where(self) -> str:
        """Return in what it would be left, where there are blocks."""
        return " in every block that it reads" if self.blocks else ""


@final
class Parts(NamedTuple):
    """The parts of a table, as they are priced: what is charged, and their tables."""

    identity: charging.Identity
    priced: Priced
    details: dict[str, Any]
    catalogs: dict[Any, Catalog]
    budget: Budget
    """Of each part."""


def charged_loss(purchases: Iterable[Purchase], budget: Budget, loss: Loss) -> Loss:
    """Return the loss that is charged: in a part of a table, where needed, its budget.

    There one row of a unit may cost as much as all that it has, so that only a share of
    the budget was spent on it; in other terms than the budget's the loss of that share
    would be charged, which is as many times too little (docs/proofs/filters.md, 6).
    """
    shared = any(
        purchase.plan.relation.spread is not None and not purchase.plan.is_by_row
        for purchase in purchases
    )
    return budget if shared and isinstance(budget, Loss) else loss


_MOST_KNOWN: Final = 16
_MOST_KEYS: Final = 2**16
"""To list more for their words takes longer than to buy, and may be refused."""


@final
class EarlierPurchases:
    """What budgets bought for some requests, for those who ask the same again.

    A purchase follows from public facts: the words of the request and of its tables, of
    whom the intervals are, the budget, and how coarse curves may be. Its rows, totals
    and answers are of no purchase. That its proof is accepted is asked each time.
    """

    def __init__(self) -> None:
        self._names: tuple[object, ...] = ()
        self._known: dict[Hashable, Purchase] = {}

    def best(self, request: Request, catalog: Catalog, budget: Budget) -> Purchase:
        """Return the best purchase for a request, which may be that of an equal one."""
        mark = self._mark_of(request, catalog, budget)
        if mark is None:
            return best_purchase(request, catalog, budget)
        names = (*catalog.relations.values(), *catalog.publics.values())
        # a name that stands for something else may have other facts
        if len(names) != len(self._names) or not all(map(is_, names, self._names)):
            self._names, self._known = names, {}
        if mark not in self._known:
            purchase = best_purchase(request, catalog, budget)
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            self._known[mark] = purchase
        return self._known[mark]

    @staticmethod
    def _mark_of(request: Request, catalog: Catalog, budget: Any) -> Hashable:
        """Mark that two requests share only if a budget buys the same for both.

        None where words do not tell it, of functions and steps on noisy answers, and
        where there are too many keys.
        """
        rows = request.rows.resolve(catalog).node  # refuses names that are not known
        keyset = request.keyset
        if keyset is not None and keyset.at_most > _MOST_KEYS:
            return None
        if request.processing or any(
            isinstance(node, MapRows | FlatMap) for node in nodes_below(rows)
        ):
            return None
        if not (isinstance(budget, Budget) and isinstance(budget, Worded)):
            return None
        words = charging.request_identity(request, catalog, budget, "").words
        # the text too: what is short for the same rows may be written in two ways
        return words, repr(request), request.population, COARSENESS.get()


@final
@dataclass(frozen=True, eq=False)
class Desk:
    """The tables of a session, the engine that holds them, and the book it charges."""

    engine: AbstractEngine
    catalog: Catalog
    book: Book
    keysets: dict[str, None] = field(default_factory=dict)
    """The key sets that groups were named by, as they show themselves."""
    process: int = field(default_factory=os.getpid)
    earlier: EarlierPurchases = field(default_factory=EarlierPurchases, init=False)

    def refuse_strangers(self) -> None:
        """Refuse to work in a process that did not make the session."""
        # a forked child holds the same file and would answer beside its parent
        if os.getpid() != self.process:
            raise SessionMoved("used in a forked process")

    def buy(
        self, request: Request, budget: Budget, best: Best = best_purchase
    ) -> Purchase:
        """Best purchase for a request, from public facts alone."""
        self.refuse_strangers()

        def bought(part: Budget) -> Purchase:
            with self.catalog.explain_refusals():
                purchase = best(request, self.catalog, part)
            # the record names the budget that was asked for, not the part that buys it
            return purchase if part is budget else replace(purchase, budget=budget)

        purchase = self._buy_proved(bought, self.charge_of, budget)
        rehearse(purchase)
        return purchase

    def buy_together(
        self, requests: dict[str, Request], budget: Budget, weights: Given
    ) -> Bundle:
        """Best purchases for several requests, planned together."""
        self.refuse_strangers()
        shares = share_budget(requests, weights)

        def bought(part: Budget) -> Bundle:
            with self.catalog.explain_refusals():
                bundle = best_bundle(
                    requests,
                    self.catalog,
                    part,
                    shares,
                    # a filter may say which blocks are read: it has to stay one
                    in_surveys=self.book.blocks is None,
                )
            return bundle if part is budget else replace(bundle, budget=budget)

        bundle = self._buy_proved(bought, self.charge_together, budget)
        for purchase in bundle.purchases.values():
            rehearse(purchase)
        return bundle

    def _buy_proved(
        self,
        bought: Callable[[Budget], T],
        charge_of: Callable[[T], Priced],
        budget: Any,
    ) -> T:
        return buy_proved(
            bought, lambda purchase: self.book.proof_of(charge_of(purchase)), budget
        )

    def price(self, request: Request, budget: Budget) -> Price:
        """Price of a request, with the blocks it would read."""
        purchase = self.buy(request, budget)
        priced = self.charge_of(purchase)
        self.book.refuse_unlawful(priced)
        proof = partial(self.book.proof_of, priced)
        return Price(purchase, priced.blocks or (), proof, self.book.headroom(priced))

    def price_all(
        self, requests: dict[str, Request], budget: Budget, weights: Given
    ) -> Batch:
        """Price of requests together, with the blocks they would read."""
        bundle = self.buy_together(requests, budget, weights)
        priced = self.charge_together(bundle)
        self.book.refuse_unlawful(priced)
        return Batch(bundle, priced.blocks or (), partial(self.book.proof_of, priced))

    def blocks_read(
        self, rows: Callable[[], Iterable[AbstractNode]]
    ) -> tuple[str, ...] | None:
        """Return the blocks that some rows can be of, None without blocks."""
        if self.book.blocks is None:
            return None
        return blocks_of(self.catalog, rows(), self.book.blocks)

    def charge_of(self, purchase: Purchase) -> Priced:
        """Charge of a request: its loss, its blocks, its usage."""
        blocks = self.blocks_read(lambda: purchase.plan.rows_read)
        return Priced(
            purchase.budget,
            charged_loss([purchase], purchase.budget, purchase.loss),
            blocks,
            lambda: (usage_of(purchase, self.catalog),),
            lambda: self.certify([partial(certify_release, purchase)], blocks),
        )

    def certify(self, releases: Any, blocks: tuple[str, ...] | None) -> Step:
        """Return the certificate of releases that share a charge, but for that."""
        return certify(self.catalog.plan_writer(), releases, blocks)

    def charge_together(self, bundle: Bundle) -> Priced:
        """Charge of requests that are planned together."""
        plans = [purchase.plan for purchase in bundle.charged_purchases.values()]
        blocks = self.blocks_read(
            lambda: (node for plan in plans for node in plan.rows_read)
        )
        purchases = bundle.charged_purchases.values()
        return Priced(
            bundle.budget,
            charged_loss(purchases, bundle.budget, bundle.loss),
            blocks,
            lambda: usages_of(bundle, self.catalog),
            lambda: self.certify(
                [partial(certify_release, purchase) for purchase in purchases], blocks
            ),
        )

    def outlook(self, request: Request, budget: Budget, earmark: str | None) -> Outlook:
        """Price of a release, and the rest after it; nothing is charged."""
        purchase = self.buy(request, budget)
        priced = self.charge_of(purchase)
        request_words = charging.request_identity(request, self.catalog, budget, None)
        left = self.book.left_after(request_words, priced, earmark)
        refuse_large_known([purchase])
        self._prepare(purchase)
        proof = partial(self.book.proof_of, priced)
        room = self.book.headroom(priced)
        return Outlook(Price(purchase, priced.blocks or (), proof, room), left)

    def pay(
        self, request: Request, budget: Budget, details: dict[str, Any]
    ) -> tuple[Purchase, Paid]:
        """Charge for a request, and return its answer as it is stored.

        `details` are key, why and earmark, as the ledger records them.
        """
        purchase = self.buy(request, budget, self.earlier.best)
        plan = purchase.plan_text

        def prepare() -> Callable[[], list[Answer]]:
            refuse_large_known([purchase])
            compute = self._prepare(purchase)
            return lambda: [compute()]

        charged = Charged(
            charging.request_identity(request, self.catalog, budget, details["key"]),
            self.charge_of(purchase),
            {**details, "plan": plan},
        )
        form = AnswerForm(
            lambda answers: storage.answer_bytes(*answers),
            lambda answers, provenance: [
                raw_release(purchase, answers[0], plan, provenance)
            ],
            is_described=True,
        )
        return purchase, answer_or_files(self.book, charged, prepare, form)

    def pay_together(
        self,
        requests: dict[str, Request],
        budget: Budget,
        details: dict[str, Any],
        weights: Given,
    ) -> tuple[Bundle, Paid]:
        """Charge once for requests that are planned together; return their answers."""
        bundle = self.buy_together(requests, budget, weights)
        purchases = bundle.purchases
        plans = {name: each.plan_text for name, each in purchases.items()}
        listed = (f"{name}:\n{plan}" for name, plan in plans.items())

        def prepare() -> Callable[[], list[Answer]]:
            refuse_large_known(purchases.values())
            computes = {
                name: self._prepare(each)
                for name, each in bundle.charged_purchases.items()
            }
            return lambda: answers_by_name(
                bundle, {name: compute() for name, compute in computes.items()}
            )

        charged = Charged(
            charging.batch_identity(
                requests, self.catalog, budget, details["key"], bundle.weights.words
            ),
            self.charge_together(bundle),
            {**details, "plan": "\n\n".join(listed)},
        )
        form = AnswerForm(
            lambda answers: storage.join_answers([*map(storage.answer_bytes, answers)]),
            lambda answers, provenance: [
                raw_release(
                    purchases[name], answer, plans[name], replace(provenance, name=name)
                )
                for name, answer in zip(purchases, answers, strict=True)
            ],
        )
        return bundle, answer_or_files(self.book, charged, prepare, form)

    def partition(
        self, table: str, by: str, values: Any, budget: Budget, why: str
    ) -> "dict[Any, Desk]":
        """Charge for the parts of a table, and return a desk for each of them."""
        return self.pay_for_parts(self.price_parts(table, by, values, budget, why))

    def price_parts(
        self, table: str, by: str, values: Any, budget: Budget, why: str
    ) -> Parts:
        """Price of the parts of a table; nothing is charged."""
        self.refuse_strangers()
        if self.book.blocks is not None:
            raise InvalidQuery(
                "parts of a table are paid for once, which is proved of tables that do "
                "not change, and those of a session with blocks grow",
                'Ask each by a filter: .filter(sd.col("month") == "2026-01").',
            )
        name, column = arguments.text(table=table), arguments.text(by=by)
        whole = self.catalog.relation(name)
        with self.catalog.explain_refusals():
            divided = partition_of(whole, column, values)
        Limit.of(budget)  # refuses a budget that no part could have
        cost: Any = budget.times(divided.times)
        shown = ", ".join(map(repr, divided.parts))
        details = {"plan": f"parts of {name} by {column}: {shown}", "why": why}
        marks = {value: value_words(whole, column, value) for value in divided.parts}
        request_words = charging.partition_identity(
            self.catalog.words(name), column, [*marks.values()], budget
        )
        priced = Priced(
            cost,
            cost,
            usages=lambda: (usage_of_parts(whole.node, column, self.catalog),),
            proof=lambda: self._certify_parts(whole, column, divided, budget),
        )
        cut = (column, len(divided.parts))
        catalogs = {
            value: self.catalog.with_only(
                name, rows, charging.part_step(column, marks[value]), cut
            )
            for value, rows in divided.parts.items()
        }
        return Parts(request_words, priced, details, catalogs, budget)

    def pay_for_parts(self, parts: Parts) -> "dict[Any, Desk]":
        """Charge for parts, and return a desk for each of them."""
        parted = self.book.as_whole()
        self.book.answer(parts.identity, parts.priced, parts.details, lambda: bytes)
        return self.sit_at_parts(parts, parted)

    def sit_at_parts(self, parts: Parts, parted: Whole) -> "dict[Any, Desk]":
        """Return a desk for each part that was paid for."""
        return {
            value: Desk(
                self.engine, catalog, parted.part(parts.budget), process=self.process
            )
            for value, catalog in parts.catalogs.items()
        }

    def _certify_parts(
        self, whole: Relation, by: str, divided: Partition, budget: Budget
    ) -> Step:
        """Return the certificate of the parts of a table, each with a whole budget."""
        writer, rule = self.catalog.plan_writer(), Limit.of(budget).rule
        each = rule.charge_for(budget, rule.promise).texts()
        rows = writer.write(whole.node)
        return certify_parts(writer, rows, by, len(divided.parts), each)

    def name_view(self, name: str, query: Query) -> None:
        """Name what a query makes of a table."""
        self.refuse_strangers()
        if not isinstance(query, Query):
            raise InvalidParameter(
                "query",
                query,
                "must be a query without an aggregation",
                'Try sd.table("visits").',
            )
        with self.catalog.explain_refusals():
            self.catalog.view(arguments.unicode_text(name=name), query)

    def note_keys(self, purchase: Purchase) -> None:
        """Refuse public facts that are false by now, and know by what keys is asked."""
        self.catalog.refuse_other_sizes()
        keyset = purchase.plan.request.keyset
        if keyset is not None:
            self.keysets[repr(keyset)] = None

    def _prepare(self, purchase: Purchase) -> Callable[[], Answer]:
        """Rehearse what a plan asks, and return what answers it after the charge."""
        self.note_keys(purchase)
        plan, prepared = purchase.plan, self.engine.prepare
        bins = {
            key: prepared(question) for key, question in plan.choice_questions.items()
        }
        exact = prepared(plan.question)
        counts = [prepared(question) for question in plan.coverage_questions]
        for question in plan.later_questions:
            prepared(question)
        return lambda: noisy_answer(
            purchase,
            exact(),
            {key: compute() for key, compute in bins.items()},
            [compute() for compute in counts],
            lambda question: prepared(question)(),
        )


def read_paid(purchase: Purchase, paid: Paid) -> Release:
    """Return the release of a request that was paid for."""
    answer = storage.read_answer(paid.answer)
    return Release.of(purchase, answer, purchase.plan_text, paid.provenance)


def read_paid_together(
    requests: dict[str, Request], bundle: Bundle, paid: Paid
) -> Releases:
    """Return the releases of requests that were paid for together."""
    answers = map(storage.read_answer, storage.split_answers(paid.answer))
    pairs = zip(bundle.purchases.items(), answers, strict=True)
    releases = {
        name: Release.of(
            purchase,
            answer,
            purchase.plan_text,
            replace(paid.provenance, name=name),
        )
        for (name, purchase), answer in pairs
    }
    return Releases(releases, requests)


@final
class ReleaseOptions(TypedDict, total=False):
    """Options of a release."""

    key: str | None
    why: str
    earmark: str | None
    confidence: Any


def release_files(  # noqa: PLR0913 by keyword, and most are left out
    desk: Desk,
    query: Any,
    budget: Budget,
    folder: Any,
    *,
    key: str | None = None,
    why: str = "",
    earmark: str | None = None,
    confidence: Any = CONFIDENCE,
) -> ReleasedFiles:
    """Charge for a request and return the files of its answer, or those it has."""
    request = read_request(query, confidence)
    place = _folder_text(folder)
    purchase = desk.buy(request, budget)
    details = {"key": key, "why": why, "earmark": earmark, "plan": purchase.plan_text}
    words = charging.request_identity(request, desk.catalog, budget, key, "release")
    charged = Charged(words, desk.charge_of(purchase), details)
    paid_for = None if key is None else desk.book.ledger.files_of(key)
    if paid_for is not None and paid_for[0] == words.fingerprint:
        return _of_large_answer(desk, purchase, charged, place)
    refuse_whole(purchase)
    words = charging.request_identity(
        request, desk.catalog, budget, key, "release_files"
    )
    return _of_workers(desk, purchase, charged._replace(identity=words), place)


def _of_workers(
    desk: Desk, purchase: Purchase, charged: Charged, place: str
) -> ReleasedFiles:
    """Return files that workers write now, or wrote before."""
    written: list[FilesAnswer] = []

    def prepare() -> Callable[[Turn], bytes]:
        desk.note_keys(purchase)
        noise = PartNoise(purchase)
        spread = desk.engine.prepare_spread(purchase.plan.question, noise, place)

        def compute(turn: Turn) -> bytes:
            with closing(spread()) as totals:
                # on record before the secret is made: no second attempt draws for this
                # charge
                turn.begin()
                written.append(totals.write(noise, fresh_secret(), place))
            return written[0].ledger_bytes

        return compute

    paid = desk.book.answer_in_turn(*charged, prepare)
    answer = FilesAnswer.read(paid.answer)
    # files that are others would be published as what was paid for
    if not written and set(_files(desk, place)) != set(answer.files):
        raise _other_files_refusal(place)
    files = _describe(purchase, place, paid)
    _label(desk, files, paid.number, desk.engine.in_folders)
    return files


def _of_large_answer(
    desk: Desk, purchase: Purchase, charged: Charged, place: str
) -> ReleasedFiles:
    paid = desk.book.answer(*charged, _refuse_to_compute)
    folder = Path(place)
    if paid.number in desk.book.unwritten and not folder.exists():
        write_drawn(desk.book, paid.number, folder)
    present = _in_folders_here(lambda folders: folders.files_in(place))
    if set(present) != set(FilesAnswer.read(paid.answer).files):
        raise _other_files_refusal(place)
    files = _describe(purchase, place, paid)
    if not (folder / office.FOLDER_LABEL).exists():  # cut off before it was written
        _label(desk, files, paid.number, _in_folders_here)
    return files


def _label(
    desk: Desk,
    files: ReleasedFiles,
    number: int,
    in_folders: Callable[[Callable[[AbstractFolders], None]], None],
) -> None:
    """Have a label in a folder, and on record: by it a ledger knows each file.

    It is a function of what is stored, so asked again it is the same.
    """
    text = office.folder_label(office.label_facts(files), files.files)
    try:
        in_folders(
            lambda folders: folders.write_label(files.folder, office.FOLDER_LABEL, text)
        )
    except (EngineUnavailable, InvalidParameter):
        raise OutputFailure(
            f"{files.folder}/{office.FOLDER_LABEL}",
            "The files beside it are whole, paid for and may be published. With "
            "the same key session.release_files(...) writes it again, at no charge.",
        ) from None
    facts = FileFacts.of_text(office.FOLDER_LABEL, text)
    desk.book.ledger.publish_of(number, facts, who=desk.book.who)


def _files(desk: Desk, place: str) -> Sequence[WrittenFile]:
    return desk.engine.in_folders(lambda folders: folders.files_in(place))


def _in_folders_here(work: Callable[[AbstractFolders], T]) -> T:
    return run_uncharged(lambda: work(FoldersHere()))


def _refuse_to_compute() -> Callable[[], bytes]:
    """Refuse to draw what was drawn: an answer that is there is never computed."""
    raise AssertionError


def _describe(purchase: Purchase, place: str, paid: Paid) -> ReleasedFiles:
    answer = FilesAnswer.read(paid.answer)
    lying = (place, answer.files, answer.exactness)
    return ReleasedFiles.of(purchase, lying, purchase.plan_text, paid.provenance)


def _other_files_refusal(place: str) -> InvalidParameter:
    """Return the refusal of a folder that has not what the ledger has digests of."""
    return InvalidParameter(
        "folder",
        place,
        "does not hold the files of this release, and nothing else",
        "Name the folder where they are now: the ledger keeps their digests alone.",
    )


def _folder_text(folder: Any) -> str:
    try:
        text = os.fspath(folder)
    except TypeError:
        text = ""
    if not isinstance(text, str) or not text.strip() or "\0" in text:
        raise InvalidParameter(
            "folder", folder, "must be a path", 'Try folder="out/visits-2026-11".'
        )
    return text


def price_margins(desk: Desk, request: Marginals, budget: Budget) -> MarginsPrice:
    """Price of margins; nothing is charged."""
    purchase = buy_tables(desk, request, budget)
    priced = charge_of_tables(desk, purchase)
    desk.book.refuse_unlawful(priced)
    desk.book.charge_of(priced)  # what cannot be counted is refused, as the release is
    proof = partial(desk.book.proof_of, priced)
    return MarginsPrice(purchase, priced.blocks or (), proof)


def pay_for_margins(
    desk: Desk, request: Marginals, budget: Budget, details: dict[str, Any]
) -> tuple[MarginsPurchase, Paid]:
    """Charge for margins, and return all of their tables as they are stored."""
    purchase = buy_tables(desk, request, budget)

    def prepare() -> Callable[[], list[Answer]]:
        desk.catalog.refuse_other_sizes()
        desk.keysets[repr(request.keyset)] = None
        exact = desk.engine.prepare(purchase.question)
        return lambda: [margins_answer(purchase, exact())]

    charged = Charged(
        charging.request_identity(request, desk.catalog, budget, details["key"]),
        charge_of_tables(desk, purchase),
        {**details, "plan": purchase.plan},
    )
    form = AnswerForm(
        lambda answers: storage.answer_bytes(*answers),
        lambda answers, provenance: [margins_release(purchase, answers[0], provenance)],
    )
    return purchase, answer_or_files(desk.book, charged, prepare, form)


def read_paid_margins(purchase: MarginsPurchase, paid: Paid) -> Release:
    """Return the release of margins that were paid for."""
    return margins_release(purchase, storage.read_answer(paid.answer), paid.provenance)


def buy_tables(desk: Desk, request: Marginals, budget: Budget) -> MarginsPurchase:
    """Best purchase for margins, from public facts alone."""
    desk.refuse_strangers()
    with desk.catalog.explain_refusals():
        return buy_margins(request, desk.catalog, budget)


def charge_of_tables(desk: Desk, purchase: MarginsPurchase) -> Priced:
    """Charge of margins: their price, blocks, and what they use."""
    blocks = desk.blocks_read(lambda: [purchase.question.rows])
    return Priced(
        purchase.budget,
        purchase.loss,
        blocks,
        lambda: (usage_of_margins(purchase, desk.catalog),),
        lambda: desk.certify([partial(certify_margins, purchase)], blocks),
    )
