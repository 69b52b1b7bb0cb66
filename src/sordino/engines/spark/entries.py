r"""Every operation as Spark's SQL.

Integers are added and multiplied by functions that give NULL where 64 bits do not
suffice, whether ANSI is on or off; `+ 0.0` turns -0.0 into 0.0. Doubles are ordered as
ours: NaN equals itself and is greater than all. Nothing here can raise.

Spark's casts are wider than our rules: a text is held to a pattern before one is tried,
and the parts of a cell are found by the same pattern. Java's regular expressions go
back over a text, and into depth where a group is repeated: only those are written that
do neither. `\z` is the very end, which `$` is not.

Times are TIMESTAMP_NTZ, and nothing here goes through the zone of a session:
`date_trunc`, `date_format` and `timestampdiff` would, and are an hour off where a clock
was put forward. Dates are moved by few enough days that no day overflows.
"""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta
from string import ascii_lowercase, ascii_uppercase
from typing import Final

from sqlglot import exp

from sordino.engines.statements import entries, templates
from sordino.engines.statements.entries import (
    digits_number,
    exponential_entries,
    numbers_of,
    offset_entry,
    piece_of_text,
    round_to_microseconds,
    substring_entry,
    whole_steps,
    zone_ticks,
)
from sordino.engines.statements.templates import Entry, Sql, Written
from sordino.expressions import arithmetic, bins, casts, choices, dates, logic, text
from sordino.expressions import text as letters
from sordino.expressions import text as patterns
from sordino.expressions import text as pieces_of_text
from sordino.expressions.arithmetic import least_multiple
from sordino.expressions.casts import Layout, Spelling
from sordino.expressions.text import RUNS
from sordino.expressions.tree import Operation

_LAST_BIT: Final = 63
_LONGEST_SHIFT: Final = 41
_BEYOND: Final = 2.0**63


_SQL: Final = templates.Templates(
    "spark",
    {
        "unsigned(x)": "x + 0::DOUBLE",  # -0.0 becomes 0.0: they would be two groups
        "bytes(x)": "octet_length(x)::BIGINT",
        "some(x)": "nullif(x, 0)",  # what is divided by NULL is NULL
        "rest(x, y)": "x % some(y)",  # with the sign of x
        "astray(x, y, z)": "(rest(x, y) <> 0) AND ((rest(x, y) < 0) <> (z < 0))",
        # DIV by -1 of the least i64 raises; try_subtract gives NULL
        "quotient(x, y)": """CASE WHEN y = -1 THEN try_subtract(0::BIGINT, x)
            ELSE x DIV nullif(some(y), -1) END""",
        # floor gives an integer, which holds no double beyond 64 bits
        "below(x)": "rint(x) - CASE WHEN rint(x) > x THEN 1::DOUBLE ELSE 0::DOUBLE END",
        # rint takes halves to the even; the distance to it is exact, so that one half
        # is told from what is almost one
        "nearest(x)": """CASE
            WHEN ((x - rint(x)) = 0.5::DOUBLE) AND (0::DOUBLE < x)
            THEN rint(x) + 1::DOUBLE
            WHEN ((x - rint(x)) = (0::DOUBLE - 0.5::DOUBLE)) AND (x < 0::DOUBLE)
            THEN rint(x) - 1::DOUBLE
            ELSE rint(x) END""",
        "infinite(x)": "abs(x) = 'Infinity'::DOUBLE",
        "held(x)": "CASE WHEN (:least <= x) AND (x < :beyond) THEN x END",
    },
)
_ENDS: Final[Mapping[str, templates.Bound]] = {
    "least": lambda _: -_BEYOND,
    "beyond": lambda _: _BEYOND,
}
within_64_bits: Final = _SQL.entry("held(a_)", None, **_ENDS)


def whole_difference(left: Sql, right: Sql) -> Sql:
    """Return left - right of integers, or NULL."""
    return templates.function("try_subtract", left, right)


