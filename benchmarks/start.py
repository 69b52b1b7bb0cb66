"""How long a fresh interpreter waits for Sordino."""

import subprocess
import sys

from benchmarks.frame import Figure, Row

ROUNDS = 5
CLOCK = "import time; t = time.process_time(); {}; print(time.process_time() - t)"


def wait(work: str) -> float:
    """Return the least CPU seconds of some work in a fresh interpreter."""
    command = [sys.executable, "-c", CLOCK.format(work)]
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
