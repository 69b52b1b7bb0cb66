"""Losses as numbers, which stand beside sentences for programs that watch.

>>> from sordino.losses.closed import ApproxDP
>>> quantities(ApproxDP("1/3", 0))["exact"]
{'epsilon': '1/3', 'delta': '0/1'}
"""

import math
from collections.abc import Callable
from dataclasses import asdict
from typing import Any, Final

from sordino.budgets.budget_text import exact_text
from sordino.losses.base import Loss
from sordino.numbers import up

_TERMS: Final = ("epsilon", "mu", "rho")
"""In the order in which a headline chooses among them."""


def quantities(loss: Loss, rounded: Callable[[Any], float] = up) -> dict[str, Any]:
    """Return what holds of a loss: doubles, rounded up, and beside them exact texts.

    They are in the terms that its headline has: a loss in terms of mu has no epsilon.
    """
    guarantees = asdict(loss.guarantees)
    terms = [name for name in _TERMS if guarantees[name] != math.inf][:1]
    finite = {name: guarantees[name] for name in (*terms, "delta")}
    exact = {name: exact_text(value) for name, value in finite.items()}
    return {**{name: rounded(value) for name, value in finite.items()}, "exact": exact}
