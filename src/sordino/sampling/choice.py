"""Choices with chances proportional to exponentials, exact, by dominated weights.

Each candidate gets a whole weight that is at least its true one; one is proposed by
whole numbers alone and accepted in the share of its weight that is true. Whatever the
weights, the accepted ones have exactly the stated chances: only domination matters
(docs/proofs/selection.md, section 2). Doubles decide where their error bound allows,
balls elsewhere.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, partial
from typing import Final, NamedTuple, final

import numpy as np
from flint import arb
from numpy.typing import NDArray

from sordino.numbers import Exact, ball, up
from sordino.precision import enclosed
from sordino.sampling.bits import Source
from sordino.sampling.blocks import SLICE
from sordino.sampling.certified import Uniform, settle, surely_less
from sordino.sampling.uniform import uniform_below

LARGEST: Final = 1 << 62
"""Gaps and numbers of candidates lie below this."""

_FARTHEST = 64.0
_FAINTEST = 2e-28
"""Just above exp(-64), which stands for everything below it."""
_STEPS = 64
_MARGIN = 2.0**-40
_DOUBT = 2.0**-50
_STEEPEST = 2.0**1000
_ROOM = 61
_WORD = 64


@final
@dataclass(frozen=True, eq=False)
class Runs:
    """Candidates of many groups, one group after the other, in runs of equal score.

    A run of `sizes` >= 1 candidates lies `gaps` >= 0 behind the best of its group;
    `ends` are the ends of the groups, none of them empty, each with a gap of 0.
    """

    gaps: NDArray[np.int64]
    sizes: NDArray[np.int64]
    ends: NDArray[np.int64]


@final
class Chosen(NamedTuple):
    """For each group the run chosen, and which candidate of the run."""

    run: NDArray[np.int64]
    place: NDArray[np.int64]


@final
class _Weights(NamedTuple):
    """Whole weights, and the true ones as doubles, in a unit of each group.

    The true weight is size * exp(-rate * gap) * unit, the unit a power of two; where
    the exponent is beyond 64 the double stands above it.
    """

    whole: NDArray[np.int64]
    scaled: NDArray[np.float64]
    unit: NDArray[np.float64]


def choose(runs: Runs, rate: "Exact | float", bits: Source) -> Chosen:
    """Return for each group a candidate of chance proportional to exp(-rate * gap).

    An infinite rate chooses among the best alone.
    """
    weights = _weighed(runs, rate)
    edges = np.cumsum(weights.whole)
    last = edges[runs.ends - 1]
    first = np.append(0, last[:-1])
    chosen = np.empty(runs.ends.size, np.int64)
    open_ = np.arange(runs.ends.size)
    while open_.size:
        drawn = first[open_] + uniform_below(last[open_] - first[open_], bits)
        proposed = np.searchsorted(edges, drawn, side="right")
        chosen[open_] = proposed
        trial = _Trial(runs, rate, weights, proposed, weights.unit[open_])
        open_ = open_[~trial.accepted(bits)]
    return Chosen(chosen, uniform_below(runs.sizes[chosen], bits))


def _weighed(runs: Runs, rate: "Exact | float") -> _Weights:
    """Return weights whose sum over all groups fits, in units that suit each group."""
    scaled = _falls(runs.gaps, rate)
    scaled *= runs.sizes
    starts = np.append(0, runs.ends[:-1])
    room = _ROOM - (runs.ends.size - 1).bit_length()
    shift = room - np.frexp(np.add.reduceat(scaled, starts))[1].astype(np.int64)
    unit = np.ldexp(1.0, shift)
    scaled *= np.repeat(unit, runs.ends - starts)
    whole = (scaled * (1 + _MARGIN)).astype(np.int64)
    whole += scaled > 0
    return _Weights(whole, scaled, unit)


def _falls(gaps: NDArray[np.int64], rate: "Exact | float") -> NDArray[np.float64]:
    """Return exp(-rate * gap) near enough, or exp(-64) where it is less.

    A table of exp(-n / 64) times the Taylor sum of the rest: no library's exp.
    """
    falls = np.empty(gaps.size)
    if isinstance(rate, float):
        np.equal(gaps, 0, out=falls)
        return falls
    steepness, powers = min(up(rate), _STEEPEST), _powers()
    for begin in range(0, gaps.size, SLICE):
        part = slice(begin, begin + SLICE)
        exponent = np.minimum(gaps[part] * steepness, _FARTHEST)
        step = np.floor(exponent * _STEPS)
        x = exponent - step * (1 / _STEPS)
        taylor = 1 - x * (1 - x / 2 * (1 - x / 3 * (1 - x / 4 * (1 - x / 5))))
        np.multiply(powers.take(step.astype(np.int64)), taylor, out=falls[part])
    return falls


@lru_cache(maxsize=1)
def _powers() -> NDArray[np.float64]:
    """Return exp(-n / 64) up to n = 64 * 64, each within a unit in the last place."""
    count = int(_FARTHEST) * _STEPS + 1
    powers = (enclosed(partial(_power, n)) for n in range(count))
    return np.array([float(power.mid()) for power in powers])


def _power(n: int) -> arb:
    """Return exp(-n / 64) at the working precision."""
    return (arb(-n) / _STEPS).exp()


@final
@dataclass(frozen=True, eq=False)
class _Trial:
    """One proposal for each of some groups, with the unit of its group."""

    runs: Runs
    rate: "Exact | float"
    weights: _Weights
    proposed: NDArray[np.intp]
    unit: NDArray[np.float64]

    def accepted(self, bits: Source) -> NDArray[np.bool_]:
        """Return whether V times the whole weight is below the true one, V uniform."""
        words = bits.words(self.proposed.size)
        v = np.ldexp(words.astype(np.float64), -_WORD)
        whole = self.weights.whole[self.proposed]
        true = self.weights.scaled[self.proposed]
        near = true > _FAINTEST * self.runs.sizes[self.proposed] * self.unit
        below = (v + _DOUBT) * whole <= true * (1 - _MARGIN)
        accepted: NDArray[np.bool_] = near & below
        refused = (v - _DOUBT) * whole >= true * (1 + _MARGIN)
        for i in np.flatnonzero(~accepted & ~refused):
            accepted[i] = self._settled(int(i), Uniform(bits, int(words[i]), _WORD))
        return accepted

    def _settled(self, index: int, v: Uniform) -> bool:
        """Decide V * whole < size * exp(-rate * gap) * unit exactly."""
        run = int(self.proposed[index])
        gap, size = int(self.runs.gaps[run]), int(self.runs.sizes[run])
        exponent: Exact = Fraction(0)
        # at an infinite rate no run with a gap is proposed
        if gap and not isinstance(self.rate, float):
            exponent = self.rate * Fraction(gap)
        weight = int(self.weights.whole[run]) / Fraction(float(self.unit[index]))

        def below() -> bool | None:
            true = size * (-ball(exponent)).exp()
            return surely_less(v.enclosure() * ball(weight), true)

        return settle(below, v)
