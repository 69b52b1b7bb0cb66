"""The picture of a release: a sheet of pictures, one for each table.

release ── parts ── form ── blocks (`bands`, `cells_and_lines`) ── sheet ── figure

| keys | picture |
|---|---|
| none, one, or more than fit a map | bands, the largest first; ranges in their order |
| one of dates, of names of periods, or a run of whole numbers | a line |
| two of up to 12 values each, more than half of all pairs | a map of cells |
| two, one of them of periods, the other of up to 6 values | a line for each of these |
"""

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes

from sordino.errors import InvalidParameter
from sordino.numbers import arguments, formatting
from sordino.office.html.key_order import is_period, own_places
from sordino.office.pictures import bands, cells_and_lines
from sordino.office.pictures.bands import (
    band_block,
    band_column,
    column_starts,
    rank_block,
)
from sordino.office.pictures.cells_and_lines import (
    cell_axes,
    cell_block,
    line_block,
    part_cells,
    period_scale,
)
from sordino.office.pictures.curves import Inks, inks_here, inks_of_theme, inks_on
from sordino.office.pictures.figures import Picture
from sordino.office.pictures.parts import (
    SMALL,
    Drawing,
    GroupTable,
    heading_block,
    release_parts,
    sheet,
    split_part,
    whole_part,
)
from sordino.query.request import RANK
from sordino.release import explanation
from sordino.release.release import Wishes
from sordino.release.text import NOISE, ReleaseView, whole_names

if TYPE_CHECKING:
    from matplotlib.figure import Figure, SubFigure


FORMS: Final = ("bands", "line", "cells")
_ACROSS: Final = 12
"""A map has at most so many rows and columns."""
_MOST: Final = 40
"""The same, where a map is asked for."""
_FACETS: Final = 6


def part_forms(part: GroupTable, form: str | None) -> list[tuple[str, GroupTable]]:
    """Return the pictures of a part, each with what it is of."""
    if not len(part):
        return [("bands", part)]
    if form is None:
        facets = _facets(part)
        return facets or [(_choose_form(part), part)]
    _refuse_other_shapes(part, form)
    return [(form, part)]


def _choose_form(part: GroupTable) -> str:
    columns = _key_values(part)
    if len(columns) == 1 and is_period(columns[0]):
        return "line"
    sizes = _sizes(part)
    if len(sizes) == 2 and max(sizes) <= _ACROSS and 2 * len(part) > math.prod(sizes):
        return "cells"
    return "bands"


def _facets(part: GroupTable) -> list[tuple[str, GroupTable]]:
    columns = _key_values(part)
    if len(columns) != 2 or _choose_form(part) == "cells":
        return []
    periods = [is_period(values) for values in columns]
    if sum(periods) != 1:
        return []
    other = periods.index(False)
    if len(set(columns[other])) > _FACETS:
        return []
    return [("line", facet) for facet in split_part(part, part.keys[other])]


def _key_values(part: GroupTable) -> list[list[Any]]:
    return [part.table[name].to_pylist() for name in part.keys]


def _sizes(part: GroupTable) -> list[int]:
    return [len(set(values)) for values in _key_values(part)]


def _refuse_other_shapes(part: GroupTable, form: str) -> None:
    if form == "line" and len(part.keys) != 1:
        problem = f"is a line, and there are {len(part.keys)} keys"
        raise InvalidParameter("form", form, problem, "A line needs one key.")
    if form == "cells" and len(part.keys) != 2:
        problem = f"is a map of cells, and there are {len(part.keys)} keys"
        raise InvalidParameter("form", form, problem, "A map needs two keys.")
    if form == "cells" and max(_sizes(part)) > _MOST:
        problem = f"is a map of cells, and a key has more than {_MOST} values"
        raise InvalidParameter("form", form, problem, "Filter the groups.")


MOST: Final = 30
_FIRST: Final = 12
"""So many groups are named where there are more than 30."""
_PANEL_ACROSS: Final = 2
_PARTS: Final = 12


def draw_release(
    release: ReleaseView, parts: Sequence[GroupTable], wishes: Wishes, inks: Inks
) -> Picture:
    """Return a figure with every table of a release, or the first twelve."""
    blocks: list[Drawing] = []
    words = [_say_groups(release, parts, wishes)]
    for part in parts[:_PARTS]:
        if part.heading:
            blocks.append(heading_block(part.heading))
        for form, table in part_forms(part, wishes.form):
            if table.heading != part.heading:
                blocks.append(heading_block(table.heading))
            blocks += _BLOCKS[form](table, wishes, part)
            words += _CAPTIONS[form](table)
    words.append(_say_intervals(release))
    caption = "; ".join(dict.fromkeys(filter(None, words)))
    return sheet(blocks, inks, f"price: {release.price}", caption)


