"""The two families of noise, as shares of a budget: what a part may spend, and buys.

Shares of one family add up: epsilons in the Laplace family, squares of mu in the
Gaussian one (docs/proofs/queries.md, lemma 6).
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import final

from sordino.mechanisms.gaussian import Gaussian
from sordino.mechanisms.gaussian_threshold import GaussianThreshold
from sordino.mechanisms.geometric import Geometric
from sordino.mechanisms.kit.threshold_fitting import changed
from sordino.mechanisms.laplace import Laplace
from sordino.mechanisms.laplace_threshold import LaplaceThreshold
from sordino.mechanisms.noise_mechanism import AbstractAdditiveMechanism
from sordino.mechanisms.threshold_mechanism import (
    AbstractThresholdMechanism,
    with_threshold,
)
from sordino.numbers import Exact
from sordino.sensitivity import Sensitivity


class AbstractShare(ABC):
    """What one part of a release may spend on additive noise."""

    @abstractmethod
    def integers(self, change: Sensitivity) -> AbstractAdditiveMechanism:
        """Return the least noise for integers that move by at most a change."""

    @abstractmethod
    def reals(self, change: Sensitivity) -> AbstractAdditiveMechanism:
        """Return the least noise for numbers on a lattice."""

    @abstractmethod
    def thresholded(
        self, change: Sensitivity, delta: Fraction
    ) -> AbstractThresholdMechanism:
        """Return the least noise and threshold for counts of unknown keys."""


@final
@dataclass(frozen=True)
class LaplaceShare(AbstractShare):
    """A share of Laplace noise: its epsilon."""

    epsilon: Exact

    def integers(self, change: Sensitivity) -> Geometric:
        """Return two-sided geometric noise: l1 / scale is epsilon."""
        return Geometric(bounded(change.l1) / self.epsilon)

    def reals(self, change: Sensitivity) -> Laplace:
        """Return Laplace noise: l1 / scale is epsilon."""
        return Laplace(bounded(change.l1) / self.epsilon)

    def thresholded(self, change: Sensitivity, delta: Fraction) -> LaplaceThreshold:
        """Return geometric noise, and the least threshold whose delta is within."""
        scale = bounded(change.l1) / self.epsilon
        probe = LaplaceThreshold(scale, 1, dtype="i64")
        apart = changed(probe.change(change), change)
        return with_threshold(probe, apart, delta, negative=False)


@final
@dataclass(frozen=True)
class GaussianShare(AbstractShare):
    """A share of Gaussian noise: the square of its mu.

    Noise for integers is continuous and the sum is rounded afterwards, so that its loss
    is exactly that of the Gaussian (lemma 6).
    """

    mu_squared: Exact

    def integers(self, change: Sensitivity) -> Gaussian:
        """Return continuous Gaussian noise: (l2 / sigma)**2 is the share."""
        return self.reals(change)

    def reals(self, change: Sensitivity) -> Gaussian:
        """Return continuous Gaussian noise: (l2 / sigma)**2 is the share."""
        return Gaussian(variance=bounded(change.l2) ** 2 / self.mu_squared)

    def thresholded(self, change: Sensitivity, delta: Fraction) -> GaussianThreshold:
        """Return Gaussian noise, and the least threshold whose delta is within."""
        variance = bounded(change.l2) ** 2 / self.mu_squared
        probe = GaussianThreshold(variance=variance, threshold=1)
        apart = changed(probe.change(change), change)
        return with_threshold(probe, apart, delta, negative=False)


def bounded(norm: "Exact | float") -> Exact:
    """Return a norm of a change that is known to be finite."""
    assert not isinstance(norm, float)  # noqa: S101 every part bounds its change
    return norm
