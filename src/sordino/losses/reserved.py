"""A loss beside a small chance of total breach, kept apart so that nothing is lost.

With probability delta everything is revealed, otherwise only what the base reveals:

    delta(e) = D + (1 - D) base(e),    beta(alpha) = (1 - D) base_beta(alpha / (1 - D)).
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import final

import numpy as np
from flint import arb

from sordino.curves.laws.derived import Moved
from sordino.curves.laws.law import AbstractLossLaw
from sordino.curves.points import ELEMENTARY, Floats
from sordino.losses.base import Loss, Pieces
from sordino.losses.guarantees import Guarantees
from sordino.numbers import Extended, ball, up
from sordino.numbers.precision import precision


@final
@dataclass(frozen=True, repr=False)
class ReservedLoss(Loss):
    """A loss, and independent chances of total breach with how often each occurs."""

    base: Loss
    reserves: tuple[tuple[Fraction, int], ...]

    @cached_property
    def delta(self) -> Fraction:
        """Return the sum of the chances: the exact headline."""
        return min(sum((d * n for d, n in self.reserves), Fraction(0)), Fraction(1))

    @property
    def epsilon(self) -> Extended:
        """Return the epsilon of the base."""
        return self.base.guarantees.epsilon

    @property
    def rho(self) -> Extended:
        """Return the rho of the base."""
        return self.base.guarantees.rho

    @property
    def mu(self) -> Extended:
        """Return the mu of the base."""
        return self.base.guarantees.mu

    @property
    def guarantees(self) -> Guarantees:
        """Return those of the base, with the chances added to its reserve."""
        known = self.base.guarantees
        reserve = min(known.delta + self.delta, Fraction(1))
        return Guarantees(known.epsilon, reserve, known.rho, known.mu)

    @property
    def sums(self) -> dict[str, Extended]:
        """Return what adds up of the base, beside delta."""
        base = self.base.sums
        return {**base, "delta": self.guarantees.delta} if base else {}

    def pieces(self) -> Pieces:
        """Return the pieces of the base, and the chances besides its own."""
        parts, chances = self.base.pieces()
        for delta, times in self.reserves:
            chances = {**chances, delta: chances.get(delta, 0) + times}
        return parts, chances

    @cached_property
    def breach(self) -> float:
        """Return the chance that any of them happens, from above."""
        return joint_breach(self.reserves)

    def laws(self) -> tuple[AbstractLossLaw, ...]:
        """Return the laws of the base, each part lost with the same chance."""
        return tuple(Moved(law, self.breach, self.breach) for law in self.base.laws())

    def _delta(self, epsilon: Floats) -> Floats:
        return self._mixed(self.base.delta_at(epsilon))

    def _epsilon(self, delta: Floats) -> Floats:
        if self.breach >= 1:
            return np.full_like(delta, math.inf)
        inner = (delta * (1 - ELEMENTARY) - self.breach) / (1 - self.breach)
        found = self.base.epsilon_at(np.clip(inner, 0.0, 1.0))
        return np.where(delta < self.breach, math.inf, found)

    def _tpr(self, alpha: Floats) -> Floats:
        return self._mixed(self.base.tpr_at(self._within(alpha)))

    def _beta(self, alpha: Floats) -> Floats:
        kept = (1 - self.breach) * (1 - ELEMENTARY)
        answer: Floats = kept * self.base.beta_at(self._within(alpha))
        return answer

    def _mixed(self, inner: Floats) -> Floats:
        """Return D + (1 - D) inner."""
        return (self.breach + (1 - self.breach) * inner) * (1 + ELEMENTARY)

    def _within(self, alpha: Floats) -> Floats:
        """Return the false positive rate among the runs without a breach."""
        kept = max(1 - self.breach, 1e-300)
        return np.minimum(alpha / kept * (1 + ELEMENTARY), 1.0)


def joint_breach(reserves: tuple[tuple[Fraction, int], ...]) -> float:
    """Return 1 - prod (1 - delta)^n, rounded up.

    >>> 0.75 <= joint_breach(((Fraction(1, 2), 2),)) < 0.75001
    True
    """
    if any(delta == 1 for delta, times in reserves if times):
        return 1.0
    with precision(128):
        logs = sum(
            (times * (-ball(delta)).log1p() for delta, times in reserves), arb(0)
        )
        return min(max(up(-logs.expm1()), 0.0), 1.0)
