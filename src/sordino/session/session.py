"""A session: private tables, a budget, and noisy answers that are charged to it.

price (public facts) ── rehearse (no rows) ── charge ── exact totals ── noise ── release

It opens by tables (names and types), then the ledger, then the open blocks, of which
alone rows are read. Narrowed to some blocks it has the same ledger and charges only
these: every table with blocks is filtered to them at its source, so whatever is asked
then has a cover among them (docs/proofs/queries.md, section 11).

Kernel: charge.
"""

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NoReturn, Self, Unpack, final, overload

from sordino.data import KeySet
from sordino.engines.doors import EngineName, Settings, engine_named, engine_of_sources
from sordino.engines.engine import AbstractEngine
from sordino.errors import InvalidParameter, InvalidQuery, SessionMoved
from sordino.ledger.blocks import worst_exposures
from sordino.ledger.ledger import Ledger
from sordino.ledger.opening import read_blocks
from sordino.ledger.record_kinds import DATASET, Entry
from sordino.losses.budgets.blocks import WHOLE, Blocks, blocks_text
from sordino.losses.budgets.limits import Limit
from sordino.losses.budgets.risk import warn_of_weak
from sordino.losses.loss import Budget, Loss
from sordino.numbers import probability
from sordino.numbers.canonical import Words, call
from sordino.plan.bundle import Given
from sordino.plan.margins import MarginsPrice
from sordino.plan.price import SIZES, Batch, Price
from sordino.query.builder import Query
from sordino.query.groups import Marginals
from sordino.query.request import CONFIDENCE, Request
from sordino.release.release import Release
from sordino.release.released_files import ReleasedFiles
from sordino.release.releases import Releases
from sordino.session import sql as sql_request
from sordino.session.charging import (
    Remarks,
    Terms,
    guard_call,
    open_book,
    protection_text,
)
from sordino.session.description import Description, print_unused
from sordino.session.executor import (
    Desk,
    Outlook,
    ReleaseOptions,
    pay_for_margins,
    price_margins,
    read_paid,
    read_paid_margins,
    read_paid_together,
    release_files,
)
from sordino.session.files import files_behind
from sordino.session.sql import SqlOptions, read_marginals, read_request, read_requests
from sordino.session.suggestion import Suggestion, suggest
from sordino.session.tables import (
    Catalog,
    keep_open_blocks,
    open_catalog,
    private_sources,
    refuse_unfit_tables,
    sampled_rate,
)


def describe_desk(desk: Desk, entries: tuple[Entry, ...]) -> Description:
    """Public facts of the tables, the budget and the releases."""
    book = desk.book
    return Description(
        desk.catalog.holdings(),
        tuple(desk.keysets),
        book.remaining,
        book.promise,
        entries,
        book.blocks_read(),
        worst_exposures(book.ledger.division, book.ledger.exposure),
        book.frame,
    )


def open_desk(
    tables: Mapping[str, Any],
    terms: Terms,
    engine: AbstractEngine,
) -> Desk:
    """Return a desk over some tables; what does not fit is refused before all else."""
    catalog = open_catalog(engine, tables)
    terms = replace(terms, sampled=sampled_rate(tables))
    blocks = read_blocks(terms.blocks, None)
    if blocks is not None or terms.begins:
        refuse_unfit_tables(catalog, blocks)
    book = open_book(terms, protection_text(tables))
    division = book.ledger.division
    refuse_unfit_tables(catalog, division)
    book.adopt(terms.policy)
    book = replace(book, files=files_behind(tables))
    if division is None:
        return Desk(engine, catalog, book)
    names = () if blocks is None else blocks.names
    whole = None in catalog.block_columns.values()
    opened = book.ledger.open_blocks(names, whole=whole)
    keep_open_blocks(catalog, division, opened)
    return Desk(engine, catalog, replace(book, blocks=opened))


