"""Unknown keys shown in rounds by noisy weights; the first few keys by an exact score.

An id adds about 1 / sqrt(s) to each of its s groups, of which it has at most `keys`:
all together that moves the weights by 1, however many they are. What passed a round is
taken away, and the ids share their whole weight among the groups that are left: small
groups of ids with large ones get a second chance (docs/proofs/keys.md).

The first few keys are exponential mechanisms among the keys that are left. Where keys
are not known, an end sign of a public score ends the list (docs/proofs/first-few.md).

Kernel: mathematics.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import starmap
from typing import Final, final

import numpy as np
from numpy.typing import NDArray

from sordino.errors import InvalidParameter
from sordino.losses.budgets.charge import largest_parameter
from sordino.losses.closed import ApproxDP, ApproxZCDP, GaussianDP
from sordino.losses.curves.normal import near_gaussian_delta
from sordino.losses.curves.points import Floats, find_least
from sordino.losses.loss import Loss, PureDP, compose
from sordino.losses.thresholded import RoundsLoss
from sordino.noise.exponential import BoundedRangeLoss
from sordino.noise.gaussian import ContinuousGaussianLaw
from sordino.noise.numbers import Passing
from sordino.noise.sampling.bits import Bits
from sordino.noise.sampling.choice import Runs, choose
from sordino.noise.threshold.fitting import SPARE
from sordino.noise.threshold.gaussian import GaussianThreshold
from sordino.noise.threshold.mechanism import any_passes, each_passes
from sordino.numbers import (
    INFINITE,
    Exact,
    down,
    finite,
    rational_above,
    shortest,
    sqrt,
    up,
)
from sordino.numbers.canonical import Words, exact_words
from sordino.numbers.normal import log_normal_chance, normal_quantile_of
from sordino.numbers.rounding import precision

_SAFE: Final = 1 + 2.0**-30
"""Far more than doubles err in a logarithm and a quotient."""
_FARTHEST: Final = 2**61
_BELOW: Final = 1 - Fraction(1, 2**40)
_CLOSE: Final = 2.0**-20


@final
@dataclass(frozen=True)
class TopScores:
    """What is known of the scores: whole numbers of a public unit."""

    most: int
    """How many keys are sought."""
    width: Fraction
    """The range within which one unit moves the scores of common keys, in steps."""
    unit: Fraction
    """The size of a step."""
    fresh: Fraction | None = None
    """The greatest score of a key of one unit alone; None where keys are known."""
    keys: int = 0
    """How many such keys a unit has at most."""


@final
@dataclass(frozen=True)
class TopKeys:
    """Choices of a rate, and where the list may end.

    For any two databases that differ by the protected change, the list of chosen keys
    has at most the loss of `loss`.
    """

    scores: TopScores
    epsilon: Fraction
    """The range of the losses of one choice."""
    seen: Fraction
    """The chance that a key of one unit alone is chosen, at most."""
    limit: Loss
    """What all choices together are within."""

    def __repr__(self) -> str:
        end = "" if self.end is None else f", down to about {float(self.least):.4g}"
        return f"first {self.scores.most}, chosen (scale {self.scale:.4g}{end})"

    @property
    def certificate(self) -> dict[str, Words]:
        """Return the law and the scale of what is drawn, as a certificate has it."""
        return {
            "most": self.scores.most,
            "rate": exact_words(self.rate),
            "end": None if self.end is None else str(self.end),
        }

    @property
    def rate(self) -> Fraction:
        """Return the exponent of one step of the scores."""
        return self.epsilon / self.scores.width

    @property
    def scale(self) -> float:
        """Return by how much scores must differ for odds of e to one."""
        return up(self.scores.unit / self.rate)

    @cached_property
    def end(self) -> int | None:
        """Return the score of the end sign in steps, None where keys are known.

        It is rounded up, so that keys of one unit alone are seen no more often.
        """
        if self.scores.fresh is None:
            return None
        odds = self.scores.most * self.scores.keys / self.seen
        above = _SAFE * math.log(up(odds)) / down(self.rate)
        if above > _FARTHEST:
            raise InvalidParameter(
                "budget",
                self.epsilon,
                "buys choices so blunt that no key would reach the end of the list",
                "Use a larger budget, or group by a sd.KeySet.",
            )
        return math.ceil(self.scores.fresh) + math.ceil(above)

    @property
    def least(self) -> Fraction:
        """Return the score at which the list ends as likely as it goes on."""
        return Fraction(self.end or 0) * self.scores.unit

    @cached_property
    def loss(self) -> Loss:
        """Return the loss of all choices."""
        return _loss(self.epsilon, self.scores.most, self.seen)

    def distance_apart(self, confidence: float) -> float:
        """Return the distance of two scores, the greater of which comes first."""
        return self.scale * math.log(confidence / (1 - confidence))

    def select(self, totals: NDArray[np.int64], place: int = 0) -> Passing:
        """Return the places of the chosen keys, the first one first."""
        del place  # there is one round
        chosen = np.array(list(self._choose(totals)), np.int64)
        return Passing(chosen, totals[chosen])

    def _choose(self, totals: NDArray[np.int64]) -> "list[int]":
        """Return the places of the keys: equal scores are one run of candidates."""
        values, sizes = np.unique(totals, return_counts=True)
        order = np.argsort(totals, kind="stable")
        members = np.split(order, np.cumsum(sizes)[:-1]) if values.size else []
        left = [list(places) for places in members]
        listed: list[int] = []
        while len(listed) < min(self.scores.most, totals.size):
            numbers = np.array([len(places) for places in left], np.int64)
            drawn = self._draw(values, numbers)
            if drawn is None:
                break
            run, place = drawn
            listed.append(int(left[run].pop(place)))
        return listed

    def _draw(
        self, values: NDArray[np.int64], sizes: NDArray[np.int64]
    ) -> tuple[int, int] | None:
        """Return a run and a place in it, None where the list ends."""
        runs = np.flatnonzero(sizes)
        scores, numbers = values[runs], sizes[runs]
        if self.end is not None:
            scores, numbers = np.append(scores, self.end), np.append(numbers, 1)
        gaps = scores.max() - scores
        ends = np.array([scores.size])
        chosen = choose(Runs.flat(gaps, numbers, ends), self.rate, Bits())
        run = int(chosen.run[0])
        if run == runs.size:
            return None
        return int(runs[run]), int(chosen.place[0])


def fit_top_keys(scores: TopScores, limit: Loss) -> TopKeys:
    """Return the sharpest choices within a limit.

    Of delta half is for the end sign, the rest for the curve of several choices; one
    choice has none to leave.
    """
    seen = Fraction(0)
    if scores.fresh is not None:
        delta = rational_above(finite(limit.guarantees.delta))
        seen = delta if scores.most == 1 else delta / 2
    top = TopKeys(scores, _largest_range(limit, scores.most, seen), seen, limit)
    top.end  # noqa: B018 refuses what has none, before anything is charged
    return top


@lru_cache(maxsize=64)
def _largest_range(limit: Loss, most: int, seen: Fraction) -> Fraction:
    """Return the greatest range of one choice; requests of a batch share it.

    Ranges of an epsilon over the number of choices add up to it, and no choice can have
    more than all of it.
    """
    whole = limit.guarantees.epsilon
    if whole is INFINITE:
        return largest_parameter(limit, lambda epsilon: _loss(epsilon, most, seen))
    least = rational_above(whole) / most * _BELOW
    if most == 1:
        return least

    def within(bluntness: float) -> bool:
        return limit.admits(_loss(shortest(1 / bluntness), most, seen))

    bluntest = down(1 / least)
    bluntness = find_least(within, bluntest / most, bluntest, _CLOSE)
    return least if bluntness == math.inf else shortest(1 / bluntness)


def _loss(epsilon: Fraction, most: int, seen: Fraction) -> Loss:
    choices: list[Loss] = [BoundedRangeLoss(epsilon)] * most
    return compose([*choices, ApproxZCDP(0, seen)] if seen else choices)


FRACTION_BITS: Final = 20
"""Weights are multiples of 2**-20, rounded down: their sums are exact integers."""
_LADDER: Final = 16
"""Up to so many groups each number of them has its weight; beyond, steps that grow."""
_SINGLE: Final = 8
_SHARES: Final = (Fraction(1, 10), Fraction(9, 10))
"""How two rounds share what noise may spend."""
_FIRST: Final = 0.08
"""The share of delta that the first round may take for itself."""
_SPARED: Final = 1 - np.geomspace(1e-4, 0.1, 24)
"""How much of mu is tried: the less, the more of delta is left to the thresholds."""
_BISECTIONS: Final = 45
_SECTIONS, _SECTION = 15, 64
"""How often the range of mu is cut into how many: down to 2**-90 of it."""
_NUDGE: Final = 1 + Fraction(1, 10**7)
_NUDGES: Final = 60
_DIGITS: Final = 128


@final
@dataclass(frozen=True)
class ToldNumbers:
    """What else is told of the keys that are shown, by Gaussian noise."""

    mu_squared: Fraction
    """Of the whole change of one unit."""
    one_key: Fraction
    """The greatest share of it that one key can hold."""

    def of(self, keys: int) -> Fraction:
        """Square of mu if `keys` of the unit's keys exist in both databases."""
        return self.mu_squared * min(Fraction(1), self.one_key * keys)


