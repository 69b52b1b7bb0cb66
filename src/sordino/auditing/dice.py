"""Draws that are repeated from a seed.

The same code draws under Hypothesis, in tests, where it shrinks towards the first.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar, final

from sordino.noise.sampling.bits import KeyedBits

T = TypeVar("T")


@final
@dataclass(frozen=True)
class Dice:
    """Integers below a bound, and what is chosen by them; the first is the simplest."""

    below: Callable[[int], int]

    def one(self, options: Sequence[T]) -> T:
        """Draw an option."""
        return options[self.below(len(options))]

    def chance(self, part: int, whole: int) -> bool:
        """Return True in so many of `whole` draws."""
        return self.below(whole) >= whole - part

    def between(self, least: int, most: int) -> int:
        """Draw an integer, both ends included."""
        return least + self.below(most - least + 1)

    def several(self, options: Sequence[T], least: int, most: int) -> list[T]:
        """Draw some options, none of them twice."""
        left = list(options)
        count = min(self.between(least, most), len(left))
        return [left.pop(self.below(len(left))) for _ in range(count)]


def seeded_dice(seed: int) -> Dice:
    """Return dice that fall as a seed says: for invented rows, never for noise."""
    bits = KeyedBits(str(seed).encode(), b"dice")
    return Dice(lambda count: bits.word(8) * count >> 64)
