"""What is left of the limits of blocks, and what people in several of them lose."""

from collections.abc import Iterator
from decimal import ROUND_CEILING, ROUND_FLOOR
from typing import Final

from sordino.pages.amounts import amount_in_words, main_name
from sordino.pages.languages import Language
from sordino.pages.markup import NOTHING, Html, tag
from sordino.pages.odds import FALSE_ALARMS, Odds
from sordino.pages.printed_odds import hundred_text
from sordino.pages.story import Division, Purse

NEWEST: Final = 12


def blocks_part(language: Language, division: Division) -> Html:
    """Return the newest blocks with their limits, and the odds of several together."""
    newest = division.purses[-NEWEST:][::-1]
    earlier = len(division.purses) - len(newest)
    heads = (
        tag("th", language.html(f"blocks.{key}"), scope="col", class_=look)
        for key, look in (("name", "q"), ("limit", "n"), ("spent", "n"), ("left", "n"))
    )
    table = tag(
        "table",
        _caption(language, newest),
        tag("thead", tag("tr", *heads)),
        tag("tbody", *(_row(language, purse) for purse in newest)),
        class_="num",
    )
    rest = language.html(
        language.form("blocks.earlier", earlier), count=language.whole(earlier)
    )
    return tag(
        "div",
        tag("h3", language.html("blocks.title")),
        tag("p", language.html("blocks.intro")),
        table if newest else tag("p", language.html("blocks.nothing")),
        *([tag("p", rest, class_="soft")] if earlier else []),
        *_several(language, division),
        class_="keep",
    )


def _caption(language: Language, purses: tuple[Purse, ...]) -> Html:
    """Say in what amounts are counted."""
    name = main_name(purses[0]) if purses else None
    if name is None:
        return NOTHING
    named = language.texts.get(f"amount.{name}", name)
    return tag("caption", language.html("blocks.unit", name=named))


def _row(language: Language, purse: Purse) -> Html:
    """Return a block."""
    name = main_name(purse)
    amounts = (
        ("", "", "")
        if name is None
        else (
            amount_in_words(language, name, purse.whole[name], ROUND_CEILING),
            amount_in_words(language, name, purse.spent[name], ROUND_CEILING),
            amount_in_words(language, name, purse.left[name], ROUND_FLOOR),
        )
    )
    cells = (tag("td", amount, class_="n") for amount in amounts)
    return tag("tr", tag("th", language.name(purse.name), scope="row"), *cells)


def _several(language: Language, division: Division) -> Iterator[Html]:
    """Yield how many are named who are in several blocks."""
    if not division.bounds:
        return
    yield tag("p", language.html("blocks.several", alarms=str(FALSE_ALARMS)))
    top = (
        tag("th", language.whole(count), scope="col", class_="n")
        for count, _ in division.bounds
    )
    below = (
        tag("td", hundred_text(language, Odds(bound).finds(FALSE_ALARMS)), class_="n")
        for _, bound in division.bounds
    )
    head = tag("tr", tag("th", language.html("blocks.count"), scope="col"), *top)
    body = tag("tr", tag("th", language.html("odds.rightly"), scope="row"), *below)
    yield tag("table", tag("thead", head), tag("tbody", body), class_="num")
