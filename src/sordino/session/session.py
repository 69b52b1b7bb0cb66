"""A session: private tables, a budget, and noisy answers that are charged to it.

price (public facts) ── rehearse (no rows) ── charge ── exact totals ── noise ── release
"""

import os
from collections.abc import Callable, Mapping
from typing import Any, NoReturn, Self, Unpack, final, overload

from sordino import _validate
from sordino.budgets.limits import Limit
from sordino.engines.door import Settings
from sordino.engines.doors import EngineName, engine_named
from sordino.errors import InvalidParameter, SessionMoved
from sordino.keysets import KeySet
from sordino.ledger.entries import DATASET, Entry
from sordino.ledger.ledger import Ledger
from sordino.losses.base import Budget, Loss
from sordino.planning.batch import Batch
from sordino.planning.bundle import Bundle, best_bundle
from sordino.planning.plan_text import plan_text
from sordino.planning.price import Price
from sordino.planning.purchase import Purchase, best_purchase
from sordino.query.builder import Query
from sordino.query.request import CONFIDENCE, Request
from sordino.release import storage
from sordino.release.answer import Answer, noisy_answer
from sordino.release.rehearsal import rehearse
from sordino.release.release import Release
from sordino.session import identity, sql_request
from sordino.session.book import Book, open_book
from sordino.session.call_guard import guard_call
from sordino.session.catalog import Catalog, open_catalog
from sordino.session.description import Description
from sordino.session.given_requests import read_request, read_requests
from sordino.session.outlook import Outlook
from sordino.session.partition import partition_of, value_words
from sordino.session.sql_request import SqlOptions


