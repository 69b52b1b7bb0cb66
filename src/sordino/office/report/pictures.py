"""Numbers over dates as lines, numbers of two keys as cells."""

from collections.abc import Iterator, Sequence
from datetime import date
from typing import Any, Final

from sordino.office.html.elements import Html, join, tag
from sordino.office.html.page import Language
from sordino.office.html.small_pictures import Scale, scale_around
from sordino.office.report.story import (
    Banded,
    NumberColumn,
    ShownTable,
    ends_text,
    figure_text,
)

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
    """One cell for each pair of keys; empty where no group is."""
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


_HEIGHT: Final = 200
_MARGIN: Final = 2
_BELOW: Final = 28
_MOST_NAMES: Final = 5
_MOST_DOTS: Final = 60


def line_picture(
    language: Language, answer: ShownTable, column: NumberColumn
) -> Iterator[Html]:
    """Yield the picture with its caption, and the numbers."""
    days: Sequence[Any] = [group[0] for group in answer.groups]
    scale = scale_around(
        end for row in column.rows for end in (row.value, row.low, row.high)
    )
    words = _words(language, days, column)
    title = tag("p", tag("b", language.name(column.name)))
    picture = tag(
        "div",
        _side(language, scale),
        tag(
            "svg", _level_lines(scale), _shapes(scale, days, column),
            _dots(scale, days, column), _dates(language, days), role="img",
            aria_label=words, width="100%", height=_HEIGHT + _BELOW,
        ),
        class_="plot",
    )  # fmt: skip
    yield tag("figure", title, picture, tag("figcaption", words), class_="keep")
    yield _numbers(language, days, column)


def _height_of(scale: Scale, number: float) -> float:
    """Return how far from the top a number stands, in pixels."""
    return _MARGIN + _HEIGHT * (1 - scale.place(number) / 100)


def _place_of(days: Sequence[date], day: date) -> float:
    """Return where a date stands, in percent: as far apart as the days are."""
    share = (day - days[0]).days / (days[-1] - days[0]).days
    return 2 + 96 * share


def _side(language: Language, scale: Scale) -> Html:
    texts = (
        tag("text", language.number(f"{tick:,.10g}"), x=40, text_anchor="end",
            y=f"{_height_of(scale, tick) + 4:.1f}")
        for tick in scale.ticks
    )  # fmt: skip
    return tag("svg", *texts, aria_hidden="true", width="100%", height=_HEIGHT + _BELOW)


def _level_lines(scale: Scale) -> Html:
    """Return the quiet lines at round numbers, and the one at zero."""
    return join(*(
        tag("line", class_="axis" if tick else "zero", x1=0, x2="100%",
            y1=f"{_height_of(scale, tick):.1f}", y2=f"{_height_of(scale, tick):.1f}")
        for tick in scale.ticks
    ))  # fmt: skip


def _shapes(scale: Scale, days: Sequence[date], column: NumberColumn) -> Html:
    """Return the ribbon of bands and the line, which stretch with the picture."""
    places = [
        (_place_of(days, day), row) for day, row in zip(days, column.rows, strict=True)
    ]
    above = [f"{x:.2f},{100 - scale.place(row.high or 0):.2f}" for x, row in places]
    below = [f"{x:.2f},{100 - scale.place(row.low or 0):.2f}" for x, row in places]
    line = [f"{x:.2f},{100 - scale.place(row.value or 0):.2f}" for x, row in places]
    return tag(
        "svg",
        tag("polygon", class_="ribbon", points=" ".join([*above, *reversed(below)])),
        tag("polyline", class_="path", points=" ".join(line)),
        x=0, y=_MARGIN, width="100%", height=_HEIGHT, viewBox="0 0 100 100",
        preserveAspectRatio="none",
    )  # fmt: skip


def _dots(scale: Scale, days: Sequence[date], column: NumberColumn) -> Html:
    """Return a dot for each number, unless they would be a thick line."""
    if len(days) > _MOST_DOTS:
        return join()
    return join(*(
        tag("circle", class_="dot", cx=f"{_place_of(days, day):.2f}%", r=3.2,
            cy=f"{_height_of(scale, row.value or 0):.1f}")
        for day, row in zip(days, column.rows, strict=True)
    ))  # fmt: skip


def _dates(language: Language, days: Sequence[date]) -> Html:
    """Return some of the dates below the picture, the first and the last among them."""
    step = max(1, -(-(len(days) - 1) // (_MOST_NAMES - 1)))
    places = [*range(0, len(days) - step, step), len(days) - 1]
    texts = []
    for number, place in enumerate(places):
        at = _place_of(days, days[place])
        side = "start" if not number else "middle" if place < len(days) - 1 else "end"
        look = "odd" if number % 2 and place < len(days) - 1 else "even"
        texts.append(
            tag("text", language.short_day(days[place]), class_=look, x=f"{at:.2f}%",
                y=_HEIGHT + 24, text_anchor=side)
        )  # fmt: skip
    return join(*texts)


def _words(language: Language, days: Sequence[date], column: NumberColumn) -> str:
    rows = list(zip(days, column.rows, strict=True))
    least = min(rows, key=lambda pair: pair[1].value or 0)
    most = max(rows, key=lambda pair: pair[1].value or 0)
    return language.plain(
        "numbers.line",
        name=language.bare_name(column.name),
        first=language.day(days[0]),
        last=language.day(days[-1]),
        most=language.number(most[1].number),
        most_day=language.day(most[0]),
        least=language.number(least[1].number),
        least_day=language.day(least[0]),
    )


def _numbers(language: Language, days: Sequence[date], column: NumberColumn) -> Html:
    """Return the numbers, folded."""
    heads = (
        tag("th", language.html(key), scope="col", class_="n")
        for key in ("bands.number", "bands.ends")
    )
    top = tag("th", language.html("numbers.day"), scope="col")
    body = (
        _number_row(language, day, row)
        for day, row in zip(days, column.rows, strict=True)
    )
    table = tag(
        "table", tag("thead", tag("tr", top, *heads)), tag("tbody", *body), class_="num"
    )
    summary = language.html("numbers.folded", count=language.whole(len(days)))
    return tag("details", tag("summary", summary), table, class_="screen")


def _number_row(language: Language, day: date, row: Banded) -> Html:
    return tag(
        "tr",
        tag("th", language.day(day), scope="row"),
        tag("td", language.number(row.number), class_="n"),
        tag("td", ends_text(language, row), class_="n"),
    )
