"""Numbers of two keys in tinted cells: darker where they are larger."""

from typing import Final

from sordino.pages.bands import Banded, figure_text
from sordino.pages.languages import Language
from sordino.pages.markup import Html, join, tag
from sordino.pages.story import NumberColumn, ShownTable

MOST_ACROSS: Final = 8
MOST_DOWN: Final = 12
_TINTS: Final = 6


def fits_cells(answer: ShownTable) -> bool:
    """Tell whether groups of two keys, all shown, make a table that fits a page."""
    if len(answer.keys) != 2 or answer.rows != len(answer.groups):
        return False
    down, across = _values(answer, 0), _values(answer, 1)
    return 1 < len(across) <= MOST_ACROSS and len(down) <= MOST_DOWN


def cell_table(language: Language, answer: ShownTable, column: NumberColumn) -> Html:
    """Return a cell for each group, empty where there is none."""
    down, across = _values(answer, 0), _values(answer, 1)
    places = dict(zip(answer.groups, column.rows, strict=True))
    numbers = [row.value for row in column.rows if row.value is not None]
    most = max([0.0, *numbers])
    heads = (tag("th", language.name(value), scope="col") for value in across)
    body = []
    for first in down:
        cells = (
            _cell(language, places.get((first, second)), most) for second in across
        )
        body.append(tag("tr", tag("th", language.name(first), scope="row"), *cells))
    name, second_name = map(language.name, answer.keys)
    corner = tag("span", name, " · ", second_name, class_="vh")
    table = tag(
        "table",
        tag("caption", tag("b", language.name(column.name)), _width(language, column)),
        tag("thead", tag("tr", tag("td", corner), *heads)),
        tag("tbody", *body),
        class_="grid",
    )
    return tag(
        "div", table, class_="wide", tabindex="0", role="group",
        aria_label=language.bare_name(column.name),
    )  # fmt: skip


def _width(language: Language, column: NumberColumn) -> Html:
    """Say how far bands reach at most to either side."""
    halves = [
        (row.high - row.low) / 2
        for row in column.rows
        if row.has_band and row.low is not None and row.high is not None
    ]
    if not halves:
        return join()
    width = language.number(f"{max(halves):,.3g}")
    return join(" · ", language.html("numbers.width", width=width))


def _cell(language: Language, row: Banded | None, most: float) -> Html:
    """Return a cell."""
    if row is None:
        return tag("td", "", class_="t0")
    look = f"t{_tint(row.value, most)}{' rough' if row.is_rough else ''}"
    return tag("td", figure_text(language, row), class_=look)


def _tint(value: float | None, most: float) -> int:
    """Return one of the tints, the lightest for nothing and less."""
    if value is None or not 0 < value <= most:
        return 0
    return 1 + min(int(value / most * (_TINTS - 1)), _TINTS - 2)


def _values(answer: ShownTable, place: int) -> list[object]:
    """Return the values of a key, in the order in which they come."""
    return list(dict.fromkeys(group[place] for group in answer.groups))
