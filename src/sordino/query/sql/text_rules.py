"""Texts; the list of all rules."""

from collections.abc import Callable
from typing import Any, Final

from sqlglot import exp

from sordino.expressions.language import Expression, lit
from sordino.query.sql import number_rules, truth_rules
from sordino.query.sql import scope as leaf_rules
from sordino.query.sql.reading import Clause
from sordino.query.sql.scope import (
    AbstractScope,
    Rule,
    Value,
    is_null_word,
    whole_number,
)

_WRITTEN: Final = ("text", "i64", "bool", "date")
"""Types whose values every dialect writes alike."""


def _text(clause: Clause, scope: AbstractScope) -> Expression:
    value = scope.value(clause)
    if value.type != "text":
        raise clause.refusal(
            f"a text belongs here, and {clause.short_text} is of type {value.type}",
            "Cast it to VARCHAR, or declare the column's type at its table.",
        )
    return value.expression


def _literal_text(clause: Clause, scope: AbstractScope, what: str) -> str:
    value = scope.value(clause)
    if not isinstance(value.constant, str):
        raise clause.refusal(
            f"{what} must be a text written here", "Write it in quotes."
        )
    return value.constant


def _of_text(build: Callable[[Expression], Expression]) -> Rule:
    def rule(clause: Clause, scope: AbstractScope) -> Value:
        return scope.value_of(build(_text(clause.take("this"), scope)))

    return rule


def _length(clause: Clause, scope: AbstractScope) -> Value:
    clause.scalar("binary")  # BigQuery counts bytes of bytes alone, and there are none
    return scope.value_of(_text(clause.take("this"), scope).length())


def _of_texts(
    build: Callable[[Expression, Expression], Expression], second: str = "expression"
) -> Rule:
    def rule(clause: Clause, scope: AbstractScope) -> Value:
        first = _text(clause.take("this"), scope)
        return scope.value_of(build(first, _text(clause.take(second), scope)))

    return rule


def _as_text(clause: Clause, scope: AbstractScope) -> Expression:
    value = scope.value(clause)
    if value.type not in _WRITTEN:
        raise clause.refusal(
            f"dialects write values of type {value.type} differently",
            "Join texts, whole numbers, booleans and dates.",
        )
    text = value.expression
    return text if value.type == "text" else text.cast("text")


def _join(clause: Clause, scope: AbstractScope) -> Value:
    clause.scalar("safe")
    left = _as_text(clause.take("this"), scope)
    return scope.value_of(left.concat(_as_text(clause.take("expression"), scope)))


def _concat(clause: Clause, scope: AbstractScope) -> Value:
    """Rule of CONCAT: a missing value is left out where the dialect has it so."""
    for name in ("safe", "coalesce"):
        clause.scalar(name)
    skips = clause.dialect.concat_skips
    for part in clause.each("expressions"):
        plain = is_null_word(part) or scope.value(part).type != "bool"
        if not plain and not clause.dialect.truths_join:
            raise part.refusal(
                "CONCAT writes a boolean as t or f in this dialect",
                "Cast it to VARCHAR: that writes true or false.",
            )
    parts = [
        _as_text(part, scope)
        for part in clause.each("expressions")
        if not (skips and is_null_word(part))
    ]
    if skips:
        parts = [
            text if text.tree.constant is not None else text.fill_null("")
            for text in parts
        ]
    return scope.value_of(lit("").concat(*parts))


def _slice(clause: Clause, scope: AbstractScope) -> Value:
    text = _text(clause.take("this"), scope)
    start = whole_number(clause.take("start"), "the first place")
    if start < 1:
        raise clause.refusal(
            "dialects count places before the first differently",
            "Write a start of 1 or more, or RIGHT(x, n).",
        )
    size = clause.some("length")
    length = None if size is None else whole_number(size, "a length")
    return scope.value_of(text.slice(start - 1, length))


