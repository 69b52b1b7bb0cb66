"""What the report of a long ledger takes, over verifying that ledger.

A report verifies on the way, so it cannot take less.
"""

from functools import cache

from benchmarks.frame import Action, Race, Row
from sordino.ledger.ledger import Ledger
from sordino.ledger.record_kinds import Claim
from sordino.losses.loss import PureDP
from sordino.office.report.document import ledger_report

RELEASES = 10_000
ROUNDS = 3
SMALL = PureDP("1e-6")


@cache
def long_ledger() -> Ledger:
    """Return a ledger with many releases, each of another plan."""
    ledger = Ledger.in_memory(PureDP(1))
    for number in range(RELEASES):
        plan = f"n = count() with Geometric(scale={number + 1})"
        ledger.reserve(Claim(request=f"{number:x}", asked=SMALL, loss=SMALL, plan=plan))
    return ledger


def reported() -> Action:
    """Return what makes the report."""
    ledger = long_ledger()
    return lambda: ledger_report(ledger, "a long ledger", "en")


def verified() -> Action:
    """Return what verifies the ledger, and does nothing else."""
    ledger = long_ledger()
    return lambda: ledger.verify()


ROWS: tuple[Row, ...] = (
    Race(
        what="the report of a ledger with 10,000 releases",
        ours=reported,
        peer=verified,
        against="verifying it",
        floor=3,
        rounds=ROUNDS,
    ),
)
