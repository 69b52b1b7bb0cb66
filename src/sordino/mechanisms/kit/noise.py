"""Kinds of noise: how to draw it, and the law to compute with."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import final

from sordino.distributions.base import AbstractLaw
from sordino.distributions.gaussian import ContinuousGaussianLaw, DiscreteGaussianLaw
from sordino.distributions.laplace import ContinuousLaplaceLaw, DiscreteLaplaceLaw
from sordino.distributions.point import PointMass
from sordino.numbers import Exact
from sordino.sampling.floats import FloatFormat, Nearest, float_sampler
from sordino.sampling.gaussian import GaussianFamily
from sordino.sampling.integers import Unchanged, integer_sampler
from sordino.sampling.laplace import LaplaceFamily
from sordino.sampling.sampler import AbstractSampler
from sordino.sampling.tails import Tail


class AbstractNoise(ABC):
    """Symmetric noise of one kind and spread.

    Proof obligation: what the samplers add has exactly the law of the same grid.
    """

    @property
    @abstractmethod
    def is_silent(self) -> bool:
        """Tell whether this is the absence of noise."""

    @abstractmethod
    def integers(self) -> AbstractSampler:
        """Return the sampler on the integers."""

    @abstractmethod
    def floats(self, grid: int | None, target: FloatFormat) -> AbstractSampler:
        """Return the sampler on the reals, or on the multiples of 2**grid."""

    @abstractmethod
    def law(self, grid: int | None) -> AbstractLaw:
        """Return the law on the reals, or on the multiples of 2**grid."""

    @abstractmethod
    def tail(self, level: Fraction) -> Tail | None:
        """Return how the noise goes on beyond a level > 0, None if it never does."""


@final
@dataclass(frozen=True)
class LaplaceNoise(AbstractNoise):
    """Laplace noise: density proportional to exp(-|x| / scale)."""

    scale: Exact

    @property
    def is_silent(self) -> bool:
        """Return False."""
        return False

    def integers(self) -> AbstractSampler:
        """Return the sampler on the integers."""
        return integer_sampler(LaplaceFamily(self.scale))

    def floats(self, grid: int | None, target: FloatFormat) -> AbstractSampler:
        """Return the sampler on the reals, or on the multiples of 2**grid."""
        return float_sampler(LaplaceFamily(self.scale), grid, target)

    def law(self, grid: int | None) -> AbstractLaw:
        """Return the continuous law, or the two-sided geometric one."""
        if grid is None:
            return ContinuousLaplaceLaw(self.scale)
        return DiscreteLaplaceLaw(self.scale, Fraction(2) ** grid)

    def tail(self, level: Fraction) -> Tail | None:
        """Return an exponential tail, the same beyond every level."""
        del level
        return Tail(Fraction(1) / self.scale, None)


@final
@dataclass(frozen=True)
class GaussianNoise(AbstractNoise):
    """Gaussian noise: density proportional to exp(-x**2 / (2 variance))."""

    variance: Exact

    @property
    def is_silent(self) -> bool:
        """Return False."""
        return False

    def integers(self) -> AbstractSampler:
        """Return the sampler on the integers."""
        return integer_sampler(GaussianFamily(self.variance))

    def floats(self, grid: int | None, target: FloatFormat) -> AbstractSampler:
        """Return the sampler on the reals, or on the multiples of 2**grid."""
        return float_sampler(GaussianFamily(self.variance), grid, target)

    def law(self, grid: int | None) -> AbstractLaw:
        """Return the continuous or the discrete Gaussian."""
        if grid is None:
            return ContinuousGaussianLaw(self.variance)
        return DiscreteGaussianLaw(self.variance, Fraction(2) ** grid)

    def tail(self, level: Fraction) -> Tail | None:
        """Return exp(-(level + x)**2 / (2 variance)) as a function of x."""
        return Tail(level / self.variance, self.variance)


@final
@dataclass(frozen=True)
class NoNoise(AbstractNoise):
    """The explicit absence of noise."""

    @property
    def is_silent(self) -> bool:
        """Return True."""
        return True

    def integers(self) -> AbstractSampler:
        """Return the sampler that changes nothing."""
        return Unchanged()

    def floats(self, grid: int | None, target: FloatFormat) -> AbstractSampler:
        """Return the sampler that only rounds to the format."""
        del grid
        return Nearest(target)

    def law(self, grid: int | None) -> AbstractLaw:
        """Return a point mass at zero."""
        del grid
        return PointMass()

    def tail(self, level: Fraction) -> Tail | None:
        """Return nothing: no level is reached."""
        del level
        return None
