"""Losses of noise, each with its own tight curve beside an exact headline.

>>> LaplaceLoss("0.1").epsilon, LaplaceLoss("0.1").advantage() < 0.04878
(Fraction(1, 10), True)
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial
from typing import Any, final

from sordino import _validate
from sordino._fields import fill
from sordino.curves.curve import AbstractCurve
from sordino.curves.laplace_curve import LaplaceCurve
from sordino.curves.laws.lattices import (
    category_laws,
    discrete_gaussian_laws,
    geometric_laws,
)
from sordino.curves.table_curve import LawCurve
from sordino.losses import conversion
from sordino.losses.base import Loss
from sordino.losses.guarantees import Guarantees, pure_guarantees
from sordino.numbers import INFINITE, Exact, Extended, distance, positive
from sordino.words import Words, call, number


@final
@dataclass(frozen=True, repr=False)
class LaplaceLoss(Loss):
    """Laplace noise on one number: `epsilon` is the shift over the scale."""

    epsilon: Extended

    def __init__(self, epsilon: Any) -> None:
        """Read the ratio of shift and scale exactly."""
        fill(self, epsilon=distance(epsilon=epsilon))

    @property
    def rho(self) -> Extended:
        """Return the exact zCDP parameter, rounded up."""
        return conversion.laplace_to_rho(self.epsilon)

    @property
    def words(self) -> Words:
        """Return the name and the exact parameters."""
        return call("LaplaceLoss", epsilon=number(self.epsilon))

    @property
    def guarantees(self) -> Guarantees:
        """Return epsilon, its own rho, and the mu of its epsilon."""
        mu = conversion.pure_to_mu(self.epsilon)
        return Guarantees(self.epsilon, Fraction(0), self.rho, mu)

    @property
    def tradeoff(self) -> AbstractCurve:
        """Return the curve of Laplace noise."""
        return LaplaceCurve(self.epsilon)


@final
@dataclass(frozen=True, repr=False)
class GeometricLoss(Loss):
    """Two-sided geometric noise (discrete Laplace) on one integer."""

    shift: int
    scale: Exact

    def __init__(self, shift: Any, scale: Any) -> None:
        """Read the distance of the answers and the scale of the noise exactly."""
        steps = _validate.integer(shift=shift, least=0)
        fill(self, shift=steps, scale=positive(scale=scale))

    @property
    def epsilon(self) -> Exact:
        """Return shift / scale."""
        return Fraction(self.shift) / self.scale

    @property
    def words(self) -> Words:
        """Return the name and the exact parameters."""
        return call("GeometricLoss", shift=self.shift, scale=number(self.scale))

    @property
    def guarantees(self) -> Guarantees:
        """Return epsilon, its own rho, and the mu of its epsilon."""
        rho = conversion.geometric_to_rho(self.shift, self.scale)
        mu = conversion.pure_to_mu(self.epsilon)
        return Guarantees(self.epsilon, Fraction(0), rho, mu)

    @cached_property
    def tradeoff(self) -> LawCurve:
        """Return the curve of losses two steps of 1 / scale apart."""
        source = partial(geometric_laws, self.shift, self.scale)
        return LawCurve(source, self.guarantees.end)


@final
@dataclass(frozen=True, repr=False)
class DiscreteGaussianLoss(Loss):
    """Discrete Gaussian noise on one integer, with its exact curve.

    The curve is not that of a Gaussian of the same ratio: on a lattice it is worse.
    """

    shift: int
    variance: Exact

    def __init__(self, shift: Any, variance: Any) -> None:
        """Read the distance of the answers and the variance parameter exactly."""
        steps = _validate.integer(shift=shift, least=0)
        fill(self, shift=steps, variance=positive(variance=variance))

    @property
    def rho(self) -> Exact:
        """Return shift^2 / (2 variance)."""
        return Fraction(self.shift**2, 2) / self.variance

    @property
    def words(self) -> Words:
        """Return the name and the exact parameters."""
        return call(
            "DiscreteGaussianLoss", shift=self.shift, variance=number(self.variance)
        )

    @property
    def guarantees(self) -> Guarantees:
        """Return rho; a discrete Gaussian is not mu-GDP for mu = sqrt(2 rho)."""
        nothing = Fraction(0) if self.shift == 0 else INFINITE
        return Guarantees(nothing, Fraction(0), self.rho, nothing)

    @cached_property
    def tradeoff(self) -> LawCurve:
        """Return the curve of the lattice of losses."""
        source = partial(discrete_gaussian_laws, self.shift, self.variance)
        return LawCurve(source, self.guarantees.end)


@final
@dataclass(frozen=True, repr=False)
class RandomizedResponseLoss(Loss):
    """The truth with odds exp(epsilon) against each of the other categories."""

    epsilon: Extended
    categories: int

    def __init__(self, epsilon: Any, categories: Any = 2) -> None:
        """Read the parameters exactly."""
        fill(
            self,
            epsilon=distance(epsilon=epsilon),
            categories=_validate.integer(categories=categories, least=2),
        )

    @property
    def words(self) -> Words:
        """Return the name and the exact parameters."""
        return call(
            "RandomizedResponseLoss",
            epsilon=number(self.epsilon),
            categories=self.categories,
        )

    @property
    def guarantees(self) -> Guarantees:
        """Return epsilon, and the rho and mu that it implies."""
        return pure_guarantees(self.epsilon, Fraction(0))

    @cached_property
    def tradeoff(self) -> LawCurve:
        """Return the curve of the truth, of the other's truth, and of the rest."""
        source = partial(category_laws, self.epsilon, self.categories)
        return LawCurve(source, self.guarantees.end)
