"""What a session shows of itself, gathered from its tables and its ledger."""

from sordino.ledger.block_rows import worst_exposures
from sordino.ledger.entries import Entry
from sordino.session.description import Description
from sordino.session.desk import Desk


def describe_desk(desk: Desk, entries: tuple[Entry, ...]) -> Description:
    """Return what everybody may know of the tables, the budget and the releases."""
    book = desk.book
    return Description(
        desk.catalog.holdings(),
        tuple(desk.keysets),
        book.remaining,
        book.promise,
        entries,
        book.blocks_read(),
        worst_exposures(book.ledger.division, book.ledger.exposure),
    )
