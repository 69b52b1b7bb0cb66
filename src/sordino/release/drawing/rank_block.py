"""Groups beyond those that are named: hairlines by rank, on a scale of their own.

One scale for all would press three hundred groups into a corner below the first few.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from sordino.display.inks import Inks
from sordino.pages.scales import Scale
from sordino.release.drawing.band_block import GAP, BandColumn, number_scale
from sordino.release.drawing.lettering import (
    choose_labels,
    cut_to,
    set_labels,
    text_inches,
)
from sordino.release.drawing.parts import Series
from sordino.release.drawing.sheet import Drawing, Place

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_HEAD: Final = 0.22
_HEIGHT: Final = 1.1
_FOOT: Final = 0.4
_THICKEST: Final = 3.0
_POINTS: Final = 72
_MARGIN: Final = 0.05
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
    """Draw an aggregate: title, hairlines, both scales."""
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
    axes.set_ylim(scale.least - _MARGIN * span, scale.most + _MARGIN * span)
    texts = [f"{tick:,.10g}" for tick in scale.ticks]
    axes.set_yticks(scale.ticks, texts, parse_math=False)
    axes.grid(axis="y", color=inks.line, linewidth=0.8)
    axes.set_axisbelow(True)
    if scale.least <= 0 <= scale.most:
        axes.axhline(0, color=inks.bare, lw=0.8, zorder=1)


def _title(series: Series) -> str:
    """Return how many groups are drawn, and how."""
    count = int(np.sum(~np.isnan(series.value)))
    return f"the other {count:,} by rank, their own scale"
