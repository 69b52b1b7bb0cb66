"""The least noise within a loss: exact where the headline decides, else searched."""

from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Any, TypeVar

from sordino.curves.search import find_least
from sordino.errors import InvalidParameter
from sordino.losses.base import Budget, Loss
from sordino.losses.guarantees import Guarantees
from sordino.mechanisms.mechanism import AbstractMechanism
from sordino.numbers import INFINITE, Exact, Extended, shortest, up

Mechanism = TypeVar("Mechanism", bound=AbstractMechanism)

_NOTICEABLE = 1 - Fraction(1, 2**20)
_CLOSE = 2.0**-30
_WIDEST = 2.0**100


def least_noise(
    build: Callable[[Exact], Mechanism],
    loss: Budget,
    d_in: Any,
    guesses: Iterable[Extended],
) -> Mechanism:
    """Return the mechanism of least scale whose map at d_in is within the loss.

    A guess that is within, while a scale one part in a million less is not, is the
    answer and exact; else the least scale is searched to one part in 2**30.
    """

    def within(scale: Exact) -> bool:
        return build(scale).check(d_in, loss)

    for guess in sorted(g for g in guesses if g is not INFINITE and g > 0):
        if within(guess):
            if not within(guess * _NOTICEABLE):
                return build(guess)
            return build(_least_scale(within, up(guess)))
    start = 1.0
    while not within(shortest(start)):
        start *= 2
        if start > _WIDEST:
            raise InvalidParameter(
                "loss",
                loss,
                "cannot be met by any scale of this noise",
                "Use a larger loss, or Laplace noise for a pure one.",
            )
    return build(_least_scale(within, start))


def _least_scale(within: Callable[[Exact], bool], high: float) -> Exact:
    """Find the least scale below one that is within: bracket it, then halve."""
    low = high / 2
    while within(shortest(low)) and low > 1 / _WIDEST:
        low, high = low / 2, low
    return shortest(find_least(lambda x: within(shortest(x)), low, high, _CLOSE))


def guarantees_of(budget: Any) -> Guarantees:
    """Return the headline parameters of a budget; anything else is refused.

    A risk has none: infinite parameters give no guess, and the scale is searched.
    """
    if isinstance(budget, Loss):
        return budget.guarantees
    if isinstance(budget, Budget):
        return Guarantees(INFINITE, Fraction(0), INFINITE, INFINITE)
    raise InvalidParameter(
        "loss", budget, "must be a loss or a risk", "Try sd.PureDP(1)."
    )


def positive_distance(distance: Extended, d_in: Any) -> Exact:
    """Return a distance that noise can answer for: positive and finite."""
    if distance is INFINITE or distance <= 0:
        raise InvalidParameter(
            "d_in",
            d_in,
            "must be positive and finite",
            "Say how far one unit can move the answer, such as d_in=1.",
        )
    return distance


def scale_guess(change: Exact, parameter: Extended) -> Extended:
    """Return change / parameter, infinite where the parameter gives no guess."""
    if parameter is INFINITE or parameter == 0:
        return INFINITE
    return change / parameter
