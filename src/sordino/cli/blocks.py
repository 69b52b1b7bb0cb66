"""Blocks as lines and as JSON: what each was charged, and a person in several."""

from collections.abc import Iterator, Mapping
from itertools import groupby
from operator import itemgetter
from typing import Any, Final

from sordino.budgets.touched import blocks_text
from sordino.cli.odds import odds, odds_sentence
from sordino.cli.terminal import say, text_table, write
from sordino.ledger.exposure import Block, Exposure
from sordino.ledger.ledger import Ledger
from sordino.losses.base import Loss
from sordino.losses.headline import headline

WINDOWS: Final[Mapping[str, tuple[int, ...]]] = {
    "year": (1, 3, 12),
    "quarter": (1, 4, 12),
    "month": (1, 3, 12),
    "week": (1, 4, 52),
    "day": (1, 30, 365),
    "name": (1, 3, 12),
}
"""How many blocks in a row are told of, for each kind."""
_SHOWN: Final = 36


def show_blocks(ledger: Ledger) -> None:
    """Show each block, and what one person in several of them is charged."""
    blocks = ledger.blocks()
    write()
    shown = blocks[-_SHOWN:]
    text_table([("block", "opened", "limit", "spent", "left"), *map(_row, shown)])
    if len(shown) < len(blocks):
        say(f"... and {len(blocks) - len(shown):,} before them (--json lists all)")
    write()
    rows = [
        (
            _people(size, exposure),
            _sum(exposure.charged),
            headline(exposure.promise),
        )
        for size, exposure in exposures(ledger)
    ]
    text_table([("one person, at worst", "charged so far", "at most, ever"), *rows])
    *_, (size, longest) = exposures(ledger)
    say(f"In {_count(size)} at most, ever: {odds_sentence(longest.promise)}")


def block_facts(ledger: Ledger) -> dict[str, Any]:
    """Return the same for JSON."""
    return {
        "blocks": [
            {
                "name": block.name,
                "opened": block.opened.isoformat(),
                "limit": headline(block.limit),
                "spent": headline(block.spent),
                "left": headline(block.remaining),
            }
            for block in ledger.blocks()
        ],
        "persons": [
            {
                "blocks": size,
                "worst": list(exposure.blocks),
                "charged": headline(exposure.charged),
                "most": headline(exposure.promise),
                "odds": odds(exposure.promise),
            }
            for size, exposure in exposures(ledger)
        ],
    }


def exposures(ledger: Ledger) -> Iterator[tuple[int, Exposure]]:
    """Yield how many blocks in a row, and what a person in them is charged."""
    division = ledger.division
    for size in () if division is None else WINDOWS[division.every]:
        yield size, ledger.exposure(size)


def _row(block: Block) -> tuple[str, ...]:
    """Return the line of a block."""
    return (
        blocks_text((block.name,)),
        f"{block.opened:%Y-%m-%d}",
        headline(block.limit),
        _sum(block.spent),
        _sum(block.remaining),
    )


def left_in(ledger: Ledger, names: tuple[str, ...]) -> dict[str, str]:
    """Return what is left of some blocks by name."""
    return {
        block.name: _sum(block.remaining)
        for block in ledger.blocks()
        if block.name in names
    }


def left_text(left: Mapping[str, str]) -> str:
    """Return what is left in blocks, neighbours of whom the same is left together.

    >>> left_text({"2026-01": "nothing", "2026-02": "mu = 0.1", "2026-03": "mu = 0.1"})
    'nothing in 2026-01; mu = 0.1 in 2026-02 and 2026-03'
    """
    return "; ".join(
        f"{sum_text} in {blocks_text(tuple(name for name, _ in run))}"
        for sum_text, run in groupby(left.items(), itemgetter(1))
    )


def _sum(loss: Loss) -> str:
    """Return a sum of charges, which may be nothing."""
    return headline(loss) if any(loss.sums.values()) else "nothing"


def _people(size: int, exposure: Exposure) -> str:
    """Return who it is that a window is told of."""
    where = f" ({blocks_text(exposure.blocks)})" if exposure.blocks else ""
    return f"in {_count(size)}{where}"


def _count(size: int) -> str:
    """Return how many blocks in a row."""
    return "1 block" if size == 1 else f"{size} blocks in a row"
