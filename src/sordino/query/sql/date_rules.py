"""Dates and times of rows: parts, starts of periods, days and seconds later."""

from collections.abc import Callable
from typing import Final

from sqlglot import exp

from sordino.expressions.dates import DAYS, UNITS
from sordino.expressions.language import Expression
from sordino.query.sql.leaf_rules import whole_number
from sordino.query.sql.reading import Clause
from sordino.query.sql.scope import AbstractScope, Rule, Value

_MOMENTS: Final = ("date", "time")
_SECONDS: Final = {
    "second": 1,
    "minute": 60,
    "hour": 3600,
    "day": 86400,
    "week": 604800,
}
_PARTS: Final[dict[str, Callable[[Expression], Expression]]] = {
    "year": lambda day: day.year(),
    "quarter": lambda day: (day.month() + 2) // 3,
    "month": lambda day: day.month(),
    "day": lambda day: day.day(),
    "hour": lambda day: day.hour(),
    "minute": lambda day: day.minute(),
    "second": lambda day: day.second(),
    "isodow": lambda day: day.weekday() + 1,
    "doy": lambda day: day.truncate("year").days_between(day) + 1,
    "dayofyear": lambda one: one.truncate("year").days_between(one) + 1,
}
_CLOCK: Final = ("hour", "minute", "second")


def moment(clause: Clause, scope: AbstractScope) -> Value:
    """Return a date or a time, refusing all else."""
    value = scope.value(clause)
    if value.type not in _MOMENTS:
        raise clause.refusal(
            f"a date or a time belongs here, and {clause.short_text} is of type "
            f"{value.type}",
            "Declare the column's type at its table.",
        )
    return value


def unit_of(clause: Clause) -> str:
    """Return the name of a unit in small letters, without a plural."""
    if clause.kind is exp.Literal:
        clause.scalar("is_string")
    name = str(clause.scalar("this")).lower()
    return name.removesuffix("s") if name not in _PARTS else name


def _part(clause: Clause, scope: AbstractScope, name: str, of: Clause) -> Value:
    """Return a part of a date or a time."""
    if name not in _PARTS:
        raise clause.refusal(
            f"{name.upper()} is counted differently by different dialects",
            "There are YEAR, QUARTER, MONTH, DAY, ISODOW (Monday is 1), DOY, HOUR, "
            "MINUTE and SECOND.",
        )
    value = moment(of, scope)
    if name == "second" and not clause.dialect.whole_seconds:
        raise clause.refusal(
            f"seconds have a fraction in {clause.dialect.name}, and none here",
            "Ask for MINUTE, or truncate to the second: DATE_TRUNC('second', ...).",
        )
    expression = value.expression
    if name in _CLOCK and value.type == "date":
        expression = expression.cast("time")
    return scope.value_of(_PARTS[name](expression))


def _named_part(name: str) -> Rule:
    """Return the rule of YEAR(x) and its like."""

    def rule(clause: Clause, scope: AbstractScope) -> Value:
        return _part(clause, scope, name, clause.take("this"))

    return rule


def _extract(clause: Clause, scope: AbstractScope) -> Value:
    """Return EXTRACT(part FROM x)."""
    name = unit_of(clause.take("this"))
    return _part(clause, scope, name, clause.take("expression"))


def _start(clause: Clause, scope: AbstractScope) -> Value:
    """Return the start of a period; of a date it is a time where SQL has it so."""
    clause.scalar("input_type_preserved")
    unit = unit_of(clause.take("unit"))
    iso = unit == "isoweek"
    unit = "week" if iso else unit
    value = moment(clause.take("this"), scope)
    if unit not in UNITS:
        raise clause.refusal(
            f"a time is not truncated to {unit.upper()} here",
            f"There are {', '.join(UNITS)}.",
        )
    if unit == "week" and not iso and clause.dialect.name == "bigquery":
        raise clause.refusal(
            "WEEK begins on Sunday in bigquery", "Write ISOWEEK: it begins on Monday."
        )
    expression = value.expression
    stays = clause.dialect.dates_stay and clause.kind is exp.DateTrunc
    if value.type == "date" and unit in DAYS and stays:
        return scope.value_of(expression.truncate(unit))
    return scope.value_of(expression.cast("time").truncate(unit))


def _between(clause: Clause, scope: AbstractScope) -> Value:
    """Return the days between two dates: of times, the midnights between them."""
    unit = clause.some("unit")
    if unit is not None and unit_of(unit) != "day":
        raise clause.refusal(
            "DATE_DIFF counts days here, no other unit",
            "Write DATE_DIFF('day', ...), and divide.",
        )
    for name in ("date_part_boundary", "big_int"):
        clause.scalar(name)
    end = moment(clause.take("this"), scope).expression
    start = moment(clause.take("expression"), scope).expression
    return scope.value_of(start.cast("date").days_between(end.cast("date")))


def later_moment(clause: Clause, scope: AbstractScope) -> Value | None:
    """Return a later day or time; None where numbers are added."""
    left, right = clause.take("this"), clause.take("expression")
    if right.bare().kind is exp.Interval:
        return _move(moment(left, scope), right.bare(), scope, 1)
    value = scope.value(left)
    if value.type != "date":
        return None
    return scope.value_of(value.expression.add_days(_days(right, scope)))


