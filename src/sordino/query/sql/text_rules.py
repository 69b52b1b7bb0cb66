"""Texts of rows: joined, cut, searched, held to patterns."""

from collections.abc import Callable
from typing import Any, Final

from sqlglot import exp

from sordino.expressions.language import Expression, lit
from sordino.query.sql.leaf_rules import is_null_word, whole_number
from sordino.query.sql.reading import Clause
from sordino.query.sql.scope import AbstractScope, Rule, Value

_WRITTEN: Final = ("text", "i64", "bool", "date")
"""Types whose values every dialect writes alike."""


def text_value(clause: Clause, scope: AbstractScope) -> Expression:
    """Return a text, refusing what is none."""
    found = scope.value(clause)
    if found.type != "text":
        raise clause.refusal(
            f"{clause.short_text} is of type {found.type}, no text",
            "Cast it to VARCHAR, or declare the column's type at its table.",
        )
    return found.expression


def literal_text(clause: Clause, scope: AbstractScope, what: str) -> str:
    """Return a text that is written in the statement, refusing all else."""
    found = scope.value(clause)
    if not isinstance(found.constant, str):
        raise clause.refusal(
            f"{what} must be a text written here", "Write it in quotes."
        )
    return found.constant


def _of_text(build: Callable[[Expression], Expression]) -> Rule:
    """Return the rule of a function of one text."""

    def rule(clause: Clause, scope: AbstractScope) -> Value:
        return scope.value_of(build(text_value(clause.take("this"), scope)))

    return rule


def _length(clause: Clause, scope: AbstractScope) -> Value:
    """Return LENGTH of a text in characters; BigQuery's is of bytes for bytes alone."""
    clause.scalar("binary")
    return scope.value_of(text_value(clause.take("this"), scope).length())


def _of_texts(
    build: Callable[[Expression, Expression], Expression], other: str = "expression"
) -> Rule:
    """Return the rule of a function of two texts."""

    def rule(clause: Clause, scope: AbstractScope) -> Value:
        one = text_value(clause.take("this"), scope)
        return scope.value_of(build(one, text_value(clause.take(other), scope)))

    return rule


def _said(clause: Clause, scope: AbstractScope) -> Expression:
    """Return a value as the text that every dialect writes of it."""
    found = scope.value(clause)
    if found.type not in _WRITTEN:
        raise clause.refusal(
            f"dialects write values of type {found.type} differently",
            "Join texts, whole numbers, truths and dates.",
        )
    made = found.expression
    return made if found.type == "text" else made.cast("text")


def _joined(clause: Clause, scope: AbstractScope) -> Value:
    """Return a || b: missing if one is."""
    clause.scalar("safe")
    one = _said(clause.take("this"), scope)
    return scope.value_of(one.concat(_said(clause.take("expression"), scope)))


def _concatenated(clause: Clause, scope: AbstractScope) -> Value:
    """Return CONCAT: what is missing is left out where the dialect has it so."""
    for name in ("safe", "coalesce"):
        clause.scalar(name)
    skips = clause.dialect.concat_skips
    for one in clause.each("expressions"):
        plain = is_null_word(one) or scope.value(one).type != "bool"
        if not plain and not clause.dialect.truths_join:
            raise one.refusal("CONCAT writes t or f here", "Cast it to VARCHAR.")
    parts = [
        _said(one, scope)
        for one in clause.each("expressions")
        if not (skips and is_null_word(one))
    ]
    if skips:
        parts = [
            one if one.tree.constant is not None else one.fill_null("") for one in parts
        ]
    return scope.value_of(lit("").concat(*parts))


def _sliced(clause: Clause, scope: AbstractScope) -> Value:
    """Return a part of a text from a place that is counted from 1."""
    one = text_value(clause.take("this"), scope)
    start = whole_number(clause.take("start"), "the first place")
    if start < 1:
        raise clause.refusal(
            "dialects count places before the first differently",
            "Write a start of 1 or more, or RIGHT(x, n).",
        )
    size = clause.some("length")
    length = None if size is None else whole_number(size, "a length")
    return scope.value_of(one.slice(start - 1, length))


