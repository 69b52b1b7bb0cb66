"""Losses of every form, drawn from a seed, beside the worlds they stand for."""

from __future__ import annotations

import random
from collections.abc import Callable
from fractions import Fraction
from typing import Any, NamedTuple, TypeAlias

from sordino.losses.closed import ApproxDP, GaussianDP
from sordino.losses.loss import Loss, PureDP, compose
from sordino.losses.thresholded import mixture, threshold_loss
from sordino.noise.exponential import BoundedRangeLoss
from sordino.noise.gaussian import DiscreteGaussianLoss
from sordino.noise.laplace import GeometricLoss, LaplaceLoss
from sordino.noise.randomized_response import RandomizedResponseLoss
from tests import oracles
from tests.oracles import Worlds, breach, mpf, worst

Delta: TypeAlias = Callable[[float], Any]
Case: TypeAlias = tuple[Loss, Delta]
"""A loss, and the delta of the pair that it stands for."""


class Family(NamedTuple):
    """Losses of one form, drawn at random, and how loose their curves may be."""

    draw: Callable[[random.Random], Case]
    looseness: float
    """The most by which delta exceeds the truth, relatively, where it is not FAINT.

    About twice what was measured, and 1e-12 where rounding is all there is.
    """


FAINT = 1e-12
LAST = mpf(2) ** -52
"""A unit of the last place, relatively."""
SEED = 20261122


def size(rng: random.Random, low: float = 0.02, high: float = 3.0) -> Fraction:
    """Return a fraction between two ends, even on a log scale."""
    drawn = low * (high / low) ** rng.random()
    return Fraction(drawn).limit_denominator(1000)


def pair(loss: Loss, worlds: Worlds) -> Case:
    return loss, lambda e: worst([worlds], e)


def pure(rng: random.Random) -> Case:
    epsilon = size(rng)
    return pair(PureDP(epsilon), oracles.response(epsilon))


def approximate(rng: random.Random) -> Case:
    """Return randomized response that may fail."""
    epsilon, delta = size(rng), size(rng, 1e-3, 0.3)
    worlds = breach(oracles.real(delta), oracles.real(delta))
    return pair(ApproxDP(epsilon, delta), worlds.beside(oracles.response(epsilon)))


def gaussian(rng: random.Random) -> Case:
    mu = size(rng)
    return pair(GaussianDP(mu), oracles.gaussian(mu))


def laplace(rng: random.Random) -> Case:
    ratio = size(rng)
    return pair(LaplaceLoss(ratio), oracles.laplace(ratio))


def geometric(rng: random.Random) -> Case:
    shift, scale = rng.randint(1, 5), size(rng, 0.5, 20)
    return pair(GeometricLoss(shift, scale), oracles.geometric(shift, scale))


def discrete_gaussian(rng: random.Random) -> Case:
    shift, variance = rng.randint(1, 3), size(rng, 0.5, 20)
    return pair(DiscreteGaussianLoss(shift, variance), oracles.lattice(shift, variance))


def randomized_response(rng: random.Random) -> Case:
    """Return a truth among several."""
    epsilon, many = size(rng), rng.randint(2, 9)
    worlds = oracles.response(epsilon, many)
    return pair(RandomizedResponseLoss(epsilon, many), worlds)


def bounded_range(rng: random.Random) -> Case:
    epsilon = size(rng)
    return pair(BoundedRangeLoss(epsilon), oracles.bounded_range(epsilon))


def pure_often(rng: random.Random) -> Case:
    epsilon, times = size(rng, 0.05, 0.8), rng.randint(2, 12)
    return pair(PureDP(epsilon) * times, oracles.response(epsilon).times(times))


def geometric_often(rng: random.Random) -> Case:
    shift, scale, times = rng.randint(1, 3), size(rng, 1, 20), rng.randint(2, 5)
    worlds = oracles.geometric(shift, scale).times(times)
    return pair(GeometricLoss(shift, scale) * times, worlds)


def approximate_often(rng: random.Random) -> Case:
    """Return several responses that may fail."""
    epsilon, delta, times = size(rng, 0.1, 1), size(rng, 1e-3, 0.1), rng.randint(2, 6)
    one = breach(oracles.real(delta), oracles.real(delta))
    worlds = one.beside(oracles.response(epsilon)).times(times)
    return pair(ApproxDP(epsilon, delta) * times, worlds)


