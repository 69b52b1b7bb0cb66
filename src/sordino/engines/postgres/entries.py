"""Every operation as PostgreSQL's SQL.

Lists are arrays of one dimension: the type of an array tells no dimensions, and its
numbering may begin anywhere, so each is made anew of its entries where it is read
(docs/adr/0221). Integers meet as numbers of any length, and come back where they fit
into 64 bits. A date before 4713 BC raises, so each day is held to the years 1 to 9999
before it is made; no form goes through a text or a time zone.

PostgreSQL's own casts raise, and know words such as `now`. So a text is taken apart by
a regular expression, and what is made of the parts is held to its range before it is
made. A pattern names each code point by its number, so that no collation decides about
a letter; no text has U+0000.

Doubles are ordered as ours: NaN equals itself and is greater than all. Texts are
ordered by a collation of the database, unless each comparison names another.
"""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import starmap
from string import ascii_lowercase, ascii_uppercase
from typing import Final

from sqlglot import exp

from sordino.engines.postgres import doubles
from sordino.engines.postgres.doubles import (
    SQL,
    all_of,
    any_of,
    as_bigint,
    as_integer,
    digits_pattern,
    doubles_rounded_down,
    fits,
    let,
    nearest_of,
    numeric,
    real,
    whole_quotient,
)
from sordino.engines.statements import entries as plain_entries
from sordino.engines.statements import templates
from sordino.engines.statements.entries import (
    exponential_entries,
    offset_entry,
    piece_of_text,
    substring_entry,
    trimmed_by,
    whole_steps,
)
from sordino.engines.statements.templates import Entry, Sql, Written
from sordino.expressions import (
    arithmetic,
    bins,
    casts,
    choices,
    dates,
    logic,
    regular,
    text,
)
from sordino.expressions import text as letters
from sordino.expressions import text as patterns
from sordino.expressions import text as pieces_of_text
from sordino.expressions.arithmetic import least_multiple
from sordino.expressions.casts import ISO_DATE, YEAR, Layout, Spelling
from sordino.expressions.regular import (
    Again,
    Chain,
    Either,
    Group,
    Node,
    One,
    read_pattern,
)
from sordino.expressions.text import BLANKS, RUNS, changed_letters
from sordino.expressions.tree import Operation

MOST: Final = 2**24
"""Entries of a list: a copy of them, however wide, is less than a cell can hold."""


def each_entry(entries: Sql, rule: Callable[[Sql], Sql]) -> Sql:
    """Return a list with a rule applied to its entries, null for what is no list."""
    dimensions = exp.Coalesce(
        this=templates.function("array_ndims", entries.copy()),
        expressions=[templates.whole(1)],
    )
    size = templates.function("cardinality", entries.copy())
    is_list = all_of(
        templates.is_equal(dimensions, templates.whole(1)),
        templates.is_at_most(size, templates.whole(MOST)),
    )
    names = [exp.to_identifier(name) for name in ("e", "v", "n")]
    rows = exp.Unnest(
        expressions=[entries.copy()],
        alias=exp.TableAlias(this=names[0], columns=[names[1]]),
        offset=names[2],
    )
    select = exp.Select().select(rule(exp.column("v", table="e"))).from_(rows)
    listed = select.order_by(exp.column("n", table="e"))
    return templates.case([(is_list, exp.Array(expressions=[listed]))])


def first_entries(entries: Sql, limit: int | None) -> Sql:
    """Return the first entries of a list, one a row."""
    if limit is not None:
        part = exp.Slice(this=templates.whole(1), expression=templates.whole(limit))
        listed = templates.in_parentheses(entries.copy())
        entries = exp.Bracket(this=listed, expressions=[part], offset=1)
    return templates.function("unnest", entries.copy())


def _split_text(to: Written) -> Sql:
    def pieces(text: Sql) -> Sql:
        separator = to.bind(to.options["separator"], "text")
        empty = templates.is_equal(text.copy(), templates.letters(""))
        alone = exp.Array(expressions=[text.copy()])
        split = templates.function("string_to_array", text.copy(), separator)
        return templates.case([(empty, alone)], split)

    return let((to[0],), pieces)


_LAST_BIT: Final = 63
_LONGEST_SHIFT: Final = 41


def _infix(sign: str, of_doubles: Callable[[Sql, Sql], Sql]) -> Entry:
    of_integers = SQL.entry(f"narrow(a_::DECIMAL {sign} b_::DECIMAL)")

    def entry(to: Written) -> Sql:
        if to.real:
            return of_doubles(to.joint(0), to.joint(1))
        return of_integers(to)

    return entry


