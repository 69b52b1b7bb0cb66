"""Draws of what passes a threshold, without drawing what does not.

Of many values of 0 with noise only few reach a far level. Which of them do is a
sequence of independent trials of one chance, so the gaps between passes are geometric;
and by how much a pass exceeds the level is the tail of the noise, drawn on its own.
Every decision is settled in ball arithmetic, so the law is exact: see
docs/proofs/thresholds.md.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Final, final

from flint import arb

from sordino.numbers import Exact, ball, fraction
from sordino.sampling.bits import BitSource
from sordino.sampling.certified import Uniform, settle, surely_less
from sordino.sampling.floats import FloatFormat

_BYTES: Final = 8
_WORD: Final = 64

Ball = Callable[[], arb]
"""A number that can be enclosed at any working precision."""


def passes(chance: Ball, count: int, bits: BitSource) -> list[int]:
    """Return which of `count` independent trials of one chance succeed, ascending.

    P[floor(log U / log(1 - p)) >= k] = (1 - p)**k is the law of the failures before the
    next success; the work is in proportion to the successes.
    """
    places: list[int] = []
    place = -1
    while True:
        u = _uniform(bits)

        def failures(u: Uniform = u) -> int | None:
            return _floor(u.enclosure().log() / (-chance()).log1p())

        place += 1 + settle(failures, u)
        if place >= count:
            return places
        places.append(place)


@final
@dataclass(frozen=True)
class Tail:
    """How far noise exceeds a level > 0, given that it reaches it.

    The density falls as exp(-slope x - x**2 / (2 variance)) at x beyond the level; the
    second term is absent where `variance` is None. An exponential x is proposed, and
    accepted with the chance exp(-x**2 / (2 variance)): exactly that density.
    """

    slope: Exact
    variance: Exact | None

    def steps(self, unit: Fraction, bits: BitSource) -> int:
        """Return the excess in steps of a lattice that holds the level."""
        while True:
            u = _uniform(bits)

            def whole(u: Uniform = u) -> int | None:
                return _floor(-u.enclosure().log() / ball(self.slope * unit))

            count = settle(whole, u)
            far = count * unit
            if self._accepts(partial(ball, far), bits):
                return count

    def nearest(self, level: Fraction, target: FloatFormat, bits: BitSource) -> float:
        """Return the float nearest to the level plus a real excess."""
        while True:
            u = _uniform(bits)

            def excess(u: Uniform = u) -> arb:
                return -u.enclosure().log() / ball(self.slope)

            def rounded(excess: Ball = excess) -> float | None:
                far = ball(level) + excess()
                if not far.is_finite():
                    return None
                low = target.round(fraction(far.lower()))
                return low if low == target.round(fraction(far.upper())) else None

            if self._accepts(excess, bits, u):
                return settle(rounded, u)

    def _accepts(self, excess: Ball, bits: BitSource, *uniforms: Uniform) -> bool:
        """Accept a proposal with the chance exp(-excess**2 / (2 variance))."""
        variance = self.variance
        if variance is None:
            return True
        v = _uniform(bits)

        def below() -> bool | None:
            chance = (-(excess() ** 2) / (2 * ball(variance))).exp()
            return surely_less(v.enclosure(), chance)

        return settle(below, v, *uniforms)


def _uniform(bits: BitSource) -> Uniform:
    """Return a fresh uniform number, one word of which is known."""
    return Uniform(bits, bits.word(_BYTES), _WORD)


def _floor(number: arb) -> int | None:
    """Return the floor of a ball, None where its ends disagree."""
    if not number.is_finite():
        return None
    low, high = (fraction(end).__floor__() for end in (number.lower(), number.upper()))
    return low if low == high else None
