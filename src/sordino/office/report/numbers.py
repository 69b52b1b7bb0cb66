"""Page two: each release and its numbers.

The numbers of a release, by the shape of its groups.

| groups | shown as |
|---|---|
| none, or of one key | bands; up to 30 the largest first, else in their order |
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
from typing import Final

from sordino.office.html.elements import Html, join, tag
from sordino.office.html.odds import FALSE_ALARMS, Odds, hundred_text
from sordino.office.html.page import Language, section
from sordino.office.report.accounts import amounts_in_words, cut_sentences
from sordino.office.report.pictures import cell_table, fits_cells, line_picture
from sordino.office.report.request_words import hidden_below
from sordino.office.report.story import (
    Banded,
    NumberColumn,
    ShownFiles,
    ShownRelease,
    ShownTable,
    Story,
    band_table,
    group_name,
)

FEW: Final = 30
SHOWN: Final = 8
_FEWEST_DAYS: Final = 4


def answer_parts(language: Language, answer: ShownTable) -> Iterator[Html]:
    """Yield a table or a picture for each column, and how many rows are not shown."""
    if answer.name:
        yield tag("h4", language.name(answer.name))
    if not answer.rows:
        yield tag("p", language.html("numbers.empty"))
        return
    for column in answer.columns:
        if _are_days(answer) and _has_numbers(column):
            yield from line_picture(language, answer, column)
        elif fits_cells(answer):
            yield cell_table(language, answer, column)
        else:
            yield _bands(language, answer, column)
    if not answer.columns:
        yield _keys_alone(language, answer)
    if answer.unshown:
        key = language.form("numbers.columns", answer.unshown)
        count = language.whole(answer.unshown)
        yield tag("p", language.html(key, count=count), class_="soft")


def _bands(language: Language, answer: ShownTable, column: NumberColumn) -> Html:
    rows = list(column.rows)
    if answer.rows <= FEW and len(answer.keys) == 1:
        rows.sort(key=_size, reverse=True)
    names = [part for key in answer.keys for part in (" · ", language.name(key))]
    group = join(*names[1:]) if names else _unseen(language)
    shown = rows[:SHOWN]
    table = band_table(language, language.name(column.name), group, shown)
    return join(table, _rest(language, answer.rows - len(shown)))


def _unseen(language: Language) -> Html:
    """Return the head of groups without a key, for those who hear the page."""
    return tag("span", language.html("numbers.group"), class_="vh")


def _rest(language: Language, rows: int) -> Html:
    if not rows:
        return join()
    key = language.form("numbers.rest", rows)
    text = language.html(key, count=language.whole(rows))
    return tag("p", text, class_="soft")


def _keys_alone(language: Language, answer: ShownTable) -> Html:
    """Return the first groups of a release that has no numbers."""
    names = [
        part
        for group in answer.groups[:FEW]
        for part in (", ", group_name(language, group))
    ]
    rest = _rest(language, answer.rows - len(answer.groups[:FEW]))
    return join(tag("p", *names[1:]), rest)


def _are_days(answer: ShownTable) -> bool:
    """Tell whether the groups are dates, all shown, and enough for a line."""
    days = [group[0] for group in answer.groups if len(group) == 1]
    return (
        answer.rows == len(days) >= _FEWEST_DAYS
        and all(type(day) is date for day in days)
        and all(str(first) < str(second) for first, second in pairwise(days))
    )


def _has_numbers(column: NumberColumn) -> bool:
    """Tell whether every row has a number and a band."""
    return all(row.has_band and row.value is not None for row in column.rows)


def _size(row: Banded) -> float:
    """Return the number of a row, the least where it has none."""
    return -inf if row.value is None or row.value != row.value else row.value


MOST_TABLES: Final = 8
"""Of those that were asked for together."""


def published_page(language: Language, story: Story) -> Html:
    """Return the page, the newest release first."""
    parts = [
        tag("p", language.html("published.bands")),
        tag("p", language.html("published.rough"), class_="soft"),
    ]
    if not story.shown:
        parts = [tag("p", language.html("published.nothing"))]
    parts += [_release(language, publication) for publication in story.shown]
    if story.earlier:
        key = language.form("published.earlier", story.earlier)
        count = language.whole(story.earlier)
        parts.append(tag("p", language.html(key, count=count)))
    return section(language, "published", *parts)


def _release(language: Language, publication: ShownRelease) -> Html:
    """Return a release: what is known of it, and its numbers."""
    facts = (
        part
        for name, text in _facts(language, publication)
        for part in (
            tag("dt", language.html(f"published.fact.{name}")),
            tag("dd", text),
        )
    )
    numbers = [
        part
        for answer in publication.answers[:MOST_TABLES]
        for part in answer_parts(language, answer)
    ]
    unshown = len(publication.answers) - MOST_TABLES
    if unshown > 0:
        key = language.form("published.more", unshown)
        count = language.whole(unshown)
        numbers.append(tag("p", language.html(key, count=count), class_="soft"))
    if publication.files is not None:
        numbers = [*_files(language, publication.files)]
    elif not publication.answers:
        numbers = [tag("p", language.html("published.unkept"), class_="soft")]
    title = tag("h3", _title(language, publication))
    return tag(
        "article", title, tag("dl", *facts, class_="facts"), *numbers, class_="release"
    )


def _files(language: Language, files: ShownFiles) -> Iterator[Html]:
    """Yield how many groups showed, where they are, and by what that is checked."""
    if files.groups is None:
        yield tag("p", language.html("published.files.unknown"))
    else:
        key = language.form("published.files", files.groups)
        groups, size = language.whole(files.groups), language.whole(files.size)
        count = language.whole(files.count)
        text = language.html(key, groups=groups, count=count, size=size)
        yield tag("p", text)
    if files.published:
        yield tag("p", language.html("published.files.checked"), class_="soft")
    for name, sha256 in files.published[:MOST_TABLES]:
        yield tag("p", language.name(name), " ", tag("code", sha256), class_="soft")


def _title(language: Language, publication: ShownRelease) -> Html:
    if not publication.number:
        return language.html("published.alone")
    number = f"{publication.number}. "
    if publication.key:
        return join(number, language.name(publication.key))
    return join(number, language.html("published.keyless"))


def _facts(language: Language, publication: ShownRelease) -> Iterator[tuple[str, Html]]:
    """Yield what is known of a release, by the keys of its texts."""
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
        yield "bands", _published_bands(language, publication.answers[0], banded)
    yield "cut", join(*cut_sentences(language, publication))


def _blocks(language: Language, names: tuple[str, ...]) -> Html:
    """Return the blocks that a release was charged to, the first and the last."""
    if len(names) == 1:
        return language.name(names[0])
    return language.html(
        "published.blocks",
        count=language.whole(len(names)),
        first=language.name(names[0]),
        last=language.name(names[-1]),
    )


def _who(language: Language, publication: ShownRelease) -> Html:
    """Return who asked, and for whose budget."""
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


def _published_bands(language: Language, answer: ShownTable, banded: int) -> Html:
    """Say how sure bands are, and how many are expected to miss."""
    share = 100 * answer.confidence
    outside = max(1, round((1 - answer.confidence) * banded))
    key = language.form("published.banded", banded)
    return language.html(
        key,
        share=language.number(f"{float(share):.10g}"),
        count=language.whole(banded),
        outside=language.whole(outside),
    )
