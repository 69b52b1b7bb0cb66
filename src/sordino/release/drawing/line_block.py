"""Numbers over periods: a line through them, and a ribbon from low to high."""

import datetime as dt
from itertools import starmap
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from sordino.curves.points import Floats
from sordino.display import formatting
from sordino.display.inks import Inks
from sordino.pages.scales import Scale
from sordino.release.drawing.band_block import GAP, number_scale
from sordino.release.drawing.lettering import (
    TITLE,
    choose_labels,
    cut_to,
    set_labels,
    text_inches,
    wrap,
)
from sordino.release.drawing.parts import GroupTable, Series, key_text
from sordino.release.drawing.rank_block import set_upward
from sordino.release.drawing.sheet import Drawing, Place

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WIDTH: Final = 6.4
_HEIGHT: Final = 1.5
_HEAD: Final = 0.28
_LINE: Final = 0.17
_FOOT: Final = 0.3
_MARKED: Final = 60
"""So many numbers are dots as well."""
_DAY: Final = 86_400
_BEGINNING: Final = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)


def line_block(part: GroupTable, name: str, scale: Scale) -> Drawing:
    """Return an aggregate over periods, and in words its most, least and last."""
    part = in_order(part)
    series = part.series(name)
    letters = text_inches(f"{tick:,.10g}" for tick in scale.ticks) + GAP
    words = wrap(_summary(part, name), letters + WIDTH)
    head = _HEAD + _LINE * len(words) + GAP

    def draw(place: Place) -> None:
        title = cut_to(formatting.format_key(name), WIDTH, TITLE, "bold")
        place.write(0, _HEAD / 2, title, fontsize=TITLE, weight="bold")
        for number, line in enumerate(words):
            down = _HEAD + _LINE * (number + 0.5)
            place.write(0, down, line, color=place.inks.soft)
        axes = place.axes(letters, head, WIDTH, _HEIGHT)
        fill_line(axes, part, series, place.inks)
        set_upward(axes, scale, place.inks)
        set_periods(axes, part, WIDTH)

    return Drawing(letters + WIDTH, head + _HEIGHT + _FOOT, draw)


def period_scale(part: GroupTable, name: str) -> Scale:
    """Return a scale that holds the numbers of all periods."""
    timed = [row for row, group in enumerate(part.groups) if None not in group]
    return number_scale(part.take(timed).series(name).numbers)


def fill_line(axes: "Axes", part: GroupTable, series: Series, inks: Inks) -> None:
    """Draw line and ribbon; both are broken where a number is missing."""
    places = period_places([key for (key,) in part.groups if key is not None])
    value, low, high = (ends[: len(places)] for ends in series[1:])
    axes.fill_between(places, low, high, color=inks.band, alpha=0.55, lw=0, zorder=2)
    marker = "o" if len(places) <= _MARKED else ""
    look: Any = {"ls": "-", "ms": 3, "lw": 1.6, "color": inks.blue, "zorder": 3}
    axes.plot(places, value, marker=marker, **look)


def set_periods(axes: "Axes", part: GroupTable, width: float) -> None:
    """Name the periods that have room."""
    keys = [key for (key,) in part.groups if key is not None]
    places = period_places(keys)
    least, most = (places[0], places[-1]) if len(places) else (0.0, 1.0)
    span = (most - least) or 1.0
    axes.set_xlim(least - 0.02 * span, most + 0.02 * span)
    inches = [width * ((place - least) / span + 0.02) / 1.04 for place in places]
    texts = [key_text(key) for key in keys]
    set_labels(axes.xaxis, list(places), choose_labels(inches, texts, width))
    axes.tick_params(axis="x", length=3)


def in_order(part: GroupTable) -> GroupTable:
    """Return the groups in order of their periods, what has none last."""
    keys = [key for (key,) in part.groups]
    known = [row for row, key in enumerate(keys) if key is not None]
    rest = [row for row, key in enumerate(keys) if key is None]
    return part.take([*sorted(known, key=lambda row: keys[row]), *rest])


def period_places(keys: list[Any]) -> Floats:
    """Return where periods lie: days, whole numbers, else one after another."""
    if all(isinstance(key, dt.datetime) for key in keys):
        return np.array([_moment(key) for key in keys], np.float64)
    if all(isinstance(key, dt.date) for key in keys):
        return np.array([key.toordinal() for key in keys], np.float64)
    if all(isinstance(key, int) for key in keys):
        return np.array(keys, np.float64)
    return np.arange(len(keys), dtype=np.float64)


def _moment(moment: dt.datetime) -> float:
    """Return a time in days; one without a zone is read as if it had ours."""
    zoned = moment if moment.tzinfo else moment.replace(tzinfo=dt.UTC)
    return (zoned - _BEGINNING).total_seconds() / _DAY


def _summary(part: GroupTable, name: str) -> str:
    """Return the most, the least and the last number in digits."""
    figures = part.figures(name)
    values = part.series(name).value
    keys = list(starmap(key_text, part.groups))
    known = [row for row in range(len(keys)) if not np.isnan(values[row])]
    timed = [row for row in known if part.groups[row][0] is not None]
    if not timed:
        return "no numbers"
    most, least = (
        max(timed, key=lambda row: values[row]),
        min(timed, key=lambda row: values[row]),
    )

    def say(row: int) -> str:
        ends = f" ({figures[row].interval})" if figures[row].interval else ""
        return f"{figures[row].value}{ends} at {keys[row]}"

    words = f"most {say(most)}; least {say(least)}; last {say(timed[-1])}"
    rest = [row for row in known if row not in timed]
    return "; ".join([
        words,
        *(f"without a period: {figures[row].value}" for row in rest),
    ])
