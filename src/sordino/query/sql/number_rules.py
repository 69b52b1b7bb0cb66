"""Arithmetic of rows, as SQL has it.

Integers that leave 64 bits are missing, where SQL fails. What is divided by is a number
written in the text, or NULLIF(x, 0): dialects disagree on a division by zero.
"""

import operator
from collections.abc import Callable, Sequence
from typing import Any, Final

from sqlglot import exp

from sordino.expressions.language import Expression, lit
from sordino.query.sql.date_rules import earlier_moment, later_moment
from sordino.query.sql.leaf_rules import whole_number
from sordino.query.sql.reading import Clause
from sordino.query.sql.scope import AbstractScope, Rule, Value
from sordino.schema import NUMBERS

_DOUBLE: Final = "Write CAST(... AS DOUBLE) around it."


def numbers(clause: Clause, values: Sequence[Value]) -> tuple[bool, bool]:
    """Return whether numbers meet in f64, and whether they are decimals in SQL."""
    for value in values:
        if value.type not in NUMBERS:
            raise clause.refusal(
                f"{clause.short_text} takes numbers, and one is of type {value.type}",
                "Cast it, or declare the column's type at its table.",
            )
    real = any(value.type == "f64" for value in values)
    doubles = any(value.type == "f64" and not value.decimal for value in values)
    return real, real and not doubles


def settled_value(clause: Clause, value: Value) -> Value:
    """Refuse a computed decimal where its last digit decides."""
    if value.decimal and value.constant is None:
        raise clause.refusal(
            "this is an exact decimal in SQL, and a double here, so its last digit "
            "may differ",
            _DOUBLE,
        )
    return value


def _arithmetic(operation: Callable[[Any, Any], Any]) -> Rule:
    """Return the rule of a sum, a difference or a product."""

    def rule(clause: Clause, scope: AbstractScope) -> Value:
        left = scope.value(clause.take("this"))
        right = scope.value(clause.take("expression"))
        real, decimal = numbers(clause, (left, right))
        if real and left.bare and right.bare:
            raise clause.refusal(
                "this is arithmetic of numbers alone, the same for every row",
                "Write its result.",
            )
        return scope.value_of(
            operation(left.expression, right.expression), decimal=decimal
        )

    return rule


def _plus(clause: Clause, scope: AbstractScope) -> Value:
    """Return a sum, or a later day."""
    later = later_moment(clause, scope)
    return _arithmetic(operator.add)(clause, scope) if later is None else later


def _minus(clause: Clause, scope: AbstractScope) -> Value:
    """Return a difference, or an earlier day, or a number of days."""
    earlier = earlier_moment(clause, scope)
    return _arithmetic(operator.sub)(clause, scope) if earlier is None else earlier


def _divisor(clause: Clause, scope: AbstractScope) -> Value:
    """Return what is divided by, refusing what may be zero."""
    inner = clause.bare()
    value = scope.value(clause)
    numbers(clause, (value,))
    never = value.constant is not None and value.constant != 0
    if not (never or _is_guarded(inner, scope) or scope.counts(inner)):
        raise clause.refusal(
            "dialects disagree on what a division by zero is, and this may be zero",
            f"Write NULLIF({clause.short_text}, 0), which makes it NULL.",
        )
    return value


def _is_guarded(clause: Clause, scope: AbstractScope) -> bool:
    """Tell whether a divisor is NULLIF(x, 0), which is never zero."""
    if clause.kind is not exp.Nullif:
        return False
    zero = scope.value(clause.take("expression")).constant
    return zero is not None and zero == 0


def _divide(clause: Clause, scope: AbstractScope) -> Value:
    """Return a quotient: of integers cut towards zero where the dialect has it so."""
    dividend = scope.value(clause.take("this"))
    divisor = _divisor(clause.take("expression"), scope)
    clause.scalar("typed"), clause.scalar("safe")
    real, _ = numbers(clause, (dividend, divisor))
    if clause.dialect.whole_division and not real:
        return scope.value_of(dividend.expression.quotient(divisor.expression))
    decimal = clause.dialect.whole_division and (dividend.decimal or divisor.decimal)
    return scope.value_of(dividend.expression / divisor.expression, decimal=decimal)


