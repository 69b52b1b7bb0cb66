"""A session: private tables, a budget, and noisy answers that are charged to it.

validate and price (public facts) ── charge ── exact totals ── noise ── release
"""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final, Literal, NoReturn, final

from sordino import _validate
from sordino.accounting.account import Account
from sordino.engines.base import AbstractEngine
from sordino.errors import InvalidParameter, InvalidQuery, SessionMoved
from sordino.losses.base import Budget, Loss
from sordino.query.builder import Query
from sordino.query.price import Price, price
from sordino.query.request import Request
from sordino.release.answering import answered
from sordino.session.catalog import catalog_of
from sordino.units import column_name

if TYPE_CHECKING:
    from sordino.release.release import Release

EngineName = Literal["duckdb", "memory"]

_MOST_THREADS: Final = 4096
_SIZE: Final = re.compile(r"[1-9][0-9]{0,5}(\.[0-9]{1,3})? ?[KMGT]i?B")


@final
@dataclass(frozen=True)
class Entry:
    """One release in the history of a session."""

    number: int
    when: datetime
    asked: str
    """The request as it was written."""
    budget: Budget
    loss: Loss
    key: str | None


@final
class Session:
    """Tables, a budget that lasts as long as the session, and questions about them.

    Every release is charged before the data is read, exactly, and never refunded. A
    session belongs to the process that made it: a fork, a pickle or a copy of it would
    spend the budget again, so they refuse.

    >>> import sordino as sd
    >>> visits = {"ward": ["A", "A", "B"], "days": [2, 5, 1]}
    >>> session = sd.Session(
    ...     tables={"visits": sd.PrivateTable(visits, protects=sd.AddOneRow())},
    ...     budget=sd.PureDP(2),
    ... )
    >>> query = sd.table("visits").agg(n=sd.count(), days=sd.sum("days", 0, 30))
    >>> session.price(query, sd.PureDP(1)).noise["days"]
    (Geometric(scale=60, dtype='i64'),)
    >>> release = session.release(query, sd.PureDP(1))
    >>> session.remaining
    PureDP(epsilon=1)
    """

    def __init__(
        self,
        tables: Mapping[str, Any],
        budget: Budget,
        *,
        engine: EngineName = "duckdb",
        memory_limit: str | None = None,
        threads: int | None = None,
        progress: bool = False,
    ) -> None:
        """Open the tables: names and types are read, no rows."""
        self._account = Account(budget)
        self._engine = _engine(engine, memory_limit, threads, progress=progress)
        self._catalog = catalog_of(self._engine, tables)
        self._entries: list[Entry] = []
        self._stored: dict[str, tuple[str, Release]] = {}
        self._process = os.getpid()

    def price(self, query: Request, budget: Budget) -> Price:
        """Return what an answer would cost and how far it would be off.

        No private data is read, and nothing is charged.
        """
        self._refuse_strangers()
        return price(_request(query), self._catalog, budget)

    def release(
        self, query: Request, budget: Budget, *, key: str | None = None
    ) -> "Release":
        """Charge the budget and return the noisy answer.

        With a `key` a repeated request returns the answer it had, at no cost.
        """
        if key is not None:
            key = column_name(key=key)
        found = self.price(query, budget)
        if key is not None and key in self._stored:
            return self._repeated(key, found)
        question = found.question
        self._account.charge(budget, found.loss)
        entry = Entry(
            len(self._entries) + 1,
            datetime.now(UTC),
            repr(query),
            budget,
            found.loss,
            key,
        )
        self._entries.append(entry)
        chosen = {
            part: self._engine.answer(asked)
            for part, asked in found.choice_questions.items()
        }
        release = answered(found, self._engine.answer(question), chosen)
        if key is not None:
            self._stored[key] = (_asked(found), release)
        return release

    def view(self, name: str, query: Query) -> None:
        """Name what a query makes of a table, to be asked like a table."""
        self._refuse_strangers()
        if not isinstance(query, Query):
            raise InvalidParameter(
                "query", query, "is no query of rows", 'Try sd.table("visits").'
            )
        self._catalog.refuse_known(column_name(name=name))
        self._catalog.relations[name] = query.resolve(self._catalog)

    def statement(self, query: Request, budget: Budget) -> str:
        """Return the statement that the engine would run; nothing runs."""
        found = self.price(query, budget)
        return self._engine.statement(found.question)

    @property
    def budget(self) -> Budget:
        """Return what may be spent in all."""
        return self._account.limit

    @property
    def spent(self) -> Loss:
        """Return what was charged so far."""
        return self._account.spent

    @property
    def remaining(self) -> Loss:
        """Return what is left."""
        return self._account.remaining

    def history(self) -> tuple[Entry, ...]:
        """Return the releases so far, the first one first."""
        return tuple(self._entries)

    def __repr__(self) -> str:
        """Show the names of the tables and the budget."""
        tables = ", ".join([*self._catalog.relations, *self._catalog.publics])
        return f"Session({tables}; {self.remaining!r} of {self.budget!r} left)"

    def __reduce__(self) -> NoReturn:
        """Refuse to be pickled or copied."""
        raise SessionMoved("copied or pickled")

    def _repeated(self, key: str, found: Price) -> "Release":
        """Return the answer that a key had, if it is the same request."""
        asked, release = self._stored[key]
        if asked != _asked(found):
            raise InvalidQuery(
                f"the key {key!r} belongs to another request", "Choose another key."
            )
        return release

    def _refuse_strangers(self) -> None:
        """Refuse to work in a process that did not make the session."""
        if os.getpid() != self._process:
            raise SessionMoved("used in a forked process")


def _asked(found: Price) -> str:
    """Return what makes two requests the same."""
    return f"{found.request!r} {found.plan} {found.budget!r}"


def _request(query: Any) -> Request:
    """Return a request, refusing a query that asks nothing yet."""
    if isinstance(query, Request):
        return query
    raise InvalidParameter(
        "query", query, "asks nothing yet", "End it with .agg(n=sd.count())."
    )


def _engine(
    name: Any, memory_limit: str | None, threads: int | None, *, progress: bool
) -> AbstractEngine:
    """Return a new engine."""
    if _validate.choice(("duckdb", "memory"), engine=name) == "memory":
        from sordino.engines.memory import MemoryEngine  # noqa: PLC0415 on demand

        return MemoryEngine()
    from sordino.engines.duckdb import DuckDBEngine  # noqa: PLC0415 on demand

    if threads is not None:
        threads = _validate.integer(threads=threads, least=1, most=_MOST_THREADS)
    if memory_limit is not None:
        _refuse_size(memory_limit)
    return DuckDBEngine(memory_limit=memory_limit, threads=threads, progress=progress)


def _refuse_size(memory_limit: Any) -> None:
    """Refuse a size of memory that an engine would not understand later."""
    if not isinstance(memory_limit, str) or not _SIZE.fullmatch(memory_limit):
        raise InvalidParameter(
            "memory_limit",
            memory_limit,
            "must be a size such as 2GB or 512MB",
            'Try memory_limit="2GB".',
        )
