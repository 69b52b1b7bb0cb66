"""What a budget allows each family of noise, as shares that add up.

Laplace noise and choices spend epsilon; Gaussian noise spends the square of mu. A
budget stated as a risk is turned into the largest epsilon, and the largest mu, that it
admits. Theorems in docs/proofs/queries.md, section 6.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, final

from sordino.aggregations.choices import (
    AbstractChoiceShare,
    ConcentratedChoice,
    PureChoice,
)
from sordino.aggregations.shares import AbstractShare, GaussianShare, LaplaceShare
from sordino.budgets.parameter import largest_parameter
from sordino.errors import InvalidParameter
from sordino.losses.base import Budget, Loss, compose
from sordino.losses.closed import ZCDP, ApproxDP, ApproxZCDP, GaussianDP, PureDP
from sordino.mechanisms.gaussian import Gaussian
from sordino.mechanisms.kit.threshold_fitting import SPARE
from sordino.numbers import Exact, sqrt
from sordino.planning.joint import joint_loss
from sordino.sensitivity import Sensitivity


class AbstractAllowance(ABC):
    """What one family may spend."""

    delta: Fraction
    """What is set apart for the keys of groups that are not known."""

    @abstractmethod
    def share(self, weight: Fraction, choices: Fraction) -> AbstractShare:
        """Return a part's share of additive noise, when choices take some weight."""

    @abstractmethod
    def together(
        self,
        noise: Sequence[tuple[Any, Sensitivity]],
        selection: Any,
        presence: Sensitivity | None,
    ) -> Loss:
        """Return the loss of some noise, beside a selection of keys if there is one."""

    @abstractmethod
    def choice(self, weight: Fraction) -> AbstractChoiceShare:
        """Return the share of a part that chooses among candidates."""

    @abstractmethod
    def apart(self, weight: Fraction) -> AbstractShare:
        """Return the share of additive noise that is paid apart from the other."""


@final
@dataclass(frozen=True)
class LaplaceAllowance(AbstractAllowance):
    """An epsilon for Laplace noise and choices."""

    epsilon: Exact
    delta: Fraction = Fraction(0)

    def share(self, weight: Fraction, choices: Fraction) -> LaplaceShare:
        """Return its part of the epsilon."""
        del choices
        return LaplaceShare(self.epsilon * weight)

    def together(
        self,
        noise: Sequence[tuple[Any, Sensitivity]],
        selection: Any,
        presence: Sensitivity | None,
    ) -> Loss:
        """Return the composition of all of them."""
        losses = [one.map(change) for one, change in noise]
        return compose(
            losses if selection is None else [selection.map(presence), *losses]
        )

    def choice(self, weight: Fraction) -> PureChoice:
        """Return its part of the epsilon."""
        return PureChoice(self.epsilon * weight)

    def apart(self, weight: Fraction) -> LaplaceShare:
        """Return its part of the epsilon."""
        return LaplaceShare(self.epsilon * weight)


class AbstractGaussianAllowance(AbstractAllowance):
    """What Gaussian noise may spend: its parts, and a selection, have a joint loss."""

    def together(
        self,
        noise: Sequence[tuple[Any, Sensitivity]],
        selection: Any,
        presence: Sensitivity | None,
    ) -> Loss:
        """Return the loss of Gaussian noise, jointly with a selection if any."""
        if selection is None or presence is None:
            return compose([one.map(change) for one, change in noise])
        return joint_loss(selection, presence, noise)


@final
@dataclass(frozen=True)
class ConcentratedAllowance(AbstractGaussianAllowance):
    """A rho for Gaussian noise and choices."""

    rho: Exact
    delta: Fraction = Fraction(0)

    def share(self, weight: Fraction, choices: Fraction) -> GaussianShare:
        """Return its part: mu**2 is twice rho."""
        del choices
        return GaussianShare(2 * self.rho * weight)

    def choice(self, weight: Fraction) -> ConcentratedChoice:
        """Return its part of rho."""
        return ConcentratedChoice(self.rho * weight)

    def apart(self, weight: Fraction) -> GaussianShare:
        """Return its part of rho: mu**2 is twice that."""
        return GaussianShare(2 * self.rho * weight)


