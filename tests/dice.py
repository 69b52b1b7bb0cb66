"""Dice of `sordino.auditing` for tests: from a seed, or as Hypothesis throws them.

dice = rolled(seed)                 # fast, the same for the same seed
dice = shrinking(data)              # shrinks towards 0
"""

import random

from hypothesis import strategies as st

from sordino.auditing.dice import Dice


def rolled(seed: int) -> Dice:
    """Return dice that fall as a seed says."""
    generator = random.Random(seed)
    return Dice(lambda count: int(generator.random() * count))


def shrinking(data: st.DataObject) -> Dice:
    """Return dice that Hypothesis throws, and throws again to find a smaller case."""
    return Dice(lambda count: data.draw(st.integers(0, count - 1)))
