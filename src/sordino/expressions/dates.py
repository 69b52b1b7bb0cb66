"""Dates and times of the years 1 to 9999; clocks of places.

What falls out of these years is missing. Weeks begin on Monday. Times are in UTC, to
the microsecond. The rules of a zone are read when an expression is made, so that every
engine has the same ones. They are those of 1970 to 2069; other times have no offset.

Kernel: totals.
"""

import calendar
import hashlib
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import cache
from typing import Any, Final, final
from zoneinfo import ZoneInfo

from sordino.errors import InvalidParameter, InvalidQuery, show
from sordino.expressions import tree
from sordino.expressions.arithmetic import MULTIPLY
from sordino.expressions.casts import CAST
from sordino.expressions.choices import IS_IN
from sordino.expressions.literals import Fluent, lift
from sordino.expressions.logic import COMPARISONS
from sordino.expressions.schema import Column, Schema
from sordino.expressions.tree import (
    AbstractExpression,
    AbstractTree,
    Argument,
    Call,
    Literal,
    Operation,
    Value,
    receiver,
)
from sordino.numbers import arguments as _validate
from sordino.numbers.canonical import Words, call

WHOLE: Final = (date.max - date.min).days
"""The most days between two dates."""
WHOLE_MONTHS: Final = 12 * 9999
"""More than the months between two dates."""
WHOLE_SECONDS: Final = (WHOLE + 1) * 86_400
MOMENTS: Final = ("date", "time")
DAYS: Final = ("year", "quarter", "month", "week", "day")
UNITS: Final = (*DAYS, "hour", "minute", "second")
_CAST: Final = 'Read a text as a date by .cast("date"), or as a time by .cast("time").'
_BEYOND: Final = "a date beyond the years 1 to 9999 has no value"


def _part(name: str, kinds: tuple[str, ...], of: Callable[[Value], int]) -> Operation:
    def known(argument: Argument) -> Column:
        tree.require_types(name, (argument,), kinds, _CAST)
        return tree.result("i64", (argument,))

    return Operation(name, known, of)


def _truncate_facts(argument: Argument, unit: str) -> Column:
    tree.require_types(
        f"truncate to {unit}",
        (argument,),
        MOMENTS if unit in DAYS else ("time",),
        _CAST,
    )
    return tree.result(argument.type, (argument,))


def _days_facts(left: Argument, right: Argument) -> Column:
    tree.require_types("days_between", (left, right), MOMENTS, _CAST)
    tree.alike("days_between", (left, right), 'Try .cast("date") on the time.')
    return tree.result("i64", (left, right))


def _seconds_facts(left: Argument, right: Argument) -> Column:
    tree.require_types(
        "seconds_between", (left, right), ("time",), 'Try .cast("time").'
    )
    return tree.result("i64", (left, right))


def _add_days_facts(argument: Argument, days: Argument) -> Column:
    tree.require_types("add_days", (argument,), MOMENTS, _CAST)
    tree.require_types("add_days", (days,), ("i64",), "Use whole days.")
    return tree.result(argument.type, (argument, days), lost=_BEYOND)


def _add_months_facts(argument: Argument, months: Argument) -> Column:
    tree.require_types("add_months", (argument,), MOMENTS, _CAST)
    tree.require_types("add_months", (months,), ("i64",), "Use whole months.")
    return tree.result(argument.type, (argument, months), lost=_BEYOND)


def _add_seconds_facts(argument: Argument, seconds: Argument) -> Column:
    tree.require_types(
        "add_seconds", (argument,), ("time",), 'Try .cast("time") on a date.'
    )
    tree.require_types("add_seconds", (seconds,), ("i64",), "Use whole seconds.")
    return tree.result("time", (argument, seconds), lost=_BEYOND)


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
    # the first day of all is a Monday: none falls out
    "week": lambda day: day - timedelta(days=day.weekday()),
}


def _truncate(moment: Value, unit: str) -> Value:
    if isinstance(moment, datetime):
        moment = moment.replace(**_BELOW.get(unit, _CLOCK))
    return _STARTS[unit](moment) if unit in _STARTS else moment


def _days_between(start: Value, end: Value) -> Value:
    return (end - start).days


def _seconds_between(start: Value, end: Value) -> Value:
    return (end - start) // timedelta(seconds=1)


def _shift_by(unit: timedelta) -> Callable[[Value, Value], Value]:
    def shift(moment: Value, many: Value) -> Value:
        try:
            return moment + many * unit
        except OverflowError:  # beyond the years 1 to 9999
            return None

    return shift


