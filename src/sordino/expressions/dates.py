"""Dates and times of the years 1 to 9999; what falls out of them is missing.

Weeks begin on Monday. Times are in UTC, to the microsecond.
"""

from collections.abc import Callable, Mapping
from datetime import date, datetime, timedelta
from typing import Any, Final

from sordino import _validate
from sordino.expressions import facts
from sordino.expressions.base import Value
from sordino.expressions.fluent import Fluent
from sordino.expressions.tree import Argument, Operation
from sordino.schema import Column

WHOLE: Final = (date.max - date.min).days
"""The most days between two dates."""
WHOLE_SECONDS: Final = (WHOLE + 1) * 86_400
MOMENTS: Final = ("date", "time")
DAYS: Final = ("year", "quarter", "month", "week", "day")
UNITS: Final = (*DAYS, "hour", "minute", "second")
_CAST: Final = 'Read a text as a date by .cast("date"), or as a time by .cast("time").'
_BEYOND: Final = "a date beyond the years 1 to 9999 has no value"


def _part(name: str, kinds: tuple[str, ...], of: Callable[[Value], int]) -> Operation:
    """Return the operation that takes a number from a date or a time."""

    def known(argument: Argument) -> Column:
        facts.require_types(name, (argument,), kinds, _CAST)
        return facts.result("i64", (argument,))

    return Operation(name, known, of)


def _truncate_facts(argument: Argument, unit: str) -> Column:
    """Return the facts of the start of a period: days have no hours."""
    facts.require_types(
        f"truncate to {unit}",
        (argument,),
        MOMENTS if unit in DAYS else ("time",),
        _CAST,
    )
    return facts.result(argument.type, (argument,))


def _days_facts(left: Argument, right: Argument) -> Column:
    """Return the facts of a number of days."""
    facts.require_types("days_between", (left, right), MOMENTS, _CAST)
    facts.alike("days_between", (left, right), 'Try .cast("date") on the time.')
    return facts.result("i64", (left, right))


def _seconds_facts(left: Argument, right: Argument) -> Column:
    """Return the facts of a number of seconds."""
    facts.require_types(
        "seconds_between", (left, right), ("time",), 'Try .cast("time").'
    )
    return facts.result("i64", (left, right))


def _add_days_facts(argument: Argument, days: Argument) -> Column:
    """Return the facts of another day."""
    facts.require_types("add_days", (argument,), MOMENTS, _CAST)
    facts.require_types("add_days", (days,), ("i64",), "Use whole days.")
    return facts.result(argument.type, (argument, days), lost=_BEYOND)


def _add_seconds_facts(argument: Argument, seconds: Argument) -> Column:
    """Return the facts of another moment."""
    facts.require_types(
        "add_seconds", (argument,), ("time",), 'Try .cast("time") on a date.'
    )
    facts.require_types("add_seconds", (seconds,), ("i64",), "Use whole seconds.")
    return facts.result("time", (argument, seconds), lost=_BEYOND)


_CLOCK: Final = {"hour": 0, "minute": 0, "second": 0, "microsecond": 0}
_BELOW: Final[Mapping[str, Mapping[str, Any]]] = {
    "hour": {"minute": 0, "second": 0, "microsecond": 0},
    "minute": {"second": 0, "microsecond": 0},
    "second": {"microsecond": 0},
}
_STARTS: Final[Mapping[str, Callable[[Value], Value]]] = {
    "year": lambda day: day.replace(month=1, day=1),
    "quarter": lambda day: day.replace(month=day.month - (day.month - 1) % 3, day=1),
    "month": lambda day: day.replace(day=1),
    "week": lambda day: day - timedelta(days=day.weekday()),
}


def _truncate(moment: Value, unit: str) -> Value:
    """Return the start of the period; the first day of all is a Monday."""
    if isinstance(moment, datetime):
        moment = moment.replace(**_BELOW.get(unit, _CLOCK))
    return _STARTS[unit](moment) if unit in _STARTS else moment


def _days_between(start: Value, end: Value) -> Value:
    """Return the whole days from one to the other, rounded down."""
    return (end - start).days


def _seconds_between(start: Value, end: Value) -> Value:
    """Return the whole seconds from one to the other, rounded down."""
    return (end - start) // timedelta(seconds=1)


def _add_days(moment: Value, days: Value) -> Value:
    """Return a later or earlier day, the clock unchanged."""
    try:
        return moment + timedelta(days=days)
    except OverflowError:
        return None


def _add_seconds(moment: Value, seconds: Value) -> Value:
    """Return a later or earlier moment."""
    try:
        return moment + timedelta(seconds=seconds)
    except OverflowError:
        return None