def _clip(to: Written) -> str:
    """Return a number within bounds; NaN is greater than all, and stays."""
    nan = "WHEN isnan(a) THEN a" if to.types[0] == "f64" else ""
    return f"CASE WHEN a < b THEN b {nan} WHEN c < a THEN c ELSE a END"


def _round_down(to: Written) -> str:
    if isinstance(to.options["step"], float) or to.real:
        return "unsigned(below(a_::DOUBLE / some(:step)) * :step)"
    below = "try_subtract(a, pmod(a, :step))"
    return f"CASE WHEN a < :least THEN :least ELSE {below} END"


def _steps(to: Written) -> Sql:
    """Return the steps of a lattice: the bounds make the rounding safe."""
    if to.real:
        return _double_steps(to)
    return whole_steps(to, to[0], _steps_between(to), whole_difference)


def _near_steps(to: Written) -> str:
    """Return the steps of a double; NaN is above all, and has none."""
    # a constant is computed though its branch is not taken, and floor would raise
    value = "a" if to.reads else "CASE WHEN (:first <= a) AND (a <= :last) THEN a END"
    steps = f"floor(({value} * :scale) + 0.5::DOUBLE)"
    if to.options.get("origin", 0):
        steps = f"try_subtract({steps}, :origin)"
    return f"""CASE WHEN a < :first THEN :low WHEN a <= :last THEN {steps}
        WHEN a < 'NaN'::DOUBLE THEN :high END"""


_double_steps: Final = _SQL.entry(
    _near_steps,
    first=lambda to: math.ldexp(to.options["low"], to.options["exponent"]),
    last=lambda to: math.ldexp(to.options["high"], to.options["exponent"]),
    scale=lambda to: math.ldexp(1, -to.options["exponent"]),
    origin=lambda to: to.options.get("origin", 0),
    low=lambda to: to.options["low"] - to.options.get("origin", 0),
    high=lambda to: to.options["high"] - to.options.get("origin", 0),
)


def _shift(to: Written) -> str:
    """Return the nearest number of steps: x >> e, plus the bit that is shifted out."""
    exponent = to.options["exponent"]
    if exponent == 0:
        return "a"
    if exponent < 0:  # between the thresholds x * 2**-e has at most 41 bits
        return "try_multiply(a, :size)"
    if exponent > _LAST_BIT:  # every i64 is less than half a step away from 0
        return "try_multiply(a, 0::BIGINT)"
    return "try_add(shiftright(a, :places), shiftright(a, :fewer) & 1::BIGINT)"


_steps_between: Final = _SQL.entry(
    _shift,
    size=lambda to: templates.bigint(1 << min(-to.options["exponent"], _LONGEST_SHIFT)),
    places=lambda to: templates.whole(to.options["exponent"]),
    fewer=lambda to: templates.whole(to.options["exponent"] - 1),
)


def _share(to: Written) -> str:
    place = to.options["place"]
    # the steps above the low end, for portion 0 below the high one
    height = ":steps" if place else "try_subtract(:size, :steps)"
    share = f"try_multiply(try_multiply({height}, {height}), :fine) DIV :size"
    if place != 1:
        return share
    rest = f"try_subtract(try_multiply({height}, :fine), {share})"
    return f"try_multiply(2::BIGINT, {rest})"


_portion: Final = _SQL.entry(
    _share,
    steps=lambda to: _steps(
        replace(to, options={**to.options, "origin": to.options["low"]})
    ),
    size=lambda to: templates.bigint(to.options["high"] - to.options["low"]),
    fine=lambda to: templates.bigint(1 << to.options["finer"]),
)


def _let(values: Sequence[Sql], make: Callable[..., Sql]) -> Sql:
    """Expression over values that are each computed once.

    An array of them stands for their names: the function of an array is called with its
    entry.
    """
    names = [f"v{place}" for place in range(len(values))]
    pairs = [
        (templates.letters(n), value) for n, value in zip(names, values, strict=True)
    ]
    fields = [part for pair in pairs for part in pair]
    body = make(*(exp.column(name, table="v") for name in names))
    listed = templates.function("array", templates.function("named_struct", *fields))
    each = exp.Lambda(this=body, expressions=[exp.to_identifier("v")])
    return templates.function(
        "element_at", templates.function("transform", listed, each), templates.whole(1)
    )


