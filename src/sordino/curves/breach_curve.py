"""A curve beside a small chance of total breach, kept apart so that nothing is lost.

With probability D everything is revealed, otherwise only what the base reveals:

    delta(e) = D + (1 - D) base(e),    beta(alpha) = (1 - D) base_beta(alpha / (1 - D)).
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import final

import numpy as np
from flint import arb

from sordino.curves.curve import UNKNOWN, AbstractCurve, End
from sordino.curves.laws.derived import MovedLaw
from sordino.curves.laws.law import Laws
from sordino.curves.points import ELEMENTARY, Floats
from sordino.numbers import ball, up
from sordino.numbers.precision import precision


@final
@dataclass(frozen=True, eq=False)
class BreachCurve(AbstractCurve):
    """With probability `breach` everything, else what the base reveals."""

    base: AbstractCurve
    breach: float
    end: End = UNKNOWN

    def laws(self) -> Laws:
        """Return the laws of the base, each lost with the same chance."""
        return tuple(
            MovedLaw(law, self.breach, self.breach) for law in self.base.laws()
        )

    def delta(self, epsilon: Floats) -> Floats:
        """Return D + (1 - D) base(e)."""
        return self._mix(self.base.delta_at(epsilon))

    def epsilon(self, delta: Floats) -> Floats:
        """Return the epsilon of the base at what D leaves."""
        if self.breach >= 1:
            return np.full_like(delta, math.inf)
        inner = (delta * (1 - ELEMENTARY) - self.breach) / (1 - self.breach)
        epsilon = self.base.epsilon_at(np.clip(inner, 0.0, 1.0))
        return np.where(delta < self.breach, math.inf, epsilon)

    def tpr(self, alpha: Floats) -> Floats:
        """Return D + (1 - D) of the rate among the runs without a breach."""
        return self._mix(self.base.tpr_at(self._inner_rate(alpha)))

    def beta(self, alpha: Floats) -> Floats:
        """Return 1 - D of the rate among the runs without a breach."""
        whole = (1 - self.breach) * (1 - ELEMENTARY)
        answer: Floats = whole * self.base.beta_at(self._inner_rate(alpha))
        return answer

    def _mix(self, inner: Floats) -> Floats:
        """Return D + (1 - D) inner."""
        return (self.breach + (1 - self.breach) * inner) * (1 + ELEMENTARY)

    def _inner_rate(self, alpha: Floats) -> Floats:
        """Return the false positive rate among the runs without a breach."""
        whole = max(1 - self.breach, 1e-300)
        return np.minimum(alpha / whole * (1 + ELEMENTARY), 1.0)


def joint_breach(chances: tuple[tuple[Fraction, int], ...]) -> float:
    """Return 1 - prod (1 - chance)^n, rounded up.

    >>> 0.75 <= joint_breach(((Fraction(1, 2), 2),)) < 0.75001
    True
    """
    if any(chance == 1 for chance, times in chances if times):
        return 1.0
    with precision(128):
        logs = sum(
            (times * (-ball(chance)).log1p() for chance, times in chances), arb(0)
        )
        return min(max(up(-logs.expm1()), 0.0), 1.0)
