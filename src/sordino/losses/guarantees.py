"""What is known exactly of a loss, beside its curve."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import final

from sordino.curves.curve import End
from sordino.losses import conversion
from sordino.numbers import INFINITE, Extended, root, total


@final
@dataclass(frozen=True)
class Guarantees:
    """What is known exactly of a loss, infinite where nothing is known.

    With probability at least 1 - delta the release comes from a pair of laws that is
    epsilon-DP, and rho-zCDP, and mu-GDP.
    """

    epsilon: Extended
    delta: Fraction
    rho: Extended
    mu: Extended

    @property
    def end(self) -> End:
        """Return the point of the curve that follows."""
        return End(self.epsilon, self.delta, self.is_bounded)

    @property
    def is_bounded(self) -> bool:
        """Tell whether nothing but the reserve delta can be seen with certainty."""
        return min(self.epsilon, self.rho, self.mu) < math.inf

    def with_reserve(self, chance: Fraction) -> "Guarantees":
        """Return the same where everything is revealed with one more chance."""
        delta = min(self.delta + chance, Fraction(1))
        return Guarantees(self.epsilon, delta, self.rho, self.mu)


NOTHING = Guarantees(Fraction(0), Fraction(0), Fraction(0), Fraction(0))
"""The guarantees of a release that reveals nothing."""


def pure_guarantees(epsilon: Extended, delta: Fraction) -> Guarantees:
    """Return what (epsilon, delta)-DP implies: a reserve delta beside epsilon."""
    rho, mu = conversion.pure_to_rho(epsilon), conversion.pure_to_mu(epsilon)
    return Guarantees(epsilon, delta, rho, mu)


def zcdp_guarantees(rho: Extended, delta: Fraction) -> Guarantees:
    """Return rho beside its reserve; only rho = 0 implies anything else."""
    nothing = Fraction(0) if rho == 0 else INFINITE
    return Guarantees(nothing, delta, rho, nothing)


def sum_guarantees(parts: list[tuple[Guarantees, int]]) -> Guarantees:
    """Return what holds for releases together: the sums, and of mu by squares."""
    reserve = sum((part.delta * times for part, times in parts), Fraction(0))
    return Guarantees(
        sum_times((part.epsilon, times) for part, times in parts),
        min(reserve, Fraction(1)),
        sum_times((part.rho, times) for part, times in parts),
        root(sum_times(((part.mu, times) for part, times in parts), 2)),
    )


def sum_times(values: Iterable[tuple[Extended, int]], power: int = 1) -> Extended:
    """Return the sum of powers of numbers, each so many times."""
    return total(
        *(
            INFINITE if value is INFINITE else value**power * Fraction(times)
            for value, times in values
        )
    )
