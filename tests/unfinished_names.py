"""Names that have not been given their final form yet; the list only shrinks.

One line for each: the file beneath `src/sordino`, and the name.
"""

from typing import Final

UNFINISHED: Final = (
    "aggregations/extremes.py extremes",
    "aggregations/lattice.py lattice",
    "cli/terminal.py table",
    "expressions/arithmetic.py within",
    "expressions/cells.py folded",
    "expressions/conditional.py split",
    "expressions/extremes.py extremes",
    "expressions/facts.py listed",
    "expressions/facts.py required",
    "expressions/fluent.py lifted",
    "expressions/language.py checked",
    "expressions/lattice.py lattice",
    "expressions/logic.py negated",
    "expressions/numeric.py sqrt",
    "numbers/radical.py sqrt",
    "query/builder.py table",
)