YEAR: Final = _part("year", MOMENTS, lambda day: day.year)
MONTH: Final = _part("month", MOMENTS, lambda day: day.month)
DAY: Final = _part("day", MOMENTS, lambda day: day.day)
WEEKDAY: Final = _part("weekday", MOMENTS, lambda day: day.weekday())
HOUR: Final = _part("hour", ("time",), lambda moment: moment.hour)
MINUTE: Final = _part("minute", ("time",), lambda moment: moment.minute)
SECOND: Final = _part("second", ("time",), lambda moment: moment.second)
TRUNCATE: Final = Operation("truncate", _truncate_facts, _truncate)
DAYS_BETWEEN: Final = Operation("days_between", _days_facts, _days_between)
SECONDS_BETWEEN: Final = Operation("seconds_between", _seconds_facts, _seconds_between)
ADD_DAYS: Final = Operation("add_days", _add_days_facts, _add_days, copies=4)
ADD_SECONDS: Final = Operation(
    "add_seconds", _add_seconds_facts, _add_seconds, copies=4
)

OPERATIONS: Final = (
    YEAR,
    MONTH,
    DAY,
    WEEKDAY,
    HOUR,
    MINUTE,
    SECOND,
    TRUNCATE,
    DAYS_BETWEEN,
    SECONDS_BETWEEN,
    ADD_DAYS,
    ADD_SECONDS,
)


def year(self: Fluent) -> Fluent:
    """Return the year, 1 to 9999.

    >>> from sordino.expressions.language import col
    >>> col("x").year().value({"x": date(2026, 1, 31)})
    2026
    """
    return self.call(YEAR, self)


def month(self: Fluent) -> Fluent:
    """Return the month, 1 to 12.

    >>> from sordino.expressions.language import col
    >>> col("x").month().value({"x": date(2026, 1, 31)})
    1
    """
    return self.call(MONTH, self)


def day(self: Fluent) -> Fluent:
    """Return the day of the month, 1 to 31.

    >>> from sordino.expressions.language import col
    >>> col("x").day().value({"x": date(2026, 1, 31)})
    31
    """
    return self.call(DAY, self)


def weekday(self: Fluent) -> Fluent:
    """Return the day of the week: Monday is 0, Sunday is 6.

    >>> from sordino.expressions.language import col
    >>> col("x").weekday().value({"x": date(2026, 1, 31)})
    5
    """
    return self.call(WEEKDAY, self)


def hour(self: Fluent) -> Fluent:
    """Return the hour of a time, 0 to 23.

    >>> from sordino.expressions.language import col
    >>> col("x").hour().value({"x": datetime(2026, 1, 31, 23, 59)})
    23
    """
    return self.call(HOUR, self)


def minute(self: Fluent) -> Fluent:
    """Return the minute of a time, 0 to 59.

    >>> from sordino.expressions.language import col
    >>> col("x").minute().value({"x": datetime(2026, 1, 31, 23, 59)})
    59
    """
    return self.call(MINUTE, self)


def second(self: Fluent) -> Fluent:
    """Return the second of a time, 0 to 59.

    >>> from sordino.expressions.language import col
    >>> col("x").second().value({"x": datetime(2026, 1, 31, 23, 59, 1)})
    1
    """
    return self.call(SECOND, self)


def truncate(self: Fluent, unit: str) -> Fluent:
    """Return the start of the year, quarter, month, week, day, hour, minute or second.

    >>> from sordino.expressions.language import col
    >>> col("x").truncate("week").value({"x": date(2026, 1, 31)})
    datetime.date(2026, 1, 26)
    """
    return self.call(TRUNCATE, self, unit=_validate.choice(UNITS, unit=unit))


def days_between(self: Fluent, end: Any) -> Fluent:
    """Return the days from this date to another, or whole days from time to time.

    They are negative if the other is earlier, and rounded down.

    >>> from sordino.expressions.language import col
    >>> col("x").days_between(date(2026, 2, 3)).value({"x": date(2026, 1, 31)})
    3
    """
    return self.call(DAYS_BETWEEN, self, end)


def seconds_between(self: Fluent, end: Any) -> Fluent:
    """Return the whole seconds from this time to another, rounded down.

    >>> from sordino.expressions.language import col
    >>> stay = col("x").seconds_between(col("y"))
    >>> stay.value({"x": datetime(2026, 1, 31), "y": datetime(2026, 2, 1)})
    86400
    """
    return self.call(SECONDS_BETWEEN, self, end)


def add_days(self: Fluent, days: Any) -> Fluent:
    """Return the date or time so many days later; missing beyond 9999 and before 1.

    >>> from sordino.expressions.language import col
    >>> col("x").add_days(col("n")).value({"x": date(2026, 1, 31), "n": -31})
    datetime.date(2025, 12, 31)
    """
    return self.call(ADD_DAYS, self, days)


def add_seconds(self: Fluent, seconds: Any) -> Fluent:
    """Return the time so many seconds later; missing beyond 9999 and before 1.

    >>> from sordino.expressions.language import col
    >>> col("x").add_seconds(3600).value({"x": datetime(2026, 1, 31, 23)})
    datetime.datetime(2026, 2, 1, 0, 0)
    """
    return self.call(ADD_SECONDS, self, seconds)
