"""Arithmetic, dates and times of rows, as SQL has them.

Integers that leave 64 bits are missing, where SQL fails. A quotient by zero is missing
where the database fails, and an infinity where it has one.
"""

import datetime as dt
import math
import operator
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Final

from sqlglot import exp

from sordino.expressions.dates import DAYS, UNITS
from sordino.expressions.language import Expression, lit, when
from sordino.expressions.schema import NUMBERS
from sordino.query.sql import decimals
from sordino.query.sql.reading import Clause
from sordino.query.sql.scope import AbstractScope, Rule, Value, whole_number

_MOMENTS: Final = ("date", "time")
_MONTHS: Final = {"month": 1, "quarter": 3, "year": 12}
_SECONDS: Final = {
    "second": 1,
    "minute": 60,
    "hour": 3600,
    "day": 86400,
    "week": 604800,
}


def _thursday(day: Expression) -> Expression:
    # a week is of the year in which its Thursday lies
    return day.cast("date").truncate("week").add_days(3)


def _week(day: Expression) -> Expression:
    thursday = _thursday(day)
    week = thursday.truncate("year").days_between(thursday) // 7 + 1
    return week.clip(1, 53)  # it changes nothing, and says so


_PARTS: Final[dict[str, Callable[[Expression], Expression]]] = {
    "isoweek": _week,
    "isoyear": lambda day: _thursday(day).year(),
    "year": lambda day: day.year(),
    "quarter": lambda day: (day.month() + 2) // 3,
    "month": lambda day: day.month(),
    "day": lambda day: day.day(),
    "hour": lambda day: day.hour(),
    "minute": lambda day: day.minute(),
    "second": lambda day: day.second(),
    "isodow": lambda day: day.weekday() + 1,
    "doy": lambda day: day.truncate("year").days_between(day) + 1,
    "dayofyear": lambda day: day.truncate("year").days_between(day) + 1,
}
_SUNDAYS: Final[dict[str, Callable[[Expression], Expression]]] = {
    "sunday is 0": lambda day: (day.weekday() + 1) % 7,
    "sunday is 1": lambda day: (day.weekday() + 1) % 7 + 1,
}
_CLOCK: Final = ("hour", "minute", "second")


def _moment(clause: Clause, scope: AbstractScope) -> Value:
    value = scope.value(clause)
    if value.type not in _MOMENTS:
        raise clause.refusal(
            f"a date or a time belongs here, and {clause.short_text} is of type "
            f"{value.type}",
            "Declare the column's type at its table.",
        )
    return value


def _unit(clause: Clause) -> str:
    if clause.kind is exp.Literal:
        clause.scalar("is_string")
    name = str(clause.scalar("this")).lower()
    return name.removesuffix("s") if name not in _PARTS else name


def part_named(clause: Clause, scope: AbstractScope, name: str, of: Clause) -> Value:
    """Value of a part of a time, as the dialect has it."""
    known = clause.dialect.parts.get(name, name if name in _PARTS else "")
    build = _PARTS.get(known) or _SUNDAYS.get(known)
    if build is None:
        raise clause.refusal(
            f"there is no part {name.upper()} of a time in {clause.dialect.name} here",
            "There are YEAR, QUARTER, MONTH, WEEK, DAY, DOW, ISODOW (Monday is 1), "
            "DOY, HOUR, MINUTE and SECOND.",
        )
    value = _moment(of, scope)
    if name == "second" and not clause.dialect.whole_seconds:
        raise clause.refusal(
            f"seconds have a fraction in {clause.dialect.name}, and none here",
            "Ask for MINUTE, or truncate to the second: DATE_TRUNC('second', ...).",
        )
    expression = value.expression
    if name in _CLOCK and value.type == "date":
        expression = expression.cast("time")
    return scope.value_of(build(expression))


def _named_part(name: str) -> Rule:
    return lambda clause, scope: part_named(clause, scope, name, clause.take("this"))


def part_of_word(clause: Clause, scope: AbstractScope) -> Value:
    """Value of DATE_PART('week', day)."""
    word, of = clause.each("expressions")
    return part_named(clause, scope, _unit(word), of)


def _extract(clause: Clause, scope: AbstractScope) -> Value:
    name = _unit(clause.take("this"))
    return part_named(clause, scope, name, clause.take("expression"))


