"""The loss of telling everything, with a known chance, and nothing else."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, final

import numpy as np

from sordino.losses.curves.curve import AbstractCurve, End, response_law
from sordino.losses.curves.laws import Laws
from sordino.losses.curves.points import Floats
from sordino.losses.guarantees import Guarantees
from sordino.losses.loss import Loss
from sordino.numbers import probability, up
from sordino.numbers.canonical import Words, call, number
from sordino.numbers.frozen import fill


@final
@dataclass(frozen=True, repr=False)
class RevelationLoss(Loss):
    """For any two neighbouring databases the outcomes differ with chance `chance`."""

    chance: Fraction

    def __init__(self, chance: Any) -> None:
        """Read the parameter exactly."""
        fill(self, chance=probability(chance=chance))

    @property
    def words(self) -> Words:
        """Return the name and the exact parameter."""
        return call("RevelationLoss", chance=number(self.chance))

    @property
    def guarantees(self) -> Guarantees:
        """Return no epsilon beside the chance."""
        return Guarantees(Fraction(0), self.chance, Fraction(0), Fraction(0))

    @property
    def tradeoff(self) -> AbstractCurve:
        """Return the curve of this chance."""
        return RevelationCurve(self.chance)


@final
@dataclass(frozen=True, eq=False)
class RevelationCurve(AbstractCurve):
    """No test tells the worlds apart but by what differs, which no epsilon covers."""

    chance: Fraction

    @property
    def end(self) -> End:
        """Return the chance, at every epsilon."""
        return End(Fraction(0), self.chance, is_bounded=True)

    def laws(self) -> Laws:
        """Return the law of a full revelation, which serves both directions."""
        return (response_law(Fraction(0), self.chance),)

    def delta(self, epsilon: Floats) -> Floats:
        """Return the chance."""
        return np.full_like(epsilon, up(self.chance))

    def epsilon(self, delta: Floats) -> Floats:
        """Return nothing where the chance is allowed."""
        return np.where(delta >= up(self.chance), 0.0, np.inf)

    def tpr(self, alpha: Floats) -> Floats:
        """Return a guess, and what differs."""
        return np.minimum(alpha + up(self.chance), 1.0)

    def beta(self, alpha: Floats) -> Floats:
        """Return what neither a guess finds nor a difference."""
        return np.maximum(1.0 - alpha - up(self.chance), 0.0)