def _add_months(moment: Value, many: Value) -> Value:
    year, month = divmod(moment.year * 12 + moment.month - 1 + many, 12)
    if not date.min.year <= year <= date.max.year:
        return None
    last = calendar.monthrange(year, month + 1)[1]
    return moment.replace(year=year, month=month + 1, day=min(moment.day, last))


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
ADD_DAYS: Final = Operation(
    "add_days", _add_days_facts, _shift_by(timedelta(days=1)), copies=4
)
ADD_MONTHS: Final = Operation("add_months", _add_months_facts, _add_months, copies=4)
ADD_SECONDS: Final = Operation(
    "add_seconds", _add_seconds_facts, _shift_by(timedelta(seconds=1)), copies=4
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
    """Date or time `days` later; missing beyond 9999 and before 1.

    >>> from sordino.expressions.language import col
    >>> col("x").add_days(col("n")).value({"x": date(2026, 1, 31), "n": -31})
    datetime.date(2025, 12, 31)
    """
    return self.call(ADD_DAYS, self, days)


def add_months(self: Fluent, months: Any) -> Fluent:
    """Return the day so many months later, the last of its month if it has no such day.

    >>> from sordino.expressions.language import col
    >>> col("x").add_months(1).value({"x": date(2026, 1, 31)})
    datetime.date(2026, 2, 28)
    """
    return self.call(ADD_MONTHS, self, months)


def add_seconds(self: Fluent, seconds: Any) -> Fluent:
    """Time `seconds` later; missing beyond 9999 and before 1.

    >>> from sordino.expressions.language import col
    >>> col("x").add_seconds(3600).value({"x": datetime(2026, 1, 31, 23)})
    datetime.datetime(2026, 2, 1, 0, 0)
    """
    return self.call(ADD_SECONDS, self, seconds)


FIRST: Final = datetime(1970, 1, 1)  # noqa: DTZ001 UTC without a zone, as all times
END: Final = datetime(2070, 1, 1)  # noqa: DTZ001
_ZONE_CAST: Final = 'Read a text as a time by .cast("time").'
_ZONE_BEYOND: Final = "a time before 1970 or after 2069 has no offset of a zone"


@final
@dataclass(frozen=True)
class Clock:
    """The offsets of a zone in seconds, and the times in UTC at which each begins."""

    zone: str
    edges: tuple[datetime, ...]
    offsets: tuple[int, ...]

    def offset(self, moment: datetime) -> int | None:
        """Return the offset at a time in UTC."""
        if not FIRST <= moment < END:
            return None
        # a rule holds from its edge on
        return self.offsets[bisect_right(self.edges, moment)]

    @property
    def digest(self) -> str:
        """Hash that identifies these rules for ever."""
        lines = [self.zone, *(edge.isoformat() for edge in self.edges)]
        lines += map(str, self.offsets)
        return hashlib.sha256("\n".join(lines).encode()).hexdigest()


@cache
def clock_of(zone: str) -> Clock:
    """Return the rules of a zone as they are known here."""
    try:
        info = ZoneInfo(zone)
    except (KeyError, ValueError, OSError):
        raise InvalidParameter(
            "zone",
            zone,
            "must be the name of a time zone",
            'Try "Europe/Berlin"; where no names are known, pip install tzdata.',
        ) from None
    edges: list[datetime] = []
    offsets = [_seconds(info, FIRST)]
    day = FIRST
    while day < END:
        later = day + timedelta(days=1)
        while _seconds(info, later) != offsets[-1]:  # a day may have several changes
            edge = _change(info, day, later, offsets[-1])
            edges.append(edge)
            offsets.append(_seconds(info, edge))
            day = edge
        day = later
    return Clock(zone, tuple(edges), tuple(offsets))


def _change(info: ZoneInfo, low: datetime, high: datetime, offset: int) -> datetime:
    while high - low > timedelta(seconds=1):
        middle = low + (high - low) // timedelta(seconds=2) * timedelta(seconds=1)
        if _seconds(info, middle) == offset:
            low = middle
        else:
            high = middle
    return high


def _seconds(info: ZoneInfo, moment: datetime) -> int:
    ahead = moment.replace(tzinfo=UTC).astimezone(info).utcoffset()
    return 0 if ahead is None else ahead // timedelta(seconds=1)


def _facts(argument: Argument, clock: Clock) -> Column:
    del clock
    tree.require_types("utc_offset", (argument,), ("time",), _ZONE_CAST)
    return tree.result("i64", (argument,), lost=_ZONE_BEYOND)


def _meaning(moment: Value, clock: Clock) -> Value:
    return clock.offset(moment)


def _text(arguments: Sequence[AbstractTree], clock: Clock) -> str:
    return f"{receiver(arguments[0])}.utc_offset({clock.zone!r})"


def _words(arguments: Sequence[AbstractTree], clock: Clock) -> Words:
    # with the digest: other rules are another question
    of = [argument.words for argument in arguments]
    return call("utc_offset", of=of, zone=clock.zone, rules=clock.digest)


UTC_OFFSET: Final = Operation(
    "utc_offset", _facts, _meaning, copies=2, text=_text, words=_words
)


def utc_offset(self: Fluent, zone: str) -> Fluent:
    """Return the seconds by which the clocks of a zone are ahead of UTC at the time.

    >>> from sordino.expressions.language import col
    >>> col("x").utc_offset("Europe/Berlin").value({"x": datetime(2026, 7, 1, 12)})
    7200
    """
    clock = clock_of(_validate.text(zone=zone))
    return self.call(UTC_OFFSET, self, clock=clock)


def local_time(self: Fluent, zone: str) -> Fluent:
    """Wall-clock time of a zone for a time in UTC.

    >>> from sordino.expressions.language import col
    >>> col("x").local_time("Europe/Berlin").value({"x": datetime(2026, 7, 1, 12)})
    datetime.datetime(2026, 7, 1, 14, 0)
    """
    return self.call(ADD_SECONDS, self, utc_offset(self, zone))


def add_hours(self: Fluent, hours: Any) -> Fluent:
    """Time `hours` whole hours later; missing beyond 9999 and before 1.

    >>> from sordino.expressions.language import col
    >>> col("x").add_hours(-3).value({"x": datetime(2026, 7, 1, 2)})
    datetime.datetime(2026, 6, 30, 23, 0)
    """
    seconds = self.call(MULTIPLY, hours, 3600)
    return self.call(ADD_SECONDS, self, seconds)


_COMPARING: Final = frozenset({*COMPARISONS, IS_IN})
_WRITTEN: Final = "Write it as '2026-01-31', or a time as '2026-01-31 23:59:59'."


def meet_times(cell: AbstractExpression, schema: Schema) -> AbstractExpression:
    """Let dates, times and written texts that are compared meet in one type, as in SQL.

    A date beside a time is its midnight, and a text is read once, as what it is
    compared with: the same for every row.

    >>> from sordino.expressions.language import col
    >>> known = Schema.of([("at", Column("time")), ("day", Column("date"))])
    >>> meet_times((col("at") >= "2026-03-01").tree, known)
    col('at') >= datetime.datetime(2026, 3, 1, 0, 0)
    >>> meet_times((col("day") == "2026-03-01").tree, known)
    col('day') == datetime.date(2026, 3, 1)
    """
    met = _meet(lift(cell), schema)
    return cell if met is lift(cell) else met


def _meet(cell: AbstractTree, schema: Schema) -> AbstractTree:
    if not isinstance(cell, Call):
        return cell
    parts = tuple(_meet(part, schema) for part in cell.arguments)
    if cell.operation in _COMPARING:
        parts = _in_one_type(parts, schema)
    if all(a is b for a, b in zip(parts, cell.arguments, strict=True)):
        return cell
    return Call(cell.operation, parts, cell.options)


def _in_one_type(
    parts: tuple[AbstractTree, ...], schema: Schema
) -> tuple[AbstractTree, ...]:
    kinds = [part.column(schema).type for part in parts]
    if not {*kinds} & {"date", "time"}:
        return parts
    kind = "time" if "time" in kinds else "date"
    pairs = zip(parts, kinds, strict=True)
    return tuple(
        part if own == kind else _cast_to(part, own, kind) for part, own in pairs
    )


def _cast_to(part: AbstractTree, own: str, kind: str) -> AbstractTree:
    is_written = isinstance(part, Literal) and part.constant is not None
    if own not in {"date", "text"} or (own == "text" and not is_written):
        return part  # a text of a row may read as no time: that is said by a cast
    cast = Call(CAST, (part,), {"to": kind})
    if not is_written:
        return cast
    read = cast.value({})
    if read is None:
        raise InvalidQuery(
            f"{show(part.constant)} is compared with a {kind}, and does not read as "
            "one",
            _WRITTEN,
        )
    return Literal(kind, read)


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
    ADD_MONTHS,
    ADD_SECONDS,
    UTC_OFFSET,
)
