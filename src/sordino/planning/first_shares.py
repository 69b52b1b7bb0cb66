"""How a budget is divided between the choice of the first few groups and the rest.

Parts of a budget in one parameter add up: epsilons and deltas, rhos, squares of mu.
"""

from fractions import Fraction
from typing import NamedTuple, final

from sordino.aggregations.shares import (
    AbstractShare,
    ConcentratedShare,
    GaussianShare,
    LaplaceShare,
)
from sordino.losses.allowance import Allowance, Family
from sordino.losses.base import Loss, PureDP
from sordino.losses.closed import ZCDP, ApproxDP, ApproxZCDP, GaussianDP
from sordino.mechanisms.gaussian import Gaussian
from sordino.numbers import sqrt


@final
class FirstShares(NamedTuple):
    """What the choice may cost, and what the rest may spend for a share of 1."""

    choice: Loss
    joint: AbstractShare
    """Of measurements of the chosen groups."""
    apart: AbstractShare
    """Of choices among candidates, and coverage."""


def first_shares(
    family: Family, allowance: Allowance, choice: Fraction, columns: Fraction
) -> FirstShares:
    """Return the parts of a budget: a share for the choice, and one for the columns."""
    amount, delta = allowance.amount, allowance.delta
    if allowance.parameter == "mu":
        joint: AbstractShare = GaussianShare(amount**2)
        return FirstShares(GaussianDP(amount * sqrt(choice)), joint, joint)
    if allowance.parameter == "rho":
        joint = ConcentratedShare(2 * amount)
        rho = amount * choice
        return FirstShares(ApproxZCDP(rho, delta) if delta else ZCDP(rho), joint, joint)
    apart = LaplaceShare(amount)
    if family == "laplace" or not columns:
        return FirstShares(_epsilon_loss(amount * choice, delta), apart, apart)
    part = choice / (choice + columns)
    rest = ApproxDP(amount * columns, delta * (1 - part))
    square = Gaussian.for_loss(rest, 1).scale ** -2
    joint = GaussianShare(square / columns)
    return FirstShares(_epsilon_loss(amount * choice, delta * part), joint, apart)


def _epsilon_loss(epsilon: object, delta: Fraction) -> Loss:
    """Return the loss of an epsilon and a delta, which may be none."""
    return ApproxDP(epsilon, delta) if delta else PureDP(epsilon)