def narrow_desk(desk: Desk, names: tuple[Any, ...]) -> Desk:
    """Return a desk at which the tables are their rows of some open blocks."""
    desk.refuse_strangers()
    opened, division = desk.book.blocks, desk.book.ledger.division
    if opened is None or division is None:
        raise InvalidQuery(
            "the tables of this session do not lie in blocks",
            'Try sd.PrivateTable(..., blocks="month") and '
            'sd.Session(..., blocks=sd.Blocks(start="2026-01", every="month")).',
        )
    chosen = _chosen_blocks(names, opened)
    return replace(
        desk,
        catalog=_narrow_catalog(desk.catalog, division, chosen),
        book=replace(desk.book, blocks=chosen),
        keysets={},
    )


def _chosen_blocks(names: tuple[Any, ...], opened: tuple[str, ...]) -> tuple[str, ...]:
    """Return the blocks that are named, in order; tables without blocks stay."""
    if not names:
        raise InvalidParameter("blocks", names, "must be named", 'Try "2026-01".')
    for name in names:
        if not isinstance(name, str):
            raise InvalidParameter("blocks", name, "must be text", 'Try "2026-01".')
        if name not in opened or name == WHOLE:
            known = [each for each in opened if each != WHOLE]
            newest = f"the newest is {known[-1]!r}" if known else "none is open yet"
            raise InvalidParameter(
                "blocks",
                name,
                f"must be an open block; {newest}",
                "A period opens when it is over, in UTC, for sessions made after it.",
            )
    wanted = {*names, WHOLE}
    return tuple(name for name in opened if name in wanted)


def _step_words(words: Callable[[], list[Words]], step: Words) -> list[Words]:
    return [*words(), step]


def _narrow_catalog(
    whole: Catalog, division: Blocks, names: tuple[str, ...]
) -> Catalog:
    """Return the tables with their rows of some blocks, and the views made anew."""
    divided = {name for name, column in whole.block_columns.items() if column}
    step = call("in_blocks", names=[name for name in names if name != WHOLE])
    narrowed = replace(
        whole,
        relations=dict(whole.ungated),
        worded={
            name: partial(_step_words, words, step) if name in divided else words
            for name, words in whole.worded.items()
            if name not in whole.views
        },
        sentences=dict(whole.sentences),
        layouts={},
        views={},
    )
    keep_open_blocks(narrowed, division, names)
    for name in whole.views:
        del narrowed.sentences[name]
    for name in divided:
        narrowed.sentences[name] = f"{whole.sentences[name]}: {blocks_text(names)}"
    for name, query in whole.views.items():
        narrowed.view(name, query)
    return narrowed