def unlike_atoms(rng: random.Random) -> Case:
    """Return losses on no common lattice."""
    epsilon, scale, many = size(rng, 0.1, 1), size(rng, 1, 9), rng.randint(3, 9)
    losses = [
        PureDP(epsilon),
        GeometricLoss(2, scale),
        RandomizedResponseLoss("0.3", many),
    ]
    worlds = (
        oracles
        .response(epsilon)
        .beside(oracles.geometric(2, scale))
        .beside(oracles.response("0.3", many))
    )
    return pair(compose(losses), worlds)


def discrete_gaussians(rng: random.Random) -> Case:
    variance, epsilon = size(rng, 1, 6), size(rng, 0.1, 1)
    worlds = oracles.lattice(1, variance).beside(oracles.response(epsilon))
    return pair(DiscreteGaussianLoss(1, variance) + PureDP(epsilon), worlds)


def gaussian_and_atoms(rng: random.Random) -> Case:
    """Return a Gaussian beside discrete losses."""
    mu, epsilon, scale = size(rng, 0.2, 2), size(rng, 0.1, 1), size(rng, 1, 9)
    worlds = (
        oracles
        .gaussian(mu)
        .beside(oracles.response(epsilon).times(2))
        .beside(oracles.geometric(1, scale))
    )
    loss = compose([GaussianDP(mu), PureDP(epsilon) * 2, GeometricLoss(1, scale)])
    return pair(loss, worlds)


def laplace_and_atoms(rng: random.Random) -> Case:
    """Return a Laplace law beside discrete losses and a breach."""
    ratio, epsilon, delta = size(rng, 0.2, 2), size(rng, 0.1, 1), size(rng, 1e-4, 0.1)
    worlds = (
        oracles
        .laplace(ratio)
        .beside(oracles.response(epsilon).times(2))
        .beside(breach(oracles.real(delta), oracles.real(delta)))
    )
    return pair(LaplaceLoss(ratio) + PureDP(epsilon) * 2 + ApproxDP(0, delta), worlds)


def two_laplaces(rng: random.Random) -> Case:
    one, other = size(rng, 0.2, 2), size(rng, 0.2, 2)
    worlds = oracles.laplace(one).beside(oracles.laplace(other))
    return pair(LaplaceLoss(one) + LaplaceLoss(other), worlds)


def sampled_atoms(rng: random.Random) -> Case:
    rate, scale = size(rng, 0.01, 0.9), size(rng, 0.5, 9)
    ways = oracles.sampled(oracles.geometric(2, scale), rate)
    loss = GeometricLoss(2, scale).subsampled(rate)
    return loss, lambda e: max(one.delta(e) for one in ways)


def sampled_atoms_often(rng: random.Random) -> Case:
    rate, epsilon, times = size(rng, 0.05, 0.6), size(rng, 0.2, 2), rng.randint(2, 6)
    ways = [
        one.times(times) for one in oracles.sampled(oracles.response(epsilon), rate)
    ]
    loss = PureDP(epsilon).subsampled(rate) * times
    return loss, lambda e: max(one.delta(e) for one in ways)


def sampled_breach(rng: random.Random) -> Case:
    """Return a response that may fail, on a sample."""
    rate, epsilon, delta = size(rng, 0.05, 0.6), size(rng, 0.2, 2), size(rng, 1e-3, 0.1)
    worlds = breach(oracles.real(delta), oracles.real(delta))
    ways = oracles.sampled(worlds.beside(oracles.response(epsilon)), rate)
    loss = ApproxDP(epsilon, delta).subsampled(rate)
    return loss, lambda e: max(one.delta(e) for one in ways)


def sampled_gaussian(rng: random.Random) -> Case:
    rate, mu = size(rng, 0.01, 0.9), size(rng, 0.2, 2)
    ways = oracles.sampled_deltas(oracles.gaussian(mu), rate)
    return GaussianDP(mu).subsampled(rate), lambda e: max(way(e) for way in ways)


def sampled_laplace(rng: random.Random) -> Case:
    rate, ratio = size(rng, 0.01, 0.9), size(rng, 0.2, 2)
    ways = oracles.sampled_deltas(oracles.laplace(ratio), rate)
    return LaplaceLoss(ratio).subsampled(rate), lambda e: max(way(e) for way in ways)


