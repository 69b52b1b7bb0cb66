"""A privacy profile known at points: upper bounds on delta at epsilons from 0 upwards.

In t = exp(epsilon) the true profile is convex and decreasing, so chords between bounds
bound it, and every point is a line tpr <= delta + t alpha, with the mirror image
beta >= (1 - alpha - delta) / t. Which point is used decides tightness, never validity.
"""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import final

import numpy as np

from sordino.curves.laws.law import AbstractLossLaw, mirror_law
from sordino.curves.normal import tangents
from sordino.curves.points import ELEMENTARY, Floats


@final
@dataclass(frozen=True, eq=False)
class Profile:
    """Upper bounds on delta at ascending epsilons, the first at 0.

    For any epsilon beyond the last, delta is at most the last bound.
    """

    epsilon: Floats
    delta: Floats

    @staticmethod
    def of(epsilon: Floats, delta: Floats) -> "Profile":
        """Return the profile of unsorted bounds: the points of their lower hull."""
        order = np.lexsort((delta, epsilon))
        first = np.append(True, np.diff(epsilon[order]) > 0)
        points, bounds = epsilon[order][first], delta[order][first]
        bounds = np.minimum.accumulate(np.clip(bounds, 0.0, 1.0))
        corners = _hull(points, bounds)
        return Profile(points[corners], bounds[corners])

    def with_start(self, first: float) -> "Profile":
        """Return the hull of this convex profile with its bound at 0 set to `first`.

        No bound above 1 is kept: the line from the start touches the rest.
        """
        begin = min(first, 1.0)
        if len(self.epsilon) == 1 or (begin == first and first == self.delta[0]):
            return Profile(self.epsilon, np.minimum(self.delta, 1.0))
        with np.errstate(over="ignore"):
            wide = np.expm1(self.epsilon[1:].astype(np.longdouble))
            slope = (self.delta[1:] - begin) / wide
        touch = 1 + int(slope.argmin())
        if self.delta[touch] >= begin:
            return Profile(np.zeros(1), np.array([begin]))
        return Profile(
            np.append(0.0, self.epsilon[touch:]), np.append(begin, self.delta[touch:])
        )

    def with_end(self, most: float, last: float) -> "Profile":
        """Return the hull of this convex profile with the point (most, last) added.

        From `most` on delta is at most `last`: a line back from it touches the rest.
        """
        before = (self.epsilon < most) & (self.delta > last)
        epsilon, delta = self.epsilon[before], self.delta[before]
        if not len(epsilon):
            return Profile(np.zeros(1), np.array([min(last, self.delta[0])]))
        slope = (delta - last) / -np.expm1(epsilon - most)
        touch = int(slope.argmin()) + 1
        return Profile(np.append(epsilon[:touch], most), np.append(delta[:touch], last))

    @cached_property
    def slopes(self) -> Floats:
        """Return the alphas where the touching point changes, ascending."""
        gap = np.diff(self.epsilon)
        fall = -np.diff(self.delta)
        with np.errstate(under="ignore"):
            alphas = fall * np.exp(-self.epsilon[1:]) / -np.expm1(-gap)
        return np.maximum.accumulate(alphas[::-1])

    def delta_at(self, epsilon: Floats) -> Floats:
        """Return delta by the chord around epsilon."""
        last = len(self.epsilon) - 1
        right = np.minimum(np.searchsorted(self.epsilon, epsilon, side="right"), last)
        left = np.maximum(right - 1, 0)
        high, low = self.delta[left], self.delta[right]
        width = np.maximum(self.epsilon[right] - self.epsilon[left], 1e-300)
        past = np.clip(epsilon - self.epsilon[left], 0.0, width)
        with np.errstate(over="ignore", invalid="ignore"):
            share = np.exp(past - width) * -np.expm1(-past) / -np.expm1(-width)
        chord = high - share * (high - low) * (1 - ELEMENTARY)
        beyond = epsilon >= self.epsilon[last]
        on_point = past == 0.0
        answer: Floats = np.where(
            beyond, self.delta[last], np.where(on_point, high, chord)
        )
        return answer

    def epsilon_at(self, delta: Floats) -> Floats:
        """Return epsilon by the chord that crosses delta."""
        # indices into the reversed, ascending bounds
        within = np.searchsorted(self.delta[::-1], delta, side="right")
        right = len(self.delta) - within
        safe = np.clip(right, 1, max(len(self.delta) - 1, 1))
        if len(self.delta) == 1:
            return np.where(within > 0, 0.0, np.inf)
        high, low = self.delta[safe - 1], self.delta[safe]
        share = np.clip((high - delta) / np.maximum(high - low, 1e-300), 0.0, 1.0)
        left, end = self.epsilon[safe - 1], self.epsilon[safe]
        with np.errstate(over="ignore"):
            inner = left + np.log1p(share * np.expm1(end - left))
        epsilon = np.minimum(inner * (1 + ELEMENTARY) + ELEMENTARY * (end - left), end)
        return np.where(within == 0, np.inf, np.where(right == 0, 0.0, epsilon))

    def rates(self, alpha: Floats) -> tuple[Floats, Floats]:
        """Return (tpr from above, beta from below) by the best touching point.

        A point is found by alpha, and another by 1 - alpha on the mirror image, where
        the false negative rate is the small one; the better of the two is returned.
        """
        last = len(self.epsilon) - 1
        forward = last - np.searchsorted(self.slopes, alpha, side="left")
        back = last - np.searchsorted(self.corners, 1 - alpha, side="left")
        rising, falling = np.ones(len(alpha), bool), np.zeros(len(alpha), bool)
        first = tangents(alpha, rising, self.epsilon[forward], self.delta[forward])
        second = tangents(alpha, falling, self.epsilon[back], self.delta[back])
        return np.minimum(first[0], second[0]), np.maximum(first[1], second[1])

    @cached_property
    def corners(self) -> Floats:
        """Return the tprs where the touching point changes, ascending."""
        alphas = self.slopes
        index = len(self.epsilon) - 1 - np.arange(len(alphas))
        with np.errstate(over="ignore", invalid="ignore"):
            rates = self.delta[index] + np.exp(self.epsilon[index]) * alphas
        return np.maximum.accumulate(np.nan_to_num(rates, nan=0.0))


def _hull(epsilon: Floats, delta: Floats) -> list[int]:
    """Return the indices of the lower convex hull in (exp(epsilon), delta).

    One pass from the left: a point above the chord of its neighbours is dropped.
    """
    corners: list[int] = []
    e, d = epsilon.tolist(), delta.tolist()
    for index in range(len(e)):
        while len(corners) > 1:
            first, middle = corners[-2], corners[-1]
            whole = e[index] - e[first]
            share = math.expm1(e[first] - e[middle]) / math.expm1(-whole)
            share *= math.exp(e[middle] - e[index])
            if d[middle] <= d[first] + share * (d[index] - d[first]):
                break
            corners.pop()
        corners.append(index)
    return corners


def symmetric(profile: Profile) -> AbstractLossLaw:
    """Return a law whose delta meets every point of the profile.

    Between two points the slope in t is constant; where it changes, the change is the
    mass of Q at that loss.
    """
    t = np.exp(profile.epsilon.astype(np.longdouble))
    delta = profile.delta.astype(np.longdouble)
    slope = np.append(np.diff(delta) / np.diff(t), 0.0)
    q = np.maximum(np.diff(slope), 0.0)
    reserve = float(delta[-1])
    return mirror_law(profile.epsilon[1:], q, q * t[1:], reserve)
