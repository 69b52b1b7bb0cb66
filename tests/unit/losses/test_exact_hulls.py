"""`get_beta` against the exact hull of all threshold tests, in rationals."""

from fractions import Fraction
from typing import Any

import numpy as np

import sordino as sd
from tests.batches import for_each, sampled

RATES = [5e-324, 1e-320, 1e-300, 1e-17, 0.01, 0.1, 0.3, 0.5, 0.9, 1 - 2.0**-53]


def exact_beta(y: Any, x: Any, lost: float, alpha: Fraction) -> Fraction:
    """Return the height of the lower hull at alpha: the least of all chords."""
    masses_y, masses_x = (
        [Fraction(float(p)) for p in y],
        [Fraction(float(p)) for p in x],
    )
    tests = [(Fraction(0), Fraction(1)), (Fraction(1), Fraction(0))]
    for place in range(len(masses_y) + 1):
        rate = min(sum(masses_x[place:], Fraction(0)), Fraction(1))
        missed = min(sum(masses_y[:place], Fraction(0)), 1 - Fraction(lost))
        tests += [(rate, missed), (missed, rate)]
    best = Fraction(1)
    for a, high in tests:
        for b, low in tests:
            if a == alpha:
                best = min(best, high)
            elif a < alpha <= b:
                best = min(best, high - (high - low) * (alpha - a) / (b - a))
    return best


@sampled(3)
@for_each("case", range(8))
def test_beta_is_beneath_the_exact_hull_and_close(case: int) -> None:
    """For any masses, at any rate, read as a double and as its decimal."""
    rng = np.random.default_rng(case)
    size = int(rng.integers(1, 9))
    y, x = (np.exp(rng.normal(0, 4, size)) for _ in range(2))
    y, x = y / y.sum() * (1 - 1e-12), x / x.sum() * (1 - 1e-12)
    lost = 0.01 * (case % 2)
    pair = sd.PLRVs(0, y * (1 - lost), lost, 0, x, 0.0, False)
    for alphas in (RATES, RATES * 10):
        for alpha, beta in zip(alphas, sd.get_beta(pair, alphas), strict=True):
            truths = [
                exact_beta(pair.pmf_Y, pair.pmf_X, lost, read)
                for read in {Fraction(alpha), Fraction(repr(alpha))}
            ]
            assert Fraction(float(beta)) <= min(truths)
            assert float(beta) >= float(min(truths)) - 1e-14


def test_short_binary_fractions_are_met_exactly() -> None:
    """Where all corners are short fractions the line is its own double."""
    pair = sd.PLRVs(0, [0.25, 0.75], 0.0, 0, [0.75, 0.25], 0.0, True)
    assert sd.get_beta(pair, [0.0, 0.125, 0.25, 0.625, 1.0]).tolist() == [
        1.0, 0.625, 0.25, 0.125, 0.0,
    ]  # fmt: skip


@for_each("far", [10**7, 10**18, 10**40, -(10**30)])
def test_supports_may_lie_as_far_apart_as_they_like(far: int) -> None:
    """Thresholds between two supports are one test: nothing is allocated for them."""
    pair = sd.PLRVs(0, [0.5, 0.5], 0.0, far, [0.25, 0.75], 0.0, False)
    expected = 0.5 if far > 0 else 0.0
    assert sd.get_beta(pair, 0.5) == expected
