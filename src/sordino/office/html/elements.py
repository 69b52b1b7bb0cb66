"""Elements of a page; whatever was not made here is escaped.

A page has no colours of its own, so that it reads on a dark ground as well, no script,
and nothing that is fetched from elsewhere.

>>> print(html_title("Visits <2>", "of one year"))
<p><strong>Visits &lt;2&gt;</strong> <span class="aside">of one year</span></p>

>>> tag("p", "a < b, ", tag("b", "and more"), class_="soft").text
'<p class="soft">a &lt; b, <b>and more</b></p>'
"""

from collections.abc import Iterable
from dataclasses import dataclass
from html import escape
from typing import Final, TypeAlias, final

from sordino.numbers.formatting import cut_text, format_key

LONGEST: Final = 60
SENTENCE: Final = 240
_BOX: Final = '<div class="sordino" role="group" aria-label="Sordino" tabindex="0">'
"""What is wider than its cell scrolls, by keys too."""
_STYLE: Final = """
.sordino { font-size: 0.93em; line-height: 1.45; overflow-x: auto; }
.sordino table { border-collapse: collapse; margin: 0.3em 0 0.5em; color: inherit;
  font-size: inherit; }
.sordino th, .sordino td { padding: 0.1em 1.2em 0.1em 0; text-align: left;
  vertical-align: baseline; white-space: nowrap; border: 0; background: none; }
.sordino th { font-weight: normal; opacity: 0.7; }
.sordino thead tr:last-child > * { border-bottom: 1px solid; }
.sordino tbody tr:hover { background: rgba(128, 128, 128, 0.12); }
.sordino .number { text-align: right; font-variant-numeric: tabular-nums; }
.sordino .first { padding-left: 1.6em; }
.sordino .aside { opacity: 0.7; }
.sordino p { margin: 0.25em 0; }
.sordino pre { margin: 0.25em 0; font-size: 0.92em; background: none; color: inherit; }
.sordino details { margin: 0.3em 0; }
.sordino summary { cursor: pointer; opacity: 0.8; }
.sordino svg { vertical-align: middle; }
"""


def html_page(*parts: str) -> str:
    """Return a page of some parts; empty ones are left out."""
    shown = [part for part in parts if part]
    lines = [f"{_BOX}<style>{_STYLE}</style>", *shown, "</div>"]
    return "\n".join(lines)


def safe_text(plain: object, most: int = LONGEST) -> str:
    """Return a text from outside on one line, made harmless and not too long.

    >>> safe_text("<b>")
    '&lt;b&gt;'
    """
    return escape(cut_text(format_key(plain), most))


def html_line(plain: str) -> str:
    """Return a sentence."""
    return f"<p>{safe_text(plain, SENTENCE)}</p>"


def html_aside(plain: str) -> str:
    """Return a sentence that steps back."""
    return f'<p class="aside">{safe_text(plain, SENTENCE)}</p>'


def html_title(title: str, plain: str = "") -> str:
    """Title, with plain text after it."""
    beside = f' <span class="aside">{safe_text(plain, SENTENCE)}</span>'
    return f"<p><strong>{safe_text(title)}</strong>{beside if plain else ''}</p>"


def html_table(
    heading: Iterable[str], rows: Iterable[Iterable[str]], most: int = LONGEST
) -> str:
    """Return a table of texts from outside, "" where it has no rows.

    >>> html_table(("column",), [])
    ''
    """
    body = "".join(_row("td", row, most) for row in rows)
    top = _row("th", heading, most)
    return f"<table><thead>{top}</thead><tbody>{body}</tbody></table>" if body else ""


def html_details(title: str, content: str) -> str:
    """Content that shows when its title is clicked."""
    return f"<details><summary>{safe_text(title)}</summary>{content}</details>"


def _row(kind: str, texts: Iterable[str], most: int) -> str:
    """Return a row of one kind of cells; nothing is no heading."""
    cells = "".join(
        f"<{kind}>{safe_text(text, most)}</{kind}>" if text else "<td></td>"
        for text in texts
    )
    return f"<tr>{cells}</tr>"


_EMPTY: Final = (
    *("br", "col", "meta"),
    *("circle", "line", "path", "polygon", "polyline", "rect", "use"),
)
_COLUMNS: Final = 80


@final
@dataclass(frozen=True)
class Html:
    """Markup that was made by `tag`, `join` or a sheet of this package."""

    text: str

    def __str__(self) -> str:
        """Refuse to become text unseen: that would be escaped, or worse, would not."""
        raise TypeError("markup is joined by sordino.office.html.elements.join")


Content: TypeAlias = Html | str

NOTHING: Final = Html("")


def tag(name: str, /, *content: Content, **attributes: str | float) -> Html:
    """Return an element; `class_` is class, and `aria_label` is aria-label."""
    named = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(str(value))}"'
        for key, value in attributes.items()
    )
    if name in _EMPTY:
        return Html(f"<{name}{named}/>")
    return Html(f"<{name}{named}>{join(*content).text}</{name}>")


def join(*parts: Content) -> Html:
    """Return parts one after the other, text among them escaped.

    >>> join("<", tag("br"), ">").text
    '&lt;<br/>&gt;'
    """
    return Html(
        "".join(part.text if isinstance(part, Html) else escape(part) for part in parts)
    )


def plain_name(value: object, most: int = _COLUMNS) -> str:
    r"""Return a name from outside as text: what cannot be seen is written out.

    `most` columns are shown.

    >>> plain_name("a\u202eb"), plain_name(3)
    ('a\\u202eb', '3')
    """
    return cut_text(format_key(value), most)
