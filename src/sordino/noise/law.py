"""What a law of noise answers: tails and quantiles as enclosures; no noise.

Tails say in their name whether the point itself belongs to them. Every probability is
a ball of python-flint at the working precision: an enclosure, never an estimate.

Kernel: mathematics.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Protocol, final

import numpy as np
from flint import arb

from sordino.noise.sums import AbstractBlend, Floats, LaplaceBlend
from sordino.numbers import Exact, ball, fraction
from sordino.numbers.exact import floor_exact
from sordino.numbers.rounding import precision

PRECISION = 128
_HALF = Fraction(1, 2)


class Tails(Protocol):
    """What answers how likely large values are."""

    def at_least(self, x: Any) -> arb:
        """Return P[Z >= x]."""

    def chance_above(self, x: Any) -> arb:
        """Return P[Z > x]."""


class AbstractLaw(ABC):
    """The law of a symmetric noise Z on the reals, or on the multiples of a unit."""

    @property
    @abstractmethod
    def deviation(self) -> float:
        """Return the standard deviation, rounded up."""

    @property
    @abstractmethod
    def blend(self) -> AbstractBlend:
        """Law of the sum of several draws, on the reals."""

    @property
    @abstractmethod
    def spread(self) -> float:
        """Return the factor of the standard noise, rounded up."""

    @property
    @abstractmethod
    def slip(self) -> float:
        """Return how far Z lies at most from spread times the standard noise.

        That is, for the pair of both that has equal quantiles; 0 on the reals.
        """

    @abstractmethod
    def log_at_least(self, x: Floats) -> Floats:
        """Return ln P[Z >= x] for many x, to about twelve digits."""

    @abstractmethod
    def at_least(self, x: Exact) -> arb:
        """Return P[Z >= x]."""

    @abstractmethod
    def chance_above(self, x: Exact) -> arb:
        """Return P[Z > x]."""

    @abstractmethod
    def upper_quantile(self, tail: Fraction) -> Exact:
        """Return the least x with P[Z > x] <= tail, for 0 < tail <= 1/2.

        On the reals x is rounded up by less than one part in 2**100.
        """

    def at_most(self, x: Exact) -> arb:
        """Return P[Z <= x] = P[Z >= -x]; a Radical has no negative."""
        return (
            self.at_least(-x) if isinstance(x, Fraction) else 1 - self.chance_above(x)
        )

    def quantile(self, p: Fraction) -> Exact:
        """Return the least x with P[Z <= x] >= p, for 0 < p < 1."""
        with precision(PRECISION):
            if p >= _HALF:
                return self.upper_quantile(1 - p)
            return self._lower_quantile(p)

    @abstractmethod
    def _lower_quantile(self, p: Fraction) -> Exact:
        """Return the least x with P[Z <= x] >= p, for 0 < p < 1/2."""


class AbstractContinuousLaw(AbstractLaw):
    """The law of a symmetric noise on the reals."""

    slip: ClassVar[float] = 0.0

    @abstractmethod
    def point(self, tail: Fraction) -> arb:
        """Enclose the x with P[Z > x] = tail, for 0 < tail <= 1/2."""

    def log_at_least(self, x: Floats) -> Floats:
        return self.blend.log_tail(x, np.array([[self.spread]]))

    def chance_above(self, x: Exact) -> arb:
        return self.at_least(x)

    def upper_quantile(self, tail: Fraction) -> Exact:
        if tail == _HALF:  # exactly 0: a ball around it would end above
            return Fraction(0)
        # outward: too wide an interval is true, too narrow is not
        return fraction(self.point(tail).upper())

    def _lower_quantile(self, p: Fraction) -> Exact:
        return fraction((-self.point(p)).upper())


class AbstractLatticeLaw(AbstractLaw):
    """The law of unit * K for a symmetric integer K."""

    @property
    @abstractmethod
    def unit(self) -> Fraction:
        """Return the spacing of the lattice."""

    @abstractmethod
    def tail(self, k: int) -> arb:
        """Return P[K >= k] for an integer k >= 1."""

    @abstractmethod
    def near_quantile(self, tail: float) -> int:
        """Return a first guess of the least k with P[K > k] <= tail."""

    def at_least(self, x: Exact) -> arb:
        return self._chance_from(_round_up(x / self.unit))

    def chance_above(self, x: Exact) -> arb:
        return self._chance_from(floor_exact(x / self.unit) + 1)

    def upper_quantile(self, tail: Fraction) -> Exact:
        guess = max(0, self.near_quantile(float(tail)))
        # of balls a comparison is true only where it is certain: the step is enough
        steps = _least(lambda k: bool(self._chance_from(k + 1) <= ball(tail)), guess)
        return steps * self.unit

    def _lower_quantile(self, p: Fraction) -> Exact:
        """Mirror: P[K <= -k] = P[K >= k] >= p holds up to the last such k."""
        guess = max(0, self.near_quantile(float(p)))
        # where balls do not decide, the quantile nearer to 0: upwards
        steps = _least(lambda k: not self._chance_from(k + 1) >= ball(p), guess)
        return -steps * self.unit

    def _chance_from(self, k: int) -> arb:
        return self.tail(k) if k > 0 else 1 - self.tail(1 - k)


def _least(holds: Callable[[int], bool], guess: int) -> int:
    """Return the least k >= 0 from which `holds`, by growing steps from a guess.

    A guess made in doubles is off by as much as a double is: by many steps where the
    noise is large.

    >>> _least(lambda k: k >= 10**40, guess=7) == 10**40
    True
    """
    low, high, step = guess - 1, guess, 1
    while low >= 0 and holds(low):
        low, high, step = low - step, low, 2 * step
    while not holds(high):
        low, high, step = high, high + step, 2 * step
    low = max(low, -1)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


def _round_up(x: Exact) -> int:
    """Return the least integer not below x; a root is irrational."""
    return math.ceil(x) if isinstance(x, Fraction) else floor_exact(x) + 1


@final
@dataclass(frozen=True)
class PointMass(AbstractLaw):
    """P[Z = 0] = 1."""

    @property
    def deviation(self) -> float:
        return 0.0

    @property
    def blend(self) -> AbstractBlend:
        return LaplaceBlend()  # any will do: its factor is 0

    @property
    def spread(self) -> float:
        return 0.0

    @property
    def slip(self) -> float:
        return 0.0

    def log_at_least(self, x: Floats) -> Floats:
        return np.where(x <= 0, 0.0, -np.inf)

    def at_least(self, x: Exact) -> arb:
        return arb(int(x <= 0))

    def chance_above(self, x: Exact) -> arb:
        return arb(int(x < 0))

    def upper_quantile(self, tail: Fraction) -> Exact:
        return Fraction(0 * tail)

    def _lower_quantile(self, p: Fraction) -> Exact:
        return Fraction(0 * p)
