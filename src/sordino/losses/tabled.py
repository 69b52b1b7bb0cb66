"""Losses whose curve is a table of bounds, made when first asked and then kept."""

from abc import abstractmethod
from collections.abc import Sequence

import numpy as np

from sordino.losses.base import Loss
from sordino.losses.pld import DEPTHS, Convolution
from sordino.losses.points import Floats
from sordino.losses.profile import Profile
from sordino.numbers import up

_CENTRE = 4.0
"""The tilt that is asked first: it serves deltas from 0.1 to 1e-14."""


class TabledLoss(Loss):
    """A loss answered from profiles of its directions, at the depths it is asked for."""

    @property
    @abstractmethod
    def convolutions(self) -> tuple[Convolution, ...]:
        """Return the sums of losses, one for each direction."""

    @property
    @abstractmethod
    def tables(self) -> dict[float, Profile]:
        """Return the profiles computed so far, by depth."""

    def profile(self, depth: float = _CENTRE) -> Profile:
        """Return bounds on the greater delta of the directions and the headline."""
        if depth not in self.tables:
            sides = [sums.profile(depth) for sums in self.convolutions]
            self.tables[depth] = self._capped(_greater(sides))
        return self.tables[depth]

    def _capped(self, profile: Profile) -> Profile:
        """Return the profile with the point of the headline (epsilon, delta)."""
        known = self.guarantees
        if isinstance(known.epsilon, float):
            return profile
        return profile.ending(up(known.epsilon), up(known.delta))

    def _delta(self, epsilon: Floats) -> Floats:
        first = 0.0 if not epsilon.any() else _CENTRE
        found, seen = self.profile(first).delta_at(epsilon), {first}
        while missing := _depths(found) - seen:
            seen |= missing
            for depth in missing:
                found = np.minimum(found, self.profile(depth).delta_at(epsilon))
        return found

    def _epsilon(self, delta: Floats) -> Floats:
        depths = _depths(delta) or {_CENTRE}
        return np.min([self.profile(d).epsilon_at(delta) for d in depths], axis=0)

    def _tpr(self, alpha: Floats) -> Floats:
        return self._rates(alpha)[0]

    def _beta(self, alpha: Floats) -> Floats:
        return self._rates(alpha)[1]

    def _rates(self, alpha: Floats) -> tuple[Floats, Floats]:
        """Return the rates by the profiles that are sharp at the smaller of them."""
        tpr, beta = self.profile(0.0).rates(alpha)
        seen = {0.0}
        while missing := _depths(np.minimum(tpr, 1 - alpha)) - seen:
            seen |= missing
            for depth in missing:
                upper, lower = self.profile(depth).rates(alpha)
                tpr, beta = np.minimum(tpr, upper), np.maximum(beta, lower)
        return tpr, beta


def _depths(values: Floats) -> set[float]:
    """Return the depths that serve small probabilities best."""
    wanted = np.sqrt(-2 * np.log(np.clip(values[values > 0], 1e-300, 1.0)))
    nearest = np.abs(wanted[:, None] - np.array(DEPTHS)).argmin(axis=1)
    return {DEPTHS[index] for index in set(nearest.tolist())}


def _greater(sides: Sequence[Profile]) -> Profile:
    """Return the greater of two profiles, at the points of the first and beyond.

    The greater of two convex functions is convex: chords between any of its points
    bound it. The directions share a grid, so the first has the points that matter.
    """
    first, *rest = sides
    if not rest:
        return first
    (second,) = rest
    mine, other = first.epsilon, second.epsilon
    before = other[(other > 0) & (other < mine[min(1, len(mine) - 1)])]
    points = np.concatenate((mine[:1], before, mine[1:], other[other > mine[-1]]))
    bounds = np.maximum(first.delta_at(points), second.delta_at(points))
    return Profile(points, np.minimum.accumulate(bounds))