def _divide(to: Written) -> Sql:
    dividend, divisor = (templates.as_type(part, "DOUBLE") for part in to.each())
    return doubles.double_quotient(dividend, divisor)


_whole_quotient: Final = SQL.piece("x, y", "narrow(DIV(x - rest(x, y), y))")
_whole_rest: Final = SQL.piece("x, y", "narrow(rest(x, y))")
_some: Final = SQL.piece("x", "some(x)")


def _of_wide(to: Written, make: Callable[..., Sql]) -> Sql:
    return let((numeric(to[0]), _some(numeric(to[1]))), make)


def _floor_divide(to: Written) -> Sql:
    if to.real:
        return doubles_rounded_down(to.joint(0), _some(to.joint(1)))
    return _of_wide(to, _whole_quotient)


def _clip(to: Written) -> str:
    """Return a number within bounds; NaN is greater than all, and stays."""
    nan = "WHEN a = nan() THEN a" if to.types[0] == "f64" else ""
    return f"CASE WHEN a < b THEN b {nan} WHEN c < a THEN c ELSE a END"


_stepped_down: Final = SQL.piece(
    "x, step, least",
    """CASE WHEN x < least THEN least
        ELSE narrow(x::DECIMAL - rest(x::DECIMAL, step::DECIMAL)) END""",
)


def _round_down(to: Written) -> Sql:
    step = to.options["step"]
    if isinstance(step, float) or to.real:
        wide = to.bind(float(step), "f64")
        steps = doubles.double_quotient(templates.as_type(to[0], "DOUBLE"), wide)
        return doubles.double_product(templates.function("floor", steps), wide.copy())
    least = to.bind(least_multiple(step), "i64")

    wide = to.bind(step, "i64")
    return let((to[0],), lambda x: _stepped_down(x, wide, least))


def _round(to: Written) -> Sql:
    if not to.real:
        return to[0]
    wide = to.bind(10.0 ** to.options["digits"], "f64")

    def rounded(number: Sql, shifted: Sql) -> Sql:
        moved = templates.infix(exp.Div, doubles.nearest_whole(shifted), wide.copy())
        finite = templates.is_less(doubles.size_of(shifted.copy()), real(math.inf))
        return templates.case([(finite, doubles.zero_is_zero(moved))], number)

    return let(
        (to[0],),
        lambda number: let(
            (number, doubles.double_product(number.copy(), wide)), rounded
        ),
    )


_root: Final = SQL.piece("x", "SQRT(CASE WHEN 0::DOUBLE <= x THEN x END)")


def _sqrt(to: Written) -> Sql:
    """Return a root of what is not negative: NaN is above all, and stays."""
    return let((templates.as_type(to[0], "DOUBLE"),), _root)


def _steps(to: Written) -> Sql:
    """Return the steps of a lattice: the bounds make the cast safe."""
    exponent = to.options["exponent"]

    def steps(number: Sql) -> Sql:
        if to.real:
            return _real_steps(to, number)
        return whole_steps(to, number, _between(number, exponent), templates.minus)

    return let((to[0],), steps)


def _real_steps(to: Written, number: Sql) -> Sql:
    """Return the steps of a double; NaN is above all, and has none."""
    low, high = to.options["low"], to.options["high"]
    exponent, origin = to.options["exponent"], to.options.get("origin", 0)
    scale = to.bind(math.ldexp(1, -exponent), "f64")
    moved = templates.plus(
        templates.multiplied_by(number.copy(), scale), templates.half()
    )
    steps = templates.as_type(templates.function("floor", moved), "BIGINT")
    first, last = (to.bind(math.ldexp(end, exponent), "f64") for end in (low, high))
    branches = [(templates.is_less(number.copy(), first), to.bind(low - origin, "i64"))]
    if exponent > 0:  # so near to zero that no double is small enough for it
        near = real(math.ldexp(1, exponent - 2))
        branches.append((
            all_of(
                templates.is_less(doubles.size_of(number.copy()), near),
                templates.is_at_most(number.copy(), last.copy()),
            ),
            to.bind(-origin, "i64"),
        ))
    if origin:
        steps = templates.minus(steps, to.bind(origin, "i64"))
    branches += [
        (templates.is_at_most(number.copy(), last), steps),
        (
            templates.negation(doubles.equals_nan(number.copy())),
            to.bind(high - origin, "i64"),
        ),
    ]
    return templates.case(branches)


