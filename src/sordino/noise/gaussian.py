"""Gaussian noise, real and discrete, each from law to mechanism.

Kernel: mathematics.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache, partial
from typing import Any, ClassVar, Final, Self, Unpack, final, overload

import numpy as np
from flint import arb, ctx, fmpq
from numpy.typing import NDArray

from sordino.losses.closed import ZCDP, GaussianDP
from sordino.losses.curves.concentrated import ConcentratedCurve
from sordino.losses.curves.curve import is_revealing, response_law
from sordino.losses.curves.laws import DEPTH, REACH, Atoms, Laws
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
    l2,
    least_noise,
    positive_distance,
    read_float_options,
    scale_guess,
    variance_of,
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
from sordino.noise.sensitivity import Sensitivity, _whole
from sordino.noise.sums import AbstractBlend, Floats, GaussianBlend
from sordino.numbers import (
    INFINITE,
    Exact,
    Infinity,
    Number,
    arguments,
    ball,
    positive,
    product,
    sqrt,
    up,
)
from sordino.numbers.canonical import Words, call, exact_words, number
from sordino.numbers.exact import floor_exact
from sordino.numbers.frozen import fill, make
from sordino.numbers.rounding import enclose, precision

_MOST_ATOMS = 1 << 18
_LEAST_MARGIN = 1e-14
_FAINTEST = 760.0
"""Beyond this exponent a mass is 0 in doubles."""


def discrete_gaussian_laws(shift: int, variance: Exact) -> Laws:
    """Return the lattice of losses; for very wide noise the curve of rho."""
    if shift == 0:
        return (response_law(Fraction(0)),)
    if up(sqrt(variance)) * (DEPTH + REACH) > _MOST_ATOMS:
        # rho bounds noise of any width, without a table
        return ConcentratedCurve(Fraction(shift**2, 2) / variance).laws()
    if is_revealing(Fraction(shift**2) / variance):
        return (response_law(INFINITE),)
    # the margin of the lattice charges this rounding
    return (_normal_lattice(shift, up(variance)),)


def _normal_lattice(d: int, variance: float) -> Atoms:
    """Return (2 d x - d^2) / (2 variance) at integers x, with its masses."""
    sigma = math.sqrt(variance)
    x = np.arange(math.floor(-DEPTH * sigma), math.ceil(REACH * sigma) + d + 1)
    wide = x.astype(np.longdouble)
    p = np.exp(-((wide - d) ** 2) / (2 * np.longdouble(variance)))
    q = np.exp(-(wide**2) / (2 * np.longdouble(variance)))
    # beyond 40 sigma lies less than exp(-800), which is nothing beside a double
    reach = np.arange(-math.ceil(40 * sigma) - 1, math.ceil(40 * sigma) + 2)
    weight = np.exp(-(reach.astype(np.longdouble) ** 2) / (2 * np.longdouble(variance)))
    whole = weight.sum()
    unit = d * (1 if d % 2 else 2) / (2 * variance)
    losses = ((2 * x - d) * d) / (2 * variance)
    # a bound on the mass of P beyond the table, by sub-Gaussian tails: it is a breach
    beyond = float(
        np.exp(-(np.longdouble(x[-1] - d) ** 2) / (2 * np.longdouble(variance)))
    )
    return Atoms(
        losses,
        (p / whole).astype(np.float64),
        (q / whole).astype(np.float64),
        beyond,
        unit,
        _lattice_margin(d, sigma),
    )


def _lattice_margin(shift: int, sigma: float) -> float:
    """Return a bound on the relative error of the masses of the lattice.

    An exponent u is off by u units of the variance's rounding to a double, and by
    u units of a long double for its own square and division: on some platforms
    that is a plain double, so its size is asked for. exp and the pairwise sum of
    the weights add less than 64 units.
    """
    most = min((REACH + (shift + 1) / sigma) ** 2 / 2, _FAINTEST)
    double = float(np.finfo(np.float64).eps)
    wide = float(np.finfo(np.longdouble).eps)
    return max(_LEAST_MARGIN, most * double + (2 * most + 64) * wide)


@final
@dataclass(frozen=True, repr=False)
class DiscreteGaussianLoss(Loss):
    """Discrete Gaussian noise on one integer, with its exact curve.

    The curve is not that of a Gaussian of the same ratio: on a lattice it is worse.
    """

    shift: int
    variance: Exact

    def __init__(self, shift: Any, variance: Any) -> None:
        steps = arguments.integer(shift=shift, least=0)
        fill(self, shift=steps, variance=positive(variance=variance))

    @property
    def rho(self) -> Exact:
        """Return shift^2 / (2 variance)."""
        return Fraction(self.shift**2, 2) / self.variance

    @property
    def words(self) -> Words:
        """Return the name and the exact parameters."""
        return call(
            "DiscreteGaussianLoss", shift=self.shift, variance=number(self.variance)
        )

    @property
    def guarantees(self) -> Guarantees:
        # not mu-GDP for mu = sqrt(2 rho): on a lattice the curve is worse
        nothing = Fraction(0) if self.shift == 0 else INFINITE
        return Guarantees(nothing, Fraction(0), self.rho, nothing)

    @cached_property
    def tradeoff(self) -> LawCurve:
        source = partial(discrete_gaussian_laws, self.shift, self.variance)
        return LawCurve(source, self.guarantees.end)


def discrete_gaussian_vector(d_in: Sensitivity, variance: Any) -> Loss:
    """Return the loss of discrete Gaussian noise on every integer.

    Exact for one number, and for changes of at most 1 in each; by rho otherwise, since
    which change is worst is not known.
    """
    spread = positive(variance=variance)
    whole = _whole(d_in)
    if whole.l2 is INFINITE or whole.linf is INFINITE:
        return PureDP(INFINITE)
    if whole.l0 == 1:
        return DiscreteGaussianLoss(floor_exact(whole.linf), spread)
    if whole.linf == 1:
        return DiscreteGaussianLoss(1, spread) * floor_exact(whole.l2**2)
    return ZCDP(whole.l2**2 / (2 * spread))


_WIDE: Final = 64**2
"""From this variance on the lattice sum is an integral with Euler-Maclaurin terms."""
_SMOOTH: Final = 9
"""From this variance on rounding to the lattice takes nothing away from it."""
_MOST_TERMS = 200
_CRAMER = Fraction("1.0865")
"""Cramer's bound: |He_n(z)| exp(-z**2 / 4) <= 1.0865 sqrt(n!) for every real z."""