def _end(build: Callable[[Expression, int], Expression]) -> Rule:
    def rule(clause: Clause, scope: AbstractScope) -> Value:
        text = _text(clause.take("this"), scope)
        size = whole_number(clause.take("expression"), "a number of letters")
        clause.scalar("negative_length_returns_empty")
        if size < 0:
            raise clause.refusal(
                "LEFT and RIGHT with a negative number differ between dialects",
                "Write SUBSTRING(x, first, length).",
            )
        return scope.value_of(build(text, size))

    return rule


def _trim(clause: Clause, scope: AbstractScope) -> Value:
    text = _text(clause.take("this"), scope)
    position = clause.scalar("position")
    if position not in (None, "", "BOTH"):
        raise clause.refusal(
            "LTRIM and RTRIM are not asked: texts are trimmed on both sides",
            "Write TRIM(x).",
        )
    given = clause.some("expression")
    if given is None:
        return scope.value_of(text.strip(clause.dialect.trimmed))
    return scope.value_of(text.strip(_literal_text(given, scope, "what is trimmed")))


def _replace(clause: Clause, scope: AbstractScope) -> Value:
    text = _text(clause.take("this"), scope)
    old = _literal_text(clause.take("expression"), scope, "what is replaced")
    new = _literal_text(clause.take("replacement"), scope, "what stands for it")
    if not old:
        raise clause.refusal("REPLACE of an empty text", "Name what to replace.")
    return scope.value_of(text.replace(old, new))


def _position(clause: Clause, scope: AbstractScope) -> Value:
    """Rule of the place of a text within another, from 1; 0 for nowhere."""
    text = _text(clause.take("this"), scope)
    return scope.value_of(text.find(_text(clause.take("substr"), scope)) + 1)


def _like_escape(clause: Clause, scope: AbstractScope) -> Value:
    inner = clause.take("this")
    escape = _literal_text(clause.take("expression"), scope, "an escape")
    if inner.kind is not exp.Like or len(escape) > 1:
        raise clause.refusal(
            "ESCAPE takes one character, behind LIKE", "Write ESCAPE '!'."
        )
    return _match(inner, scope, escape or None)


def _match(clause: Clause, scope: AbstractScope, escape: str | None) -> Value:
    negated = bool(clause.scalar("negate"))
    text = _text(clause.take("this"), scope)
    held = clause.take("expression")
    pattern = _literal_text(held, scope, "a pattern")
    if escape == "\\" and escape in pattern and held.dialect.escape == escape:
        raise held.refusal(
            "a backslash in LIKE escapes in some dialects and not in others",
            "Choose another letter: LIKE '100!%' ESCAPE '!'.",
        )
    fits: Any = text.like(pattern, escape)
    return scope.value_of(~fits if negated else fits)


RULES: Final[dict[type[exp.Expr], Rule]] = {
    exp.Length: _length,
    exp.Lower: _of_text(lambda text: text.lowercase()),
    exp.Upper: _of_text(lambda text: text.uppercase()),
    exp.StartsWith: _of_texts(lambda text, part: text.starts_with(part)),
    exp.EndsWith: _of_texts(lambda text, part: text.ends_with(part)),
    exp.Contains: _of_texts(lambda text, part: text.contains(part)),
    exp.DPipe: _join,
    exp.Concat: _concat,
    exp.Substring: _slice,
    exp.Left: _end(lambda text, size: text.slice(0, size)),
    exp.Right: _end(lambda text, size: text.slice(-size) if size else text.slice(0, 0)),
    exp.Trim: _trim,
    exp.Replace: _replace,
    exp.StrPosition: _position,
    exp.Like: lambda clause, scope: _match(clause, scope, clause.dialect.escape),
    exp.Escape: _like_escape,
}


ALL_RULES: Final[dict[type[exp.Expr], Rule]] = {
    **leaf_rules.RULES,
    **number_rules.RULES,
    **RULES,
    **truth_rules.RULES,
}