def _left(clause: Clause, scope: AbstractScope) -> Value:
    """Return the first letters."""
    return scope.value_of(_end(clause, scope, lambda one, size: one.slice(0, size)))


def _right(clause: Clause, scope: AbstractScope) -> Value:
    """Return the last letters."""
    return scope.value_of(
        _end(clause, scope, lambda one, n: one.slice(-n) if n else one.slice(0, 0))
    )


def _end(
    clause: Clause, scope: AbstractScope, build: Callable[[Expression, int], Expression]
) -> Expression:
    """Return so many letters of one end of a text."""
    one = text_value(clause.take("this"), scope)
    size = whole_number(clause.take("expression"), "a number of letters")
    clause.scalar("negative_length_returns_empty")
    if size < 0:
        raise clause.refusal(
            "dialects count from the end differently", "Write SUBSTRING."
        )
    return build(one, size)


def _trimmed(clause: Clause, scope: AbstractScope) -> Value:
    """Return a text without some letters around it."""
    one = text_value(clause.take("this"), scope)
    position = clause.scalar("position")
    if position not in (None, "", "BOTH"):
        raise clause.refusal(
            "one side is not trimmed by itself here", "Trim both sides."
        )
    given = clause.some("expression")
    if given is None:
        return scope.value_of(one.strip(clause.dialect.trimmed))
    return scope.value_of(one.strip(literal_text(given, scope, "what is trimmed")))


def _replaced(clause: Clause, scope: AbstractScope) -> Value:
    """Return a text with one literal in the place of another."""
    one = text_value(clause.take("this"), scope)
    old = literal_text(clause.take("expression"), scope, "what is replaced")
    new = literal_text(clause.take("replacement"), scope, "what stands for it")
    if not old:
        raise clause.refusal("nothing is replaced", "Name what to replace.")
    return scope.value_of(one.replace(old, new))


def _placed(clause: Clause, scope: AbstractScope) -> Value:
    """Return where a text first is within another, from 1; 0 for nowhere."""
    one = text_value(clause.take("this"), scope)
    return scope.value_of(one.find(text_value(clause.take("substr"), scope)) + 1)


def _like(clause: Clause, scope: AbstractScope) -> Value:
    """Return LIKE with the escape of the dialect."""
    return _matched(clause, scope, clause.dialect.escape)


def _escaped(clause: Clause, scope: AbstractScope) -> Value:
    """Return LIKE with an escape of its own."""
    inner = clause.take("this")
    escape = literal_text(clause.take("expression"), scope, "an escape")
    if inner.kind is not exp.Like or len(escape) > 1:
        raise clause.refusal("an escape is one letter behind LIKE", "Write ESCAPE '!'.")
    return _matched(inner, scope, escape or None)


def _matched(clause: Clause, scope: AbstractScope, escape: str | None) -> Value:
    """Return whether a text is as a pattern says, or is not."""
    negated = bool(clause.scalar("negate"))
    one = text_value(clause.take("this"), scope)
    held = clause.take("expression")
    pattern = literal_text(held, scope, "a pattern")
    if escape == "\\" and escape in pattern and held.dialect.escape == escape:
        raise held.refusal(
            "a backslash in LIKE escapes in some dialects and not in others",
            "Choose another letter: LIKE '100!%' ESCAPE '!'.",
        )
    made: Any = one.like(pattern, escape)
    return scope.value_of(~made if negated else made)


RULES: Final[dict[type[exp.Expr], Rule]] = {
    exp.Length: _length,
    exp.Lower: _of_text(lambda one: one.lowercase()),
    exp.Upper: _of_text(lambda one: one.uppercase()),
    exp.StartsWith: _of_texts(lambda one, other: one.starts_with(other)),
    exp.EndsWith: _of_texts(lambda one, other: one.ends_with(other)),
    exp.Contains: _of_texts(lambda one, other: one.contains(other)),
    exp.DPipe: _joined,
    exp.Concat: _concatenated,
    exp.Substring: _sliced,
    exp.Left: _left,
    exp.Right: _right,
    exp.Trim: _trimmed,
    exp.Replace: _replaced,
    exp.StrPosition: _placed,
    exp.Like: _like,
    exp.Escape: _escaped,
}