BLANK: Final = r"[ \t\n\x0B\f\r]*"
_LAST_PLACE: Final = 2**31 - 1
_SETTLED: Final = r"\A[{}]*\z".format(
    "".join(f"\\x{{{first:X}}}-\\x{{{last:X}}}" for first, last in RUNS)
)


def matches(cell: Sql, pattern: str) -> Sql:
    """Return whether a text is all of a pattern, but for blanks around it."""
    return templates.function("rlike", cell, templates.letters(whole_pattern(pattern)))


def whole_pattern(pattern: str) -> str:
    """Return the pattern of a text that is all of another, but for blanks around it."""
    return rf"\A{BLANK}(?:{pattern}){BLANK}\z"


def without_blanks(cell: Sql) -> Sql:
    """Return a text without blanks around it."""
    return templates.function("btrim", cell, templates.letters(text.BLANKS))


def in_small_letters(text: Sql) -> Sql:
    """Return a text with small letters for A to Z."""
    old, new = templates.letters(ascii_uppercase), templates.letters(ascii_lowercase)
    return templates.function("translate", text, old, new)


def _function_entry(name: str) -> Entry:
    def entry(to: Written) -> Sql:
        return templates.function(name, *to.each())

    return entry


def _lower(to: Written) -> Sql:
    return in_small_letters(to[0])


def _upper(to: Written) -> Sql:
    old, new = templates.letters(ascii_lowercase), templates.letters(ascii_uppercase)
    return templates.function("translate", to[0], old, new)


def _case_entry(word: str, plain: Entry) -> Entry:
    """Return the entry of a change of case: of A to Z, unless all is settled.

    Spark's own has letters of several code points, and those of its Unicode.
    """

    def entry(to: Written) -> Sql:
        settled = templates.function("rlike", to[0], templates.letters(_SETTLED))
        changed = sorted(letters.changed_letters(word).items())
        old = templates.letters("".join(chr(letter) for letter, _ in changed))
        new = templates.letters("".join(letter for _, letter in changed))
        return templates.case(
            [(settled, templates.function("translate", to[0], old, new))], plain(to)
        )

    return entry


def _slice(to: Written) -> Sql:
    start, length = to.options["start"], to.options["length"]
    if start < 0:
        rest = templates.function("right", to[0], templates.whole(-start))
        return (
            rest
            if length is None
            else templates.function("left", rest, templates.whole(length))
        )
    first = templates.whole(min(start + 1, _LAST_PLACE))
    ends = [first, *([] if length is None else [templates.whole(length)])]
    return templates.function("substring", to[0], *ends)


def bytes_of(text: Sql) -> Sql:
    """Return the number of bytes in UTF-8."""
    return templates.as_type(templates.function("octet_length", text), "BIGINT")


def _fits(size: Sql) -> Sql:
    return templates.is_at_most(size, templates.bigint(text.LONGEST))


def _concat(to: Written) -> Sql:
    size = bytes_of(to[0])
    for other in to.each()[1:]:
        size = templates.plus(size, bytes_of(other))
    return templates.case([(_fits(size), templates.function("concat", *to.each()))])


def _strip(to: Written) -> Sql:
    trimmed = to.options.get("letters")
    if trimmed is None:
        return without_blanks(to[0])
    return templates.function("btrim", to[0], to.bind(trimmed, "text"))


def _trimmed_by(name: str) -> Entry:
    # of an end, Spark names the letters first
    return lambda to: templates.function(
        name, to.bind(to.options["letters"], "text"), to[0]
    )


_replace: Final = _SQL.entry(
    f"""CASE WHEN bytes(c_) <= bytes(b_) OR bytes(a_) + (
            ((bytes(a_) - bytes(replace(a_, b_, ''))) DIV some(bytes(b_)))
            * (bytes(c_) - bytes(b_))) <= {text.LONGEST}::BIGINT
        THEN replace(a_, b_, c_) END"""
)


