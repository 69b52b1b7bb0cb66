"""Every rule by which an expression of rows or of answers is understood."""

from typing import Final

from sqlglot import exp

from sordino.query.sql import (
    cast_rules,
    choice_rules,
    date_rules,
    function_rules,
    leaf_rules,
    number_rules,
    text_rules,
)
from sordino.query.sql.scope import Rule

RULES: Final[dict[type[exp.Expr], Rule]] = {
    **leaf_rules.RULES,
    **number_rules.RULES,
    **text_rules.RULES,
    **date_rules.RULES,
    **choice_rules.RULES,
    **cast_rules.RULES,
    **function_rules.RULES,
}