def _between(number: Sql, exponent: int) -> Sql:
    """Return the nearest number of steps: x >> e, plus the bit that is shifted out."""
    if exponent <= 0:  # between the thresholds x * 2**-e has at most 41 bits
        wide = templates.bigint(1 << min(-exponent, _LONGEST_SHIFT))
        return templates.multiplied_by(number.copy(), wide)
    if exponent > _LAST_BIT:  # every i64 is less than half a step away from 0
        return templates.multiplied_by(number.copy(), templates.bigint(0))
    shifted, rest = (
        templates.infix(exp.BitwiseRightShift, number.copy(), templates.whole(places))
        for places in (exponent, exponent - 1)
    )
    return templates.plus(
        shifted, templates.infix(exp.BitwiseAnd, rest, templates.bigint(1))
    )


_share: Final = SQL.piece("steps, size, fine", "((steps * steps) * fine) / size")
_later_portion: Final = SQL.piece(
    "steps, size, fine",
    "2::BIGINT * ((steps * fine) - (((steps * steps) * fine) / size))",
)


def _portion(to: Written) -> Sql:
    low, place = to.options["low"], to.options["place"]
    whole = templates.bigint(to.options["high"] - low)
    fine = templates.bigint(1 << to.options["finer"])
    above = _steps(replace(to, options={**to.options, "origin": low}))
    # the steps above the low end, for portion 0 below the high one
    height = above if place else templates.minus(whole.copy(), above)

    written = _later_portion if place == 1 else _share
    return let((height,), lambda steps: written(steps, whole, fine))


_SECOND: Final = 10**6
_DAY: Final = 86_400 * _SECOND
_SHIFT: Final = 4 * 10**17  # microseconds, whole seconds, more than 9999 years
_DAYS: Final = _DAY * 4 * 10**6  # whole days, more than 9999 years
_FIRST: Final = "0001-01-01"


def midnight(day: Sql) -> Sql:
    """Return the first moment of a day."""
    return templates.as_type(day, "TIMESTAMP")


def calendar_day(year: Sql, month: Sql, day: Sql) -> Sql:
    """Return the day of three small integers, if the calendar has it."""
    return let((year, month, day), lambda y, m, d: _in_calendar(y, m, d, _leaps(y)))


_in_calendar: Final = SQL.piece(
    "y, m, d, leaps",
    """MAKE_DATE(y, m, CASE
        WHEN y BETWEEN 1 AND 9999 AND m BETWEEN 1 AND 12
            AND d BETWEEN 1 AND CASE
                WHEN m = 2 THEN 28 + CASE WHEN leaps THEN 1 ELSE 0 END
                ELSE 30 + ((m + (m >> 3)) % 2) END
        THEN d END)""",
)


def _leaps(year: Sql) -> Sql:
    by_4, by_100, by_400 = (
        templates.is_equal(
            templates.infix(exp.Mod, year.copy(), templates.whole(n)),
            templates.whole(0),
        )
        for n in (4, 100, 400)
    )
    return any_of(all_of(by_4, exp.not_(by_100)), by_400)


def _part(name: str) -> Entry:
    return SQL.entry(f"TRUNC(EXTRACT({name} FROM a_))::BIGINT")


def _truncate(to: Written) -> str:
    start = f"DATE_TRUNC('{to.options['unit']}', a_::TIMESTAMP)"
    return f"{start}::DATE" if to.types[0] == "date" else start


def _elapsed(size: int, shift: int) -> Entry:
    # rounded down, shifted to where nothing is negative
    ticks = f"(EXTRACT(epoch FROM b_ - a_) * {_SECOND}) + {shift}::BIGINT"
    return SQL.entry(
        f"(DIV({ticks}, {size}::DECIMAL) - {shift // size}::BIGINT)::BIGINT"
    )


_whole_days: Final = _elapsed(_DAY, _DAYS)


def _days_between(to: Written) -> Sql:
    if to.types[0] == "date":
        return as_bigint(templates.in_parentheses(templates.minus(to[1], to[0])))
    return _whole_days(to)


# a sum with what is far would overflow, so it is not made
_NEAR_DAYS: Final = f"""(CASE WHEN days BETWEEN -{dates.WHOLE} AND {dates.WHOLE}
    THEN CASE
        WHEN (moment::DATE - first_day()) + days BETWEEN 0 AND {dates.WHOLE} THEN days
        END END)::INTEGER"""
