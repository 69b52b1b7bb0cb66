"""A key set as a page for notebooks: keys are public."""

from typing import Final

from sordino.display.elements import html_aside, html_line, html_page, html_table
from sordino.keysets.product import Product

_MOST_LISTED: Final = 100_000
"""Keys of a set that may be listed to show its first ones."""
_FIRST: Final = 8


def keyset_page(tree: Product) -> str:
    """Return how many keys there are, their columns, and the first few."""
    title = html_line(f"{tree.extent}")
    if tree.at_most > _MOST_LISTED:
        columns = [(name, facts.type) for name, facts in tree.schema.columns]
        return html_page(title, html_table(("column", "type"), columns))
    keys = tree.table
    rows = [
        [str(cell) for cell in row.values()]
        for row in keys.slice(0, _FIRST).to_pylist()
    ]
    rest = keys.num_rows - len(rows)
    return html_page(
        title,
        html_table(tree.names, rows),
        html_aside(f"... and {rest:,} more") if rest else "",
    )
