"""Laws made from laws: moved, on a Poisson sample, or mixed."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, final

import numpy as np

from sordino.curves.laws.law import AbstractLossLaw, Laws
from sordino.curves.points import ELEMENTARY, Floats

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
        """Return what the law before holds."""
        return self.base.table_size

    @property
    def margin(self) -> float:
        """Return the margin of the law, and a step of rounding."""
        return self.base.margin + ELEMENTARY

    @property
    def deviation(self) -> float:
        """Return that of the law."""
        return self.base.deviation

    @property
    def shift(self) -> float:
        """Return how far the losses move."""
        return float(np.log1p(-self.breach) - np.log1p(-self.lost))

    @property
    def span(self) -> tuple[float, float]:
        """Return the moved range."""
        low, high = self.base.span
        return low + self.shift, high + self.shift

    @property
    def step(self) -> float:
        """Return the step, which only an unmoved law keeps."""
        return self.base.step if self.shift == 0 else 0.0

    @property
    def anchor(self) -> float:
        """Return the anchor of an unmoved law."""
        return self.base.anchor if self.shift == 0 else 0.0

    def masses(self, edges: Floats) -> tuple[Floats, Floats]:
        """Return the masses of the moved law."""
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
        """Return what the law before holds."""
        return self.base.table_size

    @property
    def margin(self) -> float:
        """Return the margin of the law, with the rounding of edges and mixture."""
        return self.base.margin + 4 * ELEMENTARY

    @cached_property
    def deviation(self) -> float:
        """Return the standard deviation on a coarse grid."""
        return _deviation(self)


@final
@dataclass(frozen=True, eq=False)
class SampledLaw(AbstractSampledLaw):
    """When the unit is removed: (1-q) Q + q P against Q.

    Its loss is ln(1 - q + q exp(loss)), increasing in the loss: cells become cells.
    """

    @property
    def span(self) -> tuple[float, float]:
        """Return the range between the transformed ends."""
        low, high = (
            float(np.logaddexp(np.log1p(-self.rate), np.log(self.rate) + x))
            for x in self.base.span
        )
        return low, high

    def masses(self, edges: Floats) -> tuple[Floats, Floats]:
        """Return the mixed masses between the edges of the law before sampling."""
        p, q = self.base.masses(_preimage(edges, self.rate))
        return (1 - self.rate) * q + self.rate * p, q


@final
@dataclass(frozen=True, eq=False)
class SampledAddingLaw(AbstractSampledLaw):
    """When the unit is added: P against (1-q) P + q Q."""

    @property
    def span(self) -> tuple[float, float]:
        """Return the range between the transformed ends."""
        low, high = (
            float(-np.logaddexp(np.log1p(-self.rate), np.log(self.rate) - x))
            for x in self.base.span
        )
        return low, max(high, float(-np.log1p(-self.rate)))

    def masses(self, edges: Floats) -> tuple[Floats, Floats]:
        """Return the mixed masses between the edges of the law before sampling."""
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
        """Return what all parts hold."""
        return sum(law.table_size for _, law in self.parts)

    @property
    def margin(self) -> float:
        """Return the greatest margin, and a step of rounding."""
        return max(law.margin for _, law in self.parts) + ELEMENTARY

    @cached_property
    def deviation(self) -> float:
        """Return the standard deviation on a coarse grid."""
        return _deviation(self)

    @property
    def span(self) -> tuple[float, float]:
        """Return the range that covers all parts."""
        spans = [law.span for _, law in self.parts]
        return min(low for low, _ in spans), max(high for _, high in spans)

    def masses(self, edges: Floats) -> tuple[Floats, Floats]:
        """Return the weighted sums of the masses."""
        masses = [(weight, *law.masses(edges)) for weight, law in self.parts]
        p = np.sum([weight * p for weight, p, _ in masses], axis=0)
        q = np.sum([weight * q for weight, _, q in masses], axis=0)
        return p, q


def _deviation(law: AbstractLossLaw) -> float:
    """Return the standard deviation on two grids, the second around the bulk."""
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
    """Return the losses that sampling maps to the edges, -inf where there is none."""
    if rate == 1:
        return edges
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        inner = np.expm1(np.minimum(edges, 500.0)) / rate
        losses = np.log1p(np.maximum(inner, -1.0))
        return np.where(edges > 500.0, edges - np.log(rate), losses)
