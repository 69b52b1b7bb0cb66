"""Curves of several cases: the worst of them, or one of them by public chances.

Each is a formula for delta; the rates follow from bounds at many epsilons.
"""

from abc import abstractmethod
from copy import copy
from dataclasses import dataclass
from typing import final

import numpy as np

from sordino.curves.coarseness import grid_property
from sordino.curves.curve import UNKNOWN, AbstractCurve, End
from sordino.curves.inverse import inverse
from sordino.curves.laws.derived import MixtureLaw
from sordino.curves.laws.law import Laws
from sordino.curves.points import ELEMENTARY, Floats
from sordino.curves.profile import Profile, symmetric

_POINTS = 1200
FURTHEST = 700.0
"""An epsilon beyond any use."""
LEAST_DELTA = 1e-40
"""Beyond where delta is this, bounds say nothing that anyone asks."""


class AbstractCaseCurve(AbstractCurve):
    """A curve that is known by its delta; its rates come from bounds at epsilons."""

    @abstractmethod
    def reach(self) -> float:
        """Return an epsilon beyond which delta is next to nothing."""

    @grid_property
    def profile(self) -> Profile:
        """Return the bounds on a fine range of epsilons."""
        points = np.linspace(0.0, min(self.reach(), FURTHEST), _POINTS)
        return Profile.of(points, self.delta(points))

    def laws(self) -> Laws:
        """Return the law of the profile, which is not kept for it."""
        return (symmetric(copy(self).profile),)

    def tpr(self, alpha: Floats) -> Floats:
        """Return the rate by the bounds on delta."""
        return self.profile.rates(alpha)[0]

    def beta(self, alpha: Floats) -> Floats:
        """Return the rate by the bounds on delta."""
        return self.profile.rates(alpha)[1]


@final
@dataclass(frozen=True, eq=False)
class ThresholdCurve(AbstractCaseCurve):
    """The greatest over cases of D + (1 - D) case(e + shift), D the chance of breach.

    docs/proofs/losses.md; a case is (breach, shift, curve).
    """

    cases: tuple[tuple[float, float, AbstractCurve], ...]
    end: End = UNKNOWN

    def reach(self) -> float:
        """Return how far the cases reach, with their shifts."""
        return max(
            float(curve.epsilon_at(LEAST_DELTA)) + abs(shift)
            for _, shift, curve in self.cases
        )

    def delta(self, epsilon: Floats) -> Floats:
        """Return the greatest delta of the cases."""
        greatest = np.zeros_like(epsilon)
        for breach, shift, curve in self.cases:
            moved = epsilon + shift - ELEMENTARY * (abs(shift) + epsilon)
            inner = curve.delta_at(np.where(np.isinf(epsilon), epsilon, moved))
            greatest = np.maximum(greatest, breach + (1 - breach) * inner)
        return np.minimum(greatest * (1 + ELEMENTARY), 1.0)

    def epsilon(self, delta: Floats) -> Floats:
        """Return where delta is seen to be met."""
        return inverse(self.delta, delta)


@final
@dataclass(frozen=True, eq=False)
class MixtureCurve(AbstractCaseCurve):
    """One of several curves, by weights that sum to 1; which one is revealed."""

    parts: tuple[tuple[float, AbstractCurve], ...]
    end: End = UNKNOWN

    def reach(self) -> float:
        """Return how far the parts reach."""
        return max(float(curve.epsilon_at(LEAST_DELTA)) for _, curve in self.parts)

    def laws(self) -> Laws:
        """Return the weighted mixture of the laws, in each direction that differs."""
        known = [(weight, curve.laws()) for weight, curve in self.parts]
        sides = max(len(laws) for _, laws in known)
        return tuple(
            MixtureLaw(tuple((w, laws[side % len(laws)]) for w, laws in known))
            for side in range(sides)
        )

    def delta(self, epsilon: Floats) -> Floats:
        """Return the weighted sum."""
        terms = [weight * curve.delta_at(epsilon) for weight, curve in self.parts]
        answer: Floats = np.minimum(np.sum(terms, axis=0) * (1 + ELEMENTARY), 1.0)
        return answer

    def epsilon(self, delta: Floats) -> Floats:
        """Return where delta is seen to be met."""
        return inverse(self.delta, delta)
