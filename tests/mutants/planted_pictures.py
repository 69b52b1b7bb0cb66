"""Errors in what a picture of a release shows, and of what."""

from __future__ import annotations

from typing import Final

from tests.mutants.planting import Planted

PLANTED_PICTURES: Final[tuple[Planted, ...]] = (
    Planted(
        "pictures",
        "src/sordino/office/pictures/bands.py",
        "left=series.low[known],",
        "left=0 * series.low[known],",
        "bands filled from zero",
    ),
    Planted(
        "pictures",
        "src/sordino/office/pictures/bands.py",
        "ranks[known], series.low[known], series.high[known],",
        "ranks[known], series.value[known], series.high[known],",
        "half of an interval drawn",
    ),
    Planted(
        "pictures",
        "src/sordino/office/pictures/parts.py",
        "return [_drop_absent_keys(part, part.heading) for",
        "return [part for",
        "keys that a grouping does not have called missing",
    ),
    Planted(
        "pictures",
        "src/sordino/office/pictures/parts.py",
        "after.left - before.right > _GAP",
        "after.place > before.place",
        "labels of a scale one over another",
    ),
    Planted(
        "pictures",
        "src/sordino/office/pictures/curves.py",
        "if share < _WAY:",
        "if share < 0:",
        "dark letters on a dark ground that lets all through",
    ),
    Planted(
        "pictures",
        "src/sordino/office/pictures/cells_and_lines.py",
        "return part.take([*sorted(known, key=lambda row: keys[row]), *rest])",
        "return part.take([*known, *rest])",
        "a line through periods as they come",
    ),
)
