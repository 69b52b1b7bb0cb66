"""Intervals of numbers that showed their group: true given that it shows."""

from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.stats import laplace, norm

import sordino as sd
from sordino.aggregations.intervals import (
    Noise,
    Shown,
    Sums,
    additive,
    linear,
    quotient_bars,
)
from tests.batches import for_each, sampled

F = Fraction


def lattice(scale: str, cut: int, confidence: str) -> tuple[Any, Any, Any, Any]:
    """Return all noisy counts that matter, their tails, and the ends of intervals."""
    mechanism = sd.LaplaceThreshold(scale, cut, dtype="i64")
    spread = float(Fraction(scale))
    seen = np.arange(cut, cut + int(60 * spread) + 8)
    sums = Sums((seen.astype(float),), (Noise(mechanism),), Shown((1.0,), float(cut)))
    bars = linear(sums, (1.0,), confidence, 1, whole=True)
    return seen, mechanism.law, bars.low, bars.high


@for_each("scale", ["0.3", "1", "2.16", "5"])
@for_each("cut", [2, 15, 40])
@for_each("confidence", ["0.5", "0.95", "0.999"])
def test_a_count_on_integers_is_held_given_that_it_shows(
    scale: str, cut: int, confidence: str
) -> None:
    seen, law, low, high = lattice(scale, cut, confidence)
    for exact in {1, cut // 2, cut - 1, cut, cut + 1, cut + 3, cut + 9, 2 * cut + 20}:
        if not 1 <= exact < seen[-1] - 40 * float(Fraction(scale)):
            continue
        tails = np.exp(law.log_at_least((seen - exact).astype(float)))
        mass = tails - np.append(tails[1:], 0.0)
        held = mass[(low <= exact) & (exact <= high)].sum() / tails[0]
        assert held >= float(F(confidence)) - 1e-9, exact
        # and no interval of whole numbers is much wider than it must be
        spared = np.exp(-1 / float(F(scale)))
        assert held <= 1 - (1 - float(F(confidence))) * spared**2 + 1e-9, exact


@for_each("scale", ["0.3", "1", "2.16", "5"])
@for_each("cut", [2, 15, 40])
def test_the_counts_that_hold_a_number_have_no_gaps(scale: str, cut: int) -> None:
    """On integers, too, the exact counts whose sets hold a number are an interval."""
    law = sd.LaplaceThreshold(scale, cut, dtype="i64").law

    def tail(k: Any) -> Any:
        return np.exp(law.log_at_least(np.asarray(k, float)))

    for alpha in (0.5, 0.05, 1e-3):
        for seen in range(cut, cut + 30):
            exact = np.arange(1, seen + 40)
            away = np.abs(seen - exact)
            both = (exact >= seen) | (exact - away >= cut)
            nearer = np.where(both, 1 - 2 * tail(away), tail(cut - exact) - tail(away))
            held = nearer < (1 - alpha) * tail(cut - exact) * (1 - 1e-12)
            turns = sum(a != b for a, b in pairwise(held.tolist()))
            assert turns <= 2, (alpha, seen)
            assert held[seen - 1]


def test_ends_rise_with_the_number() -> None:
    for scale in ("0.3", "2.16", "50"):
        _, _, low, high = lattice(scale, 60, "0.95")
        assert (np.diff(low) >= 0).all()
        assert (np.diff(high) >= 0).all()
        assert low[0] == 1


@for_each("exact", [20, 60, 79, 100, 150, 400])
def test_a_rounded_gaussian_count_is_held_given_that_it_shows(exact: int) -> None:
    """By integration over what is printed, from 94 to 96.5 %, and not as of before."""
    cut, spread = 79.3, 15.3
    mechanism = sd.GaussianThreshold(scale="15.3", threshold="79.3")
    seen = np.arange(79, 800)
    noise = Noise(mechanism, rounding=F(1, 2))
    edges = np.append(np.maximum(seen - 0.5, cut), np.inf)
    mass = -np.diff(norm.sf(edges, exact, spread)) / norm.sf(cut, exact, spread)
    sums = Sums((seen.astype(float),), (noise,), Shown((1.0,), cut))
    bars = linear(sums, (1.0,), "0.95", 1, whole=True)
    held = mass[(bars.low <= exact) & (exact <= bars.high)].sum()
    assert 0.95 <= held <= 0.965
    before = additive(seen, noise, "0.95", 1)
    unconditional = mass[(before.low <= exact) & (exact <= before.high)].sum()
    assert (unconditional < 0.94) == (exact < 79)


def test_far_above_the_cut_nothing_changes() -> None:
    seen = np.array([5_000.0, 10.0**12])
    mechanism = sd.LaplaceThreshold("2.16", 31, dtype="i64")
    sums = Sums((seen,), (Noise(mechanism),), Shown((1.0,), 31.0))
    bars = linear(sums, (1.0,), "0.95", 1, whole=True)
    plain = additive(seen, Noise(mechanism), "0.95")
    assert bars.low.tolist() == plain.low.tolist()
    assert bars.high.tolist() == plain.high.tolist()


def test_certainty_begins_at_the_least_group() -> None:
    """At confidence 1 a shown group has at least one row, and there is no end."""
    mechanism = sd.LaplaceThreshold(1, 15, dtype="i64")
    sums = Sums((np.array([40.0]),), (Noise(mechanism),), Shown((1.0,), 15.0))
    bars = linear(sums, (1.0,), 1, 1, whole=True)
    assert (bars.low[0], bars.high[0]) == (1, np.inf)


def test_no_groups_have_no_intervals() -> None:
    none = np.zeros(0)
    mechanism = sd.LaplaceThreshold(1, 15, dtype="i64")
    noise = Noise(mechanism)
    sums = Sums((none, none), (noise, noise), Shown((1.0, 1.0), 15.0))
    for form in ((1.0, 1.0), (1.0, 0.0), (0.0, 1.0)):
        assert len(linear(sums, form, "0.95").low) == 0


def of_pair(
    size: float, mean: float, *, known: bool
) -> tuple[dict[str, float], dict[str, float]]:
    """Return how much of a pair's noise is held, and the widths, given that it shows.

    The noises run over a fine grid; the group shows where their sum is at least 16.28.
    """
    cut, noise = 16.28, Noise(sd.Laplace(1))
    steps = np.linspace(-16, 16, 321)
    edges = np.append(steps - 0.05, 16.05)
    each = -np.diff(laplace.sf(edges))
    upper, lower = (grid.ravel() for grid in np.meshgrid(steps, steps))
    mass = np.outer(each, each).ravel()
    there = size + upper + lower >= cut
    mass = mass[there] / mass[there].sum()
    noisy = size * (1 - mean) + lower[there], size * mean + upper[there]
    shown = None if known else Shown((1.0, 1.0), cut)
    sums = Sums(noisy, (noise, noise), shown)
    bars = {
        "mean": (quotient_bars(sums, (0.0, 1.0), (1.0, 1.0), "0.95"), mean),
        "sum": (linear(sums, (0.0, 1.0), "0.95", 0), size * mean),
        "count": (linear(sums, (1.0, 1.0), "0.95", 1), size),
    }
    held = {
        name: float(mass[(one.low <= exact) & (exact <= one.high)].sum())
        for name, (one, exact) in bars.items()
    }
    widths = {
        name: float(mass @ (one.high - one.low)) for name, (one, _) in bars.items()
    }
    return held, widths


@sampled(1, 3)
@for_each("mean", [0.5, 0.1])
@for_each("size", [2, 8, 12, 16, 20, 30, 60])
def test_means_of_groups_that_showed_themselves_are_held(
    size: int, mean: float
) -> None:
    """By integration: 95 % given that the group shows, and not as if it were known."""
    held, widths = of_pair(size, mean, known=False)
    assert min(held.values()) >= 0.949  # the grid is 0.1 wide
    before, narrow = of_pair(size, mean, known=True)
    if size <= 12:
        assert before["mean"] < 0.8
        assert before["count"] < 0.1
    if size >= 30:
        assert max(held.values()) <= 0.965
        assert widths["mean"] <= 1.06 * narrow["mean"]
