"""Spark's dialect: types, operations, and the forms that decide about privacy.

They mean the same with ANSI on and off, in any zone: nothing in them raises, wraps or
asks a setting (docs/adr/0130).

A bound is one shuffle by the id and two sorts within it: the shared form reads what may
be kept three times, and Spark would compute it three times. Here rows that are alike
are numbered in the order of the first digest itself, where they stand side by side, and
what may be kept is sorted once more.
"""

from collections.abc import Mapping, Sequence
from typing import ClassVar, Final, final

import pyarrow as pa
from sqlglot import exp

from sordino.aggregations.measurement import MOST
from sordino.data.source import LONGEST, AbstractSource, is_list, kind_of, storage_type
from sordino.engines.spark.entries import ENTRIES, bytes_of
from sordino.engines.spark.tables import view_read_of
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
from sordino.engines.statements.plans import Subquery, Writer, order_by_all
from sordino.engines.statements.templates import Sql, function
from sordino.engines.statements.totals import box_of
from sordino.query.nodes import KeepRows


def keep_by_two_sorts(work: Writer, node: KeepRows) -> Subquery:
    """Keep the first rows in the order of the digest, then of all columns.

    Of a row that is not like another the digest is that of the row numbered 1, so its
    place in the first order is no later than in the last: after `limit` different rows
    that come before it, it is not kept. What may be kept are the others, and rows that
    are like one before them.
    """
    schema = node.child.schema
    numbered = _number_copies(work, node)
    copy, place = numbered.further
    values = [numbered.columns[name] for name in (*node.per, *node.order)]
    digest = work.dialect.digest([*values, copy])
    may_be = exp.or_(
        place <= exp.Literal.number(node.limit), copy > exp.Literal.number(1)
    )
    near = work.select(numbered, schema, [digest], may_be)
    order = [*near.further, *(near.columns[name] for name in node.order)]
    last = _window_place(near, node, exp.RowNumber(), order, work)
    counted = work.select(near, schema, [last])
    first = counted.further[0] <= exp.Literal.number(node.limit)
    return work.select(counted, node.schema, where=first)


def _number_copies(work: Writer, node: KeepRows) -> Subquery:
    """Return the rows; further: the number of each among those alike, and its place.

    The place counts different rows before it, in the order of the rows numbered 1.
    """
    below, schema = work.rows(node.child), node.child.schema
    values = [below.columns[name] for name in (*node.per, *node.order)]
    digest = work.dialect.digest([*values, templates.bigint(1)])
    digested = work.select(below, schema, [digest])
    order = [*digested.further, *(digested.columns[name] for name in node.order)]
    each, alike, different = (
        _window_place(digested, node, function, order, work)
        for function in (exp.RowNumber(), exp.Rank(), exp.DenseRank())
    )
    copy = templates.plus(templates.minus(each, alike), templates.whole(1))
    return work.select(digested, schema, [templates.as_type(copy, "BIGINT"), different])


def _window_place(
    rows: Subquery, node: KeepRows, function: Sql, by: Sequence[Sql], work: Writer
) -> exp.Window:
    per = [rows.columns[name].copy() for name in node.per]
    order = order_by_all(work.dialect, by)
    return exp.Window(this=function, partition_by=per, order=order)


_TYPES: Final = {
    "i64": "BIGINT",
    "f64": "DOUBLE",
    "text": "STRING",
    "bool": "BOOLEAN",
    "date": "DATE",
    "time": "TIMESTAMP_NTZ",
}
_WIDE: Final = "DECIMAL(38, 0)"
_LIMB: Final = 22  # bits of the lower two parts of an integer that is summed


