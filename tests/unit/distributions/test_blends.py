"""Sums of independent noises: how far they reach."""

import math
from fractions import Fraction
from math import prod

import numpy as np
import pytest
from flint import arb
from numpy.typing import NDArray

from sordino.noise.gaussian import ContinuousGaussianLaw, DiscreteGaussianLaw
from sordino.noise.laplace import ContinuousLaplaceLaw, DiscreteLaplaceLaw
from sordino.noise.law import AbstractLaw, PointMass
from sordino.noise.sums import (
    AbstractBlend,
    GaussianBlend,
    LaplaceBlend,
    MixedBlend,
    reach_of_equal,
)
from sordino.numbers import ball
from sordino.numbers.rounding import precision
from tests.batches import for_each

SIZES = [
    [1.0],
    [1.0, 1.0],
    [1.0, 0.3],
    [2.0, 2.0, 2.0],
    [1.0, 0.5, 0.1],
    [1.0, 1.0 + 1e-9, 1e-9],
    [0.0, 3.0, 0.0],
    # so many nearly equal scales: partial fractions in doubles told 2.88 for 8.64
    [1.0] * 5 + [0.95] * 5,
    [1.59] * 6 + [1.41] * 6,
    [5.0, *[1.0] * 8],
    [*np.linspace(1, 3, 9).tolist(), 1e-3],
]
F = Fraction


def column(*sizes: float) -> NDArray[np.float64]:
    return np.array(sizes)[:, None]


def parts(sizes: list[float]) -> list[tuple[Fraction, arb]]:
    """Return scales and weights of the tail; equal scales are 1e-40 apart."""
    apart = [
        F(one) * (1 + place * F(1, 10**40))
        for place, one in enumerate(sorted(sizes))
        if one > 0
    ]
    return [
        (
            one,
            ball(
                prod(
                    (one**2 / (one**2 - two**2) for two in apart if two != one),
                    start=F(1),
                )
            ),
        )
        for one in apart
    ]


@for_each("sizes", SIZES, ids=str)
@for_each("alpha", [0.9, 0.5, 0.05, 1e-3, 1e-9])
def test_laplace_reach_inverts_the_tail(sizes: list[float], alpha: float) -> None:
    found = float(LaplaceBlend().reach(column(*sizes), alpha)[0])
    with precision(4000):
        tail = sum(
            (weight * (-arb(found) / ball(one)).exp() for one, weight in parts(sizes)),
            arb(0),
        )
    assert float(tail) <= alpha * (1 + 1e-9)
    # at most three parts in 10,000 too far out
    assert float(tail) >= alpha * (1 - 4e-4 * (1 + np.log(3 / alpha)))


@for_each("alpha", [0.5, 0.05, 1e-3])
def test_laplace_and_gaussian_noise_meet(alpha: float) -> None:
    """One of each has a closed form; far apart in size the larger one decides."""
    blend = MixedBlend((False, True))
    for scale, sd in ((1.0, 1.0), (3.0, 2.0), (0.5, 4.0), (30.0, 0.3)):
        found = float(blend.reach(column(scale, sd), alpha)[0])
        # P[L + G > x] of unit scale, completed to a square on either side
        unit, s = found / scale, sd / scale
        rise, fall = (
            math.exp(s * s / 2 + sign * unit) * normal_chance(-sign * unit / s - s)
            for sign in (1, -1)
        )
        beyond = normal_chance(-unit / s) + (fall - rise) / 2
        assert 2 * beyond == pytest.approx(alpha, rel=1e-6)
        assert blend.contains(np.array([0.999 * found]), column(scale, sd), alpha)
        assert not blend.contains(np.array([1.001 * found]), column(scale, sd), alpha)


def normal_chance(x: float) -> float:
    return math.erfc(-x / math.sqrt(2)) / 2


def test_gaussian_reach_is_that_of_the_root_of_squares() -> None:
    """Three, four and twelve have together the spread thirteen."""
    blend = GaussianBlend()
    assert blend.reach(column(3, 4, 12), 0.05) == pytest.approx(13 * 1.959963984540054)
    assert blend.contains(np.array([25.0, 26.0]), column(3, 4, 12), 0.05).tolist() == [
        1,
        0,
    ]


@for_each(
    "blend", [LaplaceBlend(), GaussianBlend()], ids=lambda blend: type(blend).__name__
)
@for_each("alpha", [0.9, 0.5, 0.05, 1e-8])
def test_reach_is_a_norm(blend: AbstractBlend, alpha: float) -> None:
    """Along a line the reach bends upwards, and it grows with every factor."""
    x = np.linspace(-1, 2, 301)
    reach = blend.reach(np.array([1 - x, x, 0.3 + 0 * x]), alpha)
    # scales that are moved apart add up to three parts in 10,000
    assert (np.diff(reach, 2) >= -4e-4 * reach.max()).all()
    more = blend.reach(np.array([1 - x, x, 0.5 + 0 * x]), alpha)
    assert (more >= reach * (1 - 4e-4)).all()
    assert blend.reach(column(0, 0), alpha).tolist() == [0]


