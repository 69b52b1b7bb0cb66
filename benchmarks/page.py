"""The page of the benchmarks: what was measured is written over what stood there.

A row of a table there belongs to a row measured here when it begins with its text and
has the columns of the table of targets.
"""

from pathlib import Path
from typing import Final

from benchmarks.frame import Measured

PAGE: Final = Path(__file__).parent.parent / "docs" / "benchmarks.md"
_BETWEEN: Final = 6
"""Bars between the seven columns: what, ours, peer, ratio, floor, goal, verdict."""


def row_of_page(result: Measured) -> str:
    """Return a measurement as a row of the page."""
    sign = "≤" if result.better == "less" else "≥"
    goal = "-" if result.goal is None else f"{sign} {result.goal:g}"
    ratio = "-" if result.ratio is None else f"{result.ratio:.2f}"
    floor = f"{sign} {result.floor:g}"
    cells = (result.what, result.ours, result.peer, ratio, floor, goal, result.verdict)
    return f"| {' | '.join(cells)} |"


def rewrite_page(text: str, results: list[Measured]) -> tuple[str, list[str]]:
    """Return the page with fresh rows, and the rows that have no place on it."""
    lines = text.split("\n")
    places = {
        line.split(" | ")[0].removeprefix("| "): place
        for place, line in enumerate(lines)
        if line.startswith("| ") and line.count(" | ") == _BETWEEN
    }
    fresh = {result.what: row_of_page(result) for result in results}
    for what, row in fresh.items():
        if what in places:
            lines[places[what]] = row
    return "\n".join(lines), [row for what, row in fresh.items() if what not in places]
