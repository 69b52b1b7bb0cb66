"""Several releases together: the headlines add exactly, the curves convolve.

Losses of one closed family fold into one (Gaussians by mu squared, zCDP by rho); what
remains is kept as parts, and its curve is computed when it is first asked for.

>>> from sordino.losses.closed import PureDP
>>> tenth = PureDP("0.1") * 10
>>> tenth.epsilon, tenth.epsilon_at(1e-6) < 1
(Fraction(1, 1), True)
"""

from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TypeVar, final

import numpy as np

from sordino.curves.coarseness import kept
from sordino.curves.convolution.convolution import Convolution, both_ways
from sordino.curves.convolution.grid_sums import DEPTHS
from sordino.curves.laws.law import AbstractLossLaw
from sordino.curves.laws.outlines import outline_laws
from sordino.curves.profile import Profile, symmetric
from sordino.losses.base import AbstractFoldingLoss, Counts, Loss, Pieces
from sordino.losses.closed import ApproxZCDP, PureDP
from sordino.losses.guarantees import Guarantees, sum_times
from sordino.losses.reserved import ReservedLoss
from sordino.losses.tabled import AbstractTabledLoss
from sordino.numbers import Extended, root

Piece = TypeVar("Piece", Loss, Fraction)

_LAW_POINTS = 8192


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

    def pieces(self) -> Pieces:
        """Return the parts."""
        return self.counts, {}

    @cached_property
    def guarantees(self) -> Guarantees:
        """Return the sums of the parts: epsilon, delta, rho, and mu by squares."""
        known = [(part.guarantees, times) for part, times in self.parts]
        reserve = sum((g.delta * times for g, times in known), Fraction(0))
        return Guarantees(
            sum_times((g.epsilon, times) for g, times in known),
            min(reserve, Fraction(1)),
            sum_times((g.rho, times) for g, times in known),
            root(sum_times(((g.mu, times) for g, times in known), 2)),
        )

    @property
    def epsilon(self) -> Extended:
        """Return the sum of the epsilons."""
        return self.guarantees.epsilon

    @property
    def delta(self) -> Fraction:
        """Return the sum of the reserve deltas."""
        return self.guarantees.delta

    @property
    def rho(self) -> Extended:
        """Return the sum of the rhos."""
        return self.guarantees.rho

    @property
    def mu(self) -> Extended:
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
    whole = [(loss, times, *loss.pieces()) for loss, times in given if times]
    costly = [one for one in whole if any(one[2:])]
    if len(costly) == 1 and costly[0][1] == 1:
        return costly[0][0]
    parts: Counts = {}
    reserves: dict[Fraction, int] = {}
    for _, times, pieces, chances in costly:
        if times == 1 and not parts:
            # a copy does not hash the parts again
            parts.update(pieces)
        else:
            _count(pieces, times, parts)
        _count(chances, times, reserves)
    families: dict[type[AbstractFoldingLoss], Counts] = {}
    for part in [one for one in parts if isinstance(one, AbstractFoldingLoss)]:
        families.setdefault(type(part), {})[part] = parts.pop(part)
    for family, group in families.items():
        parts[family.folded(group)] = 1
    base = _joined(parts)
    return ReservedLoss(base, tuple(reserves.items())) if reserves else base


def _count(pieces: Mapping[Piece, int], times: int, counts: dict[Piece, int]) -> None:
    """Add pieces, so many times, to those counted."""
    for piece, often in pieces.items():
        counts[piece] = counts.get(piece, 0) + often * times


def _joined(parts: Counts) -> Loss:
    """Return the only part, or a composition, or nothing."""
    if not parts:
        return PureDP(0)
    ((first, times), *rest) = parts.items()
    return first if times == 1 and not rest else Composition(parts)
