"""The ledger as a session uses it: charge, compute once, keep, give back.

reserve (durable) ── compute ── store (durable) ── what may leave
"""

import logging
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

from sordino.accounting.entries import DATASET, Claim
from sordino.accounting.ledger import Ledger
from sordino.accounting.limits import Limit
from sordino.errors import InvalidParameter
from sordino.losses.base import Budget, Loss

_LOG = logging.getLogger("sordino")


@final
@dataclass(frozen=True, eq=False)
class Book:
    """A ledger, the budget in it that is charged, and who charges it."""

    ledger: Ledger
    name: str = DATASET
    who: str = ""

    def answer(
        self,
        request: str,
        priced: tuple[Budget, Loss],
        told: dict[str, Any],
        compute: Callable[[], bytes],
    ) -> bytes:
        """Charge a request and return its answer; a known key returns what it had.

        `priced` is what was asked and what it costs; `told` may hold key, why and plan.
        """
        asked, loss = priced
        claim = Claim(
            request=request,
            asked=asked,
            loss=loss,
            budget=self.name,
            who=self.who,
            **told,
        )
        ticket = self.ledger.reserve(claim)
        if ticket.answer is not None:
            return ticket.answer
        return self.ledger.store(ticket, compute())

    def left_after(self, request: str, asked: Budget, loss: Loss) -> Loss:
        """Return what would be left; a request that does not fit is refused."""
        claim = Claim(
            request=request, asked=asked, loss=loss, budget=self.name, who=self.who
        )
        return self.ledger.what_if(claim)


def book_of(
    budget: Any, ledger: Any, about: str, analyst: str | None, who: str
) -> Book:
    """Return the book of a session: in a file, or for a try-out in memory.

    A file that is missing is made, and that is said; give `sd.Ledger.at(path)` to
    insist that it is there.
    """
    name = DATASET if analyst is None else analyst
    if isinstance(ledger, Ledger):
        return Book(ledger, name, who)
    if ledger is None:
        return Book(Ledger.in_memory(_limit(budget), about=about), name, who)
    if not isinstance(ledger, (str, os.PathLike)):
        raise InvalidParameter(
            "ledger", ledger, "must be a path", 'Try ledger="clinic.ledger".'
        )
    if not Path(ledger).exists():
        _LOG.warning("a new ledger, with nothing spent, is made at %s", ledger)
    opened = Ledger.at(ledger, _limit(budget), create=True, about=about)
    return Book(opened, name, who)


def _limit(budget: Any) -> Limit:
    """Return the limit of a budget, or one that says how it is counted."""
    return budget if isinstance(budget, Limit) else Limit.of(budget)
