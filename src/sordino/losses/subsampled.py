"""A release computed on a Poisson sample: each privacy unit is kept with chance q.

Removing a unit compares (1-q) Q + q P with Q; adding one compares P with (1-q) P + q Q.
The two curves differ, and both are kept (Zhu, Dong and Wang 2022).
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, final

from sordino.curves.coarseness import kept
from sordino.curves.convolution.convolution import Convolution, both_ways
from sordino.curves.laws.derived import Sampled, SampledAdding
from sordino.curves.laws.law import AbstractLossLaw
from sordino.losses import conversion
from sordino.losses.base import Loss
from sordino.losses.closed import PureDP
from sordino.losses.guarantees import Guarantees
from sordino.losses.tabled import AbstractTabledLoss
from sordino.numbers import INFINITE, Extended, ball, probability, up
from sordino.numbers.precision import precision


@final
@dataclass(frozen=True, repr=False)
class SubsampledLoss(AbstractTabledLoss):
    """The loss of one release on a Poisson sample, by both directions."""

    base: Loss
    rate: Fraction

    @cached_property
    def epsilon(self) -> Extended:
        """Return ln(1 + q (exp(epsilon) - 1)), rounded up."""
        whole = self.base.guarantees.epsilon
        if whole is INFINITE:
            return INFINITE
        with precision(192):
            top = up((ball(self.rate) * ball(whole).expm1()).log1p())
        return min(whole, Fraction(top)) if math.isfinite(top) else whole

    @property
    def guarantees(self) -> Guarantees:
        """Return the amplified epsilon beside q delta, and what epsilon implies."""
        rho = conversion.pure_to_rho(self.epsilon)
        mu = conversion.pure_to_mu(self.epsilon)
        return Guarantees(self.epsilon, self.rate * self.base.guarantees.delta, rho, mu)

    def laws(self) -> tuple[AbstractLossLaw, ...]:
        """Return the law of removing a unit, and of adding one."""
        found, rate = self.base.laws(), up(self.rate)
        return Sampled(found[0], rate), SampledAdding(found[-1], rate)

    @kept
    def convolutions(self) -> tuple[Convolution, ...]:
        """Return each direction alone."""
        return both_ways([((law, 1),) for law in self.laws()])


def subsample(loss: Loss, q: Any) -> Loss:
    """Return the loss on a Poisson sample of rate q."""
    rate = probability(q=q)
    if rate == 0:
        return PureDP(0)
    # a sample of nearly all costs no more than all: delta is convex in the pair of laws
    return loss if up(rate) == 1 else SubsampledLoss(loss, rate)
