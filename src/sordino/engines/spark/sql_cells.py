"""How Spark reads the cells of text files, and texts in a format.

A cell is held to a pattern before anything is made of it, and its parts are found by
the same pattern.
"""

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Final

from sqlglot import exp

from sordino.engines.spark.sql_dates import SECOND, moment_at, ticks_of
from sordino.engines.spark.sql_text import (
    in_small_letters,
    matches,
    whole_pattern,
    without_blanks,
)
from sordino.engines.sql import pieces as sql
from sordino.engines.sql.pieces import Entry, Sql, Written
from sordino.engines.sql.written_times import (
    digits_number,
    round_to_microseconds,
    zone_ticks,
)
from sordino.expressions import cells, formats
from sordino.expressions.cells import Spelling
from sordino.expressions.layouts import Layout
from sordino.expressions.tree import Operation

_EPOCH: Final = datetime(1970, 1, 1)  # noqa: DTZ001 UTC without a zone, as all times
_FIRST, _LAST = (
    (end - _EPOCH) // timedelta(microseconds=1)
    for end in (datetime.min, datetime.max)  # noqa: DTZ901 UTC without a zone
)


def _integer(to: Written, spelling: Spelling) -> Sql:
    """Return the digits before the point, as an integer that fits."""
    point = sql.letters(spelling.decimal)
    digits = sql.function("substring_index", without_blanks(to[0]), point, sql.whole(1))
    digits_or_null = sql.case([(matches(to[0], spelling.whole), digits)])
    return sql.as_type_or_null(digits_or_null, "BIGINT")


def _double(to: Written, spelling: Spelling) -> Sql:
    """Return the nearest double, -0.0 as 0.0."""
    number = without_blanks(to[0])
    if spelling.decimal != ".":
        signs = sql.letters(spelling.decimal), sql.letters(".")
        number = sql.function("replace", number, *signs)
    number_or_null = sql.case([(matches(to[0], spelling.real), number)])
    return sql.plus(sql.as_type_or_null(number_or_null, "DOUBLE"), sql.double(0))


def _truth(to: Written, spelling: Spelling) -> Sql:
    """Return a truth by its word."""
    small = in_small_letters(without_blanks(to[0]))
    words = [(word, exp.true()) for word in spelling.true]
    words += [(word, exp.false()) for word in spelling.false]
    return sql.case([
        (sql.is_equal(small.copy(), sql.letters(word)), truth) for word, truth in words
    ])


def _day(to: Written, spelling: Spelling) -> Sql:
    """Return a date that the calendar has."""
    return _date(to[0], spelling.date)


def _moment(to: Written, spelling: Spelling) -> Sql:
    """Return a time in UTC, of the years 1 to 9999."""
    ticks = _ticks(to[0], spelling.time)
    inside = exp.Between(
        this=sql.in_parentheses(ticks),
        low=sql.bigint(_FIRST),
        high=sql.bigint(_LAST),
    )
    return moment_at(sql.case([(inside, ticks.copy())]))


def _part(cell: Sql, layout: Layout, name: str) -> Sql:
    """Return a part as text, empty where it is not there."""
    place = sql.whole(layout.parts.index(name) + 1)
    pattern = sql.letters(whole_pattern(layout.pattern))
    return sql.function("regexp_extract", cell.copy(), pattern, place)


def _date(cell: Sql, layout: Layout) -> Sql:
    """Return the date of a cell; what is no cell of the layout has empty parts."""
    dash = sql.letters("-")
    parts = [_part(cell, layout, part) for part in ("year", "month", "day")]
    text = sql.function("concat", parts[0], dash, parts[1], dash.copy(), parts[2])
    return sql.as_type_or_null(text, "DATE")


def _ticks(cell: Sql, layout: Layout) -> Sql:
    """Return microseconds after 1970 in UTC, none for a day that no calendar has."""
    ticks = ticks_of(sql.as_type(_date(cell, layout), "TIMESTAMP_NTZ"))
    for name, seconds in (("hour", 3600), ("minute", 60), ("second", 1)):
        if name in layout.parts:
            size = sql.bigint(seconds * SECOND)
            number = digits_number(_part(cell, layout, name))
            ticks = sql.plus(ticks, sql.multiplied_by(number, size))
    if "offset" in layout.parts:
        ticks = sql.minus(
            ticks, zone_ticks(_part(cell, layout, "offset"), "startswith")
        )
    if "fraction" not in layout.parts:
        return ticks
    nine = (sql.whole(9), sql.letters("0"))
    digits = sql.function("rpad", _part(cell, layout, "fraction"), *nine)
    return round_to_microseconds(ticks, digits_number(digits))


_READERS: Final[Mapping[str, Callable[[Written, Spelling], Sql]]] = {
    "i64": _integer,
    "f64": _double,
    "bool": _truth,
    "date": _day,
    "time": _moment,
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
