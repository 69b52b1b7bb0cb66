"""Losses whose curve is a table of bounds, made when first asked and then kept."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np

from sordino.losses.base import Loss
from sordino.losses.coarseness import kept
from sordino.losses.pld import Convolution
from sordino.losses.points import Answer, Floats, read
from sordino.losses.profile import Profile
from sordino.losses.sums import DEPTHS
from sordino.numbers import up

_CENTRE = 4.0
"""The tilt that is asked first: it serves deltas from 0.1 to 1e-14."""

_LIMITS = np.array([3.1, 6.0, 10.0])
"""Where the next depth serves better."""


class AbstractTabledLoss(Loss):
    """A loss answered from profiles of its directions, made when they are needed."""

    @property
    @abstractmethod
    def convolutions(self) -> tuple[Convolution, ...]:
        """Return the sums of losses, one for each direction."""

    @property
    def beside(self) -> tuple[Loss, ...]:
        """Return other losses that bound the same release."""
        return ()

    @kept
    def tables(self) -> dict[float, Profile]:
        """Return the profiles computed so far, by depth."""
        return {}

    def profile(self, depth: float = _CENTRE) -> Profile:
        """Return bounds on the greater delta of the directions and the headline."""
        if depth not in self.tables:
            sides = [sums.profile(depth) for sums in self.convolutions]
            self.tables[depth] = self._capped(_greater(sides))
        return self.tables[depth]

    def delta_beneath(self, epsilon: Any) -> Answer:
        """Return a lower bound on delta, to show how far apart the two sides are."""
        asked = read(1, epsilon=epsilon)
        sides = [sums.beneath(asked.values) for sums in self.convolutions]
        return asked.answer(np.max(sides, axis=0))

    def _capped(self, profile: Profile) -> Profile:
        """Return the profile with the point of the headline (epsilon, delta)."""
        known = self.guarantees
        if isinstance(known.epsilon, float):
            return profile
        return profile.ending(up(known.epsilon), up(known.delta))

    def _delta(self, epsilon: Floats) -> Floats:
        first = 0.0 if not epsilon.any() else _CENTRE
        found, seen = self._at(first, epsilon), {first}
        while missing := _depths(found) - seen:
            seen |= missing
            for depth in missing:
                found = np.minimum(found, self._at(depth, epsilon))
        for other in self.beside:
            found = np.minimum(found, other.delta_at(epsilon))
        return found

    def _at(self, depth: float, epsilon: Floats) -> Floats:
        """Return the greater delta of the directions, within the headline.

        At epsilon 0 delta is the total variation, which is the same both ways: a bound
        on either direction bounds both, and the cheaper one is asked.
        """
        asked = self.convolutions
        if not epsilon.any():
            asked = (min(asked, key=lambda sums: sums.width),)
        sides = [sums.profile(depth).delta_at(epsilon) for sums in asked]
        found: Floats = np.max(sides, axis=0)
        known = self.guarantees
        if isinstance(known.epsilon, float):
            return found
        capped = np.minimum(found, up(known.delta))
        answer: Floats = np.where(epsilon >= up(known.epsilon), capped, found)
        return answer

    def _epsilon(self, delta: Floats) -> Floats:
        depths = _depths(delta) or {_CENTRE}
        tables = [
            [s.profile(d).epsilon_at(delta) for s in self.convolutions] for d in depths
        ]
        found: Floats = np.min([np.max(sides, axis=0) for sides in tables], axis=0)
        for other in self.beside:
            found = np.minimum(found, other.epsilon_at(delta))
        known = self.guarantees
        if isinstance(known.epsilon, float):
            return found
        answer: Floats = np.where(
            delta >= up(known.delta), np.minimum(found, up(known.epsilon)), found
        )
        return answer

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
        for other in self.beside:
            tpr = np.minimum(tpr, other.tpr_at(alpha))
            beta = np.maximum(beta, other.beta_at(alpha))
        return tpr, beta


def _depths(values: Floats) -> set[float]:
    """Return the depths that serve small probabilities well."""
    wanted = np.sqrt(-2 * np.log(np.clip(values[values > 0], 1e-300, 1.0)))
    nearest = np.searchsorted(_LIMITS, wanted)
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
    after = other[other > mine[-1]]
    points = np.concatenate((mine[:1], before, mine[1:], after))
    at_before, at_after = first.delta_at(before), first.delta_at(after)
    mine_there = (first.delta[:1], at_before, first.delta[1:], at_after)
    bounds = np.maximum(np.concatenate(mine_there), second.delta_at(points))
    return Profile(points, np.minimum.accumulate(bounds))
