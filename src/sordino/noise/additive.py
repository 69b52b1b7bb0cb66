"""What every noise is and every mechanism is; the least noise within a loss.

Kernel: mathematics.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields
from fractions import Fraction
from functools import cached_property
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    NamedTuple,
    TypeAlias,
    TypedDict,
    TypeVar,
    final,
    overload,
)

import numpy as np
from numpy.typing import NDArray

from sordino.errors import InvalidParameter
from sordino.losses.curves.points import find_least
from sordino.losses.guarantees import Guarantees
from sordino.losses.loss import Budget, Loss
from sordino.noise.law import AbstractLaw, PointMass
from sordino.noise.numbers import (
    AbstractCarrier,
    Domain,
    FloatCarrier,
    IntegerCarrier,
    Kind,
    Metric,
    NumberDomain,
    float_domain,
    float_format,
    is_number,
    open_numbers,
)
from sordino.noise.sampling.bits import Bits
from sordino.noise.sampling.floats import AbstractSampler, FloatFormat, Nearest
from sordino.noise.sampling.integers import Tail, Unchanged
from sordino.noise.sensitivity import Sensitivity
from sordino.numbers import (
    INFINITE,
    Exact,
    Extended,
    Infinity,
    Number,
    arguments,
    distance,
    number_text,
    outcome,
    positive,
    probability,
    product,
    root,
    shortest,
    total,
    up,
)
from sordino.numbers.canonical import Words
from sordino.numbers.frozen import hides
from sordino.numbers.rounding import enclose

if TYPE_CHECKING:
    import pyarrow as pa


@hides(
    *("carrier", "certificate", "change", "delta_of", "headline", "is_exact", "law"),
    *("noise", "noise_loss", "norm", "select", "rounding", "unit"),
)
class AbstractMechanism(ABC):
    """A randomised function with a privacy map.

    Proof obligation of `map`: for any two inputs at distance at most d_in, the
    trade-off curve between the two outputs lies on or above the curve of `map(d_in)`.
    """

    is_interactive: ClassVar[bool] = False

    @property
    @abstractmethod
    def input_domain(self) -> Domain:
        """Domain of the values that the mechanism takes."""

    @property
    @abstractmethod
    def input_metric(self) -> Metric:
        """Return the distance in which `d_in` is stated."""

    @property
    @abstractmethod
    def output_measure(self) -> Callable[..., Loss]:
        """Return the class of the losses that `map` returns."""

    @property
    @abstractmethod
    def adds_no_noise(self) -> bool:
        """Tell whether this is the explicit no-noise mode."""

    @property
    def certificate(self) -> dict[str, Words]:
        """The law that is drawn, as a certificate has it; {}: no release draws it."""
        return {}

    @abstractmethod
    def map(self, d_in: Any) -> Loss:
        """Return the loss between inputs at distance d_in."""

    @property
    def output_type(self) -> "pa.DataType":
        """Return the Arrow type of the answers."""
        return self.input_domain.arrow

    def __repr__(self) -> str:
        parameters = (
            f"{field.name}={number_text(getattr(self, field.name))}"
            for field in fields(self)  # type: ignore[arg-type]
            if getattr(self, field.name) is not None
        )
        return f"{type(self).__name__}({', '.join(parameters)})"

    def check(self, d_in: Any, d_out: Any) -> bool:
        """Tell whether outputs of inputs at distance d_in are within the loss d_out.

        Any form of loss or risk may be asked; a number is read as the headline
        parameter of the output measure.
        """
        if not isinstance(d_out, Budget):
            d_out = self.output_measure(d_out)
        return bool(d_out.admits(self.map(d_in)))


Mechanism = TypeVar("Mechanism", bound=AbstractMechanism)

_NOTICEABLE = 1 - Fraction(1, 2**20)
_CLOSE = 2.0**-30
_WIDEST = 2.0**100


def least_noise(
    build: Callable[[Exact], Mechanism],
    loss: Budget,
    d_in: Any,
    guesses: Iterable[Extended],
) -> Mechanism:
    """Return the mechanism of least scale whose map at d_in is within the loss.

    A guess that is within, while a scale one part in a million less is not, is the
    answer and exact; else the least scale is searched to one part in 2**30.
    """

    def within(scale: Exact) -> bool:
        return build(scale).check(d_in, loss)

    for guess in sorted(g for g in guesses if g is not INFINITE and g > 0):
        if within(guess):
            if not within(guess * _NOTICEABLE):
                return build(guess)
            return build(_least_scale(within, up(guess)))
    start = 1.0
    while not within(shortest(start)):
        start *= 2
        if start > _WIDEST:
            raise InvalidParameter(
                "loss",
                loss,
                "cannot be met by any scale of this noise",
                "Use a larger loss, or Laplace noise for a pure one.",
            )
    return build(_least_scale(within, start))


def _least_scale(within: Callable[[Exact], bool], high: float) -> Exact:
    low = high / 2
    while within(shortest(low)) and low > 1 / _WIDEST:
        low, high = low / 2, low
    # asked of the very number that is returned
    return shortest(find_least(lambda x: within(shortest(x)), low, high, _CLOSE))


def guarantees_of(budget: Any) -> Guarantees:
    """Return the headline parameters of a budget; anything else is refused.

    A risk has none: infinite parameters give no guess, and the scale is searched.
    """
    if isinstance(budget, Loss):
        return budget.guarantees
    if isinstance(budget, Budget):
        return Guarantees(INFINITE, Fraction(0), INFINITE, INFINITE)
    raise InvalidParameter(
        "loss", budget, "must be a loss or a risk", "Try sd.PureDP(1)."
    )


def positive_distance(distance: Extended, d_in: Any) -> Exact:
    """Return a distance that noise can answer for: positive and finite."""
    if distance is INFINITE or distance <= 0:
        raise InvalidParameter(
            "d_in",
            d_in,
            "must be positive and finite",
            "Say how far one unit can move the answer, such as d_in=1.",
        )
    return distance


def scale_guess(change: Exact, parameter: Extended) -> Extended:
    """Return change / parameter, infinite where the parameter gives no guess."""
    if parameter is INFINITE or parameter == 0:
        return INFINITE
    return change / parameter


Distance: TypeAlias = Number | Infinity | Sensitivity
"""The `d_in` of noise on numbers."""


@final
class Rounding(NamedTuple):
    """The step of a grid, and how many values one unit can change, if not stated."""

    step: Fraction
    values: int


def l1(d_in: Any, rounding: Rounding | None = None) -> Extended:
    """Return an l1 distance, after rounding to a grid if there is one.

    Rounding moves each of the n changed values by at most a step relative to its
    neighbour, so it adds n steps; a `Sensitivity` brings its own n, l0.
    """
    norm = _norm(d_in, "l1")
    if rounding is None or norm == 0:  # equal values round alike
        return norm
    return total(norm, product(_count(d_in, rounding), rounding.step))


def l2(d_in: Any, rounding: Rounding | None = None) -> Extended:
    """Return an l2 distance, rounding added as sqrt(n) steps."""
    norm = _norm(d_in, "l2")
    if rounding is None or norm == 0:
        return norm
    return total(norm, product(root(_count(d_in, rounding)), rounding.step))


def change_ratio(change: Extended, spread: Exact) -> Extended:
    """Return change / spread; nothing changed costs nothing, no noise costs all."""
    if change == 0:
        return Fraction(0)
    if spread == 0 or change is INFINITE:
        return INFINITE
    return change / spread


def _norm(d_in: Any, norm: str) -> Extended:
    if isinstance(d_in, Sensitivity):
        return d_in.l1 if norm == "l1" else d_in.l2
    return distance(d_in=d_in)


def _count(d_in: Any, rounding: Rounding) -> Extended:
    if isinstance(d_in, Sensitivity):
        return INFINITE if d_in.l0 is INFINITE else Fraction(d_in.l0)
    return Fraction(rounding.values)


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
class NoNoise(AbstractNoise):
    """The explicit absence of noise."""

    @property
    def is_silent(self) -> bool:
        return True

    def integers(self) -> AbstractSampler:
        return Unchanged()

    def floats(self, grid: int | None, target: FloatFormat) -> AbstractSampler:
        del grid
        return Nearest(target)

    def law(self, grid: int | None) -> AbstractLaw:
        del grid
        return PointMass()

    def tail(self, level: Fraction) -> Tail | None:
        del level
        return None


COARSEST_GRID = 970
FINEST_GRID = -1074  # every double is a multiple of 2**-1074


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
        """Carrier: adds the noise to values of the user."""

    def _add_noise(self, value: Any) -> Any:
        if is_number(value):
            return self.carrier.one(value, Bits())
        values, close = open_numbers(value)
        # bits of this call alone: what is kept could be repeated
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
        return NumberDomain(self.dtype)

    @cached_property
    def carrier(self) -> FloatCarrier:
        sampler = self.noise.floats(self.granularity, float_format(self.dtype))
        return FloatCarrier(self.input_domain, sampler, self.granularity)

    @cached_property
    def law(self) -> AbstractLaw:
        return self.noise.law(self.granularity)

    @property
    def rounding(self) -> Rounding | None:
        """Return the step of the grid and how many values of a call can change."""
        if self.granularity is None:
            return None
        values = 1 if self.values is None else self.values
        return Rounding(Fraction(2) ** self.granularity, values)

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
        return self._add_noise(value)

    @property
    def input_domain(self) -> NumberDomain:
        return NumberDomain(self.dtype)

    @cached_property
    def carrier(self) -> IntegerCarrier:
        return IntegerCarrier(self.input_domain, self.noise.integers())

    @cached_property
    def law(self) -> AbstractLaw:
        return self.noise.law(0)


def read_float_options(
    dtype: str, granularity: int | None, values: int | None
) -> dict[str, Any]:
    """Return the options of a mechanism for floats by name, checked."""
    if granularity is not None:
        granularity = arguments.integer(
            granularity=granularity, least=FINEST_GRID, most=COARSEST_GRID
        )
    if values is not None:
        values = arguments.integer(values=values, least=1)
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
