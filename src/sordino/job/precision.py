"""The budget that brings a column within a width: the price asked the other way round."""

from fractions import Fraction
from typing import Any, Final

from sordino.errors import InvalidQuery
from sordino.job.desk import JobDesk
from sordino.job.plan import PlannedRelease
from sordino.losses.base import Loss
from sordino.query.request import Request
from sordino.schema import unknown

_STEPS: Final = 12
_MOST: Final = 2**20
"""Times the budget that is stated: who needs more asks another question."""


def least_budget(
    desk: JobDesk, plan: PlannedRelease, column: str, width: Fraction
) -> Loss:
    """Return the loss of a release that has a column within a width.

    It is the stated budget, so many times over as it takes, to one part in 4096.
    """
    asked = desk.question(plan)
    if not isinstance(asked.requests, Request) or not isinstance(asked.budget, Loss):
        raise InvalidQuery(
            "only one request with a budget that is a loss can be made more exact",
            "Change the budget by hand, and price it again",
        )
    request, budget = asked.requests, asked.budget

    def price(times: Fraction) -> Any:
        return desk.session.price(
            request, budget.times(times), confidence=plan.confidence
        )

    if column not in price(Fraction(1)).errors:
        raise unknown("column", column, price(Fraction(1)).errors)

    def is_within(times: Fraction) -> bool:
        return bool(price(times).errors[column].half_width <= width)

    high = Fraction(1)
    while not is_within(high):
        high *= 2
        if high > _MOST:
            raise InvalidQuery(
                f"no budget brings {column!r} within {float(width):g}",
                "Ask for less, or with other limits",
            )
    low = high / 2
    while is_within(low) and low > Fraction(1, _MOST):
        low, high = low / 2, low
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (low, middle) if is_within(middle) else (middle, high)
    loss: Loss = price(high).loss
    return loss
