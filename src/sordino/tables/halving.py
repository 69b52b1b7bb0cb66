"""Integers that say how each part of a line divides: what a table has beyond its sums.

n numbers are cut into halves, these again, until each is alone. With a numbers on the
left of a cut, b on its right and g what both have in common, the contrast of the cut is
(b sum(left) - a sum(right)) / g: an integer, orthogonal to the sum and to all other
contrasts, with the square a b (a + b) / g**2. For any n these are n - 1 contrasts, and
few different squares (docs/proofs/margins.md, lemma 1).
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

Integers: TypeAlias = NDArray[np.int64]
Numbers: TypeAlias = NDArray[Any]


@final
@dataclass(frozen=True, eq=False)
class Halving:
    """Cuts of ranges of numbers, those of one depth together, the first ones first.

    A cut divides the places from `low` to `high` at `middle`; `left` and `right` are
    what its contrast takes of each side. Ranges of a tree lie in units of its leaves,
    and weigh as many as they have children there.
    """

    low: Integers
    middle: Integers
    high: Integers
    left: Integers
    right: Integers
    ends: tuple[int, ...]
    """Where each depth ends."""

    @classmethod
    def of(cls, starts: Integers) -> "Halving":
        """Return the cuts of ranges that lie beside each other, given by their ends.

        >>> cuts = Halving.of(np.array([0, 3, 4]))
        >>> [one.tolist() for one in (cuts.low, cuts.middle, cuts.high, cuts.squares)]
        [[0, 0], [2, 1], [3, 2], [6, 2]]
        """
        low, high = starts[:-1], starts[1:]
        cuts: list[tuple[Integers, Integers, Integers]] = []
        while True:
            wide = high - low > 1
            low, high = low[wide], high[wide]
            if not low.size:
                break
            middle = (low + high + 1) // 2
            cuts.append((low, middle, high))
            low = np.column_stack([low, middle]).ravel()
            high = np.column_stack([middle, high]).ravel()
        return cls._join_depths(cuts)

    @classmethod
    def _join_depths(cls, cuts: list[tuple[Integers, Integers, Integers]]) -> "Halving":
        """Return the cuts of all depths as one."""
        none = np.zeros(0, np.int64)
        low, middle, high = (
            np.concatenate([none, *(cut[part] for cut in cuts)]) for part in range(3)
        )
        common = np.gcd(middle - low, high - middle)
        left, right = (high - middle) // common, (middle - low) // common
        ends = np.cumsum([depth[0].size for depth in cuts]).tolist()
        return cls(low, middle, high, left, right, tuple(ends))

    def stretch(self, starts: Integers) -> "Halving":
        """Return the same cuts of coarser numbers, each made of finer ones.

        `starts` says where each coarser number begins among the finer ones.
        """
        low, middle, high = starts[self.low], starts[self.middle], starts[self.high]
        return Halving(low, middle, high, self.left, self.right, self.ends)

    @property
    def squares(self) -> Integers:
        """Return the square of each contrast, as a vector of what it was cut from."""
        return self.left * self.right * (self.left + self.right) * self._common

    @cached_property
    def _common(self) -> Integers:
        """Return what both sides of each cut have in common, for cuts of `of`."""
        return (self.middle - self.low) // self.right

    def contrasts(self, numbers: Numbers) -> Numbers:
        """Return the contrasts of numbers along the first axis."""
        sums = np.zeros((numbers.shape[0] + 1, *numbers.shape[1:]), numbers.dtype)
        np.cumsum(numbers, axis=0, out=sums[1:])
        low, middle, high = sums[self.low], sums[self.middle], sums[self.high]
        left, right = (
            _upright(weights, numbers) for weights in (self.left, self.right)
        )
        return np.asarray(left * (middle - low) - right * (high - middle))

    def divide(self, sums: Numbers, contrasts: Numbers) -> None:
        """Divide the sum that stands at the beginning of each range, in place.

        Afterwards a sum stands at the beginning of each half.
        """
        first = 0
        for end in self.ends:
            part = slice(first, end)
            low, middle = self.low[part], self.middle[part]
            left, right = (
                _upright(side[part], sums) for side in (self.left, self.right)
            )
            whole = sums[low]
            sums[low] = (contrasts[part] + right * whole) / (left + right)
            sums[middle] = whole - sums[low]
            first = end


def _upright(numbers: Integers, shape: Numbers) -> Integers:
    """Return numbers along the first axis of an array of a shape."""
    return numbers.reshape(-1, *([1] * (shape.ndim - 1)))