@final
@dataclass(frozen=True)
class KeyRounds:
    """The noise and the threshold of each round.

    For any two databases that differ by an id with at most `keys` groups, what is shown
    has at most the loss of `loss`.
    """

    keys: int
    variances: tuple[Fraction, ...]
    thresholds: tuple[Fraction, ...]

    def __repr__(self) -> str:
        rounds = (
            f"{up(sqrt(variance)):.4g} and {float(threshold):.4g}"
            for variance, threshold in zip(self.variances, self.thresholds, strict=True)
        )
        return f"weighted keys (scale and threshold {', then '.join(rounds)})"

    @property
    def certificate(self) -> dict[str, Words]:
        """Return the law and the scale of what is drawn, as a certificate has it."""
        return {
            "variances": [*map(exact_words, self.variances)],
            "thresholds": [*map(exact_words, self.thresholds)],
        }

    @cached_property
    def mechanisms(self) -> tuple[GaussianThreshold, ...]:
        """Return the noise and the threshold of each round, on weights."""
        return tuple(
            GaussianThreshold(variance=variance, threshold=threshold)
            for variance, threshold in zip(self.variances, self.thresholds, strict=True)
        )

    @property
    def threshold(self) -> Fraction:
        """Return from how many ids on a key shows, halfway between the extremes.

        That is, the last threshold times the fourth root of the most groups of an id:
        it would be the threshold itself for ids with one key left, and times the square
        root for ids that have all of theirs.
        """
        return self.thresholds[-1] * shortest(self.keys**0.25)

    def select(self, totals: NDArray[np.int64], place: int = 0) -> Passing:
        """Return the places of exact sums of weights that pass a round, the first."""
        weights = np.ldexp(totals.astype(np.float64), -FRACTION_BITS)
        return self.mechanisms[place].select(weights, Bits())

    def loss(self, columns: tuple[ToldNumbers, ...] = ()) -> RoundsLoss:
        """Return the loss of the keys that are shown, and of their other columns."""
        return RoundsLoss(
            tuple(self._case(block, columns) for block in _blocks(self.keys))
        )

    def _case(
        self, block: "_Block", columns: tuple[ToldNumbers, ...]
    ) -> tuple[Fraction, Loss]:
        hidden = Fraction(1)
        if block.most:
            weight = exact_weight(block.least)
            for mechanism in self.mechanisms:
                gap = mechanism.threshold - weight
                # each round draws its own noise: the chances multiply
                hidden *= 1 - any_passes(mechanism.law, gap, block.most)
        common = self.keys - block.least
        share = Fraction(common, self.keys)
        shift = sum((share / variance for variance in self.variances), Fraction(0))
        shift += sum((column.of(common) for column in columns), Fraction(0))
        # upwards, as a short decimal that float gives back whole
        breach = shortest(up(1 - hidden)) if hidden < 1 else Fraction(0)
        loss = GaussianDP(sqrt(shift)) if shift else PureDP(0)
        return min(breach, Fraction(1)), loss


