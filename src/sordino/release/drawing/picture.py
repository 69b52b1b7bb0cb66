"""The sheet of a release: each of its tables in the form that fits."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

import numpy as np

from sordino.display import formatting
from sordino.display.inks import Inks
from sordino.losses.pictures import Picture
from sordino.query.first_few import RANK
from sordino.release import explanation
from sordino.release.drawing.band_block import (
    band_block,
    band_column,
    column_starts,
)
from sordino.release.drawing.cell_block import (
    cell_axes,
    cell_block,
    part_cells,
)
from sordino.release.drawing.forms import part_forms
from sordino.release.drawing.line_block import line_block, period_scale
from sordino.release.drawing.parts import GroupTable
from sordino.release.drawing.rank_block import rank_block
from sordino.release.drawing.sheet import Drawing, heading_block, sheet
from sordino.release.drawing.wishes import Wishes
from sordino.release.release_view import ReleaseView

MOST: Final = 30
_FIRST: Final = 12
"""So many groups are named where there are more than 30."""
_ACROSS: Final = 2
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

    What was chosen one after another stays in that order.
    """
    if is_in_order(part, wishes):
        return np.arange(len(part))
    return np.argsort(-part.series(part.names[0]).value, kind="stable")


def is_in_order(part: GroupTable, wishes: Wishes) -> bool:
    """Tell whether the rows stay as they come."""
    return wishes.sort == "key" or RANK in part.table.column_names


def named_count(part: GroupTable, wishes: Wishes) -> int:
    """Return how many groups are named."""
    if wishes.top is not None:
        return min(wishes.top, len(part))
    return len(part) if len(part) <= MOST else _FIRST


def _band_blocks(
    part: GroupTable, wishes: Wishes, whole: GroupTable
) -> Iterator[Drawing]:
    """Return the groups as rows, and those beyond by rank."""
    del whole
    order, count = sorted_rows(part, wishes), named_count(part, wishes)
    first, rest = part.take(order[:count]), part.take(order[count:])
    for start in range(0, len(part.names), _ACROSS):
        names = part.names[start : start + _ACROSS]
        columns = [band_column(first, name) for name in names]
        yield band_block(first, columns)
        if len(rest):
            starts = list(zip(column_starts(first, columns), columns, strict=True))
            yield rank_block([rest.series(name) for name in names], count + 1, starts)


def _line_blocks(
    part: GroupTable, wishes: Wishes, whole: GroupTable
) -> Iterator[Drawing]:
    """Return a line for each aggregate, on the scale of all lines of it."""
    del wishes
    return (line_block(part, name, period_scale(whole, name)) for name in part.names)


def _cell_blocks(
    part: GroupTable, wishes: Wishes, whole: GroupTable
) -> Iterator[Drawing]:
    """Return a map for each aggregate."""
    del wishes, whole
    return (cell_block(part, name) for name in part.names)


def _say_groups(
    release: ReleaseView, parts: Sequence[GroupTable], wishes: Wishes
) -> str:
    """Say which groups or tables there are, and in which order."""
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
    """Say how sure the intervals are, and of what."""
    share = formatting.format_percent(release.confidence)
    return f"each interval holds with a chance of {share}, and is of the noise alone"


def _band_caption(part: GroupTable) -> list[str]:
    """Say what bands, ticks and rings are."""
    rings = any(
        (~series.intervals & ~np.isnan(series.value)).any()
        for series in map(part.series, part.names)
    )
    return [
        "band: the interval, tick: the noisy number",
        "ring: a number whose interval is not known" if rings else "",
    ]


def _line_caption(part: GroupTable) -> list[str]:
    """Say what line and ribbon are."""
    del part
    return ["line: the noisy numbers, ribbon: their intervals"]


def _cell_caption(part: GroupTable) -> list[str]:
    """Say what italics and dashes are."""
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
    "line": _line_caption,
    "cells": _cell_caption,
}
