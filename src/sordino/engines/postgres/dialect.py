"""PostgreSQL's dialect: the forms that decide about privacy, types and operations."""

from collections.abc import Sequence
from typing import ClassVar, Final, final

import pyarrow as pa
from sqlglot import exp

from sordino.aggregations.measurement import MOST
from sordino.data.source import LONGEST, AbstractSource, kind_of
from sordino.engines.postgres.doubles import all_of, numeric
from sordino.engines.postgres.entries import ENTRIES, each_entry, first_entries
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
    entries: ClassVar = ENTRIES
    absent: ClassVar = {
        "modulo of f64": "it has no remainder of doubles; a - (a // b) * b is that, "
        "but for rounding",
        **dict.fromkeys(
            ("extract", "replace_matches"),
            "of the parts that fit it takes the longest, not the first",
        ),
    }
    unheld = frozenset({NUL})

    def placeholder(self, number: int) -> Sql:
        return exp.Parameter(this=exp.Literal.number(number))

    def in_place(self, source: AbstractSource, places: Sequence[int]) -> Sql | None:
        match source:
            case TableOfServer():
                return source.item(places)
            case _:
                return None

    def value_of(self, column: Sql, arrow: pa.DataType) -> Sql:
        # all else is held to our types where the table is read (`column_types`)
        kind = kind_of(arrow)
        if kind == "list[text]":
            return each_entry(column, lambda item: self.value_of(item, pa.string()))
        if kind != "text":
            return column
        size = templates.function("octet_length", column.copy())
        return templates.case([
            (templates.is_at_most(size, templates.whole(LONGEST)), column)
        ])

    def digest(self, values: Sequence[Sql]) -> Sql:
        # the inner hash alone comes in far from random orders (docs/adr/0126)
        row = templates.function("ROW", *(value.copy() for value in values))
        inner = templates.function("hash_record_extended", row, _salt())
        return templates.function("hashint8extended", inner, _salt())

    def order_term(self, value: Sql) -> exp.Ordered:
        # NaN is greater than all numbers
        return exp.Ordered(this=value, nulls_first=True)

    def same(self, left: Sql, right: Sql) -> Sql:
        # IS NOT DISTINCT FROM means the same, but rows are joined by it one with each;
        # nulls within arrays are equal, and hash
        return exp.Array(expressions=[left]).eq(exp.Array(expressions=[right]))

    def first(self, value: Sql, kind: str) -> Sql:
        # the group has one row; an array of arrays would have one length for all
        if kind not in _TYPES:
            return exp.Min(this=value)
        every = exp.Paren(this=templates.function("array_agg", value))
        return exp.Bracket(this=every, expressions=[templates.whole(1)], offset=1)

    def in_part(self, values: Sequence[Sql], number: int, count: int) -> Sql:
        # without the sign: a remainder could be negative
        unsigned = templates.infix(
            exp.BitwiseAnd, self.digest(values), templates.bigint(2**63 - 1)
        )
        rest = templates.infix(exp.Mod, unsigned, templates.whole(count))
        return templates.is_equal(rest, templates.whole(number))

    def unnest(self, entries: Sql, limit: int | None) -> Sql:
        return first_entries(entries, limit)

    def semi_join(
        self, rows: exp.Select, other: exp.Table, on: exp.Condition
    ) -> exp.Select:
        # planned as a semi join
        return rows.where(templates.exists(other, on), copy=False)

    def anti_join(
        self, rows: exp.Select, other: exp.Table, on: exp.Condition
    ) -> exp.Select:
        # planned as an anti join
        return rows.where(exp.not_(templates.exists(other, on)), copy=False)

    def stores(self, *, shared: bool) -> bool | None:
        # what one part reads is planned with it
        return shared or None

    def exact_sum(
        self, value: Sql, factor: int, shift: int, *, complete: bool = False
    ) -> Sql:
        # sum(bigint) is numeric, of any length: no sum overflows
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
        return self.exact_sum(total, 1, 0)

    def missing_rows(self, value: Sql, times: int) -> Sql:
        # equal counts are taken once: the values beside it are not looked at again
        there = numeric(exp.Count(this=value))
        return templates.minus(
            self.row_count(times),
            templates.multiplied_by(there, templates.whole(times)),
        )

    def row_count(self, times: int) -> Sql:
        count = numeric(exp.Count(this=exp.Star()))
        return templates.multiplied_by(count, templates.whole(times))

    def narrow_total(self, total: Sql) -> Sql:
        low = templates.function("greatest", total, templates.whole(-MOST))
        return templates.as_type(
            templates.function("least", low, templates.whole(MOST)), "BIGINT"
        )

    def distinct(self, values: Sequence[Sql]) -> Sql:
        # count(distinct) skips a null, but not a row that has one: that is made null
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
    return templates.as_type(exp.Placeholder(this=SALT), "BIGINT")


POSTGRES: Final = PostgresDialect()
