"""A release drawn on axes that somebody else has made and laid out."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from matplotlib.axes import Axes

from sordino.display import formatting
from sordino.display.inks import Inks
from sordino.errors import InvalidParameter
from sordino.release.drawing import band_block, cell_block, line_block, rank_block
from sordino.release.drawing.forms import part_forms
from sordino.release.drawing.lettering import SMALL
from sordino.release.drawing.parts import GroupTable
from sordino.release.drawing.picture import MOST, sorted_rows
from sordino.release.drawing.wishes import Wishes

if TYPE_CHECKING:
    from matplotlib.figure import Figure, SubFigure

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
        title = (
            f"{formatting.cut_text(formatting.format_key(name), _LONGEST)} ({price})"
        )
        each.set_title(title, loc="left", fontsize=10, color=inks.ink, parse_math=False)
        each.tick_params(colors=inks.soft, labelsize=SMALL, length=0)
        each.spines[:].set_visible(False)
    return axes[0].figure


def _fill_bands(
    axes: Axes, part: GroupTable, name: str, wishes: Wishes, inks: Inks
) -> None:
    """Draw the first groups as rows, and say how many there are."""
    count = MOST if wishes.top is None else wishes.top
    shown = part.take(sorted_rows(part, wishes)[:count])
    series = shown.series(name)
    band_block.fill_bands(axes, series, inks)
    width = axes.get_window_extent().width / axes.figure.dpi
    band_block.set_scale(axes, band_block.number_scale(series.numbers), width)
    axes.set_yticks(range(len(shown)), shown.labels, parse_math=False)
    if len(shown) < len(part):
        words = f"the first {len(shown):,} of {len(part):,} groups"
        axes.set_xlabel(words, fontsize=SMALL, color=inks.soft, loc="left")


def _fill_line(
    axes: Axes, part: GroupTable, name: str, wishes: Wishes, inks: Inks
) -> None:
    """Draw a line over periods."""
    del wishes
    ordered = line_block.in_order(part)
    series = ordered.series(name)
    line_block.fill_line(axes, ordered, series, inks)
    rank_block.set_upward(axes, line_block.period_scale(part, name), inks)
    width = axes.get_window_extent().width / axes.figure.dpi
    line_block.set_periods(axes, ordered, width)


def _fill_cells(
    axes: Axes, part: GroupTable, name: str, wishes: Wishes, inks: Inks
) -> None:
    """Draw a map of cells."""
    del wishes
    down, across = cell_block.cell_axes(part)
    cells = cell_block.part_cells(part, name)
    cell_block.fill_cells(axes, cells, (len(down), len(across)), inks, 0.1)
    axes.set_yticks([row + 0.5 for row in range(len(down))], down, parse_math=False)
    axes.set_xticks(
        [column + 0.5 for column in range(len(across))], across, parse_math=False
    )
    axes.xaxis.tick_top()


_FILLS: Final = {"bands": _fill_bands, "line": _fill_line, "cells": _fill_cells}
