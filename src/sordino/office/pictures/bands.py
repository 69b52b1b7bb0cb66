"""Groups as bands with a tick at the number, and those beyond them by rank.

No bar is filled from zero: readers take what lies in a bar for likelier than what lies
beyond it. A quiet line leads from zero, where zero is on the scale. Groups by rank have
a scale of their own: one for all would press three hundred groups into a corner.
"""

from collections.abc import Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, Final, NamedTuple, final

import numpy as np

from sordino.numbers import formatting
from sordino.office.html.small_pictures import Scale
from sordino.office.pictures.curves import Inks
from sordino.office.pictures.parts import (
    TITLE,
    Drawing,
    GroupTable,
    Place,
    Series,
    choose_labels,
    cut_to,
    set_labels,
    text_inches,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from sordino.release.text import Figure


BAND: Final = 2.2
ROW: Final = 0.23
GAP: Final = 0.1
HEAD: Final = 0.28
FOOT: Final = 0.26
_BETWEEN: Final = 0.4
_WIDEST: Final = 2.4
"""Inches of both ends in digits; beyond it, the deviation is told."""
_NOBODY: Final = "no groups"
_MARGIN: Final = 0.03
_FAR: Final = 3
"""Zero is left out where numbers would have less than this part of the scale."""
_NARROW: Final = 1e-9
_FINEST: Final = 1e-290
"""Parts of a number, and numbers, that no scale resolves."""
_THICK, _TALL = 0.5, 0.36


@final
class BandColumn(NamedTuple):
    """An aggregate of some groups, and its widths in inches."""

    series: Series
    numbers: list[str]
    ends: list[str]
    number_width: float
    ends_width: float

    @property
    def width(self) -> float:
        """Return the width of digits and band."""
        return self.number_width + BAND + self.ends_width + 2 * GAP


def band_column(part: GroupTable, name: str) -> BandColumn:
    """Return an aggregate with its digits."""
    figures = part.figures(name)
    numbers = [figure.value for figure in figures]
    ends = [
        figure.interval or _rank(figure, part.ranks.get(name, "")) for figure in figures
    ]
    if text_inches(ends) > _WIDEST:
        ends = [figure.sd and f"± {figure.sd}" for figure in figures]
    return BandColumn(
        part.series(name),
        numbers,
        ends,
        text_inches([*numbers, formatting.MISSING], weight="bold"),
        text_inches(ends),
    )


def _rank(figure: "Figure", whole: str) -> str:
    """Say by how many rows an answer is off: it alone, or all of them at most."""
    return f"{figure.ranks} ranks" if figure.ranks else whole


def band_block(part: GroupTable, columns: Sequence[BandColumn]) -> Drawing:
    """Return the groups with some aggregates side by side."""
    starts = column_starts(part, columns)
    rows = max(len(part), 1)
    height = HEAD + ROW * rows + FOOT

    def draw(place: Place) -> None:
        for row, label in enumerate(part.labels):
            place.write(0, HEAD + ROW * (row + 0.5), label)
        if not len(part):
            place.write(0, HEAD + ROW / 2, _NOBODY, color=place.inks.soft)
        for start, column in zip(starts, columns, strict=True):
            _draw_column(place, start, column)

    return Drawing(starts[-1] + columns[-1].width, height, draw)


def column_starts(part: GroupTable, columns: Sequence[BandColumn]) -> list[float]:
    """Return where each aggregate begins, right of the names."""
    names = text_inches([*part.labels, "" if len(part) else _NOBODY])
    widths = [column.width + _BETWEEN for column in columns[:-1]]
    return list(accumulate(widths, initial=names + (GAP if names else 0)))


def _draw_column(place: Place, start: float, column: BandColumn) -> None:
    series, rows = column.series, len(column.numbers)
    title = cut_to(formatting.format_key(series.name), column.width, TITLE, "bold")
    place.write(start, HEAD / 2, title, fontsize=TITLE, weight="bold")
    left = start + column.number_width + GAP
    for row, (number, ends) in enumerate(zip(column.numbers, column.ends, strict=True)):
        down = HEAD + ROW * (row + 0.5)
        look = (
            {"weight": "bold"} if number != formatting.MISSING else {"style": "italic"}
        )
        place.write(left - GAP, down, number, ha="right", **look)
        soft = place.inks.soft
        right = left + BAND + GAP + column.ends_width
        place.write(right, down, ends, ha="right", color=soft)
    axes = place.axes(left, HEAD, BAND, ROW * max(rows, 1))
    fill_bands(axes, series, place.inks)
    if series.numbers:
        set_scale(axes, number_scale(series.numbers), BAND)
    else:
        axes.set_xticks([])


def fill_bands(axes: "Axes", series: Series, inks: Inks) -> None:
    """Draw bands, ticks and rings, a row for each group, the first above."""
    rows = np.arange(len(series.value), dtype=np.float64)
    known = series.intervals
    lone = ~known & ~np.isnan(series.value)
    scale = number_scale(series.numbers)
    if scale.least <= 0 <= scale.most:
        # a length is read from zero: without it there are marks, and no lengths
        guides = np.zeros(len(rows)), np.where(lone, np.nan, series.value)
        axes.hlines(rows, *guides, color=inks.line, lw=0.8, zorder=1)
    if scale.least < 0 < scale.most:
        axes.axvline(0, color=inks.bare, lw=0.8, zorder=1)
    axes.barh(
        rows[known],
        series.high[known] - series.low[known],
        left=series.low[known],
        height=_THICK,
        color=inks.band,
        zorder=2,
    )
    marks, middles = series.value[known], rows[known]
    axes.vlines(
        marks, middles - _TALL, middles + _TALL, color=inks.ink, lw=1.8, zorder=3
    )
    axes.plot(
        series.value[lone], rows[lone], "o", ms=4.5, mec=inks.ink, mfc="none", zorder=3
    )
    axes.set_ylim(max(len(rows), 1) - 0.5, -0.5)
    axes.set_yticks([])


def number_scale(numbers: Sequence[float]) -> Scale:
    """Return a scale that holds numbers, and zero unless they are far from it.

    >>> number_scale([100.0, 101.0]).least, number_scale([1.0, 2.0]).least
    (100.0, 0.0)
    """
    if not numbers:
        return Scale(0.0, 1.0)
    least, most = min(numbers), max(numbers)
    near = (most - least) * _FAR >= max(abs(least), abs(most))
    if near or least == most:
        least, most = min(least, 0.0), max(most, 0.0)
    narrow = max(abs(least), abs(most)) * _NARROW
    if 0 < narrow >= most - least:
        return Scale(least - narrow, most + narrow)
    return Scale(least, most) if most - least > _FINEST else Scale(least, least + 1.0)


def set_scale(axes: "Axes", scale: Scale, width: float) -> None:
    """Set the scale across axes `width` inches wide, with the numbers that fit."""
    span = scale.most - scale.least
    axes.set_xlim(scale.least - _MARGIN * span, scale.most + _MARGIN * span)
    ticks = scale.ticks
    places = [width * scale.place(tick) / 100 for tick in ticks]
    texts = [f"{tick:,.10g}" for tick in ticks]
    set_labels(axes.xaxis, ticks, choose_labels(places, texts, width))


_HEAD: Final = 0.22
_HEIGHT: Final = 1.1
_FOOT: Final = 0.4
_THICKEST: Final = 3.0
_POINTS: Final = 72
_RANK_MARGIN: Final = 0.05
LEAST_ACROSS: Final = 1.2


def rank_block(
    rest: Sequence[Series], first: int, starts: Sequence[tuple[float, BandColumn]]
) -> Drawing:
    """Return the groups from a rank on, below the columns of those before them."""
    start, last = starts[-1]
    width = start + last.width

    def draw(place: Place) -> None:
        for series, (left, column) in zip(rest, starts, strict=True):
            _draw_ranks(place, series, first, left, column.width)

    return Drawing(width, _HEAD + _HEIGHT + _FOOT, draw)


def _draw_ranks(
    place: Place, series: Series, first: int, left: float, width: float
) -> None:
    title = cut_to(_title(series), width)
    place.write(left, _HEAD / 2, title, color=place.inks.soft)
    scale = number_scale(series.numbers)
    texts = [f"{tick:,.10g}" for tick in scale.ticks]
    letters = text_inches(texts) + GAP
    across = max(width - letters, LEAST_ACROSS)
    axes = place.axes(left + letters, _HEAD, across, _HEIGHT)
    fill_ranks(axes, series, first, place.inks, across)
    set_upward(axes, scale, place.inks)
    whole = len(series.value)
    ranks = list(dict.fromkeys([first, first + (whole - 1) // 2, first + whole - 1]))
    places = [across * (rank - first + 0.5) / whole for rank in ranks]
    labels = [f"{rank:,}" for rank in ranks]
    set_labels(axes.xaxis, ranks, choose_labels(places, labels, across))


def fill_ranks(
    axes: "Axes", series: Series, first: int, inks: Inks, width: float
) -> None:
    """Draw a hairline for each interval, and its number upon it."""
    ranks = first + np.arange(len(series.value))
    known, whole = series.intervals, len(ranks)
    thick = min(_POINTS * width / whole * 0.7, _THICKEST)
    axes.vlines(
        ranks[known], series.low[known], series.high[known],
        color=inks.band, lw=thick, zorder=2,
    )  # fmt: skip
    size = min(max(thick, 0.8), 2.4)
    axes.plot(ranks, series.value, "o", ms=size, mec="none", mfc=inks.ink, zorder=3)
    axes.set_xlim(first - 0.5, first + whole - 0.5)


def set_upward(axes: "Axes", scale: Scale, inks: Inks) -> None:
    """Set the scale upwards, its numbers, and quiet lines behind."""
    span = scale.most - scale.least
    axes.set_ylim(scale.least - _RANK_MARGIN * span, scale.most + _RANK_MARGIN * span)
    texts = [f"{tick:,.10g}" for tick in scale.ticks]
    axes.set_yticks(scale.ticks, texts, parse_math=False)
    axes.grid(axis="y", color=inks.line, linewidth=0.8)
    axes.set_axisbelow(True)
    if scale.least <= 0 <= scale.most:
        axes.axhline(0, color=inks.bare, lw=0.8, zorder=1)


def _title(series: Series) -> str:
    count = int(np.sum(~np.isnan(series.value)))
    return f"the other {count:,} by rank, their own scale"
