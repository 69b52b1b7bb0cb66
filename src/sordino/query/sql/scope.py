"""Names and literals: what columns and words of a text stand for.

IN (SELECT ... FROM a public table) is a list of values that everybody may know. They
are read when the text is, from the rows that the session froze, and stand in the
request: a table that has changed since makes another request.
"""

import math
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, TypeAlias, final

from sqlglot import exp

from sordino.aggregations.sum import is_weighed
from sordino.expressions.choices import MOST_VALUES
from sordino.expressions.language import Expression, col, lit, when
from sordino.expressions.literals import MOST
from sordino.expressions.schema import Schema, unknown
from sordino.expressions.tree import AbstractTree
from sordino.query.builder import Query, table
from sordino.query.sql.reading import Clause, unknown_part
from sordino.query.steps import AbstractCatalog


@final
@dataclass(frozen=True, eq=False)
class Value:
    """An expression, its type, and what SQL would say of it besides."""

    expression: Expression
    type: str
    decimal: bool = False
    """Whether it is an exact decimal in SQL, where ours is a double."""
    scaled: "Scaled | None" = None
    """Its digits, if they are known exactly."""

    @property
    def bare(self) -> bool:
        """Whether it is the same for every row."""
        return not self.expression.names()

    @property
    def constant(self) -> Any:
        """Value of a literal; None of all else."""
        return self.expression.tree.constant


Scaled: TypeAlias = tuple[Expression, int]
"""A whole number, and how many of its digits stand behind the point."""


class AbstractScope(ABC):
    """Columns by name, and the rules by which expressions of them are understood."""

    rules: "Mapping[type[Any], Rule]"

    @property
    @abstractmethod
    def tables_by_name(self) -> AbstractCatalog:
        """Tables of the session."""

    @abstractmethod
    def facts(self) -> Schema:
        """Columns that expressions read."""

    @abstractmethod
    def column(self, clause: Clause) -> Value:
        """Column that a name stands for; an unknown one is refused."""

    @abstractmethod
    def instead(self, clause: Clause) -> Value | None:
        """Value of an expression that is known as a whole; else None."""

    @abstractmethod
    def lacks_quotients(self, clause: Clause) -> bool:
        """Whether a quotient by this is missing where it is 0, if it ever is."""

    def value(self, clause: Clause) -> Value:
        """Value of an expression; what is not understood is refused."""
        known = self.instead(clause)
        if known is not None:
            return known
        rule = self.rules.get(clause.kind)
        if rule is None:
            raise unknown_part(clause)
        with clause.wrap_refusals():
            return rule(clause, self)

    def value_of(self, expression: Expression, *, decimal: bool = False) -> Value:
        """Value of an expression; one whose types make no sense is refused."""
        return Value(expression, expression.column(self.facts()).type, decimal)


Rule: TypeAlias = Callable[[Clause, AbstractScope], Value]


Visible: TypeAlias = dict[str, str | None]
"""The columns that a name can stand for, and what they are called in the query; None
for one that is there and must not be asked for so."""


def identifier(clause: Clause) -> tuple[str, bool]:
    """Name as it is written, and whether it is in quotes."""
    if clause.kind is not exp.Identifier:
        raise clause.refusal(
            "a name belongs here, of a column or of a table",
            "Write the name alone, as in SELECT ... AS visits.",
        )
    return str(clause.scalar("this")), bool(clause.scalar("quoted"))


def spellings(name: str, quoted: bool, known: Iterable[str]) -> list[str]:  # noqa: FBT001 as `identifier` has it
    """Find known names that a name may stand for: in quotes only the very same.

    A name as it is spelled goes before those that differ in case.
    """
    listed = list(known)
    if name in listed or quoted:
        return [name] if name in listed else []
    return [each for each in listed if each.lower() == name.lower()]


def alias(clause: Clause) -> str | None:
    """Name that a column or a table is given."""
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
        return self.catalog

    @property
    def ids(self) -> str | None:
        """Column of ids, None where rows are protected."""
        return self.query.resolve(self.catalog).ids

    def facts(self) -> Schema:
        return self.schema

    def with_query(self, query: Query, names: Visible | None = None) -> "RowScope":
        """Rows of another query: with the same names, or with these of no table."""
        schema = query.resolve(self.catalog).schema
        if names is None:
            return replace(self, query=query, schema=schema)
        return replace(self, query=query, schema=schema, columns=names, tables={})

    def is_weighed(self, tree: AbstractTree) -> bool:
        """Whether sums of it need no bounds: one unit moves them by a known amount."""
        weighed = self.query.resolve(self.catalog).weighed
        return is_weighed(Expression(tree), weighed, self.schema)

    def column(self, clause: Clause) -> Value:
        return self.value_of(col(self.column_name(clause)))

    def column_name(self, clause: Clause) -> str:
        """Name of a column in the query."""
        name = clause.take("this")
        if name.kind is exp.Star:
            raise clause.refusal(
                "* would show rows of people",
                "Ask something of them: COUNT(*), or AVG(...) of a column.",
            )
        return self.find(name, clause.some("table"))

    def has_table(self, clause: Clause) -> bool:
        """Whether a column is written with one of these tables."""
        return identifier(clause.take("table"))[0].lower() in self.tables

    def find(self, name: Clause, of: Clause | None) -> str:
        """Column that a name stands for, in one table or in any."""
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
        """Whether an unquoted name stands for a column."""
        return bool(spellings(name, False, self.columns))

    def instead(self, _clause: Clause) -> Value | None:
        return None

    def lacks_quotients(self, _clause: Clause) -> bool:
        return False