def _split_text(to: Written) -> Sql:
    mark = templates.letters(_itself(to.options["separator"]))
    return templates.function("split", to[0], mark, templates.whole(-1))


def _itself(letters_: Sequence[str | None]) -> str:
    """Return a regular expression for letters, None for any one of them."""
    return "".join(
        "." if letter is None else f"\\x{{{ord(letter):X}}}" for letter in letters_
    )


def _match_pattern(to: Written) -> Sql:
    first, *others = map(_itself, patterns.read_pieces(to.options["pattern"]))
    if others:
        *between, last = others
        first += "".join(f"(?>.*?{piece})" for piece in between) + f".*{last}"
    return templates.function("rlike", to[0], templates.letters(rf"(?s)\A{first}\z"))


_PERCENT: Final = re.compile(r"%(.?)", re.DOTALL)
_PARTS: Final = {
    "Y": ("year", 4),
    "m": ("month", 2),
    "d": ("day", 2),
    "H": ("hour", 2),
    "M": ("minute", 2),
    "S": ("second", 2),
}


def _format(to: Written) -> Sql:
    """Return a date or a time as a text, part after part."""
    pieces = [templates.letters("")]
    parts = _PERCENT.split(to.options["layout"])  # [text, letter, text, ... text]
    for place, piece in enumerate(parts):
        pieces.append(
            _format_part(to[0], piece) if place % 2 else templates.letters(piece)
        )
    return templates.function("concat", *pieces)


def _format_part(moment: Sql, letter: str) -> Sql:
    if letter == "%":
        return templates.letters("%")
    if letter == "f":
        return templates.function("right", moment_text(moment), templates.whole(6))
    name, digits = _PARTS[letter]
    part = templates.as_type(templates.function(name, moment), "STRING")
    return templates.function(
        "lpad", part, templates.whole(digits), templates.letters("0")
    )


def moment_text(moment: Sql) -> Sql:
    """Return a time with all its digits: the cast writes no more than there are."""
    text = templates.as_type(moment, "STRING")
    joined = templates.function(
        "replace", text, templates.letters(" "), templates.letters("T")
    )
    has_point = templates.function("contains", text.copy(), templates.letters("."))
    point = templates.case([(has_point, templates.letters(""))], templates.letters("."))
    filled = (templates.whole(26), templates.letters("0"))
    return templates.function(
        "rpad", templates.function("concat", joined, point), *filled
    )


def _plain(kind: str) -> Entry:
    def entry(to: Written) -> Sql:
        return templates.as_type(to[0], kind)

    return entry


def _read(kind: str, name: str) -> Entry:
    def entry(to: Written) -> Sql:
        text_or_null = templates.case([
            (matches(to[0], casts.GRAMMARS[name]), without_blanks(to[0]))
        ])
        return templates.as_type_or_null(text_or_null, kind)

    return entry


def _read_real(to: Written) -> Sql:
    """Return the nearest double, -0.0 as 0.0."""
    return templates.plus(_read("DOUBLE", "f64")(to), templates.double(0))


def _read_truth(to: Written) -> Sql:
    small = in_small_letters(without_blanks(to[0]))
    named = (("true", exp.true()), ("false", exp.false()))
    return templates.case([
        (templates.is_equal(small.copy(), templates.letters(name)), truth)
        for name, truth in named
    ])


def _truncate_double(to: Written) -> Sql:
    return templates.as_type(within_64_bits(to), "BIGINT")


def _moment_text(to: Written) -> Sql:
    return moment_text(to[0])


_CASTS: Final[Mapping[tuple[str, str], Entry]] = {
    ("i64", "f64"): _plain("DOUBLE"),
    ("i64", "text"): _plain("STRING"),
    ("i64", "bool"): _plain("BOOLEAN"),
    ("f64", "i64"): _truncate_double,
    ("bool", "i64"): _plain("BIGINT"),
    ("bool", "f64"): _plain("DOUBLE"),
    ("bool", "text"): _plain("STRING"),
    ("text", "i64"): _read("BIGINT", "i64"),
    ("text", "f64"): _read_real,
    ("text", "bool"): _read_truth,
    ("text", "date"): _read("DATE", "date"),
    ("text", "time"): _read("TIMESTAMP_NTZ", "time"),
    ("date", "time"): _plain("TIMESTAMP_NTZ"),
    ("date", "text"): _plain("STRING"),
    ("time", "date"): _plain("DATE"),
    ("time", "text"): _moment_text,
}


