"""Elements of a page: whatever was not made here is text, and text is escaped.

>>> tag("p", "a < b, ", tag("b", "and more"), class_="soft").text
'<p class="soft">a &lt; b, <b>and more</b></p>'
"""

from dataclasses import dataclass
from html import escape
from typing import Final, TypeAlias, final

from sordino.display.formatting import cut_text, format_key

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
        raise TypeError("markup is joined by sordino.pages.markup.join")


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
