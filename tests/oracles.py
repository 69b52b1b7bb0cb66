"""Curves worked out another way: exact pairs of worlds, at 60 digits.

A pair is atoms (p, q), masses of the same outcome in two worlds, beside a continuous
loss whose delta has a closed form. Pairs compose by products of atoms, two continuous
losses by an integral over the law of one; no grid, no transform and no double is used.
The delta of a pair is known for every real epsilon; a composition sums over atoms:

    delta(e) = sum over atoms of p delta_c(e - ln(p / q)),  and p itself where q is 0.
"""

from __future__ import annotations

import itertools
import math
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
class Continuous:
    """A continuous loss, alike in both directions, by its delta at every epsilon."""

    curve: Curve
    family: Callable[[Real], Continuous] | None = None
    """Makes the losses of this kind, of which two are one of the sum of amounts."""
    amount: Real = 0
    range: Real | None = None
    """Losses lie within this of 0 (all but 1e-40), and the curve has kinks there."""
    density: Callable[[Real], Real] | None = None
    """The density of the loss inside its range in the first world."""
    ends: tuple[Real, Real] = (0, 0)
    """The chances of the least and of the greatest loss."""

    def beside(self, other: Continuous) -> Continuous:
        """Return two of them together: of one family, or one of them with a density.

        By quadrature over the law of one of them, between all kinks, at 20 digits.
        """
        if self.family is not None and self.family is other.family:
            return self.family(self.amount + other.amount)
        # rather the law that ends, between whose ends the other's kinks are few
        first = self.density and (self.family is None or not other.density)
        outer, inner = (self, other) if first else (other, self)
        density, r = outer.density, outer.range
        assert density is not None
        assert r is not None
        bends = (mpf(0), *(() if inner.range is None else (inner.range, -inner.range)))

        def curve(e: Real) -> Real:
            kinks = sorted({-r, r, *(min(max(e + bend, -r), r) for bend in bends)})
            with mp.workdps(20):
                body = mp.quad(lambda x: density(x) * inner.curve(e - x), kinks)
            least, greatest = outer.ends
            return least * inner.curve(e + r) + greatest * inner.curve(e - r) + body

        return Continuous(curve)


@final
@dataclass(frozen=True)
class Worlds:
    """Two worlds: what is seen in each, and a continuous loss beside it."""

    atoms: tuple[tuple[Real, Real], ...] = ((mpf(1), mpf(1)),)
    loss: Continuous | None = None

    def delta(self, epsilon: Any) -> Real:
        """Return the greatest P(S) - exp(epsilon) Q(S) over events S."""
        e = mpf(epsilon)
        return mp.fsum(self._part(e, p, q) for p, q in self.atoms)

    def _part(self, epsilon: Real, p: Real, q: Real) -> Real:
        if not p or not q:
            return p
        if self.loss is None:
            return max(p - mp.exp(epsilon) * q, mpf(0))
        return p * self.loss.curve(epsilon - mp.log(p / q))

    def swapped(self) -> Worlds:
        """Return the worlds exchanged; a continuous loss here is symmetric."""
        return Worlds(tuple((q, p) for p, q in self.atoms), self.loss)

    def beside(self, other: Worlds) -> Worlds:
        """Return two independent releases."""
        cells: dict[Any, tuple[Real, Real]] = {}
        for (a, b), (c, d) in itertools.product(self.atoms, other.atoms):
            p, q = a * c, b * d
            place = mp.nstr(mp.log(p / q), 40) if p and q else (bool(p), bool(q))
            x, y = cells.get(place, (mpf(0), mpf(0)))
            cells[place] = x + p, y + q
        if self.loss is None or other.loss is None:
            return Worlds(tuple(cells.values()), self.loss or other.loss)
        return Worlds(tuple(cells.values()), self.loss.beside(other.loss))

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


def normal(square: Real) -> Continuous:
    """Return the loss of a normal law, moved by the root of a square and not."""
    m = mp.sqrt(square)

    def curve(e: Real) -> Real:
        return mp.ncdf(m / 2 - e / m) - mp.exp(e) * mp.ncdf(-m / 2 - e / m)

    def density(x: Real) -> Real:
        return mp.npdf(x, square / 2, m)

    return Continuous(curve, normal, square, square / 2 + 14 * m, density)


def gaussian(mu: Any) -> Worlds:
    """Return the normal law, moved by mu and not."""
    square = real(mu[5:-1]) if str(mu).startswith("sqrt") else real(mu) ** 2
    return Worlds(loss=normal(square) if square else None)


def laplace(ratio: Any) -> Worlds:
    """Return the Laplace law, moved by a ratio of its scale and not.

    The loss is the ratio r with chance 1/2, -r with chance exp(-r)/2, and between them
    has density exp((l - r)/2)/4.
    """
    r = real(ratio)

    def curve(e: Real) -> Real:
        if e >= r:
            return mpf(0)
        return 1 - mp.exp((e - r) / 2) if e > -r else 1 - mp.exp(e)

    def density(x: Real) -> Real:
        return mp.exp((x - r) / 2) / 4

    ends = mp.exp(-r) / 2, mpf(1) / 2
    return Worlds(loss=Continuous(curve, None, 0, r, density, ends))


