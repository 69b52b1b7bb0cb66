"""Laws of a privacy loss, as masses in cells; privacy profiles known at points.

A law stands for a pair (P, Q) of output laws that dominates a release in one
direction; the loss of an outcome is ln(P/Q). Proof obligation: the pair of cell masses,
P grown and Q shrunk by the law's margin, dominates the release for every threshold test
at the edges of the cells.

A profile bounds delta from above at some epsilons. In t = exp(epsilon) the true one is
convex and decreasing, so chords between bounds bound it, and every point is a line
tpr <= delta + t alpha, with the mirror image beta >= (1 - alpha - delta) / t. Which
point is used decides tightness, never validity.

Kernel: mathematics.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Final, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from sordino.losses.curves.normal import tangents
from sordino.losses.curves.points import ELEMENTARY, Floats
from sordino.numbers.normal import normal_chance

Wide: TypeAlias = NDArray[np.floating[Any]]
"""Doubles, or the longer floats of the platform where sums need them."""

REACH = 12.5
"""Normal quantile beyond which a tail (4e-36) is counted as a certain breach."""

DEPTH = 9.5
"""Normal quantile (1e-21) below which losses are raised to the lowest cell."""


class AbstractLossLaw(ABC):
    """A dominating pair of laws, seen through its privacy loss."""

    @property
    @abstractmethod
    def margin(self) -> float:
        """Return the relative error of the masses of a tail."""

    @property
    @abstractmethod
    def span(self) -> tuple[float, float]:
        """Return finite losses between which all but negligible mass lies."""

    @property
    @abstractmethod
    def deviation(self) -> float:
        """Return about the standard deviation of the loss, to choose a grid by."""

    @property
    @abstractmethod
    def step(self) -> float:
        """Step of which all finite losses are multiples, or 0."""

    @property
    @abstractmethod
    def anchor(self) -> float:
        """Return a loss of large mass that a grid should meet, or 0."""

    @property
    @abstractmethod
    def table_size(self) -> int:
        """Return how many numbers the law holds in tables."""

    @abstractmethod
    def masses(self, edges: Floats) -> tuple[Floats, Floats]:
        """Return the masses of P and of Q in (-inf, e0), [e0, e1), ..., [en, inf].

        Edges ascend and may be infinite. A loss of plus infinity counts to the cell
        that ends at the first infinite edge, a loss of minus infinity to the cell that
        begins at the last one.
        """


Laws: TypeAlias = tuple[AbstractLossLaw, ...]
"""Laws of the directions: removing a unit, then adding one; one law serves both."""


@final
@dataclass(frozen=True, eq=False)
class Atoms(AbstractLossLaw):
    """Finitely many losses, ascending, with their masses under P and under Q."""

    losses: Floats
    p: Floats
    q: Floats
    infinity: float
    """The mass of P where Q has none."""
    step: float = 0.0
    margin: float = ELEMENTARY

    @property
    def table_size(self) -> int:
        return 3 * len(self.losses)

    @property
    def deviation(self) -> float:
        total = max(float(self.p.sum()), 1e-300)  # all of P may be a breach
        mean = float(self.p @ self.losses) / total
        return math.sqrt(float(self.p @ (self.losses - mean) ** 2) / total)

    @property
    def anchor(self) -> float:
        return self.step

    @property
    def span(self) -> tuple[float, float]:
        if not len(self.losses):
            return 0.0, 0.0
        return float(self.losses[0]), float(self.losses[-1])

    def masses(self, edges: Floats) -> tuple[Floats, Floats]:
        cell = np.searchsorted(edges, self.losses, side="right")
        p: Floats = np.bincount(cell, self.p, len(edges) + 1).astype(np.float64)
        q: Floats = np.bincount(cell, self.q, len(edges) + 1).astype(np.float64)
        # a breach is an infinite loss, never dropped
        p[np.searchsorted(edges, np.inf, side="left")] += self.infinity
        # Q where P has nothing: a loss of minus infinity
        rest = max(0.0, 1 - float(self.q.sum()))
        q[np.searchsorted(edges, -np.inf, side="right")] += rest
        return p, q


@final
@dataclass(frozen=True)
class GeometricLaw(AbstractLossLaw):
    """Two-sided geometric noise moved by `shift`, `rate` = 1/scale.

    The losses are (shift - 2j) rate for j = 0..shift; the first j + 1 of them have
    P-mass 1 - a^(j + 1)/(1 + a) with a = exp(-rate), and together mass 1.
    """

    shift: int
    rate: float
    margin: float = 4 * ELEMENTARY
    table_size: int = 0

    @property
    def deviation(self) -> float:
        return min(self.shift * self.rate, 2.0)

    @property
    def step(self) -> float:
        """Return the lattice: every second multiple of the rate, or every one."""
        return self.rate * (1 if self.shift % 2 else 2)

    @property
    def anchor(self) -> float:
        return self.step

    @property
    def span(self) -> tuple[float, float]:
        return -self.shift * self.rate, self.shift * self.rate

    def masses(self, edges: Floats) -> tuple[Floats, Floats]:
        """Return the masses from the closed tail, and Q by reflection.

        An atom within rounding of an edge counts to the cell above it.
        """
        count = self._count(edges)
        p_below = self._lower_mass(count)
        # Q[L >= l] = P[L <= -l]: the atoms at and below -l
        q_above = self._lower_mass(self.shift + 1 - count)
        return cells(1 - p_below, p_below), cells(q_above, 1 - q_above)

    def _count(self, edges: Floats) -> Floats:
        with np.errstate(invalid="ignore"):
            place = (self.shift - edges / self.rate) / 2
        # an atom a rounding below the edge counts above it, where losses are larger
        answer: Floats = np.clip(np.floor(place + 1e-9) + 1, 0, self.shift + 1)
        return answer

    def _lower_mass(self, count: Floats) -> Floats:
        a = np.exp(-self.rate)
        mass = np.exp(-self.rate * count) / (1 + a)
        return np.where(count <= 0, 1.0, np.where(count > self.shift, 0.0, mass))


@final
@dataclass(frozen=True)
class GaussianLaw(AbstractLossLaw):
    """N(mu, 1) against N(0, 1): the loss is N(mu^2/2, mu^2) under P."""

    mu: float
    margin: float = 1.1e-12
    step: float = 0.0
    anchor: float = 0.0
    table_size: int = 0

    @property
    def deviation(self) -> float:
        return self.mu

    @property
    def span(self) -> tuple[float, float]:
        half = self.mu**2 / 2
        return -half - DEPTH * self.mu, half + REACH * self.mu

    def masses(self, edges: Floats) -> tuple[Floats, Floats]:
        x, half = edges / self.mu, self.mu / 2
        # of the two tails beside a point only the shorter is computed
        return (
            _from_tails(x - half, normal_chance(-np.abs(x - half))),
            _from_tails(x + half, normal_chance(-np.abs(x + half))),
        )


def _from_tails(x: Floats, tails: Floats) -> Floats:
    """Return the masses of a symmetric law between ascending points.

    `tails` are the masses beyond |x|; as in `cells`, the shorter tail is differenced.
    """
    masses = np.empty(len(x) + 1)
    np.abs(np.diff(tails), out=masses[1:-1])
    middle = int(np.searchsorted(x, 0.0))
    if 0 < middle < len(x):
        masses[middle] = 1 - tails[middle - 1] - tails[middle]
    masses[0] = tails[0] if middle else 1 - tails[0]
    masses[-1] = tails[-1] if middle < len(x) else 1 - tails[-1]
    return masses


def cells(above: Floats, below: Floats) -> Floats:
    """Return the masses between edges from the tails on both sides of each edge.

    The shorter tail is differenced, so sums of cells give back the tails computed:
    their relative error does not grow with the number of cells.
    """
    right = above[:-1] - above[1:]
    left = below[1:] - below[:-1]
    middle = 1 - below[:-1] - above[1:]
    inner = np.where(
        above[:-1] <= below[:-1], right, np.where(below[1:] <= above[1:], left, middle)
    )
    # rounded tails may cross by an ulp
    return np.concatenate((below[:1], np.maximum(inner, 0.0), above[-1:]))


def mirror_law(losses: Floats, q: Wide, p: Wide, infinity: float) -> Atoms:
    """Return the symmetric law with given masses at losses > 0, and the rest at 0.

    Under exchange of P and Q a symmetric law is reflected: the mass of P at -l is the
    mass of Q at l.
    """
    rest = np.maximum(0.0, 1 - infinity - p.sum() - q.sum())
    return Atoms(
        np.concatenate((-losses[::-1], [0.0], losses)),
        np.concatenate((q[::-1], [rest], p)).astype(np.float64),
        np.concatenate((p[::-1], [rest], q)).astype(np.float64),
        infinity,
    )


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
        # delta falls with epsilon: an earlier bound holds later, too
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
        # searchsorted needs the order that rounding may break
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
        # a share too small keeps the chord too high
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
        # never beyond the point that is known to meet delta
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


_COARSE = 1024


@final
@dataclass(frozen=True, eq=False)
class MovedLaw(AbstractLossLaw):
    """A law with every loss moved, part of P certain to breach, and part of Q lost.

    P is `breach` at infinity plus (1 - breach) times the law; Q keeps (1 - lost) of it:
    the exact joint form of a thresholded release.
    """

    base: AbstractLossLaw
    breach: float
    lost: float

    @property
    def table_size(self) -> int:
        return self.base.table_size

    @property
    def margin(self) -> float:
        return self.base.margin + ELEMENTARY

    @property
    def deviation(self) -> float:
        return self.base.deviation

    @property
    def shift(self) -> float:
        """Return how far the losses move."""
        return float(np.log1p(-self.breach) - np.log1p(-self.lost))

    @property
    def span(self) -> tuple[float, float]:
        low, high = self.base.span
        return low + self.shift, high + self.shift

    @property
    def step(self) -> float:
        # a moved lattice misses the multiples
        return self.base.step if self.shift == 0 else 0.0

    @property
    def anchor(self) -> float:
        return self.base.anchor if self.shift == 0 else 0.0

    def masses(self, edges: Floats) -> tuple[Floats, Floats]:
        p, q = self.base.masses(edges - self.shift)
        p, q = p * (1 - self.breach), q * (1 - self.lost)
        p[np.searchsorted(edges, np.inf, side="left")] += self.breach
        q[np.searchsorted(edges, -np.inf, side="right")] += self.lost
        return p, q


@dataclass(frozen=True, eq=False)
class AbstractSampledLaw(AbstractLossLaw):
    """A law on a Poisson sample, that keeps each unit with chance `rate`."""

    base: AbstractLossLaw
    rate: float
    step: ClassVar[float] = 0.0
    anchor: ClassVar[float] = 0.0

    @property
    def table_size(self) -> int:
        return self.base.table_size

    @property
    def margin(self) -> float:
        return self.base.margin + 4 * ELEMENTARY

    @cached_property
    def deviation(self) -> float:
        return _deviation(self)


@final
@dataclass(frozen=True, eq=False)
class SampledLaw(AbstractSampledLaw):
    """When the unit is removed: (1-q) Q + q P against Q.

    Its loss is ln(1 - q + q exp(loss)), increasing in the loss: cells become cells.
    """

    @property
    def span(self) -> tuple[float, float]:
        low, high = (
            float(np.logaddexp(np.log1p(-self.rate), np.log(self.rate) + x))
            for x in self.base.span
        )
        return low, high

    def masses(self, edges: Floats) -> tuple[Floats, Floats]:
        p, q = self.base.masses(_preimage(edges, self.rate))
        return (1 - self.rate) * q + self.rate * p, q


@final
@dataclass(frozen=True, eq=False)
class SampledAddingLaw(AbstractSampledLaw):
    """When the unit is added: P against (1-q) P + q Q."""

    @property
    def span(self) -> tuple[float, float]:
        low, high = (
            float(-np.logaddexp(np.log1p(-self.rate), np.log(self.rate) - x))
            for x in self.base.span
        )
        # where Q has nothing the loss is -ln(1 - rate), no longer infinite
        return low, max(high, float(-np.log1p(-self.rate)))

    def masses(self, edges: Floats) -> tuple[Floats, Floats]:
        p, q = self.base.masses(-_preimage(-edges, self.rate))
        return p, (1 - self.rate) * p + self.rate * q


def sampled_laws(source: Callable[[], Laws], rate: float) -> Laws:
    """Return the law of removing a unit from a sample, and of adding one.

    The two differ, and both are kept (Zhu, Dong and Wang 2022).
    """
    laws = source()
    return SampledLaw(laws[0], rate), SampledAddingLaw(laws[-1], rate)


@final
@dataclass(frozen=True, eq=False)
class MixtureLaw(AbstractLossLaw):
    """One of several laws, chosen at random by public weights that sum to 1."""

    parts: tuple[tuple[float, AbstractLossLaw], ...]
    step: float = 0.0
    anchor: float = 0.0

    @property
    def table_size(self) -> int:
        return sum(law.table_size for _, law in self.parts)

    @property
    def margin(self) -> float:
        return max(law.margin for _, law in self.parts) + ELEMENTARY

    @cached_property
    def deviation(self) -> float:
        return _deviation(self)

    @property
    def span(self) -> tuple[float, float]:
        spans = [law.span for _, law in self.parts]
        return min(low for low, _ in spans), max(high for _, high in spans)

    def masses(self, edges: Floats) -> tuple[Floats, Floats]:
        masses = [(weight, *law.masses(edges)) for weight, law in self.parts]
        p = np.sum([weight * p for weight, p, _ in masses], axis=0)
        q = np.sum([weight * q for weight, _, q in masses], axis=0)
        return p, q


def _deviation(law: AbstractLossLaw) -> float:
    low, high = law.span
    for _ in range(2):
        edges = np.linspace(low, max(high, low + 1e-9), _COARSE)
        p = law.masses(edges)[0][1:-1]
        middle = (edges[1:] + edges[:-1]) / 2
        total = max(float(p.sum()), 1e-300)
        mean = float(p @ middle) / total
        deviation = math.sqrt(float(p @ (middle - mean) ** 2) / total)
        low, high = max(low, mean - 20 * deviation), min(high, mean + 20 * deviation)
    return deviation


def _preimage(edges: Floats, rate: float) -> Floats:
    if rate == 1:
        return edges
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        inner = np.expm1(np.minimum(edges, 500.0)) / rate
        losses = np.log1p(np.maximum(inner, -1.0))  # no loss lies below ln(1 - rate)
        # exp(709) overflows; from 500 on the two agree to all digits
        return np.where(edges > 500.0, edges - np.log(rate), losses)


_MOST_HELD: Final = 1 << 20
"""Numbers in the tables that are kept."""


@final
@dataclass(frozen=True, slots=True)
class Outline(AbstractLossLaw):
    """What a grid is chosen by, and how to make the law again."""

    source: Callable[[], Laws]
    side: int
    margin: float = 0.0
    span: tuple[float, float] = (0.0, 0.0)
    deviation: float = 0.0
    step: float = 0.0
    anchor: float = 0.0
    table_size: int = 0

    def masses(self, edges: Floats) -> tuple[Floats, Floats]:
        return self.source()[self.side].masses(edges)


def outline_laws(sources: Iterable[Callable[[], Laws]]) -> list[Laws]:
    """Return the laws of each source, as outlines once the tables are large."""
    listed: list[Laws] = []
    room = _MOST_HELD
    for source in sources:
        laws = source()
        room -= sum(law.table_size for law in laws)
        listed.append(laws if room >= 0 else _outlines(laws, source))
    return listed


def _outlines(laws: Laws, source: Callable[[], Laws]) -> Laws:
    return tuple(
        Outline(source, side, law.margin, law.span, law.deviation, law.step, law.anchor)
        if law.table_size
        else law
        for side, law in enumerate(laws)
    )


@dataclass(frozen=True)
class AbstractRangeLaw(AbstractLossLaw):
    """Losses from -ratio to ratio, both attained, on no lattice and in no table."""

    ratio: float
    margin: ClassVar[float] = ELEMENTARY
    step: ClassVar[float] = 0.0
    table_size: ClassVar[int] = 0

    @property
    def deviation(self) -> float:
        return min(self.ratio, 2.0)

    @property
    def anchor(self) -> float:
        """Return the greatest loss: half of P has it, or the density is highest."""
        return self.ratio

    @property
    def span(self) -> tuple[float, float]:
        return -self.ratio, self.ratio