_DAYS_LATER: Final = {
    "date": SQL.piece("moment, days", f"moment + {_NEAR_DAYS}"),
    "time": SQL.piece("moment, days", f"moment + MAKE_INTERVAL(0, 0, 0, {_NEAR_DAYS})"),
}
_SECONDS: Final = "(EXTRACT(epoch FROM moment - first_day()::TIMESTAMP) + seconds)"
_FAR: Final = f"{dates.WHOLE_SECONDS}::BIGINT"
# a double holds so many microseconds, for they are multiples of a million
_seconds_later: Final = SQL.piece(
    "moment, seconds",
    f"""moment + MAKE_INTERVAL(0, 0, 0, 0, 0, 0, (
        CASE WHEN seconds BETWEEN 0::BIGINT - {_FAR} AND {_FAR}
        THEN CASE WHEN 0 <= {_SECONDS} AND {_SECONDS} < {_FAR} THEN seconds END
        END)::DOUBLE)""",
)


def _add_days(to: Written) -> Sql:
    return let((to[0], to[1]), _DAYS_LATER[to.types[0]])


# the first year of the database is nearer than the most months are long
_NEAR_MONTHS: Final = f"""(CASE
    WHEN months BETWEEN -{dates.WHOLE_MONTHS} AND {dates.WHOLE_MONTHS}
    THEN CASE WHEN (EXTRACT(year FROM moment) * 12) + EXTRACT(month FROM moment)
        + months BETWEEN 13 AND {dates.WHOLE_MONTHS + 12} THEN months END
    END)::INTEGER"""
_months_later: Final = SQL.piece(
    "moment, months", f"moment::TIMESTAMP + MAKE_INTERVAL(0, {_NEAR_MONTHS})"
)


def _add_months(to: Written) -> Sql:
    later = let((to[0], to[1]), _months_later)
    return templates.as_type(later, "DATE") if to.types[0] == "date" else later


def _add_seconds(to: Written) -> Sql:
    return let((to[0], to[1]), _seconds_later)


_passed: Final = SQL.piece(
    "moment, changes",
    "WIDTH_BUCKET(FLOOR(EXTRACT(epoch FROM moment))::BIGINT, changes)",
)


def _changes_until(time: Sql, seconds: Sequence[int]) -> Sql:
    return _passed(time, _array(seconds))


def _entry_at(values: Sequence[int], place: Sql) -> Sql:
    listed = exp.Paren(this=_array(values))
    return exp.Bracket(this=listed, expressions=[place], offset=1)


def _array(values: Sequence[int]) -> Sql:
    text = ",".join(map(str, values))
    return templates.as_type(templates.letters(f"{{{text}}}"), "BIGINT[]")


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
    return templates.function("btrim", cell, templates.letters(BLANKS))


def _parts_of(cell: Sql, pattern: str) -> Sql:
    """Return the groups of a pattern that is all of a text, or null."""
    whole = templates.letters(f"^{_BLANK}(?:{pattern}){_BLANK}$")
    return templates.function("regexp_match", cell, whole)


def _cell_part(parts: Sql, place: int) -> Sql:
    listed = exp.Paren(this=parts.copy())
    return exp.Bracket(this=listed, expressions=[templates.whole(place)], offset=1)


def integer_in(cell: Sql, further: str = "") -> Sql:
    """Return digits with an optional sign as an integer that fits."""

    def read(parts: Sql) -> Sql:
        return _integer_of(_cell_part(parts, 1), _cell_part(parts, 2))

    return let((_parts_of(cell, f"([+-]?)([0-9]+){further}"),), read)


_integer_of: Final = SQL.piece(
    "sign, digits",
    f"""narrow((CASE WHEN LENGTH(LTRIM(digits, '0')) <= {_LONGEST}
        THEN (CASE WHEN sign = '-' THEN '-0' ELSE '0' END) || LTRIM(digits, '0')
        END)::DECIMAL)""",
)


def real_in(cell: Sql, point: str = _POINT) -> Sql:
    """Return the nearest double of a decimal number; -0.0 is 0.0."""

    def read(parts: Sql) -> Sql:
        return nearest_of(*(_cell_part(parts, place) for place in range(1, 6)))

    return let((_parts_of(cell, digits_pattern(point)),), read)


def truth_in(cell: Sql, true: tuple[str, ...], false: tuple[str, ...]) -> Sql:
    """Return a truth by its word, in small or capital letters."""
    capitals, small = (
        templates.letters(ascii_uppercase),
        templates.letters(ascii_lowercase),
    )
    words = [(word, exp.true()) for word in true] + [
        (word, exp.false()) for word in false
    ]
    return exp.Case(
        this=templates.function("translate", bare(cell), capitals, small),
        ifs=[exp.If(this=templates.letters(word), true=truth) for word, truth in words],
    )


def day_in(cell: Sql, layout: Layout = ISO_DATE) -> Sql:
    """Return a date that the calendar has."""
    return let((_parts_of(cell, layout.pattern),), lambda parts: _day(parts, layout))


