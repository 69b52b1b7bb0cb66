"""Every operation as PostgreSQL's SQL.

Lists are arrays of one dimension: how each cell becomes one (docs/adr/0221).

The type of an array tells no dimensions, and its numbering may begin anywhere. So each
is made anew of its entries where it is read, and above that all of them are alike.

How PostgreSQL writes operations on numbers.

Integers meet as numbers of any length, and come back where they fit into 64 bits.

How PostgreSQL writes operations on dates and times.

Its calendar begins in 4713 BC and a date beyond it raises: so each day is held to the
years 1 to 9999 before it is made. No form goes through a text or a time zone.

How PostgreSQL reads texts as values: casts, cells of text files, and formats.

Its own casts raise, and know words such as `now`. So a text is taken apart by a regular
expression, and what is made of the parts is held to its range before it is made.

How PostgreSQL writes operations on texts, and casts.

A text of its own has no U+0000. Its regular expressions are told each code point by its
number, so that no collation decides about a letter.

How PostgreSQL writes comparisons and choices.

It orders doubles as we do: NaN equals itself and is greater than all. Texts it orders
by a collation of the database, unless each comparison names another.
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
    all_of,
    any_of,
    as_bigint,
    as_integer,
    digits_pattern,
    doubles_rounded_down,
    fits,
    is_between,
    let,
    narrow,
    narrow_double,
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
from sordino.expressions.regular import Again, Chain, Either, Node, One, read_pattern
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


def _nonzero(number: Sql) -> Sql:
    """Return a number, 0 as null: what is divided by null is null."""
    return exp.Nullif(this=number, expression=templates.whole(0))


def _infix(kind: type[exp.Expression], of_doubles: Callable[[Sql, Sql], Sql]) -> Entry:
    def entry(to: Written) -> Sql:
        if to.real:
            return of_doubles(to.joint(0), to.joint(1))
        return narrow(templates.infix(kind, numeric(to[0]), numeric(to[1])))

    return entry


def _divide(to: Written) -> Sql:
    dividend, divisor = (templates.as_type(part, "DOUBLE") for part in to.each())
    return doubles.double_quotient(dividend, divisor)


def _floor_parts(to: Written, make: Callable[[Sql, Sql, Sql], Sql]) -> Sql:
    def parts(dividend: Sql, divisor: Sql) -> Sql:
        rest = templates.function("mod", dividend.copy(), divisor.copy())
        shifted = templates.plus(rest, divisor.copy())
        return make(
            dividend, divisor, templates.function("mod", shifted, divisor.copy())
        )

    return let((numeric(to[0]), _nonzero(numeric(to[1]))), parts)


def _floor_divide(to: Written) -> Sql:
    if to.real:
        return doubles_rounded_down(to.joint(0), _nonzero(to.joint(1)))
    return _floor_parts(
        to,
        lambda dividend, divisor, rest: narrow(
            templates.function("div", templates.minus(dividend, rest), divisor)
        ),
    )


def _modulo(to: Written) -> Sql:
    return _floor_parts(to, lambda _, __, rest: narrow(rest))


def _cut(name: str) -> Entry:
    def entry(to: Written) -> Sql:
        return narrow(
            templates.function(name, numeric(to[0]), _nonzero(numeric(to[1])))
        )

    return entry


def _negate(to: Written) -> Sql:
    if to.real:
        return templates.minus(templates.double(0), to[0])
    return narrow(templates.minus(templates.whole(0), numeric(to[0])))


def _clip(to: Written) -> Sql:
    """Return a number within bounds; NaN is greater than all, and stays."""
    branches = [(templates.is_less(to.joint(0), to.joint(1)), to.joint(1))]
    if to.types[0] == "f64":
        branches.append((doubles.equals_nan(to[0]), to[0]))
    branches.append((templates.is_less(to.joint(2), to.joint(0)), to.joint(2)))
    return templates.case(branches, to.joint(0))


def _abs(to: Written) -> Sql:
    return (
        doubles.size_of(to[0]) if to.real else narrow(doubles.size_of(numeric(to[0])))
    )


def _round_down(to: Written) -> Sql:
    step = to.options["step"]
    if isinstance(step, float) or to.real:
        wide = to.bind(float(step), "f64")
        steps = doubles.double_quotient(templates.as_type(to[0], "DOUBLE"), wide)
        return doubles.double_product(templates.function("floor", steps), wide.copy())
    least = to.bind(least_multiple(step), "i64")

    def below(number: Sql) -> Sql:
        wide = numeric(to.bind(step, "i64"))
        rest = templates.plus(
            templates.function("mod", numeric(number), wide), wide.copy()
        )
        rest = templates.function("mod", rest, wide.copy())
        down = narrow(templates.minus(numeric(number.copy()), rest))
        return templates.case(
            [(templates.is_less(number.copy(), least), least.copy())], down
        )

    return let((to[0],), below)


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


def _sqrt(to: Written) -> Sql:
    """Return a root of what is not negative: NaN is above all, and stays."""

    def root(number: Sql) -> Sql:
        positive = templates.case([
            (templates.is_at_most(templates.double(0), number), number.copy())
        ])
        return templates.function("sqrt", positive)

    return let((templates.as_type(to[0], "DOUBLE"),), root)


def _integer(rounding: str) -> Entry:
    def entry(to: Written) -> Sql:
        return narrow_double(templates.function(rounding, to[0])) if to.real else to[0]

    return entry


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


def _portion(to: Written) -> Sql:
    low, place = to.options["low"], to.options["place"]
    whole = templates.bigint(to.options["high"] - low)
    fine = templates.bigint(1 << to.options["finer"])
    above = _steps(replace(to, options={**to.options, "origin": low}))
    # the steps above the low end, for portion 0 below the high one
    height = above if place else templates.minus(whole.copy(), above)

    def portion(steps: Sql) -> Sql:
        square = templates.multiplied_by(
            templates.multiplied_by(steps, steps.copy()), fine.copy()
        )
        share = whole_quotient(square, whole.copy())
        if place != 1:
            return share
        rest = templates.minus(templates.multiplied_by(steps.copy(), fine), share)
        return templates.multiplied_by(templates.bigint(2), rest)

    return let((height,), portion)


_SECOND: Final = 10**6
_DAY: Final = 86_400 * _SECOND
_SHIFT: Final = 4 * 10**17  # microseconds, whole seconds, more than 9999 years
_DAYS: Final = _DAY * 4 * 10**6  # whole days, more than 9999 years
_FIRST: Final = "0001-01-01"


def first_day() -> Sql:
    """Return the first day of all."""
    return templates.as_type(templates.letters(_FIRST), "DATE")


def midnight(day: Sql) -> Sql:
    """Return the first moment of a day."""
    return templates.as_type(day, "TIMESTAMP")


def part_of_moment(name: str, moment: Sql) -> Sql:
    """Return a part of a date, a time or a duration, as an exact number."""
    return exp.Extract(this=exp.var(name), expression=moment)


def calendar_day(year: Sql, month: Sql, day: Sql) -> Sql:
    """Return the day of three small integers, if the calendar has it."""

    def in_calendar(y: Sql, m: Sql, d: Sql) -> Sql:
        odd = templates.infix(
            exp.Mod,
            templates.plus(
                m.copy(),
                templates.infix(exp.BitwiseRightShift, m.copy(), templates.whole(3)),
            ),
            templates.whole(2),
        )
        february = templates.plus(
            templates.whole(28),
            templates.case([(_leaps(y), templates.whole(1))], templates.whole(0)),
        )
        length = templates.case(
            [(templates.is_equal(m.copy(), templates.whole(2)), february)],
            templates.plus(templates.whole(30), odd),
        )
        there = all_of(
            is_between(y.copy(), templates.whole(1), templates.whole(9999)),
            is_between(m.copy(), templates.whole(1), templates.whole(12)),
            is_between(d.copy(), templates.whole(1), length),
        )
        return templates.function(
            "make_date", y.copy(), m.copy(), templates.case([(there, d)])
        )

    return let((year, month, day), in_calendar)


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
    def entry(to: Written) -> Sql:
        return as_bigint(templates.function("trunc", part_of_moment(name, to[0])))

    return entry


def _weekday(to: Written) -> Sql:
    return templates.minus(
        as_bigint(part_of_moment("isodow", to[0])), templates.bigint(1)
    )


def _truncate(to: Written) -> Sql:
    unit = templates.letters(to.options["unit"])
    start = templates.function("date_trunc", unit, midnight(to[0]))
    return templates.as_type(start, "DATE") if to.types[0] == "date" else start


def _elapsed(to: Written) -> Sql:
    duration = templates.minus(to[1], to[0])
    return templates.multiplied_by(
        part_of_moment("epoch", duration), templates.whole(_SECOND)
    )


def _floored(number: Sql, size: int, shift: int) -> Sql:
    """Return number // size rounded down, shifted to where nothing is negative."""
    shifted = templates.plus(number, templates.bigint(shift))
    whole = templates.function(
        "div", shifted, templates.as_type(templates.whole(size), "DECIMAL")
    )
    return as_bigint(templates.minus(whole, templates.bigint(shift // size)))


def _days_between(to: Written) -> Sql:
    if to.types[0] == "date":
        return as_bigint(templates.in_parentheses(templates.minus(to[1], to[0])))
    return _floored(_elapsed(to), _DAY, _DAYS)


def _seconds_between(to: Written) -> Sql:
    return _floored(_elapsed(to), _SECOND, _SHIFT)


def _add_days(to: Written) -> Sql:
    def later(moment: Sql, days: Sql) -> Sql:
        day = templates.as_type(moment.copy(), "DATE")
        reached = templates.plus(templates.minus(day, first_day()), days.copy())
        inside = is_between(reached, templates.whole(0), templates.whole(dates.WHOLE))
        near = is_between(
            days.copy(), templates.whole(-dates.WHOLE), templates.whole(dates.WHOLE)
        )
        # a sum with what is far would overflow, so it is not made
        added = as_integer(templates.case([(near, templates.case([(inside, days)]))]))
        if to.types[0] == "time":
            added = interval(0, 0, 0, added)
        return templates.plus(moment, added)

    return let((to[0], to[1]), later)


def interval(*parts: int | Sql) -> Sql:
    """Return a duration of years, months, weeks, days, hours, minutes, seconds."""
    listed: Sequence[Sql] = [
        templates.whole(part) if isinstance(part, int) else part for part in parts
    ]
    return templates.function("make_interval", *listed)


def _add_seconds(to: Written) -> Sql:
    def later(moment: Sql, seconds: Sql) -> Sql:
        far = templates.bigint(dates.WHOLE_SECONDS)
        near = is_between(
            seconds.copy(), templates.minus(templates.bigint(0), far), far.copy()
        )
        elapsed = part_of_moment(
            "epoch", templates.minus(moment.copy(), midnight(first_day()))
        )
        reached = templates.plus(elapsed, seconds.copy())
        inside = all_of(
            templates.is_at_most(templates.whole(0), reached),
            templates.is_less(reached.copy(), far.copy()),
        )
        added = templates.case([(near, templates.case([(inside, seconds)]))])
        # a double holds so many microseconds, for they are multiples of a million
        return templates.plus(
            moment, interval(0, 0, 0, 0, 0, 0, templates.as_type(added, "DOUBLE"))
        )

    return let((to[0], to[1]), later)


def _changes_until(time: Sql, seconds: Sequence[int]) -> Sql:
    passed = templates.as_type(
        templates.function("floor", part_of_moment("epoch", time)), "BIGINT"
    )
    return templates.function("width_bucket", passed, _array(seconds))


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
        digits = templates.function(
            "ltrim", _cell_part(parts, 2), templates.letters("0")
        )
        short = templates.is_at_most(
            templates.function("length", digits), templates.whole(_LONGEST)
        )
        sign = templates.case(
            [
                (
                    templates.is_equal(_cell_part(parts, 1), templates.letters("-")),
                    templates.letters("-0"),
                )
            ],
            templates.letters("0"),
        )
        signed = templates.infix(exp.DPipe, sign, digits.copy())
        return narrow(numeric(templates.case([(short, signed)])))

    return let((_parts_of(cell, f"([+-]?)([0-9]+){further}"),), read)


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


def _number(text: Sql) -> Sql:
    return templates.as_type(
        templates.infix(exp.DPipe, templates.letters("0"), text), "BIGINT"
    )


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


def _ahead(offset: Sql) -> Sql:
    """Return the seconds by which a zone is ahead of UTC: +02:00, +02, Z."""
    digits = templates.function(
        "translate", offset, templates.letters("+-:ZUTC"), templates.letters("")
    )
    hours = templates.function("substr", digits, templates.whole(1), templates.whole(2))
    minutes = templates.function(
        "substr", digits.copy(), templates.whole(3), templates.whole(2)
    )
    seconds = templates.plus(
        templates.multiplied_by(_number(hours), templates.bigint(3600)),
        templates.multiplied_by(_number(minutes), templates.bigint(60)),
    )
    behind = templates.function("starts_with", offset.copy(), templates.letters("-"))
    sign = templates.case([(behind, templates.bigint(-1))], templates.bigint(1))
    return templates.multiplied_by(sign, seconds)


def _nanoseconds(parts: Sql, layout: Layout) -> Sql:
    digits = _told(parts, layout, "fraction")
    return _number(
        templates.function("rpad", digits, templates.whole(9), templates.letters("0"))
    )


def _rounded(start: Sql, ticks: Sql, rest: Sql) -> Sql:
    """Return the moment after a midnight, halves of a microsecond away from 1970."""
    epoch = midnight(templates.as_type(templates.letters("1970-01-01"), "DATE"))
    half = all_of(
        templates.is_equal(rest.copy(), templates.bigint(500)),
        templates.is_at_most(epoch, _later(start.copy(), ticks.copy())),
    )
    up = any_of(templates.is_less(templates.bigint(500), rest.copy()), half)
    more = templates.case([(up, templates.bigint(1))], templates.bigint(0))
    return let((_later(start, templates.plus(ticks, more)),), within_years)


def _later(start: Sql, ticks: Sql) -> Sql:
    """Return a moment so many microseconds later: less than 2^53, so they are exact."""
    microsecond = templates.as_type(templates.letters("1 microsecond"), "INTERVAL")
    return templates.plus(start, templates.multiplied_by(ticks, microsecond))


def within_years(moment_: Sql) -> Sql:
    """Return a time of the years 1 to 9999."""
    first, last = (
        templates.as_type(templates.letters(end), "TIMESTAMP")
        for end in ("0001-01-01", "9999-12-31 23:59:59.999999")
    )
    return templates.case([(is_between(moment_.copy(), first, last), moment_)])


def _read_integer(to: Written, spelling: Spelling) -> Sql:
    return integer_in(to[0], f"(?:[{spelling.decimal}]0*)?")


def _read_real(to: Written, spelling: Spelling) -> Sql:
    """Return the nearest double, or what a word stands for."""
    words = [
        (fits(to[0], f"{_BLANK}(?:{pattern}){_BLANK}"), real(value))
        for pattern, value in _WORDS
    ]
    return templates.case(words, real_in(to[0], f"[{spelling.decimal}]"))


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
    def replaced(cell: Sql) -> Sql:
        without = templates.function(
            "replace", cell.copy(), to[1], templates.letters("")
        )
        removed = templates.minus(_size(cell.copy()), _size(without))
        count = whole_quotient(
            removed, exp.Nullif(this=_size(to[1]), expression=templates.whole(0))
        )
        growth = templates.multiplied_by(
            count, templates.minus(_size(to[2]), _size(to[1]))
        )
        shrinks = templates.is_at_most(_size(to[2]), _size(to[1]))
        size = templates.case(
            [(shrinks, templates.bigint(0))], templates.plus(_size(cell.copy()), growth)
        )
        return _made_if_short(size, templates.function("replace", cell, to[1], to[2]))

    return let((to[0],), replaced)


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


def _like(to: Written) -> Sql:
    pattern = to.bind(to.options["pattern"], "text")
    return exp.Escape(
        this=exp.Like(this=to[0], expression=pattern),
        expression=templates.letters(patterns.ESCAPE),
    )


def _find(to: Written) -> Sql:
    return templates.minus(
        as_bigint(templates.function("strpos", to[0], to[1])), templates.bigint(1)
    )


def _contains(to: Written) -> Sql:
    return templates.is_less(
        templates.whole(0), templates.function("strpos", to[0], to[1])
    )


def _ends_with(to: Written) -> Sql:
    return templates.function(
        "starts_with", *(templates.function("reverse", text) for text in to.each())
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
    return _written(to[0], to.bind(whole, "text"))


def _quoted(plain: str) -> str:
    escaped = plain.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"' if plain else ""


def _written(moment: Sql, layout: Sql) -> Sql:
    return templates.function("to_char", midnight(moment), layout)


def _plain(kind: str) -> Entry:
    return lambda to: templates.as_type(to[0], kind)


def _truncated(to: Written) -> Sql:
    return narrow_double(templates.function("trunc", to[0]))


_CASTS: Final[Mapping[tuple[str, str], Entry]] = {
    ("i64", "f64"): _plain("DOUBLE"),
    ("i64", "text"): _plain("TEXT"),
    ("i64", "bool"): lambda to: exp.NEQ(this=to[0], expression=templates.whole(0)),
    ("f64", "i64"): _truncated,
    ("bool", "i64"): lambda to: as_bigint(as_integer(to[0])),
    ("bool", "f64"): lambda to: templates.as_type(as_integer(to[0]), "DOUBLE"),
    ("bool", "text"): _plain("TEXT"),
    ("text", "i64"): lambda to: integer_in(to[0]),
    ("text", "f64"): lambda to: real_in(to[0]),
    ("text", "bool"): lambda to: truth_in(to[0], ("true",), ("false",)),
    ("text", "date"): lambda to: day_in(to[0]),
    ("text", "time"): lambda to: moment_in(to[0]),
    ("date", "time"): _plain("TIMESTAMP"),
    ("date", "text"): lambda to: _written(to[0], templates.letters("YYYY-MM-DD")),
    ("time", "date"): _plain("DATE"),
    ("time", "text"): lambda to: _written(
        to[0], templates.letters('YYYY-MM-DD"T"HH24:MI:SS.US')
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


def _of_double(test: Callable[[Sql], Sql]) -> Entry:
    return lambda to: test(to[0])


def _fill_nan(to: Written) -> Sql:
    return templates.case([(doubles.equals_nan(to[0]), to[1])], to[0])


def _replace_infinity(to: Written) -> Sql:
    def replaced(double: Sql) -> Sql:
        sign = templates.case(
            [(templates.is_less(double.copy(), templates.double(0)), to[1])], to[2]
        )
        return templates.case([(doubles.equals_infinity(double.copy()), sign)], double)

    return let((to[0],), replaced)


_COMPARISONS: Final = logic.COMPARISONS


ENTRIES: Final[Mapping[Operation, Entry]] = {
    casts.READ: _read,
    casts.STRPTIME: _parse,
    **plain_entries.ENTRIES,
    **{
        operation: _compared(plain_entries.ENTRIES[operation])
        for operation in _COMPARISONS
    },
    logic.IS_NAN: _of_double(doubles.equals_nan),
    logic.IS_INFINITE: _of_double(doubles.equals_infinity),
    logic.FILL_NAN: _fill_nan,
    logic.REPLACE_INFINITY: _replace_infinity,
    choices.GREATEST: _chosen("greatest"),
    choices.LEAST: _chosen("least"),
    **exponential_entries(let),
    arithmetic.ADD: _infix(exp.Add, doubles.double_sum),
    arithmetic.SUBTRACT: _infix(exp.Sub, doubles.double_difference),
    arithmetic.MULTIPLY: _infix(exp.Mul, doubles.double_product),
    arithmetic.DIVIDE: _divide,
    arithmetic.FLOOR_DIVIDE: _floor_divide,
    arithmetic.MODULO: _modulo,
    arithmetic.QUOTIENT: _cut("div"),
    arithmetic.REMAINDER: _cut("mod"),
    arithmetic.NEGATE: _negate,
    arithmetic.CLIP: _clip,
    arithmetic.ABS: _abs,
    arithmetic.ROUND_DOWN: _round_down,
    arithmetic.ROUND: _round,
    arithmetic.SQRT: _sqrt,
    arithmetic.FLOOR: _integer("floor"),
    arithmetic.CEIL: _integer("ceil"),
    bins.STEPS: _steps,
    bins.PORTION: _portion,
    casts.CAST: _cast,
    text.LOWER: _translated(ascii_uppercase, ascii_lowercase),
    text.UPPER: _translated(ascii_lowercase, ascii_uppercase),
    letters.LOWERCASE: _cased("lower", _DOWN),
    letters.UPPERCASE: _cased("upper", _UP),
    text.LENGTH: lambda to: as_bigint(templates.function("length", to[0])),
    text.SLICE: _slice,
    text.CONTAINS: _contains,
    text.FIND: _find,
    patterns.LIKE: _like,
    regular.MATCHES: _matches,
    casts.STRFTIME: _format,
    text.STARTS_WITH: lambda to: templates.function("starts_with", to[0], to[1]),
    text.ENDS_WITH: _ends_with,
    text.CONCAT: _concat,
    text.STRIP: _strip,
    text.REPLACE: _replace,
    text.NORMALIZE: _normalize,
    dates.UTC_OFFSET: offset_entry(_changes_until, _entry_at),
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
    pieces_of_text.SPLIT: _split_text,
}