def _find(clause: Clause, columns: Visible) -> str:
    name, quoted = identifier(clause)
    close = spellings(name, quoted, columns)
    if len(close) > 1:
        raise clause.refusal(
            f"{name} could mean {' or '.join(close)}",
            "Write the one that is meant as it is spelled, in double quotes.",
        )
    if not close:
        raise clause.wrap(unknown("column", name, columns))
    column = columns[close[0]]
    if column is None:  # of both sides of a join, and they may differ
        raise clause.refusal(
            f"{name} is a column of both tables",
            f"Say of which, as in a.{name}.",
        )
    return column


_WHOLE: Final = re.compile(r"[0-9]+")


def _literal(clause: Clause, scope: AbstractScope) -> Value:
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
        value = scope.value_of(lit(number), decimal=decimal)
        return replace(value, scaled=_digits(text) if decimal else None)
    if int(text) > MOST:
        raise clause.refusal(
            "this whole number does not fit into 64 bits",
            "Write it as a double: 1e20.",
        )
    return scope.value_of(lit(int(text)))


def _digits(text: str) -> Scaled | None:
    whole, _, fraction = text.partition(".")
    fraction = fraction.rstrip("0")
    digits = int(whole + fraction)
    # 10**18 fits into 64 bits: no further digit is compared exactly
    return (
        (lit(digits), len(fraction)) if digits <= MOST and len(fraction) < 19 else None
    )


def is_null_word(clause: Clause) -> bool:
    """Whether a part of a text is NULL itself."""
    return clause.bare().kind is exp.Null


def whole_number(clause: Clause, what: str, *, quoted: bool = False) -> int:
    """Whole number that is written in the text: in quotes only where SQL has it so."""
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
    exp.Paren: lambda clause, scope: scope.value(clause.take("this")),
    exp.Column: lambda clause, scope: scope.column(clause),
    exp.Literal: _literal,
    exp.Boolean: lambda clause, scope: scope.value_of(lit(bool(clause.scalar("this")))),
}


Meet: TypeAlias = Callable[[Clause, list[Value]], list[Value]]
"""(clause, values) -> the values in one type"""
_ONE_COLUMN = "Write IN (SELECT column FROM a public table WHERE ...)."


def in_public_list(clause: Clause, scope: AbstractScope, meet: Meet) -> Value:
    """Whether a value is among those that a query of a public table has."""
    this, select = clause.take("this"), _select(clause.take("query"))
    rows = _public_rows(select, scope)
    listed = select.each("expressions")
    if len(listed) != 1 or listed[0].kind is exp.Star:
        raise select.refusal("IN takes a query of one column", _ONE_COLUMN)
    subject, member = meet(clause, [scope.value(this), rows.value(listed[0])])
    where = select.some("where")
    kept = None if where is None else rows.value(where.look().take("this"))
    if member.type.startswith("list"):
        raise listed[0].refusal("a list is not compared", "Select another column.")
    values = _values(rows, member.expression, kept)
    known = sorted((value for value in values if value is not None), key=repr)
    if len(known) > MOST_VALUES:
        raise select.refusal(
            f"this query has more than {MOST_VALUES} values",
            "Join the public table instead.",
        )
    if not values:
        return scope.value_of(lit(False))
    among = subject.expression.is_in(known)
    if None not in values:
        return scope.value_of(among)
    # with NULL in the list, a value that is not found may be that: SQL has no answer
    return scope.value_of(when(among).then(True).otherwise(None))


def _select(clause: Clause) -> Clause:
    inner = clause.bare()
    while inner.kind is exp.Subquery:
        inner = inner.take("this")
    if inner.kind is not exp.Select:
        raise inner.refusal("IN takes one SELECT here", _ONE_COLUMN)
    distinct = inner.some("distinct")
    if distinct is not None:
        distinct.look()
    return inner


def _public_rows(select: Clause, scope: AbstractScope) -> RowScope:
    start = select.some("from_")
    named = None if start is None else start.look().take("this")
    if named is None or named.kind is not exp.Table:
        raise select.refusal("IN takes a query of a public table", _ONE_COLUMN)
    name, quoted = identifier(named.take("this"))
    catalog = scope.tables_by_name
    close = spellings(name, quoted, catalog.public_names())
    if len(close) != 1:  # a private table's values would be told at no charge
        raise named.refusal(
            f"{name} is no public table, and IN takes values that everybody may know",
            "Join it, or give the session a sd.PublicTable of the values.",
        )
    schema = catalog.public(close[0]).schema
    columns: Visible = {column: column for column in schema}
    owners = {(alias(named) or name).lower(): columns}
    return RowScope(table(close[0]), catalog, schema, columns, owners, scope.rules)


def _values(rows: RowScope, member: Expression, kept: Value | None) -> set[Any]:
    names = sorted({*member.names(), *(kept.expression.names() if kept else ())})
    read = rows.catalog.public_rows(rows.query.table).select(names).to_pylist()
    return {
        member.value(row)
        for row in read
        if kept is None or kept.expression.value(row) is True  # NULL keeps no row
    }
