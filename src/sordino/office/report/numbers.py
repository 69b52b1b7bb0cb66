"""Page two: each release and its numbers, by the shape of its groups.

| groups | shown as |
|---|---|
| none, or of one key | bands; up to 30 the largest first, else in their order |
| ranges, periods | bands, in their order |
| dates | a line with a ribbon |
| of two keys, if few | numbers in tinted cells |
| of more keys | bands, in their order |

What is shown, and in which order, comes from the published numbers alone.
"""

from collections.abc import Iterator
from datetime import date
from decimal import ROUND_CEILING
from itertools import pairwise
from math import inf
from operator import itemgetter
from typing import Any, Final

from sordino.office.html.elements import NOTHING, Html, fill_template, join
from sordino.office.html.key_order import own_places
from sordino.office.html.odds import FALSE_ALARMS, Odds, hundred_text
from sordino.office.html.page import Language, section
from sordino.office.report.accounts import amounts_in_words, cut_sentences
from sordino.office.report.pictures import cell_table, fits_cells, line_picture
from sordino.office.report.request_words import hidden_below
from sordino.office.report.story import (
    Banded,
    NumberColumn,
    ShownRelease,
    ShownTable,
    Story,
    band_table,
    group_name,
)

FEW: Final = 30
SHOWN: Final = 8
_FEWEST_DAYS: Final = 4
_UNSEEN: Final = Html('<span class="vh">{}</span>')


def answer_part(language: Language, answer: ShownTable) -> Html:
    """A table or a picture for each column, and how many rows are not shown."""
    groups = answer.groups[:FEW]
    return fill_template(
        "report/answer.html",
        language=language,
        answer=answer,
        columns=[_column(language, answer, column) for column in answer.columns],
        groups=[group_name(language, group) for group in groups],
    )


def _column(
    language: Language, answer: ShownTable, column: NumberColumn
) -> tuple[Html, int]:
    """Numbers of a column by the shape of the groups, and how many are not shown."""
    if not answer.rows:
        return NOTHING, 0
    if _are_days(answer) and _has_numbers(column):
        return line_picture(language, answer, column), 0
    if fits_cells(answer):
        return cell_table(language, answer, column), 0
    rows = _in_order(answer, list(column.rows))
    names = [part for key in answer.keys for part in (" · ", language.name(key))]
    # a table needs a head for those who hear the page, even where no key names one
    group = (
        join(*names[1:]) if names else _UNSEEN.format(language.html("numbers.group"))
    )
    shown = rows[:SHOWN]
    table = band_table(language, language.name(column.name), group, shown)
    return table, answer.rows - len(shown)


def _in_order(answer: ShownTable, rows: list[Banded]) -> list[Banded]:
    """Put the largest first, but ranges and periods into their own order."""
    if len(answer.keys) != 1:
        return rows
    values = [group[0] for group in answer.groups]
    places = own_places(values)
    if places is not None:
        pairs = zip(places, rows, strict=True)
        return [row for _, row in sorted(pairs, key=itemgetter(0))]
    if answer.rows <= FEW:
        rows.sort(key=_size, reverse=True)
    return rows


def _are_days(answer: ShownTable) -> bool:
    days = [group[0] for group in answer.groups if len(group) == 1]
    return (
        answer.rows == len(days) >= _FEWEST_DAYS
        and all(type(day) is date for day in days)
        and all(str(first) < str(second) for first, second in pairwise(days))
    )


def _has_numbers(column: NumberColumn) -> bool:
    return all(row.has_band and row.value is not None for row in column.rows)


def _size(row: Banded) -> float:
    # NaN has no order: where rows stand would depend on how they came
    return -inf if row.value is None or row.value != row.value else row.value


MOST_TABLES: Final = 8
"""Of those that were asked for together."""


def published_page(language: Language, story: Story) -> Html:
    """The page, the newest release first."""
    return section(
        language,
        "published",
        releases=[_release(language, release) for release in story.shown],
        earlier=story.earlier,
        most_tables=MOST_TABLES,
    )


def _release(language: Language, release: ShownRelease) -> dict[str, Any]:
    answers = release.answers[:MOST_TABLES]
    return {
        "title": _title(language, release),
        "facts": _facts(language, release),
        "files": release.files,
        "answers": [answer_part(language, answer) for answer in answers],
        "unshown": len(release.answers) - MOST_TABLES,
    }


def _title(language: Language, publication: ShownRelease) -> Html:
    if not publication.number:
        return language.html("published.alone")
    number = f"{publication.number}. "
    if publication.key:
        return join(number, language.name(publication.key))
    return join(number, language.html("published.keyless"))


def _facts(language: Language, publication: ShownRelease) -> Iterator[tuple[str, Html]]:
    if publication.when is not None:
        yield "when", join(language.moment(publication.when))
    if publication.who or publication.budget:
        yield "who", _who(language, publication)
    if publication.why:
        yield "why", language.sentence(publication.why)
    yield "itself", _odds_alone(language, publication)
    taken = amounts_in_words(language, publication.taken, ROUND_CEILING)
    if taken:
        yield "taken_each" if publication.blocks else "taken", join(taken)
    if publication.blocks:
        yield "blocks", _blocks(language, publication.blocks)
    if publication.answers or publication.files is not None:
        yield "groups", _groups(language, publication)
    banded = sum(answer.banded for answer in publication.answers)
    if banded:
        yield "bands", join(*_published_bands(language, publication, banded))
    yield "cut", join(*cut_sentences(language, publication))


def _blocks(language: Language, names: tuple[str, ...]) -> Html:
    if len(names) == 1:
        return language.name(names[0])
    return language.html(
        "published.blocks",
        count=language.whole(len(names)),
        first=language.name(names[0]),
        last=language.name(names[-1]),
    )


def _who(language: Language, publication: ShownRelease) -> Html:
    who, budget = language.name(publication.who), language.name(publication.budget)
    if not publication.budget:
        return who
    if not publication.who:
        return language.html("published.for_budget", budget=budget)
    return language.html("published.who_for", who=who, budget=budget)


def _odds_alone(language: Language, publication: ShownRelease) -> Html:
    odds = Odds(publication.bound)
    count = hundred_text(language, odds.finds(FALSE_ALARMS))
    return language.html("published.itself", alarms=str(FALSE_ALARMS), count=count)


def _groups(language: Language, publication: ShownRelease) -> Html:
    has_groups = any(answer.keys for answer in publication.answers)
    if publication.files is None and not has_groups:
        return language.html("published.groups.one")
    hides, threshold = hidden_below(publication.plan)
    if not hides:
        whole = "known" if publication.number else "listed"
        return language.html(f"published.groups.{whole}")
    if threshold is None:
        return language.html("published.groups.hidden")
    count = language.number(f"{threshold:,.4g}")
    return language.html("published.groups.threshold", count=count)


def _published_bands(
    language: Language, publication: ShownRelease, banded: int
) -> Iterator[Html]:
    answer = publication.answers[0]
    share = 100 * answer.confidence
    # at least one: no reader shall take bands for certain
    outside = max(1, round((1 - answer.confidence) * banded))
    key = language.form("published.banded", banded)
    yield language.html(
        key,
        share=language.number(f"{float(share):.10g}"),
        count=language.whole(banded),
        outside=language.whole(outside),
    )
    whole = dict.fromkeys(name for each in publication.answers for name in each.whole)
    if whole:
        names = [part for name in whole for part in (", ", language.name(name))]
        yield join(" ", language.html("published.banded.whole", names=join(*names[1:])))