@final
class SparkDialect(AbstractDialect):
    """The dialect of Spark 4."""

    name = "spark"
    types: ClassVar = _TYPES | {
        f"list[{kind}]": f"ARRAY<{name}>" for kind, name in _TYPES.items()
    }
    wide_type = pa.decimal128(38, 0)
    digest_type = pa.int64()
    entries: ClassVar = ENTRIES
    rules: ClassVar = {KeepRows: keep_by_two_sorts}
    tells_sums = True
    absent: ClassVar = {
        **dict.fromkeys(
            ("matches", "extract", "replace_matches"),
            "its regular expressions go back, so that one text can hold it up",
        ),
        "normalize": "it has no such function",
    }

    def placeholder(self, number: int) -> Sql:
        return exp.Placeholder(this=f"p{number}")

    def in_place(self, source: AbstractSource, places: Sequence[int]) -> Sql | None:
        return view_read_of(source, places)

    def value_of(self, column: Sql, arrow: pa.DataType) -> Sql:
        # no condition over it is one that a reader of files understands, but for
        # integers and truths: what files state of these is so (docs/adr/0132)
        bare = storage_type(arrow)
        if is_list(bare):
            return each_of("transform", column, bare.value_type, self.value_of)
        return _RULES[kind_of(arrow) or ""](column, arrow)

    def digest(self, values: Sequence[Sql]) -> Sql:
        # one hash alone skips what is null, and mixes its last values too weakly
        missing = [value.is_(exp.null()) for value in values]
        inner = [value.copy() for value in (*values, *missing)]
        once = function("xxhash64", *inner, _salt())
        return function("xxhash64", once, _salt())

    def order_term(self, value: Sql) -> exp.Ordered:
        # a total order: NaN is greater than all numbers, texts go by their bytes
        return exp.Ordered(this=value, nulls_first=True)

    def same(self, left: Sql, right: Sql) -> Sql:
        return exp.NullSafeEQ(this=left, expression=right)

    def first(self, value: Sql, kind: str) -> Sql:
        # the group has one row
        del kind
        return exp.Max(this=value)

    def in_part(self, values: Sequence[Sql], number: int, count: int) -> Sql:
        # digests have a sign
        rest = function("pmod", self.digest(values), templates.whole(count))
        return templates.is_equal(rest, templates.whole(number))

    def unnest(self, entries: Sql, limit: int | None) -> Sql:
        if limit is not None:
            entries = function(
                "slice", entries.copy(), templates.whole(1), templates.whole(limit)
            )
        return function("explode", entries.copy())

    def semi_join(
        self, rows: exp.Select, other: exp.Table, on: exp.Condition
    ) -> exp.Select:
        return rows.join(other, on=on, join_type="left semi", copy=False)

    def anti_join(
        self, rows: exp.Select, other: exp.Table, on: exp.Condition
    ) -> exp.Select:
        return rows.join(other, on=on, join_type="left anti", copy=False)

    def stores(self, *, shared: bool) -> None:
        # Spark has no word for it, and reuses what it shuffles
        del shared

    def exact_sum(
        self, value: Sql, factor: int, shift: int, *, complete: bool = False
    ) -> Sql:
        # v = h 2**44 + m 2**22 + l with 0 <= m, l < 2**22 and |h| <= 2**19: the sums of
        # fewer than 2**41 rows fit into 64 bits. What is put together has 38 digits at
        # most: 64 + 41 bits, and factors have 2, shifts 42
        low = templates.bigint(2**_LIMB - 1)
        top = function("shiftright", value.copy(), templates.whole(2 * _LIMB))
        middle = function("shiftright", value.copy(), templates.whole(_LIMB))
        parts = (
            (top, 2 ** (2 * _LIMB)),
            (templates.infix(exp.BitwiseAnd, middle, low), 2**_LIMB),
            (templates.infix(exp.BitwiseAnd, value.copy(), low.copy()), 1),
        )
        total = templates.whole(0)
        for part, size in parts:
            total = _plus(total, _times(_nothing_is_zero(exp.Sum(this=part)), size))
        total = _times(total, factor)
        if not shift:
            return total
        there = exp.Star() if complete else value.copy()
        return _plus(total, _times(exp.Count(this=there), shift))

    def brief_sum(self, value: Sql) -> Sql:
        nothing = templates.is_equal(exp.Count(this=exp.Star()), templates.whole(0))
        return templates.case(
            [(nothing, templates.bigint(0))],
            function("try_sum", _nothing_is_zero(value)),
        )

    def place_in_box(
        self, group: Sequence[Sql], keys: pa.Table
    ) -> tuple[Sql, Sql] | None:
        # to join keys is slower
        sides = box_of(keys)
        if sides is None:
            return None
        place: Sql = templates.bigint(0)
        within: Sql = exp.true()
        for value, side in zip(group, sides, strict=True):
            ends = templates.bigint(side.least), templates.bigint(side.greatest)
            height = templates.function("try_subtract", value.copy(), ends[0].copy())
            far = templates.function(
                "try_multiply", height, templates.bigint(side.step)
            )
            place = templates.function("try_add", place, far)
            within = templates.conjunction(
                within, exp.Between(this=value.copy(), low=ends[0], high=ends[1])
            )
        return place, within

    def sum_of_totals(self, total: Sql) -> Sql:
        # no more than 38 digits
        return templates.as_type(_nothing_is_zero(exp.Sum(this=total)), _WIDE)

    def row_count(self, times: int) -> Sql:
        return _times(exp.Count(this=exp.Star()), times)

    def narrow_total(self, total: Sql) -> Sql:
        low = function("greatest", templates.as_type(total, _WIDE), _decimal(-MOST))
        return templates.as_type(function("least", low, _decimal(MOST)), "BIGINT")

    def distinct(self, values: Sequence[Sql]) -> Sql:
        # count(DISTINCT ...) skips tuples in which a value is null
        listed = exp.Distinct(expressions=[value.copy() for value in values])
        return templates.as_type(exp.Count(this=listed), _WIDE)