@final
@dataclass(frozen=True)
class GaussianAllowance(AbstractGaussianAllowance):
    """A mu for Gaussian noise; choices spend the epsilon that some of it stands for."""

    mu: Exact
    delta: Fraction = Fraction(0)

    def share(self, weight: Fraction, choices: Fraction) -> GaussianShare:
        """Return its part of mu**2."""
        del choices
        return GaussianShare(self.mu**2 * weight)

    def choice(self, weight: Fraction) -> PureChoice:
        """Return the largest epsilon within the part of mu**2."""
        return PureChoice(largest_parameter(GaussianDP(sqrt(weight) * self.mu), PureDP))

    def apart(self, weight: Fraction) -> GaussianShare:
        """Return its part of mu**2."""
        return GaussianShare(self.mu**2 * weight)


@final
@dataclass(frozen=True)
class MixedAllowance(AbstractGaussianAllowance):
    """(epsilon, delta): epsilon for choices, and for Gaussian noise the rest and delta.

    `mu` is what Gaussian noise may have in all.
    """

    epsilon: Exact
    mu: Exact
    delta: Fraction

    def share(self, weight: Fraction, choices: Fraction) -> GaussianShare:
        """Return its part of mu**2 among the parts with additive noise."""
        return GaussianShare(self.mu**2 * weight / (1 - choices))

    def choice(self, weight: Fraction) -> PureChoice:
        """Return its part of the epsilon."""
        return PureChoice(self.epsilon * weight)

    def apart(self, weight: Fraction) -> LaplaceShare:
        """Return its part of the epsilon: delta is for Gaussian noise alone."""
        return LaplaceShare(self.epsilon * weight)


def laplace(budget: Budget) -> LaplaceAllowance | None:
    """Return what a budget allows Laplace noise, None for nothing."""
    match budget:
        case PureDP():
            return LaplaceAllowance(finite(budget, budget.epsilon))
        case ApproxDP():
            return LaplaceAllowance(finite(budget, budget.epsilon), budget.delta)
        case ApproxZCDP():
            pure = largest_parameter(ZCDP(budget.rho), PureDP)
            return LaplaceAllowance(pure, budget.delta)
        case _:
            return LaplaceAllowance(largest_parameter(budget, PureDP))


def gaussian(
    budget: Budget, choices: Fraction, mu_of: "MuOf | None"
) -> AbstractAllowance | None:
    """Return what a budget allows Gaussian noise, None for nothing.

    `choices` is the weight of parts that choose; `mu_of` finds mu where delta also pays
    for the keys of groups.
    """
    match budget:
        case PureDP():
            return None
        case ApproxDP():
            return _mixed(budget, choices, mu_of)
        case ZCDP():
            return ConcentratedAllowance(finite(budget, budget.rho))
        case ApproxZCDP():
            return ConcentratedAllowance(finite(budget, budget.rho), budget.delta)
        case GaussianDP():
            return GaussianAllowance(finite(budget, budget.mu))
        case _:
            return GaussianAllowance(largest_parameter(budget, GaussianDP))


def _mixed(
    budget: ApproxDP, choices: Fraction, mu_of: "MuOf | None"
) -> MixedAllowance | None:
    """Return epsilon for choices, and mu for Gaussian noise, if there is a delta."""
    if budget.delta == 0 or choices == 1:
        return None
    epsilon = finite(budget, budget.epsilon)
    rest = ApproxDP(epsilon * (1 - choices), budget.delta)
    mu = _mu_alone(rest) if mu_of is None else mu_of(rest)
    return MixedAllowance(epsilon, mu, budget.delta * SPARE)


@lru_cache(maxsize=64)
def _mu_alone(budget: ApproxDP) -> Exact:
    """Return the largest mu within (epsilon, delta); requests of a batch share it."""
    return 1 / Gaussian.for_loss(budget, 1).scale


MuOf = Callable[[ApproxDP], Fraction]
"""The largest mu of Gaussian noise beside a threshold, within (epsilon, delta)."""


def finite(budget: Budget, parameter: "Exact | float") -> Exact:
    """Return a parameter of a budget that noise can be bought with."""
    if isinstance(parameter, float) or parameter == 0:
        raise InvalidParameter(
            "budget", budget, "must be positive and finite", "Try sd.PureDP(1)."
        )
    return parameter
