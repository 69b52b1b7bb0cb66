"""Two arrays of a hundred people: who is named by mistake, and who rightly, at most.

They are filled from the top left and always in the same order: grouped figures are read
better than scattered ones, and figures of people better than squares.
"""

from typing import Final

from sordino.pages.languages import Language
from sordino.pages.markup import NOTHING, Html, join, tag
from sordino.pages.odds import FALSE_ALARMS, Odds

_PERSON: Final = "person"
_ACROSS: Final = 10


def people_symbol() -> Html:
    """Return the shape of a person, which stands once on a page."""
    body = "M5 5.2c-1.9 0-3 1.1-3 2.8v3.4h1.3v4h3.4v-4h1.3V8c0-1.7-1.1-2.8-3-2.8z"
    shape = tag(
        "symbol",
        tag("circle", cx=5, cy=2.6, r=2),
        tag("path", d=body),
        id=_PERSON,
        viewBox="0 0 10 16",
    )
    return tag("svg", shape, class_="store", aria_hidden="true", focusable="false")


def people_picture(language: Language, odds: Odds) -> Html:
    """Return both arrays with their numbers; no picture where nothing is promised."""
    if not odds.promises:
        return NOTHING
    named = odds.finds(FALSE_ALARMS)
    label = language.plain("odds.picture", alarms=str(FALSE_ALARMS), found=str(named))
    caption = language.html("odds.caption", alarms=str(FALSE_ALARMS))
    return tag(
        "figure",
        _half(language, "outside", FALSE_ALARMS),
        _half(language, "inside", named),
        tag("figcaption", caption),
        class_="odds",
        aria_label=label,
    )


def _half(language: Language, side: str, named: int) -> Html:
    """Return an array below its number."""
    number = language.html(f"odds.{side}.number", count=str(named))
    words = tag(
        "p",
        tag("span", number, class_="big"),
        language.html(f"odds.{side}.who"),
    )
    return tag("div", words, _array(named))


def _array(named: int) -> Html:
    """Return a hundred people, the named ones filled."""
    people = (
        tag(
            "use",
            href=f"#{_PERSON}",
            class_="in" if place < named else "out",
            x=15 * (place % _ACROSS),
            y=19 * (place // _ACROSS),
            width=11,
            height=17.6,
        )
        for place in range(100)
    )
    return tag("svg", join(*people), aria_hidden="true", viewBox="-1 -1 149 191")
