"""What a condition admits of blocks: every one of which some row passes.

For drawn conditions on a column of dates, times, texts or integers, and drawn values:
if the condition is true of a value, the block of the value is admitted.
"""

import datetime as dt
from collections.abc import Callable
from typing import Any, Final

import pytest
from hypothesis import settings

import sordino as sd
from sordino.auditing.dice import Dice
from sordino.expressions.logic import AT_LEAST, AT_MOST
from sordino.query import blocks_read
from sordino.query.blocks_read import admissible_blocks
from tests.batches import for_each
from tests.dice import rolled

_SEED: Final = 20_261_123
_START: Final = dt.datetime(2025, 11, 20)  # noqa: DTZ001 a value of a column is UTC
KINDS: Final[dict[str, tuple[sd.Blocks, str]]] = {
    "months of dates": (sd.Blocks("2025-12", "month"), "date"),
    "weeks of dates": (sd.Blocks("2025-W50", "week"), "date"),
    "days of times": (sd.Blocks("2025-12-28", "day"), "time"),
    "quarters of times": (sd.Blocks("2025-Q4", "quarter"), "time"),
    "months of texts": (sd.Blocks("2025-12", "month"), "text"),
    "years of integers": (sd.Blocks("2025", "year"), "i64"),
    "names of texts": (sd.Blocks(names=["a", "b", "2026-01"]), "text"),
    "names of integers": (sd.Blocks(names=[-1, 2, 2**53 + 1]), "i64"),
}
_TEXTS: Final = ("2025-12", "2026-01", "2026-02", "a", "b", "", "2026")
_WHOLE: Final = (2024, 2025, 2026, -1, 2, 2**53, 2**53 + 1, 2.0, 2.0**53)


def value(dice: Dice, kind: str) -> Any:
    """Draw a value of a type, sometimes of no block."""
    if kind == "text":
        return dice.one(_TEXTS)
    if kind == "i64":
        return dice.one(_WHOLE[:-2])
    moment = _START + dt.timedelta(
        days=dice.below(120), microseconds=dice.one((0, 1, 86_399_999_999))
    )
    return moment.date() if kind == "date" else moment


def condition(dice: Dice, kind: str, depth: int = 3) -> sd.Expression:
    """Draw a condition on the column, or on another one."""
    if depth and dice.chance(1, 2):
        left, right = (condition(dice, kind, depth - 1) for _ in range(2))
        both: tuple[sd.Expression, ...] = (left & right, left | right, ~left)
        return dice.one(both)
    cell: Any = sd.col("block")
    if kind in {"date", "time"} and dice.chance(1, 2):
        cell = cell.truncate(dice.one(("year", "quarter", "month", "week", "day")))
    other = dice.one(_WHOLE) if kind == "i64" else value(dice, kind)
    more = dice.one(_WHOLE) if kind == "i64" else value(dice, kind)
    options: tuple[Callable[[], Any], ...] = (
        lambda: cell == other,
        lambda: cell != other,
        lambda: cell < other,
        lambda: cell <= other,
        lambda: cell > other,
        lambda: cell >= other,
        lambda: cell.is_in([other, more]),
        lambda: sd.lit(other) == cell,
        lambda: cell.is_null(),
        lambda: sd.col("other") > 0,
    )
    drawn: sd.Expression = dice.one(options)()
    return drawn


def complaints(kinds: tuple[sd.Blocks, str], seed: int) -> list[str]:
    """Return what is wrong of one condition and some values."""
    blocks, kind = kinds
    dice = rolled(seed)
    names = blocks.names or tuple(blocks.periods_behind(None, 5))
    ends = {name: blocks.ends(name, kind) for name in names}
    asked = condition(dice, kind)
    admitted = admissible_blocks(asked.tree, "block", ends)
    wrong = []
    for _ in range(8):
        cell = value(dice, kind)
        passes = asked.value({"block": cell, "other": dice.below(2)})
        own = [name for name, (low, high) in ends.items() if low <= cell <= high]
        if passes and not admitted.issuperset(own):
            wrong.append(f"{asked} is true of {cell!r}, and does not admit {own}")
    return wrong


@for_each("kinds", KINDS.values(), ids=list(KINDS))
def test_a_block_with_a_row_that_passes_is_admitted(
    kinds: tuple[sd.Blocks, str],
) -> None:
    """For 1,000 conditions of each kind at dev, 10,000 at ci, 250,000 at night."""
    for seed in range(_SEED, _SEED + 50 * settings().max_examples):
        assert not complaints(kinds, seed), f"seed {seed}"


def test_blocks_without_such_a_row_are_left_out() -> None:
    """A month that is asked for is all that is paid for, however it is said."""
    blocks = sd.Blocks("2026-01", "month")
    ends = {name: blocks.ends(name, "date") for name in blocks.periods_behind(None, 6)}
    day = sd.col("day")
    first, last = dt.date(2026, 3, 1), dt.date(2026, 3, 31)
    for march in (
        (day >= first) & (day <= last),
        (day > dt.date(2026, 2, 28)) & (day < dt.date(2026, 4, 1)),
        day.truncate("month") == first,
        day.truncate("month").is_in([first]),
        ((day == first) | (day == last)) & (sd.col("x") > 3),
    ):
        assert admissible_blocks(march.tree, "day", ends) == {"2026-03"}
    for anything in (sd.col("x") == 3, ~(day == first), day != first, day.is_null()):
        assert admissible_blocks(anything.tree, "day", ends) == ends.keys()
    assert not admissible_blocks((day > dt.date(2027, 1, 1)).tree, "day", ends)


@for_each(
    "rule",
    [
        (AT_LEAST, lambda low, _, values: low >= values[0]),
        (AT_MOST, lambda _, high, values: high <= values[0]),
    ],
)
def test_the_wrong_end_of_a_block_is_caught(
    rule: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    table: Any = blocks_read._PASSES
    monkeypatch.setitem(table, *rule)
    kinds = KINDS["months of dates"]
    assert any(complaints(kinds, seed) for seed in range(_SEED, _SEED + 300))
