"""Print the target table: `python -m benchmarks [words of the rows wanted]`.

With `--write` what was measured is written into docs/benchmarks.md, row by row as it
comes. A row that fails is named at the end, and the others are measured all the same.
"""

import platform
import sys
import time
import warnings
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.frame import ROUNDS, Measured, Row
from benchmarks.page import PAGE, rewrite_page
from sordino.errors import WeakBudget

FRAME = {"__init__", "__main__", "frame", "data", "page", "reached"}
WRITE = "--write"
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


def main(words: list[str]) -> int:
    """Measure, showing progress where someone watches, then print."""
    warnings.simplefilter("ignore", WeakBudget)  # sessions that last for all rounds
    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = 110  # a file or a log need not fold the table
    results, failing, write = [], [], WRITE in words
    for row in rows([word for word in words if word != WRITE]):
        started = time.monotonic()
        try:
            with console.status(row.what):
                results.append(row.measure())
        except Exception as error:  # noqa: BLE001 the others are measured all the same
            failing.append(f"{row.what}: {type(error).__name__}: {error}")
            continue
        if write:
            page, homeless = rewrite_page(PAGE.read_text("utf-8"), results[-1:])
            PAGE.write_text(page, "utf-8")
            taken = f"{time.monotonic() - started:.0f} s"
            console.print(f"{taken:>6}  {row.what}", *homeless, sep="\n")
    console.print(
        f"Python {platform.python_version()}, NumPy {np.__version__};"
        f" CPU time, the best of {ROUNDS} rounds in which both sides take turns.\n"
        "Ratio: ours over the peer's where the target is <=, the peer's over ours where"
        " it is >=.\n"
    )
    console.print(table(results))
    for failure in failing:
        console.print(f"not measured: {failure}", style="bold red")
    return int(bool(failing))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
