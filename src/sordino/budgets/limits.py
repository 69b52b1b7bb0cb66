"""A limit of a ledger: a budget as it was stated, and the filter that keeps it.

>>> Limit.of(PureDP("0.1")).stated
'PureDP(epsilon=1/10), counted as asked'
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, Literal, Self, final

from sordino import _validate
from sordino.budgets.budget_text import budget_text, exact_text
from sordino.budgets.filter_choice import (
    concentrated_filter,
    filter_for,
    gaussian_filter,
    read_filter,
    written_limits,
)
from sordino.budgets.filters import AbstractFilter
from sordino.errors import InvalidParameter
from sordino.losses.base import PureDP
from sordino.numbers import probability

__all__ = ["Counting", "Limit", "PureDP"]

Counting = Literal["asked", "concentrated", "gaussian"]
"""What a limit adds up: budgets as asked, epsilons or else rhos, or squares of mu."""


@final
@dataclass(frozen=True)
class Limit:
    """A budget and its filter. The words are what a ledger compares when it is opened.

    The filter may hold numbers that were searched for, such as the largest rho within
    (epsilon, delta). A ledger keeps those it was made with, so that a later version
    that searches better changes nothing.
    """

    stated: str
    rule: AbstractFilter

    @classmethod
    def of(cls, budget: Any, counting: Counting = "asked", reserve: Any = 0) -> Self:
        """Return the limit of a budget, and how it is counted.

        `reserve` is for "concentrated" and "gaussian": the part of delta that is kept
        for releases over keys that are not known.
        """
        _validate.choice(tuple(_COUNTED), counting=counting)
        reserved = probability(reserve=reserve)
        if counting == "asked" and reserved:
            raise InvalidParameter(
                "reserve",
                reserve,
                'is only for counting="concentrated"',
                'Add counting="concentrated", or leave the reserve out.',
            )
        rule = _COUNTED[counting](budget, reserved)
        beside = f" beside {exact_text(reserved)}" if reserved else ""
        return cls(f"{budget_text(budget)}, counted as {counting}{beside}", rule)

    @property
    def fields(self) -> dict[str, Any]:
        """Return what a ledger keeps of it."""
        rule = self.rule
        return {
            "stated": self.stated,
            "rule": rule.rule,
            "limits": written_limits(rule),
        }

    @classmethod
    def read(cls, fields: dict[str, Any]) -> Self:
        """Return what was written."""
        return cls(fields["stated"], read_filter(fields["rule"], fields["limits"]))


_COUNTED: Final[dict[str, Callable[[Any, Any], AbstractFilter]]] = {
    "asked": lambda budget, _: filter_for(budget),
    "concentrated": concentrated_filter,
    "gaussian": gaussian_filter,
}
