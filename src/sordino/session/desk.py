"""What a session does with a request: buy, rehearse, charge, answer.

buy (public facts) ── prepare (no rows) ── charge ── exact totals ── noise ── release
"""

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any, final

from sordino import _validate
from sordino.budgets.limits import Limit
from sordino.engines.base import AbstractEngine
from sordino.errors import InvalidParameter, InvalidQuery, SessionMoved
from sordino.losses.base import Budget
from sordino.planning.batch import Batch
from sordino.planning.bundle import Bundle, best_bundle
from sordino.planning.buying import best_purchase
from sordino.planning.plan_text import plan_text
from sordino.planning.price import Price
from sordino.planning.purchase import Purchase
from sordino.planning.request_weights import Given, share_budget
from sordino.query.builder import Query
from sordino.query.nodes import AbstractNode
from sordino.query.request import Request
from sordino.release import storage
from sordino.release.answer import Answer, noisy_answer
from sordino.release.rehearsal import rehearse
from sordino.release.release import Release
from sordino.release.releases import Releases
from sordino.session import identity
from sordino.session.book import Book, Priced
from sordino.session.catalog import Catalog
from sordino.session.large_answers import (
    AnswerForm,
    Charged,
    answer_or_files,
    raw_release,
    refuse_large_known,
)
from sordino.session.open_blocks import blocks_of
from sordino.session.outlook import Outlook
from sordino.session.partition import partition_of, value_words
from sordino.session.usages import usage_of, usage_of_parts, usages_of


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

    def refuse_strangers(self) -> None:
        """Refuse to work in a process that did not make the session."""
        if os.getpid() != self.process:
            raise SessionMoved("used in a forked process")

    def buy(self, request: Request, budget: Budget) -> Purchase:
        """Return what a budget buys for a request, from public facts alone."""
        self.refuse_strangers()
        with self.catalog.explain_refusals():
            purchase = best_purchase(request, self.catalog, budget)
        rehearse(purchase)
        return purchase

    def buy_together(
        self, requests: dict[str, Request], budget: Budget, weights: Given
    ) -> Bundle:
        """Return what a budget buys for several requests, planned together."""
        self.refuse_strangers()
        shares = share_budget(requests, weights)
        with self.catalog.explain_refusals():
            bundle = best_bundle(requests, self.catalog, budget, shares)
        for purchase in bundle.purchases.values():
            rehearse(purchase)
        return bundle

    def price(self, request: Request, budget: Budget) -> Price:
        """Return what a request would cost, and which blocks it would read."""
        purchase = self.buy(request, budget)
        priced = self.charge_of(purchase)
        self.book.refuse_unlawful(priced)
        return Price(purchase, priced.blocks or ())

    def price_all(
        self, requests: dict[str, Request], budget: Budget, weights: Given
    ) -> Batch:
        """Return what requests would cost together, and the blocks they read."""
        bundle = self.buy_together(requests, budget, weights)
        priced = self._charge_together(bundle)
        self.book.refuse_unlawful(priced)
        return Batch(bundle, priced.blocks or ())

    def blocks_read(
        self, rows: Callable[[], Iterable[AbstractNode]]
    ) -> tuple[str, ...] | None:
        """Return the blocks that some rows can be of, None without blocks."""
        if self.book.blocks is None:
            return None
        return blocks_of(self.catalog, rows(), self.book.blocks)

    def charge_of(self, purchase: Purchase) -> Priced:
        """Return what is charged for a request: its price, its blocks, what it uses."""
        blocks = self.blocks_read(lambda: purchase.plan.rows_read)
        return Priced(
            purchase.budget,
            purchase.loss,
            blocks,
            lambda: (usage_of(purchase, self.catalog),),
        )

    def _charge_together(self, bundle: Bundle) -> Priced:
        """Return the same of requests that are planned together."""
        plans = [purchase.plan for purchase in bundle.purchases.values()]
        blocks = self.blocks_read(
            lambda: (node for plan in plans for node in plan.rows_read)
        )
        return Priced(
            bundle.budget, bundle.loss, blocks, lambda: usages_of(bundle, self.catalog)
        )

    def outlook(self, request: Request, budget: Budget, earmark: str | None) -> Outlook:
        """Return what a release would cost and leave; nothing is charged."""
        purchase = self.buy(request, budget)
        priced = self.charge_of(purchase)
        request_words = identity.request_identity(request, self.catalog, budget, None)
        left = self.book.left_after(request_words, priced, earmark)
        refuse_large_known([purchase])
        self._prepare(purchase)
        return Outlook(Price(purchase, priced.blocks or ()), left)

    def release(
        self, request: Request, budget: Budget, details: dict[str, Any]
    ) -> Release:
        """Charge for a request and return its answer.

        `details` are key, why and earmark, as the ledger records them.
        """
        purchase = self.buy(request, budget)
        plan = plan_text(purchase)

        def prepare() -> Callable[[], list[Answer]]:
            refuse_large_known([purchase])
            compute = self._prepare(purchase)
            return lambda: [compute()]

        charged = Charged(
            identity.request_identity(request, self.catalog, budget, details["key"]),
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
        paid = answer_or_files(self.book, charged, prepare, form)
        return Release.of(
            purchase, storage.read_answer(paid.answer), plan, paid.provenance
        )

    def release_all(
        self,
        requests: dict[str, Request],
        budget: Budget,
        details: dict[str, Any],
        weights: Given,
    ) -> Releases:
        """Charge once for requests that are planned together; return their answers."""
        bundle = self.buy_together(requests, budget, weights)
        purchases = bundle.purchases
        plans = {name: plan_text(each) for name, each in purchases.items()}
        listed = (f"{name}:\n{plan}" for name, plan in plans.items())

        def prepare() -> Callable[[], list[Answer]]:
            refuse_large_known(purchases.values())
            computes = [self._prepare(purchase) for purchase in purchases.values()]
            return lambda: [compute() for compute in computes]

        charged = Charged(
            identity.batch_identity(
                requests, self.catalog, budget, details["key"], bundle.weights.words
            ),
            self._charge_together(bundle),
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
        paid = answer_or_files(self.book, charged, prepare, form)
        answers = map(storage.read_answer, storage.split_answers(paid.answer))
        pairs = zip(purchases.items(), answers, strict=True)
        releases = {
            name: Release.of(
                purchase, answer, plans[name], replace(paid.provenance, name=name)
            )
            for (name, purchase), answer in pairs
        }
        return Releases(releases, requests)

    def partition(
        self, table: str, by: str, values: Any, budget: Budget, why: str
    ) -> "dict[Any, Desk]":
        """Charge for the parts of a table, and return a desk for each of them."""
        self.refuse_strangers()
        if self.book.blocks is not None:
            raise InvalidQuery(
                "parts of a table are paid for once, which is proved of tables that do "
                "not change, and those of a session with blocks grow",
                'Ask each by a filter: .filter(sd.col("month") == "2026-01").',
            )
        name, column = _validate.text(table=table), _validate.text(by=by)
        whole = self.catalog.relation(name)
        with self.catalog.explain_refusals():
            divided = partition_of(whole, column, values)
        Limit.of(budget)  # refuses a budget that no part could have
        cost: Any = budget.times(divided.times)
        shown = ", ".join(map(repr, divided.parts))
        details = {"plan": f"parts of {name} by {column}: {shown}", "why": why}
        marks = {value: value_words(whole, column, value) for value in divided.parts}
        request_words = identity.partition_identity(
            self.catalog.words(name), column, [*marks.values()], budget
        )
        parted = self.book.as_whole()
        self.book.answer(
            request_words,
            Priced(
                cost,
                cost,
                usages=lambda: (usage_of_parts(whole.node, column, self.catalog),),
            ),
            details,
            lambda: bytes,
        )
        desks = {}
        for value, rows in divided.parts.items():
            step = identity.part_step(column, marks[value])
            catalog = self.catalog.with_only(name, rows, step)
            book = parted.part(budget)
            desks[value] = Desk(self.engine, catalog, book, process=self.process)
        return desks

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
            self.catalog.view(_validate.unicode_text(name=name), query)

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
