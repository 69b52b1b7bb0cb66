"""What every mechanism is: noise, a privacy map, and what is public about both."""

import math
from abc import abstractmethod
from fractions import Fraction
from functools import cached_property
from typing import Any, TypedDict, final, overload

import numpy as np
from numpy.typing import NDArray

from sordino import _validate
from sordino.distributions.base import AbstractLaw
from sordino.errors import InvalidParameter
from sordino.mechanisms.kit.carrier import AbstractCarrier, FloatCarrier, IntegerCarrier
from sordino.mechanisms.kit.containers import Kind, is_number, open_numbers
from sordino.mechanisms.kit.distance import Rounding, rounding_of
from sordino.mechanisms.kit.domain import (
    NumberDomain,
    float_domain,
    float_format,
)
from sordino.mechanisms.kit.noise import AbstractNoise
from sordino.mechanisms.mechanism import AbstractMechanism
from sordino.numbers import Exact, Number, outcome, positive, probability
from sordino.numbers.precision import enclose
from sordino.sampling.bits import Bits

COARSEST_GRID = 970
FINEST_GRID = -1074


@final
class IntegerOptions(TypedDict, total=False):
    """What `for_loss` passes on to a mechanism for integers."""

    dtype: str


@final
class FloatOptions(TypedDict, total=False):
    """What `for_loss` passes on to a mechanism for floats."""

    dtype: str
    granularity: int | None
    values: int | None


class AbstractNoiseMechanism(AbstractMechanism):
    """A randomised function that adds noise."""

    @property
    @abstractmethod
    def noise(self) -> AbstractNoise:
        """Return the noise that is added."""

    @property
    @abstractmethod
    def law(self) -> AbstractLaw:
        """Return the law of the noise."""

    @property
    def adds_no_noise(self) -> bool:
        """Tell whether this is the explicit no-noise mode."""
        return self.noise.is_silent

    @abstractmethod
    def __call__(self, value: Any) -> Any:
        """Return a noisy answer of the type of the question."""

    def cdf(self, x: Number) -> float:
        """Return P[Z <= x] of the noise Z."""
        point = outcome(x=x)
        return float(enclose(lambda: self.law.at_most(point)).mid())

    def inverse_cdf(self, p: Number) -> float | int:
        """Return the least x with P[Z <= x] >= p of the noise Z."""
        return self._quantile(probability(p=p))

    def error(self, confidence: Number) -> float | int:
        """Return the least t with P[|Z| <= t] >= confidence."""
        share = probability(confidence=confidence)
        return self._quantile((1 + share) / 2)

    def _quantile(self, p: Fraction) -> float | int:
        """Return a quantile as an int on the integers, else as the nearest double."""
        if p in {0, 1}:
            return math.inf if p else -math.inf
        x = self.law.quantile(p)
        return math.floor(x) if self.input_domain.is_integer else float(x)


class AbstractAdditiveMechanism(AbstractNoiseMechanism):
    """A mechanism that adds noise to each number it is given."""

    @property
    @abstractmethod
    def input_domain(self) -> NumberDomain:
        """Return the numbers it takes."""

    @property
    @abstractmethod
    def carrier(self) -> AbstractCarrier:
        """Return what adds the noise to values."""

    def _add_noise(self, value: Any) -> Any:
        """Return the value with noise: the answer has the type of the question."""
        if is_number(value):
            return self.carrier.one(value, Bits())
        values, close = open_numbers(value)
        return close(self.carrier.many(values, Bits()))


class AbstractFloatMechanism(AbstractAdditiveMechanism):
    """A mechanism for floats, on the reals or on a grid 2**granularity.

    Rounding to a grid costs a step for each value that a unit can change, so on a grid
    only single numbers are answered until `values` says how many those are at most.
    """

    dtype: str
    granularity: int | None
    values: int | None

    @property
    def input_domain(self) -> NumberDomain:
        """Return the finite floats of the dtype."""
        return NumberDomain(self.dtype)

    @cached_property
    def carrier(self) -> FloatCarrier:
        """Return what adds the noise to floats."""
        sampler = self.noise.floats(self.granularity, float_format(self.dtype))
        return FloatCarrier(self.input_domain, sampler, self.granularity)

    @cached_property
    def law(self) -> AbstractLaw:
        """Return the law of the noise on the reals or on the grid."""
        return self.noise.law(self.granularity)

    @property
    def rounding(self) -> Rounding | None:
        """Return the step of the grid and how many values of a call can change."""
        return rounding_of(self.granularity, self.values)

    @overload
    def __call__(self, value: float) -> float: ...
    @overload
    def __call__(self, value: np.number[Any]) -> np.floating[Any]: ...
    @overload
    def __call__(self, value: list[int] | list[float]) -> list[float]: ...
    @overload
    def __call__(self, value: tuple[float, ...]) -> tuple[float, ...]: ...
    @overload
    def __call__(self, value: NDArray[Any]) -> NDArray[np.floating[Any]]: ...
    @overload
    def __call__(self, value: Kind) -> Kind: ...

    def __call__(self, value: Any) -> Any:
        """Return the value with noise: the answer has the type of the question."""
        if self.granularity is not None and self.values is None:
            if is_number(value):
                return self.carrier.one(value, Bits())
            raise InvalidParameter(
                "values",
                None,
                "must say, on a grid, how many values one unit can change",
                f"Write granularity={self.granularity}, values=10, or leave out "
                "granularity: then rounding costs nothing.",
            )
        return self._add_noise(value)


class AbstractIntegerMechanism(AbstractAdditiveMechanism):
    """A mechanism for integers; sums saturate at the ends of the dtype."""

    dtype: str

    @overload
    def __call__(self, value: int) -> int: ...
    @overload
    def __call__(self, value: np.integer[Any]) -> np.integer[Any]: ...
    @overload
    def __call__(self, value: list[int]) -> list[int]: ...
    @overload
    def __call__(self, value: tuple[int, ...]) -> tuple[int, ...]: ...
    @overload
    def __call__(self, value: NDArray[Any]) -> NDArray[np.integer[Any]]: ...
    @overload
    def __call__(self, value: Kind) -> Kind: ...

    def __call__(self, value: Any) -> Any:
        """Return the value with noise: the answer has the type of the question."""
        return self._add_noise(value)

    @property
    def input_domain(self) -> NumberDomain:
        """Return the integers of the dtype."""
        return NumberDomain(self.dtype)

    @cached_property
    def carrier(self) -> IntegerCarrier:
        """Return what adds the noise to integers."""
        return IntegerCarrier(self.input_domain, self.noise.integers())

    @cached_property
    def law(self) -> AbstractLaw:
        """Return the law of the noise on the integers."""
        return self.noise.law(0)


def read_float_options(
    dtype: str, granularity: int | None, values: int | None
) -> dict[str, Any]:
    """Return the options of a mechanism for floats by name, checked."""
    if granularity is not None:
        granularity = _validate.integer(
            granularity=granularity, least=FINEST_GRID, most=COARSEST_GRID
        )
    if values is not None:
        values = _validate.integer(values=values, least=1)
    kind = float_domain(dtype).dtype
    return {"dtype": kind, "granularity": granularity, "values": values}


def variance_of(variance: Any, scale: Any) -> Exact:
    """Read a variance given as such or as its square root, exactly one of them."""
    if (variance is None) == (scale is None):
        raise InvalidParameter(
            "variance",
            variance,
            "or scale must be given, and not both",
            "Write variance=4 or scale=2.",
        )
    if scale is None:
        return positive(variance=variance)
    return positive(scale=scale) ** 2
