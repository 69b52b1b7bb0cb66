"""The curve between N(0, 1) and N(mu, 1)."""

from dataclasses import dataclass
from fractions import Fraction
from typing import final

import numpy as np

from sordino.curves import normal
from sordino.curves.curve import AbstractCurve, End
from sordino.curves.inverse import inverse
from sordino.curves.laws.law import GaussianLaw, Laws
from sordino.curves.points import Floats
from sordino.curves.response import is_revealing, response_law
from sordino.numbers import INFINITE, Extended, up


@final
@dataclass(frozen=True, eq=False)
class GaussianCurve(AbstractCurve):
    """No worse than telling N(0, 1) from N(mu, 1)."""

    mu: Extended

    @property
    def end(self) -> End:
        """Return that only a mu of 0 has an epsilon."""
        epsilon = Fraction(0) if self.mu == 0 else INFINITE
        return End(epsilon, Fraction(0), self.mu is not INFINITE)

    def laws(self) -> Laws:
        """Return the normal law of the loss."""
        if self.mu == 0:
            return (response_law(Fraction(0)),)
        if is_revealing(self.mu):
            return (response_law(INFINITE),)
        return (GaussianLaw(up(self.mu)),)

    def delta(self, epsilon: Floats) -> Floats:
        """Return the normal curve, enclosed."""
        if self.mu is INFINITE or self.mu == 0:
            return np.full_like(epsilon, float(self.mu != 0))
        return normal.gaussian_delta(self.mu, epsilon)

    def epsilon(self, delta: Floats) -> Floats:
        """Return where delta is seen to be met."""
        return inverse(self.delta, delta)

    def tpr(self, alpha: Floats) -> Floats:
        """Return Phi(mu - z) at the quantile z of alpha, enclosed."""
        if self.mu is INFINITE or self.mu == 0:
            return alpha if self.mu == 0 else np.ones_like(alpha)
        return normal.gaussian_tpr(self.mu, alpha)

    def beta(self, alpha: Floats) -> Floats:
        """Return Phi(z - mu) at the quantile z of alpha, enclosed."""
        if self.mu is INFINITE or self.mu == 0:
            return 1 - alpha if self.mu == 0 else np.zeros_like(alpha)
        return normal.gaussian_beta(self.mu, alpha)
