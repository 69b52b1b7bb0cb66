"""Sums of many Laplace noises of one scale, against closed forms and draws."""

import math

import numpy as np
import pytest

from sordino.noise.sums import LaplaceBlend, reach_of_equal
from tests.batches import for_each


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
