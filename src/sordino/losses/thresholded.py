"""Losses of releases over unknown keys: above a threshold, in rounds; mixtures.

A changed key is either new (it is seen only by crossing the threshold, with chance p)
or kept (it shows noise), never both. With j new keys and the other l0 - j kept,

    delta(e) = D_j + (1 - D_j) delta_A(e + ln(1 - D_C) - ln(1 - D_j)),
    D_j = 1 - (1 - p)^j,  D_C = 1 - (1 - p)^(l0 - j),

and the release is bounded by the greatest over j (docs/proofs/losses.md). In rounds,
with the chance Q that none of a unit's own keys is seen and m the shift of the others,

    delta(e) <= max( 1 - Q + Q D_m(e - ln Q),  D_m(e + ln Q) ),

D_m the curve of a Gaussian (docs/proofs/keys.md, lemma 1). The headline adds the two
risks up; the curve, which is computed when it is first asked, takes them together.

Kernel: mathematics.
"""

import math
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial
from typing import Any, TypeAlias, final

import numpy as np

from sordino.errors import InvalidParameter
from sordino.losses.closed import ZCDP, ApproxDP, ApproxZCDP
from sordino.losses.curves.combined import (
    FURTHEST,
    LEAST_DELTA,
    AbstractCaseCurve,
    LeastCurve,
    MixtureCurve,
    ThresholdCurve,
    joint_breach,
)
from sordino.losses.curves.curve import UNKNOWN, AbstractCurve, End
from sordino.losses.curves.normal import FEW
from sordino.losses.curves.points import ELEMENTARY, Floats
from sordino.losses.guarantees import AbstractHeadline, Guarantees
from sordino.losses.loss import Loss
from sordino.numbers import INFINITE, Extended, arguments, number_text, probability

_WIDE = 2 * FEW
_NARROWINGS = 6


@final
@dataclass(frozen=True, eq=False)
class RoundsCurve(AbstractCaseCurve):
    """Worst case over the numbers told, with the chance that a new key is seen.

    With the chance Q that nothing is seen, max(1 - Q + Q case(e - ln Q), case(e + ln
    Q)): docs/proofs/keys.md, lemma 1; a case is (1 - Q, -ln Q, curve).
    """

    cases: tuple[tuple[float, float, AbstractCurve], ...]
    end: End = UNKNOWN

    def reach(self) -> float:
        return max(
            float(curve.epsilon_at(LEAST_DELTA)) + shift
            for _, shift, curve in self.cases
        )

    def delta(self, epsilon: Floats) -> Floats:
        greatest = np.zeros_like(epsilon)
        endless = np.isinf(epsilon)
        for seen, shift, curve in self.cases:
            # an epsilon too small only enlarges delta
            slack = ELEMENTARY * (shift + epsilon)
            further = np.where(endless, epsilon, epsilon + shift - slack)
            nearer = np.where(endless, epsilon, epsilon - shift - slack)
            added = seen + (1 - seen) * curve.delta_at(further)
            greatest = np.maximum(greatest, np.maximum(added, curve.delta_at(nearer)))
        return np.minimum(greatest * (1 + ELEMENTARY), 1.0)

    def epsilon(self, delta: Floats) -> Floats:
        return np.array([self._least_epsilon(float(target)) for target in delta])

    def _least_epsilon(self, target: float) -> float:
        """Return an epsilon where delta is seen to be within a target.

        By long grids, which the curves of noise answer in doubles.
        """
        if target < float(self.end.delta):
            return np.inf  # where all keys are a unit's own, no epsilon serves
        low, high = 0.0, 1.0
        while self.delta(np.array([high]))[0] > target and high < FURTHEST:
            low, high = high, 4 * high
        for _ in range(_NARROWINGS):
            points = np.linspace(low, high, _WIDE)
            within = self.delta(points) <= target
            if not within.any():
                break  # doubles are looser at the end that balls let pass
            first = int(within.argmax())
            low, high = float(points[max(first - 1, 0)]), float(points[first])
        return high if self.delta(np.array([high]))[0] <= target else np.inf


