"""Comparisons, truths, choices and casts.

Casts are understood as far as every dialect makes the same value of the same value.

| from | to | |
|---|---|---|
| a text written in the statement | DATE, TIMESTAMP, numbers, BOOLEAN | what it says |
| i64 | DOUBLE, VARCHAR, BOOLEAN | |
| bool | BIGINT, DOUBLE, VARCHAR | |
| date | TIMESTAMP, VARCHAR | |
| time | DATE | |
| FLOOR, CEIL, ROUND | BIGINT | other fractions are rounded differently |
"""

import operator
from collections.abc import Callable, Sequence
from itertools import starmap
from typing import Any, Final

from sqlglot import exp

from sordino.expressions.language import Expression, lit, when
from sordino.expressions.schema import NUMBERS
from sordino.query.sql.number_rules import settled_value
from sordino.query.sql.reading import Clause, unknown_part
from sordino.query.sql.scope import (
    AbstractScope,
    Rule,
    Value,
    in_public_list,
    is_null_word,
)

_DType: Final = exp.DataType.Type
_TYPES: Final = {
    _DType.BIGINT: "i64",
    _DType.DOUBLE: "f64",
    _DType.TEXT: "text",
    _DType.VARCHAR: "text",
    _DType.BOOLEAN: "bool",
    _DType.DATE: "date",
    _DType.TIMESTAMP: "time",
    _DType.TIMESTAMPNTZ: "time",
}
_NARROW: Final = {_DType.INT: "i64"}
"""Types that fail where ours does not: a cast that does not fail is the same."""
_SURE: Final = {
    *(("i64", "f64"), ("i64", "text"), ("i64", "bool")),
    *(("bool", "i64"), ("bool", "f64"), ("bool", "text")),
    *(("date", "time"), ("date", "text"), ("time", "date")),
}
_ROUNDED: Final = (exp.Floor, exp.Ceil, exp.Round)


def _target(clause: Clause, *, fails: bool) -> str:
    named = clause.take("to")
    theirs = named.scalar("this")
    named.scalar("nested")
    ours = _TYPES.get(theirs) or (_NARROW.get(theirs) if fails else None)
    if ours is None or named.has("expressions"):
        raise named.refusal(
            f"there is no type {named.node.sql().upper()} here",
            "There are BIGINT, DOUBLE, VARCHAR, BOOLEAN, DATE and TIMESTAMP.",
        )
    return ours


def _cast(clause: Clause, scope: AbstractScope) -> Value:
    return _conversion(clause, scope, _target(clause, fails=True))


def _try_cast(clause: Clause, scope: AbstractScope) -> Value:
    for name in ("safe", "requires_string"):
        clause.scalar(name)
    return _conversion(clause, scope, _target(clause, fails=False))


def _conversion(clause: Clause, scope: AbstractScope, kind: str) -> Value:
    this = clause.take("this")
    if is_null_word(this):
        return scope.value_of(lit(None, kind))
    value = scope.value(this)
    if value.type == "text" and value.constant is not None and kind != "text":
        known = lit(value.constant).cast(kind).value({})
        if known is None:
            raise clause.refusal(
                f"{value.constant!r} does not read as a {kind}",
                _IN_FULL.get(kind, "Write it in full."),
            )
        return scope.value_of(lit(known))
    if value.type == kind:
        return scope.value_of(value.expression)
    if (value.type, kind) == ("f64", "i64") and this.bare().kind in _ROUNDED:
        return scope.value_of(value.expression.cast("i64"))
    if (value.type, kind) not in _SURE:
        raise clause.refusal(
            f"dialects cast values of type {value.type} to {kind} differently",
            _REMEDIES.get((value.type, kind), _DECLARE),
        )
    return scope.value_of(value.expression.cast(kind))


_IN_FULL: Final = {
    "date": "Write it as '2026-01-31'.",
    "time": "Write it as '2026-01-31 23:59:59'.",
    "bool": "Write 'true' or 'false'.",
}
_DECLARE: Final = "Declare the column's type at its table, or cast it in Python."
_REMEDIES: Final = {
    ("f64", "i64"): "Write CAST(FLOOR(x) AS BIGINT), or CEIL or ROUND.",
    ("f64", "text"): "Round it to a whole number first, and cast that.",
}


