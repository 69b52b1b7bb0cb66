"""Columns, literals and brackets."""

import math
import re
from typing import Final

from sqlglot import exp

from sordino.expressions.language import lit
from sordino.expressions.literals import MOST
from sordino.query.sql.reading import Clause
from sordino.query.sql.scope import AbstractScope, Rule, Value

_WHOLE: Final = re.compile(r"[0-9]+")


def bracket(clause: Clause, scope: AbstractScope) -> Value:
    """Return what stands in brackets."""
    return scope.value(clause.take("this"))


def column_value(clause: Clause, scope: AbstractScope) -> Value:
    """Return a column."""
    return scope.column(clause)


def literal_value(clause: Clause, scope: AbstractScope) -> Value:
    """Return a text or a number, exactly as far as it is written."""
    text = str(clause.scalar("this"))
    if clause.scalar("is_string"):
        return scope.value_of(lit(text))
    if _WHOLE.fullmatch(text) is None:
        decimal = clause.dialect.decimals and "e" not in text.lower()
        number = float(text)
        if not math.isfinite(number):
            raise clause.refusal(
                "this number is beyond the largest double", "Write one below 1.7e308."
            )
        return scope.value_of(lit(number), decimal=decimal)
    if int(text) > MOST:
        raise clause.refusal(
            "this whole number does not fit into 64 bits",
            "Write it as a double: 1e20.",
        )
    return scope.value_of(lit(int(text)))


def truth_word(clause: Clause, scope: AbstractScope) -> Value:
    """Return TRUE or FALSE."""
    return scope.value_of(lit(bool(clause.scalar("this"))))


def is_null_word(clause: Clause) -> bool:
    """Tell whether a part of a text is NULL itself."""
    return clause.bare().kind is exp.Null


def whole_number(clause: Clause, what: str, *, quoted: bool = False) -> int:
    """Return a whole number that is written in the text, refusing all else.

    In quotes only where SQL has it so.
    """
    inner, sign = clause.bare(), 1
    if inner.kind is exp.Neg:
        inner, sign = inner.take("this").bare(), -1
    if inner.kind is exp.Literal:
        text = str(inner.scalar("this"))
        if inner.scalar("is_string") and not quoted:
            text = ""
        if _WHOLE.fullmatch(text) is not None and int(text) <= MOST:
            return sign * int(text)
    raise clause.refusal(
        f"{what} must be a whole number written here", "Write it as 3."
    )


RULES: Final[dict[type[exp.Expr], Rule]] = {
    exp.Paren: bracket,
    exp.Column: column_value,
    exp.Literal: literal_value,
    exp.Boolean: truth_word,
}
