"""Keys shown round by round by noisy weights: the tight joint form.

One unit adds to t keys of its own, which can only be seen by crossing a threshold, and
to c keys that others have, too. With the chance Q that none of its own is seen in any
round, and m the shift of all that is told of the others, over the noise,

    delta(e) <= max( 1 - Q + Q D_m(e - ln Q),  D_m(e + ln Q) ),

D_m the curve of a Gaussian; the release is bounded by the greatest over t and c
(docs/proofs/keys.md, lemma 1).
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import final

from sordino.curves.curve import AbstractCurve
from sordino.curves.rounds_curve import RoundsCurve
from sordino.losses.base import Loss
from sordino.losses.guarantees import Guarantees
from sordino.numbers import INFINITE, number_text


@final
@dataclass(frozen=True, repr=False)
class RoundsLoss(Loss):
    """The greatest loss over how many keys of a unit are its own.

    Each case has an upper bound on the chance that one of the unit's own keys is seen,
    and the loss of what is told of the others.
    """

    cases: tuple[tuple[Fraction, Loss], ...]

    def __repr__(self) -> str:
        """Show the greatest parameters."""
        known = self.guarantees
        mu, delta = number_text(known.mu), number_text(known.delta)
        return f"RoundsLoss(mu={mu}, delta={delta})"

    @property
    def delta(self) -> Fraction:
        """Return the greatest chance that one of a unit's own keys is seen."""
        return max(breach for breach, _ in self.cases)

    @cached_property
    def guarantees(self) -> Guarantees:
        """Return the greatest of each parameter: released numbers beside shown keys."""
        noise = [loss.guarantees for _, loss in self.cases]
        rho, mu = max(g.rho for g in noise), max(g.mu for g in noise)
        return Guarantees(INFINITE, self.delta, rho, mu)

    @cached_property
    def tradeoff(self) -> AbstractCurve:
        """Return the greatest of the cases, both ways."""
        cases = tuple(
            (float(breach), _shift(breach), loss.tradeoff)
            for breach, loss in self.cases
        )
        return RoundsCurve(cases, self.guarantees.end)


def _shift(breach: Fraction) -> float:
    """Return -ln Q; where a key is surely seen it does not matter."""
    return 0.0 if breach >= 1 else -math.log1p(-float(breach))
