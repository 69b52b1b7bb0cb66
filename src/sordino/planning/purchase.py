"""What a budget buys for a plan: mechanisms of one family of noise, and their loss.

Laplace noise and choices spend epsilon; Gaussian noise spends the square of mu. Under
(epsilon, delta) choices spend epsilon, and Gaussian noise the rest of it and delta
(docs/proofs/queries.md, section 6).
"""

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import starmap
from typing import Any, Final, final

from sordino import _fields
from sordino.aggregations.base import Expected
from sordino.aggregations.keys_and_noise import told_numbers
from sordino.aggregations.measurements import Integers
from sordino.aggregations.shares import (
    AbstractShare,
)
from sordino.curves.coarseness import COARSENESS
from sordino.losses.base import Budget, Loss, compose
from sordino.losses.closed import ApproxDP
from sordino.mechanisms.kit.key_rounds import KeyRounds
from sordino.mechanisms.kit.top_keys import TopKeys
from sordino.mechanisms.mechanism import AbstractMechanism
from sordino.mechanisms.noise_mechanism import AbstractAdditiveMechanism
from sordino.planning.plan import Plan
from sordino.sampling.bits import Bits

_EVEN: Final = Fraction(1, 2)
_BY_KEY: Final = {"noise", "choices", "coverage"}
"""What a purchase knows of each measurement, choice and count, by its key."""


