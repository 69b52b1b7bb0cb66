"""The numbers of a release, by the shape of its groups.

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
from itertools import pairwise
from math import inf
from typing import Final

from sordino.pages.bands import Banded, band_table, group_name
from sordino.pages.cell_tables import cell_table, fits_cells
from sordino.pages.languages import Language
from sordino.pages.lines import line_picture
from sordino.pages.markup import Html, join, tag
from sordino.pages.story import NumberColumn, ShownTable

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
    """Return the first rows with bands."""
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
    """Say how many rows are not shown."""
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