def earlier_moment(clause: Clause, scope: AbstractScope) -> Value | None:
    """Return an earlier day or time, or days between; None where numbers are."""
    left, right = clause.take("this"), clause.take("expression")
    if right.bare().kind is exp.Interval:
        return _move(moment(left, scope), right.bare(), scope, -1)
    first = scope.value(left)
    if first.type not in _MOMENTS:
        return None
    second = scope.value(right)
    if first.type == second.type == "date" and clause.dialect.days_subtract:
        return scope.value_of(second.expression.days_between(first.expression))
    if first.type == "date" and second.type == "i64":
        return scope.value_of(first.expression.add_days(-_days(right, scope)))
    raise clause.refusal(
        "the difference of two times is an INTERVAL, which has no type here",
        "Write DATE_DIFF('day', a, b), or EXTRACT parts of both.",
    )


def _days(clause: Clause, scope: AbstractScope) -> Expression:
    """Return a number of days."""
    value = scope.value(clause)
    if value.type != "i64":
        raise clause.refusal("only whole days are added to a date", "Write day + 3.")
    return value.expression


def _move(value: Value, interval: Clause, scope: AbstractScope, sign: int) -> Value:
    """Return a time so much later; of a date it is the time that SQL has."""
    seconds = sign * _seconds(interval.take("unit"))
    size = interval.take("this")
    time = value.expression.cast("time")
    if size.bare().kind is exp.Column:
        return scope.value_of(time.add_seconds(_days(size, scope) * seconds))
    length = whole_number(size, "the length of an interval", quoted=True)
    return scope.value_of(time.add_seconds(length * seconds))


def _seconds(unit: Clause) -> int:
    """Return the seconds of a unit, refusing one that is not always as long."""
    name = unit_of(unit)
    if name not in _SECONDS:
        raise unit.refusal(
            f"INTERVAL of {name.upper()}: they are not all equally long",
            "Add days, or truncate: DATE_TRUNC('month', ...).",
        )
    return _SECONDS[name]


def _shift(sign: int) -> Rule:
    """Return the rule of DATE_ADD, TIMESTAMP_ADD and their like."""

    def rule(clause: Clause, scope: AbstractScope) -> Value:
        value = moment(clause.take("this"), scope)
        size = clause.take("expression").bare()
        if size.kind is exp.Interval:
            return _move(value, size, scope, sign)
        length = sign * whole_number(size, "a number of days", quoted=True)
        if value.type == "time":
            seconds = length * _seconds(clause.take("unit"))
            return scope.value_of(value.expression.add_seconds(seconds))
        unit = unit_of(clause.take("unit"))
        if unit != "day" or value.type != "date":
            raise clause.refusal("only whole days are added to a date", "Use DAY.")
        if not clause.dialect.dates_stay:
            raise clause.refusal("this makes a time in this dialect", "Write date + 3.")
        return scope.value_of(value.expression.add_days(length))

    return rule


def _format(clause: Clause, scope: AbstractScope) -> Value:
    """Return a date or a time as a text in a format that is written here."""
    value = moment(clause.take("this"), scope)
    written = scope.value(clause.take("format"))
    if not isinstance(written.constant, str):
        raise clause.refusal("a format must be a text written here", "Write '%Y-%m'.")
    return scope.value_of(value.expression.strftime(written.constant))


def _local(clause: Clause, scope: AbstractScope) -> Value:
    """Return the clock of a zone: times are in UTC, and the text has to say so."""
    zone = _zone(clause.take("zone"), scope)
    this = clause.take("this").bare()
    if clause.dialect.zoned_times:
        value = moment(this, scope)
    elif this.kind is exp.AtTimeZone and _zone(this.take("zone"), scope) == "UTC":
        value = moment(this.take("this"), scope)
    else:
        raise clause.refusal(
            "AT TIME ZONE reads a time as one of that zone, and times here are in UTC",
            f"Write (x AT TIME ZONE 'UTC') AT TIME ZONE '{zone}' for its clocks.",
        )
    return scope.value_of(_as_time(value).local_time(zone))


def _as_time(value: Value) -> Expression:
    """Return a date as its midnight, a time as it is."""
    expression = value.expression
    return expression if value.type == "time" else expression.cast("time")


def _zone(clause: Clause, scope: AbstractScope) -> str:
    """Return the name of a zone that is written in the text."""
    name = scope.value(clause).constant
    if not isinstance(name, str):
        raise clause.refusal(
            "a time zone must be a name written here", "Write 'Europe/Berlin'."
        )
    return name


RULES: Final[dict[type[exp.Expr], Rule]] = {
    exp.AtTimeZone: _local,
    exp.Extract: _extract,
    exp.Year: _named_part("year"),
    exp.Quarter: _named_part("quarter"),
    exp.Month: _named_part("month"),
    exp.Day: _named_part("day"),
    exp.DayOfMonth: _named_part("day"),
    exp.DayOfYear: _named_part("doy"),
    exp.DayOfWeekIso: _named_part("isodow"),
    exp.Hour: _named_part("hour"),
    exp.Minute: _named_part("minute"),
    exp.Second: _named_part("second"),
    exp.TimeToStr: _format,
    exp.DateTrunc: _start,
    exp.TimestampTrunc: _start,
    exp.DateDiff: _between,
    exp.DateAdd: _shift(1),
    exp.DateSub: _shift(-1),
    exp.TimestampAdd: _shift(1),
    exp.TimestampSub: _shift(-1),
    exp.DatetimeAdd: _shift(1),
    exp.DatetimeSub: _shift(-1),
}
