"""By which of our types a column of a server is read, and how each value becomes one.

| type there | ours | missing |
|---|---|---|
| smallint, integer, bigint | i64 | |
| real, double precision, numeric | f64 | |
| text, varchar, char(n), uuid | text | |
| boolean | bool | |
| date | date | infinity, years before 1 and after 9999 |
| timestamp, and with time zone (in UTC) | time | the same |

All other types have no place: arrays have any number of dimensions, and what a type of
a user means its owner can change (enums, domains, citext, composite types).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, final

import pyarrow as pa
from sqlglot import exp

from sordino.engines.postgres.guards import is_between, numeric, real
from sordino.engines.postgres.sql_cells import within_years
from sordino.engines.postgres.sql_choices import by_code_point
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


_INTEGER: Final = ColumnType(pa.int64(), _integer)
_DOUBLE: Final = ColumnType(pa.float64(), _double)
_TEXT: Final = ColumnType(pa.string(), _text)
COLUMN_TYPES: Final[Mapping[int, ColumnType]] = {
    **dict.fromkeys((20, 21, 23), _INTEGER),  # bigint, smallint, integer
    **dict.fromkeys((700, 701), _DOUBLE),
    **dict.fromkeys((25, 1042, 1043, 2950), _TEXT),  # text, char(n), varchar, uuid
    16: ColumnType(pa.bool_(), lambda value: value),
    1082: ColumnType(pa.date32(), _day),
    1114: ColumnType(pa.timestamp("us"), within_years),
    1184: ColumnType(pa.timestamp("us"), _zoned),
    1700: ColumnType(pa.float64(), _decimal),
}
"""By the number that each type has in every PostgreSQL."""
