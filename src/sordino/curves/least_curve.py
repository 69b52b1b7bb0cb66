"""The least of several curves that all bound one release."""

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import final

import numpy as np

from sordino.curves.curve import UNKNOWN, AbstractCurve, End
from sordino.curves.laws.law import Laws
from sordino.curves.points import Floats


@final
@dataclass(frozen=True, eq=False)
class LeastCurve(AbstractCurve):
    """The least of a curve and of others beside it, each made when first asked."""

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
        """Return the least delta."""
        return _least([curve.delta_at(epsilon) for curve in self.bounds])

    def epsilon(self, delta: Floats) -> Floats:
        """Return the least epsilon."""
        reachable = np.maximum(delta, self.breach)
        epsilon = _least([curve.epsilon_at(reachable) for curve in self.bounds])
        return np.where(delta < self.breach, np.inf, epsilon)

    def tpr(self, alpha: Floats) -> Floats:
        """Return the least true positive rate."""
        return _least([curve.tpr_at(alpha) for curve in self.bounds])

    def beta(self, alpha: Floats) -> Floats:
        """Return the greatest false negative rate."""
        return -_least([-curve.beta_at(alpha) for curve in self.bounds])


def _least(bounds: list[Floats]) -> Floats:
    """Return the least of several bounds, point by point."""
    return np.min(np.array(bounds), axis=0)  # type: ignore[no-any-return]
