"""How DuckDB says what decides about privacy."""

from collections.abc import Callable, Sequence
from typing import Final, final

import pyarrow as pa
from sqlglot import exp

from sordino.engines.sql import pieces as sql
from sordino.engines.sql.dialect import AbstractForms
from sordino.engines.sql.statements import SALT
from sordino.query.question import MOST
from sordino.sources.arrow_kinds import is_list, kind_of, stored
from sordino.sources.plain_values import LONGEST


@final
class DuckDBForms(AbstractForms):
    """The forms of DuckDB 2."""

    name = "duckdb"

    def opaque(self, column: exp.Expression, arrow: pa.DataType) -> exp.Expression:
        """Return TRY(column): for any value the value itself.

        It cannot raise, and statistics do not pass through it: no condition over it
        is simplified, or pushed to where row groups are skipped (docs/adr/0068).
        Integers and truths stay bare, for TRY would unpack their dictionaries: what
        honest files say of them is so, and no optimiser that would read it runs.
        """
        exact = (pa.types.is_integer(arrow), pa.types.is_boolean(arrow))
        return column if any(exact) else called("TRY", column)

    def normalised(self, value: exp.Expression, arrow: pa.DataType) -> exp.Expression:
        """Return a value of an Arrow type as one of ours."""
        bare = stored(arrow)
        if is_list(bare):
            return _each(value, bare.value_type, self.normalised)
        return _RULES[kind_of(arrow) or ""](value, arrow)

    def digest(self, values: Sequence[exp.Expression]) -> exp.Expression:
        """Return hash(hash(values, which of them are null, the salt)).

        One `hash` of several values mixes them too weakly: for a fixed first value the
        others come in far from random orders. The hash around it mends that.
        """
        missing = [one.is_(exp.null()) for one in values]
        salt = exp.Placeholder(this=SALT)
        inner = [one.copy() for one in (*values, *missing, salt)]
        return called("hash", called("hash", *inner))

    def unnested(self, entries: exp.Expression, limit: int | None) -> exp.Expression:
        """Return the unnested list, or the first part of it."""
        if limit is not None:
            first, last = exp.Literal.number(1), exp.Literal.number(limit)
            entries = called("list_slice", entries.copy(), first, last)
        return called("unnest", entries.copy())

    def in_part(
        self, values: Sequence[exp.Expression], number: int, count: int
    ) -> exp.Expression:
        """Return the rest of the digest, compared."""
        rest = exp.Mod(this=self.digest(values), expression=_whole(count))
        return rest.eq(_whole(number))

    def summed(
        self, value: exp.Expression, factor: int, shift: int, *, complete: bool = False
    ) -> exp.Expression:
        """Return the sum in 128 bits.

        Fewer than 2**40 rows cannot overflow it: a sum of that many i64 has 103 bits,
        and factors have 2, shifts 42.
        """
        added: exp.Expression = exp.Sum(this=value)
        total: exp.Expression = exp.Coalesce(this=added, expressions=[_whole(0)])
        if factor != 1:
            total = sql.cast(total, "HUGEINT") * sql.cast(_whole(factor), "HUGEINT")
        if shift:
            there = exp.Star() if complete else value.copy()
            count = sql.cast(exp.Count(this=there), "HUGEINT")
            total += count * sql.cast(_whole(shift), "HUGEINT")
        return total

    def added(self, total: exp.Expression) -> exp.Expression:
        """Return the sum in 128 bits of what Arrow has held as decimals."""
        return self.summed(sql.cast(total, "HUGEINT"), 1, 0)

    def counted(self, times: int) -> exp.Expression:
        """Return count(*) times a constant, in 128 bits."""
        count = sql.cast(exp.Count(this=exp.Star()), "HUGEINT")
        return count * sql.cast(_whole(times), "HUGEINT")

    def held(self, total: exp.Expression) -> exp.Expression:
        """Return the nearest total within the limits, in 64 bits."""
        low = called("greatest", total, _whole(-MOST))
        return sql.cast(called("least", low, _whole(MOST)), "BIGINT")

    def distinct(self, values: Sequence[exp.Expression]) -> exp.Expression:
        """Return count(distinct ...), which skips null, of one value or of a row."""
        if len(values) == 1:
            counted = values[0].copy()
        else:
            there = [exp.not_(one.copy().is_(exp.null())) for one in values]
            row = called("row", *(one.copy() for one in values))
            counted = exp.Case().when(exp.and_(*there), row)
        return exp.Count(this=exp.Distinct(expressions=[counted]))


def called(name: str, *arguments: exp.Expression) -> exp.Expression:
    """Return a call of a function by the very name that the database has for it."""
    return exp.Anonymous(this=name, expressions=list(arguments))


def _whole(number: int) -> exp.Expression:
    return exp.Literal.number(number)


def _each(
    entries: exp.Expression,
    arrow: pa.DataType,
    rule: Callable[[exp.Expression, pa.DataType], exp.Expression],
) -> exp.Expression:
    """Return a list with the rule applied to its entries."""
    entry = exp.to_identifier("e")
    made = exp.Lambda(this=rule(exp.column("e"), arrow), expressions=[entry])
    return called("list_transform", entries, made)


def _integer(value: exp.Expression, arrow: pa.DataType) -> exp.Expression:
    return value if pa.types.is_int64(arrow) else sql.tried(value, "BIGINT")


_EXACT: Final = 15
"""Digits of decimals whose quotient by a power of ten is rounded once."""


def _double(value: exp.Expression, arrow: pa.DataType) -> exp.Expression:
    """Return a double; adding 0.0 takes the sign of a zero, and nothing else."""
    bare = stored(arrow)
    if pa.types.is_decimal(bare) and bare.precision > _EXACT:
        value = sql.cast(value, "VARCHAR")
    if not pa.types.is_float64(bare):
        value = sql.tried(value, "DOUBLE")
    return value + sql.cast(_whole(0), "DOUBLE")


def _text(value: exp.Expression, arrow: pa.DataType) -> exp.Expression:
    del arrow  # a dictionary, an enumeration or a UUID is cast, for a text it is idle
    value = sql.cast(value, "VARCHAR")
    fits = called("strlen", value.copy())
    return exp.Case().when(fits <= _whole(LONGEST), value)


def _bool(value: exp.Expression, arrow: pa.DataType) -> exp.Expression:
    del arrow
    return value


def _within(value: exp.Expression, kind: str, last: str) -> exp.Expression:
    """Return a date or a time of the years 1 to 9999."""
    first = sql.cast(exp.Literal.string("0001-01-01"), kind)
    end = sql.cast(exp.Literal.string(last), kind)
    inside = exp.Between(this=value.copy(), low=first, high=end)
    return exp.Case().when(inside, value)


def _date(value: exp.Expression, arrow: pa.DataType) -> exp.Expression:
    del arrow
    made = sql.tried(value, "DATE")
    return _within(made, "DATE", "9999-12-31")


def _time(value: exp.Expression, arrow: pa.DataType) -> exp.Expression:
    """Return a time in UTC; zoned nanoseconds have no direct cast."""
    if arrow.tz is not None:
        value = sql.tried(value, "TIMESTAMPTZ")
    made = sql.tried(value, "TIMESTAMP")
    return _within(made, "TIMESTAMP", "9999-12-31 23:59:59.999999")


_RULES: Final[dict[str, Callable[[exp.Expression, pa.DataType], exp.Expression]]] = {
    "i64": _integer,
    "f64": _double,
    "text": _text,
    "bool": _bool,
    "date": _date,
    "time": _time,
}
