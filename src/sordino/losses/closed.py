"""Losses with a closed form: their headline parameters, exact."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, final

from sordino.numbers import Exact, distance, probability


@final
@dataclass(frozen=True)
class PureDP:
    """epsilon-differential privacy."""

    epsilon: Exact | float

    def __init__(self, epsilon: Any) -> None:
        """Read the parameter exactly."""
        object.__setattr__(self, "epsilon", distance(epsilon=epsilon))


@final
@dataclass(frozen=True)
class ApproxDP:
    """(epsilon, delta)-differential privacy."""

    epsilon: Exact | float
    delta: Fraction

    def __init__(self, epsilon: Any, delta: Any) -> None:
        """Read the parameters exactly."""
        object.__setattr__(self, "epsilon", distance(epsilon=epsilon))
        object.__setattr__(self, "delta", probability(delta=delta))


@final
@dataclass(frozen=True)
class ZCDP:
    """rho-zero-concentrated differential privacy."""

    rho: Exact | float

    def __init__(self, rho: Any) -> None:
        """Read the parameter exactly."""
        object.__setattr__(self, "rho", distance(rho=rho))


@final
@dataclass(frozen=True)
class ApproxZCDP:
    """delta-approximate rho-zero-concentrated differential privacy."""

    rho: Exact | float
    delta: Fraction

    def __init__(self, rho: Any, delta: Any) -> None:
        """Read the parameters exactly."""
        object.__setattr__(self, "rho", distance(rho=rho))
        object.__setattr__(self, "delta", probability(delta=delta))


@final
@dataclass(frozen=True)
class GaussianDP:
    """mu-Gaussian differential privacy: no worse than telling N(0,1) from N(mu,1)."""

    mu: Exact | float

    def __init__(self, mu: Any) -> None:
        """Read the parameter exactly."""
        object.__setattr__(self, "mu", distance(mu=mu))

    @property
    def rho(self) -> Exact | float:
        """Return mu**2 / 2, the zCDP parameter of the Gaussian mechanism."""
        return self.mu**2 / 2
