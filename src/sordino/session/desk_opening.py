"""How a session begins: its tables, its ledger, and the blocks that are open.

tables (names and types) ── ledger ── open blocks ── only their rows are read
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from sordino.engines.door import Settings
from sordino.engines.doors import EngineName, engine_named, engine_of_sources
from sordino.ledger.opening import read_blocks
from sordino.session.book import Terms, open_book
from sordino.session.catalog import open_catalog, private_sources
from sordino.session.desk import Desk
from sordino.session.files_read import files_behind
from sordino.session.identity import protection_text
from sordino.session.open_blocks import keep_open_blocks, refuse_unfit_tables


def open_desk(
    tables: Mapping[str, Any],
    terms: Terms,
    engine: EngineName | None,
    settings: Settings,
) -> Desk:
    """Return a desk over some tables; what does not fit is refused before all else."""
    name = engine_of_sources(private_sources(tables)) if engine is None else engine
    holder = engine_named(name, settings)
    catalog = open_catalog(holder, tables)
    blocks = read_blocks(terms.blocks, None)
    if blocks is not None or terms.begins:
        refuse_unfit_tables(catalog, blocks)
    book = open_book(terms, protection_text(tables))
    division = book.ledger.division
    refuse_unfit_tables(catalog, division)
    book.adopt(terms.policy)
    book = replace(book, files=files_behind(tables))
    if division is None:
        return Desk(holder, catalog, book)
    names = () if blocks is None else blocks.names
    whole = None in catalog.block_columns.values()
    opened = book.ledger.open_blocks(names, whole=whole)
    keep_open_blocks(catalog, division, opened)
    return Desk(holder, catalog, replace(book, blocks=opened))
