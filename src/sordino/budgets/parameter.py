"""What a budget admits of a family of losses with one parameter."""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any, Final

from sordino.errors import InvalidParameter
from sordino.losses.base import Budget, Loss
from sordino.losses.root import least
from sordino.numbers import shortest

_CLOSE: Final = 2.0**-30
_WIDEST: Final = 2.0**40
"""A parameter beyond this is no protection, and is not searched for."""


def largest_parameter(budget: Budget, family: Callable[[Any], Loss]) -> Fraction:
    """Return nearly the largest parameter whose loss a budget admits."""

    def within(inverse: float) -> bool:
        return budget.admits(family(shortest(1 / inverse)))

    inverse = least(within, 1 / _WIDEST, _WIDEST, _CLOSE)
    if inverse in {1 / _WIDEST, math.inf}:
        raise InvalidParameter(
            "budget", budget, "must be positive and finite", "Try sd.PureDP(1)."
        )
    return shortest(1 / inverse)
