"""Print the target table: `python -m benchmarks [words of the rows wanted]`."""

import platform
import sys
import warnings
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.frame import ROUNDS, Measured, Row
from sordino.errors import WeakBudget

FRAME = {"__init__", "__main__", "frame", "data", "reached"}
LONG = {"volume"}
"""Files whose rows are measured only if asked for by a word of theirs."""
STYLES = {"goal": "bold green", "floor": "green", "below floor": "bold red"}


def rows(words: list[str]) -> Iterator[Row]:
    """Yield the rows of every file beside this one whose text has all the words."""
    names = sorted(path.stem for path in Path(__file__).parent.glob("*.py"))
    left_out = FRAME if words else FRAME | LONG
    files = (
        import_module(f"benchmarks.{name}") for name in names if name not in left_out
    )
    every = (row for file in files for row in file.ROWS)
    return (row for row in every if all(word in row.what for word in words))


def table(results: list[Measured]) -> Table:
    """Return the table of targets."""
    made = Table(box=None, header_style="dim", padding=(0, 1))
    for heading in ("what", "ours", "peer", "ratio", "floor", "goal", "verdict"):
        left = heading in {"what", "verdict"}
        made.add_column(heading, justify="left" if left else "right", no_wrap=not left)
    for result in results:
        made.add_row(
            result.what,
            result.ours,
            result.peer,
            "-" if result.ratio is None else f"{result.ratio:.2f}",
            target(result.floor, result.better),
            "-" if result.goal is None else target(result.goal, result.better),
            f"[{STYLES.get(result.verdict, 'yellow')}]{result.verdict}[/]",
        )
    return made


def target(limit: float, better: str) -> str:
    """Return a target with the side it lies on."""
    return f"{'<=' if better == 'less' else '>='} {limit:g}"


def main(words: list[str]) -> None:
    """Measure, showing progress where someone watches, then print."""
    warnings.simplefilter("ignore", WeakBudget)  # sessions that last for all rounds
    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = 110  # a file or a log need not fold the table
    results = []
    for row in rows(words):
        with console.status(row.what):
            results.append(row.measure())
    console.print(
        f"Python {platform.python_version()}, NumPy {np.__version__};"
        f" CPU time, the best of {ROUNDS} rounds in which both sides take turns.\n"
        "Ratio: ours over the peer's where the target is <=, the peer's over ours where"
        " it is >=.\n"
    )
    console.print(table(results))


if __name__ == "__main__":
    main(sys.argv[1:])