def _cast(to: Written) -> Sql:
    known, wanted = to.types[0], to.options["to"]
    return to[0] if known == wanted else _CASTS[known, wanted](to)


SECOND: Final = 10**6
_DAY: Final = 86_400 * SECOND
_TIMES: Final = (datetime.min, datetime.max)  # noqa: DTZ901 UTC without a zone


def _part(name: str) -> Entry:
    return _SQL.entry(f"{name}(a_)::BIGINT")


def epoch() -> Sql:
    """Return the first day of 1970."""
    return templates.as_type(templates.letters("1970-01-01"), "DATE")


# at most 12 digits of seconds
_SPAN: Final = "make_dt_interval(0, 0, 0, ({seconds})::DECIMAL(18, 6))"
moment_at: Final = _SQL.piece(
    "ticks",
    f"""'1970-01-01'::DATE::TIMESTAMP_NTZ + {
        _SPAN.format(seconds="ticks::DECIMAL(18, 0) * '0.000001'::DECIMAL(6, 6)")
    }""",
)
"""The time so many microseconds after 1970, in the years 1 to 9999."""


def ticks_of(moment: Sql) -> Sql:
    """Return the microseconds of a moment after 1970: of its day, and within it."""
    days = templates.function("datediff", templates.as_type(moment, "DATE"), epoch())
    whole = templates.multiplied_by(
        templates.as_type(days, "BIGINT"), templates.bigint(_DAY)
    )
    minutes = templates.plus(
        templates.multiplied_by(
            templates.function("hour", moment.copy()), templates.bigint(3600)
        ),
        templates.multiplied_by(
            templates.function("minute", moment.copy()), templates.bigint(60)
        ),
    )
    clock = templates.multiplied_by(minutes, templates.bigint(SECOND))
    return templates.plus(templates.plus(whole, clock), _ticks_of_minute(moment))


def _ticks_of_minute(moment: Sql) -> Sql:
    """Return the microseconds of a moment after its minute began."""
    seconds = exp.Extract(this=exp.var("SECOND"), expression=moment.copy())
    size = templates.as_type(templates.whole(SECOND), "DECIMAL(7, 0)")
    return templates.as_type(templates.multiplied_by(seconds, size), "BIGINT")


def _truncate(to: Written) -> Sql:
    unit, is_date = to.options["unit"], to.types[0] == "date"
    if unit in _CLOCK:
        return _hour(to, _CLOCK[unit])
    start = templates.as_type(to[0], "DATE")
    if unit != "day":
        start = templates.function("trunc", start, templates.letters(unit))
    return start if is_date else templates.as_type(start, "TIMESTAMP_NTZ")


_CLOCK: Final[Mapping[str, tuple[str, ...]]] = {
    "hour": ("hour",),
    "minute": ("hour", "minute"),
    "second": ("hour", "minute", "second"),
}


def _hour(to: Written, parts: tuple[str, ...]) -> Sql:
    given_parts = [templates.function(name, to[0]) for name in parts]
    zero = templates.whole(0)
    padding = [zero.copy() for _ in range(3 - len(given_parts))]
    clock = templates.function("make_dt_interval", zero, *given_parts, *padding)
    midnight = templates.as_type(templates.as_type(to[0], "DATE"), "TIMESTAMP_NTZ")
    return templates.plus(midnight, clock)


def _floor_quotient(number: Sql, size: int) -> Sql:
    rest = templates.function("pmod", number, templates.bigint(size))
    return templates.infix(
        exp.IntDiv, templates.minus(number.copy(), rest), templates.bigint(size)
    )


def _microseconds_between(to: Written) -> Sql:
    return whole_difference(ticks_of(to[1]), ticks_of(to[0]))


