"""What is left of a budget, as sentences, a bar and a table of names."""

from collections.abc import Iterator
from decimal import ROUND_CEILING, ROUND_FLOOR
from fractions import Fraction
from typing import Final

from sordino.numbers import Extended
from sordino.pages.amounts import amount_in_words, amounts_in_words, main_name
from sordino.pages.languages import Language
from sordino.pages.markup import Content, Html, join, tag
from sordino.pages.story import Accounts, Purse

_DELTA: Final = "delta"
_LEAST: Final = Fraction(1, 50)
"""Releases that took less of the limit share one piece of the bar."""
_LETTER: Final = Fraction(1, 38)
"""The part of a bar on a phone that a digit takes; what has no room is left out."""
_HEIGHT: Final = 26


def limit_part(language: Language, accounts: Accounts) -> Html:
    """Return the limit of everything, and what is spent and left of it."""
    purse = accounts.purses[0]
    name = main_name(purse)
    parts = [tag("h3", language.html("limit.title"))]
    if name is None:
        parts.append(tag("p", language.html("limit.uncountable")))
        return tag("div", *parts, class_="keep")
    texts = _texts(language, purse, name)
    releases = accounts.trail.releases
    key = language.form("limit.state", releases)
    state = language.html(key, count=language.whole(releases), **texts)
    parts += [tag("p", state), *_remarks(language, purse)]
    parts.append(
        tag("figure", _bar(language, accounts, name), _caption(language, purse, name))
    )
    return tag("div", *parts, class_="keep")


def asking_part(language: Language, accounts: Accounts) -> Html:
    """Return who may still ask, and for how much."""
    purse, *named = accounts.purses
    title = tag("h3", language.html("asking.title"))
    name = main_name(purse)
    if name is None:
        return tag("div", title, tag("p", language.html("limit.uncountable")))
    if not named:
        may = _may_ask(language, purse, purse, name)
        return tag("div", title, tag("p", language.html("asking.anybody", may=may)))
    heads = (
        tag("th", language.html(f"asking.{key}"), scope="col", class_=look)
        for key, look in (
            ("name", "q"), ("limit", "n"), ("spent", "n"), ("left", "n"), ("may", "q"),
        )
    )  # fmt: skip
    rows = [_row(language, each, purse) for each in (*named, purse)]
    table = tag(
        "table", tag("thead", tag("tr", *heads)), tag("tbody", *rows), class_="num"
    )
    what = "note" if accounts.division is None else "note_of_blocks"
    note = tag("p", language.html(f"asking.{what}"), class_="soft")
    wide = tag(
        "div", table, class_="wide", tabindex="0", role="group",
        aria_label=language.plain("asking.title"),
    )  # fmt: skip
    return tag("div", title, wide, note, class_="keep")


def _row(language: Language, purse: Purse, dataset: Purse) -> Html:
    """Return the line of a name."""
    name = main_name(purse)
    who = language.html("asking.all") if purse is dataset else language.name(purse.name)
    if name is None:
        cells = [tag("td", "", class_="n")] * 3
        may = language.plain("asking.unknown")
    else:
        texts = _texts(language, purse, name)
        cells = [
            tag("td", texts[key], class_="n") for key in ("whole", "spent", "left")
        ]
        may = _may_ask(language, purse, dataset, name)
    return tag("tr", tag("th", who, scope="row"), *cells, tag("td", may))


def _may_ask(language: Language, purse: Purse, dataset: Purse, name: str) -> str:
    """Say for how much a name may still ask: never for more than all are left."""
    if purse.is_closed or dataset.is_closed:
        return language.plain("asking.closed")
    left = _least(purse.left[name], dataset.left.get(name))
    if not left:
        return language.plain("asking.no")
    text = amount_in_words(language, name, left, ROUND_FLOOR)
    return language.plain("asking.yes", left=text)


def _least(left: Extended, other: Extended | None) -> Extended:
    """Return the smaller of two amounts that are left; one may not be counted."""
    return left if other is None or left <= other else other


def _texts(language: Language, purse: Purse, name: str) -> dict[str, str]:
    """Return the limit, what is spent, and what is left, as texts."""
    return {
        "whole": amount_in_words(language, name, purse.whole[name], ROUND_CEILING),
        "spent": amount_in_words(language, name, purse.spent[name], ROUND_CEILING),
        "left": amount_in_words(language, name, purse.left[name], ROUND_FLOOR),
    }


def _remarks(language: Language, purse: Purse) -> Iterator[Html]:
    """Yield what else is to be known of the limit."""
    if purse.is_lowered:
        yield tag("p", language.html("limit.lowered"))
    if purse.is_closed:
        yield tag("p", language.html("limit.closed"))
    aside = amounts_in_words(language, purse.aside, ROUND_CEILING)
    if aside:
        yield tag("p", language.html("limit.aside", aside=aside))


def _bar(language: Language, accounts: Accounts, name: str) -> Html:
    """Return the limit as a box that releases fill, each with its number."""
    texts = _texts(language, accounts.purses[0], name)
    named = language.texts.get(f"amount.{name}", name)
    label = language.plain("limit.bar", name=named, **texts)
    parts = [
        tag("rect", class_="left", x=0, y=0.5, width="100%", height=25, rx=2),
    ]
    begin = Fraction(0)
    for text, share in _pieces(accounts.shares):
        begin, end = begin + share, begin
        x, width = 100 * float(end), 100 * float(share)
        place = f"{x:.3f}%"
        parts.append(
            tag("rect", class_="spent", x=place, y=0, width=f"{width:.3f}%",
                height=_HEIGHT)
        )  # fmt: skip
        if x:
            parts.append(
                tag("rect", class_="gap", x=place, y=0, width=1.5, height=_HEIGHT)
            )
        middle = f"{x + width / 2:.2f}%"
        parts.append(
            tag("text", text, class_="on", x=middle, y=17.3, text_anchor="middle")
        )
    return tag(
        "svg", join(*parts), class_="bar", role="img", aria_label=label,
        width="100%", height=_HEIGHT,
    )  # fmt: skip


def _pieces(shares: tuple[tuple[int, Fraction], ...]) -> Iterator[tuple[str, Fraction]]:
    """Yield the pieces of the bar: small neighbours are one, without a number."""
    small = Fraction(0)
    for number, share in shares:
        if share < _LEAST:
            small += share
            continue
        if small:
            yield "", small
            small = Fraction(0)
        text = str(number)
        yield text if share >= _LETTER * (len(text) + 1) else "", share
    if small:
        yield "", small


def _caption(language: Language, purse: Purse, name: str) -> Html:
    """Say what the bar is of, and what the limit says of delta."""
    named = language.texts.get(f"amount.{name}", name)
    parts: list[Content] = [language.html("limit.caption", name=named)]
    if _DELTA in purse.whole and name != _DELTA and purse.whole[_DELTA]:
        parts += [" ", language.html("limit.delta", **_texts(language, purse, _DELTA))]
    return tag("figcaption", *parts)
