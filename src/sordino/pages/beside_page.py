"""The fifth page: the promise beside those of others, and as the registry has it.

Each publication stands with what one unit of it is, on one scale from 0 to 100: the
unit decides what the number means, so nothing is ranked and nothing is praised.
"""

from collections.abc import Iterator
from typing import Final, NamedTuple, final

from sordino.pages.deployments import deployments
from sordino.pages.languages import Language
from sordino.pages.markup import Content, Html, tag
from sordino.pages.odds import FALSE_ALARMS, Odds
from sordino.pages.printed_odds import hundred_text
from sordino.pages.promise_page import promise_scope, protected_unit
from sordino.pages.scales import Scale
from sordino.pages.sections import section
from sordino.pages.story import Story

_SCALE: Final = Scale(0, 100)
_HEIGHT: Final = 18
_MIDDLE: Final = 9
_ENDS: Final = {0: "start", 50: "middle", 100: "end"}


@final
class Neighbour(NamedTuple):
    """A publication on the scale."""

    name: Html
    unit: Html
    people: int
    is_own: bool = False


def beside_page(language: Language, story: Story) -> Html:
    """Return the page."""
    rows = sorted(_neighbours(language, story), key=lambda row: row.people)
    alarms = str(FALSE_ALARMS)
    return section(
        language,
        "beside",
        tag("p", language.html("beside.intro", alarms=alarms)),
        tag("div", _table(language, rows), class_="panel"),
        tag("p", language.html("beside.source", alarms=alarms), class_="soft"),
        *_registry(language, story.registry),
    )


def _neighbours(language: Language, story: Story) -> Iterator[Neighbour]:
    """Yield this promise, and those of others."""
    yield Neighbour(
        language.html(f"beside.own.{promise_scope(story)}"),
        protected_unit(language, story.questions),
        Odds(story.bound).finds(FALSE_ALARMS),
        is_own=True,
    )
    for other in deployments():
        yield Neighbour(
            language.html(f"beside.name.{other.name}"),
            language.html(f"beside.unit.{other.unit}"),
            other.people,
        )


def _table(language: Language, rows: list[Neighbour]) -> Html:
    """Return all publications on one scale."""
    columns = (tag("col", class_=look) for look in ("k", "range", "dots", "last"))
    picture = tag("span", language.html("beside.picture"), class_="vh")
    head = tag(
        "tr",
        tag("th", language.html("beside.publication"), scope="col"),
        tag("th", language.html("beside.one_unit"), scope="col", class_="range"),
        tag("th", picture, _axis(), scope="col"),
        tag("th", language.html("beside.of_hundred"), scope="col", class_="n"),
    )
    body = (_row(language, row) for row in rows)
    return tag(
        "table",
        tag("colgroup", *columns),
        tag("thead", head),
        tag("tbody", *body),
        class_="iv cmp num",
    )


def _row(language: Language, row: Neighbour) -> Html:
    """Return a publication."""
    count: Content = hundred_text(language, row.people)
    return tag(
        "tr",
        tag(
            "th",
            tag("b", row.name) if row.is_own else row.name,
            tag("span", row.unit, class_="under"),
            scope="row",
        ),
        tag("td", row.unit, class_="range"),
        tag("td", _dot(row)),
        tag("td", tag("b", count) if row.is_own else count, class_="n"),
    )


def _dot(row: Neighbour) -> Html:
    """Return where a publication lies; the upright line is chance."""
    chance, place = _SCALE.place(FALSE_ALARMS), _SCALE.place(row.people)
    shapes = (
        tag("line", class_="guide", x1="0", x2="100%", y1=_MIDDLE, y2=_MIDDLE),
        tag("line", class_="edge", x1=f"{chance:g}%", x2=f"{chance:g}%", y1=3, y2=15),
        tag("circle", class_="aim" if row.is_own else "dot", cx=f"{place:g}%",
            cy=_MIDDLE, r=5),
    )  # fmt: skip
    return tag("svg", *shapes, aria_hidden="true", width="100%", height=_HEIGHT)


def _axis() -> Html:
    """Return the ends and the middle of the scale."""
    texts = (
        tag("text", str(tick), x=f"{tick}%", y=14, text_anchor=side)
        for tick, side in _ENDS.items()
    )
    return tag("svg", *texts, aria_hidden="true", width="100%", height=_HEIGHT)


def _registry(language: Language, entry: str) -> Iterator[Html]:
    """Yield the entry of the public registry, folded; it prints unfolded."""
    if entry:
        title = tag("summary", language.html("beside.registry"))
        yield tag("details", title, tag("pre", entry, tabindex="0"))
        yield tag("p", language.html("beside.to_write"), class_="soft")
