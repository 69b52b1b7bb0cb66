"""Pages one and three: the promise, the odds, what is left, what is not promised."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR
from fractions import Fraction
from typing import Any, Final, final

from sordino.numbers import Extended
from sordino.numbers.formatting import format_key
from sordino.office.html.elements import (
    CODE,
    NOTHING,
    Html,
    fill_template,
    join,
    plain_name,
)
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
from sordino.office.report.policy import epsilon_part, policy_part
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
    """Everything that is not promised, and how it stands here."""
    return section(language, "limits", lines=omission_lines(language, story))


def omission_lines(
    language: Language, story: Story
) -> list[tuple[Omission, str, Html]]:
    """What is not promised, with a sign for its state and what it means here."""
    return [
        (line, _SIGNS[line.state], _explain(language, story, line))
        for line in list_omissions(story)
    ]


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
    """The newest blocks with their limits, and the odds of several together."""
    newest = division.purses[-NEWEST:][::-1]
    name = main_name(newest[0]) if newest else None
    return fill_template(
        "report/blocks.html",
        language=language,
        unit="" if name is None else language.texts.get(f"amount.{name}", name),
        rows=[(purse.name, _block_amounts(language, purse)) for purse in newest],
        earlier=len(division.purses) - len(newest),
        alarms=FALSE_ALARMS,
        several=[
            (count, hundred_text(language, Odds(bound).finds(FALSE_ALARMS)))
            for count, bound in division.bounds
        ],
    )


def _block_amounts(language: Language, purse: Purse) -> Iterable[str]:
    name = main_name(purse)
    return ("",) * 3 if name is None else _texts(language, purse, name).values()


_DELTA: Final = "delta"
_LEAST: Final = Fraction(1, 50)
"""Releases that took less of the limit share one piece of the bar."""
_LETTER: Final = Fraction(1, 38)
"""The part of a bar on a phone that a digit takes; what has no room is left out."""


def limit_part(language: Language, accounts: Accounts) -> Html:
    """The limit of everything, and what is spent and left of it."""
    purse = accounts.purses[0]
    name = main_name(purse)
    title = language.html("limit.title")
    if name is None:
        sentence = language.html("limit.uncountable")
        return _sentence(title, sentence, is_kept=True)
    texts = _texts(language, purse, name)
    releases = accounts.trail.releases
    key = language.form("limit.state", releases)
    has_delta = name != _DELTA and purse.whole.get(_DELTA)
    return fill_template(
        "report/limit.html",
        language=language,
        purse=purse,
        texts=texts,
        state=language.html(key, count=language.whole(releases), **texts),
        aside=amounts_in_words(language, purse.aside, ROUND_CEILING),
        named=language.texts.get(f"amount.{name}", name),
        pieces=_bar_pieces(accounts.shares),
        delta=_texts(language, purse, _DELTA) if has_delta else None,
    )


def asking_part(language: Language, accounts: Accounts) -> Html:
    """Who may still ask, and for how much."""
    purse, *named = accounts.purses
    title = language.html("asking.title")
    name = main_name(purse)
    if name is None:
        return _sentence(title, language.html("limit.uncountable"))
    if not named:
        may = _may_ask(language, purse, purse, name)
        return _sentence(title, language.html("asking.anybody", may=may))
    return fill_template(
        "report/asking.html",
        language=language,
        rows=[
            *(
                _purse_row(language, language.name(each.name), each, purse)
                for each in named
            ),
            _purse_row(language, language.html("asking.all"), purse, purse),
        ],
        note="note" if accounts.division is None else "note_of_blocks",
    )


def _sentence(title: Html, sentence: Html, *, is_kept: bool = False) -> Html:
    return fill_template(
        "report/sentence.html", title=title, sentence=sentence, is_kept=is_kept
    )


def _purse_row(
    language: Language, who: Html, purse: Purse, dataset: Purse
) -> tuple[Html, Iterable[str], str]:
    name = main_name(purse)
    if name is None:
        return who, ("",) * 3, language.plain("asking.unknown")
    amounts = _texts(language, purse, name).values()
    return who, amounts, _may_ask(language, purse, dataset, name)


def _may_ask(language: Language, purse: Purse, dataset: Purse, name: str) -> str:
    if purse.is_closed or dataset.is_closed:
        return language.plain("asking.closed")
    # a budget may promise more than is left of the dataset's, which is charged as well
    left = _least(purse.left[name], dataset.left.get(name))
    if not left:
        return language.plain("asking.no")
    text = amount_in_words(language, name, left, ROUND_FLOOR)
    return language.plain("asking.yes", left=text)


def _least(left: Extended, other: Extended | None) -> Extended:
    return left if other is None or left <= other else other


def _texts(language: Language, purse: Purse, name: str) -> dict[str, str]:
    # spent up and left down: the ledger never grants less than a report says is left
    return {
        "whole": amount_in_words(language, name, purse.whole[name], ROUND_CEILING),
        "spent": amount_in_words(language, name, purse.spent[name], ROUND_CEILING),
        "left": amount_in_words(language, name, purse.left[name], ROUND_FLOOR),
    }


def _bar_pieces(
    shares: tuple[tuple[int, Fraction], ...],
) -> Iterator[tuple[str, float, float]]:
    begin = Fraction(0)
    for text, share in _pieces(shares):
        yield text, 100 * float(begin), 100 * float(share)
        begin += share


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


_LITTLE: Final = 50
"""Of 100 found: up to here a release may be said to tell only a little."""


def promise_page(language: Language, story: Story) -> Html:
    """What is promised to each person, and what is left of the budgets."""
    odds = Odds(story.bound)
    return section(
        language,
        "promise",
        scope=promise_scope(story),
        unit=protected_unit(language, story.questions),
        is_little=odds.finds(FALSE_ALARMS) <= _LITTLE,
        budgets=_budgets(language, story.accounts),
        alarms=FALSE_ALARMS,
        **_odds_facts(language, odds),
    )


def promise_scope(story: Story) -> str:
    """Scope of the promise: a release, a ledger, or a block of one."""
    if story.accounts is None:
        return "release"
    return "ledger" if story.accounts.division is None else "blocks"


def _budgets(language: Language, accounts: Accounts | None) -> Html:
    if accounts is None:
        return NOTHING
    parts = [
        asking_part(language, accounts),
        policy_part(language, accounts),
        epsilon_part(language, accounts),
    ]
    if accounts.division is None:
        return join(limit_part(language, accounts), *parts)
    return join(blocks_part(language, accounts.division), *parts)


def _odds_facts(language: Language, odds: Odds) -> dict[str, Any]:
    if not odds.promises:
        return {"promises": False, "most_promised": MOST}
    return {
        "promises": True,
        "picture": people_picture(language, odds),
        "odds": [
            (alarms, hundred_text(language, odds.finds(alarms)))
            for alarms in OTHER_ALARMS
        ],
        "believed": hundred_text(language, odds.belief(1)),
        "guessed": hundred_text(language, odds.guesses),
    }


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
    if arguments.get("sampled") is not None:
        drawn = {name: each for name, each in arguments.items() if name != "sampled"}
        return language.html(
            "unit.of_frame",
            unit=unit_text(language, (verb, drawn)),
            rate=plain_name(arguments["sampled"]),
        )
    key = f"unit.{verb}"
    if verb not in UNITS:
        return language.html("unit.unknown")
    column = language.name(arguments.get("column"))
    counts = {
        "count": _first_of(arguments, "max_rows", "max_rows_per_group", "max_total"),
        "groups": _first_of(arguments, "max_groups"),
    }
    whole = language.html(key, column=CODE.format(column), **counts)
    match arguments.get("in_each"):
        case None:
            return whole
        case [*columns, most]:
            first, *more = (CODE.format(language.name(column)) for column in columns)
            named = join(first, *(join(", ", column) for column in more))
            return language.html(
                "unit.in_each", unit=whole, count=str(most), columns=named
            )
        case most:
            return language.html("unit.in_each_row", unit=whole, count=str(most))


def _first_of(arguments: Mapping[str, Any], *names: str) -> str:
    return next(
        (plain_name(arguments[name]) for name in names if name in arguments), ""
    )
