"""Curves of several cases, the least of several curves, a curve beside a breach.

With probability D everything is revealed, otherwise only what the base reveals:

    delta(e) = D + (1 - D) base(e),    beta(alpha) = (1 - D) base_beta(alpha / (1 - D)).

Curves of cases are formulas for delta; their rates follow from bounds at many epsilons.

Kernel: mathematics.
"""

import math
from abc import abstractmethod
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import final

import numpy as np
from flint import arb

from sordino.losses.curves.curve import UNKNOWN, AbstractCurve, End
from sordino.losses.curves.laws import Laws, MixtureLaw, MovedLaw, Profile, symmetric
from sordino.losses.curves.normal import inverse
from sordino.losses.curves.points import ELEMENTARY, Floats, grid_property
from sordino.numbers import ball, up
from sordino.numbers.rounding import precision


@final
@dataclass(frozen=True, eq=False)
class BreachCurve(AbstractCurve):
    """With probability `breach` everything, else what the base reveals."""

    base: AbstractCurve
    breach: float
    end: End = UNKNOWN

    def laws(self) -> Laws:
        return tuple(
            # P and Q are lost alike: no finite loss moves
            MovedLaw(law, self.breach, self.breach)
            for law in self.base.laws()
        )

    def delta(self, epsilon: Floats) -> Floats:
        return self._mix(self.base.delta_at(epsilon))

    def epsilon(self, delta: Floats) -> Floats:
        if self.breach >= 1:
            return np.full_like(delta, math.inf)
        # downwards: a lesser target only raises epsilon
        inner = (delta * (1 - ELEMENTARY) - self.breach) / (1 - self.breach)
        epsilon = self.base.epsilon_at(np.clip(inner, 0.0, 1.0))
        # no epsilon hides a breach
        return np.where(delta < self.breach, math.inf, epsilon)

    def tpr(self, alpha: Floats) -> Floats:
        return self._mix(self.base.tpr_at(self._inner_rate(alpha)))

    def beta(self, alpha: Floats) -> Floats:
        whole = (1 - self.breach) * (1 - ELEMENTARY)
        answer: Floats = whole * self.base.beta_at(self._inner_rate(alpha))
        return answer

    def _mix(self, inner: Floats) -> Floats:
        return (self.breach + (1 - self.breach) * inner) * (1 + ELEMENTARY)

    def _inner_rate(self, alpha: Floats) -> Floats:
        # a certain breach leaves no run to divide by
        whole = max(1 - self.breach, 1e-300)
        return np.minimum(alpha / whole * (1 + ELEMENTARY), 1.0)


def joint_breach(chances: tuple[tuple[Fraction, int], ...]) -> float:
    """Return 1 - prod (1 - chance)^n, rounded up.

    >>> 0.75 <= joint_breach(((Fraction(1, 2), 2),)) < 0.75001
    True
    """
    if any(chance == 1 for chance, times in chances if times):  # ln(1 - 1) has no ball
        return 1.0
    with precision(128):
        logs = sum(
            (times * (-ball(chance)).log1p() for chance, times in chances), arb(0)
        )
        return min(max(up(-logs.expm1()), 0.0), 1.0)


@final
@dataclass(frozen=True, eq=False)
class LeastCurve(AbstractCurve):
    """Pointwise minimum of curves, each made when first asked."""

    source: Callable[[], AbstractCurve]
    """Makes the curve whose laws are composed."""
    others: Callable[[], tuple[AbstractCurve, ...]]
    breach: float
    """The chance that everything is seen: no epsilon serves a lesser delta."""
    end: End = UNKNOWN

    @cached_property
    def main(self) -> AbstractCurve:
        """Return the curve whose laws are composed."""
        return self.source()

    @cached_property
    def bounds(self) -> tuple[AbstractCurve, ...]:
        """Return all that bounds the release."""
        return (self.main, *self.others())

    def laws(self) -> Laws:
        """Return the laws of one curve; what they were worked out from is not kept."""
        return copy(self).main.laws()

    def delta(self, epsilon: Floats) -> Floats:
        return _least([curve.delta_at(epsilon) for curve in self.bounds])

    def epsilon(self, delta: Floats) -> Floats:
        reachable = np.maximum(delta, self.breach)
        epsilon = _least([curve.epsilon_at(reachable) for curve in self.bounds])
        return np.where(delta < self.breach, np.inf, epsilon)

    def tpr(self, alpha: Floats) -> Floats:
        return _least([curve.tpr_at(alpha) for curve in self.bounds])

    def beta(self, alpha: Floats) -> Floats:
        return -_least([-curve.beta_at(alpha) for curve in self.bounds])


def _least(bounds: list[Floats]) -> Floats:
    return np.min(np.array(bounds), axis=0)  # type: ignore[no-any-return]


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
        # any points serve: chords between bounds lie above the curve
        points = np.linspace(0.0, min(self.reach(), FURTHEST), _POINTS)
        return Profile.of(points, self.delta(points))

    def laws(self) -> Laws:
        # a copy: the profile is not kept beside the loss
        return (symmetric(copy(self).profile),)

    def tpr(self, alpha: Floats) -> Floats:
        return self.profile.rates(alpha)[0]

    def beta(self, alpha: Floats) -> Floats:
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
        return max(
            float(curve.epsilon_at(LEAST_DELTA)) + abs(shift)
            for _, shift, curve in self.cases
        )

    def delta(self, epsilon: Floats) -> Floats:
        greatest = np.zeros_like(epsilon)
        for breach, shift, curve in self.cases:
            # an epsilon too small only enlarges delta
            moved = epsilon + shift - ELEMENTARY * (abs(shift) + epsilon)
            inner = curve.delta_at(np.where(np.isinf(epsilon), epsilon, moved))
            greatest = np.maximum(greatest, breach + (1 - breach) * inner)
        return np.minimum(greatest * (1 + ELEMENTARY), 1.0)

    def epsilon(self, delta: Floats) -> Floats:
        return inverse(self.delta, delta)


@final
@dataclass(frozen=True, eq=False)
class MixtureCurve(AbstractCaseCurve):
    """One of several curves, by weights that sum to 1; which one is revealed."""

    parts: tuple[tuple[float, AbstractCurve], ...]
    end: End = UNKNOWN

    def reach(self) -> float:
        return max(float(curve.epsilon_at(LEAST_DELTA)) for _, curve in self.parts)

    def laws(self) -> Laws:
        known = [(weight, curve.laws()) for weight, curve in self.parts]
        sides = max(len(laws) for _, laws in known)
        return tuple(
            MixtureLaw(tuple((w, laws[side % len(laws)]) for w, laws in known))
            for side in range(sides)
        )

    def delta(self, epsilon: Floats) -> Floats:
        # weights are the nearest doubles, hence the margin
        terms = [weight * curve.delta_at(epsilon) for weight, curve in self.parts]
        answer: Floats = np.minimum(np.sum(terms, axis=0) * (1 + ELEMENTARY), 1.0)
        return answer

    def epsilon(self, delta: Floats) -> Floats:
        return inverse(self.delta, delta)
