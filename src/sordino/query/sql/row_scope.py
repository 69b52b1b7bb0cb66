"""Names of columns and tables: unquoted ones are found whatever the case."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias, final

from sqlglot import exp

from sordino.aggregations.weighed_sums import is_weighed
from sordino.expressions.language import Expression, col
from sordino.expressions.tree import AbstractTree
from sordino.query.builder import Query
from sordino.query.relation import AbstractCatalog
from sordino.query.sql.reading import Clause
from sordino.query.sql.scope import AbstractScope, Rule, Value
from sordino.schema import Schema, unknown

Visible: TypeAlias = dict[str, str | None]
"""The columns that a name can stand for, and what they are called in the query; None
for one that is there and must not be asked for so."""


def identifier(clause: Clause) -> tuple[str, bool]:
    """Return a name as it is written, and whether it is in quotes."""
    if clause.kind is not exp.Identifier:
        raise clause.refusal(
            "a name belongs here, of a column or of a table",
            "Write the name alone, as in SELECT ... AS visits.",
        )
    return str(clause.scalar("this")), bool(clause.scalar("quoted"))


def alias(clause: Clause) -> str | None:
    """Return the name that a column or a table is given."""
    named = clause.some("alias")
    if named is None:
        return None
    if named.kind is exp.TableAlias:
        named = named.take("this")
    return identifier(named)[0]


@final
@dataclass(frozen=True, eq=False)
class RowScope(AbstractScope):
    """The rows of a query, and the names of their columns."""

    query: Query
    catalog: AbstractCatalog
    schema: Schema
    columns: Visible
    tables: Mapping[str, Visible]
    """The columns of each table, by its name in small letters."""
    rules: Mapping[type[Any], Rule]

    @property
    def tables_by_name(self) -> AbstractCatalog:
        """Return the tables of the session."""
        return self.catalog

    def facts(self) -> Schema:
        """Return the columns of the query."""
        return self.schema

    def with_query(self, query: Query) -> "RowScope":
        """Return other rows with the same names."""
        schema = query.resolve(self.catalog).schema
        return replace(self, query=query, schema=schema)

    def is_weighed(self, tree: AbstractTree) -> bool:
        """Tell whether it is a column that one unit adds so much to, and no more."""
        weighed = self.query.resolve(self.catalog).weighed
        return is_weighed(Expression(tree), weighed, self.schema)

    def column(self, clause: Clause) -> Value:
        """Return a column."""
        return self.value_of(col(self.column_name(clause)))

    def column_name(self, clause: Clause) -> str:
        """Return what a column is called in the query."""
        name = clause.take("this")
        if name.kind is exp.Star:
            raise clause.refusal(
                "* would show rows of people",
                "Ask something of them: COUNT(*), or AVG(...) of a column.",
            )
        return self.find(name, clause.some("table"))

    def has_table(self, clause: Clause) -> bool:
        """Tell whether a column says that it is of one of these tables."""
        return identifier(clause.take("table"))[0].lower() in self.tables

    def find(self, name: Clause, of: Clause | None) -> str:
        """Return what a name stands for, in a table or in any."""
        columns = self.columns
        if of is not None:
            owner = identifier(of)[0]
            if owner.lower() not in self.tables:
                raise of.refusal(
                    f"there is no table {owner} in this FROM",
                    f"There are {', '.join(self.tables)}.",
                )
            columns = self.tables[owner.lower()]
        return _find(name, columns)

    def knows(self, name: str) -> bool:
        """Tell whether an unquoted name stands for a column."""
        return any(column.lower() == name.lower() for column in self.columns)

    def instead(self, clause: Clause) -> Value | None:
        """Return nothing: rows are known by their columns alone."""
        del clause
        return None

    def counts(self, clause: Clause) -> bool:
        """Return False: a row counts nothing."""
        del clause
        return False


def _find(clause: Clause, columns: Visible) -> str:
    """Return the column of a name, or refuse it."""
    name, quoted = identifier(clause)
    close = [known for known in columns if known == name]
    if not close and not quoted:
        close = [known for known in columns if known.lower() == name.lower()]
    if len(close) > 1:
        raise clause.refusal(
            f"{name} could mean {' or '.join(close)}",
            "Write the one that is meant as it is spelled, in double quotes.",
        )
    if not close:
        raise clause.wrap(unknown("column", name, columns))
    column = columns[close[0]]
    if column is None:
        raise clause.refusal(
            f"{name} is a column of both tables",
            f"Say of which, as in a.{name}.",
        )
    return column
