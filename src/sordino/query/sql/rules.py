"""Every rule by which an expression of rows or of answers is understood."""

from collections.abc import Mapping
from typing import Final

from sqlglot import exp

from sordino.query.sql import casts, choices, dates, functions, leaves, numbers, texts
from sordino.query.sql.scope import Rule

RULES: Final[Mapping[type[exp.Expression], Rule]] = {
    **leaves.RULES,
    **numbers.RULES,
    **texts.RULES,
    **dates.RULES,
    **choices.RULES,
    **casts.RULES,
    **functions.RULES,
}
