"""How Spark writes operations on dates and times.

Times are TIMESTAMP_NTZ, and nothing here goes through the zone of a session:
`date_trunc`, `date_format` and `timestampdiff` would, and are an hour off where a clock
was put forward. Dates are moved by few enough days that no day overflows.
"""

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import Final

from sqlglot import exp

from sordino.engines.spark.sql_numbers import whole_difference
from sordino.engines.sql import pieces as sql
from sordino.engines.sql.pieces import Entry, Sql, Written
from sordino.engines.sql.zone_entries import numbers_of, offset_entry
from sordino.expressions import dates, zones
from sordino.expressions.tree import Operation

SECOND: Final = 10**6
_DAY: Final = 86_400 * SECOND
_TIMES: Final = (datetime.min, datetime.max)  # noqa: DTZ901 UTC without a zone


def _part(name: str) -> Entry:
    """Return the entry of a part of a date, as i64."""

    def entry(to: Written) -> Sql:
        return sql.as_type(sql.function(name, to[0]), "BIGINT")

    return entry


def epoch() -> Sql:
    """Return the first day of 1970."""
    return sql.as_type(sql.letters("1970-01-01"), "DATE")


def moment_at(ticks: Sql) -> Sql:
    """Return the moment so many microseconds after 1970, of the years 1 to 9999."""
    seconds = sql.multiplied_by(
        sql.as_type(ticks, "DECIMAL(18, 0)"),
        sql.as_type(sql.letters("0.000001"), "DECIMAL(6, 6)"),
    )
    return _later(sql.as_type(epoch(), "TIMESTAMP_NTZ"), seconds)


def _later(moment: Sql, seconds: Sql) -> Sql:
    """Return a moment so many seconds later, at most 12 digits of them."""
    exact = sql.as_type(seconds, "DECIMAL(18, 6)")
    zero = sql.whole(0)
    span = sql.function("make_dt_interval", zero, zero.copy(), zero.copy(), exact)
    return sql.plus(moment, span)


def ticks_of(moment: Sql) -> Sql:
    """Return the microseconds of a moment after 1970: of its day, and within it."""
    days = sql.function("datediff", sql.as_type(moment, "DATE"), epoch())
    whole = sql.multiplied_by(sql.as_type(days, "BIGINT"), sql.bigint(_DAY))
    minutes = sql.plus(
        sql.multiplied_by(sql.function("hour", moment.copy()), sql.bigint(3600)),
        sql.multiplied_by(sql.function("minute", moment.copy()), sql.bigint(60)),
    )
    clock = sql.multiplied_by(minutes, sql.bigint(SECOND))
    return sql.plus(sql.plus(whole, clock), _ticks_of_minute(moment))


def _ticks_of_minute(moment: Sql) -> Sql:
    """Return the microseconds of a moment after its minute began."""
    seconds = exp.Extract(this=exp.var("SECOND"), expression=moment.copy())
    size = sql.as_type(sql.whole(SECOND), "DECIMAL(7, 0)")
    return sql.as_type(sql.multiplied_by(seconds, size), "BIGINT")


def _weekday(to: Written) -> Sql:
    """Return the day of the week, Monday as 0."""
    return sql.as_type(sql.function("weekday", to[0]), "BIGINT")


def _truncate(to: Written) -> Sql:
    """Return the start of a period, of the type it was."""
    unit, is_date = to.options["unit"], to.types[0] == "date"
    if unit in _CLOCK:
        return _hour(to, _CLOCK[unit])
    start = sql.as_type(to[0], "DATE")
    if unit != "day":
        start = sql.function("trunc", start, sql.letters(unit))
    return start if is_date else sql.as_type(start, "TIMESTAMP_NTZ")


_CLOCK: Final[Mapping[str, tuple[str, ...]]] = {
    "hour": ("hour",),
    "minute": ("hour", "minute"),
    "second": ("hour", "minute", "second"),
}


