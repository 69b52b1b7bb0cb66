"""Names that have not been given their final form yet; the list only shrinks.

One line for each: the file beneath `src/sordino`, and the name.
"""

from typing import Final

UNFINISHED: Final = (
    "aggregations/bounds.py bounds",
    "aggregations/bounds.py sized",
    "aggregations/candidates.py clamped",
    "aggregations/column_values.py bounds",
    "aggregations/column_values.py measured",
    "aggregations/column_values.py ranged",
    "aggregations/column_values.py written",
    "aggregations/decimals.py shortest",
    "aggregations/extremes.py extremes",
    "aggregations/lattice.py above",
    "aggregations/lattice.py below",
    "aggregations/lattice.py centred",
    "aggregations/lattice.py lattice",
    "aggregations/lattice.py spread",
    "aggregations/lattice.py steps",
    "aggregations/matching.py matched",
    "aggregations/measurements.py rounded",
    "aggregations/measurements.py scaled",
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
    "expressions/lattice.py steps",
    "expressions/logic.py negated",
    "expressions/numeric.py sqrt",
    "numbers/radical.py sqrt",
    "numbers/rounding.py shortest",
    "query/builder.py table",
)
