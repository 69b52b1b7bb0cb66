"""How PostgreSQL writes operations on dates and times.

Its calendar begins in 4713 BC and a date beyond it raises: so each day is held to the
years 1 to 9999 before it is made. No form goes through a text or a time zone.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from sqlglot import exp

from sordino.engines.postgres.guards import (
    all_of,
    any_of,
    as_bigint,
    as_integer,
    is_between,
    let,
)
from sordino.engines.sql import pieces as sql
from sordino.engines.sql.pieces import Entry, Sql, Written
from sordino.engines.sql.zone_entries import offset_entry
from sordino.expressions import dates, zones
from sordino.expressions.tree import Operation

_SECOND: Final = 10**6
_DAY: Final = 86_400 * _SECOND
_SHIFT: Final = 4 * 10**17  # microseconds, whole seconds, more than 9999 years
_DAYS: Final = _DAY * 4 * 10**6  # whole days, more than 9999 years
_FIRST: Final = "0001-01-01"


def first_day() -> Sql:
    """Return the first day of all."""
    return sql.as_type(sql.letters(_FIRST), "DATE")


def midnight(day: Sql) -> Sql:
    """Return the first moment of a day."""
    return sql.as_type(day, "TIMESTAMP")


def part_of_moment(name: str, moment: Sql) -> Sql:
    """Return a part of a date, a time or a duration, as an exact number."""
    return exp.Extract(this=exp.var(name), expression=moment)


def calendar_day(year: Sql, month: Sql, day: Sql) -> Sql:
    """Return the day of three small integers, if the calendar has it."""

    def in_calendar(y: Sql, m: Sql, d: Sql) -> Sql:
        odd = sql.infix(
            exp.Mod,
            sql.plus(
                m.copy(), sql.infix(exp.BitwiseRightShift, m.copy(), sql.whole(3))
            ),
            sql.whole(2),
        )
        february = sql.plus(
            sql.whole(28), sql.case([(_leaps(y), sql.whole(1))], sql.whole(0))
        )
        length = sql.case(
            [(sql.is_equal(m.copy(), sql.whole(2)), february)],
            sql.plus(sql.whole(30), odd),
        )
        there = all_of(
            is_between(y.copy(), sql.whole(1), sql.whole(9999)),
            is_between(m.copy(), sql.whole(1), sql.whole(12)),
            is_between(d.copy(), sql.whole(1), length),
        )
        return sql.function("make_date", y.copy(), m.copy(), sql.case([(there, d)]))

    return let((year, month, day), in_calendar)


def _leaps(year: Sql) -> Sql:
    """Return whether a year has 366 days."""
    by_4, by_100, by_400 = (
        sql.is_equal(sql.infix(exp.Mod, year.copy(), sql.whole(n)), sql.whole(0))
        for n in (4, 100, 400)
    )
    return any_of(all_of(by_4, exp.not_(by_100)), by_400)


def _part(name: str) -> Entry:
    """Return the entry of a part of a date."""

    def entry(to: Written) -> Sql:
        return as_bigint(sql.function("trunc", part_of_moment(name, to[0])))

    return entry


def _weekday(to: Written) -> Sql:
    """Return the day of the week, Monday as 0."""
    return sql.minus(as_bigint(part_of_moment("isodow", to[0])), sql.bigint(1))


def _truncate(to: Written) -> Sql:
    """Return the start of a period, of the type it was."""
    unit = sql.letters(to.options["unit"])
    start = sql.function("date_trunc", unit, midnight(to[0]))
    return sql.as_type(start, "DATE") if to.types[0] == "date" else start


def _elapsed(to: Written) -> Sql:
    """Return the microseconds between two times."""
    duration = sql.minus(to[1], to[0])
    return sql.multiplied_by(part_of_moment("epoch", duration), sql.whole(_SECOND))


def _floored(number: Sql, size: int, shift: int) -> Sql:
    """Return number // size rounded down, shifted to where nothing is negative."""
    shifted = sql.plus(number, sql.bigint(shift))
    whole = sql.function("div", shifted, sql.as_type(sql.whole(size), "DECIMAL"))
    return as_bigint(sql.minus(whole, sql.bigint(shift // size)))


def _days_between(to: Written) -> Sql:
    """Return days, or whole days of a duration."""
    if to.types[0] == "date":
        return as_bigint(sql.in_parentheses(sql.minus(to[1], to[0])))
    return _floored(_elapsed(to), _DAY, _DAYS)


def _seconds_between(to: Written) -> Sql:
    """Return whole seconds of a duration."""
    return _floored(_elapsed(to), _SECOND, _SHIFT)


def _add_days(to: Written) -> Sql:
    """Return another day, of the years 1 to 9999."""

    def later(moment: Sql, days: Sql) -> Sql:
        day = sql.as_type(moment.copy(), "DATE")
        reached = sql.plus(sql.minus(day, first_day()), days.copy())
        inside = is_between(reached, sql.whole(0), sql.whole(dates.WHOLE))
        near = is_between(days.copy(), sql.whole(-dates.WHOLE), sql.whole(dates.WHOLE))
        # a sum with what is far would overflow, so it is not made
        added = as_integer(sql.case([(near, sql.case([(inside, days)]))]))
        if to.types[0] == "time":
            added = interval(0, 0, 0, added)
        return sql.plus(moment, added)

    return let((to[0], to[1]), later)


def interval(*parts: int | Sql) -> Sql:
    """Return a duration of years, months, weeks, days, hours, minutes, seconds."""
    listed: Sequence[Sql] = [
        sql.whole(part) if isinstance(part, int) else part for part in parts
    ]
    return sql.function("make_interval", *listed)


def _add_seconds(to: Written) -> Sql:
    """Return another moment, of the years 1 to 9999."""

    def later(moment: Sql, seconds: Sql) -> Sql:
        far = sql.bigint(dates.WHOLE_SECONDS)
        near = is_between(seconds.copy(), sql.minus(sql.bigint(0), far), far.copy())
        elapsed = part_of_moment(
            "epoch", sql.minus(moment.copy(), midnight(first_day()))
        )
        reached = sql.plus(elapsed, seconds.copy())
        inside = all_of(
            sql.is_at_most(sql.whole(0), reached),
            sql.is_less(reached.copy(), far.copy()),
        )
        added = sql.case([(near, sql.case([(inside, seconds)]))])
        # a double holds so many microseconds, for they are multiples of a million
        return sql.plus(
            moment, interval(0, 0, 0, 0, 0, 0, sql.as_type(added, "DOUBLE"))
        )

    return let((to[0], to[1]), later)


def _changes_until(time: Sql, seconds: Sequence[int]) -> Sql:
    """Return how many changes are not after a time."""
    passed = sql.as_type(sql.function("floor", part_of_moment("epoch", time)), "BIGINT")
    return sql.function("width_bucket", passed, _array(seconds))


def _entry_at(values: Sequence[int], place: Sql) -> Sql:
    """Return the number at a place of an array."""
    listed = exp.Paren(this=_array(values))
    return exp.Bracket(this=listed, expressions=[place], offset=1)


def _array(values: Sequence[int]) -> Sql:
    """Return an array of whole numbers."""
    text = ",".join(map(str, values))
    return sql.as_type(sql.letters(f"{{{text}}}"), "BIGINT[]")


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
