"""Float sums: the nearest float to the exact sum, decided by doubles or by integers."""

import math
import struct
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import sordino as sd
from sordino.noise.gaussian import GaussianShape
from sordino.noise.laplace import LaplaceShape
from sordino.noise.sampling.bits import Bits, Uniform
from sordino.noise.sampling.blocks import Point
from sordino.noise.sampling.floats import (
    F32,
    F64,
    FloatFormat,
    FloatSampler,
    float_sampler,
)
from tests.batches import for_each
from tests.planned_bits import PlannedBits
from tests.statistics import alike

LARGEST = float(np.finfo(np.float64).max)
doubles = st.floats(allow_nan=False, allow_infinity=False)


@given(st.integers(-(2**90), 2**90), st.integers(-1200, 900))
def test_nearest_double_is_the_one_python_finds(count: int, unit: int) -> None:
    """Rounding an integer times a power of two equals rounding the fraction."""
    value = Fraction(count) * Fraction(2) ** unit
    expected = value.numerator / value.denominator if abs(value) < LARGEST else LARGEST
    assert F64.nearest(count, unit) == math.copysign(expected, count or 1)


@given(doubles)
def test_nearest_single_is_the_one_numpy_finds(value: float) -> None:
    above, below = value.as_integer_ratio()
    with np.errstate(over="ignore"):
        expected = float(np.float32(value))
    bound = float(np.finfo(np.float32).max)
    expected = min(max(expected, -bound), bound)
    assert F32.nearest(above, 1 - below.bit_length()) == expected


def test_sums_beyond_the_largest_float_give_it() -> None:
    assert F64.nearest(1, 1024) == LARGEST
    assert F64.nearest(-(2**54) + 1, 970) == -LARGEST
    assert F32.nearest(-1, 5000) == -float(np.finfo(np.float32).max)


def aimed(sampler: FloatSampler, block: int, place: int) -> NDArray[np.float64]:
    """Return values whose sums with a draw lie at or near a rounding boundary."""
    noise = (Fraction(block) + Fraction(place, 2**64)) * Fraction(2) ** sampler.exponent
    targets = []
    for start in (1.0, 1 / 3, 2.0**-30, 1e6, 1e30, 1e-44, 2.0**-126, 0.0):
        first = sampler.target.dtype(start)
        near, after = (
            float(first),
            float(np.nextafter(first, sampler.target.dtype(1e38))),
        )
        middle = (Fraction(near) + Fraction(after)) / 2
        for offset in (-1, 0, 1):
            wanted = middle - noise
            value = wanted.numerator / wanted.denominator
            for _ in range(abs(offset)):
                value = math.nextafter(value, math.copysign(math.inf, offset))
            targets.append(value)
    return np.array([*targets, 0.0, 1.0, -1e30])


@for_each("exponent", [-900, -70, -3, 0, 40, 900])
@for_each("target", [F64, F32], ids=["f64", "f32"])
def test_doubles_decide_only_what_all_completions_agree_on(
    target: FloatFormat, exponent: int
) -> None:
    family = LaplaceShape(Fraction(2) ** (exponent + 6))
    sampler = float_sampler(family, None, target)
    random = np.random.default_rng(3)
    decided = 0
    for block in [-2139, 2138, *random.integers(-2139, 2139, 40).tolist()] * 2:
        place = int(random.integers(0, 2**64, dtype=np.uint64)) | 2**23
        values = aimed(sampler, block, place)
        if target is F32:
            values = values[np.abs(values) < 1e38]
        size = values.size
        sums, open_ = sampler._add_slice(
            values, np.full(size, block, np.int16), np.full(size, place, np.uint64)
        )
        for i in set(range(size)) - set(open_.tolist()):
            decided += 1
            for ending in (0, 2**64 - 1):
                full = Uniform(PlannedBits(), place << 64 | ending, 128, 128)
                exact = sampler._round(float(values[i]), Point(block, full))
                assert float(sums[i]) == exact
    assert decided > 50


@given(doubles, st.integers(-2139, 2138), st.integers(0, 2**64 - 1))
def test_one_value_is_rounded_like_an_array(
    value: float, block: int, place: int
) -> None:
    sampler = float_sampler(LaplaceShape(Fraction(64)), None, F64)
    sums, open_ = sampler._add_slice(
        np.array([value]), np.array([block], np.int16), np.array([place], np.uint64)
    )
    point = Point(block, Uniform(PlannedBits(), place, 64))
    if not open_.size:
        assert float(sums[0]) == sampler._round(value, point)


@for_each("scale", [Fraction(1, 10**310), Fraction(10) ** 300])
def test_extreme_scales_take_the_exact_path(scale: Fraction) -> None:
    """Beyond the safe exponents every sum is exact: finite, and noisy in every bit."""
    sampler = float_sampler(GaussianShape(scale**2), None, F64)
    assert not sampler._is_safe
    draws = sampler.add(np.zeros(2000), Bits())
    assert np.isfinite(draws).all()
    assert len(set(draws.tolist())) > 1500
    typical = np.median(np.abs(draws)) / (0.6745 * float(scale))
    assert 0.85 < typical < 1.15


def low_bits(outputs: NDArray[np.float64]) -> NDArray[np.int64]:
    kept = outputs[(outputs >= 0.125) & (outputs < 0.25)]
    return (kept.view(np.int64) & 63).astype(np.int64)


@pytest.mark.slow
@for_each(
    "mechanism", [sd.Laplace(1), sd.Gaussian(scale=1)], ids=["Laplace", "Gaussian"]
)
def test_low_bits_do_not_tell_zero_from_one(mechanism: Any) -> None:
    """The last bits of outputs for 0 and 1 follow one law (false alarm 1e-9)."""
    zero, one = (mechanism(np.full(1_000_000, x)) for x in (0.0, 1.0))
    assert alike(low_bits(zero), low_bits(one))


@pytest.mark.slow
def test_low_bits_betray_noise_added_in_floats() -> None:
    """The same test rejects noise that is added in float arithmetic."""
    noise = np.random.default_rng(5).laplace(size=(2, 1_000_000))
    assert not alike(low_bits(noise[0]), low_bits(1.0 + noise[1]))


def test_values_enter_as_the_real_numbers_they_are() -> None:
    """Tiny noise on a large value leaves it, and on zero keeps all its digits."""
    assert sd.Laplace(1e-300)(1e300) == 1e300
    drawn = sd.Laplace(1e-300)(0.0)
    assert drawn != 0
    mantissa = struct.unpack("<Q", struct.pack("<d", drawn))[0] & (2**52 - 1)
    assert mantissa