def mixed(rng: random.Random) -> Case:
    """Return a mixture of a response and a Gaussian."""
    share, epsilon, mu = size(rng, 0.05, 0.9), size(rng, 0.2, 2), size(rng, 0.2, 2)
    first, second = oracles.response(epsilon), oracles.gaussian(mu)
    w = oracles.real(share)
    loss = mixture([(share, PureDP(epsilon)), (1 - share, GaussianDP(mu))])
    return loss, lambda e: w * first.delta(e) + (1 - w) * second.delta(e)


def thresholded_gaussian(rng: random.Random) -> Case:
    keys, chance = rng.choice([1, 2, 5, 12]), size(rng, 1e-4, 0.01)
    mu2 = size(rng, 0.05, 1)
    loss = threshold_loss(
        lambda kept: GaussianDP(f"sqrt({mu2 * kept})"), key_delta=chance, keys=keys
    )
    found = oracles.splits(keys, chance, lambda m: oracles.gaussian(f"sqrt({mu2 * m})"))
    return loss, lambda e: worst(found, e)


def thresholded_few(rng: random.Random) -> Case:
    """Return keys above a threshold of which few are noisy."""
    keys, chance, most = (
        rng.choice([3, 9, 24]),
        size(rng, 1e-4, 0.01),
        rng.randint(1, 3),
    )
    epsilon = size(rng, 0.1, 1)
    loss = threshold_loss(
        lambda kept: PureDP(epsilon * min(kept, most)), key_delta=chance, keys=keys
    )
    found = oracles.splits(
        keys, chance, lambda m: oracles.response(epsilon * min(m, most))
    )
    return loss, lambda e: worst(found, e)


def thresholded_often(rng: random.Random) -> Case:
    """Return several releases above a threshold."""
    chance, epsilon, times = size(rng, 1e-4, 0.01), size(rng, 0.2, 1), rng.randint(2, 5)
    loss = (
        threshold_loss(lambda m: PureDP(epsilon * m), key_delta=chance, keys=2) * times
    )
    found = oracles.splits(2, chance, lambda m: oracles.response(epsilon * m))
    return loss, lambda e: worst((one.times(times) for one in found), e)


FAMILIES: dict[str, Family] = {
    "pure": Family(pure, 2e-11),
    "approximate": Family(approximate, 1e-12),
    "gaussian": Family(gaussian, 1e-12),
    "laplace": Family(laplace, 1e-12),
    "geometric": Family(geometric, 3e-11),
    "discrete gaussian": Family(discrete_gaussian, 4e-12),
    "randomized response": Family(randomized_response, 2e-11),
    "bounded range": Family(bounded_range, 1e-12),
    "pure, often": Family(pure_often, 3e-11),
    "geometric, often": Family(geometric_often, 3e-10),
    "approximate, often": Family(approximate_often, 5e-12),
    "unlike atoms": Family(unlike_atoms, 5e-4),
    "discrete gaussians": Family(discrete_gaussians, 2e-4),
    "gaussian and atoms": Family(gaussian_and_atoms, 2e-4),
    "laplace and atoms": Family(laplace_and_atoms, 3e-6),
    "two laplaces": Family(two_laplaces, 5e-5),
    "sampled atoms": Family(sampled_atoms, 4e-11),
    "sampled atoms, often": Family(sampled_atoms_often, 2e-3),
    "sampled breach": Family(sampled_breach, 7e-11),
    "sampled gaussian": Family(sampled_gaussian, 2e-6),
    "sampled laplace": Family(sampled_laplace, 4e-7),
    "mixed": Family(mixed, 1e-12),
    "thresholded gaussian": Family(thresholded_gaussian, 0.2),
    "thresholded, few kept": Family(thresholded_few, 0.2),
    "thresholded, often": Family(thresholded_often, 0.8),
}


def drawn(name: str, case: int) -> tuple[Loss, Delta, list[float]]:
    """Return a loss, its truth, and epsilons: 0, beyond all, and between."""
    rng = random.Random(f"{SEED} {name} {case}")
    loss, truth = FAMILIES[name].draw(rng)
    most = float(min(loss.guarantees.epsilon, 4))
    return loss, truth, [0.0, 1.2 * most, *(most * rng.random() for _ in range(4))]
