"""Functions that sqlglot knows by no name of its own."""

from collections.abc import Callable, Mapping
from typing import Final

from sqlglot import exp

from sordino.query.sql.reading import Clause
from sordino.query.sql.scope import AbstractScope, Rule, Value
from sordino.query.sql.unknown import unknown_part
from sordino.schema import NUMBERS


def written_number(clause: Clause, scope: AbstractScope) -> int | float:
    """Return a number that is written in the text, refusing all else."""
    value = scope.value(clause)
    if value.type not in NUMBERS or value.constant is None:
        raise clause.refusal(
            "a bound must be a number written here: one from a column would be private",
            "Write the number, or give bounds=.",
        )
    number: int | float = value.constant
    return number


def check_order(
    clause: Clause, low: float, high: float
) -> tuple[int | float, int | float]:
    """Return two bounds, refusing them the wrong way round."""
    if low >= high:
        raise clause.refusal(
            f"the bounds are the wrong way round: {low!r} is not below {high!r}",
            "Exchange or widen them.",
        )
    return low, high


def _clamp(clause: Clause, scope: AbstractScope) -> Value:
    """Return CLAMP(x, low, high): missing stays missing."""
    parts = clause.each("expressions")
    if len(parts) != 3:
        raise clause.refusal(
            "CLAMP takes a value and two bounds", "Write CLAMP(x, 0, 9)."
        )
    value = scope.value(parts[0])
    if value.type not in NUMBERS:
        raise parts[0].refusal(
            f"CLAMP takes numbers, and this is of type {value.type}",
            "Clamp a number, or declare the column's type at its table.",
        )
    low, high = check_order(
        clause, *(written_number(part, scope) for part in parts[1:])
    )
    return scope.value_of(value.expression.clip(low, high))


_NAMED: Final[Mapping[str, Callable[[Clause, AbstractScope], Value]]] = {
    "clamp": _clamp,
}


def _call(clause: Clause, scope: AbstractScope) -> Value:
    """Return a function by its name."""
    known = _NAMED.get(str(clause.scalar("this")).lower())
    if known is None:
        raise unknown_part(clause)
    return known(clause, scope)


RULES: Final[Mapping[type[exp.Expr], Rule]] = {exp.Anonymous: _call}
