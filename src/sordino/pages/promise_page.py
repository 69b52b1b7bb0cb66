"""The first page: whom it protects, the odds, what is left, and who may still ask."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from sordino.pages.blocks_part import blocks_part
from sordino.pages.languages import Language
from sordino.pages.markup import Html, join, plain_name, tag
from sordino.pages.odds import FALSE_ALARMS, MOST, OTHER_ALARMS, Odds
from sordino.pages.people import people_picture
from sordino.pages.printed_odds import hundred_text
from sordino.pages.purses import asking_part, limit_part
from sordino.pages.request_words import UNITS, Verb, units_of
from sordino.pages.sections import section
from sordino.pages.story import Accounts, Story

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
    """Return what the promise is of: a release, a ledger, or a block of one."""
    if story.accounts is None:
        return "release"
    return "ledger" if story.accounts.division is None else "blocks"


def _budgets(language: Language, accounts: Accounts) -> list[Html]:
    """Return what is left, and who may ask for it."""
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
    """Return how many are found at other numbers of mistakes."""
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
    """Return the first of some arguments that is there."""
    return next(
        (plain_name(arguments[name]) for name in names if name in arguments), ""
    )