@final  # noqa: PLR0904 all that users ask of it
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
        budget: Budget | Limit | None = None,
        *,
        ledger: "str | os.PathLike[str] | Ledger | None" = None,
        blocks: Blocks | None = None,
        analyst: str | None = None,
        who: str = "",
        job: str = "",
        policy: "str | os.PathLike[str] | None" = None,
        engine: EngineName | None = None,
        memory_limit: str | None = None,
        threads: int | None = None,
        progress: bool = False,
    ) -> None:
        """Open the tables, reading their names and types, and the ledger.

        `analyst` names a budget of the ledger that is charged besides the dataset's;
        `who` is recorded with every release, and so is `job`: a text that they are all
        made by, which the ledger keeps once. With `blocks` the budget is that of each
        block of the tables, and new blocks bring new budget: those that are open now
        are read. The ledger obeys a signed `policy` from then on. Without `engine`,
        Spark answers if a private table lives in it, else DuckDB.
        """
        warn_of_weak(budget, 2)
        terms = Terms(budget, ledger, analyst, Remarks(who, job), blocks, policy)
        settings = Settings(memory_limit, threads, progress)
        name = engine_of_sources(private_sources(tables)) if engine is None else engine
        self._desk = open_desk(tables, terms, engine_named(name, settings))

    @overload
    def price(
        self, query: Marginals, budget: Budget, *, confidence: Any = CONFIDENCE
    ) -> MarginsPrice: ...
    @overload
    def price(
        self,
        query: Request,
        budget: Budget,
        *,
        confidence: Any = CONFIDENCE,
        sizes: int | Sequence[int] = SIZES,
    ) -> Price: ...

    @guard_call
    def price(
        self,
        query: Request | Marginals,
        budget: Budget,
        *,
        confidence: Any = CONFIDENCE,
        sizes: int | Sequence[int] = SIZES,
    ) -> Price | MarginsPrice:
        """Price of an answer, and how far it would be off.

        Nothing private is read or charged; what the policy forbids is refused. The
        error of a mean hangs on how many rows a group has: it is told for `sizes`.
        """
        margins = read_marginals(query, confidence)
        if margins is not None:
            return price_margins(self._desk, margins, budget)
        price = self._desk.price(read_request(query, confidence), budget)
        return price.with_sizes(sizes)

    @guard_call
    def price_all(
        self,
        queries: Mapping[str, Request],
        budget: Budget,
        *,
        weights: Given = None,
        confidence: Any = CONFIDENCE,
    ) -> Batch:
        """Price of requests that are planned together: more fits a budget.

        `weights` are as in `release_all`.
        """
        requests = read_requests(queries, confidence)
        return self._desk.price_all(requests, budget, weights)

    @guard_call
    def what_if(
        self, query: Request, budget: Budget, *, earmark: str | None = None
    ) -> Outlook:
        """Price of a release, and the budget after it; nothing is charged.

        A release that does not fit is refused, as `release` would refuse it.
        """
        request = read_request(query, CONFIDENCE)
        return self._desk.outlook(request, budget, earmark)

    @guard_call
    def suggest(  # noqa: PLR0913 what to try, and where it is seen
        self,
        query: Request,
        budget: Budget,
        sample: Any = None,
        limits: Mapping[str, Any] | None = None,
        *,
        share: Any = "0.05",
        key: str | None = None,
        people: int | None = None,
    ) -> Suggestion:
        """Table of limits and bounds: noise, what is lost, and both as an error.

        What is lost is seen in a `sample`, public or invented, at no cost: a table, or
        a dict of tables by name; `people` says of how many the table is, if not of as
        many as the sample. Without a sample it is asked of the data, which *charges* a
        `share` of the budget, as a release does; the noise is told for the rest.
        """
        terms = budget, sample, limits, share, people
        return suggest(self._desk, read_request(query, CONFIDENCE), terms, key)

    @guard_call
    def release(  # noqa: PLR0913 by keyword, and most are left out
        self,
        query: Request | Marginals,
        budget: Budget,
        *,
        key: str | None = None,
        why: str = "",
        earmark: str | None = None,
        confidence: Any = CONFIDENCE,
        population: bool = False,
    ) -> Release:
        """Charge the budget and return the noisy answer.

        The exact answer lies in each interval with a chance of at least `confidence`.

        With a `key` a repeated request returns the answer it had, at no cost, also
        after a crash or in another process of the same ledger. With an `earmark` it is
        paid from what was set aside (`session.ledger.earmark`).

        With `population` intervals of means and shares hold what is true of the
        population that the rows were drawn from at random, the noise and the draw
        together, with about that chance (docs/guides/inference.md).
        """
        warn_of_weak(budget, 3)
        if not isinstance(population, bool):
            raise InvalidParameter(
                "population", population, "must be True or False", "Leave it out."
            )
        details = {"key": key, "why": why, "earmark": earmark}
        margins = read_marginals(query, confidence)
        if margins is not None:
            if population:
                raise InvalidQuery(
                    "population=True is about means and shares, not tables of counts",
                    "Leave it out.",
                )
            return read_paid_margins(
                *pay_for_margins(self._desk, margins, budget, details)
            )
        request = read_request(query, confidence)
        request = replace(request, population=population)
        return read_paid(*self._desk.pay(request, budget, details))

    @guard_call
    def release_files(
        self,
        query: Request,
        budget: Budget,
        folder: "str | os.PathLike[str]",
        **options: Unpack[ReleaseOptions],
    ) -> ReleasedFiles:
        """Charge the budget and have Spark's workers write the noisy answer to files.

        For more groups than the driver holds; the options are those of `release`.
        """
        warn_of_weak(budget, 3)
        return release_files(self._desk, query, budget, folder, **options)

    @guard_call
    def release_all(  # noqa: PLR0913 by keyword, and most are left out
        self,
        queries: Mapping[str, Request],
        budget: Budget,
        *,
        weights: Given = None,
        key: str | None = None,
        why: str = "",
        earmark: str | None = None,
        confidence: Any = CONFIDENCE,
    ) -> Releases:
        """Charge one budget and return the answers of requests planned together.

        They share it evenly, by `weights` of their names, or with weights="cells" by
        log2(8 + 4 cells) of the number of groups of each. The answers are a dict by
        name; those of `.adjusted` agree with each other.
        """
        warn_of_weak(budget, 3)
        details = {"key": key, "why": why, "earmark": earmark}
        requests = read_requests(queries, confidence)
        paid = self._desk.pay_together(requests, budget, details, weights)
        return read_paid_together(requests, *paid)

    @overload
    def sql(
        self, text: str, budget: Budget, **options: Unpack[SqlOptions]
    ) -> Release: ...
    @overload
    def sql(
        self, text: str, budget: None = None, **options: Unpack[SqlOptions]
    ) -> Any: ...

    @guard_call
    def sql(  # noqa: PLR0913 by keyword, and most are left out
        self,
        text: str,
        budget: Budget | None = None,
        *,
        limits: sql_request.Limits = (),
        bounds: Mapping[str, tuple[Any, Any]] = sql_request.NOTHING,
        keys: KeySet | Mapping[str, Any] = sql_request.NOTHING,
        dialect: sql_request.SqlName = "duckdb",
        confidence: Any = CONFIDENCE,
        coverage: bool = False,
    ) -> Request | dict[str, Request] | Release:
        """Return the request that a text of SQL is, or its release with a budget.

        Of several groupings there is a request for each, and one release of all.
        `limits` bound what each id contributes, `bounds` the values of columns that are
        aggregated, `keys` name the groups beforehand (docs/guides/sql.md). `confidence`
        is of the intervals of a release; `coverage` counts what the limits and bounds
        cut off, for a tenth as much of the budget as an answer.
        """
        self._desk.refuse_strangers()
        options = (limits, bounds, keys, dialect)
        beside = sql_request.SqlGiven(*options, coverage=coverage)
        question = sql_request.sql_request(self._desk.catalog, text, budget, beside)
        return sql_request.sql_answer(self, question, confidence)

    @guard_call
    def partition(
        self, table: str, by: str, values: Any, budget: Budget, *, why: str = ""
    ) -> "dict[Any, Session]":
        """Return a session for each part of a table, each with the whole budget.

        The parts are the rows with each of some public values of a column; None stands
        for rows without one. They are charged once, as often as one protected unit can
        lie in several of them.
        """
        desks = self._desk.partition(table, by, values, budget, why)
        return {value: self._sit_at(desk) for value, desk in desks.items()}

    @guard_call
    def in_blocks(self, *names: str) -> "Session":
        """Return a session over the rows of some open blocks, which it alone charges.

        Tables without blocks stay. It has the engine and the ledger of this one.
        """
        return self._sit_at(narrow_desk(self._desk, names))

    @guard_call
    def view(self, name: str, query: Query) -> None:
        """Name what a query makes of a table, to be asked like a table."""
        self._desk.name_view(name, query)

    @guard_call
    def statement(self, query: Request, budget: Budget) -> str:
        """Return the statement that the engine would run; nothing runs."""
        purchase = self._desk.buy(read_request(query, CONFIDENCE), budget)
        return self._desk.engine.statement(purchase.plan.question)

    def forget(self) -> None:
        """Destroy the bounded rows that are kept for further questions.

        What needs them makes them again, of the tables as they are then.
        """
        self._desk.refuse_strangers()
        self._desk.engine.forget()

    def close(self) -> None:
        """Let go of the tables and destroy all copies of their rows; the ledger stays.

        Sessions of parts and of their whole have the tables in common. A forked
        process has nothing to let go of.
        """
        if os.getpid() == self._desk.process:
            self._desk.engine.close()

    def __enter__(self) -> Self:
        """Return the session, which is closed at the end of the block."""
        return self

    def __exit__(self, *failure: object) -> None:
        """Close the session."""
        self.close()

    @property
    def ledger(self) -> Ledger:
        """Return the ledger: to verify, to export, to allot budgets to analysts.

        It is all of it, whoever asks: who holds a session is trusted with it.
        """
        return self._desk.book.ledger

    @property
    def budget(self) -> Loss:
        """Promise of all releases together."""
        return self._desk.book.promise

    def share(self, part: Any) -> Loss:
        """Part of the whole budget, in the terms in which it answers most questions.

        Of an (epsilon, delta) that nothing was charged to yet that is mu: the first
        release of such a part has all be counted so (docs/guides/ledger.md). Else it
        is a part of what the limit counts.

        >>> import sordino as sd
        >>> table = sd.PrivateTable({"age": [34, 51]}, protects=sd.AddOneRow())
        >>> session = sd.Session({"t": table}, sd.ApproxDP(1, "1e-6"))
        >>> query = sd.table("t").agg(n=sd.count())
        >>> print(session.price(query, session.share("1/100")).errors["n"])
        sd 42.46, within ±83.73
        """
        share = probability(part=part)
        if not share:
            raise InvalidParameter(
                "part", part, "must be more than 0", 'Try session.share("1/100").'
            )
        return self._desk.book.share(share)

    @property
    def spent(self) -> Loss:
        """Sum of charges so far, which is bookkeeping: what holds is the budget."""
        return self._desk.book.spent

    @property
    def remaining(self) -> Loss:
        """Budget that is left."""
        return self._desk.book.remaining

    def describe(self) -> Description:
        """Public facts of the session, which print and show themselves.

        Tables and views, whom they protect, columns and what cannot be used and why,
        key sets that were released by, and what is left. In a script, where nothing
        shows itself, a line that does nothing else with them prints them.
        """
        described = describe_desk(self._desk, self.history())
        print_unused(described, sys._getframe(1))  # noqa: SLF001 the line that asks
        return described

    def history(self) -> tuple[Entry, ...]:
        """Return the releases so far, the first one first, of all who charge it.

        A session of an analyst has the own ones in full, and of others what cannot be
        hidden (`Ledger.history`).
        """
        name = self._desk.book.name
        return self.ledger.history(None if name == DATASET else name)

    def answer(self, key: str) -> "Release":
        """Return the answer of a key without asking again (`Ledger.answer`).

        A session of an analyst has the answers that were charged to that budget.
        """
        return self.ledger.answer(key, self._desk.book.name)

    def answers(self, key: str) -> "dict[str, Release]":
        """Return the answers by name that a key holds (`Ledger.answers`)."""
        return self.ledger.answers(key, self._desk.book.name)

    def __repr__(self) -> str:
        """Show the names of the tables and the budget."""
        catalog = self._desk.catalog
        tables = ", ".join([*catalog.relations, *catalog.publics])
        return f"Session({tables}; {self.remaining!r} of {self.budget!r} left)"

    def _repr_html_(self) -> str:  # noqa: PLW3201 the name notebooks look for
        return describe_desk(self._desk, self.history())._repr_html_()

    def __reduce__(self) -> NoReturn:
        """Refuse to be pickled or copied."""
        raise SessionMoved("copied or pickled")

    def _sit_at(self, desk: Desk) -> Self:
        """Return a session at a desk that is open: over part of the rows, paid for."""
        session = object.__new__(type(self))
        session._desk = desk
        return session
