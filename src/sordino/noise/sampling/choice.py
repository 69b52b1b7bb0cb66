"""Choices with chances proportional to exponentials, exact, by dominated weights.

Each run of candidates gets a whole weight that is at least its true one; a candidate is
proposed by whole numbers alone and accepted in the share of its weight that is true.
Whatever the weights, the accepted ones have exactly the stated chances: only domination
matters (docs/proofs/selection.md, section 2). Doubles decide where their error bound
allows, balls elsewhere.

Kernel: mathematics.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, partial
from typing import Final, NamedTuple, Self, final

import numpy as np
from flint import arb
from numpy.typing import NDArray

from sordino.noise.sampling.bits import (
    BitSource,
    Uniform,
    settle,
    surely_less,
    uniform_below,
)
from sordino.noise.sampling.blocks import SLICE
from sordino.numbers import INFINITE, Exact, Extended, ball, up
from sordino.numbers.rounding import enclose

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
    """Candidates of many groups, one group after the other, in runs.

    The best of a run of `sizes` >= 1 candidates lies `gaps` >= 0 behind the best of its
    group. The others lie `slopes` further behind with each place: the first candidate
    is the best one where a slope is positive, the last one where it is negative. Each
    candidate counts `repeats` >= 1 times. `ends` are the ends of the groups, none of
    them empty, each with a gap of 0.
    """

    gaps: NDArray[np.int64]
    sizes: NDArray[np.int64]
    ends: NDArray[np.int64]
    slopes: NDArray[np.int64]
    repeats: NDArray[np.int64]

    @classmethod
    def flat(
        cls, gaps: NDArray[np.int64], sizes: NDArray[np.int64], ends: NDArray[np.int64]
    ) -> Self:
        """Return runs of candidates with equal scores, each candidate counted once."""
        return cls(gaps, sizes, ends, np.zeros_like(gaps), np.ones_like(gaps))

    @property
    def numbers(self) -> NDArray[np.float64]:
        """Return how many candidates each run counts, near enough: to 2**-51."""
        numbers: NDArray[np.float64] = self.sizes.astype(np.float64) * self.repeats
        return numbers

    def gaps_at(
        self, run: NDArray[np.intp], place: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        """Return how far some candidates lie behind the best of their groups."""
        slope = self.slopes[run]
        steps = np.where(slope < 0, self.sizes[run] - 1 - place, place)
        gaps: NDArray[np.int64] = self.gaps[run] + np.abs(slope) * steps
        return gaps


@final
class Chosen(NamedTuple):
    """For each group the run chosen, and which candidate of the run."""

    run: NDArray[np.int64]
    place: NDArray[np.int64]


@final
class _Weights(NamedTuple):
    """Whole weights of runs, and the unit of each group, a power of two.

    A whole weight is at least number * exp(-rate * gap) * unit: what the run would
    weigh if all its candidates were as good as the best one.
    """

    whole: NDArray[np.int64]
    unit: NDArray[np.float64]


def choose(runs: Runs, rate: Extended, bits: BitSource) -> Chosen:
    """Return for each group a candidate of chance proportional to exp(-rate * gap).

    An infinite rate chooses among the best alone.
    """
    weights = _weigh(runs, rate)
    edges = np.cumsum(weights.whole)
    last = edges[runs.ends - 1]
    first = np.append(0, last[:-1])
    chosen = Chosen(*np.empty((2, runs.ends.size), np.int64))
    open_ = np.arange(runs.ends.size)
    while open_.size:
        drawn = first[open_] + uniform_below(last[open_] - first[open_], bits)
        run = np.searchsorted(edges, drawn, side="right")
        place = uniform_below(runs.sizes[run], bits)
        chosen.run[open_], chosen.place[open_] = run, place
        trial = _Trial(
            rate,
            runs.gaps_at(run, place),
            runs.sizes[run],
            runs.repeats[run],
            weights.whole[run],
            weights.unit[open_],
        )
        open_ = open_[~trial.accepts(bits)]
    return chosen


def _weigh(runs: Runs, rate: Extended) -> _Weights:
    """Return weights whose sum over all groups fits, in units that suit each group."""
    scaled = _falls(runs.gaps, rate)
    scaled *= runs.numbers
    starts = np.append(0, runs.ends[:-1])
    # the weights of all groups are cumulated in one int64
    room = _ROOM - (runs.ends.size - 1).bit_length()
    shift = room - np.frexp(np.add.reduceat(scaled, starts))[1].astype(np.int64)
    unit = np.ldexp(1.0, shift)
    scaled *= np.repeat(unit, runs.ends - starts)
    whole = (scaled * (1 + _MARGIN)).astype(np.int64)
    whole += scaled > 0  # truncated weights must dominate the true ones
    return _Weights(whole, unit)


def _falls(gaps: NDArray[np.int64], rate: Extended) -> NDArray[np.float64]:
    """Return exp(-rate * gap) near enough, or exp(-64) where it is less.

    A table of exp(-n / 64) times the Taylor sum of the rest: no library's exp.
    """
    falls = np.empty(gaps.size)
    if rate is INFINITE:
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
    count = int(_FARTHEST) * _STEPS + 1
    powers = (enclose(partial(_power, n)) for n in range(count))
    return np.array([float(power.mid()) for power in powers])


def _power(n: int) -> arb:
    return (arb(-n) / _STEPS).exp()


@final
@dataclass(frozen=True, eq=False)
class _Trial:
    """One candidate for each of some groups: its gap, the size and weight of its run.

    Its true weight is size * repeats * exp(-rate * gap) * unit, and its run had the
    whole one.
    """

    rate: Extended
    gaps: NDArray[np.int64]
    sizes: NDArray[np.int64]
    repeats: NDArray[np.int64]
    whole: NDArray[np.int64]
    unit: NDArray[np.float64]

    def accepts(self, bits: BitSource) -> NDArray[np.bool_]:
        """Return whether V times the whole weight is below the true one, V uniform."""
        words = bits.words(self.gaps.size)
        v = np.ldexp(words.astype(np.float64), -_WORD)
        most = self.sizes.astype(np.float64) * self.repeats * self.unit
        true = _falls(self.gaps, self.rate) * most
        near = true > _FAINTEST * most
        below = (v + _DOUBT) * self.whole <= true * (1 - _MARGIN)
        accepted: NDArray[np.bool_] = near & below
        refused = (v - _DOUBT) * self.whole >= true * (1 + _MARGIN)
        for i in np.flatnonzero(~accepted & ~refused):
            accepted[i] = self._settle(int(i), Uniform(bits, int(words[i]), _WORD))
        return accepted

    def _settle(self, index: int, v: Uniform) -> bool:
        gap = int(self.gaps[index])
        # exact: a product in doubles is near enough to decide elsewhere alone
        number = int(self.sizes[index]) * int(self.repeats[index])
        exponent: Exact = Fraction(0)
        if gap:
            if self.rate is INFINITE:  # only the best have a weight
                return False
            exponent = self.rate * Fraction(gap)
        weight = int(self.whole[index]) / Fraction(float(self.unit[index]))

        def below() -> bool | None:
            true = number * (-ball(exponent)).exp()
            return surely_less(v.enclosure() * ball(weight), true)

        return settle(below, v)
