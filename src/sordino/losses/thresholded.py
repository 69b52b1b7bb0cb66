"""Thresholded releases over unknown keys: the tight joint form, and mixtures.

A changed key is either new (it can be seen only by crossing the threshold, with chance
p) or kept (it shows noise), never both. With j new keys and the other l0 - j kept,

    delta(e) = D_j + (1 - D_j) delta_A(e + ln(1 - D_C) - ln(1 - D_j)),
    D_j = 1 - (1 - p)^j,  D_C = 1 - (1 - p)^(l0 - j),

and the release is bounded by the greatest over j: docs/proofs/losses.md.
"""

import math
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, final

import numpy as np

from sordino import _validate
from sordino.curves.coarseness import kept
from sordino.curves.forms import inverse
from sordino.curves.laws.derived import Mixed
from sordino.curves.laws.law import AbstractLossLaw
from sordino.curves.points import ELEMENTARY, Floats
from sordino.curves.profile import Profile, symmetric
from sordino.errors import InvalidParameter
from sordino.losses.base import Loss
from sordino.losses.guarantees import Guarantees
from sordino.losses.reserved import joint_breach
from sordino.numbers import Extended, probability

_SINGLE = 8
"""Up to this many new keys each has its own case; beyond, blocks that grow."""

_POINTS = 1200
_LEAST_DELTA = 1e-40


@final
@dataclass(frozen=True, repr=False)
class ThresholdedLoss(Loss):
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
    def epsilon(self) -> Extended:
        """Return the epsilon of the noise on all keys."""
        return self.noise[0].guarantees.epsilon

    @property
    def rho(self) -> Extended:
        """Return the rho of the noise on all keys."""
        return self.noise[0].guarantees.rho

    @property
    def mu(self) -> Extended:
        """Return the mu of the noise on all keys."""
        return self.noise[0].guarantees.mu

    @property
    def guarantees(self) -> Guarantees:
        """Return those of the noise on all keys, with the threshold's reserve."""
        known = self.noise[0].guarantees
        reserve = min(known.delta + self.delta, Fraction(1))
        return Guarantees(known.epsilon, reserve, known.rho, known.mu)

    @cached_property
    def cases(self) -> tuple[tuple[float, float, Loss], ...]:
        """Return (breach, shift of epsilon, noise) of each case."""
        ends = (*self.fresh[1:], self.keys + 1)
        found = []
        for first, end, loss in zip(self.fresh, ends, self.noise, strict=True):
            breach = joint_breach(((self.key_delta, end - 1),))
            vanished = joint_breach(((self.key_delta, self.keys - first),))
            certain = breach >= 1 or vanished >= 1
            shift = 0.0 if certain else math.log1p(-vanished) - math.log1p(-breach)
            found.append((1.0 if certain else breach, shift, loss))
        return tuple(found)

    @kept
    def profile(self) -> Profile:
        """Return the bounds on a fine range of epsilons."""
        reach = max(
            float(loss.epsilon_at(_LEAST_DELTA)) + abs(shift)
            for _, shift, loss in self.cases
        )
        points = np.linspace(0.0, min(reach, 700.0), _POINTS)
        return Profile.of(points, self._delta(points))

    def laws(self) -> tuple[AbstractLossLaw, ...]:
        """Return the law of the greatest profile, which is not kept for it."""
        return (symmetric(copy(self).profile),)

    def _delta(self, epsilon: Floats) -> Floats:
        found = np.zeros_like(epsilon)
        for breach, shift, loss in self.cases:
            moved = epsilon + shift - ELEMENTARY * (abs(shift) + epsilon)
            inner = loss.delta_at(np.where(np.isinf(epsilon), epsilon, moved))
            found = np.maximum(found, breach + (1 - breach) * inner)
        return np.minimum(found * (1 + ELEMENTARY), 1.0)

    def _epsilon(self, delta: Floats) -> Floats:
        return inverse(self._delta, delta)

    def _tpr(self, alpha: Floats) -> Floats:
        return self.profile.rates(alpha)[0]

    def _beta(self, alpha: Floats) -> Floats:
        return self.profile.rates(alpha)[1]


def threshold_loss(noise: Callable[[int], Loss], *, key_delta: Any, keys: Any) -> Loss:
    """Return the loss of a thresholded release in which at most `keys` keys change.

    `noise(m)` is the loss of the noise when m changed keys are kept, and must not fall
    as m grows; `key_delta` bounds the chance that one new key crosses the threshold.
    """
    count = _validate.integer(keys=keys, least=0)
    chance = probability(key_delta=key_delta)
    fresh = _starts(count)
    kept = tuple(noise(count - first) for first in fresh)
    if not all(isinstance(loss, Loss) for loss in kept):
        raise InvalidParameter(
            "noise", noise, "must return losses", "Return sd.PureDP."
        )
    return ThresholdedLoss(chance, count, fresh, kept)


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
        known = [loss.guarantees for _, loss in self.parts]
        return Guarantees(
            max(g.epsilon for g in known),
            max(g.delta for g in known),
            max(g.rho for g in known),
            max(g.mu for g in known),
        )

    @kept
    def profile(self) -> Profile:
        """Return the weighted bounds on a fine range of epsilons."""
        reach = max(float(loss.epsilon_at(_LEAST_DELTA)) for _, loss in self.parts)
        points = np.linspace(0.0, min(reach, 700.0), _POINTS)
        return Profile.of(points, self._delta(points))

    def laws(self) -> tuple[AbstractLossLaw, ...]:
        """Return the weighted mixture of the laws, in each direction that differs."""
        found = [(float(weight), loss.laws()) for weight, loss in self.parts]
        sides = max(len(laws) for _, laws in found)
        return tuple(
            Mixed(tuple((w, laws[side % len(laws)]) for w, laws in found))
            for side in range(sides)
        )

    def _delta(self, epsilon: Floats) -> Floats:
        terms = [float(weight) * loss.delta_at(epsilon) for weight, loss in self.parts]
        answer: Floats = np.minimum(np.sum(terms, axis=0) * (1 + ELEMENTARY), 1.0)
        return answer

    def _epsilon(self, delta: Floats) -> Floats:
        return inverse(self._delta, delta)

    def _tpr(self, alpha: Floats) -> Floats:
        return self.profile.rates(alpha)[0]

    def _beta(self, alpha: Floats) -> Floats:
        return self.profile.rates(alpha)[1]


def mixture(parts: list[tuple[Any, Loss]]) -> Loss:
    """Return the loss of running one mechanism, chosen by public weights.

    >>> from sordino.losses.closed import PureDP
    >>> mixture([("1/2", PureDP(0)), ("1/2", PureDP(1))]).advantage() < 0.2311
    True
    """
    read = tuple((probability(weight=weight), loss) for weight, loss in parts)
    whole = sum((weight for weight, _ in read), Fraction(0))
    if whole != 1:
        raise InvalidParameter("weight", whole, "must sum to 1", 'Try "1/2" and "1/2".')
    return MixtureLoss(read)