def _days_between(to: Written) -> Sql:
    if to.types[0] == "date":
        return templates.as_type(templates.function("datediff", to[1], to[0]), "BIGINT")
    return _floor_quotient(_microseconds_between(to), _DAY)


def _seconds_between(to: Written) -> Sql:
    return _floor_quotient(_microseconds_between(to), SECOND)


def _near_shift(most: int) -> str:
    return f"CASE WHEN b_ BETWEEN ({-most})::BIGINT AND {most}::BIGINT THEN b_ END"


def _in_calendar(later: str) -> str:
    return f"CASE WHEN ({later}) BETWEEN :first AND :last THEN {later} END"


def _add_days(to: Written) -> str:
    days = f"({_near_shift(dates.WHOLE)})::INT"
    if to.types[0] == "date":
        return _in_calendar(f"date_add(a_, {days})")
    return _in_calendar(f"a_ + make_dt_interval({days})")


def _add_months(to: Written) -> str:
    months = f"({_near_shift(dates.WHOLE_MONTHS)})::INT"
    if to.types[0] == "date":
        return _in_calendar(f"add_months(a_, {months})")
    return _in_calendar(f"a_ + make_ym_interval(0, {months})")


_ADD_SECONDS: Final = _in_calendar(
    f"a_ + {_SPAN.format(seconds=_near_shift(dates.WHOLE_SECONDS))}"
)
_YEARS: Final[Mapping[str, templates.Bound]] = {
    "first": lambda to: date.min if to.types[0] == "date" else _TIMES[0],
    "last": lambda to: date.max if to.types[0] == "date" else _TIMES[1],
}


def _changes_until(time: Sql, seconds: Sequence[int]) -> Sql:
    edge = exp.to_identifier("edge")
    ticks = templates.function("array", *numbers_of([n * SECOND for n in seconds]))
    passed = templates.is_at_most(edge.copy(), ticks_of(time))
    each = exp.Lambda(this=passed, expressions=[edge])
    return templates.function("size", templates.function("filter", ticks, each))


def _entry_at(values: Sequence[int], place: Sql) -> Sql:
    return templates.function(
        "element_at", templates.function("array", *numbers_of(values)), place
    )


_EPOCH: Final = datetime(1970, 1, 1)  # noqa: DTZ001 UTC without a zone, as all times
_FIRST, _LAST = (
    (end - _EPOCH) // timedelta(microseconds=1)
    for end in (datetime.min, datetime.max)  # noqa: DTZ901 UTC without a zone
)


def _cell_integer(to: Written, spelling: Spelling) -> Sql:
    point = templates.letters(spelling.decimal)
    number = templates.remove(without_blanks(to[0]), spelling.left_out)
    digits = templates.function("substring_index", number, point, templates.whole(1))
    digits_or_null = templates.case([(matches(to[0], spelling.whole), digits)])
    return templates.as_type_or_null(digits_or_null, "BIGINT")


def _double(to: Written, spelling: Spelling) -> Sql:
    """Return the nearest double, -0.0 as 0.0."""
    number = templates.remove(without_blanks(to[0]), spelling.left_out)
    if spelling.decimal != ".":
        signs = templates.letters(spelling.decimal), templates.letters(".")
        number = templates.function("replace", number, *signs)
    number_or_null = templates.case([(matches(to[0], spelling.real), number)])
    return templates.plus(
        templates.as_type_or_null(number_or_null, "DOUBLE"), templates.double(0)
    )


def _truth(to: Written, spelling: Spelling) -> Sql:
    small = in_small_letters(without_blanks(to[0]))
    words = [(word, exp.true()) for word in spelling.true]
    words += [(word, exp.false()) for word in spelling.false]
    return templates.case([
        (templates.is_equal(small.copy(), templates.letters(word)), truth)
        for word, truth in words
    ])


def _day(to: Written, spelling: Spelling) -> Sql:
    return _date(to[0], spelling.date)


