"""How DuckDB writes operations on dates and times.

Its dates reach far beyond the years 1 to 9999: nothing overflows before it is held to
them.
"""

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import Final

from sqlglot import exp

from sordino.engines.sql import pieces as sql
from sordino.engines.sql.pieces import Entry, Sql, Written
from sordino.engines.sql.zone_entries import numbers_of, offset_entry
from sordino.expressions import dates, zones
from sordino.expressions.tree import Operation

_SECOND: Final = 10**6
_DAY: Final = 86_400 * _SECOND
_SHIFT: Final = 4 * 10**17  # microseconds, whole seconds, more than 9999 years
_TIMES: Final = (datetime.min, datetime.max)  # noqa: DTZ901 UTC without a zone
_DAYS: Final = _DAY * 4 * 10**6  # whole days, more than 9999 years


def _part(name: str) -> Entry:
    """Return the entry of a part of a date."""

    def entry(to: Written) -> Sql:
        return sql.function(name, to[0])

    return entry


def _weekday(to: Written) -> Sql:
    """Return the day of the week, Monday as 0."""
    return sql.minus(sql.function("isodow", to[0]), sql.bigint(1))


def _truncate(to: Written) -> Sql:
    """Return the start of a period, of the type it was."""
    start = sql.function("date_trunc", sql.letters(to.options["unit"]), to[0])
    return sql.as_type(start, "DATE" if to.types[0] == "date" else "TIMESTAMP")


def _elapsed_time(to: Written) -> Sql:
    """Return the microseconds between two times."""
    return sql.minus(sql.function("epoch_us", to[1]), sql.function("epoch_us", to[0]))


def _floor(number: Sql, size: int, shift: int) -> Sql:
    """Return number // size rounded down, shifted to where nothing is negative."""
    shifted = sql.plus(number, sql.bigint(shift))
    quotient = sql.infix(exp.IntDiv, shifted, sql.bigint(size))
    return sql.minus(quotient, sql.bigint(shift // size))


def _days_between(to: Written) -> Sql:
    """Return days, or whole days of a duration."""
    if to.types[0] == "date":
        return sql.minus(to[1], to[0])
    return _floor(_elapsed_time(to), _DAY, _DAYS)


def _seconds_between(to: Written) -> Sql:
    """Return whole seconds of a duration."""
    return _floor(_elapsed_time(to), _SECOND, _SHIFT)


def _add_days(to: Written) -> Sql:
    """Return another day, of the years 1 to 9999."""
    kind = to.types[0]
    ends = (date.min, date.max) if kind == "date" else _TIMES
    first, last = (to.bind(end, kind) for end in ends)
    later = _move(to)
    inside = exp.Between(this=sql.in_parentheses(later.copy()), low=first, high=last)
    return sql.case([(inside, later)])


def _move(to: Written) -> Sql:
    """Return another day, if it is near enough to count."""
    near = exp.Between(
        this=to[1], low=sql.bigint(-dates.WHOLE), high=sql.bigint(dates.WHOLE)
    )
    days = sql.case([(near, sql.as_type_or_null(to[1], "INTEGER"))])
    if to.types[0] == "time":
        days = sql.function("to_days", days)
    return sql.plus(to[0], days)


def _add_seconds(to: Written) -> Sql:
    """Return another moment, of the years 1 to 9999."""
    most = dates.WHOLE_SECONDS
    near = exp.Between(this=to[1], low=sql.bigint(-most), high=sql.bigint(most))
    seconds = sql.case([(near, to[1])])
    later = sql.plus(
        to[0],
        sql.function(
            "to_microseconds", sql.multiplied_by(seconds, sql.bigint(_SECOND))
        ),
    )
    first, last = (to.bind(end, "time") for end in _TIMES)
    inside = exp.Between(this=sql.in_parentheses(later.copy()), low=first, high=last)
    return sql.case([(inside, later)])


def _changes_until(time: Sql, seconds: Sequence[int]) -> Sql:
    """Return how many changes are not after a time."""
    edge = exp.to_identifier("edge")
    ticks = exp.Array(expressions=numbers_of([n * _SECOND for n in seconds]))
    passed = sql.is_at_most(edge.copy(), sql.function("epoch_us", time))
    each = exp.Lambda(this=passed, expressions=[edge])
    return sql.function("len", sql.function("list_filter", ticks, each))


def _entry_at(values: Sequence[int], place: Sql) -> Sql:
    """Return the number at a place of a list."""
    return sql.function(
        "list_extract", exp.Array(expressions=numbers_of(values)), place
    )


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
