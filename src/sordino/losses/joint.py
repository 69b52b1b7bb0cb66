"""A thresholded release: the headline that is quoted, and a tighter curve of its own.

The headline (epsilon, delta) or (rho, delta) adds up two risks that never meet in one
key: a new key is seen or not, a kept key shows its noise. The curve takes them together
(`thresholded`); it is worked out when it is first asked for.
"""

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TypeAlias, final

import numpy as np

from sordino.curves.laws.law import AbstractLossLaw
from sordino.curves.points import Floats
from sordino.losses.base import Loss
from sordino.losses.closed import ZCDP, ApproxDP, ApproxZCDP
from sordino.losses.guarantees import Guarantees
from sordino.losses.reserved import joint_breach
from sordino.losses.thresholded import threshold_loss
from sordino.numbers import INFINITE, Extended

Headline: TypeAlias = ApproxDP | ApproxZCDP


@final
@dataclass(frozen=True, repr=False)
class JointLoss(Loss):
    """The loss of a thresholded release; both bounds hold, and the lesser is given.

    `kept(m)` is the loss of the noise when m of the changed keys are in both maps, None
    where the headline is all there is to say;
    `key_delta` bounds the chance that a single new key appears.
    """

    headline: Headline
    key_delta: Fraction
    keys: int
    kept: Callable[[int], Loss] | None

    @property
    def epsilon(self) -> Extended:
        """Return the epsilon of the headline."""
        return self.headline.guarantees.epsilon

    @property
    def rho(self) -> Extended:
        """Return the rho of the headline."""
        return self.headline.guarantees.rho

    @property
    def delta(self) -> Fraction:
        """Return the delta of the headline: the chance that a new key appears."""
        return self.headline.delta

    @property
    def guarantees(self) -> Guarantees:
        """Return those of the headline."""
        return self.headline.guarantees

    @cached_property
    def joint(self) -> Loss:
        """Return the loss of new and kept keys together."""
        if self.kept is None:
            return self.headline
        return threshold_loss(self.kept, key_delta=self.key_delta, keys=self.keys)

    def laws(self) -> tuple[AbstractLossLaw, ...]:
        """Return the law of the curve; what it was worked out from is not kept."""
        return copy(self).joint.laws()

    def __repr__(self) -> str:
        """Show the headline."""
        return repr(self.headline)

    @cached_property
    def bounds(self) -> tuple[Loss, ...]:
        """Return what bounds the release.

        A pure headline serves beside the joint curve. Where noise is priced by tables,
        whose digits end, its rho serves far out in the tail; the case of no new keys
        then makes the headline itself superfluous.
        """
        if self.epsilon is not INFINITE or self.kept is None:
            return (self.headline, self.joint)
        if not isinstance(self.kept(self.keys).guarantees.mu, float):
            return (self.joint,)
        return (self.joint, self._by_rho(self.kept))

    def _by_rho(self, kept: Callable[[int], Loss]) -> Loss:
        """Return the joint loss with the noise on kept keys priced by its rho."""
        return threshold_loss(
            lambda keys: ZCDP(kept(keys).guarantees.rho),
            key_delta=self.key_delta,
            keys=self.keys,
        )

    def _delta(self, epsilon: Floats) -> Floats:
        return _least([loss.delta_at(epsilon) for loss in self.bounds])

    def _epsilon(self, delta: Floats) -> Floats:
        # Below the chance that all changed keys are new and one is seen, none serves.
        reserve = joint_breach(((self.key_delta, self.keys),))
        asked = np.maximum(delta, reserve)
        found = _least([loss.epsilon_at(asked) for loss in self.bounds])
        return np.where(delta < reserve, np.inf, found)

    def _tpr(self, alpha: Floats) -> Floats:
        return _least([loss.tpr_at(alpha) for loss in self.bounds])

    def _beta(self, alpha: Floats) -> Floats:
        return -_least([-loss.beta_at(alpha) for loss in self.bounds])


def _least(bounds: list[Floats]) -> Floats:
    """Return the least of several bounds, point by point."""
    return np.min(np.array(bounds), axis=0)  # type: ignore[no-any-return]
