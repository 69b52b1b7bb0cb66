"""Draws for tests that run as a plain loop from a seed, and shrink under Hypothesis.

dice = rolled(seed)                 # fast, the same for the same seed
dice = Dice(lambda n: data.draw(st.integers(0, n - 1)))    # shrinks towards 0
"""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar, final

from hypothesis import strategies as st

T = TypeVar("T")


@final
@dataclass(frozen=True)
class Dice:
    """Integers below a bound, and what is chosen by them; the first is the simplest."""

    below: Callable[[int], int]

    def one(self, options: Sequence[T]) -> T:
        return options[self.below(len(options))]

    def chance(self, part: int, whole: int) -> bool:
        """Return True in so many of `whole` draws."""
        return self.below(whole) >= whole - part

    def between(self, least: int, most: int) -> int:
        return least + self.below(most - least + 1)

    def several(self, options: Sequence[T], least: int, most: int) -> list[T]:
        left = list(options)
        count = min(self.between(least, most), len(left))
        return [left.pop(self.below(len(left))) for _ in range(count)]


def rolled(seed: int) -> Dice:
    """Return dice that fall as a seed says."""
    generator = random.Random(seed)
    return Dice(lambda count: int(generator.random() * count))


def shrinking(data: st.DataObject) -> Dice:
    """Return dice that Hypothesis throws, and throws again to find a smaller case."""
    return Dice(lambda count: data.draw(st.integers(0, count - 1)))