def bounded_range(epsilon: Any) -> Worlds:
    """Return the worst pair of a bounded range, of all pairs of two outcomes.

    With losses t and t - r, r = epsilon, P has (exp(r) - exp(t))/(exp(r) - 1) at t. But
    for a factor it gains (exp(r) - exp(t)) (1 - exp(e - t)): most halfway from e to r.
    The worst of all is no one of them; its loss has density exp(x/2)/4 sinh(r/2).
    """
    whole = real(epsilon)

    def delta(e: Real) -> Real:
        if e >= whole:
            return mpf(0)
        if e <= -whole:
            return 1 - mp.exp(e)
        t = (e + whole) / 2
        p = mp.expm1(whole - t) / (mp.exp(whole - t) - mp.exp(-t))
        return p * -mp.expm1(e - t)

    def density(x: Real) -> Real:
        return mp.exp(x / 2) / (4 * mp.sinh(whole / 2))

    return Worlds(loss=Continuous(delta, None, 0, whole, density))


def concentrated(rho: Any) -> list[Worlds]:
    """Return two pairs that are rho-zCDP and no better: a normal one, and a response.

    A response of epsilon is epsilon tanh(epsilon / 2)-zCDP.
    """
    whole = real(rho)
    epsilon = mp.findroot(lambda x: x * mp.tanh(x / 2) - whole, mp.sqrt(2 * whole))
    truth = 1 / (1 + mp.exp(-epsilon))
    return [
        Worlds(loss=normal(2 * whole)),
        Worlds(((truth, 1 - truth), (1 - truth, truth))),
    ]


def converted(rho: Real) -> Continuous:
    """Return a curve above all rho-zCDP releases, at nearly the best order for each.

    delta <= exp((a - 1)(a rho - e)) (1 - 1/a)^(a - 1) / a for any a > 1 (Canonne,
    Kamath and Steinke 2020); below 0 the mirror image.
    """

    def log_delta(e: Any, less: Any, log: Callable[[Any], Any], size: Any) -> Any:
        a = 1 + less
        return less * (a * size - e) + less * log(less / a) - log(a)

    def curve(e: Real) -> Real:
        if e < 0:
            return 1 - mp.exp(e) * (1 - curve(-e))
        low, high = -8.0, 8.0
        for _ in range(60):
            third = (high - low) / 3
            left, right = (
                log_delta(float(e), math.exp(u), math.log, float(rho))
                for u in (low + third, high - third)
            )
            low, high = (low, high - third) if left < right else (low + third, high)
        return mp.exp(log_delta(e, mp.exp(low), mp.log, rho))

    return Continuous(curve, converted, rho)


def rounds(*cases: tuple[Any, Any]) -> list[Worlds]:
    """Return keys shown in rounds: with a chance one is seen, else a normal loss."""
    return [
        way
        for seen, mu in cases
        for one in (
            Worlds(((real(seen), mpf(0)), (1 - real(seen), mpf(1)))).beside(
                gaussian(mu)
            ),
        )
        for way in (one, one.swapped())
    ]


def sampled(worlds: Worlds, rate: Any) -> Sequence[Worlds]:
    """Return the atoms on a Poisson sample: removing the unit, and adding it."""
    q = real(rate)
    mixed = tuple(((1 - q) * b + q * a, b) for a, b in worlds.atoms)
    other = tuple((a, (1 - q) * a + q * b) for a, b in worlds.atoms)
    return Worlds(mixed), Worlds(other)


def sampled_deltas(worlds: Worlds, rate: Any) -> tuple[Curve, Curve]:
    """Return delta on a sample, for epsilon >= 0: removing the unit, and adding it.

    Removing: q delta(ln(1 + (t - 1)/q)). Adding: with s = 1 - t (1 - q) above 0,
    s delta(ln(t q / s)); else 0.
    """
    q = real(rate)

    def removing(e: Any) -> Real:
        return q * worlds.delta(mp.log(1 + mp.expm1(mpf(e)) / q))

    def adding(e: Any) -> Real:
        t = mp.exp(mpf(e))
        left = 1 - t * (1 - q)
        return left * worlds.delta(mp.log(t * q / left)) if left > 0 else mpf(0)

    return removing, adding


def splits(keys: int, chance: Any, kept: Callable[[int], Worlds]) -> list[Worlds]:
    """Return every split of changed keys into new, gone and kept ones."""
    p = real(chance)
    return [
        breach(1 - (1 - p) ** new, 1 - (1 - p) ** gone).beside(kept(keys - new - gone))
        for new in range(keys + 1)
        for gone in range(keys + 1 - new)
    ]
