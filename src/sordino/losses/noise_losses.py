"""Losses of noise, each with its own tight curve beside an exact headline.

>>> LaplaceLoss("0.1").epsilon, LaplaceLoss("0.1").advantage() < 0.04878
(Fraction(1, 10), True)
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, final

import numpy as np

from sordino import _validate
from sordino.curves import forms
from sordino.curves.coarseness import kept
from sordino.curves.convolution.convolution import Convolution
from sordino.curves.laws.law import (
    DEPTH,
    REACH,
    AbstractLossLaw,
    Atoms,
    GeometricLaw,
    LaplaceLaw,
)
from sordino.curves.points import ELEMENTARY, Floats
from sordino.losses import conversion
from sordino.losses.base import Loss
from sordino.losses.guarantees import Guarantees, pure_guarantees
from sordino.losses.tabled import AbstractTabledLoss
from sordino.numbers import INFINITE, Exact, Extended, distance, positive, sqrt, up
from sordino.words import Words, call, number

_MOST_ATOMS = 1 << 18
_LEAST_MARGIN = 1e-14
_FAINTEST = 760.0
"""Beyond this exponent a mass is 0 in doubles."""

_STEEPEST = 600.0


@final
@dataclass(frozen=True, repr=False)
class LaplaceLoss(Loss):
    """Laplace noise on one number: `epsilon` is the shift over the scale."""

    epsilon: Extended

    def __init__(self, epsilon: Any) -> None:
        """Read the ratio of shift and scale exactly."""
        object.__setattr__(self, "epsilon", distance(epsilon=epsilon))

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

    def laws(self) -> tuple[AbstractLossLaw, ...]:
        """Return the law with atoms at both ends and an exponential between."""
        ratio = up(self.epsilon)
        if ratio == 0 or math.isinf(ratio):
            return (forms.response(self.epsilon, Fraction(0)),)
        return (LaplaceLaw(ratio),)

    def _delta(self, epsilon: Floats) -> Floats:
        """Return 1 - exp((e - ratio) / 2) below the ratio."""
        ratio = up(self.epsilon)
        if math.isinf(ratio):
            return np.ones_like(epsilon)
        gap = np.minimum(epsilon - ratio, 0.0) / 2
        return -np.expm1(gap) * (1 + ELEMENTARY)

    def _epsilon(self, delta: Floats) -> Floats:
        """Return ratio + 2 ln(1 - delta)."""
        ratio = up(self.epsilon)
        if math.isinf(ratio):
            return np.full_like(delta, math.inf)
        with np.errstate(divide="ignore"):
            found = ratio + 2 * np.log1p(-delta) * (1 - ELEMENTARY)
        return np.where(delta > 0, found + ELEMENTARY * ratio, ratio)

    def _tpr(self, alpha: Floats) -> Floats:
        """Return exp(ratio) alpha, beyond exp(-ratio)/2 what `_beta` leaves if less.

        Before that beta is near 1, and one minus it would have lost the small digits.
        """
        ratio = up(self.epsilon)
        if ratio > _STEEPEST:
            return np.ones_like(alpha)
        margin = ELEMENTARY * (1 + ratio / 24)
        first = math.exp(ratio) * (1 + margin) * alpha
        small = 2 * alpha <= math.exp(-ratio) * (1 + margin)
        return np.where(small, first, np.minimum(first, 1 - self._beta(alpha)))

    def _beta(self, alpha: Floats) -> Floats:
        """Return 1 - exp(ratio) alpha, then exp(-ratio)/(4 alpha), then the mirror."""
        ratio = up(self.epsilon)
        if ratio > _STEEPEST:
            return np.zeros_like(alpha)
        margin = ELEMENTARY * (1 + ratio / 24)
        shrink, growth = math.exp(-ratio) * (1 - margin), math.exp(ratio) * (1 + margin)
        first, last = 1 - growth * alpha, shrink * (1 - alpha)
        middle = shrink / (4 * np.maximum(alpha, shrink / 2)) * (1 - ELEMENTARY)
        found = np.where(alpha >= 0.5, last, middle)
        return np.maximum(np.where(2 * alpha <= shrink, first, found), 0.0)


@final
@dataclass(frozen=True, repr=False)
class GeometricLoss(AbstractTabledLoss):
    """Two-sided geometric noise (discrete Laplace) on one integer."""

    shift: int
    scale: Exact

    def __init__(self, shift: Any, scale: Any) -> None:
        """Read the distance of the answers and the scale of the noise exactly."""
        object.__setattr__(self, "shift", _validate.integer(shift=shift, least=0))
        object.__setattr__(self, "scale", positive(scale=scale))

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

    def laws(self) -> tuple[AbstractLossLaw, ...]:
        """Return the law of losses two steps of 1 / scale apart."""
        if self.shift == 0:
            return (forms.response(Fraction(0), Fraction(0)),)
        return (GeometricLaw(self.shift, up(1 / self.scale)),)

    @kept
    def convolutions(self) -> tuple[Convolution, ...]:
        """Return the law alone."""
        return (Convolution(((self.laws()[0], 1),)),)


@final
@dataclass(frozen=True, repr=False)
class DiscreteGaussianLoss(AbstractTabledLoss):
    """Discrete Gaussian noise on one integer, with its exact curve.

    The curve is not that of a Gaussian of the same ratio: on a lattice it is worse.
    """

    shift: int
    variance: Exact

    def __init__(self, shift: Any, variance: Any) -> None:
        """Read the distance of the answers and the variance parameter exactly."""
        object.__setattr__(self, "shift", _validate.integer(shift=shift, least=0))
        object.__setattr__(self, "variance", positive(variance=variance))

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

    def laws(self) -> tuple[AbstractLossLaw, ...]:
        """Return the lattice of losses; for very wide noise the curve of rho."""
        if self.shift == 0:
            return (forms.response(Fraction(0), Fraction(0)),)
        if up(sqrt(self.variance)) * (DEPTH + REACH) > _MOST_ATOMS:
            return forms.zcdp_laws(self.rho)
        return (self._lattice(),)

    @property
    def _margin(self) -> float:
        """Return a bound on the relative error of the masses of the lattice.

        An exponent u is off by u units of the variance's rounding to a double, and by
        u units of a long double for its own square and division: on some platforms
        that is a plain double, so its size is asked for. exp and the pairwise sum of
        the weights add less than 64 units.
        """
        sigma = math.sqrt(up(self.variance))
        most = min((REACH + (self.shift + 1) / sigma) ** 2 / 2, _FAINTEST)
        double = float(np.finfo(np.float64).eps)
        wide = float(np.finfo(np.longdouble).eps)
        return max(_LEAST_MARGIN, most * double + (2 * most + 64) * wide)

    def _lattice(self) -> AbstractLossLaw:
        """Return (2 d x - d^2) / (2 variance) at integers x, with its masses."""
        variance, d = up(self.variance), self.shift
        sigma = math.sqrt(variance)
        x = np.arange(math.floor(-DEPTH * sigma), math.ceil(REACH * sigma) + d + 1)
        wide = x.astype(np.longdouble)
        p = np.exp(-((wide - d) ** 2) / (2 * np.longdouble(variance)))
        q = np.exp(-(wide**2) / (2 * np.longdouble(variance)))
        reach = np.arange(-math.ceil(40 * sigma) - 1, math.ceil(40 * sigma) + 2)
        weight = np.exp(
            -(reach.astype(np.longdouble) ** 2) / (2 * np.longdouble(variance))
        )
        whole = weight.sum()
        unit = d * (1 if d % 2 else 2) / (2 * variance)
        losses = ((2 * x - d) * d) / (2 * variance)
        beyond = float(
            np.exp(-(np.longdouble(x[-1] - d) ** 2) / (2 * np.longdouble(variance)))
        )
        return Atoms(
            losses,
            (p / whole).astype(np.float64),
            (q / whole).astype(np.float64),
            beyond,
            unit,
            self._margin,
        )

    @kept
    def convolutions(self) -> tuple[Convolution, ...]:
        """Return the law alone."""
        return (Convolution(((self.laws()[0], 1),)),)


@final
@dataclass(frozen=True, repr=False)
class RandomizedResponseLoss(AbstractTabledLoss):
    """The truth with odds exp(epsilon) against each of the other categories."""

    epsilon: Extended
    categories: int

    def __init__(self, epsilon: Any, categories: Any = 2) -> None:
        """Read the parameters exactly."""
        object.__setattr__(self, "epsilon", distance(epsilon=epsilon))
        count = _validate.integer(categories=categories, least=2)
        object.__setattr__(self, "categories", count)

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

    def laws(self) -> tuple[AbstractLossLaw, ...]:
        """Return the losses of the truth, of the other's truth, and of the rest."""
        most = up(self.epsilon)
        if most == 0 or math.isinf(most):
            return (forms.response(self.epsilon, Fraction(0)),)
        truth = 1 / (1 + (self.categories - 1) * math.exp(-most))
        lie = truth * math.exp(-most)
        masses = np.array([lie, (self.categories - 2) * lie, truth])
        losses = np.array([-most, 0.0, most])
        return (Atoms(losses, masses, masses[::-1].copy(), 0.0, most),)

    @kept
    def convolutions(self) -> tuple[Convolution, ...]:
        """Return the law alone."""
        return (Convolution(((self.laws()[0], 1),)),)
