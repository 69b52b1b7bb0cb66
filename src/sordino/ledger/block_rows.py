"""Blocks of a ledger in words: what each was charged, and what a person in several is.

>>> left_text({"2026-01": "nothing", "2026-02": "mu = 0.1", "2026-03": "mu = 0.1"})
'nothing in 2026-01; mu = 0.1 in 2026-02 and 2026-03'
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import groupby
from operator import itemgetter
from typing import Final, TypeAlias

from sordino.budgets.table_blocks import WHOLE, Blocks
from sordino.budgets.touched import blocks_text
from sordino.ledger.exposure import Block, Exposure
from sordino.losses.base import Loss
from sordino.losses.headline import headline

Windows: TypeAlias = tuple[tuple[int, Exposure], ...]
"""How many blocks in a row, and what people of so many lost at most."""
WINDOWS: Final[Mapping[str, tuple[int, ...]]] = {
    "year": (1, 3, 12),
    "quarter": (1, 4, 12),
    "month": (1, 3, 12),
    "week": (1, 4, 52),
    "day": (1, 30, 365),
    "name": (1, 2),
}
"""How many blocks in a row are told of, for each kind."""
BLOCK_HEADING: Final = ("block", "opened", "limit", "spent", "left")
PERSON_HEADING: Final = ("one person in a row of", "charged so far", "at most, ever")


def worst_exposures(
    division: Blocks | None, exposure: Callable[[int], Exposure]
) -> Windows:
    """Return how many blocks in a row, and what a person in them is charged."""
    sizes = () if division is None else WINDOWS[division.every]
    return tuple((size, exposure(size)) for size in sizes)


def block_rows(blocks: Iterable[Block]) -> Iterator[tuple[str, ...]]:
    """Yield the row of each block."""
    for block in blocks:
        yield (
            blocks_text((block.name,)),
            f"{block.opened:%Y-%m-%d}",
            headline(block.limit),
            sum_text(block.spent),
            sum_text(block.remaining),
        )


def exposure_rows(
    exposures: Windows, blocks: Iterable[Block]
) -> Iterator[tuple[str, ...]]:
    """Yield what a person loses who is in so many blocks, at worst and at most."""
    beside = f" + {blocks_text((WHOLE,))}"
    too = beside if any(block.name == WHOLE for block in blocks) else ""
    for size, exposure in exposures:
        noun = "block" if size == 1 else "blocks"
        yield (
            f"{size} {noun}{_worst_text(exposure.blocks)}{too}",
            sum_text(exposure.charged),
            headline(exposure.promise),
        )


def _worst_text(names: tuple[str, ...]) -> str:
    """Return the neighbours whose people lost most; none before any is open."""
    if not names:
        return ""
    return f" (worst: {' to '.join(dict.fromkeys([names[0], names[-1]]))})"


def left_in(blocks: Iterable[Block], names: tuple[str, ...]) -> dict[str, str]:
    """Return what is left of some blocks by name."""
    return {
        block.name: sum_text(block.remaining) for block in blocks if block.name in names
    }


def left_text(left: Mapping[str, str]) -> str:
    """Return what is left in blocks, neighbours of whom the same is left together."""
    return "; ".join(
        f"{rest} in {blocks_text(tuple(name for name, _ in run))}"
        for rest, run in groupby(left.items(), itemgetter(1))
    )


def sum_text(loss: Loss) -> str:
    """Return a sum of charges, which may be nothing."""
    return headline(loss) if any(loss.sums.values()) else "nothing"


def in_a_row(size: int) -> str:
    """Return how many blocks in a row.

    >>> in_a_row(1), in_a_row(12)
    ('1 block', '12 blocks in a row')
    """
    return "1 block" if size == 1 else f"{size} blocks in a row"
