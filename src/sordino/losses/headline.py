"""The headline numbers of a loss, in the terms of the budget it was bought with.

>>> from sordino.losses.closed import ApproxDP, GaussianDP
>>> headline(ApproxDP("1/3", "5e-7")), headline(GaussianDP("0.25"))
('epsilon = 0.3334, delta = 5e-07', 'mu = 0.25')
>>> headline(GaussianDP("0.25"), ApproxDP(2, "1e-6"))
'epsilon = 1.061 at delta = 1e-06 (mu = 0.25)'
"""

import math
from decimal import ROUND_CEILING, Decimal
from fractions import Fraction

from sordino.losses.base import Budget, Loss
from sordino.numbers import Exact, up
from sordino.numbers.precision import decimals

_DIGITS = 4
_NOTED_DELTA = Fraction(1, 10**6)


def headline(loss: Loss, budget: Budget | None = None) -> str:
    """Return a loss as its budget would put it, and as what it is; rounded up."""
    own = _own_terms(loss)
    terms = _budget_terms(loss, budget)
    return f"{terms} ({own})" if terms else own


def _own_terms(loss: Loss) -> str:
    """Return the first parameter that holds, with the reserve delta if there is one."""
    guarantees = loss.guarantees
    reserve = f", delta = {decimal_above(guarantees.delta)}" if guarantees.delta else ""
    named = {"epsilon": guarantees.epsilon, "mu": guarantees.mu, "rho": guarantees.rho}
    for name, value in named.items():
        if value != math.inf:
            return f"{name} = {decimal_above(value)}{reserve}"
    return _epsilon_text(loss, _NOTED_DELTA)


def _budget_terms(loss: Loss, budget: Budget | None) -> str:
    """Return the loss in the terms of a budget, "" where its own are the same."""
    guarantees = loss.guarantees
    match budget.stated_by if budget else "itself":
        case "advantage":
            return f"advantage = {decimal_above(loss.advantage())}"
        case "epsilon" if guarantees.epsilon == math.inf and isinstance(budget, Loss):
            delta = budget.guarantees.delta
            return _epsilon_text(loss, delta) if 0 < delta < 1 else ""
        case "rho" if (
            guarantees.rho < math.inf != min(guarantees.epsilon, guarantees.mu)
        ):
            return f"rho = {decimal_above(guarantees.rho)}"
        case "mu" if guarantees.mu < math.inf and guarantees.epsilon < math.inf:
            return f"mu = {decimal_above(guarantees.mu)}"
        case _:
            return ""


def _epsilon_text(loss: Loss, delta: Fraction) -> str:
    """Return epsilon at a delta."""
    epsilon = float(loss.epsilon_at(delta))
    return f"epsilon = {decimal_above(epsilon)} at delta = {decimal_above(delta)}"


def decimal_above(value: Exact | float) -> str:
    """Return four digits, rounded up."""
    if value == math.inf:
        return "inf"
    ratio = value if isinstance(value, Fraction) else Fraction(up(value))
    with decimals(_DIGITS, ROUND_CEILING):
        rounded = Decimal(ratio.numerator) / Decimal(ratio.denominator)
    return f"{float(rounded):.{_DIGITS}g}"