_SINGLE = 8
"""Up to this many new keys each has its own case; beyond, blocks that grow."""


@final
@dataclass(frozen=True, repr=False)
class ThresholdedLoss(AbstractHeadline, Loss):
    """The greatest loss over how many of the changed keys are new.

    `noise[i]` bounds the kept keys when at least `fresh[i]` and fewer than
    `fresh[i + 1]` keys are new.
    """

    key_delta: Fraction
    keys: int
    fresh: tuple[int, ...]
    noise: tuple[Loss, ...]

    @property
    def delta(self) -> Fraction:
        """Return 1 - (1 - p)^l0, rounded up."""
        return Fraction(joint_breach(((self.key_delta, self.keys),)))

    @property
    def guarantees(self) -> Guarantees:
        return self.noise[0].guarantees.with_reserve(self.delta)

    @cached_property
    def tradeoff(self) -> ThresholdCurve:
        """Return the greatest of the cases: (breach, shift of epsilon, noise)."""
        ends = (*self.fresh[1:], self.keys + 1)
        cases = []
        for first, end, loss in zip(self.fresh, ends, self.noise, strict=True):
            # the most new keys of a block, beside the noise of the fewest: only larger
            breach = joint_breach(((self.key_delta, end - 1),))
            vanished = joint_breach(((self.key_delta, self.keys - first),))
            certain = breach >= 1 or vanished >= 1
            shift = 0.0 if certain else math.log1p(-vanished) - math.log1p(-breach)
            cases.append((1.0 if certain else breach, shift, loss.tradeoff))
        return ThresholdCurve(tuple(cases), self.guarantees.end)


def threshold_loss(noise: Callable[[int], Loss], *, key_delta: Any, keys: Any) -> Loss:
    """Return the loss of a thresholded release in which at most `keys` keys change.

    `noise(m)` is the loss of the noise when m changed keys are kept, and must not fall
    as m grows; `key_delta` bounds the chance that one new key crosses the threshold.
    """
    count = arguments.integer(keys=keys, least=0)
    chance = probability(key_delta=key_delta)
    fresh = _starts(count)
    noises = tuple(noise(count - first) for first in fresh)
    if not all(isinstance(loss, Loss) for loss in noises):
        raise InvalidParameter(
            "noise", noise, "must return losses", "Return sd.PureDP."
        )
    return ThresholdedLoss(chance, count, fresh, noises)


