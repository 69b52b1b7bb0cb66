"""Whether a charge is no less than what it says was asked and is known of its loss.

>>> from sordino.budgets.filter_sums import PureSum
>>> fields = {"asked": "PureDP(epsilon=1/4)", "known": {
...     "epsilon": "1/4", "delta": "0/1", "rho": "1/32", "mu": "sqrt(1/16)"}}
>>> [pays_what_it_says(fields, [(PureSum(Fraction(1)), Charge.read({"epsilon": paid}))])
...     for paid in ("1/4", "1/5")]
[True, False]
"""

import re
from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Any, Final, TypeAlias

from sordino.budgets.charge import Amount, Charge
from sordino.budgets.filters import AbstractFilter
from sordino.errors import InvalidParameter
from sordino.losses.base import Loss, PureDP
from sordino.losses.closed import ZCDP, ApproxDP, ApproxZCDP, GaussianDP
from sordino.losses.guarantees import Guarantees
from sordino.numbers import INFINITE, Exact, Extended, sqrt

Rules: TypeAlias = Iterable[tuple[AbstractFilter, Charge]]
"""Filters, and what was charged by each."""
_LOSSES: Final[dict[str, Callable[..., Loss]]] = {
    kind.__name__: kind for kind in (PureDP, ApproxDP, ZCDP, ApproxZCDP, GaussianDP)
}
"""Budgets that a filter may charge as they were asked for."""
_ROOT: Final = "sqrt("
_NUMBER: Final = re.compile(r"((?:sqrt\(){0,9})([0-9]+(?:/[1-9][0-9]*)?)(\){0,9})")
_ASKED: Final = re.compile(r"([A-Za-z]+)\((.*)\)")
_ROUNDED: Final = 1 - Fraction(1, 2**40)
"""Roots and what is implied were rounded up, by other versions a little differently."""


def pays_what_it_says(fields: dict[str, Any], rules: Rules) -> bool:
    """Say whether each amount is at least what the rule of its limit asks for.

    For any charge: what is recomputed is the charge of the guarantees that stand in
    the record. Whether the release really has these guarantees is not seen here. A
    budget that is no loss, or one put together, is taken for its guarantees alone.
    """
    try:
        numbers: Any = {name: _number(text) for name, text in fields["known"].items()}
        known = Guarantees(**numbers)
        budget = _budget(fields["asked"])
    except (ArithmeticError, InvalidParameter, TypeError, ValueError):
        return False
    return all(_is_enough(rule, paid, (budget, known)) for rule, paid in rules)


def _is_enough(
    rule: AbstractFilter, paid: Charge, stated: tuple[Loss | None, Guarantees]
) -> bool:
    """Say whether a charge is at least that of a budget and of guarantees."""
    budget, known = stated
    due = rule.charge_within(budget, known)
    if due is None:  # of a budget that cannot be read back
        return budget is None
    return all(map(_reaches, paid.amounts, due.amounts))


def _reaches(paid: Amount, due: Amount) -> bool:
    """Say whether an amount is another, but for what rounding may differ."""
    if paid is INFINITE or due is INFINITE:
        return paid is INFINITE
    return paid >= due * _ROUNDED


def _budget(text: str) -> Loss | None:
    """Return the loss that was asked for, None where it was something else."""
    match = _ASKED.fullmatch(text)
    if match is None or match[1] not in _LOSSES:
        return None
    pairs = (part.partition("=") for part in match[2].split(", "))
    return _LOSSES[match[1]](**{name: _number(number) for name, _, number in pairs})


def _number(text: str) -> Extended:
    """Return a number as it was written: a rational, roots of one, or infinity."""
    if text == "inf":
        return INFINITE
    match = _NUMBER.fullmatch(text)
    if match is None or len(match[1]) // len(_ROOT) != len(match[3]):
        raise ValueError("no number is written so")
    value: Exact = Fraction(match[2])
    for _ in match[3]:
        value = sqrt(value)
    return value
