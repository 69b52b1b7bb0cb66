"""Cells of two keys; lines over periods."""

import datetime as dt
import math
import re
from typing import TYPE_CHECKING, Any, Final, NamedTuple, final

import numpy as np

from sordino.losses.curves.points import Floats
from sordino.numbers import formatting
from sordino.office.html.key_order import bin_places
from sordino.office.html.small_pictures import Scale
from sordino.office.pictures.bands import GAP, number_scale, set_upward
from sordino.office.pictures.curves import Inks
from sordino.office.pictures.parts import (
    TITLE,
    Drawing,
    GroupTable,
    Place,
    Series,
    choose_labels,
    cut_to,
    key_texts,
    set_labels,
    text_inches,
    wrap,
)
from sordino.release.text import Figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes


_ROW: Final = 0.3
_HEAD: Final = 0.28
_NAMES: Final = 0.26
_LEGEND: Final = 0.3
_LONGEST: Final = 14
_PAD: Final = 0.24
_ABSENT: Final = "–"
_ROUGH: Final = 5
"""A number is rough whose interval reaches further than this part of it."""
_SWATCH: Final = 0.16


@final
class Cell(NamedTuple):
    """A number in its place."""

    row: int
    column: int
    text: str
    value: float
    rough: bool


def cell_block(part: GroupTable, name: str) -> Drawing:
    """Return a map of an aggregate."""
    down, across = cell_axes(part)
    cells = part_cells(part, name)
    names = text_inches(down) + GAP
    wide = max(
        text_inches([*across, *(cell.text for cell in cells), _ABSENT]) + _PAD, 0.5
    )
    width = names + wide * len(across)
    legend = legend_texts(cells)
    needed = sum(text_inches([text]) + _SWATCH + 2 * GAP for text in legend)
    height = _HEAD + _NAMES + _ROW * len(down) + _LEGEND

    def draw(place: Place) -> None:
        title = cut_to(_title(part, name), max(width, needed), TITLE, "bold")
        place.write(0, _HEAD / 2, title, fontsize=TITLE, weight="bold")
        for row, text in enumerate(down):
            place.write(0, _HEAD + _NAMES + _ROW * (row + 0.5), text)
        for column, text in enumerate(across):
            place.write(
                names + wide * (column + 1) - _PAD / 2, _HEAD + _NAMES / 2, text,
                ha="right", color=place.inks.soft,
            )  # fmt: skip
        axes = place.axes(names, _HEAD + _NAMES, wide * len(across), _ROW * len(down))
        fill_cells(axes, cells, (len(down), len(across)), place.inks, _PAD / 2 / wide)
        axes.set_xticks([])
        axes.set_yticks([])
        _draw_legend(place, legend, height - _LEGEND / 2 + 0.03)

    return Drawing(max(width, needed), height, draw)


def cell_axes(part: GroupTable) -> tuple[list[str], list[str]]:
    """Return the names down and across, in the order in which they come."""
    down, across = (
        [
            formatting.cut_text(text, _LONGEST)
            for text in key_texts(_distinct(part, key))
        ]
        for key in part.keys
    )
    return down, across


def part_cells(part: GroupTable, name: str) -> list[Cell]:
    """Return the numbers of an aggregate, each in its place."""
    rows, columns = (
        {value: place for place, value in enumerate(_distinct(part, key))}
        for key in part.keys
    )
    values = part.series(name).value
    alone = bool(_half_width(part, name))
    return [
        Cell(
            rows[down],
            columns[across],
            figure.value if alone else _with_half_width(figure),
            value,
            _is_rough(figure),
        )
        for (down, across), figure, value in zip(
            part.groups, part.figures(name), values, strict=True
        )
    ]


def fill_cells(
    axes: "Axes", cells: list[Cell], shape: tuple[int, int], inks: Inks, pad: float
) -> None:
    """Draw the cells, and the numbers in them."""
    from matplotlib.patches import Rectangle  # noqa: PLC0415 slow to import

    rows, columns = shape
    axes.set_xlim(0, columns)
    axes.set_ylim(rows, 0)
    steps = _steps(cells)
    taken = {(cell.row, cell.column) for cell in cells}
    for cell in cells:
        tint = inks.tints[_step(cell.value, steps)]
        box = (cell.column + 0.02, cell.row + 0.04)
        axes.add_patch(Rectangle(box, 0.96, 0.92, facecolor=tint, lw=0))
        _write_cell(axes, cell, pad, inks.ink)
    for row, column in np.ndindex(rows, columns):
        if (row, column) not in taken:
            empty = Cell(row, column, _ABSENT, np.nan, rough=False)
            _write_cell(axes, empty, pad, inks.soft)


