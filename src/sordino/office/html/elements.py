"""Parts of pages: templates of the office, and text that stays text among markup.

A page has no script and fetches nothing; one for a notebook has no colours of its own,
so that it reads on a dark ground as well.

>>> html_title("Visits <2>")
Markup('<p><strong>Visits &lt;2&gt;</strong></p>')
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from markupsafe import Markup

from sordino.numbers.formatting import cut_text, format_key

if TYPE_CHECKING:
    from jinja2 import Environment

LONGEST: Final = 60
SENTENCE: Final = 240
Html: TypeAlias = Markup
"""Markup of a template: text that joins it is escaped first."""
Content: TypeAlias = Html | str

NOTHING: Final = Html("")
CODE: Final = Html("<code>{}</code>")
_LINE: Final = Html("<p>{}</p>")
_ASIDE: Final = Html('<p class="aside">{}</p>')
_TITLE: Final = Html("<p><strong>{}</strong>{}</p>")
_BESIDE: Final = Html(' <span class="aside">{}</span>')
_DETAILS: Final = Html("<details><summary>{}</summary>{}</details>")
_COLUMNS: Final = 80


def fill_template(template: str, /, **facts: Any) -> Html:
    """Markup of a template of the office, filled in with facts.

    >>> fill_template("report/sentence.html", title="<", sentence="x", is_kept=False)
    Markup('<div><h3>&lt;</h3><p>x</p></div>')
    """
    # the one place that calls text markup: the template escaped whatever is not its own
    return Markup(_environment().get_template(template).render(facts))  # noqa: S704


def draw_svg(picture: str, /, *facts: object) -> Html:
    """Picture of the sheet `html/svg.html`, by its name."""
    sheet: Any = _environment().get_template("html/svg.html").module
    drawn: Html = getattr(sheet, picture)(*facts)
    return drawn


def _environment() -> "Environment":
    from sordino.office.html.engine import (  # noqa: PLC0415 brings Jinja2
        environment,
    )

    return environment()


def join(*parts: Content) -> Html:
    """Parts one after the other, text among them escaped.

    >>> join("<", Markup("<br/>"), ">")
    Markup('&lt;<br/>&gt;')
    """
    return NOTHING.join(parts)


def short_text(plain: object, most: int = LONGEST) -> str:
    """Text from outside on one line, its unseen letters written out, not too long."""
    return cut_text(format_key(plain), most)


def html_page(*parts: Html) -> str:
    """Page of some parts for a notebook; empty ones are left out."""
    # plain text for whoever asked: markup would escape what a user adds to it
    return str(fill_template("html/frame.html", parts=[part for part in parts if part]))


def html_line(plain: str) -> Html:
    """Sentence of its own."""
    return _LINE.format(short_text(plain, SENTENCE))


def html_aside(plain: str) -> Html:
    """Sentence that steps back."""
    return _ASIDE.format(short_text(plain, SENTENCE))


def html_title(title: str, plain: str = "") -> Html:
    """Title, with plain text after it."""
    beside = _BESIDE.format(short_text(plain, SENTENCE)) if plain else NOTHING
    return _TITLE.format(short_text(title), beside)


def html_table(
    heading: Iterable[str], rows: Iterable[Iterable[str]], most: int = LONGEST
) -> Html:
    """Table of texts from outside, "" where it has no rows.

    >>> html_table(("column",), [])
    Markup('')
    """
    body = [_short_texts(row, most) for row in rows]
    if not body:
        return NOTHING
    return fill_template(
        "html/table.html", heading=_short_texts(heading, most), rows=body
    )


def _short_texts(texts: Iterable[str], most: int) -> list[str]:
    return [text and short_text(text, most) for text in texts]


def html_details(title: str, content: Html) -> Html:
    """Content that shows when its title is clicked."""
    return _DETAILS.format(short_text(title), content)


def plain_name(value: object, most: int = _COLUMNS) -> str:
    r"""Return a name from outside as text: what cannot be seen is written out.

    `most` columns are shown.

    >>> plain_name("a\u202eb"), plain_name(3)
    ('a\\u202eb', '3')
    """
    return cut_text(format_key(value), most)
