"""Gaussian noise on a map with unknown keys, released above a threshold.

Kernel: mathematics.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Self, Unpack, final

from sordino.errors import InvalidParameter
from sordino.losses.closed import ZCDP, ApproxDP, ApproxZCDP, GaussianDP
from sordino.losses.curves.points import find_least
from sordino.losses.loss import Loss
from sordino.noise.additive import (
    AbstractNoise,
    NoNoise,
    change_ratio,
    guarantees_of,
    variance_of,
)
from sordino.noise.gaussian import DiscreteGaussianLoss, GaussianNoise
from sordino.noise.numbers import Metric
from sordino.noise.threshold.fitting import (
    SPARE,
    Mechanism,
    fit_threshold,
    gaussian_ratio,
    positive_change,
    positive_delta,
)
from sordino.noise.threshold.mechanism import (
    AbstractThresholdMechanism,
    Change,
    MapDistance,
    Norm,
    ThresholdOptions,
    floor_to,
    read_threshold_options,
)
from sordino.numbers import (
    INFINITE,
    Exact,
    Number,
    down,
    finite,
    frozen,
    product,
    rounded_up,
    shortest,
    sqrt,
)
from sordino.numbers.canonical import Words, exact_words

_MOST_STEPS = 1 << 20
"""A change of more steps of the grid than this is priced by its rho alone."""
_FEW = 1000
"""Up to so many keys a fit on a lattice follows the exact curve: seconds at most."""
_CLOSE = 1e-3
_BELOW = 0.97
_MORE = 1 + Fraction(1, 10**6)
_TRIES = 24


@final
@dataclass(frozen=True, init=False, repr=False)
class GaussianThreshold(AbstractThresholdMechanism):
    """Add Gaussian noise to the values of a map; keep the keys that reach a threshold.

    On floats the noise is Gaussian on the reals, rounded once with the sum, or on the
    grid 2**granularity; on integers it is the discrete Gaussian. The edge cases are
    those of `LaplaceThreshold`, with l2 for l1.

    >>> loss = GaussianThreshold(scale=1, threshold=20).map((1, 1, 1))
    >>> loss.rho, float(loss.delta)
    (Fraction(1, 2), 8.527223952630977e-81)
    """

    variance: Exact
    threshold: Fraction
    dtype: str
    granularity: int | None
    norm: ClassVar[Norm] = "l2"
    input_metric: ClassVar[Metric] = "l0, l2, linf"
    output_measure: ClassVar[type[ApproxZCDP]] = ApproxZCDP

    def __init__(
        self,
        *,
        variance: Number | None = None,
        scale: Number | None = None,
        threshold: Number,
        dtype: str = "f64",
        granularity: int | None = None,
    ) -> None:
        frozen.fill(
            self,
            variance=variance_of(variance, scale),
            **read_threshold_options(threshold, dtype, granularity),
        )

    @property
    def certificate(self) -> dict[str, Words]:
        return {
            "noise": "gaussian",
            "scale": exact_words(sqrt(self.variance)),
            "threshold": exact_words(self.threshold),
        }

    @classmethod
    def no_noise(
        cls, threshold: Number, *, dtype: str = "f64", granularity: int | None = None
    ) -> Self:
        """Return the mechanism that adds nothing and whose loss is infinite."""
        options = read_threshold_options(threshold, dtype, granularity)
        return frozen.make(cls, variance=Fraction(0), **options)

    @classmethod
    def for_loss(
        cls,
        loss: ApproxDP | ApproxZCDP,
        d_in: MapDistance,
        *,
        negative: bool = False,
        **options: Unpack[ThresholdOptions],
    ) -> Self:
        """Return the least variance, and for it the least threshold, within a loss.

        For any d_in the answer's own `map(d_in)` is within the loss: by its rho and
        delta, or for (epsilon, delta) by its joint curve at epsilon.

        >>> fitted = GaussianThreshold.for_loss(ApproxZCDP("1/2", "1e-6"), (1, 1, 1))
        >>> fitted.variance, round(float(fitted.threshold), 4)
        (Fraction(1, 1), 5.7534)
        """
        probe = cls(variance=1, threshold=1, **options)
        apart = positive_change(probe.change(d_in), d_in)
        guarantees = guarantees_of(loss)
        delta = positive_delta(loss, guarantees.delta)
        if guarantees.epsilon is not INFINITE:
            delta *= SPARE

        def fitted(variance: Exact) -> Self:
            spread = frozen.change(probe, variance=variance)
            return fit_threshold(spread, apart, delta, negative=negative)

        if guarantees.epsilon is INFINITE:
            return fitted(_by_rho(loss, apart))
        safe = _by_curve(
            apart, guarantees.epsilon, delta, on_lattice=probe.unit is not None
        )
        if not probe.is_exact(apart):
            return _admitted_fit(fitted, loss, d_in, safe)
        near = _by_curve(apart, guarantees.epsilon, delta, on_lattice=False)

        def within(part: float) -> bool:
            return bool(loss.admits(fitted(safe * shortest(part)).map(d_in)))

        part = find_least(within, down(near / safe) * _BELOW, 1.0, _CLOSE)
        best = safe * shortest(part) if math.isfinite(part) else safe
        return _admitted_fit(fitted, loss, d_in, best)

    @property
    def scale(self) -> Exact:
        """Return the standard deviation, on integers that of the continuous law."""
        return sqrt(self.variance)

    @property
    def noise(self) -> AbstractNoise:
        return GaussianNoise(self.variance) if self.variance else NoNoise()

    def headline(self, apart: Change) -> ApproxZCDP:
        rho = change_ratio(product(apart.whole, apart.whole), 2 * self.variance)
        return ApproxZCDP(rho, self.delta(apart))

    def noise_loss(self, apart: Change) -> Loss:
        """Return the loss of the noise on keys that both maps have.

        Continuous noise depends on l2 alone. On a lattice the curve is exact where one
        key changes, or each by one step, which is the worst of such changes; any other
        change is bounded by its rho.
        """
        mu = change_ratio(apart.whole, self.scale)
        if self.unit is None or mu is INFINITE:
            return GaussianDP(mu)
        steps, spread = self._steps(apart), self.variance / self.unit**2
        if apart.l0 == 1 and steps <= _MOST_STEPS:
            return DiscreteGaussianLoss(steps, spread)
        if steps == 1:
            # each key that changes takes one step of the square, no less
            taken = int(floor_to(finite(apart.whole) ** 2, self.unit**2) / self.unit**2)
            return DiscreteGaussianLoss(1, spread) * int(min(apart.l0, taken))
        return ZCDP(mu**2 / 2)

    def is_exact(self, apart: Change) -> bool:
        """Tell whether a lattice prices few keys by their exact curve."""
        if self.unit is None or apart.l0 > _FEW:
            return False
        steps = self._steps(apart)
        return steps <= _MOST_STEPS and (apart.l0 == 1 or steps == 1)

    def _steps(self, apart: Change) -> int:
        assert self.unit is not None  # noqa: S101 asked of lattices
        return int(floor_to(apart.linf, self.unit) / self.unit)


def _by_curve(
    apart: Change, epsilon: Exact, delta: Fraction, *, on_lattice: bool
) -> Fraction:
    # downwards: a lesser epsilon only asks for more noise
    ratio = gaussian_ratio(apart, down(epsilon), delta, on_lattice=on_lattice)
    return rounded_up(finite(apart.whole) ** 2 / Fraction(ratio) ** 2)


def _admitted_fit(
    fitted: Callable[[Exact], Mechanism],
    loss: Loss,
    d_in: MapDistance,
    variance: Fraction,
) -> Mechanism:
    """Return the mechanism whose very loss is admitted, at a variance or just above."""
    for _ in range(_TRIES):
        mechanism = fitted(variance)
        if loss.admits(mechanism.map(d_in)):
            return mechanism
        variance = rounded_up(variance * _MORE)
    raise InvalidParameter(
        "loss",
        loss,
        "cannot be met by any variance of this noise",
        "Use a larger delta.",
    )


def _by_rho(loss: Loss, apart: Change) -> Exact:
    square, rho = finite(apart.whole) ** 2, loss.guarantees.rho
    if rho is not INFINITE and rho > 0:
        return square / (2 * rho)
    raise InvalidParameter(
        "loss",
        loss,
        "must bound epsilon or rho, and delta",
        'Use sd.ApproxDP(1, "1e-6") or sd.ApproxZCDP("1/2", "1e-6").',
    )
