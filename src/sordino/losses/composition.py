"""Several releases together: the headlines add exactly, the curves convolve.

Losses of one closed family fold into one (Gaussians by mu squared, zCDP by rho); what
remains is kept as parts, and its curve is computed when it is first asked for.

>>> from sordino.losses.closed import PureDP
>>> tenth = PureDP("0.1") * 10
>>> tenth.epsilon, tenth.epsilon_at(1e-6) < 1
(Fraction(1, 1), True)
"""

import math
from collections.abc import Callable, Iterable, Sequence
from copy import copy
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, TypeAlias, final

import numpy as np

from sordino.curves.coarseness import kept
from sordino.curves.convolution.convolution import Convolution, both_ways
from sordino.curves.convolution.grid_sums import DEPTHS
from sordino.curves.laws.law import AbstractLossLaw
from sordino.curves.laws.outlines import outline_laws
from sordino.curves.profile import Profile, symmetric
from sordino.losses.base import Loss
from sordino.losses.closed import ZCDP, ApproxDP, ApproxZCDP, GaussianDP, PureDP
from sordino.losses.guarantees import NOTHING, Guarantees
from sordino.losses.reserved import ReservedLoss
from sordino.losses.tabled import AbstractTabledLoss
from sordino.numbers import Exact, sqrt, total

_LAW_POINTS = 8192

Counts: TypeAlias = dict[Loss, int]
"""Losses and how often each occurs."""


