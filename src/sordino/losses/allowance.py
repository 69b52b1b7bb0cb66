"""What a budget may spend on a family of noise, in the parameter that family counts.

Laplace noise and choices spend epsilon; Gaussian noise spends the square of mu, or rho.

>>> from sordino.losses.closed import ApproxZCDP
>>> ApproxZCDP("1/8", "1e-6").allowance("gaussian")
Allowance(parameter='rho', amount=Fraction(1, 8), delta=Fraction(1, 1000000))
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, Literal, Protocol, TypeAlias, final

from sordino.curves.search import find_least
from sordino.errors import InvalidParameter
from sordino.numbers import Exact, shortest

Family: TypeAlias = Literal["laplace", "gaussian"]
"""A family of noise."""

_CLOSE: Final = 2.0**-30
_WIDEST: Final = 2.0**40
"""A parameter beyond this protects nobody, and is not searched for."""


class AdmittingBudget(Protocol):
    """What says of a loss whether it is covered."""

    def admits(self, loss: Any) -> bool:
        """Say whether this certainly covers a loss."""


@final
@dataclass(frozen=True)
class Allowance:
    """How much of one parameter may be spent, and the chance of failing beside it.

    For Gaussian noise an epsilon stands for all noise within (epsilon, delta)-DP.
    """

    parameter: Literal["epsilon", "rho", "mu"]
    amount: Exact
    delta: Fraction = Fraction(0)


def finite_parameter(budget: object, parameter: Exact | float) -> Exact:
    """Return a parameter of a budget that noise can be bought with."""
    if isinstance(parameter, float) or parameter == 0:
        raise InvalidParameter(
            "budget", budget, "must be positive and finite", "Try sd.PureDP(1)."
        )
    return parameter


def largest_parameter(
    budget: AdmittingBudget, family: Callable[[Any], Any]
) -> Fraction:
    """Return nearly the largest parameter whose loss a budget admits."""

    def within(smallness: float) -> bool:
        return budget.admits(family(shortest(1 / smallness)))

    inverse = find_least(within, 1 / _WIDEST, _WIDEST, _CLOSE)
    if inverse in {1 / _WIDEST, math.inf}:
        raise InvalidParameter(
            "budget", budget, "allows nothing, or everything", "Try sd.PureDP(1)."
        )
    return shortest(1 / inverse)