@final
class Session:
    """Tables, a budget, and questions about them.

    Every release is charged before the data is read, exactly, and never refunded. With
    a `ledger` the budget lasts: a restart, a crash or another process spends from the
    same one. A session belongs to the process that made it: a fork, a pickle or a copy
    of it refuses.

    >>> import sordino as sd
    >>> visits = {"ward": ["A", "A", "B"], "days": [2, 5, 1]}
    >>> session = sd.Session(
    ...     tables={"visits": sd.PrivateTable(visits, protects=sd.AddOneRow())},
    ...     budget=sd.PureDP(2),
    ... )
    >>> query = sd.table("visits").agg(n=sd.count(), days=sd.sum("days", 0, 30))
    >>> session.price(query, sd.PureDP(1)).noise["days"]
    (Laplace(scale=30, dtype='f64'),)
    >>> release = session.release(query, sd.PureDP(1))
    >>> session.remaining
    PureDP(epsilon=1)
    """

    def __init__(  # noqa: PLR0913 by keyword, and most are left out
        self,
        tables: Mapping[str, Any],
        budget: "Budget | Limit | None" = None,
        *,
        ledger: "str | os.PathLike[str] | Ledger | None" = None,
        analyst: str | None = None,
        who: str = "",
        engine: EngineName = "duckdb",
        memory_limit: str | None = None,
        threads: int | None = None,
        progress: bool = False,
    ) -> None:
        """Open the tables, of which names and types are read, and the ledger.

        `analyst` names a budget of the ledger that is charged besides the dataset's;
        `who` is recorded with every release.
        """
        settings = Settings(memory_limit, threads, progress)
        self._engine = engine_named(engine, settings)
        self._catalog = open_catalog(self._engine, tables)
        self._book = open_book(
            budget, ledger, identity.protection_text(tables), analyst, who
        )
        self._keysets: dict[str, None] = {}
        self._process = os.getpid()

    @guard_call
    def price(
        self, query: Request, budget: Budget, *, confidence: Any = CONFIDENCE
    ) -> Price:
        """Return what an answer would cost and how far it would be off.

        No private data is read, and nothing is charged.
        """
        return Price(self._purchase(read_request(query, confidence), budget))

    @guard_call
    def price_all(
        self,
        queries: Mapping[str, Request],
        budget: Budget,
        *,
        confidence: Any = CONFIDENCE,
    ) -> Batch:
        """Return what requests cost that are planned together: more fits a budget."""
        return Batch(self._bundle(read_requests(queries, confidence), budget))

    @guard_call
    def what_if(
        self, query: Request, budget: Budget, *, earmark: str | None = None
    ) -> Outlook:
        """Return what a release would cost and what would be left; nothing is charged.

        A release that does not fit is refused, as `release` would refuse it.
        """
        request = read_request(query, CONFIDENCE)
        purchase = self._purchase(request, budget)
        self._prepared(purchase)
        asked = identity.request_identity(request, self._catalog, budget, None)
        left = self._book.left_after(asked, (budget, purchase.loss), earmark)
        return Outlook(Price(purchase), left)

    @guard_call
    def release(
        self,
        query: Request,
        budget: Budget,
        *,
        key: str | None = None,
        why: str = "",
        earmark: str | None = None,
        confidence: Any = CONFIDENCE,
    ) -> Release:
        """Charge the budget and return the noisy answer.

        The exact answer lies in each interval with a chance of at least `confidence`.

        With a `key` a repeated request returns the answer it had, at no cost, also
        after a crash or in another process of the same ledger. With an `earmark` it is
        paid from what was set aside (`session.ledger.earmark`).
        """
        request = read_request(query, confidence)
        purchase = self._purchase(request, budget)
        plan = plan_text(purchase)

        def prepare() -> Callable[[], bytes]:
            compute = self._prepared(purchase)
            return lambda: storage.answer_bytes(compute())

        stored = self._book.answer(
            identity.request_identity(request, self._catalog, budget, key),
            (budget, purchase.loss),
            {"key": key, "why": why, "plan": plan, "earmark": earmark},
            prepare,
        )
        return Release.of(purchase, storage.read_answer(stored))

    @guard_call
    def release_all(
        self,
        queries: Mapping[str, Request],
        budget: Budget,
        *,
        key: str | None = None,
        why: str = "",
        earmark: str | None = None,
        confidence: Any = CONFIDENCE,
    ) -> dict[str, Release]:
        """Charge one budget and return the answers of requests planned together."""
        requests = read_requests(queries, confidence)
        bundle = self._bundle(requests, budget)
        purchases = bundle.purchases
        texts = (f"{name}:\n{plan_text(one)}" for name, one in purchases.items())

        def prepare() -> Callable[[], bytes]:
            each = [self._prepared(purchase) for purchase in purchases.values()]
            return lambda: storage.join_answers([
                storage.answer_bytes(compute()) for compute in each
            ])

        stored = self._book.answer(
            identity.batch_identity(requests, self._catalog, budget, key),
            (budget, bundle.loss),
            {"key": key, "why": why, "plan": "\n\n".join(texts), "earmark": earmark},
            prepare,
        )
        answers = map(storage.read_answer, storage.split_answers(stored))
        return {
            name: Release.of(purchase, answer)
            for (name, purchase), answer in zip(purchases.items(), answers, strict=True)
        }

    @overload
    def sql(self, text: str, budget: Budget, **said: Unpack[SqlOptions]) -> Release: ...
    @overload
    def sql(
        self, text: str, budget: None = None, **said: Unpack[SqlOptions]
    ) -> Any: ...

    @guard_call
    def sql(
        self,
        text: str,
        budget: Budget | None = None,
        *,
        limits: sql_request.Limits = (),
        bounds: Mapping[str, tuple[Any, Any]] = sql_request.NOTHING,
        keys: KeySet | Mapping[str, Any] = sql_request.NOTHING,
        dialect: sql_request.SqlName = "duckdb",
    ) -> Request | Release:
        """Return the request that a text of SQL is, or its release with a budget.

        `limits` bound what each id contributes, `bounds` the values of columns that are
        aggregated, `keys` name the groups beforehand (docs/guides/sql.md).
        """
        self._refuse_strangers()
        given = sql_request.SqlGiven(limits, bounds, keys, dialect)
        request, allowed = sql_request.sql_request(self._catalog, text, budget, given)
        return request if allowed is None else self.release(request, allowed)

    @guard_call
    def partition(
        self, table: str, by: str, values: Any, budget: Budget, *, why: str = ""
    ) -> "dict[Any, Session]":
        """Return a session for each part of a table, each with the whole budget.

        The parts are the rows with each of some public values of a column; None stands
        for rows without one. They are charged once, as often as one protected unit can
        lie in several of them.
        """
        self._refuse_strangers()
        name, column = _validate.text(table=table), _validate.text(by=by)
        whole = self._catalog.relation(name)
        with self._catalog.explaining():
            divided = partition_of(whole, column, values)
        Limit.of(budget)  # refuses a budget that no part could have
        cost: Any = budget.scaled(divided.times)
        shown = ", ".join(map(repr, divided.parts))
        details = {"plan": f"parts of {name} by {column}: {shown}", "why": why}
        marks = {value: value_words(whole, column, value) for value in divided.parts}
        asked = identity.partition_identity(
            self._catalog.words(name), column, [*marks.values()], budget
        )
        self._book.answer(asked, (cost, cost), details, lambda: bytes)
        return {
            value: self._part(
                self._catalog.with_only(
                    name, rows, identity.part_step(column, marks[value])
                ),
                budget,
            )
            for value, rows in divided.parts.items()
        }

    @guard_call
    def view(self, name: str, query: Query) -> None:
        """Name what a query makes of a table, to be asked like a table."""
        self._refuse_strangers()
        if not isinstance(query, Query):
            raise InvalidParameter(
                "query",
                query,
                "must be a query without an aggregation",
                'Try sd.table("visits").',
            )
        with self._catalog.explaining():
            self._catalog.view(_validate.text(name=name), query)

    @guard_call
    def statement(self, query: Request, budget: Budget) -> str:
        """Return the statement that the engine would run; nothing runs."""
        purchase = self._purchase(read_request(query, CONFIDENCE), budget)
        return self._engine.statement(purchase.plan.question)

    @property
    def ledger(self) -> Ledger:
        """Return the ledger: to verify, to export, to allot budgets to analysts.

        It is all of it, whoever asks: who holds a session is trusted with it.
        """
        return self._book.ledger

    @property
    def budget(self) -> Loss:
        """Return what holds of all releases together."""
        return self.ledger.agreed(self._book.name).rule.promise

    @property
    def spent(self) -> Loss:
        """Return what was charged so far: bookkeeping, what holds is the budget."""
        return self.ledger.spent(self._book.name)

    @property
    def remaining(self) -> Loss:
        """Return what is left."""
        return self.ledger.remaining(self._book.name)

    def describe(self) -> Description:
        """Return what everybody may know of the session; it prints and shows itself.

        Tables and views, whom they protect, columns and what cannot be used and why,
        key sets that were released by, and what is left.
        """
        left = f"{self.remaining!r} of {self.budget!r}"
        return Description(self._catalog.holdings(), tuple(self._keysets), left)

    def history(self) -> tuple[Entry, ...]:
        """Return the releases so far, the first one first, of all who charge it.

        A session of an analyst has the own ones in full, and of others what cannot be
        hidden (`Ledger.history`).
        """
        name = self._book.name
        return self.ledger.history(None if name == DATASET else name)

    def answer(self, key: str) -> "Release | dict[str, Release]":
        """Return the answer of a key without asking again (`Ledger.answer`).

        A session of an analyst has the answers that were charged to that budget.
        """
        return self.ledger.answer(key, self._book.name)

    def __repr__(self) -> str:
        """Show the names of the tables and the budget."""
        tables = ", ".join([*self._catalog.relations, *self._catalog.publics])
        return f"Session({tables}; {self.remaining!r} of {self.budget!r} left)"

    def _repr_html_(self) -> str:  # noqa: PLW3201 the name notebooks look for
        """Show in a notebook what everybody may know."""
        return self.describe()._repr_html_()

    def __reduce__(self) -> NoReturn:
        """Refuse to be pickled or copied."""
        raise SessionMoved("copied or pickled")

    def _purchase(self, request: Request, budget: Budget) -> Purchase:
        """Return what a budget buys for a request, from public facts alone."""
        self._refuse_strangers()
        with self._catalog.explaining():
            purchase = best_purchase(request, self._catalog, budget)
        rehearse(purchase)
        return purchase

    def _bundle(self, requests: dict[str, Request], budget: Budget) -> Bundle:
        """Return what a budget buys for several requests together."""
        self._refuse_strangers()
        with self._catalog.explaining():
            bundle = best_bundle(requests, self._catalog, budget)
        for purchase in bundle.purchases.values():
            rehearse(purchase)
        return bundle

    def _prepared(self, purchase: Purchase) -> Callable[[], Answer]:
        """Rehearse what a plan asks, and return what answers it after the charge."""
        plan, prepared = purchase.plan, self._engine.prepared
        if plan.request.keyset is not None:
            self._keysets[repr(plan.request.keyset)] = None
        bins = {key: prepared(one) for key, one in plan.choice_questions.items()}
        exact = prepared(plan.question)
        counts = [prepared(question) for question in plan.coverage_questions]
        if plan.keys is not None:
            prepared(plan.keys.after(plan.keys.none))
        return lambda: noisy_answer(
            purchase,
            exact(),
            {key: compute() for key, compute in bins.items()},
            [compute() for compute in counts],
            lambda question: prepared(question)(),
        )

    def _part(self, catalog: Catalog, budget: Budget) -> Self:
        """Return a session over part of the rows, with a budget that is paid for."""
        child = object.__new__(type(self))
        child._engine, child._catalog = self._engine, catalog
        child._book = Book(Ledger.in_memory(budget), who=self._book.who)
        child._keysets = {}
        child._process = self._process
        return child

    def _refuse_strangers(self) -> None:
        """Refuse to work in a process that did not make the session."""
        if os.getpid() != self._process:
            raise SessionMoved("used in a forked process")
