"""Losses whose curve is a table of bounds, made when first asked and then kept."""

from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sordino.curves.coarseness import kept
from sordino.curves.convolution.convolution import Convolution
from sordino.curves.convolution.grid_sums import DEPTHS
from sordino.curves.points import Answer, Floats, read
from sordino.curves.profile import Profile
from sordino.losses.base import Loss
from sordino.numbers import INFINITE, up

Mask: TypeAlias = NDArray[np.bool_]
Places: TypeAlias = NDArray[np.intp]
"""For each point the index of a depth."""

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
        if known.epsilon is INFINITE:
            return profile
        return profile.ending(up(known.epsilon), up(known.delta))

    def _delta(self, epsilon: Floats) -> Floats:
        found = np.ones_like(epsilon)

        def improve(depth: float, at: Mask) -> None:
            found[at] = np.minimum(found[at], self._at(depth, epsilon[at]))

        first = np.where(epsilon == 0, 0, DEPTHS.index(_CENTRE))
        _refine(first, improve, lambda: found)
        for other in self.beside:
            found = np.minimum(found, other.delta_at(epsilon))
        return found

    def _at(self, depth: float, epsilon: Floats) -> Floats:
        """Return the greater delta of the directions, within the headline.

        At epsilon 0 delta is the total variation, which is the same both ways: a bound
        on either direction bounds both, and the cheaper one is asked.
        """
        cheap = min(self.convolutions, key=lambda sums: sums.width)
        found = cheap.profile(depth).delta_at(epsilon)
        if epsilon.any():
            sides = [s.profile(depth).delta_at(epsilon) for s in self.convolutions]
            found = np.where(epsilon == 0, found, np.max(sides, axis=0))
        known = self.guarantees
        if known.epsilon is INFINITE:
            return found
        capped = np.minimum(found, up(known.delta))
        answer: Floats = np.where(epsilon >= up(known.epsilon), capped, found)
        return answer

    def _epsilon(self, delta: Floats) -> Floats:
        found = np.full_like(delta, np.inf)
        place = _serving(delta, np.full(len(delta), DEPTHS.index(_CENTRE)))
        for index in set(place.tolist()):
            at, depth = place == index, DEPTHS[index]
            sides = [s.profile(depth).epsilon_at(delta[at]) for s in self.convolutions]
            found[at] = np.max(sides, axis=0)
        for other in self.beside:
            found = np.minimum(found, other.epsilon_at(delta))
        known = self.guarantees
        if known.epsilon is INFINITE:
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
        tpr, beta = np.ones_like(alpha), np.zeros_like(alpha)

        def improve(depth: float, at: Mask) -> None:
            upper, lower = self.profile(depth).rates(alpha[at])
            tpr[at] = np.minimum(tpr[at], upper)
            beta[at] = np.maximum(beta[at], lower)

        first = np.zeros(len(alpha), dtype=np.intp)
        _refine(first, improve, lambda: np.minimum(tpr, 1 - alpha))
        for other in self.beside:
            tpr = np.minimum(tpr, other.tpr_at(alpha))
            beta = np.maximum(beta, other.beta_at(alpha))
        return tpr, beta


def _refine(
    place: Places,
    improve: Callable[[float, Mask], None],
    answers: Callable[[], Floats],
) -> None:
    """Ask each point of the depth that serves its answer so far, until none is new.

    A point is answered by what it needs and never by what others need: one number is
    answered like many.
    """
    seen = np.zeros((len(DEPTHS), len(place)), dtype=bool)
    every = np.arange(len(place))
    while (fresh := ~seen[place, every]).any():
        for index in set(place[fresh].tolist()):
            at = fresh & (place == index)
            seen[index, at] = True
            improve(DEPTHS[index], at)
        place = _serving(answers(), place)


def _serving(values: Floats, otherwise: Places) -> Places:
    """Return the places of the depths that serve small probabilities well."""
    wanted = np.sqrt(-2 * np.log(np.clip(values, 1e-300, 1.0)))
    return np.where(values > 0, np.searchsorted(_LIMITS, wanted), otherwise)


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