def sorted_rows(part: GroupTable, wishes: Wishes) -> Any:
    """Return the rows in the order of the picture, missing numbers last.

    What was chosen one after another stays in that order, and ranges, dates and periods
    in their own: a picture of them has a shape.
    """
    places = None if RANK in part.table.column_names else _places(part)
    if places is not None:
        return np.argsort(places, kind="stable")
    if is_in_order(part, wishes):
        return np.arange(len(part))
    return np.argsort(-part.series(part.names[0]).value, kind="stable")


def is_in_order(part: GroupTable, wishes: Wishes) -> bool:
    """Whether the rows are in an order that is not that of their numbers."""
    if wishes.sort == "key" or RANK in part.table.column_names:
        return True
    return _places(part) is not None


def _places(part: GroupTable) -> list[int] | None:
    columns = _key_values(part)
    return own_places(columns[0]) if len(columns) == 1 else None


def named_count(part: GroupTable, wishes: Wishes) -> int:
    """Return how many groups are named."""
    if wishes.top is not None:
        return min(wishes.top, len(part))
    return len(part) if len(part) <= MOST else _FIRST


def _band_blocks(
    part: GroupTable, wishes: Wishes, whole: GroupTable
) -> Iterator[Drawing]:
    del whole
    order, count = sorted_rows(part, wishes), named_count(part, wishes)
    first, rest = part.take(order[:count]), part.take(order[count:])
    for start in range(0, len(part.names), _PANEL_ACROSS):
        names = part.names[start : start + _PANEL_ACROSS]
        columns = [band_column(first, name) for name in names]
        yield band_block(first, columns)
        if len(rest):
            starts = list(zip(column_starts(first, columns), columns, strict=True))
            yield rank_block([rest.series(name) for name in names], count + 1, starts)


def _line_blocks(
    part: GroupTable, wishes: Wishes, whole: GroupTable
) -> Iterator[Drawing]:
    del wishes
    # one scale for all lines of an aggregate: they are compared by eye
    return (line_block(part, name, period_scale(whole, name)) for name in part.names)


def _cell_blocks(
    part: GroupTable, wishes: Wishes, whole: GroupTable
) -> Iterator[Drawing]:
    del wishes, whole
    return (cell_block(part, name) for name in part.names)


def _say_groups(
    release: ReleaseView, parts: Sequence[GroupTable], wishes: Wishes
) -> str:
    if len(parts) > _PARTS:
        return f"the first {_PARTS} of {len(parts):,} tables"
    if len(parts) > 1:
        return f"{len(parts)} tables"
    if part_forms(parts[0], wishes.form)[0][0] != "bands" or not release.keys:
        return explanation.rows_phrase(release)
    by = f"largest {formatting.format_key(parts[0].names[0])} first"
    order = "in order" if is_in_order(parts[0], wishes) else by
    return f"{explanation.rows_phrase(release)}, {order}"


def _say_intervals(release: ReleaseView) -> str:
    share = formatting.format_percent(release.confidence)
    whole = whole_names(release.figures)
    of = "and is of the noise alone" if release.holds == NOISE else release.holds
    if whole:
        rest = "" if len(whole) == len(release.names) else ", others are of the noise"
        named = ", ".join(map(formatting.format_key, whole))
        of = f"and that of {named} is of the whole table{rest}"
    return f"each interval holds with a chance of {share}, {of}"


def _band_caption(part: GroupTable) -> list[str]:
    rings = any(
        (~series.intervals & ~np.isnan(series.value)).any()
        for series in map(part.series, part.names)
    )
    chosen = any(name in part.ranks for name in part.names)
    bands = any(part.series(name).intervals.any() for name in part.names)
    ring = (
        "a number that is chosen, its error in ranks"
        if chosen
        else "a number whose interval is not known"
    )
    return [
        "band: the interval, tick: the noisy number" if bands or not rings else "",
        f"ring: {ring}" if rings else "",
    ]


def _cell_caption(part: GroupTable) -> list[str]:
    cells = [cell for name in part.names for cell in part_cells(part, name)]
    down, across = cell_axes(part)
    rough = "italics: the interval reaches further than a fifth of the number"
    return [
        rough if any(cell.rough for cell in cells) else "",
        "" if len(part) == len(down) * len(across) else "–: no such group is shown",
    ]


