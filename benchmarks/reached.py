"""The accuracy that was reached, and by which commit: it may not get worse.

`reached.json` holds a number for each row of accuracy. A row whose number is worse, by
more than measuring it again can differ, says so instead of a verdict.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final, Literal, final

from benchmarks.frame import Measured, peer_number

FILE: Final = Path(__file__).with_suffix(".json")


@cache
def reached() -> Mapping[str, Any]:
    """Return what each row reached, and the commit that did."""
    held: dict[str, Any] = json.loads(FILE.read_text("utf-8"))
    return held


def lost_since(what: str, found: float, better: str, tolerance: float) -> str:
    """Return which commit did better than a number just found, if one did."""
    best = reached()[what]
    more = found / best["value"] if better == "less" else best["value"] / found
    return f"worse than {best['commit']}" if more > 1 + tolerance else ""


@final
@dataclass(frozen=True, kw_only=True)
class Accuracy:
    """An error of answers, and the same of a peer that is run as a package."""

    what: str
    ours: Callable[[], float]
    unit: str
    floor: float
    goal: float | None = None
    peer: Callable[[], float] | None = None
    against: str = ""
    better: Literal["less", "more"] = "less"
    tolerance: float = 0.08
    """By how much the number differs when it is measured again, at most."""

    def measure(self) -> Measured:
        """Measure both; a peer that is absent says so."""
        return Measured(
            what=self.what,
            ours=f"{(found := self.ours()):.3g} {self.unit}",
            peer=peer_number(self.peer, self.against),
            ratio=found,
            floor=self.floor,
            goal=self.goal,
            better=self.better,
            lost=lost_since(self.what, found, self.better, self.tolerance),
        )