def _whole(build: Callable[[Expression, Expression], Expression]) -> Rule:
    """Return the rule of a quotient or a remainder of integers."""

    def rule(clause: Clause, scope: AbstractScope) -> Value:
        dividend = scope.value(clause.take("this"))
        divisor = _divisor(clause.take("expression"), scope)
        if numbers(clause, (dividend, divisor))[0]:
            raise clause.refusal(
                "whole division and remainders of fractions differ between dialects",
                "Write FLOOR(a / b).",
            )
        return scope.value_of(build(dividend.expression, divisor.expression))

    return rule


def _negative(clause: Clause, scope: AbstractScope) -> Value:
    """Return a negative; that of a literal is a literal."""
    value = scope.value(clause.take("this"))
    numbers(clause, (value,))
    if value.constant is not None:
        return scope.value_of(lit(-value.constant), decimal=value.decimal)
    return scope.value_of(-value.expression, decimal=value.decimal)


def _absolute(clause: Clause, scope: AbstractScope) -> Value:
    """Return a size."""
    value = scope.value(clause.take("this"))
    numbers(clause, (value,))
    return scope.value_of(value.expression.abs(), decimal=value.decimal)


def _down(clause: Clause, scope: AbstractScope) -> Value:
    """Return the whole number below, which SQL has as a double."""
    value = settled_value(clause, scope.value(clause.take("this")))
    numbers(clause, (value,))
    return scope.value_of(value.expression.cast("f64").round_down(1.0))


def _up(clause: Clause, scope: AbstractScope) -> Value:
    """Return the whole number above, which SQL has as a double."""
    value = settled_value(clause, scope.value(clause.take("this")))
    numbers(clause, (value,))
    return scope.value_of(-((-value.expression.cast("f64")).round_down(1.0)))


def _round(clause: Clause, scope: AbstractScope) -> Value:
    """Return a number with fewer digits, halves away from zero."""
    value = settled_value(clause, scope.value(clause.take("this")))
    numbers(clause, (value,))
    if value.type == "f64" and not clause.dialect.halves_away:
        raise clause.refusal(
            f"ROUND takes halves of doubles to even numbers in {clause.dialect.name}",
            "Write FLOOR(x + 0.5).",
        )
    digits = clause.some("decimals")
    clause.scalar("casts_non_integer_decimals")
    places = 0 if digits is None else whole_number(digits, "the number of digits")
    return scope.value_of(value.expression.round(places))


def _of_number(build: Callable[[Expression], Expression]) -> Rule:
    """Return the rule of a function of one number."""

    def rule(clause: Clause, scope: AbstractScope) -> Value:
        value = scope.value(clause.take("this"))
        numbers(clause, (value,))
        return scope.value_of(build(value.expression))

    return rule


def _power(clause: Clause, scope: AbstractScope) -> Value:
    """Return a power whose exponent is written in the text."""
    value = scope.value(clause.take("this"))
    exponent = scope.value(clause.take("expression"))
    numbers(clause, (value, exponent))
    if exponent.constant is None:
        raise clause.refusal(
            "the exponent of POWER must be a number written here",
            "Write POWER(x, 2), or EXP(y * LN(x)) for another column y.",
        )
    return scope.value_of(value.expression.power(exponent.constant))


RULES: Final[dict[type[exp.Expr], Rule]] = {
    exp.Add: _plus,
    exp.Sub: _minus,
    exp.Mul: _arithmetic(operator.mul),
    exp.Div: _divide,
    exp.IntDiv: _whole(lambda dividend, divisor: dividend.quotient(divisor)),
    exp.Mod: _whole(lambda dividend, divisor: dividend.remainder(divisor)),
    exp.Neg: _negative,
    exp.Abs: _absolute,
    exp.Floor: _down,
    exp.Ceil: _up,
    exp.Round: _round,
    exp.Sqrt: _of_number(lambda number: number.sqrt()),
    exp.Exp: _of_number(lambda number: number.exp()),
    exp.Ln: _of_number(lambda number: number.log()),
    exp.Pow: _power,
}
