"""DuckDB's dialect: the forms that decide about privacy, types and operations.

Kernel: totals.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar, Final, final

import pyarrow as pa
from sqlglot import exp

from sordino.aggregations.measurement import MOST
from sordino.data.source import LONGEST, AbstractSource, is_list, kind_of, storage_type
from sordino.engines.duckdb import bounds, tables
from sordino.engines.duckdb.entries import ENTRIES, size_of_double, whole_double
from sordino.engines.duckdb.plans import nested_text
from sordino.engines.statements import templates
from sordino.engines.statements.dialect import (
    LAST_DAY,
    LAST_MOMENT,
    SALT,
    AbstractDialect,
    CellRule,
    each_of,
    integer_cell,
    within_calendar,
)
from sordino.engines.statements.templates import Sql, function, whole

_TYPES: Final = {
    "i64": "BIGINT",
    "f64": "DOUBLE",
    "text": "VARCHAR",
    "bool": "BOOLEAN",
    "date": "DATE",
    "time": "TIMESTAMP",
}


@final
class DuckDBDialect(AbstractDialect):
    """The dialect of DuckDB 2."""

    name = "duckdb"
    types: ClassVar = _TYPES | {
        f"list[{kind}]": f"{name}[]" for kind, name in _TYPES.items()
    }
    wide_type = pa.decimal128(38, 0)
    digest_type = pa.uint64()
    key_hash = "hash"
    tells_sums = True
    narrow_types: ClassVar = {8: "TINYINT", 16: "SMALLINT", 32: "INTEGER", 64: "BIGINT"}
    entries: ClassVar = ENTRIES
    rules: ClassVar = bounds.RULES

    def placeholder(self, number: int) -> Sql:
        return exp.Parameter(this=exp.Literal.number(number))

    def text(self, tree: exp.Select) -> str:
        return nested_text(tree)

    def in_place(self, source: AbstractSource, places: Sequence[int]) -> Sql | None:
        return tables.in_place(source, places)

    def value_of(self, column: Sql, arrow: pa.DataType) -> Sql:
        bare = storage_type(arrow)
        if is_list(bare):
            return each_of("list_transform", column, bare.value_type, self.value_of)
        return _RULES[kind_of(arrow) or ""](column, arrow)

    def digest(self, values: Sequence[Sql]) -> Sql:
        # one hash of several values mixes them too weakly: for a fixed first value the
        # others come in far from random orders; the hash around it mends that
        missing = [value.is_(exp.null()) for value in values]
        salt = exp.Placeholder(this=SALT)
        inner = [value.copy() for value in (*values, *missing, salt)]
        return function("hash", function("hash", *inner))

    def order_term(self, value: Sql) -> exp.Ordered:
        # a total order: NaN is greater than all numbers, texts go by their bytes
        return exp.Ordered(this=value, nulls_first=True)

    def same(self, left: Sql, right: Sql) -> Sql:
        return exp.NullSafeEQ(this=left, expression=right)

    def first(self, value: Sql, kind: str) -> Sql:
        # the group has one row
        del kind
        return exp.First(this=value)

    def semi_join(
        self, rows: exp.Select, other: exp.Table, on: exp.Condition
    ) -> exp.Select:
        return rows.join(other, on=on, join_type="semi", copy=False)

    def anti_join(
        self, rows: exp.Select, other: exp.Table, on: exp.Condition
    ) -> exp.Select:
        return rows.join(other, on=on, join_type="anti", copy=False)

    def stores(self, *, shared: bool) -> bool:
        return shared

    def unnest(self, entries: Sql, limit: int | None) -> Sql:
        if limit is not None:
            first, last = exp.Literal.number(1), exp.Literal.number(limit)
            entries = function("list_slice", entries.copy(), first, last)
        return function("unnest", entries.copy())

    def in_part(self, values: Sequence[Sql], number: int, count: int) -> Sql:
        rest = exp.Mod(this=self.digest(values), expression=whole(count))
        return rest.eq(whole(number))

    def exact_sum(
        self, value: Sql, factor: int, shift: int, *, complete: bool = False
    ) -> Sql:
        # 128 bits hold it below 2**40 rows: a sum of that many i64 has 103 bits,
        # factors have 2, shifts 42
        total = _or_zero(exp.Sum(this=value))
        if factor != 1:
            total = templates.as_type(total, "HUGEINT") * templates.as_type(
                whole(factor), "HUGEINT"
            )
        if shift:
            there = exp.Star() if complete else value.copy()
            count = templates.as_type(exp.Count(this=there), "HUGEINT")
            total += count * templates.as_type(whole(shift), "HUGEINT")
        return total

    def brief_sum(self, value: Sql) -> Sql:
        # however doubles are added, no partial sum exceeds the number of rows times the
        # greatest of them: an integer that a double holds up to 2**53
        # (docs/proofs/queries.md, lemma 13). Rows are counted, not believed to be few
        most = size_of_double(value)
        if most is None:
            return templates.as_type_or_null(_or_zero(exp.Sum(this=value)), "BIGINT")
        few = exp.Count(this=exp.Star()) <= whole(MOST // max(1, most))
        total = templates.as_type(_or_zero(exp.Sum(this=value.this)), "BIGINT")
        return templates.case([(few, total)])

    def name_value(self, value: Sql) -> tuple[Sql, Callable[[Sql], Sql]]:
        most = size_of_double(value)
        if most is None:
            return super().name_value(value)
        # null as a double or as an i64: the integers that it holds are i64, too
        return value.this, lambda column: whole_double(column, most)

    def sum_of_totals(self, total: Sql) -> Sql:
        return self.exact_sum(templates.as_type(total, "HUGEINT"), 1, 0)

    def row_count(self, times: int) -> Sql:
        count = templates.as_type(exp.Count(this=exp.Star()), "HUGEINT")
        return count * templates.as_type(whole(times), "HUGEINT")

    def narrow_total(self, total: Sql) -> Sql:
        low = function("greatest", total, whole(-MOST))
        return templates.as_type(function("least", low, whole(MOST)), "BIGINT")

    def distinct(self, values: Sequence[Sql]) -> Sql:
        # count(distinct) skips a null, but not a row that has one: that is made null
        if len(values) == 1:
            counted = values[0].copy()
        else:
            there = [exp.not_(value.copy().is_(exp.null())) for value in values]
            row = function("row", *(value.copy() for value in values))
            counted = exp.Case().when(exp.and_(*there), row)
        count = exp.Count(this=exp.Distinct(expressions=[counted]))
        return templates.as_type(count, "HUGEINT")


def _or_zero(total: Sql) -> Sql:
    return exp.Coalesce(this=total, expressions=[whole(0)])


_EXACT: Final = 15  # digits of decimals that a double holds as integers


def _double(value: Sql, arrow: pa.DataType) -> Sql:
    # adding 0.0 takes the sign of a zero, which would tell -0.0 from 0.0, and nothing
    # else
    bare = storage_type(arrow)
    if pa.types.is_decimal(bare) and bare.precision > _EXACT:
        # as a number it would be rounded twice: to a double, and by the power of ten
        value = templates.as_type(value, "VARCHAR")
    if not pa.types.is_float64(bare):
        value = templates.as_type_or_null(value, "DOUBLE")
    return value + templates.as_type(whole(0), "DOUBLE")


def _text(value: Sql, arrow: pa.DataType) -> Sql:
    del arrow  # a dictionary, an enumeration or a UUID is cast, for a text it is idle
    value = templates.as_type(value, "VARCHAR")
    fits = function("strlen", value.copy())
    return exp.Case().when(fits <= whole(LONGEST), value)


def _date(value: Sql, arrow: pa.DataType) -> Sql:
    del arrow
    return within_calendar(templates.as_type_or_null(value, "DATE"), "DATE", LAST_DAY)


def _time(value: Sql, arrow: pa.DataType) -> Sql:
    del arrow  # without a zone: others are read by Arrow (`is_plain`)
    time = templates.as_type_or_null(value, "TIMESTAMP")
    return within_calendar(time, "TIMESTAMP", LAST_MOMENT)


_RULES: Final[Mapping[str, CellRule]] = {
    "i64": integer_cell,
    "f64": _double,
    "text": _text,
    "bool": lambda value, _: value,
    "date": _date,
    "time": _time,
}


DUCKDB: Final = DuckDBDialect()
