"""A session as a page for notebooks; all text is escaped."""

from collections.abc import Iterable
from html import escape
from typing import Final

from sordino.display import formatting
from sordino.session.holding import Holding

_LONGEST: Final = 60
_SENTENCE: Final = 240
_STYLE: Final = """
.sordino-session { font-size: 0.93em; line-height: 1.45; }
.sordino-session table { border-collapse: collapse; margin: 0.2em 0 0.4em;
  color: inherit; font-size: inherit; }
.sordino-session th, .sordino-session td {
  padding: 0.1em 1.2em 0.1em 0; text-align: left; white-space: nowrap; border: 0;
  background: none; }
.sordino-session th { font-weight: normal; opacity: 0.65; border-bottom: 1px solid; }
.sordino-session section { overflow-x: auto; margin: 0.2em 0 0.9em 0.5em; }
.sordino-session p { margin: 0.2em 0; }
.sordino-session .aside { opacity: 0.65; }
"""
"""No colours of its own, so that it reads on a dark page as well."""


def description_page(
    holdings: Iterable[Holding], keysets: Iterable[str], left: str
) -> str:
    """Return the description of a session as HTML."""
    parts = [
        f'<div class="sordino-session"><style>{_STYLE}</style>',
        *map(_section, holdings),
        "<section>",
        *(f"<p>asked by: {_text(one)}</p>" for one in keysets),
        f"<p>left: {_text(left, _SENTENCE)}</p>",
        "</section></div>",
    ]
    return "\n".join(parts)


def _section(holding: Holding) -> str:
    """Return a table or a view, its columns as rows."""
    heading = "<tr><th>column</th><th>type</th><th>may be missing</th></tr>"
    rows = "".join(map(_row, holding.first_columns))
    name, sentence = _text(holding.name), _text(holding.sentence, _SENTENCE)
    lines = [
        f'<p><strong>{name}</strong> <span class="aside">{sentence}</span></p>',
        f"<table><thead>{heading}</thead><tbody>{rows}</tbody></table>",
    ]
    if holding.rest:
        lines.append(f'<p class="aside">... and {holding.rest:,} more</p>')
    lines += [
        f'<p>{_text(name)} <span class="aside">cannot be used: '
        f"{_text(why, _SENTENCE)}</span></p>"
        for name, why in holding.unusable
    ]
    return "\n".join(["<section>", *lines, "</section>"])


def _row(column: tuple[str, str, str]) -> str:
    """Return a column: its name, its type, what of it may be missing."""
    return f"<tr>{''.join(f'<td>{_text(one)}</td>' for one in column)}</tr>"


def _text(plain: str, most: int = _LONGEST) -> str:
    """Return a text from outside, made harmless and not too long."""
    return escape(formatting.cut_text(formatting.format_key(plain), most))