def written_number(clause: Clause, scope: AbstractScope) -> int | float:
    """Number that is written in the text: one from a column would be private."""
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
    """Two bounds; the wrong way round they are refused."""
    if low >= high:
        raise clause.refusal(
            f"the bounds are the wrong way round: {low!r} is not below {high!r}",
            "Exchange or widen them.",
        )
    return low, high


def _clamp(clause: Clause, scope: AbstractScope) -> Value:
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


def _call(clause: Clause, scope: AbstractScope) -> Value:
    if str(clause.scalar("this")).lower() != "clamp":
        raise unknown_part(clause)
    return _clamp(clause, scope)


_MOMENTS: Final = ("date", "time")


def condition(clause: Clause, scope: AbstractScope) -> Expression:
    """Value of the type bool; others are refused."""
    value = scope.value(clause)
    if value.type != "bool":
        raise clause.refusal(
            f"a condition belongs here, and {clause.short_text} is of type "
            f"{value.type}",
            "Compare it: ... = 1, ... IS NOT NULL.",
        )
    return value.expression


def meet(clause: Clause, values: Sequence[Value]) -> list[Value]:
    """Values in the one type in which SQL has them meet; others are refused."""
    kinds = {value.type for value in values}
    if kinds == set(NUMBERS):
        decimal = all(value.decimal for value in values if value.type == "f64")
        return [Value(_real(value), "f64", decimal) for value in values]
    if kinds == set(_MOMENTS):
        return [Value(value.expression.cast("time"), "time") for value in values]
    written = [
        value for value in values if value.type == "text" and value.constant is not None
    ]
    others = {value.type for value in values if value not in written}
    if written and len(others) == 1 and others <= set(_MOMENTS):
        (kind,) = others
        return [
            _read_moment(clause, value, kind) if value in written else value
            for value in values
        ]
    if len(kinds) > 1:
        raise clause.refusal(
            f"{clause.short_text} takes values of one type, and these are "
            f"{' and '.join(sorted(kinds))}",
            "Cast one of them, or declare the column's type at its table.",
        )
    return list(values)


def _real(value: Value) -> Expression:
    if isinstance(value.constant, int):
        return lit(float(value.constant))
    return value.expression if value.type == "f64" else value.expression.cast("f64")


def _read_moment(clause: Clause, value: Value, kind: str) -> Value:
    known = lit(value.constant).cast(kind).value({})
    if known is None:
        raise clause.refusal(
            f"{value.constant!r} is compared with a {kind}, and does not read as one",
            "Write it as '2026-01-31' or '2026-01-31 23:59:59'.",
        )
    return Value(lit(known), kind)


def _pair(clause: Clause, scope: AbstractScope) -> tuple[Expression, Expression]:
    left, right = clause.take("this"), clause.take("expression")
    if is_null_word(left) or is_null_word(right):
        raise clause.refusal(
            "nothing equals NULL, so this comparison is never true",
            "Write IS NULL or IS NOT NULL.",
        )
    first, second = meet(clause, [scope.value(left), scope.value(right)])
    first, second = settled_value(left, first), settled_value(right, second)
    return first.expression, second.expression


def _comparison(compare: Callable[[Any, Any], Any]) -> Rule:
    def rule(clause: Clause, scope: AbstractScope) -> Value:
        if type(clause.node.this) in _COMPARISONS:  # a < b < c: a truth below a number
            raise clause.refusal(
                "this compares the result of a comparison", "Write a < b AND b < c."
            )
        return scope.value_of(compare(*_pair(clause, scope)))

    return rule


_COMPARISONS: Final = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE)


def _distinct(same: bool) -> Rule:  # noqa: FBT001 of two rules that are one
    """Rule of IS [NOT] DISTINCT FROM: NULL is a value there."""

    def rule(clause: Clause, scope: AbstractScope) -> Value:
        left, right = _pair(clause, scope)
        equal = (left == right).fill_null(False) | (left.is_null() & right.is_null())
        return scope.value_of(equal if same else ~equal)

    return rule


