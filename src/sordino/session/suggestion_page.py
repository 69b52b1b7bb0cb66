"""A suggestion as a page for notebooks."""

from collections.abc import Iterable, Sequence

from sordino.display.elements import html_aside, html_page, html_table


def suggestion_page(
    heading: Sequence[str], rows: Iterable[Sequence[str]], remarks: Iterable[str]
) -> str:
    """Return the choices as a table, and what is to be known of it."""
    return html_page(html_table(heading, rows), *map(html_aside, remarks))
