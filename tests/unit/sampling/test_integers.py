"""Integer sums: exact first, clamped after."""

from fractions import Fraction

import numpy as np
import pytest

from sordino.errors import InvalidParameter
from sordino.sampling.blocks import Draws, Point
from sordino.sampling.certified import Uniform
from sordino.sampling.integers import IntegerSampler, integer_sampler
from sordino.sampling.laplace import LaplaceFamily
from tests.planned_bits import PlannedBits

LEAST, MOST = -(2**63), 2**63 - 1


class Fixed:
    """A table that draws what it is told."""

    reach = 2

    def __init__(self, draws: Draws) -> None:
        """Keep the draws."""
        self._draws = draws

    def draw(self, count: int, bits: object) -> Draws:
        """Return the draws."""
        del bits
        assert count == self._draws.block.size
        return self._draws


def sampler_of(draws: Draws, depth: int) -> IntegerSampler:
    """Return a sampler whose table is fixed."""
    sampler = integer_sampler(LaplaceFamily(Fraction(2) ** (depth + 6)))
    assert sampler.depth == depth
    vars(sampler)["table"] = Fixed(draws)
    return sampler


def test_sums_are_clamped_after_the_exact_addition() -> None:
    """Near the ends of int64 the clamped exact sum comes out, never a wrapped one."""
    block = np.array([1, -1, 1, -1, 0], np.int16)
    place = np.full(5, 2**63, np.uint64)
    values = np.array([MOST - 5, LEAST + 5, LEAST, MOST, MOST])
    sums = sampler_of(Draws(block, place, {}), 4).add(values, PlannedBits())
    noise = [16 + 8, -16 + 8, 16 + 8, -16 + 8, 8]
    exact = [int(v) + z for v, z in zip(values, noise, strict=True)]
    assert sums.tolist() == [min(max(s, LEAST), MOST) for s in exact]


def test_draws_beyond_int64_are_added_exactly() -> None:
    """A draw of 2**63 + 5 on the least value gives 5, not an end of the dtype."""
    far = Point(2**59, Uniform(PlannedBits(), 5, 4, 4))
    draws = Draws(np.zeros(2, np.int16), np.zeros(2, np.uint64), {0: far})
    sums = sampler_of(draws, 4).add(np.array([LEAST, 0]), PlannedBits())
    assert sums.tolist() == [5, 0]


def test_a_scale_beyond_the_integers_is_refused() -> None:
    """From 2**57 on the refusal names the scale and the remedy."""
    integer_sampler(LaplaceFamily(Fraction(2**57 - 1)))
    with pytest.raises(InvalidParameter, match=r"scale must be below 2\*\*57 .* float"):
        integer_sampler(LaplaceFamily(Fraction(2**57)))