def _salt() -> Sql:
    # an i64, whatever type its literal has
    return templates.as_type(exp.Placeholder(this=SALT), "BIGINT")


def _decimal(number: int) -> Sql:
    # an addition of two such never has 39 digits
    return templates.as_type(templates.letters(str(number)), _WIDE)


def _plus(left: Sql, right: Sql) -> Sql:
    total = templates.plus(
        templates.as_type(left, _WIDE), templates.as_type(right, _WIDE)
    )
    return templates.as_type(total, _WIDE)


def _times(number: Sql, size: int) -> Sql:
    # Spark takes digits from a product whose type might need more than 38
    digits = len(str(abs(size)))
    left = templates.as_type(number, f"DECIMAL({37 - digits}, 0)")
    right = templates.as_type(templates.letters(str(size)), f"DECIMAL({digits}, 0)")
    return templates.as_type(templates.multiplied_by(left, right), _WIDE)


def _nothing_is_zero(total: Sql) -> Sql:
    # missing, or a sum of nothing
    return exp.Coalesce(this=total, expressions=[templates.whole(0)])


def _double(value: Sql, arrow: pa.DataType) -> Sql:
    # adding 0.0 takes the sign of a zero, which would tell -0.0 from 0.0, and nothing
    # else
    if pa.types.is_decimal(arrow):
        value = templates.as_type(value, "STRING")
    if not pa.types.is_float64(arrow):
        value = templates.as_type_or_null(value, "DOUBLE")
    return value + templates.double(0)


def _text(value: Sql, arrow: pa.DataType) -> Sql:
    del arrow
    fits = templates.is_at_most(bytes_of(value.copy()), templates.bigint(LONGEST))
    sound = function("is_valid_utf8", value.copy())
    return templates.case([(templates.conjunction(fits, sound), value)])


def _time(value: Sql, arrow: pa.DataType) -> Sql:
    # one with a zone is in UTC, the zone of sessions of ours
    if arrow.tz is not None:
        value = templates.as_type(value, "TIMESTAMP_NTZ")
    return within_calendar(value, "TIMESTAMP_NTZ", LAST_MOMENT)


_RULES: Final[Mapping[str, CellRule]] = {
    "i64": integer_cell,
    "f64": _double,
    "text": _text,
    "bool": lambda value, _: value,
    "date": lambda value, _: within_calendar(value, "DATE", LAST_DAY),
    "time": _time,
}


SPARK: Final = SparkDialect()
