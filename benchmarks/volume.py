"""Many rows, more than fit into memory: asked for by name, for they take minutes."""

import subprocess
import sys
from dataclasses import dataclass
from typing import Final, final

from benchmarks.clusters import rows_of
from benchmarks.data import parquet
from benchmarks.frame import Measured, Row, duration

MILLION: Final = 1_000_000
LIMIT: Final = "2GB"
CHILD: Final = """
import resource, sys, time
from sordino import AddRowsWithID, ApproxDP, MaxRowsPerID, PrivateTable, Session, table
from benchmarks.queries import FACTS, known
source = PrivateTable(sys.argv[1], protects=AddRowsWithID("id"), columns=FACTS)
session = Session({"t": source}, ApproxDP(1, "1e-6"), memory_limit=sys.argv[2])
query = known(table("t").enforce(MaxRowsPerID(5)))
start = time.perf_counter()
release = session.release(query, ApproxDP(1, "1e-6"))
seconds = time.perf_counter() - start
print(len(release.table), seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


@final
@dataclass(frozen=True, kw_only=True)
class Volume:
    """How many rows were answered about within a limit of memory, and how."""

    millions: float

    @property
    def what(self) -> str:
        """Say what is done with how many rows."""
        return f"million rows under {LIMIT}, MaxRowsPerID(5), means of 1000 groups"

    def measure(self) -> Measured:
        """Ask in a fresh process, whose peak is its own; it fails if the query does."""
        path = parquet(int(self.millions * MILLION))
        command = [sys.executable, "-c", CHILD, str(path), LIMIT]
        told = subprocess.check_output(command, text=True).split()
        groups, seconds, kilobytes = int(told[0]), float(told[1]), int(told[2])
        peak = kilobytes / 1024**2
        return Measured(
            what=f"{self.what} ({groups} released)",
            ours=f"{duration(seconds)}, {peak:.2g} GiB",
            peer="",
            ratio=self.millions,
            floor=50,
            goal=1000,
            better="more",
        )


ROWS: tuple[Row, ...] = (Volume(millions=50), *rows_of(10))
