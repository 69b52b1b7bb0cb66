"""The exponential mechanism, a choice that prefers high scores: loss and curve.

Whichever outcomes are told apart, the odds of a guess change by a factor of at most
exp(epsilon). That is half of what epsilon-DP alone allows: exp(epsilon) up and
exp(-epsilon) down may not both occur in one pair of databases.

>>> BoundedRangeLoss(1).rho, BoundedRangeLoss(1).advantage() < 0.24492
(Fraction(1, 8), True)

Kernel: mathematics.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from numbers import Rational
from typing import Any, ClassVar, NamedTuple, Self, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from sordino.errors import InvalidData
from sordino.losses import guarantees as conversion
from sordino.losses.budgets.charge import Allowance, Family, finite_parameter
from sordino.losses.curves.curve import AbstractCurve, End, response_law
from sordino.losses.curves.laws import AbstractRangeLaw, Laws, cells
from sordino.losses.curves.points import ELEMENTARY, Floats, grow, shrink
from sordino.losses.guarantees import Guarantees
from sordino.losses.loss import Budget, Loss
from sordino.noise.additive import (
    AbstractMechanism,
    guarantees_of,
    least_noise,
    positive_distance,
    scale_guess,
)
from sordino.noise.numbers import ChoiceDomain, Metric
from sordino.noise.sampling.bits import Bits
from sordino.noise.sampling.choice import LARGEST, Runs, choose
from sordino.numbers import (
    INFINITE,
    Exact,
    Extended,
    Number,
    distance,
    positive,
    product,
    sqrt,
    up,
)
from sordino.numbers.canonical import Words, call, number
from sordino.numbers.frozen import fill, make


@final
@dataclass(frozen=True)
class BoundedRangeLaw(AbstractRangeLaw):
    """The worst choice by scores: density of the loss exp(l/2) under P.

    It dominates every bounded-range pair: see docs/proofs/selection.md, section 1.
    """

    def masses(self, edges: Floats) -> tuple[Floats, Floats]:
        inside = np.clip(edges, -self.ratio, self.ratio)
        p = cells(self._upper_mass(inside), self._lower_mass(inside))
        return p, cells(self._lower_mass(-inside), self._upper_mass(-inside))

    def _upper_mass(self, loss: Floats) -> Floats:
        """Return P[L >= loss] = (1 - exp((loss - ratio)/2)) / (1 - exp(-ratio))."""
        return np.expm1((loss - self.ratio) / 2) / math.expm1(-self.ratio)

    def _lower_mass(self, loss: Floats) -> Floats:
        """Return P[L < loss], the rest, without a difference of near numbers."""
        rest = np.expm1(-(loss + self.ratio) / 2) / math.expm1(-self.ratio)
        return np.exp((loss - self.ratio) / 2) * rest


_SMALLEST = 5e-324


@final
@dataclass(frozen=True, eq=False)
class RangeCurve(AbstractCurve):
    """Losses of all outcomes lie within a range of this width."""

    ratio: Extended
    gains_by_rho: ClassVar[bool] = True

    @property
    def end(self) -> End:
        return End(self.ratio, Fraction(0), self.ratio is not INFINITE)

    def laws(self) -> Laws:
        ratio = up(self.ratio)
        if ratio == 0 or math.isinf(ratio):
            return (response_law(self.ratio),)
        return (BoundedRangeLaw(ratio),)

    def delta(self, epsilon: Floats) -> Floats:
        """Return (1 - exp((e - ratio) / 2))**2 / (1 - exp(-ratio)) below the ratio."""
        ratio = up(self.ratio)
        if ratio == 0 or math.isinf(ratio):
            return np.full_like(epsilon, float(ratio > 0))
        short = -np.expm1(np.minimum(epsilon - ratio, 0.0) / 2)
        return grow(short**2 / -math.expm1(-ratio))

    def epsilon(self, delta: Floats) -> Floats:
        ratio = up(self.ratio)
        if math.isinf(ratio):
            return np.full_like(delta, math.inf)
        short = shrink(np.sqrt(delta * -math.expm1(-ratio)))
        with np.errstate(divide="ignore"):
            epsilon = ratio + 2 * np.log1p(-short) * (1 - ELEMENTARY)
        return np.where(delta > 0, epsilon + ELEMENTARY * ratio, ratio)

    def tpr(self, alpha: Floats) -> Floats:
        least = math.exp(-up(self.ratio))
        if least == 0:  # exp(-746) is 0: the attacker is taken to win always
            return np.ones_like(alpha)
        missed = shrink(least * (1 - alpha))
        return grow(alpha / np.maximum(alpha + missed, _SMALLEST))  # both may be 0

    def beta(self, alpha: Floats) -> Floats:
        missed = shrink(math.exp(-up(self.ratio)) * (1 - alpha))
        return shrink(missed / np.maximum(alpha + missed, _SMALLEST))


@final
@dataclass(frozen=True, repr=False)
class BoundedRangeLoss(Loss):
    """The odds of any guess change by a factor of at most exp(epsilon).

    For any two neighbouring databases and any event S, with probabilities p and q:
    p (1 - q) <= exp(epsilon) q (1 - p). The exponential mechanism is of this kind.
    """

    epsilon: Extended

    def __init__(self, epsilon: Any) -> None:
        fill(self, epsilon=distance(epsilon=epsilon))

    @property
    def rho(self) -> Extended:
        """Return epsilon**2 / 8, or what epsilon alone implies where that is less."""
        implied = conversion.pure_to_rho(self.epsilon)
        if self.epsilon is INFINITE:
            return implied
        return min(self.epsilon**2 / 8, implied)

    @property
    def words(self) -> Words:
        """Return the name and the exact parameters."""
        return call("BoundedRangeLoss", epsilon=number(self.epsilon))

    @property
    def guarantees(self) -> Guarantees:
        half = product(Fraction(1, 2), self.epsilon)
        # at alpha = beta the curve meets that of half its epsilon
        mu = conversion.pure_to_mu(half)
        return Guarantees(self.epsilon, Fraction(0), self.rho, mu)

    @property
    def tradeoff(self) -> AbstractCurve:
        return RangeCurve(self.epsilon)

    def admits(self, loss: Loss) -> bool:
        """Say whether a loss certainly lies in this range: a lesser one, or half pure.

        Composed ranges do not add up when a later choice depends on earlier answers.
        """
        guarantees = loss.guarantees
        if isinstance(loss, BoundedRangeLoss):
            return loss.epsilon <= self.epsilon
        return guarantees.delta == 0 and guarantees.epsilon <= self.epsilon / 2

    def allowance(self, family: Family) -> Allowance | None:
        if family == "gaussian":
            return None
        return Allowance("epsilon", finite_parameter(self, self.epsilon) / 2)


Whole: TypeAlias = NDArray[np.int64]

Counts: TypeAlias = Sequence[int] | NDArray[np.integer[Any]]
"""How many candidates each score stands for."""

Scores: TypeAlias = Sequence[int] | Sequence[int | Fraction] | NDArray[np.integer[Any]]
"""Exact scores of candidates."""

_ONE = Fraction(1)
_MOST = LARGEST // 2
_NONE = np.zeros(0, np.int64)


@final
@dataclass(frozen=True, init=False, repr=False)
class Exponential(AbstractMechanism):
    """Choose candidate i with P[i] proportional to exp(epsilon * score_i / span).

    The chances are exact: scores are integers or fractions, and no double decides
    between two candidates. `span` says how unevenly the scores can change between
    neighbours, the greatest change of a score minus the least one (with its sign): at
    `d_in` = span the loss is that of `epsilon`.

    | case | `d_in` |
    |---|---|
    | one row moves each score by 0 up to s, all the same way | s |
    | one row moves each score by up to s, either way | 2 s |
    | every score moves by the same | 0, which costs nothing |
    | epsilon 0, negative, NaN, infinite, a bool | refused; see `no_noise` |
    | no candidate, a float among the scores, a score beyond 2**61 | `InvalidData` |

    >>> mechanism = Exponential(1, span=2)
    >>> mechanism([3, 800, 5])
    1
    >>> mechanism.map(2).epsilon, mechanism.map(2).rho
    (Fraction(1, 1), Fraction(1, 8))
    """

    epsilon: Extended
    span: Exact
    input_metric: ClassVar[Metric] = "range"
    output_measure: ClassVar[type[BoundedRangeLoss]] = BoundedRangeLoss

    def __init__(self, epsilon: Number, span: Number = 1) -> None:
        fill(self, epsilon=positive(epsilon=epsilon), span=positive(span=span))

    @classmethod
    def no_noise(cls) -> Self:
        """Return the mechanism that chooses among the best, and whose loss is infinite.

        >>> Exponential.no_noise()([1, 3, 2])
        1
        """
        return make(cls, epsilon=INFINITE, span=_ONE)

    @property
    def input_domain(self) -> ChoiceDomain:
        return ChoiceDomain("scores")

    @property
    def adds_no_noise(self) -> bool:
        return self.epsilon is INFINITE

    def __call__(self, scores: Scores, multiplicities: Counts | None = None) -> int:
        """Return the index of a candidate.

        With `multiplicities` each score stands for a run of so many candidates, and
        the index counts all of them, as if each were listed with its score.

        >>> Exponential(1)([-1000, 0, -1000], [4, 1, 3])
        4
        """
        listed = None if multiplicities is None else [multiplicities]
        return int(self.choose([scores], listed)[0])

    def choose(self, scores_by_group: Any, multiplicities: Any = None) -> Whole:
        """Return for each group the index of one of its candidates.

        The choices are independent. If one unit can change the scores of several
        groups, `d_in` is the sum of their ranges.

        >>> Exponential(100).choose([[0, 9], [7, 1, 2]]).tolist()
        [1, 0]
        """
        groups = _read(scores_by_group)
        if not groups.sizes.size:
            return np.zeros(0, np.int64)
        starts = np.cumsum(groups.sizes) - groups.sizes
        best = np.maximum.reduceat(groups.scores, starts)
        gaps = np.repeat(best, groups.sizes) - groups.scores
        counts = _counts(multiplicities, groups.sizes)
        runs = Runs.flat(gaps, counts, starts + groups.sizes)
        chosen = choose(runs, self._rate(groups.denominator), Bits())
        before = np.cumsum(counts) - counts
        answer: Whole = before[chosen.run] - before[starts] + chosen.place
        return answer

    def _rate(self, denominator: int) -> Extended:
        if self.epsilon is INFINITE:
            return INFINITE
        return self.epsilon / (self.span * Fraction(denominator))

    def map(self, d_in: Number) -> BoundedRangeLoss:
        """Return the loss of epsilon * d_in / span, a bounded range of losses.

        For any two lists of scores of the same candidates whose differences lie
        within a range of d_in (docs/proofs/selection.md, section 1).
        """
        change = distance(d_in=d_in)
        if change == 0:
            return BoundedRangeLoss(0)
        if change is INFINITE or self.epsilon is INFINITE:
            return BoundedRangeLoss(INFINITE)
        return BoundedRangeLoss(self.epsilon * (change / self.span))

    @classmethod
    def for_loss(cls, loss: Budget, d_in: Number) -> Self:
        """Return the sharpest choice whose loss at distance d_in is within a loss.

        >>> from sordino.losses.closed import ZCDP
        >>> Exponential.for_loss(ZCDP("1/8"), 3)
        Exponential(epsilon=1, span=3)
        """
        span, guarantees = (
            positive_distance(distance(d_in=d_in), d_in),
            guarantees_of(loss),
        )
        guesses = [
            scale_guess(_ONE, limit)
            for limit in (guarantees.epsilon, widest(guarantees.rho))
        ]
        return least_noise(lambda s: cls(_ONE / s, span), loss, d_in, guesses)


def widest(rho: Extended) -> Extended:
    """Return the epsilon of the bounded range of losses whose rho this is.

    >>> widest(Fraction(1, 2))
    Fraction(2, 1)
    """
    return rho if rho is INFINITE else sqrt(8 * rho)


@final
class _Scores(NamedTuple):
    """Scores of all groups in units of 1 / denominator, and how many each group has."""

    scores: Whole
    sizes: Whole
    denominator: int


def _read(scores_by_group: Any) -> _Scores:
    if not isinstance(scores_by_group, (Sequence, np.ndarray)):
        raise InvalidData(
            "scores_by_group must be a list, with the scores of one group in each "
            f"entry, not a {type(scores_by_group).__name__}. Write [[3, 8], [5, 1]]"
        )
    groups = [_read_scores(scores) for scores in scores_by_group]
    if not all(len(scores) for scores in groups):
        raise InvalidData(
            "a choice needs at least one candidate in each group. Leave out empty "
            "groups."
        )
    sizes = np.array([len(scores) for scores in groups], np.int64)
    listed = (scores for scores in groups if isinstance(scores, list))
    denominator = math.lcm(*(score.denominator for part in listed for score in part))
    whole = [_whole(scores, denominator) for scores in groups]
    return _Scores(np.concatenate([_NONE, *whole]), sizes, denominator)


def _read_scores(scores: Any) -> "Whole | list[Fraction]":
    if isinstance(scores, np.ndarray) and scores.ndim == 1 and scores.dtype.kind == "i":
        return scores.astype(np.int64, copy=False)
    if not isinstance(scores, (list, tuple, np.ndarray)):
        raise InvalidData(
            f"scores must not be a {type(scores).__name__}: "
            "give a list of integers or fractions, or an array of integers."
        )
    numbers = list(scores)
    # by type: a bool is an int to isinstance
    if set(map(type, numbers)) == {int} and max(map(abs, numbers)) <= _MOST:
        return np.array(numbers, np.int64)
    if not all(map(_is_exact, numbers)):
        raise InvalidData(
            "a score is neither an integer nor a fraction. Scores are exact: count in "
            "whole "
            "units, or give Fraction(1, 3)."
        )
    return [Fraction(int(score.numerator), int(score.denominator)) for score in numbers]


def _is_exact(score: Any) -> bool:
    return isinstance(score, Rational) and not isinstance(score, (bool, np.bool_))


def _whole(scores: "Whole | list[Fraction]", unit: int) -> Whole:
    if isinstance(scores, np.ndarray):
        # an array without a fraction beside it keeps its own unit
        # in integers of Python: a product in int64 would wrap around
        least, most = int(scores.min()) * unit, int(scores.max()) * unit
    else:
        numerators = [score.numerator * (unit // score.denominator) for score in scores]
        least, most = min(numerators), max(numerators)
    if not -_MOST <= least <= most <= _MOST:
        raise InvalidData(
            "a score lies beyond 2**61 in the common unit of all scores. "
            "Clamp the scores, or round them to a coarser unit."
        )
    return scores * unit if isinstance(scores, np.ndarray) else np.array(numerators)


def _counts(multiplicities: Any, sizes: Whole) -> Whole:
    if multiplicities is None:
        return np.ones(int(sizes.sum()), np.int64)
    listed = [np.asarray(part) for part in multiplicities]
    if [part.shape for part in listed] != [(int(size),) for size in sizes]:
        raise InvalidData(
            "there must be one multiplicity for each score. Write choose(scores, "
            "counts) with lists of one length."
        )
    counts = np.concatenate(listed)
    # an empty run has no place to choose
    if counts.dtype.kind != "i" or counts.min() < 1:
        raise InvalidData(
            "a multiplicity must be an integer of at least 1. Leave out scores that "
            "stand for no candidate."
        )
    # in integers of Python: a sum in int64 would wrap around
    if sum(counts.tolist()) >= LARGEST:
        raise InvalidData("there are 2**62 candidates or more. Use a coarser grid.")
    return counts.astype(np.int64, copy=False)
