"""What ten years of months cost beside one budget: prices, releases, a year of sums."""

import datetime as dt
from collections.abc import Callable
from typing import Any, Final

import numpy as np
import pyarrow as pa

import sordino as sd
from benchmarks.frame import Race, Row
from sordino.ledger.file_format import World
from sordino.ledger.ledger import Ledger

ROWS_HERE: Final = 100_000
MONTHS: Final = 120
LIMIT: Final = sd.GaussianDP(10_000)
BUDGET: Final = sd.GaussianDP("0.1")
NOW: Final = dt.datetime(2026, 1, 2, tzinfo=dt.UTC)
BLOCKS: Final = sd.Blocks(start="2016-01", every="month")


def session(*, blocks: bool) -> sd.Session:
    """Return a session on rows of ten years, with blocks or with one budget."""
    generator = np.random.default_rng(1)
    days = generator.integers(0, 3652, ROWS_HERE)
    visits = pa.table({
        "patient": generator.integers(0, ROWS_HERE // 5, ROWS_HERE),
        "arrived": np.datetime64("2016-01-01") + days,
        "ward": pa.array(generator.integers(0, 20, ROWS_HERE)),
    })
    kinds: dict[str, Any] = {"blocks": BLOCKS} if blocks else {}
    column = "arrived" if blocks else None
    private = sd.PrivateTable(visits, sd.AddRowsWithID("patient"), blocks=column)
    ledger = Ledger.in_memory(LIMIT, world=World(clock=lambda: NOW), **kinds)
    return sd.Session({"visits": private}, ledger=ledger, **kinds)


WARDS: Final = (
    sd
    .table("visits")
    .enforce(sd.MaxRowsPerID(3))
    .group_by(sd.KeySet.from_dict({"ward": list(range(20))}))
    .agg(n=sd.count())
)


def priced(*, blocks: bool) -> Callable[[], object]:
    """Return what prices a question over every month."""
    asked = session(blocks=blocks)
    return lambda: asked.price(WARDS, BUDGET)


def released(*, blocks: bool) -> Callable[[], object]:
    """Return what releases it."""
    asked = session(blocks=blocks)
    return lambda: asked.release(WARDS, BUDGET)


def summed(*, window: int) -> Callable[[], object]:
    """Return what a person in so many months was charged, after ten years of them."""
    asked = session(blocks=True)
    for block in asked.ledger.blocks():
        asked.in_blocks(block.name).release(WARDS, BUDGET)
    ledger = asked.ledger
    if not window:
        return ledger.blocks
    return lambda: ledger.exposure(window)


ROWS: tuple[Row, ...] = (
    Race(
        what="a price over 120 blocks, over one without blocks",
        ours=lambda: priced(blocks=True),
        peer=lambda: priced(blocks=False),
        against="one budget",
        floor=2,
        goal=1.2,
    ),
    Race(
        what="a release over 120 blocks, over one without blocks",
        ours=lambda: released(blocks=True),
        peer=lambda: released(blocks=False),
        against="one budget",
        floor=2,
        goal=1.2,
    ),
    Race(
        what="a person over a year of 120 blocks, over listing them",
        ours=lambda: summed(window=12),
        peer=lambda: summed(window=0),
        against="blocks()",
        floor=3,
        goal=1.5,
    ),
)
