"""The loss of telling everything, with a known chance, and nothing else."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, final

import numpy as np

from sordino._fields import fill
from sordino.curves import forms
from sordino.curves.laws.law import AbstractLossLaw
from sordino.curves.points import Floats
from sordino.losses.base import Loss
from sordino.losses.guarantees import Guarantees
from sordino.numbers import probability, up
from sordino.words import Words, call, number


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

    def laws(self) -> tuple[AbstractLossLaw, ...]:
        """Return the law of a full revelation, which serves both directions."""
        return (forms.response(Fraction(0), self.chance),)

    def _delta(self, epsilon: Floats) -> Floats:
        return np.full_like(epsilon, up(self.chance))

    def _epsilon(self, delta: Floats) -> Floats:
        return np.where(delta >= up(self.chance), 0.0, np.inf)

    def _tpr(self, alpha: Floats) -> Floats:
        return np.minimum(alpha + up(self.chance), 1.0)

    def _beta(self, alpha: Floats) -> Floats:
        return np.maximum(1.0 - alpha - up(self.chance), 0.0)