def _start(clause: Clause, scope: AbstractScope) -> Value:
    """Rule of the start of a period; of a date it is a time where SQL has it so."""
    clause.scalar("input_type_preserved")
    unit = _unit(clause.take("unit"))
    iso = unit == "isoweek"
    unit = "week" if iso else unit
    value = _moment(clause.take("this"), scope)
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
    """Rule of the midnights between two times, or of other beginnings."""
    unit = clause.some("unit")
    word = "day" if unit is None else _unit(unit)
    if word not in clause.dialect.differences:
        raise clause.refusal(
            f"DATE_DIFF of {word.upper()} is not counted in {clause.dialect.name} here",
            f"There are {', '.join(clause.dialect.differences)}.",
        )
    for name in ("date_part_boundary", "big_int"):
        clause.scalar(name)
    end = _moment(clause.take("this"), scope).expression
    start = _moment(clause.take("expression"), scope).expression
    if word in _PERIODS:
        return scope.value_of(_PERIODS[word](end) - _PERIODS[word](start))
    if word in _CLOCK:
        first, last = (part.cast("time").truncate(word) for part in (start, end))
        return scope.value_of(first.seconds_between(last).quotient(_SECONDS[word]))
    return scope.value_of(start.cast("date").days_between(end.cast("date")))


_PERIODS: Final[dict[str, Callable[[Expression], Expression]]] = {
    "year": lambda day: day.year(),
    "quarter": lambda day: day.year() * 4 + (day.month() + 2) // 3,
    "month": lambda day: day.year() * 12 + day.month(),
}
"""Periods that begin between two times are those that are numbered between them."""


def _last_day(clause: Clause, scope: AbstractScope) -> Value:
    """Rule of the last day of a month, which is before the first of the next."""
    if clause.has("unit"):
        raise clause.place("unit").refusal(
            "LAST_DAY is of the month here", "Leave the unit out."
        )
    day = _moment(clause.take("this"), scope).expression.cast("date")
    following = day.truncate("month").add_days(31).truncate("month")
    last = when(day >= _LAST_MONTH).then(dt.date.max).otherwise(following.add_days(-1))
    return scope.value_of(last)


_LAST_MONTH: Final = dt.date(9999, 12, 1)


def _plus(clause: Clause, scope: AbstractScope) -> Value:
    """Rule of a sum, or of a later day or time."""
    left, right = clause.take("this"), clause.take("expression")
    if right.bare().kind is exp.Interval:
        return _move(_moment(left, scope), right.bare(), scope, 1)
    value = scope.value(left)
    if value.type != "date":
        return _arithmetic(operator.add)(clause, scope)
    return scope.value_of(value.expression.add_days(_days(right, scope)))


def _minus(clause: Clause, scope: AbstractScope) -> Value:
    """Rule of a difference, of an earlier day or time, or of the days between two."""
    left, right = clause.take("this"), clause.take("expression")
    if right.bare().kind is exp.Interval:
        return _move(_moment(left, scope), right.bare(), scope, -1)
    first = scope.value(left)
    if first.type not in _MOMENTS:
        return _arithmetic(operator.sub)(clause, scope)
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
    value = scope.value(clause)
    if value.type != "i64":
        raise clause.refusal("only whole days are added to a date", "Write day + 3.")
    return value.expression


def _move(value: Value, interval: Clause, scope: AbstractScope, sign: int) -> Value:
    # of a date it is a time, as SQL has it
    unit, size = interval.take("unit"), interval.take("this")
    time = value.expression.cast("time")
    if _unit(unit) in _MONTHS:
        length = whole_number(size, "the length of an interval", quoted=True)
        moved = value.expression if unit.dialect.name == "spark" else time
        return scope.value_of(moved.add_months(sign * length * _MONTHS[_unit(unit)]))
    seconds = sign * _seconds(unit)
    if size.bare().kind is exp.Column:
        return scope.value_of(time.add_seconds(_days(size, scope) * seconds))
    length = whole_number(size, "the length of an interval", quoted=True)
    return scope.value_of(time.add_seconds(length * seconds))


def _later_month(clause: Clause, scope: AbstractScope) -> Value:
    """Rule of ADD_MONTHS(day, 3), as Spark has it."""
    for name in ("preserve_end_of_month", "expression_is_int"):
        clause.scalar(name)
    day = _moment(clause.take("this"), scope).expression.cast("date")
    months = whole_number(clause.take("expression"), "a number of months")
    return scope.value_of(day.add_months(months))


