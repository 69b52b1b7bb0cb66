"""By which of our types a column of a server is read, and how each value becomes one.

| type there | ours | missing |
|---|---|---|
| smallint, integer, bigint | i64 | |
| real, double precision, numeric | f64 | |
| text, varchar, char(n), uuid | text | |
| boolean | bool | |
| date | date | infinity, years before 1 and after 9999 |
| timestamp, and with time zone (in UTC) | time | the same |
| an array of one of these | list | two or more dimensions, or above 2**24 entries |

All other types have no place: what a type of a user means its owner can change (enums,
domains, citext, composite types).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, final

import pyarrow as pa
from sqlglot import exp

from sordino.engines.postgres.guards import is_between, numeric, real
from sordino.engines.postgres.sql_cells import within_years
from sordino.engines.postgres.sql_choices import by_code_point
from sordino.engines.postgres.sql_lists import each_entry
from sordino.engines.postgres.sql_reals import first_beyond, last_lost
from sordino.engines.sql import pieces as sql
from sordino.engines.sql.pieces import Sql


@final
@dataclass(frozen=True)
class ColumnType:
    """Our type of a column, and what its values become."""

    arrow: pa.DataType
    read: Callable[[Sql], Sql]


def _integer(value: Sql) -> Sql:
    return sql.as_type(value, "BIGINT")


def _double(value: Sql) -> Sql:
    return sql.as_type(value, "DOUBLE")


def _decimal(value: Sql) -> Sql:
    """Return the nearest double; the cast itself raises at both ends of the doubles."""
    top, bottom = (
        numeric(sql.letters(format(end, "f"))) for end in (first_beyond(), last_lost())
    )
    infinity = float("inf")
    is_nan = sql.is_equal(value.copy(), numeric(sql.letters("NaN")))
    under = sql.minus(sql.whole(0), top.copy())
    lost = sql.is_at_most(sql.function("abs", value.copy()), bottom)
    ends = [
        (is_nan, real(float("nan"))),
        (sql.is_at_most(top, value.copy()), real(infinity)),
        (sql.is_at_most(value.copy(), under), real(-infinity)),
        (lost, real(0.0)),
    ]
    return sql.case(ends, sql.as_type(value, "DOUBLE"))


def _text(value: Sql) -> Sql:
    return by_code_point(sql.as_type(value, "TEXT"))


def _day(value: Sql) -> Sql:
    first, last = (
        sql.as_type(sql.letters(end), "DATE") for end in ("0001-01-01", "9999-12-31")
    )
    return sql.case([(is_between(value.copy(), first, last), value)])


def _zoned(value: Sql) -> Sql:
    return within_years(exp.AtTimeZone(this=value, zone=sql.letters("UTC")))


def _list_of(entry: ColumnType) -> ColumnType:
    """Return how arrays of a type are read."""
    rule = entry.read
    if pa.types.is_floating(entry.arrow):
        rule = _without_sign(rule)
    return ColumnType(pa.list_(entry.arrow), lambda value: each_entry(value, rule))


def _without_sign(read: Callable[[Sql], Sql]) -> Callable[[Sql], Sql]:
    """Return how doubles are read of which a zero has no sign: entries leave so."""
    return lambda value: sql.plus(read(value), sql.double(0))


_INTEGER: Final = ColumnType(pa.int64(), _integer)
_DOUBLE: Final = ColumnType(pa.float64(), _double)
_TEXT: Final = ColumnType(pa.string(), _text)
_PLAIN: Final[Mapping[int, ColumnType]] = {
    **dict.fromkeys((20, 21, 23), _INTEGER),  # bigint, smallint, integer
    **dict.fromkeys((700, 701), _DOUBLE),
    **dict.fromkeys((25, 1042, 1043, 2950), _TEXT),  # text, char(n), varchar, uuid
    16: ColumnType(pa.bool_(), lambda value: value),
    1082: ColumnType(pa.date32(), _day),
    1114: ColumnType(pa.timestamp("us"), within_years),
    1184: ColumnType(pa.timestamp("us"), _zoned),
    1700: ColumnType(pa.float64(), _decimal),
}
_ARRAYS: Final = {
    16: 1000,
    20: 1016,
    21: 1005,
    23: 1007,
    25: 1009,
    700: 1021,
    701: 1022,
    1042: 1014,
    1043: 1015,
    1082: 1182,
    1114: 1115,
    1184: 1185,
    1700: 1231,
    2950: 2951,
}
"""A type -> that of its arrays."""
COLUMN_TYPES: Final[Mapping[int, ColumnType]] = {
    **_PLAIN,
    **{_ARRAYS[number]: _list_of(entry) for number, entry in _PLAIN.items()},
}
"""By the number that each type has in every PostgreSQL."""
