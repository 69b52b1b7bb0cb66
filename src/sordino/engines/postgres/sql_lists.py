"""Lists are arrays of one dimension: how each cell becomes one (docs/adr/0221).

The type of an array tells no dimensions, and its numbering may begin anywhere. So each
is made anew of its entries where it is read, and above that all of them are alike.
"""

from collections.abc import Callable, Mapping
from typing import Final

from sqlglot import exp

from sordino.engines.postgres.guards import all_of, let
from sordino.engines.sql import pieces as sql
from sordino.engines.sql.pieces import Entry, Sql, Written
from sordino.expressions import pieces_of_text
from sordino.expressions.tree import Operation

MOST: Final = 2**24
"""Entries of a list: a copy of them, however wide, is less than a cell can hold."""


def each_entry(entries: Sql, rule: Callable[[Sql], Sql]) -> Sql:
    """Return a list with a rule applied to its entries, null for what is no list."""
    dimensions = exp.Coalesce(
        this=sql.function("array_ndims", entries.copy()), expressions=[sql.whole(1)]
    )
    size = sql.function("cardinality", entries.copy())
    is_list = all_of(
        sql.is_equal(dimensions, sql.whole(1)), sql.is_at_most(size, sql.whole(MOST))
    )
    names = [exp.to_identifier(name) for name in ("e", "v", "n")]
    rows = exp.Unnest(
        expressions=[entries.copy()],
        alias=exp.TableAlias(this=names[0], columns=[names[1]]),
        offset=names[2],
    )
    select = exp.Select().select(rule(exp.column("v", table="e"))).from_(rows)
    listed = select.order_by(exp.column("n", table="e"))
    return sql.case([(is_list, exp.Array(expressions=[listed]))])


def first_entries(entries: Sql, limit: int | None) -> Sql:
    """Return the first entries of a list, one a row."""
    if limit is not None:
        part = exp.Slice(this=sql.whole(1), expression=sql.whole(limit))
        listed = sql.in_parentheses(entries.copy())
        entries = exp.Bracket(this=listed, expressions=[part], offset=1)
    return sql.function("unnest", entries.copy())


def _split_text(to: Written) -> Sql:
    """Return what stands between separators; an empty text has one entry."""

    def pieces(text: Sql) -> Sql:
        separator = to.bind(to.options["separator"], "text")
        empty = sql.is_equal(text.copy(), sql.letters(""))
        alone = exp.Array(expressions=[text.copy()])
        split = sql.function("string_to_array", text.copy(), separator)
        return sql.case([(empty, alone)], split)

    return let((to[0],), pieces)


ENTRIES: Final[Mapping[Operation, Entry]] = {pieces_of_text.SPLIT: _split_text}