def _moment(to: Written, spelling: Spelling) -> Sql:
    """Return a time in UTC, of the years 1 to 9999."""
    ticks = _ticks(to[0], spelling.time)
    inside = exp.Between(
        this=templates.in_parentheses(ticks),
        low=templates.bigint(_FIRST),
        high=templates.bigint(_LAST),
    )
    return moment_at(templates.case([(inside, ticks.copy())]))


def _cell_part(cell: Sql, layout: Layout, name: str) -> Sql:
    """Return a part as text, empty where it is not there."""
    place = templates.whole(layout.parts.index(name) + 1)
    pattern = templates.letters(whole_pattern(layout.pattern))
    return templates.function("regexp_extract", cell.copy(), pattern, place)


def _date(cell: Sql, layout: Layout) -> Sql:
    """Return the date of a cell; what is no cell of the layout has empty parts."""
    dash = templates.letters("-")
    parts = [_cell_part(cell, layout, part) for part in ("year", "month", "day")]
    text = templates.function("concat", parts[0], dash, parts[1], dash.copy(), parts[2])
    return templates.as_type_or_null(text, "DATE")


def _ticks(cell: Sql, layout: Layout) -> Sql:
    """Return microseconds after 1970 in UTC, none for a day that no calendar has."""
    ticks = ticks_of(templates.as_type(_date(cell, layout), "TIMESTAMP_NTZ"))
    for name, seconds in (("hour", 3600), ("minute", 60), ("second", 1)):
        if name in layout.parts:
            size = templates.bigint(seconds * SECOND)
            number = digits_number(_cell_part(cell, layout, name))
            ticks = templates.plus(ticks, templates.multiplied_by(number, size))
    if "offset" in layout.parts:
        ticks = templates.minus(
            ticks, zone_ticks(_cell_part(cell, layout, "offset"), "startswith")
        )
    if "fraction" not in layout.parts:
        return ticks
    nine = (templates.whole(9), templates.letters("0"))
    digits = templates.function("rpad", _cell_part(cell, layout, "fraction"), *nine)
    return round_to_microseconds(ticks, digits_number(digits))


_READERS: Final[Mapping[str, Callable[[Written, Spelling], Sql]]] = {
    "i64": _cell_integer,
    "f64": _double,
    "bool": _truth,
    "date": _day,
    "time": _moment,
}


def _cell_read(to: Written) -> Sql:
    return _READERS[to.options["to"]](to, to.options["spelling"])


def _parse(to: Written) -> Sql:
    kind = to.options["to"]
    return _READERS[kind](to, casts.spelling_of(to.options["layout"], kind))


