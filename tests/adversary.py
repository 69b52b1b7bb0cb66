"""The analyst who gets the most out of a filter: exact, by dynamic programming.

Every release is randomized response, or tells everything with a small chance. The state
is what the filter remembers and the loss so far, and at each state the analyst picks
the release that leaves the greatest chance-weighted excess

    E[max(0, 1 - exp(epsilon - loss))],

which is the least delta at that epsilon of everything together. No analyst with these
releases does better, so a filter whose promise is below this value is broken.
"""

import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import TypeAlias, final

from sordino.errors import BudgetExceeded, InvalidParameter
from sordino.losses.budgets.charge import Charge
from sordino.losses.budgets.filters import AbstractFilter
from sordino.losses.closed import ApproxDP
from sordino.losses.loss import Loss, PureDP

State: TypeAlias = Hashable


@final
@dataclass(frozen=True)
class Release:
    """Randomized response with some epsilon, or with some chance everything."""

    epsilon: float
    chance: float
    loss: Loss


Step: TypeAlias = Callable[[State, Release], State | None]
"""What a filter remembers after a release, or None where it refuses."""


def response(epsilon: str) -> Release:
    return Release(float(Fraction(epsilon)), 0.0, PureDP(epsilon))


def reveal(chance: str) -> Release:
    """Return everything, with some chance."""
    return Release(0.0, float(Fraction(chance)), ApproxDP(0, chance))


def worst(
    releases: Sequence[Release], start: State, step: Step, epsilon: float
) -> float:
    """Return the greatest delta at an epsilon that a filter lets an analyst reach."""

    @cache
    def value(state: State, loss: float) -> float:
        best = max(0.0, -math.expm1(epsilon - loss))
        for release in releases:
            after = step(state, release)
            if after is not None:
                best = max(best, _expected(release, after, loss))
        return best

    def _expected(release: Release, after: State, loss: float) -> float:
        if release.chance:
            return release.chance + (1 - release.chance) * value(after, loss)
        likely = 1 / (1 + math.exp(-release.epsilon))
        up = value(after, round(loss + release.epsilon, 12))
        down = value(after, round(loss - release.epsilon, 12))
        return likely * up + (1 - likely) * down

    return value(start, 0.0)


def stepping(limit: AbstractFilter) -> Step:
    """Return the steps of a filter of ours."""

    @cache
    def step(state: State, release: Release) -> State | None:
        assert isinstance(state, Charge)
        try:
            return limit.accept(state, limit.charge_for(release.loss, release.loss))[1]
        except (BudgetExceeded, InvalidParameter):
            return None

    return step


def natural(epsilon: float, delta: float) -> Step:
    """Return the filter that composes the curves so far: it is not valid.

    Its state is the releases so far in order of size, and it accepts as long as their
    composition, as if it had been planned, is within (epsilon, delta).
    """

    @cache
    def step(state: State, release: Release) -> State | None:
        assert isinstance(state, tuple)
        after = tuple(sorted((*state, release), key=lambda one: one.epsilon))
        return after if planned(after, epsilon) <= delta else None

    return step


def planned(releases: tuple[Release, ...], epsilon: float) -> float:
    """Return the exact delta of releases that were fixed beforehand."""
    safe = math.prod(1 - one.chance for one in releases)
    law = {0.0: 1.0}
    for size in (one.epsilon for one in releases if not one.chance):
        likely = 1 / (1 + math.exp(-size))
        moved: dict[float, float] = {}
        for loss, mass in law.items():
            for change, part in ((size, likely), (-size, 1 - likely)):
                place = round(loss + change, 12)
                moved[place] = moved.get(place, 0.0) + mass * part
        law = moved
    inner = sum(m * max(0.0, -math.expm1(epsilon - x)) for x, m in law.items())
    return 1 - safe + safe * inner