def moment_in(cell: Sql, layout: Layout = CAST_TIME) -> Sql:
    """Return a time in UTC, of the years 1 to 9999, to the nearest microsecond."""

    def read(parts: Sql) -> Sql:
        nanoseconds = _nanoseconds(parts, layout)
        ticks = templates.plus(
            _ticks(parts, layout), whole_quotient(nanoseconds, templates.bigint(1000))
        )
        rest = templates.infix(exp.Mod, nanoseconds.copy(), templates.bigint(1000))
        return let((midnight(_day(parts, layout)), ticks, rest), _rounded)

    return let((_parts_of(cell, layout.pattern),), read)


def _day(parts: Sql, layout: Layout) -> Sql:
    """Return the day that some parts tell, if the calendar has it."""
    places = (layout.parts.index(name) + 1 for name in ("year", "month", "day"))
    return calendar_day(*(as_integer(_cell_part(parts, place)) for place in places))


def _told(parts: Sql, layout: Layout, name: str) -> Sql:
    if name not in layout.parts:
        return templates.letters("")
    part = _cell_part(parts, layout.parts.index(name) + 1)
    return exp.Coalesce(this=part, expressions=[templates.letters("")])


_number: Final = SQL.piece("x", "number(x)")


def _ticks(parts: Sql, layout: Layout) -> Sql:
    """Return the microseconds after midnight in UTC, without a fraction of a second."""
    seconds = templates.minus(
        templates.bigint(0), _ahead(_told(parts, layout, "offset"))
    )
    for name, length in (("hour", 3600), ("minute", 60), ("second", 1)):
        number = _number(_told(parts, layout, name))
        seconds = templates.plus(
            seconds, templates.multiplied_by(number, templates.bigint(length))
        )
    return templates.multiplied_by(seconds, templates.bigint(10**6))


_ZONE: Final = "TRANSLATE(zone, '+-:ZUTC', '')"
_ahead: Final = SQL.piece(
    "zone",
    f"""CASE WHEN STARTS_WITH(zone, '-') THEN (-1)::BIGINT ELSE 1::BIGINT END
        * ((number(SUBSTR({_ZONE}, 1, 2)) * 3600::BIGINT)
            + (number(SUBSTR({_ZONE}, 3, 2)) * 60::BIGINT))""",
)
"""Seconds by which a zone is ahead of UTC: +02:00, +02, Z."""


def _nanoseconds(parts: Sql, layout: Layout) -> Sql:
    digits = _told(parts, layout, "fraction")
    return _number(
        templates.function("rpad", digits, templates.whole(9), templates.letters("0"))
    )


# halves of a microsecond away from 1970; less than 2^53 ticks are exact
_nearest_tick: Final = SQL.piece(
    "start, ticks, rest",
    """later(start, ticks + CASE
        WHEN 500::BIGINT < rest OR (rest = 500::BIGINT
            AND '1970-01-01'::DATE::TIMESTAMP <= later(start, ticks))
        THEN 1::BIGINT ELSE 0::BIGINT END)""",
)


def _rounded(start: Sql, ticks: Sql, rest: Sql) -> Sql:
    return let((_nearest_tick(start, ticks, rest),), within_years)


within_years: Final = SQL.piece(
    "moment",
    f"""CASE WHEN moment
        BETWEEN '{_FIRST}'::TIMESTAMP AND '9999-12-31 23:59:59.999999'::TIMESTAMP
        THEN moment END""",
)
"""A time of the years 1 to 9999."""


def _read_integer(to: Written, spelling: Spelling) -> Sql:
    number = _number_in(to[0], spelling.whole, spelling)
    return integer_in(number, f"(?:[{spelling.decimal}]0*)?")


def _number_in(cell: Sql, pattern: str, spelling: Spelling) -> Sql:
    """Return a cell without the signs that a number may be written with."""
    if not spelling.left_out:
        return cell
    bare = templates.remove(cell, spelling.left_out)
    return templates.case([(fits(cell, f"{_BLANK}(?:{pattern}){_BLANK}"), bare)])


def _read_real(to: Written, spelling: Spelling) -> Sql:
    """Return the nearest double, or what a word stands for."""
    words = [
        (fits(to[0], f"{_BLANK}(?:{pattern}){_BLANK}"), real(value))
        for pattern, value in _WORDS
    ]
    number = _number_in(to[0], spelling.number, spelling)
    return templates.case(words, real_in(number, f"[{spelling.decimal}]"))


