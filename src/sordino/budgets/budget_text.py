"""Budgets as texts with exact numbers, which a ledger keeps."""

from dataclasses import fields, is_dataclass
from fractions import Fraction
from typing import Any


def budget_text(budget: Any) -> str:
    """Return a budget with exact numbers.

    >>> from sordino.budgets.risk import Advantage
    >>> budget_text(Advantage("0.1"))
    'Advantage(most=1/10)'
    """
    if not is_dataclass(budget):
        return repr(budget)
    named = (
        f"{field.name}={exact_text(getattr(budget, field.name))}"
        for field in fields(budget)
    )
    return f"{type(budget).__name__}({', '.join(named)})"


def exact_text(value: Any) -> str:
    """Return a parameter exactly: "1/10", "sqrt(2)" or "inf".

    >>> exact_text(Fraction(1, 10))
    '1/10'
    """
    if isinstance(value, Fraction):
        return f"{value.numerator}/{value.denominator}"
    return str(value)
