"""Arithmetic, ranges, dates and times of rows, as SQL has them.

Integers that leave 64 bits are missing, where SQL fails. What is divided by is a number
written in the text, or NULLIF(x, 0): dialects disagree on a division by zero.

`range_of` tells between which numbers an expression lies, whatever the rows hold: for
any row the value is missing, NaN or within the range, so to clamp it there changes
nothing. What is not known is unbounded.
"""

import math
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from sqlglot import exp

from sordino.expressions import arithmetic, casts, choices, dates, logic
from sordino.expressions.dates import DAYS, UNITS
from sordino.expressions.language import Expression, lit
from sordino.expressions.schema import NUMBERS
from sordino.expressions.tree import AbstractTree, Call, Literal, Operation
from sordino.query.sql.reading import Clause
from sordino.query.sql.scope import AbstractScope, Rule, Value, whole_number

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
    "dayofyear": lambda day: day.truncate("year").days_between(day) + 1,
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


def _part(clause: Clause, scope: AbstractScope, name: str, of: Clause) -> Value:
    if name not in _PARTS:
        raise clause.refusal(
            f"{name.upper()} is counted differently by different dialects",
            "There are YEAR, QUARTER, MONTH, DAY, ISODOW (Monday is 1), DOY, HOUR, "
            "MINUTE and SECOND.",
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
    return scope.value_of(_PARTS[name](expression))


def _named_part(name: str) -> Rule:
    return lambda clause, scope: _part(clause, scope, name, clause.take("this"))


def _extract(clause: Clause, scope: AbstractScope) -> Value:
    name = _unit(clause.take("this"))
    return _part(clause, scope, name, clause.take("expression"))


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
    """Rule of the days between two dates: of times, the midnights between them."""
    unit = clause.some("unit")
    if unit is not None and _unit(unit) != "day":
        raise clause.refusal(
            "DATE_DIFF counts days here, no other unit",
            "Write DATE_DIFF('day', ...), and divide.",
        )
    for name in ("date_part_boundary", "big_int"):
        clause.scalar(name)
    end = _moment(clause.take("this"), scope).expression
    start = _moment(clause.take("expression"), scope).expression
    return scope.value_of(start.cast("date").days_between(end.cast("date")))


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
    seconds = sign * _seconds(interval.take("unit"))
    size = interval.take("this")
    time = value.expression.cast("time")
    if size.bare().kind is exp.Column:
        return scope.value_of(time.add_seconds(_days(size, scope) * seconds))
    length = whole_number(size, "the length of an interval", quoted=True)
    return scope.value_of(time.add_seconds(length * seconds))


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
    value = _moment(clause.take("this"), scope)
    written = scope.value(clause.take("format"))
    if not isinstance(written.constant, str):
        raise clause.refusal("a format must be a text written here", "Write '%Y-%m'.")
    return scope.value_of(value.expression.strftime(written.constant))


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
        if real and left.bare and right.bare:
            raise clause.refusal(
                "this is arithmetic of numbers alone, the same for every row",
                "Write its result.",
            )
        return scope.value_of(
            operation(left.expression, right.expression), decimal=decimal
        )

    return rule


def _divisor(clause: Clause, scope: AbstractScope) -> Value:
    inner = clause.bare()
    value = scope.value(clause)
    _kinds(clause, (value,))
    never = value.constant is not None and value.constant != 0
    if not (never or _is_guarded(inner, scope) or scope.counts(inner)):
        raise clause.refusal(
            "dialects disagree on what a division by zero is, and this may be zero",
            f"Write NULLIF({clause.short_text}, 0), which makes it NULL.",
        )
    return value


def _is_guarded(clause: Clause, scope: AbstractScope) -> bool:
    # by NULLIF(x, 0), which is never zero
    if clause.kind is not exp.Nullif:
        return False
    zero = scope.value(clause.take("expression")).constant
    return zero is not None and zero == 0


def _divide(clause: Clause, scope: AbstractScope) -> Value:
    """Rule of a quotient: of integers cut towards zero where the dialect has it so."""
    dividend = scope.value(clause.take("this"))
    divisor = _divisor(clause.take("expression"), scope)
    clause.scalar("typed"), clause.scalar("safe")
    real, _ = _kinds(clause, (dividend, divisor))
    if clause.dialect.whole_division and not real:
        return scope.value_of(dividend.expression.quotient(divisor.expression))
    decimal = clause.dialect.whole_division and (dividend.decimal or divisor.decimal)
    return scope.value_of(dividend.expression / divisor.expression, decimal=decimal)


def _whole(build: Callable[[Expression, Expression], Expression]) -> Rule:
    def rule(clause: Clause, scope: AbstractScope) -> Value:
        dividend = scope.value(clause.take("this"))
        divisor = _divisor(clause.take("expression"), scope)
        if _kinds(clause, (dividend, divisor))[0]:
            raise clause.refusal(
                "whole division and remainders of fractions differ between dialects",
                "Write FLOOR(a / b).",
            )
        return scope.value_of(build(dividend.expression, divisor.expression))

    return rule


def _negative(clause: Clause, scope: AbstractScope) -> Value:
    value = scope.value(clause.take("this"))
    _kinds(clause, (value,))
    if value.constant is not None:
        return scope.value_of(lit(-value.constant), decimal=value.decimal)
    return scope.value_of(-value.expression, decimal=value.decimal)


def _absolute(clause: Clause, scope: AbstractScope) -> Value:
    value = scope.value(clause.take("this"))
    _kinds(clause, (value,))
    return scope.value_of(value.expression.abs(), decimal=value.decimal)


def _floor_or_ceil(build: Callable[[Expression], Expression]) -> Rule:
    """Rule of the whole number below or above, which SQL has as a double."""

    def rule(clause: Clause, scope: AbstractScope) -> Value:
        value = settled_value(clause, scope.value(clause.take("this")))
        _kinds(clause, (value,))
        return scope.value_of(build(value.expression))

    return rule


def _round(clause: Clause, scope: AbstractScope) -> Value:
    """Rule of a number with fewer digits, halves away from zero."""
    value = settled_value(clause, scope.value(clause.take("this")))
    _kinds(clause, (value,))
    if value.type == "f64" and not clause.dialect.halves_away:
        raise clause.refusal(
            f"ROUND takes halves of doubles to even numbers in {clause.dialect.name}",
            "Write FLOOR(x + 0.5).",
        )
    digits = clause.some("decimals")
    clause.scalar("casts_non_integer_decimals")
    places = 0 if digits is None else whole_number(digits, "the number of digits")
    return scope.value_of(value.expression.round(places))


def _of_number(build: Callable[[Expression], Expression]) -> Rule:
    def rule(clause: Clause, scope: AbstractScope) -> Value:
        value = scope.value(clause.take("this"))
        _kinds(clause, (value,))
        return scope.value_of(build(value.expression))

    return rule


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


Range = tuple[float, float]
_ALL: Final = (-math.inf, math.inf)
_WIDEST: Final = 2**50
"""Beyond it doubles no longer tell neighbouring integers apart."""


def range_of(tree: AbstractTree) -> Range | None:
    """Ends of the values that an expression can have; None where one is open.

    >>> from sordino.expressions.language import col, when
    >>> range_of(when(col("x").is_null()).then(0).otherwise(2).tree)
    (0, 2)
    >>> range_of(col("x").tree) is None
    True
    """
    low, high = _range(tree)
    return (low, high) if max(abs(low), abs(high)) <= _WIDEST and low < high else None


def _range(tree: AbstractTree) -> Range:
    if isinstance(tree, Literal):
        number = tree.constant
        known = isinstance(number, (int, float)) and math.isfinite(number)
        return (number, number) if known else _ALL
    if isinstance(tree, Call):
        rule = _RULES.get(tree.operation)
        return _ALL if rule is None else rule(tree)
    return _ALL


def _ends(*ends: float) -> Range:
    if any(math.isnan(end) for end in ends):
        return _ALL  # infinity less infinity, or times 0: nothing is known
    return min(ends), max(ends)


def _clip(call: Call) -> Range:
    low, high = (bound.constant for bound in call.arguments[1:])
    return low, high


def _when(call: Call) -> Range:
    _, values = choices.split_branches(call.arguments, call.options["given"])
    return _hull([_range(value) for value in values if value is not None])


def _hull(ranges: list[Range]) -> Range:
    return min(low for low, _ in ranges), max(high for _, high in ranges)


def _any(call: Call) -> Range:
    return _hull([_range(argument) for argument in call.arguments])


def _add(call: Call) -> Range:
    (a, b), (c, d) = map(_range, call.arguments)
    return _ends(a + c, b + d)


def _subtract(call: Call) -> Range:
    (a, b), (c, d) = map(_range, call.arguments)
    return _ends(a - d, b - c)


def _multiply(call: Call) -> Range:
    (a, b), (c, d) = map(_range, call.arguments)
    return _ends(a * c, a * d, b * c, b * d)


def _negate(call: Call) -> Range:
    low, high = _range(call.arguments[0])
    return -high, -low


def _abs(call: Call) -> Range:
    low, high = _range(call.arguments[0])
    return (0 if low <= 0 <= high else min(abs(low), abs(high))), max(-low, high)


def _remainder(call: Call) -> Range:
    size = call.arguments[1].constant
    return _ALL if size is None else (1 - abs(size), abs(size) - 1)


def _cast(call: Call) -> Range:
    inner = call.arguments[0]
    if call.options["to"] not in ("i64", "f64"):
        return _ALL
    low, high = _range(inner)
    if not math.isfinite(low) or not math.isfinite(high):
        return _ALL
    return math.floor(low), math.ceil(high)  # outward: a cast to i64 may cut either way


def _fixed(low: int, high: int) -> Callable[[Call], Range]:
    return lambda _: (low, high)


_RULES: Final[Mapping[Operation, Callable[[Call], Range]]] = {
    arithmetic.CLIP: _clip,
    arithmetic.ABS: _abs,
    choices.WHEN: _when,
    logic.COALESCE: _any,
    logic.FILL_NULL: _any,
    choices.GREATEST: _any,
    choices.LEAST: _any,
    arithmetic.ADD: _add,
    arithmetic.SUBTRACT: _subtract,
    arithmetic.MULTIPLY: _multiply,
    arithmetic.NEGATE: _negate,
    arithmetic.REMAINDER: _remainder,
    casts.CAST: _cast,
    dates.YEAR: _fixed(1, 9999),
    dates.MONTH: _fixed(1, 12),
    dates.DAY: _fixed(1, 31),
    dates.WEEKDAY: _fixed(0, 6),
    dates.HOUR: _fixed(0, 23),
    dates.MINUTE: _fixed(0, 59),
    dates.SECOND: _fixed(0, 59),
}


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
    exp.Add: _plus,
    exp.Sub: _minus,
    exp.Mul: _arithmetic(operator.mul),
    exp.Div: _divide,
    exp.IntDiv: _whole(lambda dividend, divisor: dividend.quotient(divisor)),
    exp.Mod: _whole(lambda dividend, divisor: dividend.remainder(divisor)),
    exp.Neg: _negative,
    exp.Abs: _absolute,
    exp.Floor: _floor_or_ceil(lambda number: number.cast("f64").round_down(1.0)),
    exp.Ceil: _floor_or_ceil(lambda number: -((-number.cast("f64")).round_down(1.0))),
    exp.Round: _round,
    exp.Sqrt: _of_number(lambda number: number.sqrt()),
    exp.Exp: _of_number(lambda number: number.exp()),
    exp.Ln: _of_number(lambda number: number.log()),
    exp.Pow: _power,
}
