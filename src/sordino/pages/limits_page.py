"""The third page: what is not promised, line by line, and how each stands here."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, final

from sordino.display.formatting import format_key
from sordino.pages.languages import Language
from sordino.pages.markup import Html, tag
from sordino.pages.odds import FALSE_ALARMS, Odds
from sordino.pages.printed_odds import hundred_text
from sordino.pages.request_words import (
    cuts_of,
    joined_public,
    run_functions,
    units_of,
    vouchers_of,
)
from sordino.pages.sections import section
from sordino.pages.story import Story

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
    """Return how it stands with a table that grows."""
    if story.accounts is not None and story.accounts.division is not None:
        return Omission("growth", "tended", "growth_blocks")
    return Omission("growth", "applies", "growth")


def _split_ids(story: Story) -> Omission:
    """Return how it stands with persons who are several."""
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
    """Return how it stands with what a release may or may not have done."""
    state = "unstated" if occurs is None else "applies" if occurs else "absent"
    return Omission(name, state, f"{name}_{state}")


def _vouchers(story: Story) -> Omission:
    """Return how it stands with rows that somebody's program makes of others."""
    if vouchers_of(story.questions):
        return Omission("vouched", "applies", "vouched_applies")
    state = "unstated" if "" in story.questions else "absent"
    return Omission("vouched", state, f"vouched_{state}")


def _cut_off(story: Story) -> Omission:
    """Return how it stands with what limits cut off."""
    if any(answer.left_out for each in story.shown for answer in each.answers):
        return Omission("cut", "tended", "cut_measured")
    if "" not in story.questions and not any(map(cuts_of, story.questions)):
        return Omission("cut", "absent", "cut_none")
    return Omission("cut", "unstated", "cut_unmeasured")


def _old_copy(story: Story) -> Omission:
    """Return how it stands with an older copy of the ledger."""
    if story.accounts is None:
        return Omission("copy", "unstated", "copy_unknown")
    if story.accounts.trail.has_witness:
        return Omission("copy", "tended", "copy_witness")
    return Omission("copy", "applies", "copy_alone")


def _row(language: Language, story: Story, line: Omission) -> Html:
    """Return a line."""
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
    """Return what a line means here."""
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
