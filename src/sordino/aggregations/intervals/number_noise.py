"""The noise of one number of a release, in units of the answer."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import final

import numpy as np

from sordino.distributions.blends import AbstractBlend
from sordino.mechanisms.noise_mechanism import AbstractNoiseMechanism
from sordino.numbers import up


@final
@dataclass(frozen=True)
class Noise:
    """The noise of a mechanism, in units of the answer.

    The answer is unit * (exact integer + noise). `rounding` is the greatest distance by
    which it was moved afterwards: 1/2 where a count was rounded to an integer.
    """

    mechanism: AbstractNoiseMechanism
    unit: Fraction = Fraction(1)
    rounding: Fraction = Fraction(0)

    @cached_property
    def sd(self) -> float:
        """Return the standard deviation; a rounding adds one third of its square."""
        drawn = self.mechanism.law.deviation * up(self.unit)
        return float(np.hypot(drawn, up(self.rounding) / np.sqrt(3)))

    def reach(self, confidence: Fraction) -> float:
        """Return a t with P[|noise| <= t] >= confidence."""
        error = self.mechanism.error(confidence)
        if error == np.inf:
            return np.inf
        return up(Fraction(error) * self.unit + self.rounding)

    @property
    def blend(self) -> AbstractBlend:
        """Return the law of sums of such noises."""
        return self.mechanism.law.blend

    @cached_property
    def spread(self) -> float:
        """Return the scale of the noise among the real ones of its kind."""
        return self.mechanism.law.spread * up(self.unit)

    @cached_property
    def slip(self) -> float:
        """Return how far the noise is at most from the real one of that scale."""
        return self.mechanism.law.slip * up(self.unit) + up(self.rounding)

    def times(self, factor: Fraction) -> "Noise":
        """Return the noise in other units of the answer."""
        return Noise(self.mechanism, self.unit * factor, self.rounding * factor)
