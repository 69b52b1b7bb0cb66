"""Keys shown round by round by noisy weights: the tight joint form.

One unit adds to t keys of its own, which can only be seen by crossing a threshold, and
to c keys that others have, too. With the chance Q that none of its own is seen in any
round, and m the shift of all that is told of the others, over the noise,

    delta(e) <= max( 1 - Q + Q D_m(e - ln Q),  D_m(e + ln Q) ),

D_m the curve of a Gaussian; the release is bounded by the greatest over t and c
(docs/proofs/keys.md, lemma 1).
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import final

import numpy as np

from sordino.curves.coarseness import kept
from sordino.curves.laws.law import AbstractLossLaw
from sordino.curves.normal import FEW
from sordino.curves.points import ELEMENTARY, Floats
from sordino.curves.profile import Profile, symmetric
from sordino.losses.base import Loss
from sordino.losses.guarantees import Guarantees
from sordino.numbers import INFINITE, number_text

_POINTS = 1200
_LEAST_DELTA = 1e-40
_FURTHEST = 700.0
_WIDE = 2 * FEW
_NARROWINGS = 6


@final
@dataclass(frozen=True, repr=False)
class RoundsLoss(Loss):
    """The greatest loss over how many keys of a unit are its own.

    Each case has an upper bound on the chance that one of the unit's own keys is seen,
    and the loss of what is told of the others.
    """

    cases: tuple[tuple[Fraction, Loss], ...]

    def __repr__(self) -> str:
        """Show the greatest parameters."""
        known = self.guarantees
        mu, delta = number_text(known.mu), number_text(known.delta)
        return f"RoundsLoss(mu={mu}, delta={delta})"

    @property
    def delta(self) -> Fraction:
        """Return the greatest chance that one of a unit's own keys is seen."""
        return max(breach for breach, _ in self.cases)

    @cached_property
    def guarantees(self) -> Guarantees:
        """Return the greatest of each parameter: what is told, beside what is seen."""
        told = [loss.guarantees for _, loss in self.cases]
        rho, mu = max(one.rho for one in told), max(one.mu for one in told)
        return Guarantees(INFINITE, self.delta, rho, mu)

    @kept
    def profile(self) -> Profile:
        """Return the bounds on a fine range of epsilons."""
        reach = max(
            float(loss.epsilon_at(_LEAST_DELTA)) + _shift(breach)
            for breach, loss in self.cases
        )
        points = np.linspace(0.0, min(reach, _FURTHEST), _POINTS)
        return Profile.of(points, self._delta(points))

    def laws(self) -> tuple[AbstractLossLaw, ...]:
        """Return the law of the greatest profile, which serves both directions."""
        return (symmetric(self.profile),)

    def _delta(self, epsilon: Floats) -> Floats:
        found = np.zeros_like(epsilon)
        for breach, loss in self.cases:
            shift, seen = _shift(breach), float(breach)
            slack = ELEMENTARY * (shift + epsilon)
            endless = np.isinf(epsilon)
            further = np.where(endless, epsilon, epsilon + shift - slack)
            nearer = np.where(endless, epsilon, epsilon - shift - slack)
            added = seen + (1 - seen) * loss.delta_at(further)
            found = np.maximum(found, np.maximum(added, loss.delta_at(nearer)))
        return np.minimum(found * (1 + ELEMENTARY), 1.0)

    def _epsilon(self, delta: Floats) -> Floats:
        return np.array([self._least_epsilon(float(target)) for target in delta])

    def _least_epsilon(self, target: float) -> float:
        """Return an epsilon where delta is seen to be within a target.

        By long grids, which the curves of noise answer in doubles.
        """
        if target < float(self.delta):
            return math.inf  # where all keys are a unit's own, no epsilon serves
        low, high = 0.0, 1.0
        while self._delta(np.array([high]))[0] > target and high < _FURTHEST:
            low, high = high, 4 * high
        for _ in range(_NARROWINGS):
            points = np.linspace(low, high, _WIDE)
            within = self._delta(points) <= target
            if not within.any():
                break  # doubles are looser at the end that balls let pass
            first = int(within.argmax())
            low, high = float(points[max(first - 1, 0)]), float(points[first])
        return high if self._delta(np.array([high]))[0] <= target else math.inf

    def _tpr(self, alpha: Floats) -> Floats:
        return self.profile.rates(alpha)[0]

    def _beta(self, alpha: Floats) -> Floats:
        return self.profile.rates(alpha)[1]


def _shift(breach: Fraction) -> float:
    """Return -ln Q; where a key is surely seen it does not matter."""
    return 0.0 if breach >= 1 else -math.log1p(-float(breach))
