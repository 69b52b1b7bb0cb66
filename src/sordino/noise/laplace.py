"""Laplace noise and its two-sided geometric twin, each from law to mechanism.

>>> LaplaceLoss("0.1").epsilon, LaplaceLoss("0.1").advantage() < 0.04878
(Fraction(1, 10), True)

Kernel: mathematics.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial
from math import comb, factorial
from typing import Any, ClassVar, Self, Unpack, final, overload

import numpy as np
from flint import arb, arb_poly, fmpq
from numpy.typing import NDArray

from sordino.losses import guarantees as conversion
from sordino.losses.curves.curve import AbstractCurve, End, is_revealing, response_law
from sordino.losses.curves.laws import AbstractRangeLaw, GeometricLaw, Laws, cells
from sordino.losses.curves.points import ELEMENTARY, Floats
from sordino.losses.curves.tables import LawCurve
from sordino.losses.guarantees import Guarantees
from sordino.losses.loss import Budget, Loss, PureDP
from sordino.noise.additive import (
    AbstractFloatMechanism,
    AbstractIntegerMechanism,
    AbstractNoise,
    Distance,
    FloatOptions,
    IntegerOptions,
    NoNoise,
    change_ratio,
    guarantees_of,
    l1,
    least_noise,
    positive_distance,
    read_float_options,
    scale_guess,
)
from sordino.noise.law import (
    PRECISION,
    AbstractContinuousLaw,
    AbstractLatticeLaw,
    AbstractLaw,
)
from sordino.noise.numbers import Metric, integer_domain
from sordino.noise.sampling.blocks import AbstractShape
from sordino.noise.sampling.floats import AbstractSampler, FloatFormat, float_sampler
from sordino.noise.sampling.integers import Tail, integer_sampler
from sordino.noise.sensitivity import Sensitivity, _whole, _worst
from sordino.noise.sums import AbstractBlend, LaplaceBlend
from sordino.numbers import (
    INFINITE,
    Exact,
    Extended,
    Infinity,
    Number,
    arguments,
    ball,
    distance,
    positive,
    sqrt,
    up,
)
from sordino.numbers.canonical import Words, call, exact_words, number
from sordino.numbers.exact import floor_exact
from sordino.numbers.frozen import fill, make
from sordino.numbers.rounding import enclose, precision


def geometric_laws(shift: int, scale: Exact) -> Laws:
    """Return the law of losses two steps of 1 / scale apart."""
    if shift == 0:
        return (response_law(Fraction(0)),)
    if is_revealing(Fraction(shift) / scale):
        return (response_law(INFINITE),)
    # upwards: less noise only reveals more
    return (GeometricLaw(shift, up(1 / scale)),)


@final
@dataclass(frozen=True)
class LaplaceLaw(AbstractRangeLaw):
    """Laplace noise whose shift is `ratio` scales."""

    def masses(self, edges: Floats) -> tuple[Floats, Floats]:
        """Return the masses from P[L >= l] = 1 - exp((l - ratio)/2)/2 inside the range.

        Q[L >= l] = P[L <= -l]; half of P lies on the loss `ratio` itself.
        """
        inside = np.clip(edges, -self.ratio, self.ratio)
        above = np.exp((-self.ratio - inside) / 2) / 2
        below = np.exp((inside - self.ratio) / 2) / 2
        # strict: an edge at `ratio` has its atom above it
        low, high = edges <= -self.ratio, edges > self.ratio
        p_below = np.where(low, 0.0, np.where(high, 1.0, below))
        q_above = np.where(low, 1.0, np.where(high, 0.0, above))
        return cells(1 - p_below, p_below), cells(q_above, 1 - q_above)


_STEEPEST = 600.0  # exp(709) overflows; beyond, the attacker is taken to win always


@final
@dataclass(frozen=True, eq=False)
class LaplaceCurve(AbstractCurve):
    """Laplace noise whose shift is `ratio` scales."""

    ratio: Extended

    @property
    def end(self) -> End:
        return End(self.ratio, Fraction(0), self.ratio is not INFINITE)

    def laws(self) -> Laws:
        ratio = up(self.ratio)
        if ratio == 0 or is_revealing(self.ratio):
            return (response_law(self.ratio),)
        return (LaplaceLaw(ratio),)

    def delta(self, epsilon: Floats) -> Floats:
        ratio = up(self.ratio)
        if math.isinf(ratio):
            return np.ones_like(epsilon)
        gap = np.minimum(epsilon - ratio, 0.0) / 2
        return -np.expm1(gap) * (1 + ELEMENTARY)

    def epsilon(self, delta: Floats) -> Floats:
        ratio = up(self.ratio)
        if math.isinf(ratio):
            return np.full_like(delta, math.inf)
        with np.errstate(divide="ignore"):
            epsilon = ratio + 2 * np.log1p(-delta) * (1 - ELEMENTARY)
        return np.where(delta > 0, epsilon + ELEMENTARY * ratio, ratio)

    def tpr(self, alpha: Floats) -> Floats:
        """Return exp(ratio) alpha, beyond exp(-ratio)/2 what `beta` leaves if less.

        Before that beta is near 1, and one minus it would have lost the small digits.
        """
        ratio = up(self.ratio)
        if ratio > _STEEPEST:
            return np.ones_like(alpha)
        # exp errs with its exponent, by ratio ulps: rounded to the attacker's side
        margin = ELEMENTARY * (1 + ratio / 24)
        first = math.exp(ratio) * (1 + margin) * alpha
        small = 2 * alpha <= math.exp(-ratio) * (1 + margin)
        return np.where(small, first, np.minimum(first, 1 - self.beta(alpha)))

    def beta(self, alpha: Floats) -> Floats:
        """Return 1 - exp(ratio) alpha, then exp(-ratio)/(4 alpha), then the mirror."""
        ratio = up(self.ratio)
        if ratio > _STEEPEST:
            return np.zeros_like(alpha)
        margin = ELEMENTARY * (1 + ratio / 24)
        shrink, growth = math.exp(-ratio) * (1 - margin), math.exp(ratio) * (1 + margin)
        first, last = 1 - growth * alpha, shrink * (1 - alpha)
        middle = shrink / (4 * np.maximum(alpha, shrink / 2)) * (1 - ELEMENTARY)
        after = np.where(alpha >= 0.5, last, middle)
        return np.maximum(np.where(2 * alpha <= shrink, first, after), 0.0)


@final
@dataclass(frozen=True, repr=False)
class LaplaceLoss(Loss):
    """Laplace noise on one number: `epsilon` is the shift over the scale."""

    epsilon: Extended

    def __init__(self, epsilon: Any) -> None:
        fill(self, epsilon=distance(epsilon=epsilon))

    @property
    def rho(self) -> Extended:
        """Return the exact zCDP parameter, rounded up."""
        return conversion.laplace_to_rho(self.epsilon)

    @property
    def words(self) -> Words:
        """Return the name and the exact parameters."""
        return call("LaplaceLoss", epsilon=number(self.epsilon))

    @property
    def guarantees(self) -> Guarantees:
        mu = conversion.pure_to_mu(self.epsilon)
        return Guarantees(self.epsilon, Fraction(0), self.rho, mu)

    @property
    def tradeoff(self) -> AbstractCurve:
        return LaplaceCurve(self.epsilon)


@final
@dataclass(frozen=True, repr=False)
class GeometricLoss(Loss):
    """Two-sided geometric noise (discrete Laplace) on one integer."""

    shift: int
    scale: Exact

    def __init__(self, shift: Any, scale: Any) -> None:
        steps = arguments.integer(shift=shift, least=0)
        fill(self, shift=steps, scale=positive(scale=scale))

    @property
    def epsilon(self) -> Exact:
        """Return shift / scale."""
        return Fraction(self.shift) / self.scale

    @property
    def words(self) -> Words:
        """Return the name and the exact parameters."""
        return call("GeometricLoss", shift=self.shift, scale=number(self.scale))

    @cached_property
    def guarantees(self) -> Guarantees:
        rho = conversion.geometric_to_rho(self.shift, self.scale)
        mu = conversion.pure_to_mu(self.epsilon)
        return Guarantees(self.epsilon, Fraction(0), rho, mu)

    @cached_property
    def tradeoff(self) -> LawCurve:
        source = partial(geometric_laws, self.shift, self.scale)
        return LawCurve(source, self.guarantees.end)


def laplace_vector(d_in: Sensitivity, scale: Any) -> Loss:
    """Return the loss of Laplace noise of one scale on every number.

    >>> laplace_vector(Sensitivity(l0=3, linf=1), 10).epsilon
    Fraction(3, 10)
    """
    width = positive(scale=scale)
    copies, step, rest = _worst(d_in)
    if step is INFINITE or rest is INFINITE:
        return PureDP(INFINITE)
    return LaplaceLoss(step / width) * copies + LaplaceLoss(rest / width)


def geometric_vector(d_in: Sensitivity, scale: Any) -> Loss:
    """Return the loss of two-sided geometric noise of one scale on every integer."""
    width = positive(scale=scale)
    copies, step, rest = _worst(_whole(d_in))
    if step is INFINITE or rest is INFINITE:
        return PureDP(INFINITE)
    # floors are safe: integers cannot change by a part of a step
    return GeometricLoss(floor_exact(step), width) * copies + GeometricLoss(
        floor_exact(rest), width
    )


@final
@dataclass(frozen=True)
class ContinuousLaplaceLaw(AbstractContinuousLaw):
    """Density exp(-|x| / scale) / (2 scale)."""

    scale: Exact

    @cached_property
    def deviation(self) -> float:
        return up(self.scale * sqrt(Fraction(2)))

    @property
    def blend(self) -> AbstractBlend:
        return LaplaceBlend()

    @property
    def spread(self) -> float:
        return up(self.scale)

    def at_least(self, x: Exact) -> arb:
        size = abs(x) if isinstance(x, Fraction) else x
        tail = (-ball(size) / ball(self.scale)).exp() / 2
        return tail if x >= 0 else 1 - tail

    def point(self, tail: Fraction) -> arb:
        return -ball(self.scale) * ball(2 * tail).log()


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
        return LaplaceBlend()

    @property
    def spread(self) -> float:
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
        rate = ball(self.unit / self.scale)
        return (-k * rate).exp() / (1 + (-rate).exp())

    def near_quantile(self, tail: float) -> int:
        rate = up(self.unit / self.scale)
        # a tail may vanish in doubles; a guess is enough
        log_tail = math.log(tail) if tail > 0 else -745.0
        return int(-(log_tail + math.log1p(math.exp(-rate))) / rate)


@final
@dataclass(frozen=True)
class LaplaceSumLaw:
    """The law of Z = L_1 + ... + L_count for Laplace noises of one scale."""

    count: int
    scale: Exact

    def at_least(self, x: Fraction) -> arb:
        """Return P[Z >= x]: exp(-t) times a polynomial in t = x / scale.

        Z is the difference of two Gamma(count) times: it exceeds t if fewer than
        `count` arrivals fall into t and another such time (docs/proofs/moments.md).
        """
        t = ball(abs(x)) / ball(self.scale)
        tail = (-t).exp() * arb_poly(self._factors)(t)
        return tail if x >= 0 else 1 - tail

    def chance_above(self, x: Fraction) -> arb:
        """Return P[Z >= x]: a point has no mass."""
        return self.at_least(x)

    @property
    def _factors(self) -> list[arb]:
        pieces = []
        for power in range(self.count):
            arrivals = (
                Fraction(comb(self.count - 1 + i, i), 2 ** (self.count + i))
                for i in range(self.count - power)
            )
            chance = sum(arrivals, Fraction(0)) / factorial(power)
            pieces.append(arb(fmpq(chance.numerator, chance.denominator)))
        return pieces


@final
@dataclass(frozen=True)
class LaplaceShape(AbstractShape):
    """exp(-|t| / scale), `scale` in blocks."""

    scale: Exact

    @property
    def spread(self) -> Exact:
        return self.scale

    def widen(self, exponent: int) -> "LaplaceShape":
        return LaplaceShape(self.scale / Fraction(2) ** exponent)

    def reach(self) -> int:
        """Return 24 log(2) scales: f falls to 2**-24 there."""
        return int(16.7 * up(self.scale)) + 1

    def profile(self, count: int) -> NDArray[np.float64]:
        """Return the powers of exp(-1 / scale): k roundings err below k * 2**-52."""
        step = enclose(lambda: (-1 / ball(self.scale)).exp())
        steps = np.full(count, float(step.mid()))
        steps[0] = 1.0
        return np.multiply.accumulate(steps)

    def rise(
        self, start: NDArray[np.float64], rho: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        del start
        return rho * (1.0 / up(self.scale))

    def exponent(self, distance: arb) -> arb:
        return distance / ball(self.scale)

    def slope(self, distance: int) -> arb:
        del distance
        return 1 / ball(self.scale)


@final
@dataclass(frozen=True)
class LaplaceNoise(AbstractNoise):
    """Laplace noise: density proportional to exp(-|x| / scale)."""

    scale: Exact

    @property
    def is_silent(self) -> bool:
        return False

    def integers(self) -> AbstractSampler:
        return integer_sampler(LaplaceShape(self.scale))

    def floats(self, grid: int | None, target: FloatFormat) -> AbstractSampler:
        return float_sampler(LaplaceShape(self.scale), grid, target)

    def law(self, grid: int | None) -> AbstractLaw:
        if grid is None:
            return ContinuousLaplaceLaw(self.scale)
        return DiscreteLaplaceLaw(self.scale, Fraction(2) ** grid)

    def tail(self, level: Fraction) -> Tail | None:
        del level
        return Tail(Fraction(1) / self.scale, None)  # it goes on alike beyond any level


@final
@dataclass(frozen=True, init=False, repr=False)
class Geometric(AbstractIntegerMechanism):
    """Add integer noise Z with P[Z = z] proportional to exp(-|z| / scale).

    | case | what happens |
    |---|---|
    | `d_in` 0 | costs nothing |
    | scale 0, negative, NaN, infinite, a bool | refused; see `no_noise` |
    | scale of 2**57 or more | exact, but drawn one by one: a microsecond each |
    | a float in the data, even 3.0 | `InvalidData` |
    | an integer outside the dtype | `InvalidData` |
    | a sum outside the dtype | the end of the dtype, taken after the exact sum |

    >>> Geometric("1/3", dtype="u8").map(1).epsilon
    Fraction(3, 1)
    """

    scale: Exact
    dtype: str
    input_metric: ClassVar[Metric] = "l1"
    output_measure: ClassVar[type[PureDP]] = PureDP

    def __init__(self, scale: Number, *, dtype: str = "i64") -> None:
        fill(self, scale=positive(scale=scale), dtype=integer_domain(dtype).dtype)

    @property
    def certificate(self) -> dict[str, Words]:
        return {"noise": "geometric", "scale": exact_words(self.scale)}

    @classmethod
    def no_noise(cls, *, dtype: str = "i64") -> Self:
        """Return the mechanism that adds nothing and whose loss is infinite."""
        return make(cls, scale=Fraction(0), dtype=integer_domain(dtype).dtype)

    @property
    def noise(self) -> AbstractNoise:
        return LaplaceNoise(self.scale) if self.scale else NoNoise()

    @overload
    def map(self, d_in: Sensitivity) -> Loss: ...
    @overload
    def map(self, d_in: Number | Infinity) -> GeometricLoss | PureDP: ...

    def map(self, d_in: Distance) -> Loss:
        """Return the loss of epsilon = l1 / scale, for any vectors l1 apart.

        A shift of one value by l1 is the worst such change (docs/proofs/noise.md,
        lemma 1), so the curve for a whole l1 is that of one geometric draw; where a
        `Sensitivity` bounds the change of each value, that of the worst vector
        (lemma 6).
        """
        if isinstance(d_in, Sensitivity) and self.scale:
            return geometric_vector(d_in, self.scale)
        change = l1(d_in)
        epsilon = change_ratio(change, self.scale)
        # only whole shifts have the geometric curve; any other is priced by epsilon
        # alone
        if isinstance(change, Fraction) and change.denominator == 1 and self.scale:
            return GeometricLoss(change.numerator, self.scale)
        return PureDP(epsilon)

    @classmethod
    def for_loss(
        cls, loss: Budget, d_in: Distance, **options: Unpack[IntegerOptions]
    ) -> Self:
        """Return the least noise whose loss at distance d_in is within a loss or risk.

        >>> Geometric.for_loss(PureDP("0.1"), 1).scale
        Fraction(10, 1)
        """
        guess = scale_guess(
            positive_distance(l1(d_in), d_in), guarantees_of(loss).epsilon
        )
        return least_noise(lambda scale: cls(scale, **options), loss, d_in, [guess])


@final
@dataclass(frozen=True, init=False, repr=False)
class Laplace(AbstractFloatMechanism):
    """Add Laplace noise to floats: density exp(-|z| / scale) / (2 scale).

    The answer is the nearest float to the exact sum of the value and a real draw.
    `granularity=k` instead rounds the value to the grid 2**k and draws on that grid;
    the rounding counts towards the distance, a step for each value that one unit can
    change. `values` says how many those are; unless it is said, single numbers alone
    are answered on a grid.

    | case | what happens |
    |---|---|
    | `d_in` 0 | costs nothing |
    | scale 0, negative, NaN, infinite, a bool | refused; see `no_noise` |
    | NaN or infinity in the data | `InvalidData` |
    | an empty array | an empty array |
    | a list or an array on a grid, `values` not said | refused |
    | a sum beyond the largest float | the largest float |

    >>> Laplace("0.1").map(1).epsilon
    Fraction(10, 1)
    """

    scale: Exact
    dtype: str
    granularity: int | None
    values: int | None
    input_metric: ClassVar[Metric] = "l1"
    output_measure: ClassVar[type[PureDP]] = PureDP

    def __init__(
        self,
        scale: Number,
        *,
        dtype: str = "f64",
        granularity: int | None = None,
        values: int | None = None,
    ) -> None:
        fill(
            self,
            scale=positive(scale=scale),
            **read_float_options(dtype, granularity, values),
        )

    @property
    def certificate(self) -> dict[str, Words]:
        return {"noise": "laplace", "scale": exact_words(self.scale)}

    @classmethod
    def no_noise(
        cls,
        *,
        dtype: str = "f64",
        granularity: int | None = None,
        values: int | None = None,
    ) -> Self:
        """Return the mechanism that adds nothing and whose loss is infinite."""
        options = read_float_options(dtype, granularity, values)
        return make(cls, scale=Fraction(0), **options)

    @property
    def noise(self) -> AbstractNoise:
        return LaplaceNoise(self.scale) if self.scale else NoNoise()

    @overload
    def map(self, d_in: Sensitivity) -> Loss: ...
    @overload
    def map(self, d_in: Number | Infinity) -> LaplaceLoss | PureDP: ...

    def map(self, d_in: Distance) -> Loss:
        """Return the loss of epsilon = l1 / scale, for any two inputs l1 apart.

        A shift of one value by l1 is the worst such change (docs/proofs/noise.md,
        lemma 1), so the curve is that of one Laplace draw; where a `Sensitivity`
        bounds the change of each value, that of the worst vector (lemma 6). On a grid
        it is the curve of epsilon; a plain number is then the change of `values`
        values, or of one.
        """
        if isinstance(d_in, Sensitivity) and self.granularity is None and self.scale:
            return laplace_vector(d_in, self.scale)
        epsilon = change_ratio(l1(d_in, self.rounding), self.scale)
        return LaplaceLoss(epsilon) if self.granularity is None else PureDP(epsilon)

    @classmethod
    def for_loss(
        cls, loss: Budget, d_in: Distance, **options: Unpack[FloatOptions]
    ) -> Self:
        """Return the least noise whose loss at distance d_in is within a loss or risk.

        >>> Laplace.for_loss(PureDP("0.1"), 1).scale
        Fraction(10, 1)
        """
        change = positive_distance(l1(d_in, cls.no_noise(**options).rounding), d_in)
        guess = scale_guess(change, guarantees_of(loss).epsilon)
        return least_noise(lambda scale: cls(scale, **options), loss, d_in, [guess])