def _seconds(unit: Clause) -> int:
    name = _unit(unit)
    if name not in _SECONDS:
        raise unit.refusal(
            f"INTERVAL of {name.upper()}: they are not all equally long",
            "Add days, or truncate: DATE_TRUNC('month', ...).",
        )
    return _SECONDS[name]


def _shift(sign: int) -> Rule:
    def rule(clause: Clause, scope: AbstractScope) -> Value:
        value = _moment(clause.take("this"), scope)
        size = clause.take("expression").bare()
        if size.kind is exp.Interval:
            return _move(value, size, scope, sign)
        length = sign * whole_number(size, "a number of days", quoted=True)
        if (
            value.type == "date"
            and clause.has("unit")
            and (_unit(clause.place("unit")) in _MONTHS)
        ):
            if not clause.dialect.dates_stay:
                raise clause.refusal(
                    "this makes a time in this dialect",
                    "Write date + INTERVAL 1 MONTH.",
                )
            months = length * _MONTHS[_unit(clause.take("unit"))]
            return scope.value_of(value.expression.add_months(months))
        if value.type == "time":
            seconds = length * _seconds(clause.take("unit"))
            return scope.value_of(value.expression.add_seconds(seconds))
        unit = _unit(clause.take("unit"))
        if unit != "day" or value.type != "date":
            raise clause.refusal("only whole days are added to a date", "Use DAY.")
        if not clause.dialect.dates_stay:
            raise clause.refusal("this makes a time in this dialect", "Write date + 3.")
        return scope.value_of(value.expression.add_days(length))

    return rule


def _format(clause: Clause, scope: AbstractScope) -> Value:
    this, format_ = clause.take("this"), clause.take("format")
    if isinstance(this.node, exp.Literal) and clause.dialect.name == "duckdb":
        this, format_ = format_, this  # DuckDB takes either first
    value = _moment(this, scope)
    written = scope.value(format_)
    if not isinstance(written.constant, str):
        raise clause.refusal("a format must be a text written here", "Write '%Y-%m'.")
    return scope.value_of(value.expression.strftime(written.constant))


_DAY_NAMES: Final = (
    *("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"),
)
_MONTH_NAMES: Final = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)


def _name_rule(
    number: Callable[[Expression], Expression], names: Sequence[str]
) -> Rule:
    """Rule of the English name of a day or a month, by its number from 0."""

    def rule(clause: Clause, scope: AbstractScope) -> Value:
        if clause.dialect.name != "duckdb":
            raise clause.refusal(
                f"which names there are in {clause.dialect.name} is not known here",
                "Write EXTRACT(ISODOW FROM day), or EXTRACT(MONTH FROM day).",
            )
        at = number(_moment(clause.take("this"), scope).expression)
        choice: Any = when(at == 0).then(names[0])
        for place, name in enumerate(names[1:], 1):
            choice = choice.when(at == place).then(name)
        return scope.value_of(choice.otherwise(None))

    return rule


def _local(clause: Clause, scope: AbstractScope) -> Value:
    """Rule of the clock of a zone: times are in UTC, and the text has to say so."""
    zone = _zone(clause.take("zone"), scope)
    this = clause.take("this").bare()
    if clause.dialect.zoned_times:
        value = _moment(this, scope)
    elif this.kind is exp.AtTimeZone and _zone(this.take("zone"), scope) == "UTC":
        value = _moment(this.take("this"), scope)
    else:
        raise clause.refusal(
            "AT TIME ZONE reads a time as one of that zone, and times here are in UTC",
            f"Write (x AT TIME ZONE 'UTC') AT TIME ZONE '{zone}' for its clocks.",
        )
    time = value.expression
    time = time if value.type == "time" else time.cast("time")
    return scope.value_of(time.local_time(zone))


def _zone(clause: Clause, scope: AbstractScope) -> str:
    name = scope.value(clause).constant
    if not isinstance(name, str):
        raise clause.refusal(
            "a time zone must be a name written here", "Write 'Europe/Berlin'."
        )
    return name


_DOUBLE: Final = "Write CAST(... AS DOUBLE) around it."


def _kinds(clause: Clause, values: Sequence[Value]) -> tuple[bool, bool]:
    for value in values:
        if value.type not in NUMBERS:
            raise clause.refusal(
                f"{clause.short_text} takes numbers, and one is of type {value.type}",
                "Cast it, or declare the column's type at its table.",
            )
    real = any(value.type == "f64" for value in values)
    doubles = any(value.type == "f64" and not value.decimal for value in values)
    return real, real and not doubles


