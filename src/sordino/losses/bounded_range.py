"""The loss of a choice by scores: losses of all outcomes lie within a range.

Whichever outcomes are told apart, the odds of a guess change by a factor of at most
exp(epsilon). That is half of what epsilon-DP alone allows: exp(epsilon) up and
exp(-epsilon) down may not both occur in one pair of databases.

>>> BoundedRangeLoss(1).rho, BoundedRangeLoss(1).advantage() < 0.24492
(Fraction(1, 8), True)
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, final

import numpy as np

from sordino.curves import forms
from sordino.curves.laws.law import AbstractLossLaw, cells
from sordino.curves.points import ELEMENTARY, Floats, grow, shrink
from sordino.losses import conversion
from sordino.losses.base import Loss
from sordino.losses.guarantees import Guarantees
from sordino.losses.spending import Family, Spending, finite_parameter
from sordino.numbers import INFINITE, Extended, distance, product, up
from sordino.words import Words, call, number

_SMALLEST = 5e-324


@final
@dataclass(frozen=True, repr=False)
class BoundedRangeLoss(Loss):
    """The odds of any guess change by a factor of at most exp(epsilon).

    For any two neighbouring databases and any event S, with probabilities p and q:
    p (1 - q) <= exp(epsilon) q (1 - p). The exponential mechanism is of this kind.
    """

    epsilon: Extended
    gains_by_rho: ClassVar[bool] = True

    def __init__(self, epsilon: Any) -> None:
        """Read the parameter exactly."""
        object.__setattr__(self, "epsilon", distance(epsilon=epsilon))

    @property
    def rho(self) -> Extended:
        """Return epsilon**2 / 8, or what epsilon alone implies where that is less."""
        implied = conversion.pure_to_rho(self.epsilon)
        if self.epsilon is INFINITE:
            return implied
        return min(self.epsilon**2 / 8, implied)

    @property
    def words(self) -> Words:
        """Return the name and the exact parameters."""
        return call("BoundedRangeLoss", epsilon=number(self.epsilon))

    @property
    def guarantees(self) -> Guarantees:
        """Return epsilon, rho, and the mu of the two rates that are alike."""
        half = product(Fraction(1, 2), self.epsilon)
        mu = conversion.pure_to_mu(half)
        return Guarantees(self.epsilon, Fraction(0), self.rho, mu)

    def laws(self) -> tuple[AbstractLossLaw, ...]:
        """Return the law with this curve, which serves both directions."""
        ratio = up(self.epsilon)
        if ratio == 0 or math.isinf(ratio):
            return (forms.response(self.epsilon, Fraction(0)),)
        return (BoundedRangeLaw(ratio),)

    def admits(self, loss: Loss) -> bool:
        """Say whether a loss certainly lies in this range: a lesser one, or half pure.

        Composed ranges do not add up when a later choice depends on earlier answers.
        """
        given = loss.guarantees
        if isinstance(loss, BoundedRangeLoss):
            return loss.epsilon <= self.epsilon
        return given.delta == 0 and given.epsilon <= self.epsilon / 2

    def spending(self, family: Family) -> Spending | None:
        """Return half of epsilon for Laplace noise, and nothing for Gaussian noise."""
        if family == "gaussian":
            return None
        return Spending("epsilon", finite_parameter(self, self.epsilon) / 2)

    def _delta(self, epsilon: Floats) -> Floats:
        """Return (1 - exp((e - ratio) / 2))**2 / (1 - exp(-ratio)) below the ratio."""
        ratio = up(self.epsilon)
        if ratio == 0 or math.isinf(ratio):
            return np.full_like(epsilon, float(ratio > 0))
        short = -np.expm1(np.minimum(epsilon - ratio, 0.0) / 2)
        return grow(short**2 / -math.expm1(-ratio))

    def _epsilon(self, delta: Floats) -> Floats:
        """Return ratio + 2 ln(1 - sqrt(delta (1 - exp(-ratio))))."""
        ratio = up(self.epsilon)
        if math.isinf(ratio):
            return np.full_like(delta, math.inf)
        short = shrink(np.sqrt(delta * -math.expm1(-ratio)))
        with np.errstate(divide="ignore"):
            found = ratio + 2 * np.log1p(-short) * (1 - ELEMENTARY)
        return np.where(delta > 0, found + ELEMENTARY * ratio, ratio)

    def _tpr(self, alpha: Floats) -> Floats:
        """Return alpha / (alpha + exp(-ratio) (1 - alpha))."""
        least = math.exp(-up(self.epsilon))
        if least == 0:
            return np.ones_like(alpha)
        missed = shrink(least * (1 - alpha))
        return grow(alpha / np.maximum(alpha + missed, _SMALLEST))

    def _beta(self, alpha: Floats) -> Floats:
        """Return exp(-ratio) (1 - alpha) / (alpha + exp(-ratio) (1 - alpha))."""
        missed = shrink(math.exp(-up(self.epsilon)) * (1 - alpha))
        return shrink(missed / np.maximum(alpha + missed, _SMALLEST))


@final
@dataclass(frozen=True)
class BoundedRangeLaw(AbstractLossLaw):
    """The pair with this curve: density of the loss exp(l/2) under P, within `ratio`.

    It dominates every bounded-range pair: see docs/proofs/selection.md, section 1.
    """

    ratio: float
    margin: float = ELEMENTARY
    step: float = 0.0
    held: int = 0

    @property
    def deviation(self) -> float:
        """Return about the standard deviation, and at most that of the long part."""
        return min(self.ratio, 2.0)

    @property
    def anchor(self) -> float:
        """Return the greatest loss."""
        return self.ratio

    @property
    def span(self) -> tuple[float, float]:
        """Return the range of the loss."""
        return -self.ratio, self.ratio

    def masses(self, edges: Floats) -> tuple[Floats, Floats]:
        """Return the masses from the closed tails; Q is the reflection of P."""
        inside = np.clip(edges, -self.ratio, self.ratio)
        p = cells(self._above(inside), self._below(inside))
        return p, cells(self._below(-inside), self._above(-inside))

    def _above(self, loss: Floats) -> Floats:
        """Return P[L >= loss] = (1 - exp((loss - ratio)/2)) / (1 - exp(-ratio))."""
        return np.expm1((loss - self.ratio) / 2) / math.expm1(-self.ratio)

    def _below(self, loss: Floats) -> Floats:
        """Return P[L < loss], the rest, without a difference of near numbers."""
        rest = np.expm1(-(loss + self.ratio) / 2) / math.expm1(-self.ratio)
        return np.exp((loss - self.ratio) / 2) * rest