ENTRIES: Final[Mapping[Operation, Entry]] = {
    casts.READ: _cell_read,
    casts.STRPTIME: _parse,
    **entries.ENTRIES,
    # isnan of NULL is false, and NULL must stay unknown
    logic.IS_NAN: _SQL.entry("a_ = 'NaN'::DOUBLE"),
    logic.IS_INFINITE: _SQL.entry("infinite(a_)"),
    logic.FILL_NAN: _SQL.entry("CASE WHEN isnan(a_) THEN b_ ELSE a_ END"),
    logic.REPLACE_INFINITY: _SQL.entry(
        "CASE WHEN infinite(a_) THEN CASE WHEN a_ < 0::DOUBLE THEN b_ ELSE c_ END "
        "ELSE a_ END"
    ),
    choices.GREATEST: _function_entry("greatest"),
    choices.LEAST: _function_entry("least"),
    **exponential_entries(_let),
    arithmetic.ADD: _SQL.entry("try_add(a, b)", "unsigned(a + b)"),
    arithmetic.SUBTRACT: _SQL.entry("try_subtract(a, b)", "unsigned(a - b)"),
    arithmetic.MULTIPLY: _SQL.entry("try_multiply(a, b)", "unsigned(a * b)"),
    arithmetic.DIVIDE: _SQL.entry("unsigned(a_::DOUBLE / some(b_::DOUBLE))"),
    arithmetic.FLOOR_DIVIDE: _SQL.entry(
        """try_subtract(quotient(a, b),
           CASE WHEN astray(a, b, b) THEN 1::BIGINT ELSE 0::BIGINT END)""",
        """unsigned(nearest(((a - rest(a, b)) / some(b))
           - CASE WHEN astray(a, b, b_) THEN 1::DOUBLE ELSE 0::DOUBLE END))""",
    ),
    arithmetic.MODULO: _SQL.entry(
        "CASE WHEN astray(a, b, b) THEN try_add(rest(a, b), b) ELSE rest(a, b) END",
        "unsigned(rest(a, b) + CASE WHEN astray(a, b, b_) THEN b ELSE 0::DOUBLE END)",
    ),
    arithmetic.QUOTIENT: _SQL.entry("quotient(a, b)"),
    arithmetic.REMAINDER: _SQL.entry("rest(a, b)"),
    arithmetic.NEGATE: _SQL.entry("try_subtract(0::BIGINT, a)", "0::DOUBLE - a"),
    arithmetic.CLIP: _SQL.entry(_clip),
    arithmetic.ABS: _SQL.entry(
        "CASE WHEN a < 0 THEN try_subtract(0::BIGINT, a) ELSE a END", "abs(a)"
    ),
    arithmetic.ROUND_DOWN: _SQL.entry(
        _round_down,
        step=templates.step_of,
        least=lambda to: least_multiple(to.options["step"]),
    ),
    arithmetic.ROUND: _SQL.entry(
        "a",
        """CASE WHEN infinite(a * :size) OR isnan(a) THEN a
           ELSE unsigned(nearest(a * :size) / some(:size)) END""",
        size=lambda to: 10.0 ** to.options["digits"],
    ),
    # the root of a negative number would be NaN, and NaN is above all numbers
    arithmetic.SQRT: _SQL.entry(
        "sqrt(CASE WHEN 0::DOUBLE <= a_::DOUBLE THEN a_::DOUBLE END)"
    ),
    arithmetic.FLOOR: _SQL.entry("a", "floor(held(a))", **_ENDS),
    arithmetic.CEIL: _SQL.entry("a", "ceil(held(a))", **_ENDS),
    bins.STEPS: _steps,
    bins.PORTION: _portion,
    casts.CAST: _cast,
    text.LOWER: _lower,
    text.UPPER: _upper,
    letters.LOWERCASE: _case_entry("lower", _lower),
    letters.UPPERCASE: _case_entry("upper", _upper),
    text.LENGTH: _SQL.entry("char_length(a_)::BIGINT"),
    text.SLICE: _slice,
    text.CONTAINS: _function_entry("contains"),
    text.FIND: _SQL.entry("instr(a_, b_)::BIGINT - 1::BIGINT"),
    patterns.LIKE: _match_pattern,
    pieces_of_text.SPLIT: _split_text,
    casts.STRFTIME: _format,
    text.STARTS_WITH: _function_entry("startswith"),
    text.ENDS_WITH: _function_entry("endswith"),
    text.CONCAT: _concat,
    text.STRIP: _strip,
    text.STRIP_START: _trimmed_by("ltrim"),
    text.STRIP_END: _trimmed_by("rtrim"),
    text.SUBSTRING: _SQL.entry(substring_entry("substring", "INT")),
    text.PIECE: piece_of_text,
    text.REPLACE: _replace,
    dates.UTC_OFFSET: offset_entry(_changes_until, _entry_at),
    dates.YEAR: _part("year"),
    dates.MONTH: _part("month"),
    dates.DAY: _part("day"),
    dates.WEEKDAY: _part("weekday"),
    dates.HOUR: _part("hour"),
    dates.MINUTE: _part("minute"),
    dates.SECOND: _part("second"),
    dates.TRUNCATE: _truncate,
    dates.DAYS_BETWEEN: _days_between,
    dates.SECONDS_BETWEEN: _seconds_between,
    dates.ADD_DAYS: _SQL.entry(_add_days, None, **_YEARS),
    dates.ADD_MONTHS: _SQL.entry(_add_months, None, **_YEARS),
    dates.ADD_SECONDS: _SQL.entry(_ADD_SECONDS, None, **_YEARS),
}