def settled_value(clause: Clause, value: Value) -> Value:
    """Refuse a computed decimal where its last digit decides."""
    if value.decimal and value.constant is None:
        raise clause.refusal(
            "this is an exact decimal in SQL, and a double here, so its last digit "
            "may differ",
            _DOUBLE,
        )
    return value


def _arithmetic(operation: Callable[[Any, Any], Any]) -> Rule:
    def rule(clause: Clause, scope: AbstractScope) -> Value:
        left = scope.value(clause.take("this"))
        right = scope.value(clause.take("expression"))
        real, decimal = _kinds(clause, (left, right))
        if real and not decimal:  # a decimal meets a double as the double next to it
            left, right = _as_doubles(left), _as_doubles(right)
        value = scope.value_of(
            operation(left.expression, right.expression), decimal=decimal
        )
        if decimal:
            value = replace(value, scaled=decimals.combine(operation, left, right))
        return _constant(clause, value) if real and value.bare else value

    return rule


def _as_doubles(value: Value) -> Value:
    if not value.decimal or value.constant is not None:
        return value
    return replace(
        value, expression=decimals.double_of(value), decimal=False, scaled=None
    )


def _constant(clause: Clause, value: Value) -> Value:
    known = decimals.constant_of(value)
    if known is None:
        raise clause.refusal(
            "this is arithmetic of numbers alone, and they leave 64 bits",
            "Write its result.",
        )
    return known


def _divisor(clause: Clause, scope: AbstractScope) -> tuple[Value, bool]:
    """Value of a divisor, and whether it may be zero."""
    inner = clause.bare()
    value = scope.value(clause)
    _kinds(clause, (value,))
    never = value.constant is not None and value.constant != 0
    return value, not (
        never or _is_guarded(inner, scope) or scope.lacks_quotients(inner)
    )


def _is_guarded(clause: Clause, scope: AbstractScope) -> bool:
    # by NULLIF(x, 0), which is never zero
    if clause.kind is not exp.Nullif:
        return False
    zero = scope.value(clause.take("expression")).constant
    return zero is not None and zero == 0


def _divide(clause: Clause, scope: AbstractScope) -> Value:
    """Rule of a quotient: of integers cut towards zero where the dialect has it so."""
    dividend = scope.value(clause.take("this"))
    divisor, may_be_zero = _divisor(clause.take("expression"), scope)
    clause.scalar("typed"), clause.scalar("safe")
    real, _ = _kinds(clause, (dividend, divisor))
    if clause.dialect.whole_division and not real:
        return scope.value_of(dividend.expression.quotient(divisor.expression))
    decimal = clause.dialect.whole_division and (dividend.decimal or divisor.decimal)
    above, below = (_as_doubles(value).expression for value in (dividend, divisor))
    quotient = above / below
    if may_be_zero and clause.dialect.infinite_quotients:
        quotient = when(below == 0).then(_by_zero(above)).otherwise(quotient)
    return scope.value_of(quotient, decimal=decimal)


def _by_zero(dividend: Expression) -> Expression:
    number = dividend + 0.0
    above = (number > 0.0) & (number <= math.inf)  # NaN is above every number
    return (
        when(above)
        .then(math.inf)
        .when(number < 0.0)
        .then(-math.inf)
        .otherwise(number * math.nan)  # missing if it is missing
    )


def _whole_quotient(clause: Clause, scope: AbstractScope) -> Value:
    """Rule of a // b: of fractions it is the quotient itself in DuckDB."""
    dividend = scope.value(clause.take("this"))
    divisor, _ = _divisor(clause.take("expression"), scope)
    if not _kinds(clause, (dividend, divisor))[0]:
        return scope.value_of(dividend.expression.quotient(divisor.expression))
    if clause.dialect.name != "duckdb":
        raise clause.refusal(
            "whole division of fractions differs between dialects",
            "Write FLOOR(a / b).",
        )
    above, below = (_as_doubles(value).expression for value in (dividend, divisor))
    return scope.value_of(above / below)


