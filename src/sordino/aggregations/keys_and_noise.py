"""The joint price of unknown keys and Gaussian noise (docs/proofs/queries.md, lemma 8).

A key that is new to the release costs the chance that it appears; a key that both
databases have costs the noise on all its numbers. One unit touches at most l0 keys, so
when j of them are new only l0 - j are left to tell the databases apart by their noise.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import starmap
from typing import final

from sordino.losses.base import Loss, PureDP
from sordino.losses.closed import ApproxDP, ApproxZCDP, GaussianDP
from sordino.losses.joint import JointLoss
from sordino.mechanisms.gaussian import Gaussian
from sordino.mechanisms.gaussian_threshold import GaussianThreshold
from sordino.mechanisms.kit.appearance import any_passes
from sordino.mechanisms.kit.change import Change
from sordino.mechanisms.kit.key_rounds import ToldNumbers
from sordino.mechanisms.kit.threshold_fitting import gaussian_ratio
from sordino.numbers import Exact, down, finite, rational_above, sqrt
from sordino.sensitivity import Sensitivity


@final
@dataclass(frozen=True)
class KeptMeasurements:
    """The loss of Gaussian noise on several numbers, by how many keys are kept."""

    measurements: tuple[tuple[Fraction, Fraction], ...]
    """(mu squared, most share of it that one key can hold)"""

    def __call__(self, keys: int) -> Loss:
        """Return the loss when so many of the changed keys are in both databases."""
        if keys == 0:
            return PureDP(0)
        squares = (
            mu * min(Fraction(1), share * keys) for mu, share in self.measurements
        )
        return GaussianDP(sqrt(sum(squares, Fraction(0))))


def joint_loss(
    selection: GaussianThreshold,
    presence: Sensitivity,
    noise: Sequence[tuple[Gaussian, Sensitivity]],
) -> JointLoss:
    """Return the joint loss of selecting keys and of the noise on their numbers."""
    apart = selection.change(presence)
    spent = [(selection.variance, presence)]
    spent += [(mechanism.variance, change) for mechanism, change in noise]
    kept = KeptMeasurements(tuple(starmap(_mu_and_share, spent)))
    rho = sum((mu for mu, _ in kept.measurements), Fraction(0)) / 2
    headline = ApproxZCDP(rho, selection.delta(apart))
    largest = rational_above(finite(presence.linf))
    chance = any_passes(selection.law, selection.threshold - largest, 1)
    return JointLoss(headline, chance, int(apart.l0), kept)


def largest_mu(
    presence: Sensitivity, noise: Sequence[Sensitivity], budget: ApproxDP
) -> Fraction:
    """Return nearly the largest mu of all noise together within (epsilon, delta).

    `noise` are the changes of all numbers that are told, those of `presence` among
    them.
    """
    shares = [_one_key(change) for change in noise]
    apart = Change(presence.l0, Fraction(1), sqrt(max(shares)))
    ratio = gaussian_ratio(apart, down(budget.epsilon), budget.delta, on_lattice=False)
    return Fraction(ratio)


def told_numbers(mechanism: Gaussian, change: Sensitivity) -> ToldNumbers:
    """Return the cost of a noise beside keys that are selected by weights."""
    return ToldNumbers(*_mu_and_share(mechanism.variance, change))


def _mu_and_share(variance: Exact, change: Sensitivity) -> tuple[Fraction, Fraction]:
    """Return mu squared of some noise, and the share that one key can hold."""
    return rational_above(finite(change.l2) ** 2 / variance), _one_key(change)


def _one_key(change: Sensitivity) -> Fraction:
    """Return how much of the squared change one key can hold."""
    return rational_above(finite(change.linf) ** 2 / finite(change.l2) ** 2)
