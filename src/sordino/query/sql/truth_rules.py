"""Comparisons, truths, choices and casts.

Casts are understood as far as every dialect makes the same value of the same value.

| from | to | |
|---|---|---|
| a text written in the statement | DATE, TIMESTAMP, numbers, BOOLEAN | what it says |
| i64 | DOUBLE, VARCHAR, BOOLEAN | |
| bool | BIGINT, DOUBLE, VARCHAR | |
| date | TIMESTAMP, VARCHAR | |
| time | DATE | |
| f64 | BIGINT | halves as the dialect rounds them |
| text | BIGINT, DOUBLE | digits, in DuckDB with a fraction; other texts are missing |
"""

import operator
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import reduce
from itertools import starmap
from typing import Any, Final

from sqlglot import exp

from sordino.errors import InvalidSQL
from sordino.expressions.language import Expression, lit, when
from sordino.expressions.schema import NUMBERS
from sordino.query.sql import decimals
from sordino.query.sql.number_rules import part_named, part_of_word, settled_value
from sordino.query.sql.reading import Clause, unknown_part
from sordino.query.sql.scope import (
    AbstractScope,
    Rule,
    Scaled,
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
        return scope.value_of(_read_written(clause, value.constant, kind))
    return scope.value_of(_cast_value(clause, this, value, kind))


def _read_written(clause: Clause, text: str, kind: str) -> Expression:
    known = _read_text(clause, lit(text), kind).value({})
    if known is None and clause.kind is not exp.TryCast:
        raise clause.refusal(
            f"{text!r} does not read as a {kind}",
            _IN_FULL.get(kind, "Write it in full."),
        )
    return lit(known, kind)


def _cast_value(clause: Clause, this: Clause, value: Value, kind: str) -> Expression:
    if value.type == kind:
        computed = value.decimal and value.constant is None
        return decimals.double_of(value) if computed else value.expression
    if (value.type, kind) == ("f64", "i64"):
        return _whole_number(clause, this, value)
    if value.type == "text" and kind in NUMBERS:
        return _read_text(clause, value.expression, kind)
    if (value.type, kind) not in _SURE:
        raise clause.refusal(
            f"dialects cast values of type {value.type} to {kind} differently",
            _REMEDIES.get((value.type, kind), _DECLARE),
        )
    return value.expression.cast(kind)


def _whole_number(clause: Clause, this: Clause, value: Value) -> Expression:
    """Whole number next to a fraction, halves as the dialect has them."""
    number = value.expression
    cuts = clause.dialect.name == "spark"
    if value.scaled is not None:
        return (
            decimals.truncate_decimal(value)
            if cuts
            else decimals.round_decimal(value, 0)[0]
        )
    if cuts or this.bare().kind in _ROUNDED:
        return number.cast("i64")
    settled_value(clause, value)
    if clause.dialect.name == "bigquery":
        return number.round().cast("i64")
    # halves go to the even number: twice the whole number next to a quarter
    half = (number - number.round_down(1.0)) == 0.5
    even = (number * 0.5).round() * 2.0
    return when(half).then(even).otherwise(number.round()).cast("i64")


def _read_text(clause: Clause, text: Expression, kind: str) -> Expression:
    number = text.cast(kind)
    if kind != "i64" or clause.dialect.name != "duckdb":
        return number
    fraction = text.cast("f64").round()  # "2.5" is 3 in DuckDB, and fails elsewhere
    known = when(fraction.abs() < _EXACT).then(fraction.cast("i64")).otherwise(None)
    return number.coalesce(known)


_EXACT: Final = 2.0**50
"""Beyond it a double has lost digits of the text."""
_IN_FULL: Final = {
    "date": "Write it as '2026-01-31'.",
    "time": "Write it as '2026-01-31 23:59:59'.",
    "bool": "Write 'true' or 'false'.",
}
_DECLARE: Final = "Declare the column's type at its table, or cast it in Python."
_REMEDIES: Final = {
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
    name = str(clause.scalar("this")).lower()
    if name in ("date_part", "datepart") and len(clause.node.expressions) == 2:
        return part_of_word(clause, scope)
    if name == "isoyear" and len(clause.node.expressions) == 1:
        return part_named(clause, scope, "isoyear", clause.each("expressions")[0])
    if name != "clamp":
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
    if kinds == set(NUMBERS) or any(value.decimal for value in values):
        return _meet_numbers(clause, values)
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
        raise _type_refusal(clause, kinds)
    return list(values)


def _meet_numbers(clause: Clause, values: Sequence[Value]) -> list[Value]:
    if any(value.type not in NUMBERS for value in values):
        raise _type_refusal(clause, {value.type for value in values})
    if all(value.decimal for value in values if value.type == "f64"):
        return [
            Value(_plain(value), "f64", True, decimals.scaled_of(value))
            for value in values
        ]
    return [Value(decimals.double_of(value), "f64") for value in values]


def _plain(value: Value) -> Expression:
    return value.expression if value.type == "f64" else decimals.double_of(value)


def _type_refusal(clause: Clause, kinds: set[str]) -> InvalidSQL:
    return clause.refusal(
        f"{clause.short_text} takes values of one type, and these are "
        f"{' and '.join(sorted(kinds))}",
        "Cast one of them, or declare the column's type at its table.",
    )


def _of_digits(
    values: Sequence[Value], build: Callable[[list[Expression]], Expression]
) -> Scaled | None:
    """Digits of a value that is chosen among decimals."""
    if not decimals.are_decimals(values):
        return None
    digits, places = decimals.level(values)
    return build(digits), places


def _read_moment(clause: Clause, value: Value, kind: str) -> Value:
    known = lit(value.constant).cast(kind).value({})
    if known is None:
        raise clause.refusal(
            f"{value.constant!r} is compared with a {kind}, and does not read as one",
            "Write it as '2026-01-31' or '2026-01-31 23:59:59'.",
        )
    return Value(lit(known), kind)


def _comparison(compare: Callable[[Any, Any], Any]) -> Rule:
    def rule(clause: Clause, scope: AbstractScope) -> Value:
        if type(clause.node.this) in _COMPARISONS:  # a < b < c: a truth below a number
            raise clause.refusal(
                "this compares the result of a comparison", "Write a < b AND b < c."
            )
        return scope.value_of(_written_comparison(clause, scope, compare))

    return rule


def _written_comparison(
    clause: Clause, scope: AbstractScope, compare: Callable[[Any, Any], Any]
) -> Expression:
    left, right = clause.take("this"), clause.take("expression")
    if is_null_word(left) or is_null_word(right):
        raise clause.refusal(
            "nothing equals NULL, so this comparison is never true",
            "Write IS NULL or IS NOT NULL.",
        )
    return comparison_of(clause, compare, scope.value(left), scope.value(right))


def comparison_of(
    clause: Clause, compare: Callable[[Any, Any], Any], left: Value, right: Value
) -> Expression:
    """Comparison of two values, of decimals by their digits."""
    exact = decimals.compare(compare, left, right)
    if exact is not None:
        return exact
    first, second = meet(clause, [left, right])
    first, second = settled_value(clause, first), settled_value(clause, second)
    result: Expression = compare(first.expression, second.expression)
    return result


_COMPARISONS: Final = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE)


def _distinct(same: bool) -> Rule:  # noqa: FBT001 of two rules that are one
    """Rule of IS [NOT] DISTINCT FROM: NULL is a value there."""

    def rule(clause: Clause, scope: AbstractScope) -> Value:
        equal = _written_comparison(clause, scope, operator.eq).fill_null(False)
        left, right = (
            scope.value(clause.take(name)).expression for name in ("this", "expression")
        )
        equal |= left.is_null() & right.is_null()
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
    subject = scope.value(clause.take("this"))
    values = [scope.value(item) for item in listed]
    written = [value for value in values if value.constant is not None]
    matches = [
        comparison_of(clause, operator.eq, subject, value)
        for value in values
        if value.constant is None
    ]
    if written:
        matches.append(_is_listed(clause, subject, written))
    return scope.value_of(reduce(operator.or_, matches))


def _is_listed(clause: Clause, subject: Value, written: Sequence[Value]) -> Expression:
    if decimals.are_decimals((subject, *written)):
        return decimals.is_listed(subject, written)
    first, *others = meet(clause, [subject, *written])
    literals = [value.constant for value in others]
    return settled_value(clause, first).expression.is_in(literals)


def _between(clause: Clause, scope: AbstractScope) -> Value:
    parts = [clause.take(name) for name in ("this", "low", "high")]
    if any(map(is_null_word, parts)):
        raise clause.refusal(
            "BETWEEN with NULL is never true", "Write two numbers, dates or times."
        )
    values = [scope.value(part) for part in parts]
    if not decimals.are_decimals(values):
        values = meet(clause, values)
    middle, low, high = values
    first = comparison_of(clause, operator.ge, middle, low)
    last = comparison_of(clause, operator.le, middle, high)
    return scope.value_of(first & last)


def _first(clause: Clause, scope: AbstractScope) -> Value:
    for name in ("is_nvl", "is_null"):
        clause.scalar(name)
    values = _values(clause, scope)

    def build(parts: list[Expression]) -> Expression:
        first, *others = parts
        return first.coalesce(*others) if others else first

    return _choice_of(scope, values, build)


def _choice_of(
    scope: AbstractScope,
    values: Sequence[Value],
    build: Callable[[list[Expression]], Expression],
) -> Value:
    """One of some values, which meet in one type."""
    decimal = any(value.decimal for value in values)
    value = scope.value_of(build([v.expression for v in values]), decimal=decimal)
    return replace(value, scaled=_of_digits(values, build))


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
    equal = comparison_of(clause, operator.eq, value, scope.value(nulled))

    def build(parts: list[Expression]) -> Expression:
        return when(equal).then(None).otherwise(parts[0])

    return _choice_of(scope, [value], build)


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
    values = meet(clause, [scope.value(outcome) for outcome in there])

    def build(parts: list[Expression]) -> Expression:
        given = iter(parts)
        results = [None if is_null_word(part) else next(given) for part in outcomes]
        last = results.pop() if default else None
        choice: Any = None
        for test, result in zip(tests, results, strict=True):
            choice = (when(test) if choice is None else choice.when(test)).then(result)
        chosen: Expression = choice.otherwise(last)
        return chosen

    return _choice_of(scope, values, build)


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
    return comparison_of(branch, operator.eq, scope.value(of), scope.value(this))


def _extreme(name: str) -> Rule:
    def rule(clause: Clause, scope: AbstractScope) -> Value:
        clause.scalar("ignore_nulls")
        if not clause.dialect.extremes_skip:
            raise clause.refusal(
                f"in {clause.dialect.name} GREATEST and LEAST are NULL if one value is",
                "Write CASE WHEN a > b THEN a ELSE b END.",
            )
        values = _values(clause, scope)

        def build(parts: list[Expression]) -> Expression:
            first, *others = parts
            choose = first.greatest if name == "greatest" else first.least
            return choose(*others) if others else first

        scaled = _of_digits(values, build)
        if scaled is None:
            return _choice_of(scope, [settled_value(clause, v) for v in values], build)
        digits, places = scaled
        number = scope.value_of(digits.cast("f64") / 10.0**places)
        return decimals.as_decimal(number, digits, places)

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
