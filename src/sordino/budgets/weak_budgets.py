"""Budgets that protect nobody: they are accepted, and said in odds.

A promise that fails for more than 1 person in 1000, or beyond an epsilon of 10, says
little about anybody.
"""

import math
import warnings
from fractions import Fraction
from typing import Any, Final

from sordino.budgets.risk import Advantage, ErrorRates
from sordino.errors import WeakBudget
from sordino.losses.base import Loss

EPSILON: Final = 10
DELTA: Final = 1e-3
_ERROR: Final = 1e-9
"""Bounds are told upwards: this far a delta may lie above what was stated."""
_OUT_OF: Final = 100
LIKELY: Final = 0.5


def warn_of_weak(budget: Any, level: int) -> None:
    """Warn of a budget that promises little, in the caller's line.

    That is a loss whose delta at epsilon 10 is above 1e-3, and a risk within which an
    attacker with 1 false alarm in 100 finds more people than not.
    """
    if _is_weak(budget):
        warnings.warn(weakness(budget), WeakBudget, stacklevel=level + 1)


def _is_weak(budget: Any) -> bool:
    """Tell whether a budget promises little; other values are refused elsewhere."""
    match budget:
        case Advantage() | ErrorRates():
            return budget.tpr_at(Fraction(1, _OUT_OF)) > LIKELY
        case Loss():
            return float(budget.delta_at(EPSILON)) > DELTA + _ERROR
        case _:
            return False


def weakness(budget: Loss | Advantage | ErrorRates) -> str:
    """Return what a budget allows an attacker, in odds.

    >>> from sordino.losses.closed import ApproxDP
    >>> "find a person up to 53 times in 100" in weakness(ApproxDP(1, "0.5"))
    True
    """
    right = math.ceil(float(budget.tpr_at(1 / _OUT_OF)) * _OUT_OF - _ERROR)
    usual = _USUAL_LOSS if isinstance(budget, Loss) else _USUAL_RISK
    return (
        f"{budget!r} promises little: all releases within it together let an "
        f"attacker who is allowed 1 false alarm in {_OUT_OF} find a person up to "
        f"{right} times in {_OUT_OF}. {usual}"
    )


_USUAL_LOSS: Final = (
    f"Usual budgets have an epsilon of up to {EPSILON} and a delta far below 1 in the "
    "number of people."
)
_USUAL_RISK: Final = "Usual risks allow 2 to 10 times."
