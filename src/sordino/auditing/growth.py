"""What one person loses over all releases of a table that grows, beside its blocks.

moments (tables then, and what is asked) ── ledger ── what each block was charged
        │                                                       │
the same tables with somebody ── losses of all releases ── beside it

The charges are those of a ledger in memory: what it refuses is not measured, and what
it lets pass counts, however much of the budget it says is left. Tables are invented.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, final

from sordino.auditing.loss_meter import (
    PairLoss,
    Tables,
    exact_totals,
    losses_of,
    worst_of,
)
from sordino.engines.engine import AbstractEngine
from sordino.errors import BudgetExceeded
from sordino.ledger.ledger import Ledger, Limit
from sordino.losses.budgets.blocks import WHOLE, Blocks
from sordino.losses.loss import Budget, Loss, PureDP
from sordino.query.groups import Marginals
from sordino.session.charging import Remarks, Terms
from sordino.session.executor import Desk, pay_for_margins
from sordino.session.session import open_desk
from sordino.session.tables import open_catalog


@final
class GrowthMoment(NamedTuple):
    """Tables at a time, and what is asked of them then."""

    tables: Tables
    requests: Sequence[tuple[Any, Budget]]
    """Requests, margins, or several by name, each with its budget."""


@final
class GrowthMeter(NamedTuple):
    """Releases of tables that grow, as a ledger with blocks charged them."""

    ledger: Ledger
    exact: list[list[Any]]
    """Exact totals of each purchase, by moment."""

    @staticmethod
    def release(
        moments: Iterable[GrowthMoment],
        limit: Loss,
        blocks: Blocks,
        engine: Callable[[], AbstractEngine],
    ) -> "GrowthMeter":
        """Release all that the budget of the blocks allows, moment by moment."""
        ledger = Ledger.in_memory(Limit.of(limit), blocks=blocks)
        terms = Terms(None, ledger, None, Remarks(), blocks, None)
        exact: list[list[Any]] = []
        for tables, requests in moments:
            desk = open_desk(tables, terms, engine())
            exact.append([
                exact_totals(each, desk.engine.answer)
                for request, budget in requests
                for each in _pay(desk, request, budget)
            ])
        return GrowthMeter(ledger, exact)

    def measure(
        self,
        moments: Sequence[Tables],
        own: Iterable[str],
        engine: Callable[[], AbstractEngine],
    ) -> PairLoss:
        """Loss of somebody with rows in the blocks `own`, who is in these tables.

        It is held against each promise that is made of the blocks: what one of them was
        charged, or the most that anybody in so many was; and as many limits as they
        are. Whoever is in none loses nothing. The greatest ratio is told.
        """
        pairs: list[tuple[Any, Any]] = []
        for tables, there in zip(moments, self.exact, strict=True):
            beside = engine()
            open_catalog(beside, tables)
            pairs += (
                (exact, exact_totals(exact.purchase, beside.answer)) for exact in there
            )
        promises = [*self._promises(frozenset(own))]
        return worst_of(
            lost.compare(most, most) for lost in losses_of(pairs) for most in promises
        )

    def _promises(self, own: frozenset[str]) -> Iterator[Loss]:
        """Yield what is said that somebody lost at most, who is in some blocks."""
        opened = self.ledger.blocks()
        mine = [block for block in opened if block.name in own]
        if not mine:
            yield PureDP(0)
            return
        yield self.ledger.first_limit().rule.times(len(mine)).promise
        few = sum(block.name != WHOLE for block in mine)
        if len(mine) == 1:
            yield mine[0].spent
        elif few:
            yield self.ledger.exposure(len(opened), few).charged


def _pay(desk: Desk, request: Any, budget: Budget) -> Sequence[Any]:
    """Return the purchases of a request; none, where the ledger refuses the charge."""
    details: dict[str, Any] = {"key": None, "why": "", "earmark": None}
    try:
        if isinstance(request, Marginals):
            return [pay_for_margins(desk, request, budget, details)[0]]
        if isinstance(request, Mapping):
            bundle, _ = desk.pay_together(dict(request), budget, details, None)
            return [*bundle.charged_purchases.values()]
        return [desk.pay(request, budget, details)[0]]
    except BudgetExceeded:
        return []