_READERS: Final[Mapping[str, Callable[[Written, Spelling], Sql]]] = {
    "i64": _read_integer,
    "f64": _read_real,
    "bool": lambda to, spelling: truth_in(to[0], spelling.true, spelling.false),
    "date": lambda to, spelling: day_in(to[0], spelling.date),
    "time": lambda to, spelling: moment_in(to[0], spelling.time),
}


def _read(to: Written) -> Sql:
    return _READERS[to.options["to"]](to, to.options["spelling"])


def _parse(to: Written) -> Sql:
    kind = to.options["to"]
    return _READERS[kind](to, casts.spelling_of(to.options["layout"], kind))


_FARTHEST: Final = 2**21
"""More code points than a text has."""


def _run(low: int, high: int) -> str:
    r"""Return code points from one to another; no text has U+0000.

    >>> _run(0, 97), _run(97, 97)
    ('\\U00000001-\\U00000061', '\\U00000061')
    """
    first = f"\\U{max(low, 1):08X}"
    return first if low == high else f"{first}-\\U{high:08X}"


_SETTLED: Final = f"[{''.join(starmap(_run, RUNS))}]*"


def _translated(old: str, new: str) -> Entry:
    return lambda to: templates.function(
        "translate", to[0], templates.letters(old), templates.letters(new)
    )


def _slice(to: Written) -> Sql:
    start = max(-_FARTHEST, min(_FARTHEST, to.options["start"]))
    length_asked = to.options["length"]
    length = None if length_asked is None else min(_FARTHEST, length_asked)
    if start < 0:
        rest = templates.function("right", to[0], templates.whole(-start))
        return (
            rest
            if length is None
            else templates.function("left", rest, templates.whole(length))
        )
    ends = [
        templates.whole(start + 1),
        *([] if length is None else [templates.whole(length)]),
    ]
    return templates.function("substr", to[0], *ends)


def _size(cell: Sql) -> Sql:
    return as_bigint(templates.function("octet_length", cell))


def _made_if_short(size: Sql, written: Sql) -> Sql:
    """Return a text if it is not too long to be made."""
    return templates.case([
        (templates.is_at_most(size, templates.bigint(text.LONGEST)), written)
    ])


def _concat(to: Written) -> Sql:
    size, joined = _size(to[0]), to[0]
    for other in to.each()[1:]:
        size = templates.plus(size, _size(other))
        joined = templates.infix(exp.DPipe, joined, other.copy())
    return _made_if_short(size, joined)


def _strip(to: Written) -> Sql:
    letters_asked = to.options.get("letters")
    taken = (
        templates.letters(text.BLANKS)
        if letters_asked is None
        else to.bind(letters_asked, "text")
    )
    return templates.function("btrim", to[0], taken)


def _replace(to: Written) -> Sql:
    return let((to[0],), lambda cell: _replaced(cell, to[1], to[2]))


_replaced: Final = SQL.piece(
    "cell, old, new",
    f"""CASE WHEN CASE WHEN bytes(new) <= bytes(old) THEN 0::BIGINT
            ELSE bytes(cell) + (
                ((bytes(cell) - bytes(REPLACE(cell, old, ''))) / some(bytes(old)))
                * (bytes(new) - bytes(old))) END
            <= {text.LONGEST}::BIGINT
        THEN REPLACE(cell, old, new) END""",
)


def _normalize(to: Written) -> Sql:
    def composed(cell: Sql) -> Sql:
        normal = templates.function(
            "pg_catalog.normalize", cell.copy(), templates.letters("NFC")
        )
        return templates.case([(fits(cell.copy(), _SETTLED), normal)], cell)

    return let((to[0],), composed)


def _cased(word: str, plain: Mapping[str, str]) -> Entry:
    """Return the entry of a change of case: of A to Z, unless all is settled."""
    pairs = changed_letters(word)
    every = _translated("".join(map(chr, pairs)), "".join(pairs.values()))
    ascii_ = _translated("".join(plain), "".join(plain.values()))

    def entry(to: Written) -> Sql:
        return templates.case([(fits(to[0], _SETTLED), every(to))], ascii_(to))

    return entry


def _matches(to: Written) -> Sql:
    """Return whether all of a text is as a regular expression says.

    What a pattern makes of the empty text is computed before any row: one that the
    database finds too complex is refused there.
    """
    pattern = to.bind(f"^(?:{_are(read_pattern(to.options['pattern']))})$", "text")
    tried = templates.is_missing(
        exp.RegexpLike(
            this=templates.as_type(templates.letters(""), "TEXT"), expression=pattern
        )
    )
    matched = exp.RegexpLike(this=to[0], expression=pattern.copy())
    return templates.case([(templates.negation(tried), matched)])


