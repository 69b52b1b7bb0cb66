"""Ledgers to be reported of: a plain one, and one whose every name is hostile."""

import re
from collections.abc import Iterable
from functools import cache
from html.parser import HTMLParser
from typing import Any, Final

import sordino as sd
from sordino.ledger.ledger import Ledger

EVIL: Final = "<script>alert('x')</script>&\"\u05d0\u05d1"
"""Markup, quotes, and letters that are written from right to left."""
UNSEEN: Final = "\u202e\n\x1b[2J\x00"
"""What would turn a line around, begin one, or command a terminal."""
WIDE: Final = "病" * 90
LIMIT: Final = sd.ApproxDP(4, "1e-6")
TENTH: Final = sd.ApproxDP("0.1", "1e-7")
PEOPLE: Final = 240
KNOWN: Final = {
    *("a", "article", "b", "bdi", "body", "br", "caption", "code", "col", "colgroup"),
    *("dd", "details", "div", "dl", "dt", "figcaption", "figure", "footer", "h1", "h2"),
    *(
        "h3",
        "h4",
        "head",
        "header",
        "html",
        "i",
        "li",
        "main",
        "meta",
        "nav",
        "ol",
        "p",
    ),
    *("pre", "section", "span", "strong", "style", "summary", "table", "tbody", "td"),
    *("th", "thead", "title", "tr", "ul"),
    *("circle", "line", "path", "polygon", "polyline", "rect", "svg", "symbol", "text"),
    "use",
}
"""The elements that pages are made of: none runs, fetches or sends anything."""


def rows(names: Iterable[str] = ("A", "B", "C")) -> dict[str, list[Any]]:
    """Return visits of people in wards of some names."""
    wards = list(names)
    return {
        "person": [place % PEOPLE for place in range(3 * PEOPLE)],
        "ward": [wards[place % len(wards)] for place in range(3 * PEOPLE)],
        "days": [place % 9 for place in range(3 * PEOPLE)],
    }


def open_session(ledger: Ledger, table: Any, **more: Any) -> sd.Session:
    visits = sd.PrivateTable(table, protects=sd.AddRowsWithID("person"))
    return sd.Session({"visits": visits}, ledger=ledger, engine="memory", **more)


@cache
def plain_ledger() -> Ledger:
    """Return a ledger with a few releases of different shapes."""
    ledger = Ledger.in_memory(LIMIT)
    ledger.allot("planning", sd.PureDP("0.5"))
    session = open_session(ledger, rows(), who="data office")
    planning = open_session(ledger, rows(), who="desk", analyst="planning")
    visits = sd.table("visits").enforce(sd.MaxRowsPerID(3))
    wards = sd.KeySet.from_dict({"ward": ["A", "B", "C"]})
    crossed = sd.KeySet.from_dict({"ward": ["A", "B"], "days": [1, 2, 3]})
    planning.release(
        visits.group_by(wards).agg(n=sd.count(), days=sd.mean("days", 0, 8)),
        sd.PureDP("0.1"),
        key="wards",
        why="beds",
    )
    session.release(visits.group_by("ward").agg(n=sd.count()), TENTH, key="unlisted")
    session.release(visits.group_by(crossed).agg(n=sd.count()), TENTH, key="crossed")
    session.release(visits.agg(n=sd.count()), TENTH)
    two = {
        "all": visits.agg(n=sd.count()),
        "by": visits.group_by(wards).agg(n=sd.count()),
    }
    session.release_all(two, TENTH, key="together", why="two at once")
    return ledger


@cache
def hostile_ledger() -> Ledger:
    """Return a ledger whose names and values try to be markup."""
    ledger = Ledger.in_memory(LIMIT, about=EVIL + UNSEEN)
    ledger.allot(EVIL, sd.PureDP(1))
    names = [EVIL, "", WIDE, UNSEEN.replace("\x00", "")]
    session = open_session(ledger, rows(names), who=EVIL + UNSEEN, analyst=EVIL)
    wards = sd.KeySet.from_dict({"ward": names})
    query = sd.table("visits").enforce(sd.MaxRowsPerID(2)).rename({"days": EVIL})
    names_of_numbers: dict[str, Any] = {EVIL: sd.count(), WIDE: sd.sum(EVIL, 0, 8)}
    session.release(
        query.group_by(wards).agg(**names_of_numbers),
        sd.PureDP("0.1"),
        key=EVIL,
        why=UNSEEN + EVIL + WIDE,
    )
    return ledger


class Reading(HTMLParser):
    """Hears the elements, attributes and texts of a page."""

    def __init__(self) -> None:
        """Begin with nothing heard."""
        super().__init__()
        self.elements: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self.texts: list[tuple[str, str]] = []
        """The innermost open element, and a text in it."""
        self._open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append(tag)
        self.attributes += [(name, value or "") for name, value in attrs]
        if not (self.get_starttag_text() or "").endswith("/>"):
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        """Hear the end of an element; every one ends in its turn."""
        if self._open and self._open[-1] == tag:
            self._open.pop()

    def handle_data(self, data: str) -> None:
        self.texts.append((" ".join(self._open), data))

    @property
    def words(self) -> str:
        """Return all that is read on the page, on one line."""
        shown = (text for where, text in self.texts if "style" not in where)
        return re.sub(r"\s+", " ", " ".join(shown))


def read_page(page: str) -> Reading:
    reading = Reading()
    reading.feed(page)
    reading.close()
    return reading