_BLOCKS: Final = {"bands": _band_blocks, "line": _line_blocks, "cells": _cell_blocks}
_CAPTIONS: Final = {
    "bands": _band_caption,
    "line": lambda _: ["line: the noisy numbers, ribbon: their intervals"],
    "cells": _cell_caption,
}


_LONGEST: Final = 30


def check_axes(ax: Any, count: int) -> list[Axes]:
    """Return the axes that the user gave, one for each aggregate."""
    axes = list(np.ravel(ax))
    if len(axes) != count or not all(isinstance(each, Axes) for each in axes):
        problem = f"must be {count} Axes, one for each aggregate"
        raise InvalidParameter("ax", ax, problem, "Name the aggregates to draw.")
    return axes


def fill_axes(
    axes: Sequence[Axes], part: GroupTable, wishes: Wishes, inks: Inks, price: str
) -> "Figure | SubFigure":
    """Draw an aggregate on each of the axes, and return their figure."""
    forms = part_forms(part, wishes.form)
    form = forms[0][0] if len(forms) == 1 else "bands"
    for each, name in zip(axes, part.names, strict=True):
        _FILLS[form](each, part, name, wishes, inks)
        cut = formatting.cut_text(formatting.format_key(name), _LONGEST)
        title = f"{cut} ({price})"
        each.set_title(title, loc="left", fontsize=10, color=inks.ink, parse_math=False)
        each.tick_params(colors=inks.soft, labelsize=SMALL, length=0)
        each.spines[:].set_visible(False)
    return axes[0].figure


def _fill_bands(
    axes: Axes, part: GroupTable, name: str, wishes: Wishes, inks: Inks
) -> None:
    count = MOST if wishes.top is None else wishes.top
    shown = part.take(sorted_rows(part, wishes)[:count])
    series = shown.series(name)
    bands.fill_bands(axes, series, inks)
    width = axes.get_window_extent().width / axes.figure.dpi
    bands.set_scale(axes, bands.number_scale(series.numbers), width)
    axes.set_yticks(range(len(shown)), shown.labels, parse_math=False)
    if len(shown) < len(part):
        words = f"the first {len(shown):,} of {len(part):,} groups"
        axes.set_xlabel(words, fontsize=SMALL, color=inks.soft, loc="left")


def _fill_line(
    axes: Axes, part: GroupTable, name: str, wishes: Wishes, inks: Inks
) -> None:
    del wishes
    ordered = cells_and_lines.in_order(part)
    series = ordered.series(name)
    cells_and_lines.fill_line(axes, ordered, series, inks)
    bands.set_upward(axes, cells_and_lines.period_scale(part, name), inks)
    width = axes.get_window_extent().width / axes.figure.dpi
    cells_and_lines.set_periods(axes, ordered, width)


def _fill_cells(
    axes: Axes, part: GroupTable, name: str, wishes: Wishes, inks: Inks
) -> None:
    del wishes
    down, across = cells_and_lines.cell_axes(part)
    cells = cells_and_lines.part_cells(part, name)
    cells_and_lines.fill_cells(axes, cells, (len(down), len(across)), inks, 0.1)
    axes.set_yticks([row + 0.5 for row in range(len(down))], down, parse_math=False)
    axes.set_xticks(
        [column + 0.5 for column in range(len(across))], across, parse_math=False
    )
    axes.xaxis.tick_top()


_FILLS: Final = {"bands": _fill_bands, "line": _fill_line, "cells": _fill_cells}


_PLAIN: Final[Any] = {"axes.grid": False, "text.usetex": False}
"""Habits of users that would cross the picture, or read names as formulas."""


def release_figure(
    release: ReleaseView, names: tuple[str, ...], ax: Any, wishes: Wishes, theme: Any
) -> "Figure | SubFigure":
    """Return some aggregates of a release as a figure."""
    if wishes.form is not None:
        arguments.choice(FORMS, form=wishes.form)
    named = None if theme is None else inks_of_theme(theme)
    if ax is None:
        inks = named or inks_here()
        with mpl.rc_context(_PLAIN):
            return draw_release(release, release_parts(release, names), wishes, inks)
    axes = check_axes(ax, len(names))
    inks = named or inks_on(axes[0].get_facecolor(), mpl.rcParams["text.color"])
    return fill_axes(axes, whole_part(release, names), wishes, inks, release.price)