def _connection(kind: type[exp.Expr], connect: Callable[..., Any]) -> Rule:
    """Rule of AND or OR: a long chain becomes a low tree."""

    def rule(clause: Clause, scope: AbstractScope) -> Value:
        parts = [condition(part, scope) for part in _chain(clause, kind)]
        while len(parts) > 1:
            pairs = zip(parts[::2], parts[1::2], strict=False)
            odd = parts[-1:] if len(parts) % 2 else []
            parts = list(starmap(connect, pairs)) + odd
        return scope.value_of(parts[0])

    return rule


def _chain(clause: Clause, kind: type[exp.Expr]) -> list[Clause]:
    parts, waiting = [], [clause]
    while waiting:
        part = waiting.pop()
        if part.kind is kind:
            waiting += [part.take("expression"), part.take("this")]
        else:
            parts.append(part)
    return parts


def _not(clause: Clause, scope: AbstractScope) -> Value:
    return scope.value_of(~condition(clause.take("this"), scope))


def _is(clause: Clause, scope: AbstractScope) -> Value:
    negated = bool(clause.scalar("negate"))
    this, wanted = clause.take("this"), clause.take("expression").bare()
    if wanted.kind is exp.Null:
        truth = scope.value(this).expression.is_null()
    elif wanted.kind is exp.Boolean:
        subject = condition(this, scope)
        held = subject if wanted.scalar("this") else ~subject
        truth = held.fill_null(False)
    else:
        raise clause.refusal(
            "IS takes NULL, TRUE or FALSE", "Write = for other values."
        )
    return scope.value_of(~truth if negated else truth)


def _in(clause: Clause, scope: AbstractScope) -> Value:
    if clause.has("query"):
        return in_public_list(clause, scope, meet)
    for name in ("unnest", "field"):
        if clause.has(name):
            raise clause.place(name).refusal(
                "IN takes a list or a query of a public table, no array",
                "Write the values: IN (1, 2, 3).",
            )
    listed = clause.each("expressions")
    for item in listed:
        if is_null_word(item):
            raise item.refusal(
                "NULL in the list of IN matches nothing, and NOT IN then keeps no row",
                "Leave NULL out, or add OR ... IS NULL.",
            )
    this = clause.take("this")
    values = meet(clause, [scope.value(part) for part in (this, *listed)])
    literals = [value.constant for value in values[1:]]
    if None in literals:
        raise clause.refusal(
            "the list of IN takes values that are written in it",
            "Compare with other columns by = and OR.",
        )
    return scope.value_of(settled_value(this, values[0]).expression.is_in(literals))


def _between(clause: Clause, scope: AbstractScope) -> Value:
    parts = [clause.take(name) for name in ("this", "low", "high")]
    if any(map(is_null_word, parts)):
        raise clause.refusal(
            "BETWEEN with NULL is never true", "Write two numbers, dates or times."
        )
    values = meet(clause, [scope.value(part) for part in parts])
    middle, low, high = (settled_value(clause, value).expression for value in values)
    return scope.value_of((middle >= low) & (middle <= high))


def _first(clause: Clause, scope: AbstractScope) -> Value:
    for name in ("is_nvl", "is_null"):
        clause.scalar(name)
    values = _values(clause, scope)
    first, *others = (value.expression for value in values)
    decimal = any(value.decimal for value in values)
    return scope.value_of(first.coalesce(*others) if others else first, decimal=decimal)


def _values(clause: Clause, scope: AbstractScope) -> list[Value]:
    """Arguments in one type, without those that are NULL."""
    parts = [clause.take("this"), *clause.each("expressions")]
    there = [scope.value(part) for part in parts if not is_null_word(part)]
    if not there:
        raise clause.refusal(
            f"every value of {clause.short_text} is NULL", "Name a column in it."
        )
    return meet(clause, there)


