"""A session over the rows of some blocks: the same ledger, and only these are charged.

Every table with blocks is filtered to them at its source, so whatever is asked then has
a cover among them (docs/proofs/queries.md, section 11).
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from sordino.budgets.table_blocks import WHOLE, Blocks
from sordino.budgets.touched import blocks_text
from sordino.errors import InvalidParameter, InvalidQuery
from sordino.session.catalog import Catalog
from sordino.session.desk import Desk
from sordino.session.open_blocks import keep_open_blocks
from sordino.words import Words, call


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
    """Return what a table stands for, and the step from it to some of its blocks."""
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