def _are(node: Node) -> str:
    match node:
        case One():
            runs = [run for run in node.ranges if run[1] > 0]
            # what no text has is a letter that is not any letter
            return f"[{''.join(starmap(_run, runs))}]" if runs else "(?!)"
        case Chain():
            return "".join(f"(?:{_are(part)})" for part in node.parts)
        case Either():
            return "|".join(map(_are, node.parts))
        case Again():
            most = "" if node.most is None else str(node.most)
            return f"(?:{_are(node.part)}){{{node.least},{most}}}"
        case Group():
            return _are(node.part)


def _like(to: Written) -> Sql:
    pattern = to.bind(to.options["pattern"], "text")
    return exp.Escape(
        this=exp.Like(this=to[0], expression=pattern),
        expression=templates.letters(patterns.ESCAPE),
    )


_DIRECTIVES: Final = {
    "Y": "YYYY",
    "m": "MM",
    "d": "DD",
    "H": "HH24",
    "M": "MI",
    "S": "SS",
    "f": "US",
}
_PERCENT: Final = re.compile(r"%(.)", re.DOTALL)


def _format(to: Written) -> Sql:
    """Return a date or a time as a text; what is no directive stands in quotes."""
    pieces = _PERCENT.split(to.options["layout"])
    texts = [_quoted(piece) for piece in pieces[::2]]
    directives = [_DIRECTIVES.get(piece) or _quoted(piece) for piece in pieces[1::2]]
    whole = "".join(a + b for a, b in zip(texts, [*directives, ""], strict=True))
    return templates.function("to_char", midnight(to[0]), to.bind(whole, "text"))


def _quoted(plain: str) -> str:
    escaped = plain.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"' if plain else ""


_CASTS: Final[Mapping[tuple[str, str], Entry]] = {
    ("i64", "f64"): SQL.entry("a_::DOUBLE"),
    ("i64", "text"): SQL.entry("a_::TEXT"),
    ("i64", "bool"): SQL.entry("a_ <> 0"),
    ("f64", "i64"): SQL.entry("narrow_double(TRUNC(a_))"),
    ("bool", "i64"): SQL.entry("a_::INTEGER::BIGINT"),
    ("bool", "f64"): SQL.entry("a_::INTEGER::DOUBLE"),
    ("bool", "text"): SQL.entry("a_::TEXT"),
    ("text", "i64"): lambda to: integer_in(to[0]),
    ("text", "f64"): lambda to: real_in(to[0]),
    ("text", "bool"): lambda to: truth_in(to[0], ("true",), ("false",)),
    ("text", "date"): lambda to: day_in(to[0]),
    ("text", "time"): lambda to: moment_in(to[0]),
    ("date", "time"): SQL.entry("a_::TIMESTAMP"),
    ("date", "text"): SQL.entry("TO_CHAR(a_::TIMESTAMP, 'YYYY-MM-DD')"),
    ("time", "date"): SQL.entry("a_::DATE"),
    ("time", "text"): SQL.entry(
        """TO_CHAR(a_::TIMESTAMP, 'YYYY-MM-DD"T"HH24:MI:SS.US')"""
    ),
}


def _cast(to: Written) -> Sql:
    known, wanted = to.types[0], to.options["to"]
    return to[0] if known == wanted else _CASTS[known, wanted](to)


_DOWN: Final = dict(zip(ascii_uppercase, ascii_lowercase, strict=True))
_UP: Final = dict(zip(ascii_lowercase, ascii_uppercase, strict=True))


def by_code_point(text: Sql) -> Sql:
    """Return a text that compares code point by code point, as UTF-8 does."""
    collation = exp.to_identifier("C", quoted=True)
    return exp.Collate(this=templates.in_parentheses(text), expression=collation)


def _compared(plain: Entry) -> Entry:
    """Return the entry of a comparison, of texts by their code points."""

    def entry(to: Written) -> Sql:
        condition = plain(to)
        if to.types[0] == "text":
            condition.set("this", by_code_point(condition.this))
        return condition

    return entry


def _chosen(name: str) -> Entry:
    def entry(to: Written) -> Sql:
        first, *others = to.each()
        first = by_code_point(first) if to.types[0] == "text" else first
        return templates.function(name, first, *others)

    return entry


_finite_or: Final = SQL.piece(
    "x, low, high",
    """CASE WHEN ABS(x) = infinity()
        THEN CASE WHEN x < 0::DOUBLE THEN low ELSE high END ELSE x END""",
)


def _replace_infinity(to: Written) -> Sql:
    return let((to[0],), lambda x: _finite_or(x, to[1], to[2]))


