"""Losses of noise on several numbers at once, by their worst change.

For Laplace and geometric noise the change (linf, ..., linf, rest) is the worst of all
with the given bounds, for every epsilon at once (docs/proofs/losses.md, section 5). An
answer may change in at most `l0` numbers, each by `linf`, and by `l1` in all.
"""

import math
from fractions import Fraction
from typing import Any

from sordino.losses.base import Loss, PureDP
from sordino.losses.closed import ZCDP
from sordino.losses.noise_losses import DiscreteGaussianLoss, GeometricLoss, LaplaceLoss
from sordino.numbers import INFINITE, Exact, Extended, down, floor_log2, positive
from sordino.sensitivity import Sensitivity


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
    return GeometricLoss(_floor(step), width) * copies + GeometricLoss(
        _floor(rest), width
    )


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
        return DiscreteGaussianLoss(_floor(whole.linf), spread)
    if whole.linf == 1:
        return DiscreteGaussianLoss(1, spread) * _floor(whole.l2**2)
    return ZCDP(whole.l2**2 / (2 * spread))


def _worst(d_in: Sensitivity) -> tuple[int, Extended, Extended]:
    """Return how many numbers change most, by how much, and the rest for one more."""
    if d_in.linf is INFINITE or d_in.linf == 0:
        return 0, d_in.linf, d_in.l1
    if d_in.l1 is INFINITE:
        return 0, d_in.linf, INFINITE
    full = _floor(d_in.l1 / d_in.linf)
    if full >= d_in.l0:
        return int(d_in.l0), d_in.linf, Fraction(0)
    rest = _difference(d_in.l1, d_in.linf * Fraction(full))
    return full, d_in.linf, rest


def _whole(d_in: Sensitivity) -> Sensitivity:
    """Return the bounds on integer changes: those of each size rounded down."""
    sizes: dict[str, Any] = {
        "l0": None if d_in.l0 is INFINITE else d_in.l0,
        "l2": d_in.l2,
    }
    for name, value in (("l1", d_in.l1), ("linf", d_in.linf)):
        sizes[name] = value if value is INFINITE else _floor(value)
    return Sensitivity(**sizes)


def _floor(value: Exact) -> int:
    """Return the greatest integer that is not above a number."""
    if isinstance(value, Fraction):
        return math.floor(value)
    if value < 1:
        return 0
    # a root lies within a factor of two of a power of two: halve the interval
    low, high = 1 << floor_log2(value), 2 << floor_log2(value)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if value >= middle else (low, middle)
    return low


def _difference(whole: Exact, part: Exact) -> Exact:
    """Return whole - part, at least 0, rounded up where the roots are unlike."""
    if isinstance(whole, Fraction) and isinstance(part, Fraction):
        return whole - part
    ratio = part / whole
    share = ratio if isinstance(ratio, Fraction) else Fraction(down(ratio))
    return whole * (1 - share)
