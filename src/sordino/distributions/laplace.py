"""Laplace noise on the reals and on lattices."""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import final

import numpy as np
from flint import arb

from sordino.distributions.base import PRECISION, AbstractLatticeLaw, AbstractLaw
from sordino.distributions.blends import AbstractBlend, Floats, LaplaceBlend
from sordino.numbers import Exact, ball, fraction, sqrt, up
from sordino.numbers.precision import precision


@final
@dataclass(frozen=True)
class ContinuousLaplaceLaw(AbstractLaw):
    """Density exp(-|x| / scale) / (2 scale)."""

    scale: Exact

    @cached_property
    def deviation(self) -> float:
        """Return sqrt(2) scale."""
        return up(self.scale * sqrt(Fraction(2)))

    @property
    def blend(self) -> AbstractBlend:
        """Return sums of Laplace noises."""
        return LaplaceBlend()

    @property
    def spread(self) -> float:
        """Return the scale."""
        return up(self.scale)

    @property
    def slip(self) -> float:
        """Return zero."""
        return 0.0

    def log_at_least(self, x: Floats) -> Floats:
        """Return the logarithm of the tail."""
        return self.blend.log_tail(x, np.array([[self.spread]]))

    def at_least(self, x: Exact) -> arb:
        """Return exp(-x / scale) / 2, or one minus its mirror image."""
        size = abs(x) if isinstance(x, Fraction) else x
        tail = (-ball(size) / ball(self.scale)).exp() / 2
        return tail if x >= 0 else 1 - tail

    def chance_above(self, x: Exact) -> arb:
        """Return P[Z >= x]: a point has no mass."""
        return self.at_least(x)

    def upper_quantile(self, tail: Fraction) -> Exact:
        """Return -scale log(2 tail)."""
        if tail == Fraction(1, 2):
            return Fraction(0)
        return fraction((-ball(self.scale) * ball(2 * tail).log()).upper())

    def _lower_quantile(self, p: Fraction) -> Exact:
        """Return scale log(2 p)."""
        return fraction((ball(self.scale) * ball(2 * p).log()).upper())


@final
@dataclass(frozen=True)
class DiscreteLaplaceLaw(AbstractLatticeLaw):
    """P[K = k] proportional to exp(-|k| unit / scale): the two-sided geometric."""

    scale: Exact
    unit: Fraction = Fraction(1)

    @cached_property
    def deviation(self) -> float:
        """Return unit sqrt(2 q) / (1 - q) with q = exp(-unit / scale).

        That is unit / (sqrt(2) sinh(unit / (2 scale))), which loses no digits.
        """
        with precision(PRECISION):
            half = ball(self.unit / self.scale) / 2
            return up(ball(self.unit) / (arb(2).sqrt() * half.sinh()))

    @property
    def blend(self) -> AbstractBlend:
        """Return sums of Laplace noises."""
        return LaplaceBlend()

    @property
    def spread(self) -> float:
        """Return the scale."""
        return up(self.scale)

    @property
    def slip(self) -> float:
        """Return unit - scale ln(2 / (1 + q)), between a half and a whole unit.

        P[K >= k] = q**k / (1 + q) is the Laplace tail at k - d, where d in steps is
        ln(2 / (1 + q)) scale / unit, at most 1/2: K = k where the real noise lies from
        k - d to k + 1 - d (docs/proofs/intervals.md, lemma 2).
        """
        with precision(PRECISION):
            rest = (1 + (-ball(self.unit / self.scale)).exp()) / 2
            return up(ball(self.unit) + ball(self.scale) * rest.log())

    def log_at_least(self, x: Floats) -> Floats:
        """Return ln q**k / (1 + q) from k = 0 on, else that of its complement."""
        steps = np.ceil(x / float(self.unit))
        rate = up(self.unit / self.scale)
        beyond = -rate * np.where(steps > 0, steps, 1 - steps) - np.log1p(np.exp(-rate))
        return np.asarray(np.where(steps > 0, beyond, np.log1p(-np.exp(beyond))))

    def tail(self, k: int) -> arb:
        """Return q**k / (1 + q) with q = exp(-unit / scale)."""
        rate = ball(self.unit / self.scale)
        return (-k * rate).exp() / (1 + (-rate).exp())

    def near_quantile(self, tail: float) -> int:
        """Invert the tail in doubles."""
        rate = up(self.unit / self.scale)
        log_tail = math.log(tail) if tail > 0 else -745.0
        return int(-(log_tail + math.log1p(math.exp(-rate))) / rate)
