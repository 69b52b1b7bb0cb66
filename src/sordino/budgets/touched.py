"""Blocks in words: which a release touches, and what each of them is charged.

>>> touched_text(("2026-10", "2026-11"), "mu = 0.05")
'touches 2026-10 and 2026-11: mu = 0.05 in each; who is in both loses it once'
>>> touched_text(("2026-10",), "mu = 0.05")
'touches 2026-10: mu = 0.05'
"""

from typing import Final

from sordino.budgets.table_blocks import WHOLE

_SHOWN: Final = 3


def touched_text(names: tuple[str, ...], price: str) -> str:
    """Return which blocks are charged a price: a person pays it once."""
    if len(names) == 1:
        return f"touches {blocks_text(names)}: {price}"
    several = "both" if len(names) == 2 else "several"
    return (
        f"touches {blocks_text(names)}: {price} in each; who is in {several} loses it "
        "once"
    )


def blocks_text(names: tuple[str, ...]) -> str:
    """Return blocks in words: the first and the last of many.

    >>> blocks_text(("*",)), blocks_text(("a", "b", "c", "d", "*"))
    ('tables without blocks', '4 blocks, a to d, and tables without blocks')
    """
    listed = [name for name in names if name != WHOLE]
    whole = ["tables without blocks"] * (WHOLE in names)
    if len(listed) > _SHOWN:
        span = f"{len(listed):,} blocks, {listed[0]} to {listed[-1]}"
        return ", and ".join([span, *whole])
    *first, last = [*listed, *whole]
    return f"{', '.join(first)} and {last}" if first else last