def _rest(clause: Clause, scope: AbstractScope) -> Value:
    """Rule of a % b, with the sign of a; of doubles by zero it is NaN in DuckDB."""
    values = [scope.value(clause.take("this"))]
    values.append(_divisor(clause.take("expression"), scope)[0])
    real, decimal = _kinds(clause, values)
    if not real or (decimal and decimals.are_decimals(values)):
        (left, right), places = decimals.level(values)
        digits = left.remainder(right)
        if not real:
            return scope.value_of(digits)
        whole = scope.value_of(digits.cast("f64") / 10.0**places)
        return decimals.as_decimal(whole, digits, places)
    left, right = (_as_doubles(value).expression for value in values)
    rest = abs(left + 0.0) % abs(right)
    rest = when(left < 0).then(-rest).otherwise(rest)
    if clause.dialect.infinite_quotients:
        rest = when(right == 0).then(left * math.nan).otherwise(rest)
    return scope.value_of(rest)


def _negative(clause: Clause, scope: AbstractScope) -> Value:
    value = scope.value(clause.take("this"))
    _kinds(clause, (value,))
    constant = value.constant
    negative = -value.expression if constant is None else lit(-constant)
    return _with_digits(scope, value, negative, operator.neg)


def _absolute(clause: Clause, scope: AbstractScope) -> Value:
    value = scope.value(clause.take("this"))
    _kinds(clause, (value,))
    return _with_digits(scope, value, value.expression.abs(), abs)


def _with_digits(
    scope: AbstractScope,
    value: Value,
    number: Expression,
    change: Callable[[Expression], Expression],
) -> Value:
    """Value of a function of a number that leaves its places what they are."""
    changed = scope.value_of(number, decimal=value.decimal)
    if value.scaled is None:
        return changed
    digits, places = value.scaled
    known = digits.tree.constant
    digits = change(digits) if known is None else lit(change(lit(known)).value({}))
    return replace(changed, scaled=(digits, places))


def _floor_or_ceil(sign: int) -> Rule:
    """Rule of the whole number below or above, which SQL has as a double."""

    def rule(clause: Clause, scope: AbstractScope) -> Value:
        value = scope.value(clause.take("this"))
        _kinds(clause, (value,))
        if value.scaled is not None:
            turned = value if sign > 0 else _negative_of(scope, value)
            return _whole(scope, sign * decimals.whole_below(turned))
        number = settled_value(clause, value).expression.cast("f64")
        below = number.round_down(1.0) if sign > 0 else -((-number).round_down(1.0))
        return scope.value_of(below)

    return rule


def _negative_of(scope: AbstractScope, value: Value) -> Value:
    return _with_digits(scope, value, -value.expression, operator.neg)


def _whole(scope: AbstractScope, digits: Expression) -> Value:
    """Value of a decimal without places, which SQL shows as a fraction."""
    return decimals.as_decimal(scope.value_of(digits.cast("f64")), digits, 0)


def _sign(clause: Clause, scope: AbstractScope) -> Value:
    value = scope.value(clause.take("this"))
    _kinds(clause, (value,))
    number = value.expression
    above = number > 0
    if value.type == "f64":
        above &= number <= math.inf  # NaN is above every number, and has no sign
    sign = (
        when(number.is_null()).then(None).when(above).then(1).when(number < 0).then(-1)
    ).otherwise(0)
    whole = clause.dialect.name == "duckdb" or (
        clause.dialect.name == "bigquery" and value.type == "i64"
    )
    return scope.value_of(sign if whole else sign.cast("f64"))


def _truncation(clause: Clause, scope: AbstractScope) -> Value:
    """Rule of TRUNC: the whole number between a number and zero."""
    value = scope.value(clause.take("this"))
    _kinds(clause, (value,))
    if clause.has("decimals"):
        raise clause.place("decimals").refusal(
            "TRUNC takes a number alone here", "Write TRUNC(x * 10) / 10."
        )
    if value.type == "i64" and clause.dialect.name == "duckdb":
        return scope.value_of(value.expression)
    if value.scaled is not None:
        return _whole(scope, decimals.truncate_decimal(value))
    number = settled_value(clause, value).expression.cast("f64")
    up = -((-number).round_down(1.0))
    return scope.value_of(when(number < 0).then(up).otherwise(number.round_down(1.0)))


