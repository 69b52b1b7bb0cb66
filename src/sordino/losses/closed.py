"""Losses with a closed form: their headline parameters, exact, and their curves.

>>> ZCDP("0.015").epsilon_at("1e-7") < 0.8547
True
>>> GaussianDP(3) + GaussianDP(4)
GaussianDP(mu=5)

Kernel: mathematics.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, final

from sordino.losses.budgets.charge import (
    Allowance,
    Family,
    finite_parameter,
    largest_parameter,
)
from sordino.losses.curves.concentrated import ConcentratedCurve
from sordino.losses.curves.curve import AbstractCurve, GaussianCurve, ResponseCurve
from sordino.losses.guarantees import (
    Guarantees,
    pure_guarantees,
    sum_times,
    zcdp_guarantees,
)
from sordino.losses.loss import (
    AbstractFoldingLoss,
    Counts,
    Loss,
    Pieces,
    PureDP,
    Stated,
)
from sordino.numbers import (
    INFINITE,
    Extended,
    distance,
    probability,
    product,
    root,
    shortest,
    sqrt,
)
from sordino.numbers.canonical import Words, call, number
from sordino.numbers.frozen import fill


@final
@dataclass(frozen=True, repr=False)
class ApproxDP(Loss):
    """(epsilon, delta)-DP: with probability delta everything, else epsilon-DP."""

    epsilon: Extended
    delta: Fraction
    stated_by: ClassVar[Stated] = "epsilon"

    def __init__(self, epsilon: Any, delta: Any) -> None:
        fill(self, epsilon=distance(epsilon=epsilon), delta=probability(delta=delta))

    @property
    def words(self) -> Words:
        """Return the name and the exact parameters."""
        return call("ApproxDP", epsilon=number(self.epsilon), delta=number(self.delta))

    @property
    def guarantees(self) -> Guarantees:
        return pure_guarantees(self.epsilon, self.delta)

    @property
    def tradeoff(self) -> AbstractCurve:
        return ResponseCurve(self.epsilon, self.delta)

    def pieces(self) -> Pieces:
        """Return the loss when nothing fails, and the chance that all fails.

        (epsilon, delta)-DP is dominated by a breach of chance delta, else epsilon-DP.
        """
        if self.delta == 0:
            return ({self: 1} if self.epsilon else {}), {}
        return PureDP(self.epsilon).pieces()[0], {self.delta: 1}

    @property
    def sums(self) -> dict[str, Extended]:
        return {"epsilon": self.epsilon, "delta": self.delta}

    def allowance(self, family: Family) -> Allowance | None:
        # Gaussian noise has no epsilon without a delta
        if family == "gaussian" and self.delta == 0:
            return None
        return Allowance("epsilon", finite_parameter(self, self.epsilon), self.delta)

    def times(self, factor: Fraction) -> "ApproxDP":
        return ApproxDP(self.epsilon * factor, min(self.delta * factor, Fraction(1)))

    def admits(self, loss: Loss) -> bool:
        """Say whether a loss is (epsilon, delta)-DP, by its headline or its curve.

        What a curve tells is an upper bound as it is written (ADR 92).
        """
        guarantees = loss.guarantees
        if guarantees.epsilon <= self.epsilon and guarantees.delta <= self.delta:
            return True
        if self.epsilon is INFINITE:
            return True
        return shortest(loss.delta_at(self.epsilon)) <= self.delta


@final
@dataclass(frozen=True, repr=False)
class ZCDP(AbstractFoldingLoss):
    """rho-zero-concentrated differential privacy."""

    rho: Extended
    stated_by: ClassVar[Stated] = "rho"

    def __init__(self, rho: Any) -> None:
        fill(self, rho=distance(rho=rho))

    @property
    def words(self) -> Words:
        """Return the name and the exact parameters."""
        return call("ZCDP", rho=number(self.rho))

    @property
    def guarantees(self) -> Guarantees:
        # rho implies no epsilon, and no Gaussian of the same rho
        return zcdp_guarantees(self.rho, Fraction(0))

    @property
    def tradeoff(self) -> AbstractCurve:
        return ConcentratedCurve(self.rho)

    @classmethod
    def fold(cls, group: Counts) -> "ZCDP":
        """Return the loss of the sum of the rhos (Bun and Steinke 2016)."""
        return cls(sum_times((part.guarantees.rho, n) for part, n in group.items()))

    @property
    def sums(self) -> dict[str, Extended]:
        return {"rho": self.rho}

    def allowance(self, family: Family) -> Allowance | None:
        if family == "gaussian":
            return Allowance("rho", finite_parameter(self, self.rho))
        return Allowance("epsilon", largest_parameter(self, PureDP))

    def times(self, factor: Fraction) -> "ZCDP":
        return ZCDP(self.rho * factor)

    def admits(self, loss: Loss) -> bool:
        guarantees = loss.guarantees
        # a reserve, however small, is not zCDP
        return guarantees.delta == 0 and guarantees.rho <= self.rho


@final
@dataclass(frozen=True, repr=False)
class ApproxZCDP(Loss):
    """delta-approximate rho-zCDP: with probability delta everything, else rho-zCDP."""

    rho: Extended
    delta: Fraction
    stated_by: ClassVar[Stated] = "rho"

    def __init__(self, rho: Any, delta: Any) -> None:
        fill(self, rho=distance(rho=rho), delta=probability(delta=delta))

    @property
    def words(self) -> Words:
        """Return the name and the exact parameters."""
        return call("ApproxZCDP", rho=number(self.rho), delta=number(self.delta))

    @property
    def guarantees(self) -> Guarantees:
        return zcdp_guarantees(self.rho, self.delta)

    @property
    def tradeoff(self) -> AbstractCurve:
        return ConcentratedCurve(self.rho, self.delta)

    def pieces(self) -> Pieces:
        """Return the loss when nothing fails, and the chance that all fails.

        So delta-approximate zCDP is defined.
        """
        if self.delta == 0:
            return ({self: 1} if self.rho else {}), {}
        return ZCDP(self.rho).pieces()[0], {self.delta: 1}

    @property
    def sums(self) -> dict[str, Extended]:
        return {"rho": self.rho, "delta": self.delta}

    def allowance(self, family: Family) -> Allowance | None:
        if family == "gaussian":
            return Allowance("rho", finite_parameter(self, self.rho), self.delta)
        return Allowance(
            "epsilon", largest_parameter(ZCDP(self.rho), PureDP), self.delta
        )

    def times(self, factor: Fraction) -> "ApproxZCDP":
        return ApproxZCDP(self.rho * factor, min(self.delta * factor, Fraction(1)))

    def admits(self, loss: Loss) -> bool:
        guarantees = loss.guarantees
        return guarantees.delta <= self.delta and guarantees.rho <= self.rho


@final
@dataclass(frozen=True, repr=False)
class GaussianDP(AbstractFoldingLoss):
    """mu-Gaussian differential privacy: no worse than telling N(0,1) from N(mu,1)."""

    mu: Extended
    stated_by: ClassVar[Stated] = "mu"

    def __init__(self, mu: Any) -> None:
        fill(self, mu=distance(mu=mu))

    @property
    def rho(self) -> Extended:
        """Return mu**2 / 2, the zCDP parameter of the Gaussian mechanism."""
        return product(Fraction(1, 2), product(self.mu, self.mu))

    @property
    def words(self) -> Words:
        """Return the name and the exact parameters."""
        return call("GaussianDP", mu=number(self.mu))

    @property
    def guarantees(self) -> Guarantees:
        # no epsilon holds without a delta
        pure = Fraction(0) if self.mu == 0 else INFINITE
        return Guarantees(pure, Fraction(0), self.rho, self.mu)

    @property
    def tradeoff(self) -> AbstractCurve:
        return GaussianCurve(self.mu)

    @classmethod
    def fold(cls, group: Counts) -> "GaussianDP":
        mus = ((part.guarantees.mu, times) for part, times in group.items())
        # a product of normal pairs is a normal pair
        return cls(root(sum_times(mus, 2)))

    @property
    def sums(self) -> dict[str, Extended]:
        return {"mu_squared": product(self.mu, self.mu)}

    def allowance(self, family: Family) -> Allowance | None:
        if family == "gaussian":
            return Allowance("mu", finite_parameter(self, self.mu))
        return Allowance("epsilon", largest_parameter(self, PureDP))

    def times(self, factor: Fraction) -> "GaussianDP":
        return GaussianDP(self.mu * sqrt(factor))  # squares of mu add up

    def admits(self, loss: Loss) -> bool:
        guarantees = loss.guarantees
        # a reserve, however small, is not GDP
        return guarantees.delta == 0 and guarantees.mu <= self.mu
