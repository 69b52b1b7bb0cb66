"""A session as a page for notebooks."""

from collections.abc import Iterable

from sordino.display.elements import (
    html_aside,
    html_line,
    html_page,
    html_table,
    html_title,
)
from sordino.session.holding import Holding

_HEADING = ("column", "type", "may be missing")


def description_page(
    holdings: Iterable[Holding],
    keysets: Iterable[str],
    *ledger_parts: str,
) -> str:
    """Return tables with their columns, and what the ledger shows of itself."""
    return html_page(
        *(part for holding in holdings for part in _holding_parts(holding)),
        *(html_line(f"asked by: {keyset}") for keyset in keysets),
        *ledger_parts,
    )


def _holding_parts(holding: Holding) -> Iterable[str]:
    """Yield a table or a view: its name, its columns, and what cannot be used."""
    yield html_title(holding.name, holding.sentence)
    yield html_table(_HEADING, holding.first_columns)
    if holding.rest:
        yield html_aside(f"... and {holding.rest:,} more")
    for name, why in holding.unusable:
        yield html_title(name, f"cannot be used: {why}")
