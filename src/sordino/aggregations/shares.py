"""Shares of a budget: what one measurement may spend, and the least noise that it buys.

Shares of one kind add up: epsilons with Laplace noise, squares of mu or rhos with
Gaussian noise (docs/proofs/queries.md, lemmas 6 and 9).

>>> half = LaplaceShare(Fraction(1)).times(Fraction(1, 2))
>>> half.integers(Sensitivity(l0=3, linf=1))
Geometric(scale=6, dtype='i64')
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, TypeAlias, final

from sordino.aggregations.keys_and_noise import joint_loss
from sordino.losses.allowance import largest_parameter
from sordino.losses.base import Loss, PureDP, compose
from sordino.losses.closed import ZCDP, GaussianDP
from sordino.mechanisms.gaussian import Gaussian
from sordino.mechanisms.gaussian_threshold import GaussianThreshold
from sordino.mechanisms.geometric import Geometric
from sordino.mechanisms.kit.threshold_fitting import fit_threshold, positive_change
from sordino.mechanisms.laplace import Laplace
from sordino.mechanisms.laplace_threshold import LaplaceThreshold
from sordino.mechanisms.noise_mechanism import AbstractAdditiveMechanism
from sordino.mechanisms.threshold_mechanism import AbstractThresholdMechanism
from sordino.numbers import Exact, finite, sqrt
from sordino.sensitivity import Sensitivity

Noise: TypeAlias = Sequence[tuple[Any, Sensitivity]]
"""Mechanisms, and how far the numbers can move that they add noise to."""


class AbstractShare(ABC):
    """What a measurement, or a choice among candidates, may spend."""

    @abstractmethod
    def times(self, factor: Fraction) -> "AbstractShare":
        """Return so much of it: parts whose factors add up to 1 add up to it."""

    @abstractmethod
    def integers(self, change: Sensitivity) -> AbstractAdditiveMechanism:
        """Return the least noise for integers that move by at most a change."""

    @abstractmethod
    def reals(self, change: Sensitivity) -> AbstractAdditiveMechanism:
        """Return the least noise for numbers on a lattice."""

    @abstractmethod
    def threshold_noise(
        self, change: Sensitivity, delta: Fraction
    ) -> AbstractThresholdMechanism:
        """Return the least noise and threshold for counts of unknown keys."""

    @abstractmethod
    def loss_of(
        self, selection: Any, presence: Sensitivity | None, noise: Noise
    ) -> Loss:
        """Return the loss of some noise, beside a selection of keys if there is one."""

    @abstractmethod
    def rate(self, change: Sensitivity, curvature: Fraction) -> Exact:
        """Return the greatest rate of a choice for each row of a change."""

    @property
    @abstractmethod
    def loss(self) -> Loss:
        """Return the loss of a choice at that rate."""


@final
@dataclass(frozen=True)
class LaplaceShare(AbstractShare):
    """An epsilon, for Laplace noise and for choices."""

    epsilon: Exact

    def times(self, factor: Fraction) -> "LaplaceShare":
        """Return so much of epsilon."""
        return LaplaceShare(self.epsilon * factor)

    def integers(self, change: Sensitivity) -> Geometric:
        """Return two-sided geometric noise: l1 / scale is epsilon."""
        return Geometric(finite(change.l1) / self.epsilon)

    def reals(self, change: Sensitivity) -> Laplace:
        """Return Laplace noise: l1 / scale is epsilon."""
        return Laplace(finite(change.l1) / self.epsilon)

    def threshold_noise(self, change: Sensitivity, delta: Fraction) -> LaplaceThreshold:
        """Return geometric noise, and the least threshold whose delta is within."""
        scale = finite(change.l1) / self.epsilon
        probe = LaplaceThreshold(scale, 1, dtype="i64")
        apart = positive_change(probe.change(change), change)
        return fit_threshold(probe, apart, delta, negative=False)

    def loss_of(
        self, selection: Any, presence: Sensitivity | None, noise: Noise
    ) -> Loss:
        """Return the composition of all of them."""
        keys = [] if selection is None else [selection.map(presence)]
        return compose([*keys, *(mechanism.map(change) for mechanism, change in noise)])

    def rate(self, change: Sensitivity, curvature: Fraction) -> Exact:
        """Return epsilon over the rows of a unit: the rates of all rows add up."""
        del curvature
        return self.epsilon / finite(change.l1)

    @property
    def loss(self) -> PureDP:
        """Return epsilon."""
        return PureDP(self.epsilon)


class AbstractGaussianShare(AbstractShare):
    """A square of mu, for Gaussian noise.

    Noise for integers is continuous and the sum is rounded afterwards, so that its loss
    is exactly that of the Gaussian (lemma 6). A selection of keys and the noise beside
    it have a joint loss (lemma 8).
    """

    mu_squared: Exact

    def integers(self, change: Sensitivity) -> Gaussian:
        """Return continuous Gaussian noise: (l2 / sigma)**2 is the share."""
        return self.reals(change)

    def reals(self, change: Sensitivity) -> Gaussian:
        """Return continuous Gaussian noise: (l2 / sigma)**2 is the share."""
        return Gaussian(variance=finite(change.l2) ** 2 / self.mu_squared)

    def threshold_noise(
        self, change: Sensitivity, delta: Fraction
    ) -> GaussianThreshold:
        """Return Gaussian noise, and the least threshold whose delta is within."""
        variance = finite(change.l2) ** 2 / self.mu_squared
        probe = GaussianThreshold(variance=variance, threshold=1)
        apart = positive_change(probe.change(change), change)
        return fit_threshold(probe, apart, delta, negative=False)

    def loss_of(
        self, selection: Any, presence: Sensitivity | None, noise: Noise
    ) -> Loss:
        """Return the loss of Gaussian noise, jointly with a selection if any."""
        if selection is None or presence is None:
            return compose([mechanism.map(change) for mechanism, change in noise])
        return joint_loss(selection, presence, noise)


@final
@dataclass(frozen=True)
class GaussianShare(AbstractGaussianShare):
    """A square of mu; a choice spends the largest epsilon that it stands for."""

    mu_squared: Exact

    def times(self, factor: Fraction) -> "GaussianShare":
        """Return so much of the square."""
        return GaussianShare(self.mu_squared * factor)

    @property
    def loss(self) -> PureDP:
        """Return the largest epsilon within mu."""
        return PureDP(self._epsilon)

    @cached_property
    def _epsilon(self) -> Fraction:
        return largest_parameter(GaussianDP(sqrt(self.mu_squared)), PureDP)

    def rate(self, change: Sensitivity, curvature: Fraction) -> Exact:
        """Return the rate that this epsilon buys."""
        return LaplaceShare(self._epsilon).rate(change, curvature)


@final
@dataclass(frozen=True)
class ConcentratedShare(AbstractGaussianShare):
    """A square of mu, standing for half as much rho, which choices can spend too."""

    mu_squared: Exact

    def times(self, factor: Fraction) -> "ConcentratedShare":
        """Return so much of it."""
        return ConcentratedShare(self.mu_squared * factor)

    def rate(self, change: Sensitivity, curvature: Fraction) -> Exact:
        """Return the root of rho over the squared rows: squares of rates add up."""
        return sqrt(self.mu_squared / 2 / curvature) / finite(change.l2)

    @property
    def loss(self) -> ZCDP:
        """Return rho."""
        return ZCDP(self.mu_squared / 2)
