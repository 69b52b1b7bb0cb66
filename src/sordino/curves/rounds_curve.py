"""The curve of keys shown round by round by noisy weights (docs/proofs/keys.md)."""

from dataclasses import dataclass
from typing import final

import numpy as np

from sordino.curves.case_curves import FURTHEST, LEAST_DELTA, AbstractCaseCurve
from sordino.curves.curve import UNKNOWN, AbstractCurve, End
from sordino.curves.normal import FEW
from sordino.curves.points import ELEMENTARY, Floats

_WIDE = 2 * FEW
_NARROWINGS = 6


@final
@dataclass(frozen=True, eq=False)
class RoundsCurve(AbstractCaseCurve):
    """The greatest over cases of what is told, beside the chance that more is seen.

    With the chance Q that nothing is seen, max(1 - Q + Q case(e - ln Q), case(e + ln
    Q)): docs/proofs/keys.md, lemma 1; a case is (1 - Q, -ln Q, curve).
    """

    cases: tuple[tuple[float, float, AbstractCurve], ...]
    end: End = UNKNOWN

    def reach(self) -> float:
        """Return how far the cases reach, with their shifts."""
        return max(
            float(curve.epsilon_at(LEAST_DELTA)) + shift
            for _, shift, curve in self.cases
        )

    def delta(self, epsilon: Floats) -> Floats:
        """Return the greatest delta of the cases, both ways."""
        greatest = np.zeros_like(epsilon)
        endless = np.isinf(epsilon)
        for seen, shift, curve in self.cases:
            slack = ELEMENTARY * (shift + epsilon)
            further = np.where(endless, epsilon, epsilon + shift - slack)
            nearer = np.where(endless, epsilon, epsilon - shift - slack)
            added = seen + (1 - seen) * curve.delta_at(further)
            greatest = np.maximum(greatest, np.maximum(added, curve.delta_at(nearer)))
        return np.minimum(greatest * (1 + ELEMENTARY), 1.0)

    def epsilon(self, delta: Floats) -> Floats:
        """Return an epsilon for each delta where it is seen to be met."""
        return np.array([self._least_epsilon(float(target)) for target in delta])

    def _least_epsilon(self, target: float) -> float:
        """Return an epsilon where delta is seen to be within a target.

        By long grids, which the curves of noise answer in doubles.
        """
        if target < float(self.end.delta):
            return np.inf  # where all keys are a unit's own, no epsilon serves
        low, high = 0.0, 1.0
        while self.delta(np.array([high]))[0] > target and high < FURTHEST:
            low, high = high, 4 * high
        for _ in range(_NARROWINGS):
            points = np.linspace(low, high, _WIDE)
            within = self.delta(points) <= target
            if not within.any():
                break  # doubles are looser at the end that balls let pass
            first = int(within.argmax())
            low, high = float(points[max(first - 1, 0)]), float(points[first])
        return high if self.delta(np.array([high]))[0] <= target else np.inf