def _hour(to: Written, parts: tuple[str, ...]) -> Sql:
    """Return a moment with so many parts of its clock."""
    given_parts = [sql.function(name, to[0]) for name in parts]
    zero = sql.whole(0)
    padding = [zero.copy() for _ in range(3 - len(given_parts))]
    clock = sql.function("make_dt_interval", zero, *given_parts, *padding)
    midnight = sql.as_type(sql.as_type(to[0], "DATE"), "TIMESTAMP_NTZ")
    return sql.plus(midnight, clock)


def _floor_quotient(number: Sql, size: int) -> Sql:
    """Return number // size rounded down."""
    rest = sql.function("pmod", number, sql.bigint(size))
    return sql.infix(exp.IntDiv, sql.minus(number.copy(), rest), sql.bigint(size))


def _microseconds_between(to: Written) -> Sql:
    """Return the microseconds between two times."""
    return whole_difference(ticks_of(to[1]), ticks_of(to[0]))


def _days_between(to: Written) -> Sql:
    """Return days, or whole days of a duration."""
    if to.types[0] == "date":
        return sql.as_type(sql.function("datediff", to[1], to[0]), "BIGINT")
    return _floor_quotient(_microseconds_between(to), _DAY)


def _seconds_between(to: Written) -> Sql:
    """Return whole seconds of a duration."""
    return _floor_quotient(_microseconds_between(to), SECOND)


def _small_shift(to: Written, most: int) -> Sql:
    """Return a number of days or seconds that is small enough to be added, or NULL."""
    inside = exp.Between(this=to[1], low=sql.bigint(-most), high=sql.bigint(most))
    return sql.case([(inside, to[1])])


def _calendar_or_null(to: Written, later: Sql) -> Sql:
    """Return a day or a moment of the years 1 to 9999, or NULL."""
    kind = to.types[0]
    ends = (date.min, date.max) if kind == "date" else _TIMES
    first, last = (to.bind(end, kind) for end in ends)
    there = exp.Between(this=sql.in_parentheses(later.copy()), low=first, high=last)
    return sql.case([(there, later)])


def _add_days(to: Written) -> Sql:
    """Return another day, of the years 1 to 9999."""
    days = sql.as_type(_small_shift(to, dates.WHOLE), "INT")
    if to.types[0] == "date":
        return _calendar_or_null(to, sql.function("date_add", to[0], days))
    span = sql.function("make_dt_interval", days)
    return _calendar_or_null(to, sql.plus(to[0], span))


def _add_seconds(to: Written) -> Sql:
    """Return another moment, of the years 1 to 9999."""
    return _calendar_or_null(to, _later(to[0], _small_shift(to, dates.WHOLE_SECONDS)))


def _changes_until(time: Sql, seconds: Sequence[int]) -> Sql:
    """Return how many changes are not after a time."""
    edge = exp.to_identifier("edge")
    ticks = sql.function("array", *numbers_of([n * SECOND for n in seconds]))
    passed = sql.is_at_most(edge.copy(), ticks_of(time))
    each = exp.Lambda(this=passed, expressions=[edge])
    return sql.function("size", sql.function("filter", ticks, each))


def _entry_at(values: Sequence[int], place: Sql) -> Sql:
    """Return the number at a place of an array."""
    return sql.function("element_at", sql.function("array", *numbers_of(values)), place)


ENTRIES: Final[Mapping[Operation, Entry]] = {
    zones.UTC_OFFSET: offset_entry(_changes_until, _entry_at),
    dates.YEAR: _part("year"),
    dates.MONTH: _part("month"),
    dates.DAY: _part("day"),
    dates.WEEKDAY: _weekday,
    dates.HOUR: _part("hour"),
    dates.MINUTE: _part("minute"),
    dates.SECOND: _part("second"),
    dates.TRUNCATE: _truncate,
    dates.DAYS_BETWEEN: _days_between,
    dates.SECONDS_BETWEEN: _seconds_between,
    dates.ADD_DAYS: _add_days,
    dates.ADD_SECONDS: _add_seconds,
}
