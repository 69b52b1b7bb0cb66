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


def _target(clause: Clause, *, fails: bool) -> str:
    """Return our type for a type of SQL, refusing what we have none for."""
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
    """Return CAST(x AS type)."""
    return _conversion(clause, scope, _target(clause, fails=True))


def _try_cast(clause: Clause, scope: AbstractScope) -> Value:
    """Return TRY_CAST(x AS type)."""
    for name in ("safe", "requires_string"):
        clause.scalar(name)
    return _conversion(clause, scope, _target(clause, fails=False))


def _conversion(clause: Clause, scope: AbstractScope, kind: str) -> Value:
    """Return a value of another type, if all dialects agree on it."""
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

RULES: Final[dict[type[exp.Expr], Rule]] = {
    exp.Cast: _cast,
    exp.TryCast: _try_cast,
}
