"""PostgreSQL's dialect: the forms that decide about privacy, types and operations."""

from collections.abc import Sequence
from typing import ClassVar, Final, final

import pyarrow as pa
from sqlglot import exp

from sordino.aggregations.measurement import MOST
from sordino.data.source import LONGEST, AbstractSource, kind_of
from sordino.engines.postgres import entries as sql_cells
from sordino.engines.postgres import entries as sql_choices
from sordino.engines.postgres import entries as sql_dates
from sordino.engines.postgres import entries as sql_lists
from sordino.engines.postgres import entries as sql_numbers
from sordino.engines.postgres import entries as sql_text
from sordino.engines.postgres.doubles import all_of, numeric
from sordino.engines.postgres.tables import TableOfServer
from sordino.engines.statements import templates
from sordino.engines.statements.dialect import SALT, AbstractDialect
from sordino.engines.statements.templates import Sql

NUL: Final = "\x00"
_TYPES: Final = {
    "i64": "BIGINT",
    "f64": "DOUBLE PRECISION",
    "text": "TEXT",
    "bool": "BOOLEAN",
    "date": "DATE",
    "time": "TIMESTAMP",
}


@final
class PostgresDialect(AbstractDialect):
    """The dialect of PostgreSQL 14 and later, in a database of UTF-8."""

    name = "postgres"
    types: ClassVar = {
        **_TYPES,
        **{f"list[{kind}]": f"{name}[]" for kind, name in _TYPES.items()},
    }
    wide_type = pa.decimal128(38, 0)
    digest_type = pa.int64()
    entries: ClassVar = {
        **sql_cells.ENTRIES,
        **sql_choices.ENTRIES,
        **sql_numbers.ENTRIES,
        **sql_text.ENTRIES,
        **sql_dates.ENTRIES,
        **sql_lists.ENTRIES,
    }
    unheld = frozenset({NUL})

    def placeholder(self, number: int) -> Sql:
        """Return $n."""
        return exp.Parameter(this=exp.Literal.number(number))

    def in_place(self, source: AbstractSource, places: Sequence[int]) -> Sql | None:
        """Return the columns of a table of the server, each as our type."""
        match source:
            case TableOfServer():
                return source.item(places)
            case _:
                return None

    def value_of(self, column: Sql, arrow: pa.DataType) -> Sql:
        """Return a value, or null for a text that is too long.

        All else is held to our types where a table is read (`column_types`).
        """
        kind = kind_of(arrow)
        if kind == "list[text]":
            return sql_lists.each_entry(
                column, lambda entry: self.value_of(entry, pa.string())
            )
        if kind != "text":
            return column
        size = templates.function("octet_length", column.copy())
        return templates.case([
            (templates.is_at_most(size, templates.whole(LONGEST)), column)
        ])

    def digest(self, values: Sequence[Sql]) -> Sql:
        """Return a hash of a keyed hash of a row, in which null is like no value.

        The inner hash alone comes in far from random orders (docs/adr/0126).
        """
        row = templates.function("ROW", *(value.copy() for value in values))
        inner = templates.function("hash_record_extended", row, _salt())
        return templates.function("hashint8extended", inner, _salt())

    def order_term(self, value: Sql) -> exp.Ordered:
        """Return the value: NaN is greater than all."""
        return exp.Ordered(this=value, nulls_first=True)

    def same(self, left: Sql, right: Sql) -> Sql:
        """Return whether arrays of one entry are equal: nulls in them are, and hash.

        IS NOT DISTINCT FROM means the same, but rows are joined by it one with each.
        """
        return exp.Array(expressions=[left]).eq(exp.Array(expressions=[right]))

    def first(self, value: Sql, kind: str) -> Sql:
        """Return the first entry of all values, which are one; of lists the least."""
        if kind not in _TYPES:
            return exp.Min(this=value)
        every = exp.Paren(this=templates.function("array_agg", value))
        return exp.Bracket(this=every, expressions=[templates.whole(1)], offset=1)

    def in_part(self, values: Sequence[Sql], number: int, count: int) -> Sql:
        """Return the rest of the digest without its sign, compared."""
        unsigned = templates.infix(
            exp.BitwiseAnd, self.digest(values), templates.bigint(2**63 - 1)
        )
        rest = templates.infix(exp.Mod, unsigned, templates.whole(count))
        return templates.is_equal(rest, templates.whole(number))

    def unnest(self, entries: Sql, limit: int | None) -> Sql:
        """Return the unnested list, or the first part of it."""
        return sql_lists.first_entries(entries, limit)

    def semi_join(
        self, rows: exp.Select, other: exp.Table, on: exp.Condition
    ) -> exp.Select:
        """Return WHERE EXISTS, which is planned as a semi join."""
        return rows.where(templates.exists(other, on), copy=False)

    def anti_join(
        self, rows: exp.Select, other: exp.Table, on: exp.Condition
    ) -> exp.Select:
        """Return WHERE NOT EXISTS, which is planned as an anti join."""
        return rows.where(exp.not_(templates.exists(other, on)), copy=False)

    def stores(self, *, shared: bool) -> bool | None:
        """Store what several read; what one reads is a part of its plan."""
        return shared or None

    def exact_sum(
        self, value: Sql, factor: int, shift: int, *, complete: bool = False
    ) -> Sql:
        """Return the sum: that of 64-bit integers is a number of any length here."""
        total: Sql = exp.Coalesce(
            this=exp.Sum(this=value), expressions=[templates.whole(0)]
        )
        if factor != 1:
            total = templates.multiplied_by(total, templates.whole(factor))
        if shift:
            there = exp.Star() if complete else value.copy()
            count = numeric(exp.Count(this=there))
            total = templates.plus(
                total, templates.multiplied_by(count, templates.whole(shift))
            )
        return total

    def sum_of_totals(self, total: Sql) -> Sql:
        """Return the sum of numbers of any length."""
        return self.exact_sum(total, 1, 0)

    def row_count(self, times: int) -> Sql:
        """Return count(*) times a constant, as a number of any length."""
        count = numeric(exp.Count(this=exp.Star()))
        return templates.multiplied_by(count, templates.whole(times))

    def narrow_total(self, total: Sql) -> Sql:
        """Return the nearest total within the limits, in 64 bits."""
        low = templates.function("greatest", total, templates.whole(-MOST))
        return templates.as_type(
            templates.function("least", low, templates.whole(MOST)), "BIGINT"
        )

    def distinct(self, values: Sequence[Sql]) -> Sql:
        """Return count(distinct ...), which skips null, of one value or of a row."""
        if len(values) == 1:
            counted = values[0].copy()
        else:
            there = [
                templates.negation(templates.is_missing(value.copy()))
                for value in values
            ]
            row = templates.function("ROW", *(value.copy() for value in values))
            counted = templates.case([(all_of(*there), row)])
        return numeric(exp.Count(this=exp.Distinct(expressions=[counted])))


def _salt() -> Sql:
    """Return the key, which is bound."""
    return templates.as_type(exp.Placeholder(this=SALT), "BIGINT")


POSTGRES: Final = PostgresDialect()
