"""Numbers over dates as lines, numbers of two keys as cells."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from itertools import chain
from typing import Any, Final, final

from sordino.office.html.elements import Html, fill_template
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
    """Whether groups of two keys, all shown, make a table that fits a page."""
    if len(answer.keys) != 2 or answer.rows != len(answer.groups):
        return False
    down, across = _values(answer, 0), _values(answer, 1)
    return 1 < len(across) <= MOST_ACROSS and len(down) <= MOST_DOWN


def cell_table(language: Language, answer: ShownTable, column: NumberColumn) -> Html:
    """One cell for each pair of keys; empty where no group is."""
    across = _values(answer, 1)
    places = dict(zip(answer.groups, column.rows, strict=True))
    most = max([0.0, *(row.value for row in column.rows if row.value is not None)])
    return fill_template(
        "report/cells.html",
        language=language,
        name=column.name,
        keys=answer.keys,
        width=_width(language, column),
        across=across,
        rows=[
            (
                first,
                [_cell(language, places.get((first, each)), most) for each in across],
            )
            for first in _values(answer, 0)
        ],
    )


def _width(language: Language, column: NumberColumn) -> str:
    halves = [
        (row.high - row.low) / 2
        for row in column.rows
        if row.has_band and row.low is not None and row.high is not None
    ]
    return language.number(f"{max(halves):,.3g}") if halves else ""


def _cell(language: Language, row: Banded | None, most: float) -> tuple[str, str]:
    if row is None:
        return "t0", ""
    rough = " rough" if row.is_rough else ""
    return f"t{_tint(row.value, most)}{rough}", figure_text(language, row)


def _tint(value: float | None, most: float) -> int:
    if value is None or not 0 < value <= most:
        return 0
    return 1 + min(int(value / most * (_TINTS - 1)), _TINTS - 2)


def _values(answer: ShownTable, place: int) -> list[object]:
    return list(dict.fromkeys(group[place] for group in answer.groups))


_HEIGHT: Final = 200
_MARGIN: Final = 2
_MOST_NAMES: Final = 5
_MOST_DOTS: Final = 60


def line_picture(language: Language, answer: ShownTable, column: NumberColumn) -> Html:
    """The picture with its caption, and the numbers, folded."""
    days: Sequence[Any] = [group[0] for group in answer.groups]
    return fill_template(
        "report/line.html",
        language=language,
        name=column.name,
        words=_words(language, days, column),
        chart=LineChart(days, column.rows),
        numbers=[
            (language.day(day), language.number(row.number), ends_text(language, row))
            for day, row in zip(days, column.rows, strict=True)
        ],
    )


@final
@dataclass(frozen=True)
class LineChart:
    """Where numbers over dates lie: across in percent, from the top in pixels."""

    days: Sequence[date]
    rows: Sequence[Banded]

    @cached_property
    def scale(self) -> Scale:
        """The scale of all numbers and ends."""
        ends = ((row.value, row.low, row.high) for row in self.rows)
        return scale_around(chain.from_iterable(ends))

    def height(self, number: float) -> float:
        """How far from the top a number stands."""
        return _MARGIN + _HEIGHT * (1 - self.scale.place(number) / 100)

    def place_of(self, day: date) -> float:
        """Place of a date: as far from others as the days are."""
        share = (day - self.days[0]).days / (self.days[-1] - self.days[0]).days
        return 2 + 96 * share

    @property
    def ribbon(self) -> str:
        """Corners of the bands: their upper ends, and the lower ones back."""
        below = self._points([row.low for row in self.rows])
        return " ".join([*self._points([row.high for row in self.rows]), *below[::-1]])

    @property
    def line(self) -> str:
        """Points of the numbers."""
        return " ".join(self._points([row.value for row in self.rows]))

    def _points(self, numbers: Iterable[float | None]) -> list[str]:
        return [
            f"{self.place_of(day):.2f},{100 - self.scale.place(number or 0):.2f}"
            for day, number in zip(self.days, numbers, strict=True)
        ]

    @property
    def dots(self) -> list[tuple[float, float]]:
        """A dot for each number, unless they would be a thick line."""
        if len(self.days) > _MOST_DOTS:
            return []
        return [
            (self.place_of(day), self.height(row.value or 0))
            for day, row in zip(self.days, self.rows, strict=True)
        ]

    @property
    def dates(self) -> Iterator[tuple[date, float, str, str]]:
        """Some of the dates, the first and the last among them."""
        last = len(self.days) - 1
        step = max(1, -(-last // (_MOST_NAMES - 1)))
        for number, place in enumerate([*range(0, last + 1 - step, step), last]):
            side = "start" if not number else "middle" if place < last else "end"
            look = "odd" if number % 2 and place < last else "even"
            yield self.days[place], self.place_of(self.days[place]), look, side


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
