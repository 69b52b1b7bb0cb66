"""A thresholded release: the headline that is quoted, and a tighter curve of its own.

The headline (epsilon, delta) or (rho, delta) adds up two risks that never meet in one
key: a new key is seen or not, a kept key shows its noise. The curve takes them together
(`thresholded`); it is worked out when it is first asked for.
"""

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial
from typing import TypeAlias, final

from sordino.curves.breach_curve import joint_breach
from sordino.curves.curve import AbstractCurve
from sordino.curves.least_curve import LeastCurve
from sordino.losses.base import Loss
from sordino.losses.closed import ZCDP, ApproxDP, ApproxZCDP
from sordino.losses.guarantees import Guarantees
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
    def tradeoff(self) -> AbstractCurve:
        """Return the least of all curves that bound the release.

        Below the chance that all changed keys are new and one is seen, none serves.
        """
        breach = joint_breach(((self.key_delta, self.keys),))
        # what makes the curves later is a copy: a loss that held itself would stay
        maker = copy(self)
        return LeastCurve(
            partial(_joint_curve, maker),
            partial(_other_curves, maker),
            breach,
            self.guarantees.end,
        )

    def __repr__(self) -> str:
        """Show the headline."""
        return repr(self.headline)


def _joint_curve(loss: JointLoss) -> AbstractCurve:
    """Return the curve of new and kept keys together."""
    if loss.kept is None:
        return loss.headline.tradeoff
    return _threshold_curve(loss, loss.kept)


def _other_curves(loss: JointLoss) -> tuple[AbstractCurve, ...]:
    """Return what else bounds the release.

    A pure headline serves beside the joint curve. Where noise is priced by tables,
    whose digits end, its rho serves far out in the tail; the case of no new keys then
    makes the headline itself superfluous.
    """
    if loss.epsilon is not INFINITE:
        return (loss.headline.tradeoff,)
    noise = loss.kept
    if noise is None or noise(loss.keys).guarantees.mu is not INFINITE:
        return ()
    return (_threshold_curve(loss, lambda keys: ZCDP(noise(keys).guarantees.rho)),)


def _threshold_curve(loss: JointLoss, noise: Callable[[int], Loss]) -> AbstractCurve:
    """Return the curve with some noise on the keys that are kept."""
    return threshold_loss(noise, key_delta=loss.key_delta, keys=loss.keys).tradeoff
