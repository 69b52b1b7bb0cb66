"""The text of a statement: a part that is not stored stands where it is read.

    WITH r0 AS NOT MATERIALIZED (SELECT ...) SELECT r0.c0 FROM r0
    ->  SELECT r0.c0 FROM (SELECT ...) AS r0

Without its optimiser DuckDB stores each part that has a name, whatever is said of it.
"""

from typing import final

from sqlglot import exp
from sqlglot.generators.duckdb import DuckDBGenerator


def named_parts(tree: exp.Select) -> list[exp.CTE]:
    """Return the parts of a statement, each before those that read it."""
    named = tree.args.get("with_")
    return [] if named is None else named.expressions


def is_stored(part: exp.CTE) -> bool:
    """Tell whether the rows of a part are stored, for others to read."""
    return part.args.get("materialized") is not False


def nested_text(tree: exp.Select) -> str:
    """Return the text of a statement; however deep it is, none of it is recursive.

    >>> part = exp.select("1 AS c0")
    >>> tree = exp.select("r0.c0").from_("r0").with_("r0", part, materialized=False)
    >>> nested_text(tree)
    'SELECT r0.c0 FROM (SELECT 1 AS c0) AS r0'
    """
    writes = _NestedGenerator()
    for part in named_parts(tree):
        text = writes.generate(part.this, copy=False)
        if is_stored(part):
            writes.stored.append(f"{part.alias} AS MATERIALIZED ({text})")
        else:
            writes.nested[part.alias] = text
    return writes.generate(tree, copy=False)


@final
class _NestedGenerator(DuckDBGenerator):
    """Writes a part where it is read, by the text that it was given."""

    def __init__(self) -> None:
        """Start with no part."""
        super().__init__(dialect="duckdb")
        self.nested: dict[str, str] = {}
        self.stored: list[str] = []

    def table_sql(self, expression: exp.Table, sep: str = " AS ") -> str:
        """Return a table, or the part of that name."""
        text = self.nested.get(expression.name)
        if text is None:
            return super().table_sql(expression, sep)
        return f"({text}){sep}{expression.name}"

    def with_sql(self, expression: exp.With) -> str:
        """Return the parts that are stored."""
        del expression
        return f"WITH {', '.join(self.stored)}" if self.stored else ""
