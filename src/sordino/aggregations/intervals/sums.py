"""Noisy numbers whose noises are independent and of one kind, and forms in them.

A form is a factor for each number. At the exact answer x of a question a certain form,
which depends on x, is pure noise: an interval holds the x at which its value could be.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Final, NamedTuple, TypeAlias, final

import numpy as np
from numpy.typing import ArrayLike

from sordino.aggregations.intervals.number_noise import Noise
from sordino.curves.points import Floats

Form: TypeAlias = tuple[float, ...]

SPENT: Final = 1 / 20
"""What the size of a group that shows takes of the chance to miss."""
_HALVINGS: Final = 50
_BLOCK: Final = 1 << 14
"""How many groups are worked through together."""
_LEVELS: Final = np.array([1 - 2.0**-6, 0.9, 0.7, 0.5, *2.0 ** -np.arange(2.0, 100.0)])
"""Chances to show are rounded down to these, so that few intervals differ in level."""
_FREE: Final = 0.8
"""The part of the remaining chance to miss that independent noises may use."""


@final
@dataclass(frozen=True)
class Shown:
    """Why groups show: a form in their noisy numbers reached a cut."""

    weights: Form
    cut: float


@final
class Level(NamedTuple):
    """Some groups, and the chance to miss that is left for their intervals."""

    rows: Any
    alpha: float
    chance: float
    """At most that of showing, where the group is as small as it may be; 1 if known."""


@final
@dataclass(frozen=True, eq=False)
class Sums:
    """Noisy numbers of each group, their noises, and why the group shows."""

    values: tuple[Floats, ...]
    noises: tuple[Noise, ...]
    shown: Shown | None = None
    reaches: dict[tuple[bytes, float], Floats] = field(default_factory=dict)
    """How far the noise of forms goes, which is alike for all groups."""

    def in_blocks(self, rule: Callable[["Sums"], Sequence[Floats]]) -> Sequence[Floats]:
        """Return the columns that a rule makes of the numbers, some groups at a time.

        What is made on the way stays in the cache of a core. Of no group does a rule
        see any other.
        """
        size = len(self.values[0])
        if size <= _BLOCK:
            return rule(self)
        blocks = [
            rule(replace(self, values=tuple(value[rows] for value in self.values)))
            for rows in (slice(n, n + _BLOCK) for n in range(0, size, _BLOCK))
        ]
        return [np.concatenate(parts) for parts in zip(*blocks, strict=True)]

    @cached_property
    def spreads(self) -> Floats:
        """Return the scales of the noises."""
        return np.array([noise.spread for noise in self.noises])

    @cached_property
    def slips(self) -> Floats:
        """Return how far each number is at most from one with real noise."""
        return np.array([noise.slip for noise in self.noises])

    def value_of(self, form: Form, rows: Any = slice(None)) -> Floats:
        """Return the value of a form for each group."""
        terms = [
            factor * value[rows]
            for factor, value in zip(form, self.values, strict=True)
        ]
        return np.asarray(sum(terms), np.float64)

    def reach(self, forms: ArrayLike, alpha: float) -> Floats:
        """Return how far the noise of forms goes, but with the chance alpha.

        The first axis of `forms` runs over the numbers. For any form that is a norm.
        """
        mark = np.asarray(forms, np.float64).tobytes(), alpha
        if mark not in self.reaches:
            sizes, slips = self._sizes(forms)
            self.reaches[mark] = self.noises[0].blend.reach(sizes, alpha) + slips
        return self.reaches[mark]

    def contain(self, x: Floats, forms: ArrayLike, alpha: float) -> Any:
        """Tell where a value of size x is no farther out than the reach."""
        sizes, slips = self._sizes(forms)
        blend = self.noises[0].blend
        return (np.abs(x) <= slips) | blend.contains(np.abs(x) - slips, sizes, alpha)

    def sd(self, forms: ArrayLike) -> Floats:
        """Return the standard deviation of the noise of forms."""
        drawn = np.array([noise.sd for noise in self.noises])
        return np.sqrt(np.tensordot(drawn**2, np.asarray(forms, np.float64) ** 2, 1))

    def levels(self, form: Form, alpha: float) -> Iterator[Level]:
        """Yield the groups by the chance to miss that a form in their noise may have.

        Where the form shares no noise with what showed the group it keeps all of it.
        Else some is spent on how small the group may be; given its size, a miss is at
        most as likely as without the cut, over the chance to show.
        """
        size = len(self.values[0])
        if self.shown is None or not np.dot(np.abs(form), np.abs(self.shown.weights)):
            yield Level(slice(None), alpha, 1.0)
            return
        chances = np.exp(np.minimum(self._log_showing(alpha * SPENT), 0.0))
        steps = np.searchsorted(-_LEVELS, -chances)
        left = alpha * (1 - SPENT)
        for step in np.unique(steps) if size else ():
            chance = float(_LEVELS[step]) if step < len(_LEVELS) else 0.0
            yield Level(np.flatnonzero(steps == step), left * chance, chance)

    def split(self, form: Form) -> tuple[Form, Form] | None:
        """Split a form into noises that do not decide what is shown, and the rest.

        None where either is empty.
        """
        if self.shown is None:
            return None
        marks = [weight != 0 for weight in self.shown.weights]
        free = tuple(
            0.0 if mark else factor for mark, factor in zip(marks, form, strict=True)
        )
        bound = tuple(factor - other for factor, other in zip(form, free, strict=True))
        return (free, bound) if any(free) and any(bound) else None

    def reach_apart(self, parts: tuple[Any, Any], level: Level) -> Floats:
        """Return the reach of a form of two parts, each within its own."""
        free, bound = parts
        left = level.alpha / level.chance if level.chance else 0.0
        return self.reach(free, left * _FREE) + self.reach(
            bound, level.alpha * (1 - _FREE)
        )

    def _sizes(self, forms: ArrayLike) -> tuple[Floats, Floats]:
        """Return the scales of the noises in forms, and how far numbers slip in all."""
        factors = np.abs(np.asarray(forms, np.float64))
        factors = factors.reshape(len(self.noises), -1)
        return factors * self.spreads[:, None], self.slips @ factors

    def _log_showing(self, alpha: float) -> Floats:
        """Return ln P[a group shows], at the least size that it has but for alpha.

        A size n is too small where P[noise >= value - n] < alpha P[noise >= cut - n]:
        of groups of that size which show, so few reach the value.
        """
        assert self.shown is not None  # noqa: S101 asked where groups show
        sizes, slips = self._sizes(self.shown.weights)
        blend = self.noises[0].blend
        value = np.maximum(self.value_of(self.shown.weights) - slips, self.shown.cut)
        low, high = np.zeros_like(value), np.maximum(value, 0.0)
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            beyond = blend.log_tail(value - middle, sizes)
            showing = blend.log_tail(self.shown.cut - middle, sizes)
            small = beyond < np.log(alpha) + showing
            low, high = np.where(small, middle, low), np.where(small, high, middle)
        return blend.log_tail(self.shown.cut - low, sizes)