def _nullif(clause: Clause, scope: AbstractScope) -> Value:
    this, nulled = clause.take("this"), clause.take("expression")
    value = scope.value(this)
    if is_null_word(nulled):
        return value
    first, second = meet(clause, [value, scope.value(nulled)])
    equal = settled_value(this, first).expression == second.expression
    kept = when(equal).then(None).otherwise(value.expression)
    return scope.value_of(kept, decimal=value.decimal)


def _case(clause: Clause, scope: AbstractScope) -> Value:
    of = clause.some("this")
    default = clause.some("default")
    return _choice(clause, scope, of, clause.each("ifs"), default)


def _if(clause: Clause, scope: AbstractScope) -> Value:
    return _choice(clause, scope, None, [clause], clause.some("false"))


def _choice(
    clause: Clause,
    scope: AbstractScope,
    of: Clause | None,
    branches: Sequence[Clause],
    default: Clause | None,
) -> Value:
    """Value of a choice; one that is NULL or left out is missing."""
    tests = [_test(branch, scope, of) for branch in branches]
    outcomes = [branch.take("true") for branch in branches] + (
        [default] if default else []
    )
    there = [outcome for outcome in outcomes if not is_null_word(outcome)]
    if not there:
        raise clause.refusal(
            "every result of this CASE is NULL", "Write a value for one of them."
        )
    values = iter(meet(clause, [scope.value(outcome) for outcome in there]))
    each = [None if is_null_word(outcome) else next(values) for outcome in outcomes]
    results = [None if value is None else value.expression for value in each]
    last = results.pop() if default else None
    choice: Any = None
    for test, result in zip(tests, results, strict=True):
        choice = (when(test) if choice is None else choice.when(test)).then(result)
    decimal = any(value.decimal for value in each if value is not None)
    return scope.value_of(choice.otherwise(last), decimal=decimal)


def _test(branch: Clause, scope: AbstractScope, of: Clause | None) -> Expression:
    branch.look()
    this = branch.take("this")
    if of is None:
        return condition(this, scope)
    if is_null_word(this):
        raise this.refusal(
            "WHEN NULL is never true: nothing equals NULL",
            "Write CASE WHEN ... IS NULL THEN ...",
        )
    subject, value = meet(branch, [scope.value(of), scope.value(this)])
    equal: Any = settled_value(of, subject).expression == value.expression
    return equal  # type: ignore[no-any-return]  # == builds an expression


def _extreme(name: str) -> Rule:
    def rule(clause: Clause, scope: AbstractScope) -> Value:
        clause.scalar("ignore_nulls")
        if not clause.dialect.extremes_skip:
            raise clause.refusal(
                f"in {clause.dialect.name} GREATEST and LEAST are NULL if one value is",
                "Write CASE WHEN a > b THEN a ELSE b END.",
            )
        values = _values(clause, scope)
        first, *others = (settled_value(clause, part).expression for part in values)
        build = first.greatest if name == "greatest" else first.least
        return scope.value_of(build(*others) if others else first)

    return rule


RULES: Final[dict[type[exp.Expr], Rule]] = {
    exp.Cast: _cast,
    exp.TryCast: _try_cast,
    exp.Anonymous: _call,
    exp.EQ: _comparison(operator.eq),
    exp.NEQ: _comparison(operator.ne),
    exp.LT: _comparison(operator.lt),
    exp.LTE: _comparison(operator.le),
    exp.GT: _comparison(operator.gt),
    exp.GTE: _comparison(operator.ge),
    exp.NullSafeEQ: _distinct(same=True),
    exp.NullSafeNEQ: _distinct(same=False),
    exp.And: _connection(exp.And, operator.and_),
    exp.Or: _connection(exp.Or, operator.or_),
    exp.Not: _not,
    exp.Is: _is,
    exp.In: _in,
    exp.Between: _between,
    exp.Coalesce: _first,
    exp.Nullif: _nullif,
    exp.Case: _case,
    exp.If: _if,
    exp.Greatest: _extreme("greatest"),
    exp.Least: _extreme("least"),
}
