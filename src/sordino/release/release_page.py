"""A release as a small table for notebooks, with its intervals as bars."""

from sordino.display.elements import html_aside, html_line, html_page, safe_text
from sordino.display.formatting import format_percent
from sordino.display.small_bars import interval_bar, scale_of
from sordino.release.cell_texts import Figure, RowTexts, row_texts
from sordino.release.coverage_table import coverage_lines
from sordino.release.release_view import ReleaseView

_FEW = 4
"""Columns with more answers than this have no bars: they would not fit."""


def release_page(release: ReleaseView) -> str:
    """Return the table, what it leaves out, and its price."""
    shown = row_texts(release)
    rest = len(release) - len(shown)
    scales = [
        scale_of([end for row in shown for end in row.figures[place].ends])
        if len(release.names) <= _FEW
        else None
        for place in range(len(release.names))
    ]
    rows = "".join(_row(row, scales) for row in shown)
    return html_page(
        f"<table><thead>{_head_rows(release, scales)}</thead>",
        f"<tbody>{rows}</tbody></table>",
        html_aside(f"... and {rest:,} more rows") if rest else "",
        "" if shown else html_aside("no rows"),
        *map(html_aside, coverage_lines(release.coverage)),
        html_line(f"price: {release.price}"),
    )


def _head_rows(release: ReleaseView, scales: "list[tuple[float, float] | None]") -> str:
    """Return the names of the columns; below, what stands in each."""
    keys = "".join(f'<th rowspan="2">{safe_text(name)}</th>' for name in release.keys)
    spans = [3 if scale is None else 4 for scale in scales]
    names = "".join(
        f'<th colspan="{span}" class="first">{safe_text(name)}</th>'
        for name, span in zip(release.names, spans, strict=True)
    )
    share = f"{format_percent(release.confidence)} interval"
    below = "".join(
        '<th class="number first">value</th><th class="number">± sd</th>'
        f'<th class="number">{share}</th>{"" if scale is None else "<td></td>"}'
        for scale in scales
    )
    return f"<tr>{keys}{names}</tr><tr>{below}</tr>"


def _row(row: RowTexts, scales: "list[tuple[float, float] | None]") -> str:
    """Return a group."""
    keys = "".join(f"<td>{safe_text(key)}</td>" for key in row.keys)
    return f"<tr>{keys}{''.join(map(_figure, row.figures, scales))}</tr>"


def _figure(figure: Figure, scale: "tuple[float, float] | None") -> str:
    """Return a number, its deviation, its interval, and both as a picture."""
    value, low, high = figure.ends
    cells = (
        f'<td class="number first">{safe_text(figure.value)}</td>'
        f'<td class="number aside">{safe_text(figure.sd and "± " + figure.sd)}</td>'
        f'<td class="number aside">{safe_text(figure.interval)}</td>'
    )
    if scale is None:
        return cells
    label = f"{figure.value}, interval {figure.interval}"
    return f"{cells}<td>{interval_bar(value, (low, high), scale, label)}</td>"
