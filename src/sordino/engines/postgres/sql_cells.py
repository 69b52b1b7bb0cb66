"""How PostgreSQL reads texts as values: casts, cells of text files, and formats.

Its own casts raise, and know words such as `now`. So a text is taken apart by a regular
expression, and what is made of the parts is held to its range before it is made.
"""

from collections.abc import Callable, Mapping
from string import ascii_lowercase, ascii_uppercase
from typing import Final

from sqlglot import exp

from sordino.engines.postgres.guards import (
    all_of,
    any_of,
    as_integer,
    fits,
    is_between,
    let,
    narrow,
    numeric,
    real,
    whole_quotient,
)
from sordino.engines.postgres.sql_dates import calendar_day, midnight
from sordino.engines.postgres.sql_reals import digits_pattern, nearest_of
from sordino.engines.sql import pieces as sql
from sordino.engines.sql.pieces import Entry, Sql, Written
from sordino.expressions import cells, formats
from sordino.expressions.cells import Spelling
from sordino.expressions.layouts import ISO_DATE, YEAR, Layout
from sordino.expressions.text import BLANKS
from sordino.expressions.tree import Operation

_BLANK: Final = "[ \\t\\n\\r\\v\\f]*"
_LONGEST: Final = 19  # digits of an i64
_INFINITE: Final = "[iI][nN][fF]([iI][nN][iI][tT][yY])?"
_WORDS: Final = (
    (f"[+]?{_INFINITE}", float("inf")),
    (f"-{_INFINITE}", float("-inf")),
    ("[nN][aA][nN]", float("nan")),
)
CAST_TIME: Final = Layout(
    f"({YEAR})-([0-9][0-9])-([0-9][0-9])"
    "(?:[T ]([01][0-9]|2[0-3]):([0-5][0-9])"
    "(?::([0-5][0-9])(?:[.]([0-9]{1,6}))?)?Z?)?",
    ("year", "month", "day", "hour", "minute", "second", "fraction"),
)
"""What a cast reads as a time: the grammar of casts, with groups."""
_POINT: Final = "[.]"


def bare(cell: Sql) -> Sql:
    """Return a text without blanks around it."""
    return sql.function("btrim", cell, sql.letters(BLANKS))


def _parts_of(cell: Sql, pattern: str) -> Sql:
    """Return the groups of a pattern that is all of a text, or null."""
    whole = sql.letters(f"^{_BLANK}(?:{pattern}){_BLANK}$")
    return sql.function("regexp_match", cell, whole)


def _part(parts: Sql, place: int) -> Sql:
    """Return a group by its place, from 1 on."""
    listed = exp.Paren(this=parts.copy())
    return exp.Bracket(this=listed, expressions=[sql.whole(place)], offset=1)


def integer_in(cell: Sql, further: str = "") -> Sql:
    """Return digits with an optional sign as an integer that fits."""

    def read(parts: Sql) -> Sql:
        digits = sql.function("ltrim", _part(parts, 2), sql.letters("0"))
        short = sql.is_at_most(sql.function("length", digits), sql.whole(_LONGEST))
        sign = sql.case(
            [(sql.is_equal(_part(parts, 1), sql.letters("-")), sql.letters("-0"))],
            sql.letters("0"),
        )
        signed = sql.infix(exp.DPipe, sign, digits.copy())
        return narrow(numeric(sql.case([(short, signed)])))

    return let((_parts_of(cell, f"([+-]?)([0-9]+){further}"),), read)


def real_in(cell: Sql, point: str = _POINT) -> Sql:
    """Return the nearest double of a decimal number; -0.0 is 0.0."""

    def read(parts: Sql) -> Sql:
        return nearest_of(*(_part(parts, place) for place in range(1, 6)))

    return let((_parts_of(cell, digits_pattern(point)),), read)


def truth_in(cell: Sql, true: tuple[str, ...], false: tuple[str, ...]) -> Sql:
    """Return a truth by its word, in small or capital letters."""
    capitals, small = sql.letters(ascii_uppercase), sql.letters(ascii_lowercase)
    words = [(word, exp.true()) for word in true] + [
        (word, exp.false()) for word in false
    ]
    return exp.Case(
        this=sql.function("translate", bare(cell), capitals, small),
        ifs=[exp.If(this=sql.letters(word), true=truth) for word, truth in words],
    )


def day_in(cell: Sql, layout: Layout = ISO_DATE) -> Sql:
    """Return a date that the calendar has."""
    return let((_parts_of(cell, layout.pattern),), lambda parts: _day(parts, layout))


def moment_in(cell: Sql, layout: Layout = CAST_TIME) -> Sql:
    """Return a time in UTC, of the years 1 to 9999, to the nearest microsecond."""

    def read(parts: Sql) -> Sql:
        nanoseconds = _nanoseconds(parts, layout)
        ticks = sql.plus(
            _ticks(parts, layout), whole_quotient(nanoseconds, sql.bigint(1000))
        )
        rest = sql.infix(exp.Mod, nanoseconds.copy(), sql.bigint(1000))
        return let((midnight(_day(parts, layout)), ticks, rest), _rounded)

    return let((_parts_of(cell, layout.pattern),), read)


