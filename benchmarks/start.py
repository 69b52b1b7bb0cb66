"""How long a fresh interpreter waits for Sordino."""

import subprocess
import sys

from benchmarks.frame import Figure, Row

ROUNDS = 5
CLOCK = "from time import {0} as now; t = now(); {1}; print(now() - t)"


def wait(work: str, clock: str = "process_time") -> float:
    """Return the least seconds of some work in a fresh interpreter, by a clock."""
    command = [sys.executable, "-c", CLOCK.format(clock, work)]
    runs = (subprocess.check_output(command, text=True) for _ in range(ROUNDS))
    return min(map(float, runs))


ROWS: tuple[Row, ...] = (
    Figure(
        what="import sordino",
        figure=lambda: wait("import sordino"),
        unit="s",
        floor=0.35,
        goal=0.15,
    ),
    Figure(
        what="import sordino and one Laplace draw",
        figure=lambda: wait("import sordino; sordino.Laplace(10)(3.5)"),
        unit="s",
        floor=0.35,
        goal=0.15,
    ),
)
