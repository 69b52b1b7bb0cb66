"""Curves worked out another way: exact pairs of worlds, at 60 digits.

A pair is atoms (p, q), masses of the same outcome in two worlds, beside at most one
continuous loss whose delta has a closed form. Pairs compose by products of atoms; no
grid, no transform and no double is used. The delta of a pair is known for every real
epsilon, so a composition with a continuous loss is a sum over atoms:

    delta(e) = sum over atoms of p delta_c(e - ln(p / q)),  and p itself where q is 0.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias, final

from mpmath.ctx_mp import MPContext

mp = MPContext()
mp.dps = 60
mpf = mp.mpf
Real: TypeAlias = Any
"""A number of mpmath."""
Curve: TypeAlias = Callable[[Real], Real]


def real(x: Any) -> Real:
    """Return an exact number, or what text or a double holds, at 60 digits."""
    if isinstance(x, float):
        return mpf(x)
    value = Fraction(x)
    return mpf(value.numerator) / value.denominator


@final
@dataclass(frozen=True)
class Worlds:
    """Two worlds: what is seen in each, and a continuous loss beside it."""

    atoms: tuple[tuple[Real, Real], ...] = ((mpf(1), mpf(1)),)
    curve: Curve | None = None

    def delta(self, epsilon: Any) -> Real:
        """Return the greatest P(S) - exp(epsilon) Q(S) over events S."""
        e = mpf(epsilon)
        return mp.fsum(self._part(e, p, q) for p, q in self.atoms)

    def _part(self, epsilon: Real, p: Real, q: Real) -> Real:
        if not p or not q:
            return p
        if self.curve is None:
            return max(p - mp.exp(epsilon) * q, mpf(0))
        return p * self.curve(epsilon - mp.log(p / q))

    def swapped(self) -> Worlds:
        """Return the worlds exchanged; a continuous loss here is symmetric."""
        return Worlds(tuple((q, p) for p, q in self.atoms), self.curve)

    def beside(self, other: Worlds) -> Worlds:
        """Return two independent releases, at most one of them continuous."""
        cells: dict[Any, tuple[Real, Real]] = {}
        for (a, b), (c, d) in itertools.product(self.atoms, other.atoms):
            p, q = a * c, b * d
            place = mp.nstr(mp.log(p / q), 40) if p and q else (bool(p), bool(q))
            x, y = cells.get(place, (mpf(0), mpf(0)))
            cells[place] = x + p, y + q
        return Worlds(tuple(cells.values()), self.curve or other.curve)

    def times(self, count: int) -> Worlds:
        """Return so many independent releases of the same pair."""
        found = Worlds()
        for _ in range(count):
            found = found.beside(self)
        return found


def worst(ways: Iterable[Worlds], epsilon: Any) -> Real:
    """Return the greatest delta of several pairs, each both ways."""
    return max(max(w.delta(epsilon), w.swapped().delta(epsilon)) for w in ways)


def response(epsilon: Any, categories: int = 2) -> Worlds:
    """Return the truth with odds of exp(epsilon) to 1, in two worlds."""
    truth = mp.exp(real(epsilon))
    whole = truth + categories - 1
    rest = ((categories - 2) / whole,) * 2
    sides = (truth / whole, 1 / whole), (1 / whole, truth / whole)
    return Worlds((*sides, rest) if categories > 2 else sides)


def breach(left: Real, right: Real) -> Worlds:
    """Return a chance of certainty in the one world, and one in the other."""
    return Worlds(((left, mpf(0)), (mpf(0), right), (1 - left, 1 - right)))


def geometric(shift: int, scale: Any) -> Worlds:
    """Return two-sided geometric noise, shifted and not."""
    a = mp.exp(-1 / real(scale))
    ends = 1 / (1 + a), a**shift / (1 + a)
    unit = (1 - a) / (1 + a)
    middle = ((unit * a ** (shift - x), unit * a**x) for x in range(1, shift))
    return Worlds((ends, ends[::-1], *middle))


def lattice(shift: int, variance: Any) -> Worlds:
    """Return discrete Gaussian noise, shifted and not, cut off beyond 1e-70."""
    v = real(variance)
    reach = int(mp.sqrt(330 * v)) + shift + 2
    points = range(-reach, reach + shift + 1)
    heights = [mp.exp(-(x**2) / (2 * v)) for x in range(-2 * reach, 2 * reach + 1)]
    whole = mp.fsum(heights)

    def mass(x: int) -> Real:
        return mp.exp(-(x**2) / (2 * v)) / whole

    return Worlds(tuple((mass(x - shift), mass(x)) for x in points))


def gaussian(mu: Any) -> Worlds:
    """Return the normal law, moved by mu and not."""
    m = mp.sqrt(real(mu[5:-1])) if str(mu).startswith("sqrt") else real(mu)

    def curve(e: Real) -> Real:
        return mp.ncdf(m / 2 - e / m) - mp.exp(e) * mp.ncdf(-m / 2 - e / m)

    return Worlds(curve=curve if m else None)


def laplace(ratio: Any) -> Worlds:
    """Return the Laplace law, moved by a ratio of its scale and not."""
    r = real(ratio)

    def curve(e: Real) -> Real:
        if e >= r:
            return mpf(0)
        return 1 - mp.exp((e - r) / 2) if e > -r else 1 - mp.exp(e)

    return Worlds(curve=curve)


def two_laplace(first: Any, second: Any) -> Worlds:
    """Return two Laplace laws side by side."""
    return beside_laplace(first, laplace(second), real(second))


def beside_laplace(ratio: Any, other: Worlds, *ends: Real) -> Worlds:
    """Return another continuous loss integrated over that of a Laplace law.

    The loss of a law of ratio r is r with chance 1/2, -r with chance exp(-r)/2, and
    between them has density exp((l - r)/2)/4. By Gauss-Legendre between the kinks: the
    curve of the other has one at each of its ends.
    """
    r, inner = real(ratio), other.curve
    assert inner is not None

    def curve(e: Real) -> Real:
        bends = (bend for end in ends for bend in (e - end, e + end))
        kinks = sorted({-r, r, *(min(max(bend, -r), r) for bend in bends)})
        body = mp.quad(lambda x: mp.exp((x - r) / 2) / 4 * inner(e - x), kinks)
        return inner(e - r) / 2 + mp.exp(-r) / 2 * inner(e + r) + body

    return Worlds(curve=curve)


def bounded_range(epsilon: Any) -> Callable[[Any], Real]:
    """Return delta of the worst pair of a bounded range, of all pairs of two outcomes.

    With losses t and t - r, r = epsilon, P has (exp(r) - exp(t))/(exp(r) - 1) at t. But
    for a factor it gains (exp(r) - exp(t)) (1 - exp(e - t)): most halfway from e to r.
    """
    whole = real(epsilon)

    def delta(e: Any) -> Real:
        if mpf(e) >= whole:
            return mpf(0)
        t = (mpf(e) + whole) / 2
        p = mp.expm1(whole - t) / (mp.exp(whole - t) - mp.exp(-t))
        return p * -mp.expm1(mpf(e) - t)

    return delta


def sampled(worlds: Worlds, rate: Any) -> Sequence[Worlds]:
    """Return the atoms on a Poisson sample: removing the unit, and adding it."""
    q = real(rate)
    mixed = tuple(((1 - q) * b + q * a, b) for a, b in worlds.atoms)
    other = tuple((a, (1 - q) * a + q * b) for a, b in worlds.atoms)
    return Worlds(mixed), Worlds(other)


def sampled_curve(curve: Curve, rate: Any) -> Curve:
    """Return the greater delta of both directions of a continuous loss on a sample.

    Removing: q delta(ln(1 + (t - 1)/q)). Adding: with s = 1 - t (1 - q) above 0,
    s delta(ln(t q / s)); else 0.
    """
    q = real(rate)

    def delta(e: Any) -> Real:
        t = mp.exp(mpf(e))
        removing = q * curve(mp.log(1 + (t - 1) / q))
        left = 1 - t * (1 - q)
        adding = left * curve(mp.log(t * q / left)) if left > 0 else mpf(0)
        return max(removing, adding)

    return delta


def splits(keys: int, chance: Any, kept: Callable[[int], Worlds]) -> list[Worlds]:
    """Return every split of changed keys into new, gone and kept ones."""
    p = real(chance)
    return [
        breach(1 - (1 - p) ** new, 1 - (1 - p) ** gone).beside(kept(keys - new - gone))
        for new in range(keys + 1)
        for gone in range(keys + 1 - new)
    ]
