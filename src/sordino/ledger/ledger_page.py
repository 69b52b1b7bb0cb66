"""A ledger as a page for notebooks: a bar for each budget, and the last releases."""

from collections.abc import Iterable, Mapping
from typing import Final, Protocol

from sordino.budgets.limits import Limit
from sordino.budgets.table_blocks import Blocks
from sordino.display.elements import (
    html_aside,
    html_line,
    html_page,
    html_table,
    safe_text,
)
from sordino.display.small_bars import share_bar
from sordino.ledger.block_rows import (
    BLOCK_HEADING,
    PERSON_HEADING,
    Windows,
    block_rows,
    exposure_rows,
    worst_exposures,
)
from sordino.ledger.entries import DATASET, Entry
from sordino.ledger.exposure import Block, Exposure
from sordino.losses.base import Loss
from sordino.numbers import INFINITE

LAST: Final = 5
"""Releases that are shown."""
NEWEST: Final = 24
"""Blocks that are shown."""


class ShownLedger(Protocol):
    """What of a ledger is shown."""

    @property
    def division(self) -> Blocks | None:
        """Return what its blocks are."""

    def limits(self) -> Mapping[str, Limit]:
        """Return the limit of each budget."""

    def first_limit(self, budget: str = ...) -> Limit:
        """Return what holds of a budget."""

    def remaining(self, budget: str = ...) -> Loss:
        """Return what is left of a budget."""

    def entries(self) -> tuple[Entry, ...]:
        """Return its releases."""

    def blocks(self) -> tuple[Block, ...]:
        """Return its blocks."""

    def exposure(self, window: int) -> Exposure:
        """Return what people of so many blocks lost, at most."""


def ledger_page(about: str, ledger: ShownLedger) -> str:
    """Return what a ledger is for, its budgets with what is left, and its releases."""
    blocks = ledger.blocks()
    titles = {DATASET: f"{DATASET}, in every block,"} if blocks else {}
    bars = (
        budget_line(
            titles.get(name, name),
            ledger.remaining(name),
            ledger.first_limit(name).rule.promise,
        )
        for name in ledger.limits()
    )
    tables = block_tables(blocks, worst_exposures(ledger.division, ledger.exposure))
    return html_page(html_line(about), *bars, tables, entry_table(ledger.entries()))


def block_tables(blocks: tuple[Block, ...], exposures: Windows) -> str:
    """Return the newest blocks, and what a person in several loses; "" without."""
    hidden = len(blocks) - NEWEST
    before = [html_aside(f"{hidden:,} blocks before them")] if hidden > 0 else []
    return "".join([
        html_table(BLOCK_HEADING, block_rows(blocks[-NEWEST:])),
        *before,
        html_table(PERSON_HEADING, exposure_rows(exposures, blocks)),
    ])


def budget_line(name: str, left: Loss, whole: Loss) -> str:
    """Return a bar that fills as a budget is spent, and what is left in words."""
    share = spent_share(left, whole)
    words = f"{safe_text(name)} left: {safe_text(left)} of {safe_text(whole)}"
    if share is None:
        return f"<p>{words}</p>"
    return f"<p>{share_bar(share, f'{100 * share:.0f} % is spent')} {words}</p>"


def spent_share(left: Loss, whole: Loss) -> float | None:
    """Return how much of a budget is spent, by whatever is nearest its end.

    None where nothing of it is a number that can be used up.

    >>> from sordino.losses.base import PureDP
    >>> spent_share(PureDP(1), PureDP(4))
    0.75
    """
    parts = [
        1 - float(left.sums.get(name, 0)) / float(most)
        for name, most in whole.sums.items()
        if most is not INFINITE and most > 0
    ]
    return max(parts, default=None)


def entry_table(entries: Iterable[Entry]) -> str:
    """Return the last releases, the newest first."""
    shown = list(entries)[-LAST:][::-1]
    rows = (
        (
            str(entry.number),
            f"{entry.when:%Y-%m-%d %H:%M %Z}",
            entry.who,
            entry.key or "",
            entry.why,
            entry.asked or "of another budget",
        )
        for entry in shown
    )
    return html_table(("release", "when", "who", "key", "why", "asked"), rows)
