"""How DuckDB reads the cells of text files.

Its own casts of texts are wider than our rules: a cell is held to a pattern before one
is tried. Of a time its cast would drop the distance from UTC and cut the fraction.
"""

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from string import ascii_lowercase, ascii_uppercase
from typing import Final

from sqlglot import exp

from sordino.engines.sql import pieces as sql
from sordino.engines.sql.pieces import Entry, Sql, Written
from sordino.engines.sql.written_times import (
    digits_number,
    round_to_microseconds,
    zone_ticks,
)
from sordino.expressions import cells, formats
from sordino.expressions.casts import GRAMMARS
from sordino.expressions.cells import Spelling
from sordino.expressions.layouts import ISO_DATE, ISO_TIME, Layout
from sordino.expressions.text import BLANKS
from sordino.expressions.tree import Operation

_EPOCH: Final = datetime(1970, 1, 1)  # noqa: DTZ001 UTC without a zone, as all times
_FIRST, _LAST = (
    (end - _EPOCH) // timedelta(microseconds=1)
    for end in (datetime.min, datetime.max)  # noqa: DTZ901 UTC without a zone
)
_SECOND: Final = 10**6
_BLANK: Final = "[ \\t\\n\\r\\v\\f]*"


def _matches(cell: Sql, pattern: str) -> Sql:
    """Return whether a cell is all of a pattern, but for blanks around it."""
    whole = f"{_BLANK}(?:{pattern}){_BLANK}"
    return sql.function("regexp_full_match", cell, sql.letters(whole))


def _bare(cell: Sql) -> Sql:
    """Return a cell without blanks around it."""
    return sql.function("trim", cell, sql.letters(BLANKS))


def _integer(to: Written, spelling: Spelling) -> Sql:
    """Return the digits before the point, as an integer that fits."""
    point = sql.letters(spelling.decimal)
    digits = sql.function("split_part", _bare(to[0]), point, sql.whole(1))
    fits = _matches(to[0], spelling.whole)
    return sql.case([(fits, sql.as_type_or_null(digits, "BIGINT"))])


def _double(to: Written, spelling: Spelling) -> Sql:
    """Return the nearest double, -0.0 as 0.0."""
    bare = _bare(to[0])
    if spelling.decimal != ".":
        bare = sql.function(
            "replace", bare, sql.letters(spelling.decimal), sql.letters(".")
        )
    fits = _matches(to[0], spelling.real)
    return sql.plus(
        sql.case([(fits, sql.as_type_or_null(bare, "DOUBLE"))]), sql.double(0)
    )


def _truth(to: Written, spelling: Spelling) -> Sql:
    """Return a truth by its word."""
    small = sql.function(
        "translate",
        _bare(to[0]),
        sql.letters(ascii_uppercase),
        sql.letters(ascii_lowercase),
    )
    words = [(word, exp.true()) for word in spelling.true]
    words += [(word, exp.false()) for word in spelling.false]
    return exp.Case(
        this=small,
        ifs=[exp.If(this=sql.letters(word), true=truth) for word, truth in words],
    )


def _day(to: Written, spelling: Spelling) -> Sql:
    """Return a date that the calendar has."""
    if spelling.date == ISO_DATE:
        fits = _matches(to[0], GRAMMARS["date"])
        return sql.case([(fits, sql.as_type_or_null(_bare(to[0]), "DATE"))])
    return _match(
        to[0], spelling.date, lambda parts: sql.as_type_or_null(_date(parts), "DATE")
    )


def _moment(to: Written, spelling: Spelling) -> Sql:
    """Return a time in UTC; one without fraction and zone needs no arithmetic."""
    moment = _match(to[0], spelling.time, lambda parts: _ticks(parts, spelling.time))
    in_range = _let("held", moment, _keep_in_range)
    if spelling.time != ISO_TIME:
        return in_range
    plain = _matches(to[0], GRAMMARS["time"])
    return sql.case([(plain, sql.as_type_or_null(_bare(to[0]), "TIMESTAMP"))], in_range)


def _keep_in_range(ticks: Sql) -> Sql:
    """Return microseconds after 1970 as a time of the years 1 to 9999."""
    ends = exp.Between(
        this=ticks.copy(), low=sql.bigint(_FIRST), high=sql.bigint(_LAST)
    )
    return sql.case([(ends, sql.function("make_timestamp", ticks.copy()))])


def _match(cell: Sql, layout: Layout, make: Callable[[Sql], Sql]) -> Sql:
    """Return what is made of the parts of a cell, which are found once."""
    names = exp.Array(expressions=[sql.letters(part) for part in layout.parts])
    whole = sql.letters(f"^{_BLANK}(?:{layout.pattern}){_BLANK}$")
    parts = sql.function("regexp_extract", cell.copy(), whole, names)
    fits = _matches(cell, layout.pattern)
    return sql.case([(fits, _let("parts", parts, make))])


def _let(name: str, value: Sql, make: Callable[[Sql], Sql]) -> Sql:
    """Return what is made of a value that has a name, so that it is computed once.

    A list of it stands for a name: the function of a list is called with its entry.
    """
    bound = exp.to_identifier(name)
    each = exp.Lambda(this=make(bound.copy()), expressions=[bound])
    listed = sql.function("list_transform", exp.Array(expressions=[value]), each)
    return sql.function("list_extract", listed, sql.whole(1))


def _part(parts: Sql, name: str) -> Sql:
    """Return a part as text, empty where it is not there."""
    return sql.function("struct_extract", parts.copy(), sql.letters(name))


def _date(parts: Sql) -> Sql:
    """Return 2025-6-1 of the parts of a day."""
    dash = sql.letters("-")
    year, month, day = (_part(parts, name) for name in ("year", "month", "day"))
    return sql.function("concat", year, dash, month, dash.copy(), day)


def _ticks(parts: Sql, layout: Layout) -> Sql:
    """Return microseconds after 1970 in UTC, none for a day that no calendar has."""
    midnight = sql.as_type_or_null(_date(parts), "TIMESTAMP")
    ticks = sql.function("epoch_us", midnight)
    for name, seconds in (("hour", 3600), ("minute", 60), ("second", 1)):
        if name in layout.parts:
            size = sql.bigint(seconds * _SECOND)
            ticks = sql.plus(
                ticks, sql.multiplied_by(digits_number(_part(parts, name)), size)
            )
    if "offset" in layout.parts:
        ticks = sql.minus(ticks, zone_ticks(_part(parts, "offset"), "starts_with"))
    if "fraction" not in layout.parts:
        return ticks
    digits = sql.function(
        "rpad", _part(parts, "fraction"), sql.whole(9), sql.letters("0")
    )
    return _let(
        "moment",
        sql.function("row", ticks, digits_number(digits)),
        lambda both: round_to_microseconds(_place(both, 1), _place(both, 2)),
    )


def _place(pair: Sql, place: int) -> Sql:
    """Return the first or second of a pair."""
    return sql.function("struct_extract", pair.copy(), sql.whole(place))


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