@final
@dataclass(frozen=True)
class ContinuousGaussianLaw(AbstractContinuousLaw):
    """Density exp(-x**2 / (2 variance)) / sqrt(2 pi variance)."""

    variance: Exact

    @cached_property
    def deviation(self) -> float:
        return up(sqrt(self.variance))

    @property
    def blend(self) -> AbstractBlend:
        return GaussianBlend()

    @property
    def spread(self) -> float:
        return self.deviation

    def at_least(self, x: Exact) -> arb:
        return (ball(x) / (2 * ball(self.variance)).sqrt()).erfc() / 2

    def point(self, tail: Fraction) -> arb:
        return (2 * ball(self.variance)).sqrt() * ball(2 * tail).erfcinv()


@final
@dataclass(frozen=True)
class DiscreteGaussianLaw(AbstractLatticeLaw):
    """P[K = k] proportional to exp(-(k unit)**2 / (2 variance))."""

    variance: Exact
    unit: Fraction = Fraction(1)

    @property
    def _sigma_squared(self) -> Exact:
        return self.variance / self.unit**2

    @cached_property
    def deviation(self) -> float:
        """Return the root of the sum of squares, by the heights or by their transform.

        The variance is at most the parameter (Canonne, Kamath and Steinke 2020), and
        from 9 squared units on it is less by under one part in 2**200.
        """
        if self._sigma_squared >= _SMOOTH:
            return up(sqrt(self.variance))
        with precision(PRECISION):
            # beyond 64 units the heights, falling by more than half at each step, are
            # dwarfed: k**2 exp(-k**2 / 18) < 2**-300
            squares = sum((k * k * self._height(k) for k in range(1, 64)), arb(0))
            rest = 64**2 * self._height(64) * 2
            total = 2 * (squares + rest) / _total(self._sigma_squared, ctx.prec)
            return up(ball(self.unit) * total.sqrt())

    @property
    def blend(self) -> AbstractBlend:
        return GaussianBlend()

    @property
    def spread(self) -> float:
        return up(sqrt(self.variance))

    @property
    def slip(self) -> float:
        """Return one unit (docs/proofs/intervals.md, lemma 2)."""
        return up(self.unit)

    def log_at_least(self, x: Floats) -> Floats:
        places, back = np.unique(x, return_inverse=True)
        with precision(PRECISION):
            logarithms = [
                float(self.at_least(Fraction(place)).log().mid()) for place in places
            ]
        return np.array(logarithms)[back].reshape(np.shape(x))

    def mass(self, k: int) -> arb:
        """Return P[K = k]."""
        return self._height(k) / _total(self._sigma_squared, ctx.prec)

    def tail(self, k: int) -> arb:
        total = _total(self._sigma_squared, ctx.prec)
        if self._sigma_squared >= _WIDE:
            return self._integral(k) / total
        # Few terms lie either below k or, where the ratio has fallen, beyond it.
        if k * k <= self._sigma_squared:
            inner = sum((self._height(x) for x in range(1, k)), arb(0))
            return ((total - 1) / 2 - inner) / total
        return self._sum_from(k) / total

    def near_quantile(self, tail: float) -> int:
        with precision(64):
            point = arb(max(2 * min(tail, 0.5), 1e-300)).erfcinv()
        return int(float(point.mid()) * math.sqrt(2) * up(sqrt(self._sigma_squared)))

    def _height(self, x: int) -> arb:
        return (-(x * x) / (2 * ball(self._sigma_squared))).exp()

    def _sum_from(self, k: int) -> arb:
        """Sum the heights from k, each the last times a falling ratio.

        What is left after a term t whose successor ratio is r sums to at most t/(1-r).
        """
        term, step = self._height(k), (-1 / ball(self._sigma_squared)).exp()
        ratio = (-(2 * k + 1) / (2 * ball(self._sigma_squared))).exp()
        result = arb(0)
        least = term * arb(2) ** -(ctx.prec + 8)
        while not term < least:
            result += term
            term *= ratio
            ratio *= step
        rest = term / (1 - ratio)
        return result + rest.union(arb(0))

    def _integral(self, k: int) -> arb:
        """Sum the heights from k by Euler-Maclaurin, the remainder enclosed.

        With z = k / s, s**2 the spread, and n-th derivative (-1/s)**n He_n(z) f:
        sum = integral + f(k) / 2 + sum_j B_2j / (2j)! s**(1-2j) He_(2j-1)(z) f(k) + R,
        |R| <= 2 zeta(2m) / (2 pi)**2m times the integral of |f^(2m)|, by Cramer's bound
        at most 1.0865 sqrt((2m)!) s**(1-2m) * integral of exp(-u**2 / 4) from z.
        """
        spread = ball(self._sigma_squared)
        s = spread.sqrt()
        z, height = k / s, self._height(k)
        result = s * (arb.pi() / 2).sqrt() * (z / arb(2).sqrt()).erfc() + height / 2
        quarter = arb.pi().sqrt() * (z / 2).erfc()
        precise = result * arb(2) ** -ctx.prec
        before, now = arb(1), z
        remainder = result
        for j in range(1, _MOST_TERMS):
            n = 2 * j
            factorial = arb(n).fac()
            scale = s ** (1 - n)
            result += ball(_bernoulli(n)) / factorial * scale * now * height
            bound = ball(_CRAMER) * factorial.sqrt() * scale * quarter
            remainder = 2 * arb(n).zeta() / (2 * arb.pi()) ** n * bound
            if remainder < precise:
                break
            before, now = now, z * now - (n - 1) * before
            before, now = now, z * now - n * before
        return result + remainder.union(-remainder)