_COMPARISONS: Final = logic.COMPARISONS


ENTRIES: Final[Mapping[Operation, Entry]] = {
    casts.READ: _read,
    casts.STRPTIME: _parse,
    **plain_entries.ENTRIES,
    **{
        operation: _compared(plain_entries.ENTRIES[operation])
        for operation in _COMPARISONS
    },
    logic.IS_NAN: SQL.entry("a_ = nan()"),
    logic.IS_INFINITE: SQL.entry("ABS(a_) = infinity()"),
    logic.FILL_NAN: SQL.entry("CASE WHEN a_ = nan() THEN b_ ELSE a_ END"),
    logic.REPLACE_INFINITY: _replace_infinity,
    choices.GREATEST: _chosen("greatest"),
    choices.LEAST: _chosen("least"),
    **exponential_entries(let),
    arithmetic.ADD: _infix("+", doubles.double_sum),
    arithmetic.SUBTRACT: _infix("-", doubles.double_difference),
    arithmetic.MULTIPLY: _infix("*", doubles.double_product),
    arithmetic.DIVIDE: _divide,
    arithmetic.FLOOR_DIVIDE: _floor_divide,
    arithmetic.MODULO: lambda to: _of_wide(to, _whole_rest),
    arithmetic.QUOTIENT: SQL.entry("narrow(DIV(a_::DECIMAL, some(b_::DECIMAL)))"),
    arithmetic.REMAINDER: SQL.entry("narrow(MOD(a_::DECIMAL, some(b_::DECIMAL)))"),
    arithmetic.NEGATE: SQL.entry("narrow(0 - a_::DECIMAL)", "0::DOUBLE - a_"),
    arithmetic.CLIP: SQL.entry(_clip),
    arithmetic.ABS: SQL.entry("narrow(ABS(a_::DECIMAL))", "ABS(a_)"),
    arithmetic.ROUND_DOWN: _round_down,
    arithmetic.ROUND: _round,
    arithmetic.SQRT: _sqrt,
    arithmetic.FLOOR: SQL.entry("a_", "narrow_double(FLOOR(a_))"),
    arithmetic.CEIL: SQL.entry("a_", "narrow_double(CEIL(a_))"),
    bins.STEPS: _steps,
    bins.PORTION: _portion,
    casts.CAST: _cast,
    text.LOWER: _translated(ascii_uppercase, ascii_lowercase),
    text.UPPER: _translated(ascii_lowercase, ascii_uppercase),
    letters.LOWERCASE: _cased("lower", _DOWN),
    letters.UPPERCASE: _cased("upper", _UP),
    text.LENGTH: SQL.entry("LENGTH(a_)::BIGINT"),
    text.SLICE: _slice,
    text.CONTAINS: SQL.entry("0 < STRPOS(a_, b_)"),
    text.FIND: SQL.entry("STRPOS(a_, b_)::BIGINT - 1::BIGINT"),
    patterns.LIKE: _like,
    regular.MATCHES: _matches,
    casts.STRFTIME: _format,
    text.STARTS_WITH: SQL.entry("STARTS_WITH(a_, b_)"),
    text.ENDS_WITH: SQL.entry("STARTS_WITH(REVERSE(a_), REVERSE(b_))"),
    text.CONCAT: _concat,
    text.STRIP: _strip,
    text.STRIP_START: trimmed_by("ltrim"),
    text.STRIP_END: trimmed_by("rtrim"),
    text.SUBSTRING: SQL.entry(substring_entry("SUBSTR", "INTEGER")),
    text.PIECE: piece_of_text,
    text.REPLACE: _replace,
    text.NORMALIZE: _normalize,
    dates.UTC_OFFSET: offset_entry(_changes_until, _entry_at),
    dates.YEAR: _part("year"),
    dates.MONTH: _part("month"),
    dates.DAY: _part("day"),
    dates.WEEKDAY: SQL.entry(
        "EXTRACT(isodow FROM a_)::BIGINT - 1::BIGINT"  # Monday is 0
    ),
    dates.HOUR: _part("hour"),
    dates.MINUTE: _part("minute"),
    dates.SECOND: _part("second"),
    dates.TRUNCATE: SQL.entry(_truncate),
    dates.DAYS_BETWEEN: _days_between,
    dates.SECONDS_BETWEEN: _elapsed(_SECOND, _SHIFT),
    dates.ADD_DAYS: _add_days,
    dates.ADD_MONTHS: _add_months,
    dates.ADD_SECONDS: _add_seconds,
    pieces_of_text.SPLIT: _split_text,
}