@final
@dataclass(frozen=True)
class _Block:
    """So many keys of a unit are its own: from `least` to `most`."""

    least: int
    most: int


def _blocks(keys: int) -> tuple[_Block, ...]:
    """Return the cases: all for few keys, and blocks that grow; the last is alone."""
    starts = list(range(min(keys, _SINGLE) + 1))
    while starts[-1] < keys:
        starts.append(min(keys, max(starts[-1] + 1, starts[-1] * 9 // 8)))
    ends = [*(start - 1 for start in starts[1:]), keys]
    return tuple(starmap(_Block, zip(starts, ends, strict=True)))


def weight_steps(keys: int) -> list[tuple[int, int]]:
    """Return pairs (most groups, weight in steps) for all numbers of groups.

    For any number of groups the weight is at most 1 over its root.

    >>> weight_steps(2)
    [(1, 1048576), (2, 741455)]
    """
    ends = list(range(1, min(keys, _LADDER) + 1))
    while ends[-1] < keys:
        ends.append(min(keys, ends[-1] * 17 // 16 + 1))
    # downwards: the squares of the weights of an id add up to 1 at most
    return [(end, math.isqrt((1 << 2 * FRACTION_BITS) // end)) for end in ends]


def exact_weight(groups: int) -> Fraction:
    """Greatest weight of an id that is in at least `groups` groups."""
    steps = math.isqrt((1 << 2 * FRACTION_BITS) // groups)
    return Fraction(steps, 1 << FRACTION_BITS)


@lru_cache(maxsize=64)
def fit_key_rounds(
    budget: ApproxDP, keys: int, beside: Fraction = Fraction(0), rounds: int = 2
) -> KeyRounds:
    """Return the rounds with the least last threshold within (epsilon, delta).

    `beside` is the share of mu squared that is left to the other columns. What doubles
    found is asked for its very loss, and thresholds grow until that is within.
    """
    target = float(budget.delta * SPARE)
    search = _Search(down(budget.epsilon), target, keys, float(beside), rounds)
    refusal = InvalidParameter(
        "budget",
        budget,
        "is too small for groups whose keys are unknown",
        "Ask for a larger budget, or group by a key set.",
    )
    if (best := search.best()) is None:
        raise refusal
    mu, levels = best
    share = (1 - beside) * shortest(mu) ** 2
    variances = tuple(1 / (share * part) for part in _shares(rounds))
    left = (ToldNumbers(beside * shortest(mu) ** 2, Fraction(1)),) if beside else ()
    factor = Fraction(1)
    for _ in range(_NUDGES):
        thresholds = tuple(shortest(level) * factor for level in levels)
        candidate = KeyRounds(keys, variances, thresholds)
        if budget.admits(candidate.loss(left)):
            return candidate
        factor *= _NUDGE
    raise refusal


@lru_cache(maxsize=64)
def fit_by_rho(rho: Exact, delta: Fraction, keys: int) -> KeyRounds:
    """Return the rounds whose noise has rho, and whose own keys are seen by delta."""
    shares = _shares(2)
    variances = tuple(1 / (rational_above(2 * rho) * share) for share in shares)
    first = delta * shortest(_FIRST)
    # chances of two rounds that are at most these add up to at most delta
    thresholds = tuple(
        _least_level(variance, keys, part)
        for variance, part in zip(variances, (first, delta - first), strict=True)
    )
    return KeyRounds(keys, variances, thresholds)


def _least_level(variance: Fraction, keys: int, delta: Fraction) -> Fraction:
    """Return the least threshold that own keys pass with a chance of at most delta."""
    law = ContinuousGaussianLaw(variance)
    levels = []
    for block in _blocks(keys)[1:]:
        with precision(_DIGITS):
            tail = law.upper_quantile(each_passes(delta, block.most))
        levels.append(exact_weight(block.least) + rational_above(tail))
    return shortest(up(max(levels)))


def _shares(rounds: int) -> tuple[Fraction, ...]:
    return _SHARES if rounds == len(_SHARES) else (Fraction(1),)


@final
class _Search:
    """The search for thresholds, in doubles: delta falls in each of them."""

    def __init__(
        self, epsilon: float, delta: float, keys: int, beside: float, rounds: int
    ) -> None:
        self.epsilon, self.delta = epsilon, delta
        self.beside, self.parts = beside, [float(share) for share in _shares(rounds)]
        blocks = _blocks(keys)
        self.own = np.array([block.most for block in blocks], np.float64)
        self.weight = np.array([float(exact_weight(max(b.least, 1))) for b in blocks])
        self.common = np.array([1 - block.least / keys for block in blocks])
        self.some = self.common > 0
        self.mu = self._largest_mu()

    def best(self) -> "tuple[float, tuple[float, ...]] | None":
        """Return mu and the thresholds whose last is least; None if delta is too small.

        Every part of the greatest mu is tried, all of them side by side: one a row.
        """
        if not self.mu:
            return None
        mu = self.mu * _SPARED[:, None]
        scales = [1 / (mu * math.sqrt((1 - self.beside) * part)) for part in self.parts]
        levels = []
        if len(scales) > 1:
            stays = np.log1p(-_FIRST * self.delta) / np.maximum(self.own[1:], 1)
            tails = -normal_quantile_of(-np.expm1(stays))
            reached = self.weight[1:] + scales[0] * tails
            levels = [reached.max(axis=1, keepdims=True)]
        low, high = np.zeros_like(mu), 1 + 40 * scales[-1]
        failing = self._exceeds(mu, scales, [*levels, high])
        for _ in range(_BISECTIONS):
            middle = (low + high) / 2
            outside = self._exceeds(mu, scales, [*levels, middle])
            low, high = np.where(outside, middle, low), np.where(outside, high, middle)
        last = np.where(failing, np.inf, high)
        row = int(last.argmin())
        if failing[row, 0]:
            return None
        return float(mu[row, 0]), tuple(
            float(column[row, 0]) for column in (*levels, last)
        )

    def _exceeds(
        self, mu: Floats, scales: list[Floats], levels: list[Floats]
    ) -> NDArray[np.bool_]:
        hidden = np.zeros((len(mu), len(self.own)))
        for scale, level in zip(scales, levels, strict=True):
            hidden += self.own * log_normal_chance((level - self.weight) / scale)
        shift = mu * np.sqrt((1 - self.beside) * self.common + self.beside * self.some)
        seen = -np.expm1(hidden)
        added = seen + (1 - seen) * near_gaussian_delta(shift, self.epsilon - hidden)
        removed = near_gaussian_delta(shift, self.epsilon + hidden)
        worst = np.maximum(added, removed).max(axis=1, keepdims=True)
        return np.asarray(worst > self.delta)

    def _largest_mu(self) -> float:
        low, high = 0.0, 40.0 + 2 * math.sqrt(2 * self.epsilon)
        for _ in range(_SECTIONS):
            mu = np.linspace(low, high, _SECTION + 1)
            within = (
                near_gaussian_delta(mu, np.full_like(mu, self.epsilon)) <= self.delta
            )
            place = int(np.argmin(within[1:]))
            low, high = float(mu[place]), float(mu[place + 1])
        return low