@lru_cache(maxsize=256)
def _bernoulli(n: int) -> Fraction:
    value = fmpq.bernoulli(n)
    return Fraction(int(value.p), int(value.q))


@lru_cache(maxsize=64)
def _total(spread: Exact, precision: int) -> arb:
    """Return the sum of exp(-k**2 / (2 spread)) over all integers.

    By Poisson summation it equals sqrt(2 pi spread) times the same sum at the dual
    spread 1 / (4 pi**2 spread); whichever converges faster is summed.
    """
    del precision  # a key of the cache: balls are as wide as where they were made
    value = ball(spread)
    wide = spread >= 1
    rate = 2 * arb.pi() ** 2 * value if wide else 1 / (2 * value)
    result, k = arb(1), 1
    while True:
        term = 2 * (-(k * k) * rate).exp()
        result += term
        k += 1
        if term < arb(2) ** -(ctx.prec + 8):
            # Later terms fall at least as fast as a geometric series of ratio 1/2.
            result += term.union(arb(0))
            break
    return (2 * arb.pi() * value).sqrt() * result if wide else result


@final
@dataclass(frozen=True)
class GaussianShape(AbstractShape):
    """exp(-t**2 / (2 variance)), `variance` in squared blocks."""

    variance: Exact

    @property
    def spread(self) -> Exact:
        return sqrt(self.variance)

    def widen(self, exponent: int) -> "GaussianShape":
        return GaussianShape(self.variance / Fraction(4) ** exponent)

    def reach(self) -> int:
        """Return 5.8 standard deviations: f falls to 2**-24 there."""
        return int(5.8 * up(sqrt(self.variance))) + 1

    def profile(self, count: int) -> NDArray[np.float64]:
        """Return f(k) as the product of f(1) d**j over j < k, d = exp(-1 / variance).

        d**j errs by at most 2j roundings, so the product of k such factors errs by at
        most k**2 + 3k: below 2**-32 relative for the k <= 800 that are asked for.
        """
        first = enclose(lambda: (-1 / (2 * ball(self.variance))).exp())
        step = enclose(lambda: (-1 / ball(self.variance)).exp())
        ratios = np.full(count, float(step.mid()))
        ratios[:1] = 1.0
        ratios[1:2] = float(first.mid())
        np.multiply.accumulate(ratios[1:], out=ratios[1:])
        return np.multiply.accumulate(ratios)

    def rise(
        self, start: NDArray[np.float64], rho: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        return rho * (2.0 * start + rho) * (0.5 / up(self.variance))

    def exponent(self, distance: arb) -> arb:
        return distance * distance / (2 * ball(self.variance))

    def slope(self, distance: int) -> arb:
        # the exponent is convex: it stays above its tangent
        return distance / ball(self.variance)


@final
@dataclass(frozen=True)
class GaussianNoise(AbstractNoise):
    """Gaussian noise: density proportional to exp(-x**2 / (2 variance))."""

    variance: Exact

    @property
    def is_silent(self) -> bool:
        return False

    def integers(self) -> AbstractSampler:
        return integer_sampler(GaussianShape(self.variance))

    def floats(self, grid: int | None, target: FloatFormat) -> AbstractSampler:
        return float_sampler(GaussianShape(self.variance), grid, target)

    def law(self, grid: int | None) -> AbstractLaw:
        if grid is None:
            return ContinuousGaussianLaw(self.variance)
        return DiscreteGaussianLaw(self.variance, Fraction(2) ** grid)

    def tail(self, level: Fraction) -> Tail | None:
        return Tail(level / self.variance, self.variance)


@final
@dataclass(frozen=True, init=False, repr=False)
class Gaussian(AbstractFloatMechanism):
    """Add Gaussian noise to floats, given by its variance or its scale.

    The answer is the nearest float to the exact sum of the value and a real draw, a
    function of the sum alone, so the loss is that of the continuous Gaussian: exactly
    `GaussianDP`. `granularity=k` rounds the value to the grid 2**k and draws discrete
    Gaussian noise on it; such noise is not `GaussianDP`, and its loss is `ZCDP`.

    The edge cases are those of `Laplace`.

    >>> Gaussian(scale=2).map(1)
    GaussianDP(mu=0.5)
    >>> Gaussian(variance=2).map(1).rho
    Fraction(1, 4)
    """

    variance: Exact
    dtype: str
    granularity: int | None
    values: int | None
    input_metric: ClassVar[Metric] = "l2"

    def __init__(
        self,
        *,
        variance: Number | None = None,
        scale: Number | None = None,
        dtype: str = "f64",
        granularity: int | None = None,
        values: int | None = None,
    ) -> None:
        fill(
            self,
            variance=variance_of(variance, scale),
            **read_float_options(dtype, granularity, values),
        )

    @property
    def certificate(self) -> dict[str, Words]:
        return {"noise": "gaussian", "scale": exact_words(sqrt(self.variance))}

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
        return make(cls, variance=Fraction(0), **options)

    @property
    def scale(self) -> Exact:
        """Return the standard deviation."""
        return sqrt(self.variance)

    @property
    def output_measure(self) -> "type[GaussianDP | ZCDP]":
        return GaussianDP if self.granularity is None else ZCDP

    @property
    def noise(self) -> AbstractNoise:
        return GaussianNoise(self.variance) if self.variance else NoNoise()

    def map(self, d_in: Distance) -> "GaussianDP | ZCDP":
        """Return mu = l2 / sigma: any shift d is N(0, 1) against N(|d| / sigma, 1).

        On a grid, rho = l2**2 / (2 variance), rounding included (docs/proofs/noise.md);
        a plain number is then the change of `values` values, or of one.
        """
        mu = change_ratio(l2(d_in, self.rounding), self.scale)
        return GaussianDP(mu) if self.granularity is None else ZCDP(mu**2 / 2)

    @classmethod
    def for_loss(
        cls, loss: Budget, d_in: Distance, **options: Unpack[FloatOptions]
    ) -> Self:
        """Return the least noise whose loss at distance d_in is within a loss or risk.

        >>> Gaussian.for_loss(ZCDP("1/8"), 1).variance
        Fraction(4, 1)
        """
        change = positive_distance(l2(d_in, cls.no_noise(**options).rounding), d_in)
        guarantees = guarantees_of(loss)
        by_mu = scale_guess(change, guarantees.mu)
        guesses = [scale_guess(change**2 / 2, guarantees.rho), product(by_mu, by_mu)]
        return least_noise(
            lambda variance: cls(variance=variance, **options), loss, d_in, guesses
        )


_TWO_STEPS = sqrt(Fraction(2))


@final
@dataclass(frozen=True, init=False, repr=False)
class DiscreteGaussian(AbstractIntegerMechanism):
    """Add integer noise Z with P[Z = z] proportional to exp(-z**2 / (2 variance)).

    Given by the variance parameter or its square root, the scale; the true variance is
    a little smaller where the scale is below one. The edge cases are those of
    `Geometric`.

    >>> DiscreteGaussian(scale=2).map(1).rho
    Fraction(1, 8)
    """

    variance: Exact
    dtype: str
    input_metric: ClassVar[Metric] = "l2"
    output_measure: ClassVar[type[ZCDP]] = ZCDP

    def __init__(
        self,
        *,
        variance: Number | None = None,
        scale: Number | None = None,
        dtype: str = "i64",
    ) -> None:
        fill(
            self,
            variance=variance_of(variance, scale),
            dtype=integer_domain(dtype).dtype,
        )

    @classmethod
    def no_noise(cls, *, dtype: str = "i64") -> Self:
        """Return the mechanism that adds nothing and whose loss is infinite."""
        return make(cls, variance=Fraction(0), dtype=integer_domain(dtype).dtype)

    @property
    def scale(self) -> Exact:
        """Return the square root of the variance parameter."""
        return sqrt(self.variance)

    @property
    def noise(self) -> AbstractNoise:
        return GaussianNoise(self.variance) if self.variance else NoNoise()

    @overload
    def map(self, d_in: Sensitivity) -> Loss: ...
    @overload
    def map(self, d_in: Number | Infinity) -> DiscreteGaussianLoss | ZCDP: ...

    def map(self, d_in: Distance) -> Loss:
        """Return the loss of rho = l2**2 / (2 variance): for any order a, D_a <= a rho.

        Where a `Sensitivity` says that one value changes, or each by at most 1, the
        curve is the exact one; else only rho is known to hold (docs/proofs/noise.md,
        lemma 3). A plain number below sqrt(2) says enough: one value moves by 1.

        >>> DiscreteGaussian(scale=2).map(1)
        DiscreteGaussianLoss(shift=1, variance=4)
        """
        if isinstance(d_in, Sensitivity) and self.variance:
            return discrete_gaussian_vector(d_in, self.variance)
        change = l2(d_in)
        if 1 <= change < _TWO_STEPS and self.variance:
            return DiscreteGaussianLoss(1, self.variance)
        return ZCDP(change_ratio(change, self.scale) ** 2 / 2)

    @classmethod
    def for_loss(
        cls, loss: Budget, d_in: Distance, **options: Unpack[IntegerOptions]
    ) -> Self:
        """Return the least noise whose loss at distance d_in is within a loss or risk.

        >>> DiscreteGaussian.for_loss(ZCDP("1/8"), 1).variance
        Fraction(4, 1)
        """
        change = positive_distance(l2(d_in), d_in)
        guarantees = guarantees_of(loss)
        by_mu = scale_guess(change, guarantees.mu)
        guesses = [scale_guess(change**2 / 2, guarantees.rho), product(by_mu, by_mu)]
        return least_noise(
            lambda variance: cls(variance=variance, **options), loss, d_in, guesses
        )
