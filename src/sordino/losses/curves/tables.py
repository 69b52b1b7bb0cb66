"""Curves that are tables of bounds, made when first asked and then kept.

Kernel: mathematics.
"""

from abc import abstractmethod
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass
from typing import TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from sordino.losses.curves.composition import Convolution, direction_sums
from sordino.losses.curves.curve import UNKNOWN, AbstractCurve, End
from sordino.losses.curves.laws import Laws, Profile, outline_laws, symmetric
from sordino.losses.curves.points import Floats, grid_property
from sordino.losses.curves.transform import DEPTHS
from sordino.numbers import INFINITE, up

Mask: TypeAlias = NDArray[np.bool_]
Places: TypeAlias = NDArray[np.intp]
"""For each point the index of a depth."""

_CENTRE = 4.0
"""The tilt that is asked first: it serves deltas from 0.1 to 1e-14."""

_LIMITS = np.array([3.1, 6.0, 10.0])
"""Where the next depth serves better."""

_LAW_POINTS = 8192


class AbstractTableCurve(AbstractCurve):
    """A curve answered from profiles of its directions, made when they are needed."""

    @property
    @abstractmethod
    def convolutions(self) -> tuple[Convolution, ...]:
        """Return the sums of losses, one for each direction."""

    @property
    def others(self) -> tuple[AbstractCurve, ...]:
        """Return other curves that bound the same release."""
        return ()

    @grid_property
    def tables(self) -> dict[float, Profile]:
        """Return the profiles computed so far, by depth."""
        return {}

    def profile(self, depth: float = _CENTRE) -> Profile:
        """Return bounds on the greater delta of the directions and the end."""
        if depth not in self.tables:
            sides = [sums.profile(depth) for sums in self.convolutions]
            bounds, end = _greater(sides), self.end
            if end.epsilon is not INFINITE:
                bounds = bounds.with_end(up(end.epsilon), up(end.delta))
            self.tables[depth] = bounds
        return self.tables[depth]

    def least_delta(self, epsilon: Floats) -> Floats:
        """Return lower bounds on delta, to show how far apart the two sides are."""
        sides = [sums.least_delta(epsilon) for sums in self.convolutions]
        return np.max(sides, axis=0)  # type: ignore[no-any-return]

    def delta(self, epsilon: Floats) -> Floats:
        delta = np.ones_like(epsilon)

        def improve(depth: float, at: Mask) -> None:
            delta[at] = np.minimum(delta[at], self._delta_by(depth, epsilon[at]))

        first = np.where(epsilon == 0, 0, DEPTHS.index(_CENTRE))
        _refine(first, improve, lambda: delta)
        for other in self.others:
            delta = np.minimum(delta, other.delta_at(epsilon))
        return delta

    def _delta_by(self, depth: float, epsilon: Floats) -> Floats:
        """Return the greater delta of the directions, within the end.

        At epsilon 0 delta is the total variation, which is the same both ways: a bound
        on either direction bounds both, and the cheaper one is asked.
        """
        cheap, *others = sorted(self.convolutions, key=lambda sums: sums.width)
        delta = cheap.profile(depth).delta_at(epsilon)
        if others and epsilon.any():
            sides = [delta, *(s.profile(depth).delta_at(epsilon) for s in others)]
            delta = np.where(epsilon == 0, delta, np.max(sides, axis=0))
        if self.end.epsilon is INFINITE:
            return delta
        capped = np.minimum(delta, up(self.end.delta))
        answer: Floats = np.where(epsilon >= up(self.end.epsilon), capped, delta)
        return answer

    def epsilon(self, delta: Floats) -> Floats:
        epsilon = np.full_like(delta, np.inf)
        place = _best_depths(delta, np.full(len(delta), DEPTHS.index(_CENTRE)))
        for index in set(place.tolist()):
            at, depth = place == index, DEPTHS[index]
            sides = [s.profile(depth).epsilon_at(delta[at]) for s in self.convolutions]
            epsilon[at] = np.max(sides, axis=0)
        for other in self.others:
            epsilon = np.minimum(epsilon, other.epsilon_at(delta))
        if self.end.epsilon is INFINITE:
            return epsilon
        capped = np.minimum(epsilon, up(self.end.epsilon))
        answer: Floats = np.where(delta >= up(self.end.delta), capped, epsilon)
        return answer

    def tpr(self, alpha: Floats) -> Floats:
        return self._rates(alpha)[0]

    def beta(self, alpha: Floats) -> Floats:
        return self._rates(alpha)[1]

    def _rates(self, alpha: Floats) -> tuple[Floats, Floats]:
        tpr, beta = np.ones_like(alpha), np.zeros_like(alpha)

        def improve(depth: float, at: Mask) -> None:
            upper, lower = self.profile(depth).rates(alpha[at])
            tpr[at] = np.minimum(tpr[at], upper)
            beta[at] = np.maximum(beta[at], lower)

        first = np.zeros(len(alpha), dtype=np.intp)
        _refine(first, improve, lambda: np.minimum(tpr, 1 - alpha))
        for other in self.others:
            tpr = np.minimum(tpr, other.tpr_at(alpha))
            beta = np.maximum(beta, other.beta_at(alpha))
        return tpr, beta


@final
@dataclass(frozen=True, eq=False)
class LawCurve(AbstractTableCurve):
    """The curve of laws that are made when they are asked for."""

    source: Callable[[], Laws]
    end: End = UNKNOWN

    def laws(self) -> Laws:
        """Return the laws, and keep none of them."""
        return self.source()

    @grid_property
    def convolutions(self) -> tuple[Convolution, ...]:
        sides = [((law, 1),) for law in self.source()]
        return direction_sums(sides) if len(sides) > 1 else (Convolution(sides[0]),)


@final
@dataclass(frozen=True, eq=False)
class SumCurve(AbstractTableCurve):
    """The curve of independent releases: their losses add up."""

    parts: tuple[tuple[AbstractCurve, int], ...]
    """Curves, and how often each occurs."""
    end: End = UNKNOWN
    others: tuple[AbstractCurve, ...] = ()

    @grid_property
    def convolutions(self) -> tuple[Convolution, ...]:
        laws = outline_laws(curve.laws for curve, _ in self.parts)
        sides = max(len(ways) for ways in laws)
        return direction_sums([
            tuple(
                (ways[side % len(ways)], times)
                for ways, (_, times) in zip(laws, self.parts, strict=True)
            )
            for side in range(sides)
        ])

    def laws(self) -> Laws:
        """Return the law of the sum, from its profiles at all depths.

        Any points of a profile serve, because chords between them bound it. What was
        worked out for the law alone is dropped with the copy that worked it out.
        """
        once = copy(self)
        plain = once.profile(0.0).epsilon
        # the last point stays: its bound holds for all beyond
        points = np.append(plain[:: len(plain) // _LAW_POINTS + 1], plain[-1])
        bounds = [once.profile(depth).delta_at(points) for depth in DEPTHS]
        return (symmetric(Profile.of(points, np.min(bounds, axis=0))),)


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
        place = _best_depths(answers(), place)


def _best_depths(values: Floats, otherwise: Places) -> Places:
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
