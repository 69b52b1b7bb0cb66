"""The false keys that the absent keys of a public domain add to a release."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import ceil
from typing import Any, final

import numpy as np
from flint import arb
from numpy.typing import NDArray

from sordino import _validate
from sordino.errors import InvalidParameter
from sordino.mechanisms.kit.domain import NumberDomain, float_format
from sordino.mechanisms.kit.noise import AbstractNoise
from sordino.sampling.bits import Bits, BitSource
from sordino.sampling.tails import Tail, passes

DrawKeys = Callable[[NDArray[np.int64]], Any]
"""Turns positions in a public listing of the absent keys into those keys."""


@final
@dataclass(frozen=True)
class AbsentKeys:
    """Keys of value 0, all alike: noise, a threshold, and the grid of their sums."""

    noise: AbstractNoise
    threshold: Fraction
    grid: int | None
    values: NumberDomain

    @cached_property
    def unit(self) -> Fraction | None:
        """Return the step of the grid."""
        return None if self.grid is None else Fraction(2) ** self.grid

    @cached_property
    def level(self) -> Fraction:
        """Return the least size of a sum that passes."""
        level = abs(self.threshold)
        return level if self.unit is None else ceil(level / self.unit) * self.unit

    def release(
        self, n_absent_keys: Any, draw_keys: DrawKeys
    ) -> tuple[Any, NDArray[Any]]:
        """Return the keys that pass, in the order of the listing, and their values."""
        count = _validate.integer(n_absent_keys=n_absent_keys, least=0, most=2**63 - 1)
        if not callable(draw_keys):
            raise InvalidParameter(
                "draw_keys",
                draw_keys,
                "must be a function",
                "Try draw_keys=lambda positions: keys[positions].",
            )
        tail, bits = self.noise.tail(self.level), Bits()
        places, answers = [], []
        if tail is not None:
            places = passes(self._chance, count, bits)
            answers = [self._answer(tail, bits) for _ in places]
        keys = draw_keys(np.array(places, np.int64))
        if len(keys) != len(places):
            raise InvalidParameter(
                "draw_keys",
                draw_keys,
                "must return one key for each position it is given",
                "Index an array of the absent keys by the positions.",
            )
        return keys, np.array(answers, self.values.numpy)

    def _chance(self) -> arb:
        """Return the chance that a value of 0 passes, at the working precision."""
        return self.noise.law(self.grid).at_least(self.level)

    def _answer(self, tail: Tail, bits: BitSource) -> Any:
        """Return one noisy value at or beyond the threshold, on its side of 0."""
        sign = 1 if self.threshold > 0 else -1
        if self.unit is None:
            target = float_format(self.values.dtype)
            return sign * tail.nearest(self.level, target, bits)
        exact_sum = sign * (self.level + tail.steps(self.unit, bits) * self.unit)
        if not self.values.is_integer:
            return float_format(self.values.dtype).round(exact_sum)
        least, most = self.values.bounds
        return max(least, min(most, int(exact_sum)))