def test_certainty_is_endless_unless_there_is_no_noise() -> None:
    for blend in (LaplaceBlend(), GaussianBlend()):
        assert blend.reach(column(1, 0), 0.0).tolist() == [np.inf]
        assert blend.reach(column(0, 0), 0.0).tolist() == [0]


LAWS: list[AbstractLaw] = [
    ContinuousLaplaceLaw(F(7, 2)),
    DiscreteLaplaceLaw(F(1, 3)),
    DiscreteLaplaceLaw(F(9, 2), F(1, 2)),
    ContinuousGaussianLaw(F(5)),
    DiscreteGaussianLaw(F(5)),
    PointMass(),
]


@for_each("law", LAWS, ids=repr)
def test_logarithms_of_tails_are_those_of_the_balls(law: AbstractLaw) -> None:
    """In doubles ln P[Z >= x] agrees with the enclosure to twelve digits."""
    points = [-12.0, -1.0, -0.5, 0.0, 0.25, 1.0, 6.5, 30.0]
    found = np.exp(law.log_at_least(np.array(points)))
    exact = [float(law.at_least(F(one))) for one in points]
    assert found == pytest.approx(exact, rel=1e-11, abs=1e-300)


@for_each(
    "law",
    [DiscreteLaplaceLaw(F(b, 10)) for b in (2, 7, 10, 35, 400)]
    + [DiscreteGaussianLaw(F(v, 10)) for v in (1, 5, 20, 900)],
    ids=repr,
)
def test_lattice_noise_slips_no_further_than_told(law: AbstractLaw) -> None:
    """Drawn with equal quantiles, lattice and real noise are within the slip."""
    real: AbstractLaw = (
        ContinuousLaplaceLaw(law.scale)
        if isinstance(law, DiscreteLaplaceLaw)
        else ContinuousGaussianLaw(law.variance)  # type: ignore[attr-defined]
    )
    slip, worst = F(law.slip), 0.0
    for k in range(1, 40):
        tail = law.at_least(F(k))
        # K = k from the real point with the tail P[K >= k] to that with P[K >= k + 1]
        assert real.at_least(k - slip - F(1, 10**9)) >= tail or k == 1
        assert real.at_least(k - 1 + slip + F(1, 10**9)) <= tail
        if float(tail) < 1e-12:
            break
        point = float(-real.log_at_least(np.array([k - float(slip)]))[0])
        worst = max(worst, point)
    assert worst > 0


@for_each("alpha", [0.5, 0.05, 1e-9])
def test_few_have_closed_forms(alpha: float) -> None:
    """One: exp(-t); two: (1 + t/2) exp(-t)."""
    assert reach_of_equal(1, alpha) == pytest.approx(-math.log(alpha))
    two = reach_of_equal(2, alpha)
    assert (1 + two / 2) * math.exp(-two) == pytest.approx(alpha)


@for_each("number", [5, 52, 365])
def test_many_are_nearly_normal(number: int) -> None:
    """A little farther than a normal law of the same variance at 95 %."""
    normal = 1.959964 * math.sqrt(2 * number)
    assert normal < reach_of_equal(number, 0.05) < normal * (1 + 0.8 / number)


def test_draws_stay_within() -> None:
    """Of 200,000 sums of 12: off by 7 deviations of their number at most."""
    sums = np.abs(np.random.default_rng(1).laplace(size=(200_000, 12)).sum(axis=1))
    beyond = float(np.mean(sums > reach_of_equal(12, 0.05)))
    assert abs(beyond - 0.05) < 7 * math.sqrt(0.05 * 0.95 / 200_000)
    short = float(np.mean(sums > 0.97 * reach_of_equal(12, 0.05)))
    assert abs(short - 0.05) > 7 * math.sqrt(0.05 * 0.95 / 200_000)


def test_a_blend_of_equal_ones_is_exact() -> None:
    """Cases of any number of terms, and of none, each in its own scale."""
    sizes = np.tril(np.full((9, 9), 3.0)).T
    sizes[:, 0] = 0
    found = LaplaceBlend().reach(sizes, 0.05)
    wanted = [0.0, *(3 * reach_of_equal(n, 0.05) for n in range(2, 10))]
    assert found == pytest.approx(wanted)
