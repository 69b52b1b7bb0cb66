"""The law of a privacy loss: how much probability lies in each cell of losses.

A law stands for a pair (P, Q) of output laws that dominates a release in one
direction. The loss of an outcome is ln(P/Q). What every law can answer is the mass of
P and of Q in cells of losses, and that is all the discretisation needs.

Proof obligation: the pair of cell masses, P grown and Q shrunk by the law's margin,
dominates the release for every threshold test at the edges of the cells.
"""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from sordino.curves.points import ELEMENTARY, Floats
from sordino.numbers.normal_law import normal_chance

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
        """Return a step such that all finite losses are its multiples, or 0."""

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
        """Return the number of losses and masses."""
        return 3 * len(self.losses)

    @property
    def deviation(self) -> float:
        """Return the standard deviation of the finite losses."""
        total = max(float(self.p.sum()), 1e-300)
        mean = float(self.p @ self.losses) / total
        return math.sqrt(float(self.p @ (self.losses - mean) ** 2) / total)

    @property
    def anchor(self) -> float:
        """Return the step."""
        return self.step

    @property
    def span(self) -> tuple[float, float]:
        """Return the least and the greatest loss."""
        if not len(self.losses):
            return 0.0, 0.0
        return float(self.losses[0]), float(self.losses[-1])

    def masses(self, edges: Floats) -> tuple[Floats, Floats]:
        """Return the sums of the atoms in each cell."""
        cell = np.searchsorted(edges, self.losses, side="right")
        p: Floats = np.bincount(cell, self.p, len(edges) + 1).astype(np.float64)
        q: Floats = np.bincount(cell, self.q, len(edges) + 1).astype(np.float64)
        p[np.searchsorted(edges, np.inf, side="left")] += self.infinity
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
        """Return about the greatest loss, and at most about that of the long part."""
        return min(self.shift * self.rate, 2.0)

    @property
    def step(self) -> float:
        """Return the lattice: every second multiple of the rate, or every one."""
        return self.rate * (1 if self.shift % 2 else 2)

    @property
    def anchor(self) -> float:
        """Return the step."""
        return self.step

    @property
    def span(self) -> tuple[float, float]:
        """Return the range of the loss, attained on both sides."""
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
        """Return how many atoms lie at or above each edge."""
        with np.errstate(invalid="ignore"):
            place = (self.shift - edges / self.rate) / 2
        answer: Floats = np.clip(np.floor(place + 1e-9) + 1, 0, self.shift + 1)
        return answer

    def _lower_mass(self, count: Floats) -> Floats:
        """Return the mass of P on all but the `count` greatest losses."""
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
        """Return mu."""
        return self.mu

    @property
    def span(self) -> tuple[float, float]:
        """Return the range that holds nearly all mass of P above and Q below."""
        half = self.mu**2 / 2
        return -half - DEPTH * self.mu, half + REACH * self.mu

    def masses(self, edges: Floats) -> tuple[Floats, Floats]:
        """Return the masses from both tails of the two normal laws."""
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
