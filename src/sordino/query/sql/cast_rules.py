"""Casts, as far as every dialect makes the same value of the same value.

| from | to | |
|---|---|---|
| a text written in the statement | DATE, TIMESTAMP, numbers, BOOLEAN | what it says |
| i64 | DOUBLE, VARCHAR, BOOLEAN | |
| bool | BIGINT, DOUBLE, VARCHAR | |
| date | TIMESTAMP, VARCHAR | |
| time | DATE | |
| FLOOR, CEIL, ROUND | BIGINT | other fractions are rounded differently |
"""

from typing import Final

from sqlglot import exp

from sordino.expressions.language import lit
from sordino.query.sql.leaf_rules import is_null_word
from sordino.query.sql.reading import Clause
from sordino.query.sql.scope import AbstractScope, Rule, Value

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


def _wanted(clause: Clause, *, fails: bool) -> str:
    """Return our type for a type of SQL, refusing what we have none for."""
    named = clause.take("to")
    known = named.scalar("this")
    named.scalar("nested")
    found = _TYPES.get(known) or (_NARROW.get(known) if fails else None)
    if found is None or named.has("expressions"):
        raise named.refusal(
            f"there is no type {named.node.sql().upper()} here",
            "There are BIGINT, DOUBLE, VARCHAR, BOOLEAN, DATE and TIMESTAMP.",
        )
    return found


def _cast(clause: Clause, scope: AbstractScope) -> Value:
    """Return CAST(x AS type)."""
    return _made(clause, scope, _wanted(clause, fails=True))


def _tried(clause: Clause, scope: AbstractScope) -> Value:
    """Return TRY_CAST(x AS type)."""
    for name in ("safe", "requires_string"):
        clause.scalar(name)
    return _made(clause, scope, _wanted(clause, fails=False))


def _made(clause: Clause, scope: AbstractScope, kind: str) -> Value:
    """Return a value of another type, if all dialects agree on it."""
    this = clause.take("this")
    if is_null_word(this):
        return scope.value_of(lit(None, kind))
    one = scope.value(this)
    if one.type == "text" and one.constant is not None and kind != "text":
        known = lit(one.constant).cast(kind).value({})
        if known is None:
            raise clause.refusal(f"{one.constant!r} is no {kind}", "Write it in full.")
        return scope.value_of(lit(known))
    if one.type == kind:
        return scope.value_of(one.expression)
    if (one.type, kind) == ("f64", "i64") and this.bare().kind in _ROUNDED:
        return scope.value_of(one.expression.cast("i64"))
    if (one.type, kind) not in _SURE:
        raise clause.refusal(
            f"dialects cast values of type {one.type} to {kind} differently",
            _REMEDIES.get((one.type, kind), _DECLARE),
        )
    return scope.value_of(one.expression.cast(kind))


_DECLARE: Final = "Declare the column's type at its table, or cast it in Python."
_REMEDIES: Final = {
    ("f64", "i64"): "Write CAST(FLOOR(x) AS BIGINT), or CEIL or ROUND.",
    ("f64", "text"): "Round it to a whole number first, and cast that.",
}

RULES: Final[dict[type[exp.Expr], Rule]] = {
    exp.Cast: _cast,
    exp.TryCast: _tried,
}
