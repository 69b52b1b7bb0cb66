"""Randomized response that may fail: the worst of all (epsilon, delta)-DP releases.

(Kairouz, Oh and Viswanath 2015.)
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import final

import numpy as np

from sordino.curves.curve import AbstractCurve, End
from sordino.curves.inverse import inverse
from sordino.curves.laws.law import AbstractLossLaw, Atoms, Laws, mirror_law
from sordino.curves.points import ELEMENTARY, Floats, grow
from sordino.curves.profile import Profile
from sordino.numbers import INFINITE, Extended, up

_FOLLOWED = 1e30
"""Losses up to this size are added up as doubles."""
_NONE = np.zeros(0)


@final
@dataclass(frozen=True, eq=False)
class ResponseCurve(AbstractCurve):
    """With probability `reserve` everything, else the truth with odds exp(limit)."""

    limit: Extended
    reserve: Fraction = Fraction(0)

    @property
    def end(self) -> End:
        """Return the limit, and the chance of failing."""
        return End(self.limit, self.reserve, self.limit is not INFINITE)

    def laws(self) -> Laws:
        """Return the law of the truth and of the lie, which serves both directions."""
        return (response_law(self.limit, self.reserve),)

    def delta(self, epsilon: Floats) -> Floats:
        """Return d + (1 - d) (1 - exp(e - limit)) / (1 + exp(-limit)), e < limit."""
        most, reserve = up(self.limit), up(self.reserve)
        if math.isinf(most):
            return np.ones_like(epsilon)
        below = np.minimum(epsilon - most, 0.0)
        inner = -np.expm1(below) / (1 + math.exp(-most))
        slack = ELEMENTARY * most * np.exp(below)
        mixed = reserve + (1 - reserve) * grow(inner + slack)
        return np.where(
            epsilon >= most, reserve, np.minimum(mixed * (1 + ELEMENTARY), 1)
        )

    def epsilon(self, delta: Floats) -> Floats:
        """Return the epsilon of the same curve, or the limit where that is less."""
        most, reserve = up(self.limit), up(self.reserve)
        if math.isinf(most):
            return np.full_like(delta, math.inf)
        epsilon = inverse(self.delta, np.maximum(delta, reserve))
        return np.where(delta < reserve, math.inf, np.minimum(epsilon, most))

    def tpr(self, alpha: Floats) -> Floats:
        """Return the two lines that meet where the rates are alike."""
        return response_profile(self.limit, self.reserve).rates(alpha)[0]

    def beta(self, alpha: Floats) -> Floats:
        """Return their mirror image."""
        return response_profile(self.limit, self.reserve).rates(alpha)[1]


@lru_cache(maxsize=1024)
def response_profile(limit: Extended, reserve: Fraction) -> Profile:
    """Return the two points that hold the whole curve: at 0 and at the limit."""
    most, least = up(limit), up(reserve)
    if math.isinf(most) or most == 0:
        return Profile(np.zeros(1), np.array([least if most == 0 else 1.0]))
    start = float(ResponseCurve(limit, reserve).delta(np.zeros(1))[0])
    return Profile(np.array([0.0, most]), np.array([start, least]))


def is_revealing(size: Extended) -> bool:
    """Tell whether a loss of this size is beyond what doubles can follow.

    For any such loss all is taken for revealed, which is more.
    """
    return up(size) > _FOLLOWED


def response_law(limit: Extended, reserve: Fraction = Fraction(0)) -> AbstractLossLaw:
    """Return the law of randomized response that fails with a chance."""
    most, least = up(limit), up(reserve)
    if is_revealing(limit) or most == 0:
        lost = least if most == 0 else 1.0
        return mirror_law(_NONE, _NONE, _NONE, lost)
    truth = (1 - least) / (1 + math.exp(-most))
    lie = truth * math.exp(-most)
    ends = np.array([-most, most])
    masses = np.array([lie, truth])
    return Atoms(ends, masses, masses[::-1].copy(), least, most)
