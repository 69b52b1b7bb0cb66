"""A release as a small table for notebooks; all text is escaped."""

from html import escape
from typing import Final

from sordino.display import formatting
from sordino.display.formatting import format_percent
from sordino.release.cell_texts import Figure, RowTexts, row_texts
from sordino.release.coverage_table import coverage_lines
from sordino.release.release_view import ReleaseView

_LONGEST = 60
_STYLE: Final = """
.sordino-release { overflow-x: auto; font-size: 0.93em; line-height: 1.45; }
.sordino-release table { border-collapse: collapse; margin: 0.4em 0; }
.sordino-release th, .sordino-release td {
  padding: 0.15em 0.5em; text-align: left; white-space: nowrap; border: 0; }
.sordino-release .number { text-align: right; font-variant-numeric: tabular-nums; }
.sordino-release .value { padding-left: 1.8em; }
.sordino-release .bar { opacity: 0.65; font-weight: normal; }
.sordino-release thead tr:last-child th { border-bottom: 1px solid; }
.sordino-release tbody tr:hover { background: rgba(128, 128, 128, 0.12); }
.sordino-release p { margin: 0.2em 0.5em; }
"""
"""No colours of its own, so that it reads on a dark page as well."""


def release_page(release: ReleaseView) -> str:
    """Return the table as HTML."""
    shown = row_texts(release)
    rest = len(release) - len(shown)
    counts = coverage_lines(release.coverage)
    parts = [
        '<div class="sordino-release">',
        f"<style>{_STYLE}</style>",
        f"<table><thead>{_heading(release)}</thead>",
        f"<tbody>{''.join(map(_row, shown))}</tbody></table>",
        f'<p class="bar">... and {rest:,} more</p>' if rest else "",
        "" if shown else '<p class="bar">no rows</p>',
        *(f'<p class="bar">{escape(line)}</p>' for line in counts),
        f"<p>price: {_text(release.price)}</p>",
        "</div>",
    ]
    return "\n".join(part for part in parts if part)


def _heading(release: ReleaseView) -> str:
    """Return the names of the columns; below, what stands in each."""
    keys = "".join(f'<th rowspan="2">{_text(name)}</th>' for name in release.keys)
    names = "".join(
        f'<th colspan="3" class="value">{_text(name)}</th>' for name in release.names
    )
    share = f"{format_percent(release.confidence)} interval"
    below = (
        '<th class="number bar value">value</th><th class="number bar">± sd</th>'
        f'<th class="number bar">{share}</th>'
    ) * len(release.names)
    return f"<tr>{keys}{names}</tr><tr>{below}</tr>"


def _row(row: RowTexts) -> str:
    """Return a group."""
    keys = "".join(f"<td>{_text(key)}</td>" for key in row.keys)
    return f"<tr>{keys}{''.join(map(_figure, row.figures))}</tr>"


def _figure(figure: Figure) -> str:
    """Return a number, its deviation and its interval."""
    return (
        f'<td class="number value">{_text(figure.value)}</td>'
        f'<td class="number bar">{_text(figure.sd and "± " + figure.sd)}</td>'
        f'<td class="number bar">{_text(figure.interval)}</td>'
    )


def _text(plain: str) -> str:
    """Return a text of the data, made harmless and not too long."""
    return escape(formatting.cut_text(formatting.format_key(plain), _LONGEST))
