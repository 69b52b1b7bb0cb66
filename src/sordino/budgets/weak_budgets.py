"""Budgets that protect nobody: they are accepted, and said in odds.

A promise that fails for more than 1 person in 1000, or beyond an epsilon of 10, says
little about anybody.
"""

import math
import warnings
from typing import Any, Final

from sordino.errors import WeakBudget
from sordino.losses.base import Loss

EPSILON: Final = 10
DELTA: Final = 1e-3
_ERROR: Final = 1e-9
"""Bounds are told upwards: this far a delta may lie above what was stated."""
_OUT_OF: Final = 100


def warn_of_weak(budget: Any, level: int) -> None:
    """Warn of a loss whose delta at epsilon 10 is above 1e-3, in the caller's line."""
    if isinstance(budget, Loss) and float(budget.delta_at(EPSILON)) > DELTA + _ERROR:
        warnings.warn(weakness(budget), WeakBudget, stacklevel=level + 1)


def weakness(budget: Loss) -> str:
    """Return what a budget allows an attacker, in odds.

    >>> from sordino.losses.closed import ApproxDP
    >>> "find a person up to 53 times in 100" in weakness(ApproxDP(1, "0.5"))
    True
    """
    right = math.ceil(float(budget.tpr_at(1 / _OUT_OF)) * _OUT_OF)
    return (
        f"{budget!r} promises little: all releases within it together let an "
        f"attacker who is allowed 1 false alarm in {_OUT_OF} find a person up to "
        f"{right} times in {_OUT_OF}. Usual budgets have an epsilon of up to "
        f"{EPSILON} and a delta far below 1 in the number of people."
    )