def _starts(keys: int) -> tuple[int, ...]:
    """Return where the blocks of numbers of new keys begin; the last stands alone."""
    starts = list(range(min(keys, _SINGLE) + 1))
    while starts[-1] < keys:
        starts.append(min(keys, max(starts[-1] + 1, starts[-1] * 5 // 4)))
    return tuple(starts)


@final
@dataclass(frozen=True, repr=False)
class MixtureLoss(Loss):
    """One of several losses, chosen by public weights; the choice is revealed."""

    parts: tuple[tuple[Fraction, Loss], ...]

    @property
    def guarantees(self) -> Guarantees:
        guarantees = [loss.guarantees for _, loss in self.parts]
        return Guarantees(
            max(g.epsilon for g in guarantees),
            max(g.delta for g in guarantees),
            max(g.rho for g in guarantees),
            max(g.mu for g in guarantees),
        )

    @cached_property
    def tradeoff(self) -> AbstractCurve:
        parts = tuple((float(weight), loss.tradeoff) for weight, loss in self.parts)
        return MixtureCurve(parts, self.guarantees.end)


def mixture(parts: list[tuple[Any, Loss]]) -> Loss:
    """Return the loss of running one mechanism, chosen by public weights.

    >>> from sordino.losses.loss import PureDP
    >>> mixture([("1/2", PureDP(0)), ("1/2", PureDP(1))]).advantage() < 0.2311
    True
    """
    read = tuple((probability(weight=weight), loss) for weight, loss in parts)
    whole = sum((weight for weight, _ in read), Fraction(0))
    if whole != 1:
        raise InvalidParameter("weight", whole, "must sum to 1", 'Try "1/2" and "1/2".')
    return MixtureLoss(read)


@final
@dataclass(frozen=True, repr=False)
class RoundsLoss(Loss):
    """The greatest loss over how many keys of a unit are its own.

    Each case has an upper bound on the chance that one of the unit's own keys is seen,
    and the loss of what is told of the others.
    """

    cases: tuple[tuple[Fraction, Loss], ...]

    def __repr__(self) -> str:
        known = self.guarantees
        mu, delta = number_text(known.mu), number_text(known.delta)
        return f"RoundsLoss(mu={mu}, delta={delta})"

    @property
    def delta(self) -> Fraction:
        """Return the greatest chance that one of a unit's own keys is seen."""
        return max(breach for breach, _ in self.cases)

    @cached_property
    def guarantees(self) -> Guarantees:
        noise = [loss.guarantees for _, loss in self.cases]
        rho, mu = max(g.rho for g in noise), max(g.mu for g in noise)
        return Guarantees(INFINITE, self.delta, rho, mu)

    @cached_property
    def tradeoff(self) -> AbstractCurve:
        cases = tuple(
            (float(breach), _shift(breach), loss.tradeoff)
            for breach, loss in self.cases
        )
        return RoundsCurve(cases, self.guarantees.end)


def _shift(breach: Fraction) -> float:
    """Return -ln Q; where a key is surely seen it does not matter."""
    return 0.0 if breach >= 1 else -math.log1p(-float(breach))  # ln 0 is no number


Headline: TypeAlias = ApproxDP | ApproxZCDP


@final
@dataclass(frozen=True, repr=False)
class JointLoss(Loss):
    """The loss of a thresholded release; both bounds hold, and the lesser is given.

    `kept(m)` is the loss of the noise when m of the changed keys are in both maps, None
    where the headline is all there is to say;
    `key_delta` bounds the chance that a single new key appears.
    """

    headline: Headline
    key_delta: Fraction
    keys: int
    kept: Callable[[int], Loss] | None

    @property
    def epsilon(self) -> Extended:
        """Return the epsilon of the headline."""
        return self.headline.guarantees.epsilon

    @property
    def rho(self) -> Extended:
        """Return the rho of the headline."""
        return self.headline.guarantees.rho

    @property
    def delta(self) -> Fraction:
        """Return the delta of the headline: the chance that a new key appears."""
        return self.headline.delta

    @property
    def guarantees(self) -> Guarantees:
        return self.headline.guarantees

    @cached_property
    def tradeoff(self) -> AbstractCurve:
        """Return the least of all curves that bound the release.

        Below the chance that all changed keys are new and one is seen, none serves.
        """
        breach = joint_breach(((self.key_delta, self.keys),))
        # what makes the curves later is a copy: a loss that held itself would stay
        maker = copy(self)
        return LeastCurve(
            partial(_joint_curve, maker),
            partial(_other_curves, maker),
            breach,
            self.guarantees.end,
        )

    def __repr__(self) -> str:
        return repr(self.headline)


def _joint_curve(loss: JointLoss) -> AbstractCurve:
    if loss.kept is None:
        return loss.headline.tradeoff
    return _threshold_curve(loss, loss.kept)


def _other_curves(loss: JointLoss) -> tuple[AbstractCurve, ...]:
    """Other curves that bound the release.

    A pure headline serves beside the joint curve. Where noise is priced by tables,
    whose digits end, its rho serves far out in the tail; the case of no new keys then
    makes the headline itself superfluous.
    """
    if loss.epsilon is not INFINITE:
        return (loss.headline.tradeoff,)
    noise = loss.kept
    if noise is None or noise(loss.keys).guarantees.mu is not INFINITE:
        return ()
    return (_threshold_curve(loss, lambda keys: ZCDP(noise(keys).guarantees.rho)),)


def _threshold_curve(loss: JointLoss, noise: Callable[[int], Loss]) -> AbstractCurve:
    return threshold_loss(noise, key_delta=loss.key_delta, keys=loss.keys).tradeoff
