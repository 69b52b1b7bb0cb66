"""Pages one and three: the promise, the odds, what is left, what is not promised."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR
from fractions import Fraction
from typing import Any, Final, final

from sordino.numbers import Extended
from sordino.numbers.formatting import format_key
from sordino.office.html.elements import NOTHING, Content, Html, join, plain_name, tag
from sordino.office.html.odds import (
    FALSE_ALARMS,
    MOST,
    OTHER_ALARMS,
    Odds,
    hundred_text,
    people_picture,
)
from sordino.office.html.page import Language, section
from sordino.office.report.accounts import amount_in_words, amounts_in_words, main_name
from sordino.office.report.story import Accounts, Division, Purse, Story
from sordino.release.explanation import (
    UNITS,
    Verb,
    cuts_of,
    joined_public,
    run_functions,
    units_of,
    vouchers_of,
)

_SIGNS: Final = {"applies": "▲", "absent": "–", "unstated": "?", "tended": "●"}
_BY_ID: Final = "AddRowsWithID"
_PAIR: Final = 2
_FAMILY: Final = 5


@final
@dataclass(frozen=True)
class Omission:
    """What is not promised, and how it stands here."""

    name: str
    state: str
    """A key of `_SIGNS`."""
    meaning: str
    """The key of a text."""


def limits_page(language: Language, story: Story) -> Html:
    """Return the page."""
    heads = (
        tag("th", language.html(f"unpromised.{key}"), scope="col", class_=look)
        for key, look in (("what", "w"), ("here", "q"), ("means", "w"))
    )
    rows = (_row(language, story, line) for line in list_omissions(story))
    table = tag(
        "table", tag("thead", tag("tr", *heads)), tag("tbody", *rows), class_="stack"
    )
    intro = tag("p", language.html("unpromised.intro"))
    return section(language, "limits", intro, table)


def list_omissions(story: Story) -> Iterator[Omission]:
    """Yield the thirteen lines, each with its state in a story."""
    in_ledger = story.accounts is not None
    yield Omission("ledgers", "unstated", "ledgers" if in_ledger else "releases")
    yield _growth(story)
    yield _split_ids(story)
    yield Omission("groups", "applies", "groups")
    yield Omission("facts", "applies", "facts")
    yield _of_verb("functions", run_functions(story.questions))
    yield _vouchers(story)
    yield _of_verb("tables", joined_public(story.questions))
    yield Omission("looking", "unstated", "looking")
    yield _cut_off(story)
    yield _old_copy(story)
    yield Omission("time", "applies", "time")
    yield Omission("raw", "unstated", "raw")


def _growth(story: Story) -> Omission:
    if story.accounts is not None and story.accounts.division is not None:
        return Omission("growth", "tended", "growth_blocks")
    return Omission("growth", "applies", "growth")


def _split_ids(story: Story) -> Omission:
    units = units_of(story.questions).values()
    if not units:
        return Omission("split", "unstated", "split_unknown")
    by_id = all(verb == _BY_ID for verb, _ in units)
    return (
        Omission("split", "unstated", "split_ids")
        if by_id
        else Omission("split", "applies", "split_rows")
    )


def _of_verb(name: str, occurs: bool | None) -> Omission:  # noqa: FBT001 a fact, not a switch
    state = "unstated" if occurs is None else "applies" if occurs else "absent"
    return Omission(name, state, f"{name}_{state}")


def _vouchers(story: Story) -> Omission:
    if vouchers_of(story.questions):
        return Omission("vouched", "applies", "vouched_applies")
    state = "unstated" if "" in story.questions else "absent"
    return Omission("vouched", state, f"vouched_{state}")


def _cut_off(story: Story) -> Omission:
    if any(answer.left_out for each in story.shown for answer in each.answers):
        return Omission("cut", "tended", "cut_measured")
    if "" not in story.questions and not any(map(cuts_of, story.questions)):
        return Omission("cut", "absent", "cut_none")
    return Omission("cut", "unstated", "cut_unmeasured")


def _old_copy(story: Story) -> Omission:
    if story.accounts is None:
        return Omission("copy", "unstated", "copy_unknown")
    if story.accounts.trail.has_witness:
        return Omission("copy", "tended", "copy_witness")
    return Omission("copy", "applies", "copy_alone")


def _row(language: Language, story: Story, line: Omission) -> Html:
    state = tag(
        "span",
        tag("i", _SIGNS[line.state], aria_hidden="true"),
        language.html(f"unpromised.{line.state}"),
        class_="mark",
    )
    return tag(
        "tr",
        tag("th", language.html(f"unpromised.line.{line.name}"), scope="row"),
        tag("td", state, class_="q"),
        tag("td", _explain(language, story, line)),
    )


def _explain(language: Language, story: Story, line: Omission) -> Html:
    odds = Odds(story.bound)
    if line.meaning == "groups" and odds.promises:
        return language.html(
            "unpromised.means_of.groups",
            single=str(odds.finds(FALSE_ALARMS)),
            pair=hundred_text(language, odds.finds_of_groups(FALSE_ALARMS, _PAIR)),
            family=hundred_text(language, odds.finds_of_groups(FALSE_ALARMS, _FAMILY)),
        )
    if line.meaning == "groups":
        return language.html("unpromised.means_of.groups_unbounded")
    if line.meaning == "vouched_applies":
        who = ", ".join(map(format_key, vouchers_of(story.questions)))
        return language.html("unpromised.means_of.vouched_applies", who=who)
    return language.html(f"unpromised.means_of.{line.meaning}")


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
        tag("tbody", *(_block_row(language, purse) for purse in newest)),
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
    name = main_name(purses[0]) if purses else None
    if name is None:
        return NOTHING
    named = language.texts.get(f"amount.{name}", name)
    return tag("caption", language.html("blocks.unit", name=named))


def _block_row(language: Language, purse: Purse) -> Html:
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
        tag(
            "figure",
            _bar(language, accounts, name),
            _purse_caption(language, purse, name),
        )
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
    rows = [_purse_row(language, each, purse) for each in (*named, purse)]
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


def _purse_row(language: Language, purse: Purse, dataset: Purse) -> Html:
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


def _purse_caption(language: Language, purse: Purse, name: str) -> Html:
    """Say what the bar is of, and what the limit says of delta."""
    named = language.texts.get(f"amount.{name}", name)
    parts: list[Content] = [language.html("limit.caption", name=named)]
    if _DELTA in purse.whole and name != _DELTA and purse.whole[_DELTA]:
        parts += [" ", language.html("limit.delta", **_texts(language, purse, _DELTA))]
    return tag("figcaption", *parts)


_LITTLE: Final = 50
"""Of 100 found: up to here a release may be said to tell only a little."""


def promise_page(language: Language, story: Story) -> Html:
    """Return the page."""
    odds, scope = Odds(story.bound), promise_scope(story)
    small = odds.finds(FALSE_ALARMS) <= _LITTLE
    lead = tag(
        "p",
        language.html("promise.little" if small else "promise.much"),
        " ",
        language.html(f"promise.{scope}.scope"),
        class_="lead",
    )
    who = tag(
        "p",
        language.html("promise.unit", unit=protected_unit(language, story.questions)),
        " ",
        language.html(f"promise.{scope}.attacker"),
    )
    budgets = [] if story.accounts is None else _budgets(language, story.accounts)
    alone = [tag("p", language.html("promise.alone"))] if story.accounts is None else []
    return section(
        language, "promise", lead, who, *odds_parts(language, odds),
        tag("p", language.html("promise.general")), *alone, *budgets,
    )  # fmt: skip


def promise_scope(story: Story) -> str:
    """Scope of the promise: a release, a ledger, or a block of one."""
    if story.accounts is None:
        return "release"
    return "ledger" if story.accounts.division is None else "blocks"


def _budgets(language: Language, accounts: Accounts) -> list[Html]:
    asking = asking_part(language, accounts)
    if accounts.division is None:
        return [limit_part(language, accounts), asking]
    return [blocks_part(language, accounts.division), asking]


def odds_parts(language: Language, odds: Odds) -> Iterable[Html]:
    """Yield the odds as picture, table and sentence, or that there are none."""
    alarms = str(FALSE_ALARMS)
    if not odds.promises:
        sentence = language.html("odds.nothing", alarms=alarms, most=str(MOST))
        yield tag("p", tag("strong", sentence))
        return
    yield people_picture(language, odds)
    yield _other_alarms(language, odds)
    belief = language.html(
        "odds.belief",
        alarms=alarms,
        few=hundred_text(language, odds.belief(1)),
        guessed=hundred_text(language, odds.guesses),
    )
    yield tag("p", belief)


def _other_alarms(language: Language, odds: Odds) -> Html:
    top = (tag("th", str(alarms), scope="col", class_="n") for alarms in OTHER_ALARMS)
    below = (
        tag("td", hundred_text(language, odds.finds(alarms)), class_="n")
        for alarms in OTHER_ALARMS
    )
    head = tag("tr", tag("th", language.html("odds.mistakes"), scope="col"), *top)
    body = tag("tr", tag("th", language.html("odds.rightly"), scope="row"), *below)
    return tag("table", tag("thead", head), tag("tbody", body), class_="num")


def protected_unit(language: Language, questions: Iterable[str]) -> Html:
    """Return whom the tables of some requests protect, as a part of a sentence."""
    units = units_of(questions)
    parts = {table: unit_text(language, unit) for table, unit in units.items()}
    if not parts:
        return language.html("unit.unknown")
    if len(set(parts.values())) == 1:
        return next(iter(parts.values()))
    named = [
        language.html("unit.of_table", table=language.name(table), unit=unit)
        for table, unit in parts.items()
    ]
    between = (piece for part in named for piece in ("; ", part))
    return join(*list(between)[1:])


def unit_text(language: Language, unit: Verb) -> Html:
    """Return whom a table protects, as a part of a sentence."""
    verb, arguments = unit
    key = f"unit.{verb}"
    if verb not in UNITS:
        return language.html("unit.unknown")
    column = language.name(arguments.get("column"))
    counts = {
        "count": _first_of(arguments, "max_rows", "max_rows_per_group", "max_total"),
        "groups": _first_of(arguments, "max_groups"),
    }
    return language.html(key, column=tag("code", column), **counts)


def _first_of(arguments: Mapping[str, Any], *names: str) -> str:
    return next(
        (plain_name(arguments[name]) for name in names if name in arguments), ""
    )