@final
@dataclass(frozen=True, eq=False, repr=False)
class Composition(AbstractTabledLoss):
    """Losses of independent releases and how often each occurs, in any order."""

    counts: Counts
    """Never changed once it is here."""

    @property
    def parts(self) -> tuple[tuple[Loss, int], ...]:
        """Return the losses and how often each occurs."""
        return tuple(self.counts.items())

    @cached_property
    def guarantees(self) -> Guarantees:
        """Return the sums of the parts: epsilon, delta, rho, and mu by squares."""
        known = [(part.guarantees, times) for part, times in self.parts]
        reserve = sum((g.delta * times for g, times in known), Fraction(0))
        return Guarantees(
            total(*(_times(g.epsilon, times) for g, times in known)),
            min(reserve, Fraction(1)),
            total(*(_times(g.rho, times) for g, times in known)),
            _root(total(*(_times(g.mu, times, 2) for g, times in known))),
        )

    @property
    def epsilon(self) -> Exact | float:
        """Return the sum of the epsilons."""
        return self.guarantees.epsilon

    @property
    def delta(self) -> Fraction:
        """Return the sum of the reserve deltas."""
        return self.guarantees.delta

    @property
    def rho(self) -> Exact | float:
        """Return the sum of the rhos."""
        return self.guarantees.rho

    @property
    def mu(self) -> Exact | float:
        """Return the root of the sum of the squared mus."""
        return self.guarantees.mu

    @cached_property
    def beside(self) -> tuple[Loss, ...]:
        """Return the loss by rho alone, where that gains on the laws composed."""
        gains = any(part.gains_by_rho for part in self.counts)
        return (ApproxZCDP(self.rho, self.delta),) if gains else ()

    @kept
    def convolutions(self) -> tuple[Convolution, ...]:
        """Return the sums of losses, in each direction that differs."""
        laws = outline_laws(part.laws for part in self.counts)
        sides = max(len(ways) for ways in laws)
        return both_ways([
            tuple(
                (ways[side % len(ways)], times)
                for ways, times in zip(laws, self.counts.values(), strict=True)
            )
            for side in range(sides)
        ])

    def laws(self) -> tuple[AbstractLossLaw, ...]:
        """Return the law of the sum, from its profiles at all depths.

        Any points of a profile serve, because chords between them bound it. What was
        worked out for the law alone is dropped with the copy that worked it out.
        """
        once = copy(self)
        plain = once.profile(0.0).epsilon
        points = np.append(plain[:: len(plain) // _LAW_POINTS + 1], plain[-1])
        bounds = [once.profile(depth).delta_at(points) for depth in DEPTHS]
        return (symmetric(Profile.of(points, np.min(bounds, axis=0))),)

    def __eq__(self, other: object) -> bool:
        """Compare as a collection of parts."""
        return isinstance(other, Composition) and self.counts == other.counts

    def __hash__(self) -> int:
        """Agree with equality."""
        return hash(frozenset(self.parts))

    def __repr__(self) -> str:
        """Show the parts as a sum."""
        shown = [f"{p!r} * {n}" if n > 1 else repr(p) for p, n in self.parts[:4]]
        more = len(self.parts) - len(shown)
        return " + ".join(shown) + (f" + ... ({more} more)" if more else "")


def compose_losses(losses: Iterable[Loss]) -> Loss:
    """Return the loss of all releases together, folded where a closed form exists."""
    return _folded([(loss, 1) for loss in losses])


def repeat_loss(loss: Loss, times: int) -> Loss:
    """Return the loss of several releases of the same loss."""
    return _folded([(loss, times)])


def _folded(given: Sequence[tuple[Loss, int]]) -> Loss:
    """Fold the closed families and set the reserves apart."""
    costly = [(loss, times) for loss, times in given if times and _costs(loss)]
    if len(costly) == 1 and costly[0][1] == 1:
        return costly[0][0]
    parts: Counts = {}
    reserves: dict[Fraction, int] = {}
    for loss, times in costly:
        _spread(loss, times, parts, reserves)
    families: dict[type[Loss], Counts] = {}
    for part in [part for part in parts if type(part) in _FOLDS]:
        families.setdefault(type(part), {})[part] = parts.pop(part)
    for family, group in families.items():
        parts[_FOLDS[family](group)] = 1
    base = _joined(parts)
    return ReservedLoss(base, tuple(reserves.items())) if reserves else base


def _costs(loss: Loss) -> bool:
    """Say whether a loss reveals anything; what was put together does."""
    return isinstance(loss, (Composition, ReservedLoss)) or loss.guarantees != NOTHING


def _spread(
    loss: Loss, times: int, parts: Counts, reserves: dict[Fraction, int]
) -> None:
    """Add a loss to the parts; what is a loss beside a reserve comes apart.

    (epsilon, delta)-DP is dominated by a breach of chance delta, else epsilon-DP, and
    delta-approximate zCDP is so by definition.
    """
    match loss:
        case Composition() if times == 1 and not parts:
            # a copy does not hash the parts again
            parts.update(loss.counts)
        case Composition():
            for part, count in loss.counts.items():
                parts[part] = parts.get(part, 0) + count * times
        case ReservedLoss():
            _spread(loss.base, times, parts, reserves)
            for delta, count in loss.reserves:
                reserves[delta] = reserves.get(delta, 0) + count * times
        case ApproxDP() | ApproxZCDP() if loss.delta > 0:
            reserves[loss.delta] = reserves.get(loss.delta, 0) + times
            _spread(loss.without_reserve(), times, parts, reserves)
        case _ if _costs(loss):
            parts[loss] = parts.get(loss, 0) + times


def _joined(parts: Counts) -> Loss:
    """Return the only part, or a composition, or nothing."""
    if not parts:
        return PureDP(0)
    ((first, times), *rest) = parts.items()
    return first if times == 1 and not rest else Composition(parts)


def _fold_gaussian(group: dict[Any, int]) -> Loss:
    """Fold by mu squared: the product of normal pairs is one normal pair."""
    squares = (_times(part.mu, times, 2) for part, times in group.items())
    return GaussianDP(_root(total(*squares)))


def _fold_zcdp(group: dict[Any, int]) -> Loss:
    """Fold by rho (Bun and Steinke 2016)."""
    return ZCDP(total(*(_times(part.rho, times) for part, times in group.items())))


_FOLDS: dict[type[Loss], Callable[[dict[Any, int]], Loss]] = {
    GaussianDP: _fold_gaussian,
    ZCDP: _fold_zcdp,
}


def _times(value: Exact | float, times: int, power: int = 1) -> Exact | float:
    """Return times value^power, infinite where value is."""
    if isinstance(value, float):
        return math.inf
    return value**power * Fraction(times)


def _root(value: Exact | float) -> Exact | float:
    """Return the square root, infinite where value is."""
    return math.inf if isinstance(value, float) else sqrt(value)
