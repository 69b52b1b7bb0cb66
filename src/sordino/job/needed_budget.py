"""The budget that brings a column within a width: a price, question the other way."""

from collections.abc import Callable
from fractions import Fraction
from typing import Final

from sordino.errors import InvalidQuery
from sordino.job.job_desk import JobDesk
from sordino.job.planned_release import PlannedRelease
from sordino.losses.base import Loss
from sordino.planning.price import Price
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
    price = _prices(desk, plan)
    if column not in price(Fraction(1)).errors:
        raise unknown("column", column, price(Fraction(1)).errors)

    def is_within(times: Fraction) -> bool:
        return price(times).errors[column].half_width <= width

    return price(_least(is_within)).loss


def _prices(desk: JobDesk, plan: PlannedRelease) -> Callable[[Fraction], Price]:
    """Return what prices a release at so many times its budget."""
    question = desk.question(plan)
    requests, budget = question.requests, question.budget
    if not isinstance(requests, Request) or not isinstance(budget, Loss):
        raise InvalidQuery(
            "only one request with a budget that is a loss can be made more exact",
            "Change the budget by hand, and price it again",
        )
    return lambda times: desk.session.price(
        requests, budget.times(times), confidence=plan.confidence
    )


def _least(is_enough: Callable[[Fraction], bool]) -> Fraction:
    """Return the least factor that is enough, to one part in 4096 above."""
    high = Fraction(1)
    while not is_enough(high):
        high *= 2
        if high > _MOST:
            raise InvalidQuery("no budget is enough", "Ask with other limits")
    low = high / 2
    while is_enough(low) and low > Fraction(1, _MOST):
        low, high = low / 2, low
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    return high