def _write_cell(axes: "Axes", cell: Cell, pad: float, color: str) -> None:
    axes.text(
        cell.column + 1 - pad, cell.row + 0.5, cell.text, ha="right",
        va="center_baseline", fontsize=8.5, color=color, parse_math=False,
        style="italic" if cell.rough else "normal",
    )  # fmt: skip


def legend_texts(cells: list[Cell]) -> list[str]:
    """Lower end of each tint."""
    steps = _steps(cells)
    return (
        ["0 or less", *(f"over {float(f'{step:.2g}'):,.10g}" for step in steps)]
        if steps
        else []
    )


def _half_width(part: GroupTable, name: str) -> str:
    low, high = part.series(name)[2:]
    reach = (high - low) / 2
    known = reach[~np.isnan(reach)]
    if not known.size or known.max() > known.min() * 1.01 or known.max() == 0:
        return ""
    return f", each ± {float(known.max()):,.3g}"


def _with_half_width(figure: Figure) -> str:
    _, low, high = figure.ends
    if low is None or high is None or not math.isfinite(high - low):
        return figure.value
    return f"{figure.value} ± {formatting.format_spread((high - low) / 2)}"


def _draw_legend(place: Place, texts: list[str], down: float) -> None:
    left = 0.0
    for text, tint in zip(texts, place.inks.tints, strict=False):
        axes = place.axes(left, down - _SWATCH / 2, _SWATCH, _SWATCH)
        axes.set_xticks([])
        axes.set_yticks([])
        axes.set_facecolor(tint)
        axes.spines[:].set_visible(True)
        axes.spines[:].set_color(place.inks.bare)
        axes.spines[:].set_linewidth(0.6)
        place.write(left + _SWATCH + GAP / 2, down, text, color=place.inks.soft)
        left += _SWATCH + text_inches([text]) + 2 * GAP


def _distinct(part: GroupTable, key: str) -> list[Any]:
    listed = {name: dict.fromkeys(part.table[name].to_pylist()) for name in part.keys}
    values = list(listed[key])
    ranges = bin_places(values)
    if ranges is not None:
        return [value for _, value in sorted(zip(ranges, values, strict=True))]
    if len(part) == math.prod(map(len, listed.values())):
        return values
    return sorted(values, key=_natural_place)


def _natural_place(value: Any) -> tuple[Any, ...]:
    """Order of the values of a key: numbers within texts by size, missing last.

    >>> sorted(["10-14", "5-9", None], key=_natural_place)
    ['5-9', '10-14', None]
    """
    if not isinstance(value, str):
        return (value is None, value or 0)
    parts = re.split(r"(\d+)", value)
    return (
        False,
        *((int(part), "") if part.isdigit() else (-1, part) for part in parts),
    )


def _steps(cells: list[Cell]) -> list[float]:
    """Return where the tints above the least begin: fifths of the greatest number."""
    values = [cell.value for cell in cells if cell.value > 0]
    return [max(values) * step / 5 for step in range(5)] if values else []


def _step(value: float, steps: list[float]) -> int:
    return sum(1 for step in steps if value > step)


def _is_rough(figure: Figure) -> bool:
    value, low, high = figure.ends
    if value is None or low is None or high is None:
        return False
    return (high - low) / 2 > abs(value) / _ROUGH


def _title(part: GroupTable, name: str) -> str:
    down, across = map(formatting.format_key, part.keys)
    reach = _half_width(part, name)
    return f"{formatting.format_key(name)}{reach}: {down} down, {across} across"


WIDTH: Final = 6.4
_HEIGHT: Final = 1.5
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
    texts = key_texts(keys)
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
    figures = part.figures(name)
    values = part.series(name).value
    keys = key_texts(key for (key,) in part.groups)
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
