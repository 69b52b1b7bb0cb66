"""Exact charges by coordinate, and what of a budget a family of noise may spend.

Laplace noise and choices spend epsilon; Gaussian noise spends the square of mu, or rho.

>>> from sordino.losses.closed import ApproxZCDP
>>> ApproxZCDP("1/8", "1e-6").allowance("gaussian")
Allowance(parameter='rho', amount=Fraction(1, 8), delta=Fraction(1, 1000000))
>>> third = Charge(("epsilon",), (Fraction(1, 3),))
>>> third.plus(third).plus(third).texts()
{'epsilon': '1/1'}

Kernel: mathematics.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, Literal, Self, TypeAlias, final

from sordino.errors import InvalidParameter
from sordino.losses.curves.points import find_least
from sordino.numbers import INFINITE, Exact, Infinity, shortest

Family: TypeAlias = Literal["laplace", "gaussian"]
"""A family of noise."""

_CLOSE: Final = 2.0**-30
_WIDEST: Final = 2.0**40
"""A parameter beyond this protects nobody, and is not searched for."""


@final
@dataclass(frozen=True)
class Allowance:
    """How much of one parameter may be spent, and with which chance of failure.

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


def largest_parameter(budget: Any, family: Callable[[Any], Any]) -> Fraction:
    """Return nearly the largest parameter whose loss a budget admits."""

    def within(smallness: float) -> bool:
        return bool(budget.admits(family(shortest(1 / smallness))))

    inverse = find_least(within, 1 / _WIDEST, _WIDEST, _CLOSE)
    if inverse in {1 / _WIDEST, math.inf}:
        raise InvalidParameter(
            "budget", budget, "allows nothing, or everything", "Try sd.PureDP(1)."
        )
    return shortest(1 / inverse)  # the very parameter that was seen to be admitted


Amount: TypeAlias = Fraction | Infinity
"""A rational, or infinity where nothing is known."""

LONGEST: Final = 2048
"""Binary digits that the denominator of a sum may have before charges are rounded."""
GRID: Final = 2**256
"""Charges that would make a sum too long are rounded up to a multiple of 1/GRID."""


@final
@dataclass(frozen=True)
class Charge:
    """An amount for each coordinate that a filter counts."""

    coordinates: tuple[str, ...]
    amounts: tuple[Amount, ...]

    def plus(self, other: "Charge") -> "Charge":
        """Return the exact sum."""
        return Charge(
            self.coordinates, tuple(map(add_amounts, self.amounts, other.amounts))
        )

    def times(self, count: int) -> "Charge":
        """Return so many of it."""
        return Charge(
            self.coordinates,
            tuple(each if each is INFINITE else each * count for each in self.amounts),
        )

    def shorten(self, spent: "Charge") -> "Charge":
        """Return this charge, rounded up where its sum with `spent` would grow long.

        No sum then has a denominator of more than LONGEST and 256 binary digits, so a
        charge takes constant time however many came before. Tenths, thirds, powers of
        ten and doubles are never rounded.
        """
        return Charge(
            self.coordinates, tuple(map(_shorten_sum, self.amounts, spent.amounts))
        )

    def texts(self) -> dict[str, str]:
        """Return each amount as "numerator/denominator", or "inf"."""
        return {
            name: amount_text(amount)
            for name, amount in zip(self.coordinates, self.amounts, strict=True)
        }

    @classmethod
    def read(cls, texts: Mapping[str, str]) -> Self:
        """The inverse of `texts`."""
        amounts = (INFINITE if t == "inf" else Fraction(t) for t in texts.values())
        return cls(tuple(texts), tuple(amounts))

    @classmethod
    def zero(cls, coordinates: tuple[str, ...]) -> Self:
        """Return a charge of zero."""
        return cls(coordinates, (Fraction(0),) * len(coordinates))


def amount_text(amount: Amount) -> str:
    """Return "numerator/denominator", or "inf"."""
    if amount is INFINITE:
        return "inf"
    return f"{amount.numerator}/{amount.denominator}"


def add_amounts(first: Amount, second: Amount) -> Amount:
    """Return the sum, infinite where either is."""
    if first is INFINITE or second is INFINITE:
        return INFINITE
    return first + second


def _shorten_sum(amount: Amount, spent: Amount) -> Amount:
    exact = add_amounts(amount, spent)
    if amount is INFINITE or exact is INFINITE:
        return amount
    if exact.denominator.bit_length() <= LONGEST:
        return amount
    # upwards: sums rounded down would pass the limit
    return Fraction(math.ceil(amount * GRID), GRID)
