"""What every mechanism is: noise, a privacy map, and what is public about both."""

import math
from abc import ABC, abstractmethod
from fractions import Fraction
from typing import Any

import pyarrow as pa
from flint import ctx

from sordino.distributions.base import AbstractLaw
from sordino.mechanisms.carrier import AbstractCarrier
from sordino.mechanisms.containers import is_number, opened
from sordino.mechanisms.domain import Metric, NumberDomain
from sordino.numbers import exact, probability
from sordino.sampling.bits import Bits

_PRECISION = 128


class AbstractMechanism(ABC):
    """A randomised function with a privacy map.

    Proof obligation of `map`: for any two inputs at distance at most d_in, the
    trade-off curve between the two outputs lies on or above the curve of `map(d_in)`.
    """

    @property
    @abstractmethod
    def input_domain(self) -> NumberDomain:
        """Return what the mechanism takes."""

    @property
    @abstractmethod
    def input_metric(self) -> Metric:
        """Return the distance in which `d_in` is stated."""

    @property
    @abstractmethod
    def output_measure(self) -> type:
        """Return the class of the losses that `map` returns."""

    @property
    @abstractmethod
    def adds_no_noise(self) -> bool:
        """Tell whether this is the explicit no-noise mode."""

    @property
    @abstractmethod
    def law(self) -> AbstractLaw:
        """Return the law of the noise."""

    @property
    @abstractmethod
    def carrier(self) -> AbstractCarrier:
        """Return what adds the noise to values."""

    @abstractmethod
    def map(self, d_in: Any) -> Any:
        """Return the loss between inputs at distance d_in."""

    @property
    def is_interactive(self) -> bool:
        """Return False: a call answers once."""
        return False

    @property
    def output_type(self) -> pa.DataType:
        """Return the Arrow type of the answers."""
        return self.input_domain.arrow

    def __call__(self, value: Any) -> Any:
        """Return the value with noise: the answer has the type of the question."""
        if is_number(value):
            return self.carrier.one(value, Bits())
        values, close = opened(value)
        return close(self.carrier.many(values, Bits()))

    def check(self, d_in: Any, d_out: Any) -> bool:
        """Tell whether inputs at distance d_in are at most d_out apart in the output."""
        return bool(d_out.admits(self.map(d_in)))

    def cdf(self, x: Any) -> float:
        """Return P[Z <= x] of the noise Z."""
        with ctx.workprec(_PRECISION):
            return float(self.law.at_most(_point(x)).mid())

    def inverse_cdf(self, p: Any) -> float | int:
        """Return the least x with P[Z <= x] >= p of the noise Z."""
        return self._plain(self.law.quantile(probability(p=p)))

    def error(self, confidence: Any) -> float | int:
        """Return the least t with P[|Z| <= t] >= confidence."""
        return self._plain(self.law.quantile((1 + probability(confidence=confidence)) / 2))

    def _plain(self, x: Any) -> float | int:
        """Return a quantile as an int on the integers, else as the nearest double."""
        if isinstance(x, float):
            return x
        return int(x) if self.input_domain.is_integer else float(x)


def _point(x: Any) -> Fraction:
    """Return an exact point of the real line."""
    return exact(x=x)
