"""The loss of a choice by scores: losses of all outcomes lie within a range.

Whichever outcomes are told apart, the odds of a guess change by a factor of at most
exp(epsilon). That is half of what epsilon-DP alone allows: exp(epsilon) up and
exp(-epsilon) down may not both occur in one pair of databases.

>>> BoundedRangeLoss(1).rho, BoundedRangeLoss(1).advantage() < 0.24492
(Fraction(1, 8), True)
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, final

from sordino._fields import fill
from sordino.curves.curve import AbstractCurve
from sordino.curves.range_curve import RangeCurve
from sordino.losses import conversion
from sordino.losses.allowance import Allowance, Family, finite_parameter
from sordino.losses.base import Loss
from sordino.losses.guarantees import Guarantees
from sordino.numbers import INFINITE, Extended, distance, product
from sordino.words import Words, call, number


@final
@dataclass(frozen=True, repr=False)
class BoundedRangeLoss(Loss):
    """The odds of any guess change by a factor of at most exp(epsilon).

    For any two neighbouring databases and any event S, with probabilities p and q:
    p (1 - q) <= exp(epsilon) q (1 - p). The exponential mechanism is of this kind.
    """

    epsilon: Extended

    def __init__(self, epsilon: Any) -> None:
        """Read the parameter exactly."""
        fill(self, epsilon=distance(epsilon=epsilon))

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

    @property
    def tradeoff(self) -> AbstractCurve:
        """Return the curve of all losses within the range."""
        return RangeCurve(self.epsilon)

    def admits(self, loss: Loss) -> bool:
        """Say whether a loss certainly lies in this range: a lesser one, or half pure.

        Composed ranges do not add up when a later choice depends on earlier answers.
        """
        guarantees = loss.guarantees
        if isinstance(loss, BoundedRangeLoss):
            return loss.epsilon <= self.epsilon
        return guarantees.delta == 0 and guarantees.epsilon <= self.epsilon / 2

    def allowance(self, family: Family) -> Allowance | None:
        """Return half of epsilon for Laplace noise, and nothing for Gaussian noise."""
        if family == "gaussian":
            return None
        return Allowance("epsilon", finite_parameter(self, self.epsilon) / 2)
