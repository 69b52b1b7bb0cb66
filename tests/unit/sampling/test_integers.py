"""Integer sums: exact first, clamped after."""

import math
from fractions import Fraction

import numpy as np
import pytest

import sordino as sd
from sordino.noise.laplace import LaplaceShape
from sordino.noise.sampling.bits import Bits, Uniform
from sordino.noise.sampling.blocks import Draws, Point
from sordino.noise.sampling.integers import IntegerSampler, integer_sampler
from tests.batches import for_each
from tests.planned_bits import PlannedBits

LEAST, MOST = -(2**63), 2**63 - 1


class Fixed:
    """A table that draws what it is told."""

    reach = 2

    def __init__(self, draws: Draws) -> None:
        self._draws = draws

    def draw(self, count: int, bits: object) -> Draws:
        del bits
        assert count == self._draws.block.size
        return self._draws


def sampler_of(draws: Draws, depth: int) -> IntegerSampler:
    sampler = integer_sampler(LaplaceShape(Fraction(2) ** (depth + 6)))
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


@for_each("end", [2**63 - 1, -(2**63)])
def test_a_step_beyond_an_end_stays_at_the_end(end: int) -> None:
    """At an end of int64 every draw that leads outwards, even by 1, is the end."""
    drawn = sd.Geometric(1)(np.full(2000, end, np.int64))
    away = [abs(int(answer) - end) for answer in drawn]
    assert max(away) < 100
    assert 1000 < away.count(0) < 1900


def test_draws_beyond_int64_are_added_exactly() -> None:
    """A draw of 2**63 + 5 on the least value gives 5, not an end of the dtype."""
    far = Point(2**59, Uniform(PlannedBits(), 5, 4, 4))
    draws = Draws(np.zeros(2, np.int16), np.zeros(2, np.uint64), {0: far})
    sums = sampler_of(draws, 4).add(np.array([LEAST, 0]), PlannedBits())
    assert sums.tolist() == [5, 0]


@pytest.mark.slow
def test_scales_beyond_the_fast_path_are_exact() -> None:
    """At scale 2**70 the clamped sums have the exact shares of each end and sign."""
    sampler = integer_sampler(LaplaceShape(Fraction(2**70)))
    sums = sampler.add(np.zeros(20_000, np.int64), Bits())
    inside = 1 - math.exp(-(2.0**-7))
    assert abs(np.mean(sums > 0) - 0.5) < 6.5 * 0.5 / math.sqrt(20_000)
    spread = math.sqrt(inside / 20_000)
    assert abs(np.mean((sums > LEAST) & (sums < MOST)) - inside) < 6.5 * spread


def test_one_draw_at_a_huge_scale_is_an_exact_integer() -> None:
    """A scale of 10**300 gives noise of its size, to the last digit."""
    sampler = integer_sampler(LaplaceShape(Fraction(10) ** 300))
    drawn = [sampler.add_to_one(0, Bits()) for _ in range(64)]
    assert 10**296 < max(map(abs, drawn)) < 10**302
    assert len({z % 2**64 for z in drawn}) == 64
