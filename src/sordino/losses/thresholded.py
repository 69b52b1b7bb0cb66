"""Thresholded releases over unknown keys: the tight joint form, and mixtures.

A changed key is either new (it can be seen only by crossing the threshold, with chance
p) or kept (it shows noise), never both. With j new keys and the other l0 - j kept,

    delta(e) = D_j + (1 - D_j) delta_A(e + ln(1 - D_C) - ln(1 - D_j)),
    D_j = 1 - (1 - p)^j,  D_C = 1 - (1 - p)^(l0 - j),

and the release is bounded by the greatest over j: docs/proofs/losses.md.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, final

from sordino import _validate
from sordino.curves.breach_curve import joint_breach
from sordino.curves.case_curves import MixtureCurve, ThresholdCurve
from sordino.curves.curve import AbstractCurve
from sordino.errors import InvalidParameter
from sordino.losses.answers import AbstractHeadline
from sordino.losses.base import Loss
from sordino.losses.guarantees import Guarantees
from sordino.numbers import probability

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
        """Return those of the noise on all keys, with the threshold's reserve."""
        return self.noise[0].guarantees.with_reserve(self.delta)

    @cached_property
    def tradeoff(self) -> ThresholdCurve:
        """Return the greatest of the cases: (breach, shift of epsilon, noise)."""
        ends = (*self.fresh[1:], self.keys + 1)
        cases = []
        for first, end, loss in zip(self.fresh, ends, self.noise, strict=True):
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
    count = _validate.integer(keys=keys, least=0)
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
        """Return the greatest of each parameter."""
        guarantees = [loss.guarantees for _, loss in self.parts]
        return Guarantees(
            max(g.epsilon for g in guarantees),
            max(g.delta for g in guarantees),
            max(g.rho for g in guarantees),
            max(g.mu for g in guarantees),
        )

    @cached_property
    def tradeoff(self) -> AbstractCurve:
        """Return the weighted curves."""
        parts = tuple((float(weight), loss.tradeoff) for weight, loss in self.parts)
        return MixtureCurve(parts, self.guarantees.end)


def mixture(parts: list[tuple[Any, Loss]]) -> Loss:
    """Return the loss of running one mechanism, chosen by public weights.

    >>> from sordino.losses.base import PureDP
    >>> mixture([("1/2", PureDP(0)), ("1/2", PureDP(1))]).advantage() < 0.2311
    True
    """
    read = tuple((probability(weight=weight), loss) for weight, loss in parts)
    whole = sum((weight for weight, _ in read), Fraction(0))
    if whole != 1:
        raise InvalidParameter("weight", whole, "must sum to 1", 'Try "1/2" and "1/2".')
    return MixtureLoss(read)