def _round(clause: Clause, scope: AbstractScope) -> Value:
    """Rule of a number with fewer digits, halves away from zero."""
    value = scope.value(clause.take("this"))
    _kinds(clause, (value,))
    if value.type == "f64" and not clause.dialect.halves_away:
        raise clause.refusal(
            f"ROUND takes halves of doubles to even numbers in {clause.dialect.name}",
            "Write FLOOR(x + 0.5).",
        )
    digits = clause.some("decimals")
    clause.scalar("casts_non_integer_decimals")
    places = 0 if digits is None else whole_number(digits, "the number of digits")
    if places < -decimals.MOST_PLACES:
        raise clause.refusal(
            "this rounds to more than a whole number has digits", "Write ROUND(x, -3)."
        )
    if value.scaled is not None:
        kept, scale = decimals.round_decimal(value, places)
        number = scope.value_of(kept.cast("f64") / 10.0**scale)
        return decimals.as_decimal(number, kept, scale)
    plain = settled_value(clause, value).expression
    if places >= 0:
        return scope.value_of(plain.round(places))
    step = 10**-places
    if value.type == "i64":
        return scope.value_of(decimals.round_whole(plain, step))
    steps: Expression = plain / float(step)
    return scope.value_of(steps.round() * float(step))


def _of_number(build: Callable[[Expression], Expression]) -> Rule:
    def rule(clause: Clause, scope: AbstractScope) -> Value:
        value = scope.value(clause.take("this"))
        _kinds(clause, (value,))
        return scope.value_of(build(value.expression))

    return rule


def _logarithm(clause: Clause, scope: AbstractScope) -> Value:
    """Rule of LOG of base 10, which is whole for whole powers of 10."""
    written = clause.some("expression")
    if written is not None:
        named = clause.take("this")
        if whole_number(named, "the base of a logarithm") != 10:
            raise named.refusal(
                "LOG is of base 10 here",
                f"Write LN({written.short_text}) / LN({named.short_text}).",
            )
    value = scope.value(clause.take("this") if written is None else written)
    _kinds(clause, (value,))
    number = decimals.double_of(value)
    choice: Any = when(number == 10.0 ** _APART[0]).then(float(_APART[0]))
    for power in _APART[1:]:
        choice = choice.when(number == 10.0**power).then(float(power))
    return scope.value_of(choice.otherwise(number.log() * _PER_TEN))


_PER_TEN: Final = math.log10(math.e)
_APART: Final = (15, -1, -4, -15)
"""Of 10**-22 to 10**22 those whose product would not be whole: FLOOR shows it."""


def _power(clause: Clause, scope: AbstractScope) -> Value:
    value = scope.value(clause.take("this"))
    exponent = scope.value(clause.take("expression"))
    _kinds(clause, (value, exponent))
    if exponent.constant is None:
        raise clause.refusal(
            "the exponent of POWER must be a number written here",
            "Write POWER(x, 2), or EXP(y * LN(x)) for another column y.",
        )
    return scope.value_of(value.expression.power(exponent.constant))


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
    exp.DayOfWeek: _named_part("dayofweek"),
    exp.Week: _named_part("week"),
    exp.WeekOfYear: _named_part("weekofyear"),
    exp.LastDay: _last_day,
    exp.AddMonths: _later_month,
    exp.TsOrDsToDate: lambda clause, scope: scope.value_of(
        _moment(clause.take("this"), scope).expression.cast("date")
    ),
    exp.Hour: _named_part("hour"),
    exp.Minute: _named_part("minute"),
    exp.Second: _named_part("second"),
    exp.TimeToStr: _format,
    exp.Dayname: _name_rule(lambda day: day.weekday(), _DAY_NAMES),
    exp.Monthname: _name_rule(lambda day: day.month() - 1, _MONTH_NAMES),
    exp.DateTrunc: _start,
    exp.TimestampTrunc: _start,
    exp.DateDiff: _between,
    exp.DateAdd: _shift(1),
    exp.DateSub: _shift(-1),
    exp.TimestampAdd: _shift(1),
    exp.TimestampSub: _shift(-1),
    exp.DatetimeAdd: _shift(1),
    exp.DatetimeSub: _shift(-1),
    exp.Add: _plus,
    exp.Sub: _minus,
    exp.Mul: _arithmetic(operator.mul),
    exp.Div: _divide,
    exp.IntDiv: _whole_quotient,
    exp.Mod: _rest,
    exp.Neg: _negative,
    exp.Abs: _absolute,
    exp.Floor: _floor_or_ceil(1),
    exp.Ceil: _floor_or_ceil(-1),
    exp.Round: _round,
    exp.Sign: _sign,
    exp.Trunc: _truncation,
    exp.Sqrt: _of_number(lambda number: number.sqrt()),
    exp.Exp: _of_number(lambda number: number.exp()),
    exp.Ln: _of_number(lambda number: number.log()),
    exp.Log: _logarithm,
    exp.Pow: _power,
}