@final
@dataclass(frozen=True, eq=False)
class Purchase:
    """The mechanisms of a plan, and what they cost together."""

    plan: Plan
    budget: Budget
    joint: AbstractShare
    """What measurements of groups may spend together, for a share of 1."""
    apart: AbstractShare
    """What choices and coverage may spend, each by itself."""
    delta: Fraction
    """The chance that a group shows which is new, where groups are not known."""
    limit: ApproxDP | None = None
    """What the measurements' loss must be within, if that remains to be checked."""
    rounds: KeyRounds | None = None
    """Noise and thresholds of keys that are shown in rounds."""
    first: TopKeys | None = None
    """The choices of the first few groups, where no others are told."""
    gain: float = 1.0
    """How many times its share of epsilon it has, of a budget that several share."""

    share: str = ""
    """Which part of a budget it has that several share by weights, in words."""

    def alike(self, plan: Plan, gain: float, share: str) -> "Purchase":
        """Return the same noise for a plan that is priced alike, and what is known.

        But for what is listed by key: the other plan has keys of its own.
        """
        known = {name: fact for name, fact in vars(self).items() if name not in _BY_KEY}
        new = {"plan": plan, "gain": gain, "share": share}
        return _fields.make(Purchase, **known | new)

    @cached_property
    def selection(self) -> Any:
        """Return noise and threshold of what shows which groups exist, or None."""
        presence = self.plan.presence
        if presence is None or self.rounds is not None:
            return self.rounds
        if self.first is not None:
            return self.first
        share = self.joint.times(self.plan.shares[presence.key])
        return presence.selection(share, self.delta)

    @cached_property
    def noise(self) -> Mapping[Hashable, AbstractAdditiveMechanism]:
        """Return the noise of the measurements that are not selected by."""
        plan = self.plan
        return {
            key: measurement.mechanism(self.joint.times(plan.shares[key]))
            for key, measurement in plan.measurements.items()
            if plan.presence is None or key != plan.presence.key
        }

    @cached_property
    def choices(self) -> Mapping[Hashable, AbstractMechanism]:
        """Return the mechanisms of choices."""
        return {
            key: choice.mechanism(self._share_apart(key))
            for key, choice in self.plan.choices.items()
        }

    @cached_property
    def coverage(self) -> Mapping[Hashable, AbstractAdditiveMechanism]:
        """Return the noise of the counts of what was left out."""
        return {
            key: count.measurement.mechanism(self._share_apart(key))
            for key, count in self.plan.coverage.items()
        }

    @cached_property
    def additive_loss(self) -> Loss:
        """Return the loss of all measurements of groups, jointly with the selection."""
        plan = self.plan
        noise = [
            (mechanism, plan.change_beside(key))
            for key, mechanism in self.noise.items()
        ]
        if self.rounds is not None:
            return self.rounds.loss(tuple(starmap(told_numbers, noise)))
        if self.first is not None:
            others = [mechanism.map(change) for mechanism, change in noise]
            return self._first_loss(others)
        presence = None if plan.presence is None else plan.presence.whole
        return self.joint.loss_of(self.selection, presence, noise)

    def _first_loss(self, others: Sequence[Loss]) -> Loss:
        """Return the loss of choices, by what they are within if more is told."""
        assert self.first is not None  # noqa: S101 asked where groups are chosen
        return compose([self.first.limit, *others]) if others else self.first.loss

    @property
    def stages(self) -> int:
        """Return in how many rounds keys are shown first."""
        return 1 if self.rounds is None else len(self.rounds.thresholds)

    def select(self, totals: Integers, place: int) -> Integers:
        """Return the places of exact totals whose keys pass a round."""
        if self.rounds is not None:
            return self.rounds.select(totals, place).rows
        if self.first is not None:
            return self.first.select(totals).rows
        assert self.plan.presence is not None  # noqa: S101 it shows the keys
        return self.plan.presence.select(self.selection, [totals], Bits())[0]

    @property
    def is_within(self) -> bool:
        """Tell whether the very loss that will be charged is within its limit."""
        return self.limit is None or _admits(
            self.limit, self.additive_loss, COARSENESS.get()
        )

    @cached_property
    def losses_apart(self) -> tuple[Loss, ...]:
        """Return the losses of choices and coverage: they compose with any others."""
        choices = [self._share_apart(key).loss for key in self.plan.choices]
        coverage = [
            mechanism.map(self.plan.coverage[key].measurement.change)
            for key, mechanism in self.coverage.items()
        ]
        return (*choices, *coverage)

    @cached_property
    def loss(self) -> Loss:
        """Return the loss of everything that is released.

        Rounds are composed with choices by what they are within: tables of their curve
        would tell a thousandth more.
        """
        apart = self.losses_apart
        if self.rounds is not None and self.limit is not None and apart:
            return compose([self.limit, *apart])
        if self.first is not None and not self.noise:
            return self._first_loss(apart)
        return compose([self.additive_loss, *apart])

    @cached_property
    def mechanisms(self) -> tuple[tuple[AbstractMechanism, ...], ...]:
        """Return the mechanisms behind each column, in the order of what it needs."""
        presence = self.plan.presence
        known: dict[Hashable, AbstractMechanism] = {**self.noise, **self.choices}
        if presence is not None:
            known[presence.key] = self.selection
        return tuple(
            tuple(known[measurement.key] for measurement in estimator.measurements)
            for estimator in self.plan.estimators
        )

    def expected_error(self, place: int, confidence: Fraction) -> Expected:
        """Return how far a column will be off."""
        estimator = self.plan.estimators[place]
        return estimator.expected_error(self.mechanisms[place], confidence)

    @cached_property
    def errors(self) -> dict[str, Expected]:
        """Return how far each column will be off, as far as that is known."""
        request = self.plan.request
        return {
            name: self.expected_error(place, request.confidence)
            for place, (name, _) in enumerate(request.columns)
        }

    @cached_property
    def score(self) -> float:
        """Return the mean logarithm of the errors of columns; less is better.

        Where only keys are asked for, it is that of the threshold.
        """
        if not self.plan.estimators and self.first is None:
            return math.log(max(self.level or 1, 1))
        moved = [
            (float(weight), self._deviation(place))
            for place, weight in enumerate(self.plan.weights)
            if self.plan.estimators[place].measurements
        ]
        presence = self.plan.presence
        if self.first is not None and presence is not None:
            share = float(self.plan.shares[presence.key])
            moved.append((share, self.first.scale))
        logarithms = math.fsum(weight * math.log(sd) for weight, sd in moved)
        return logarithms / (math.fsum(weight for weight, _ in moved) or 1.0)

    @property
    def level(self) -> Fraction | None:
        """Return how many must be counted in a group to show it, if any is hidden."""
        presence, least = self.plan.presence, self.plan.request.minimum
        if presence is None:
            return least
        if self.first is not None:
            return self.first.least if self.plan.hides_keys else None
        level = presence.level(self.selection)
        if least is None or self.plan.counted is not presence:
            return level
        return max(level, least)

    @property
    def least_shown(self) -> tuple[Fraction, str] | None:
        """Return from how many of what on a group shows, if any is hidden."""
        if self.rounds is not None:
            return self.rounds.thresholds[-1], "ids that have no other group left"
        unit = "rows" if self.plan.relation.ids is None else "ids"
        if self.plan.request.few is not None:
            unit = f"of {self.plan.request.few.by!r}"
        return None if self.level is None else (self.level, unit)

    def _deviation(self, place: int) -> float:
        """Return the deviation of a column, in a typical group."""
        estimator, mechanisms = self.plan.estimators[place], self.mechanisms[place]
        if estimator.chooses:
            return estimator.expected_error(mechanisms, _EVEN).sd
        each = zip(estimator.measurements, mechanisms, estimator.slopes, strict=True)
        return math.hypot(
            *(
                math.sqrt(slope) * measurement.noise(noise).sd
                for measurement, noise, slope in each
            )
        )

    def _share_apart(self, key: Hashable) -> AbstractShare:
        """Return the share of a choice, or of a count of what was left out."""
        return self.apart.times(self.plan.shares[key])


@lru_cache(maxsize=64)
def _admits(limit: ApproxDP, loss: Loss, coarseness: float) -> bool:
    """Tell whether a loss is within a limit; requests of a batch share the answer."""
    del coarseness  # by which the answer may differ
    return limit.admits(loss)