def _day(parts: Sql, layout: Layout) -> Sql:
    """Return the day that some parts tell, if the calendar has it."""
    places = (layout.parts.index(name) + 1 for name in ("year", "month", "day"))
    return calendar_day(*(as_integer(_part(parts, place)) for place in places))


def _told(parts: Sql, layout: Layout, name: str) -> Sql:
    """Return a part as text, empty where it is not there."""
    if name not in layout.parts:
        return sql.letters("")
    part = _part(parts, layout.parts.index(name) + 1)
    return exp.Coalesce(this=part, expressions=[sql.letters("")])


def _number(text: Sql) -> Sql:
    """Return a few digits as an integer, no digits as 0."""
    return sql.as_type(sql.infix(exp.DPipe, sql.letters("0"), text), "BIGINT")


def _ticks(parts: Sql, layout: Layout) -> Sql:
    """Return the microseconds after midnight in UTC, without a fraction of a second."""
    seconds = sql.minus(sql.bigint(0), _ahead(_told(parts, layout, "offset")))
    for name, length in (("hour", 3600), ("minute", 60), ("second", 1)):
        number = _number(_told(parts, layout, name))
        seconds = sql.plus(seconds, sql.multiplied_by(number, sql.bigint(length)))
    return sql.multiplied_by(seconds, sql.bigint(10**6))


def _ahead(offset: Sql) -> Sql:
    """Return the seconds by which a zone is ahead of UTC: +02:00, +02, Z."""
    digits = sql.function("translate", offset, sql.letters("+-:ZUTC"), sql.letters(""))
    hours = sql.function("substr", digits, sql.whole(1), sql.whole(2))
    minutes = sql.function("substr", digits.copy(), sql.whole(3), sql.whole(2))
    seconds = sql.plus(
        sql.multiplied_by(_number(hours), sql.bigint(3600)),
        sql.multiplied_by(_number(minutes), sql.bigint(60)),
    )
    behind = sql.function("starts_with", offset.copy(), sql.letters("-"))
    sign = sql.case([(behind, sql.bigint(-1))], sql.bigint(1))
    return sql.multiplied_by(sign, seconds)


def _nanoseconds(parts: Sql, layout: Layout) -> Sql:
    """Return the fraction of a second in nanoseconds."""
    digits = _told(parts, layout, "fraction")
    return _number(sql.function("rpad", digits, sql.whole(9), sql.letters("0")))


def _rounded(start: Sql, ticks: Sql, rest: Sql) -> Sql:
    """Return the moment after a midnight, halves of a microsecond away from 1970."""
    epoch = midnight(sql.as_type(sql.letters("1970-01-01"), "DATE"))
    half = all_of(
        sql.is_equal(rest.copy(), sql.bigint(500)),
        sql.is_at_most(epoch, _later(start.copy(), ticks.copy())),
    )
    up = any_of(sql.is_less(sql.bigint(500), rest.copy()), half)
    more = sql.case([(up, sql.bigint(1))], sql.bigint(0))
    return let((_later(start, sql.plus(ticks, more)),), within_years)


def _later(start: Sql, ticks: Sql) -> Sql:
    """Return a moment so many microseconds later: less than 2^53, so they are exact."""
    microsecond = sql.as_type(sql.letters("1 microsecond"), "INTERVAL")
    return sql.plus(start, sql.multiplied_by(ticks, microsecond))


def within_years(moment_: Sql) -> Sql:
    """Return a time of the years 1 to 9999."""
    first, last = (
        sql.as_type(sql.letters(end), "TIMESTAMP")
        for end in ("0001-01-01", "9999-12-31 23:59:59.999999")
    )
    return sql.case([(is_between(moment_.copy(), first, last), moment_)])


def _read_integer(to: Written, spelling: Spelling) -> Sql:
    """Return digits before the point, of which only zeros may follow."""
    return integer_in(to[0], f"(?:[{spelling.decimal}]0*)?")


def _read_real(to: Written, spelling: Spelling) -> Sql:
    """Return the nearest double, or what a word stands for."""
    words = [
        (fits(to[0], f"{_BLANK}(?:{pattern}){_BLANK}"), real(value))
        for pattern, value in _WORDS
    ]
    return sql.case(words, real_in(to[0], f"[{spelling.decimal}]"))


_READERS: Final[Mapping[str, Callable[[Written, Spelling], Sql]]] = {
    "i64": _read_integer,
    "f64": _read_real,
    "bool": lambda to, spelling: truth_in(to[0], spelling.true, spelling.false),
    "date": lambda to, spelling: day_in(to[0], spelling.date),
    "time": lambda to, spelling: moment_in(to[0], spelling.time),
}


def _read(to: Written) -> Sql:
    """Return the value of a cell."""
    return _READERS[to.options["to"]](to, to.options["spelling"])


def _parse(to: Written) -> Sql:
    """Return the date or time of a text in a format."""
    kind = to.options["to"]
    return _READERS[kind](to, formats.spelling_of(to.options["layout"], kind))


ENTRIES: Final[Mapping[Operation, Entry]] = {
    cells.READ: _read,
    formats.STRPTIME: _parse,
}
