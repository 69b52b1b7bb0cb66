"""Blocks on a terminal and as JSON."""

from itertools import starmap
from typing import Any, Final

from sordino.cli.odds_text import odds, odds_sentence
from sordino.cli.terminal import say, text_table, write
from sordino.ledger.block_rows import (
    BLOCK_HEADING,
    PERSON_HEADING,
    block_rows,
    exposure_rows,
    in_a_row,
    sum_text,
    worst_exposures,
)
from sordino.ledger.exposure import Exposure
from sordino.ledger.ledger import Ledger
from sordino.losses.headline import headline

_SHOWN: Final = 36


def show_blocks(ledger: Ledger) -> None:
    """Show each block, and what one person in several of them is charged."""
    blocks, exposures = (
        ledger.blocks(),
        worst_exposures(ledger.division, ledger.exposure),
    )
    write()
    shown = blocks[-_SHOWN:]
    text_table([BLOCK_HEADING, *block_rows(shown)])
    if len(shown) < len(blocks):
        say(f"... and {len(blocks) - len(shown):,} before them (--json lists all)")
    write()
    text_table([PERSON_HEADING, *exposure_rows(exposures, blocks)])
    size, longest = exposures[-1]
    say(f"In {in_a_row(size)} at most, ever: {odds_sentence(longest.promise)}")


def block_facts(ledger: Ledger) -> dict[str, Any]:
    """Return the same for JSON."""
    return {
        "blocks": [
            {
                "name": block.name,
                "opened": block.opened.isoformat(),
                "limit": headline(block.limit),
                "spent": sum_text(block.spent),
                "left": sum_text(block.remaining),
            }
            for block in ledger.blocks()
        ],
        "persons": list(
            starmap(_exposure_facts, worst_exposures(ledger.division, ledger.exposure))
        ),
    }


def longest_exposure(ledger: Ledger) -> dict[str, Any]:
    """Return what a person loses who is in a year of blocks, for JSON."""
    return _exposure_facts(*worst_exposures(ledger.division, ledger.exposure)[-1])


def _exposure_facts(size: int, exposure: Exposure) -> dict[str, Any]:
    """Return what a person in so many blocks loses, for JSON."""
    return {
        "blocks": size,
        "worst": list(exposure.blocks),
        "charged": sum_text(exposure.charged),
        "most": headline(exposure.promise),
        "odds": odds(exposure.promise),
    }
