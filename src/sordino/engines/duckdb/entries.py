"""Every operation as DuckDB's SQL.

Integers are added and multiplied as HUGEINT, where no two of them can overflow, and
come back by TRY_CAST; `+ 0.0` turns -0.0 into 0.0. Doubles are ordered as ours: NaN
equals itself and is greater than all.

DuckDB's own casts of texts are wider than our rules: a text is held to a pattern before
one is tried. Of a time its cast would drop the distance from UTC and cut the fraction.
Its dates reach far beyond the years 1 to 9999: nothing overflows before it is held to
them. Nothing here can raise.

Kernel: totals.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta
from functools import cmp_to_key
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
    trimmed_by,
    whole_steps,
    zone_ticks,
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
from sordino.expressions.arithmetic import LARGEST_STEP, least_multiple
from sordino.expressions.casts import GRAMMARS, ISO_DATE, ISO_TIME, Layout, Spelling
from sordino.expressions.logic import order
from sordino.expressions.text import BLANKS, RUNS
from sordino.expressions.tree import Operation

_LAST_BIT: Final = 63
_LONGEST_SHIFT: Final = 41
_WHOLE_BITS: Final = 51
"""Sums and differences of so many steps, and of the ends of a lattice, are exact."""
_MOST: Final = "sordino most"


_SQL: Final = templates.Templates(
    "duckdb",
    {
        "huge(x)": "x::HUGEINT",  # no sum or product of two i64 leaves 128 bits
        "narrow(x)": "TRY_CAST(x AS BIGINT)",  # CAST would raise where it does not fit
        "unsigned(x)": "x + 0::DOUBLE",  # -0.0 becomes 0.0: they would be two groups
        "some(x)": "nullif(x, 0)",  # what is divided by NULL is NULL
        "rest(x, y)": "x % some(y)",  # with the sign of x
        "astray(x, y, z)": "(rest(x, y) <> 0) AND ((rest(x, y) < 0) <> (z < 0))",
        "modulo(x, y)": "((huge(x) % some(huge(y))) + some(huge(y))) % some(huge(y))",
    },
)


def _by_small(to: Written) -> bool:
    divisor = to.known[1].constant
    return not to.real and divisor is not None and 0 < divisor <= LARGEST_STEP


def _floor_divide(to: Written) -> str:
    if _by_small(to):  # a positive divisor: no quotient overflows, and none is by 0
        return """(a // b)
            - CASE WHEN a % b < 0::BIGINT THEN 1::BIGINT ELSE 0::BIGINT END"""
    return "narrow((huge(a) - modulo(a, b)) // some(huge(b)))"


def _modulo(to: Written) -> str:
    return "((a % b) + b) % b" if _by_small(to) else "narrow(modulo(a, b))"


def _clip(to: Written) -> str:
    """Return a number within bounds; NaN is greater than all, and stays."""
    nan = "WHEN isnan(a) THEN a" if to.types[0] == "f64" else ""
    return f"CASE WHEN a < b THEN b {nan} WHEN c < a THEN c ELSE a END"


def _round_down(to: Written) -> str:
    if isinstance(to.options["step"], float) or to.real:
        return "unsigned(floor(a_::DOUBLE / :step) * :step)"
    below = "narrow(huge(a) - huge(((a % :step) + :step) % :step))"
    return f"CASE WHEN a < :least THEN :least ELSE {below} END"


def _steps(to: Written) -> Sql:
    """Return the steps of a lattice: the bounds make the cast safe."""
    if to.real:
        return _real_steps(to)
    return whole_steps(to, to[0], _steps_between(to), _wide_difference)


def _near_steps(to: Written) -> str:
    """Return the steps of a double between the ends of a lattice, and beyond them.

    With z the steps above the low end, |z| - |z - width| is twice what z is within its
    bounds, less the width. That is exact up to 2**52 steps, and takes a third of the
    time that comparisons do (docs/proofs/queries.md, lemma 12).
    """
    z = "floor((a * :scale) + 0.5::DOUBLE)"
    if to.options["low"]:
        z = f"({z} - :low)"
    return f"""CASE WHEN abs(a) <= :far
        THEN ((abs({z}) - abs({z} - :width)) * 0.5::DOUBLE) + :middle
        ELSE CASE sign(a) WHEN -1 THEN :first WHEN 1 THEN :last END END"""


def _low(to: Written) -> int:
    return int(to.options["low"]) - int(to.options.get("origin", 0))


def _high(to: Written) -> int:
    return int(to.options["high"]) - int(to.options.get("origin", 0))


_DOUBLE_STEPS: Final = _SQL.entry(
    _near_steps,  # sign(NaN) is 0: it has no steps
    scale=lambda to: math.ldexp(1, -to.options["exponent"]),
    low=lambda to: float(to.options["low"]),
    width=lambda to: float(to.options["high"] - to.options["low"]),
    middle=lambda to: (
        (to.options["low"] + to.options["high"]) / 2 - to.options.get("origin", 0)
    ),
    far=lambda to: math.ldexp(1, to.options["exponent"] + _WHOLE_BITS),
    first=lambda to: float(_low(to)),
    last=lambda to: float(_high(to)),
)


def _real_steps(to: Written) -> Sql:
    return whole_double(_DOUBLE_STEPS(to), most=max(abs(_low(to)), abs(_high(to))))


def whole_double(double: Sql, most: int) -> Sql:
    """Return a double that is an integer of at most this size as an i64."""
    value = templates.as_type(double, "BIGINT")
    value.meta[_MOST] = most
    return value


def size_of_double(value: Sql) -> int | None:
    """Return the greatest size of an i64 that was made of a double; None of others."""
    return value.meta.get(_MOST)


def _wide_difference(number: Sql, other: Sql) -> Sql:
    """Return number - other by way of 128 bits."""
    wide = (templates.as_type(each, "HUGEINT") for each in (number, other))
    return templates.as_type_or_null(templates.minus(*wide), "BIGINT")


def _shift(to: Written) -> str:
    """Return the nearest number of steps: x >> e, plus the bit that is shifted out."""
    exponent = to.options["exponent"]
    if exponent <= 0:  # between the thresholds x * 2**-e has at most 41 bits
        return "a * :size" if to.reads else "narrow(huge(a) * huge(:size))"
    if exponent > _LAST_BIT:  # every i64 is less than half a step away from 0
        return "a * 0::BIGINT"
    return "(a >> :places) + ((a >> :fewer) & 1::BIGINT)"


_steps_between: Final = _SQL.entry(
    _shift,
    size=lambda to: templates.bigint(1 << min(-to.options["exponent"], _LONGEST_SHIFT)),
    places=lambda to: templates.whole(to.options["exponent"]),
    fewer=lambda to: templates.whole(to.options["exponent"] - 1),
)


def _share(to: Written) -> str:
    place = to.options["place"]
    # the steps above the low end, for portion 0 below the high one
    height = ":steps" if place else "(:size - :steps)"
    share = f"(({height} * {height}) * :fine) // :size"
    return f"2::BIGINT * (({height} * :fine) - ({share}))" if place == 1 else share


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

    A list of them stands for their names: the function of a list is called with its
    entry.
    """
    names = [f"v{place}" for place in range(len(values))]
    fields = [
        exp.PropertyEQ(this=exp.to_identifier(name), expression=value)
        for name, value in zip(names, values, strict=True)
    ]
    entry = exp.to_identifier("v")
    body = make(
        *(
            templates.function("struct_extract", entry.copy(), templates.letters(n))
            for n in names
        )
    )
    listed = exp.Array(expressions=[templates.function("struct_pack", *fields)])
    each = exp.Lambda(this=body, expressions=[entry])
    return templates.function(
        "list_extract",
        templates.function("list_transform", listed, each),
        templates.whole(1),
    )


_SETTLED: Final = "[{}]*".format(
    "".join(f"\\x{{{first:X}}}-\\x{{{last:X}}}" for first, last in RUNS)
)


def _function_entry(name: str) -> Entry:
    def entry(to: Written) -> Sql:
        return templates.function(name, *to.each())

    return entry


def _translate(old: str, new: str) -> Entry:
    def entry(to: Written) -> Sql:
        return templates.function(
            "translate", to[0], templates.letters(old), templates.letters(new)
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
    ends = [
        templates.whole(start + 1),
        *([] if length is None else [templates.whole(length)]),
    ]
    return templates.function("substring", to[0], *ends)


def _text_size(text: Sql) -> Sql:
    return templates.function("strlen", text)


def _fits(size: Sql) -> Sql:
    return templates.is_at_most(size, templates.bigint(text.LONGEST))


def _concat(to: Written) -> Sql:
    size, joined = _text_size(to[0]), to[0]
    for other in to.each()[1:]:
        size = templates.plus(size, _text_size(other))
        joined = templates.infix(exp.DPipe, joined, other.copy())
    return templates.case([(_fits(size), joined)])


def _strip(to: Written) -> Sql:
    wanted = to.options.get("letters")
    letters = (
        templates.letters(text.BLANKS) if wanted is None else to.bind(wanted, "text")
    )
    return templates.function("trim", to[0], letters)


_replace: Final = _SQL.entry(
    f"""CASE WHEN strlen(c_) <= strlen(b_) OR strlen(a_) + (
            ((strlen(a_) - strlen(replace(a_, b_, ''))) // strlen(b_))
            * (strlen(c_) - strlen(b_))) <= {text.LONGEST}::BIGINT
        THEN replace(a_, b_, c_) END"""
)


def _normalize(to: Written) -> Sql:
    settled = templates.function(
        "regexp_full_match", to[0], templates.letters(_SETTLED)
    )
    return templates.case(
        [(settled, templates.function("nfc_normalize", to[0]))], to[0]
    )


def _change_case(name: str, plain: Entry) -> Entry:
    """Return the entry of a change of case: of A to Z, unless all is settled."""

    def entry(to: Written) -> Sql:
        settled = templates.function(
            "regexp_full_match", to[0], templates.letters(_SETTLED)
        )
        return templates.case([(settled, templates.function(name, to[0]))], plain(to))

    return entry


def _matches(to: Written) -> Sql:
    pattern = to.bind(regular.re2_pattern(to.options["pattern"]), "text")
    return templates.function("regexp_full_match", to[0], pattern)


def _extract(to: Written) -> Sql:
    pattern = to.bind(regular.part_pattern(to.options["pattern"]).re2, "text")
    group = templates.whole(to.options["group"])
    return templates.function("regexp_extract", to[0], pattern, group)


def _replace_matches(to: Written) -> Sql:
    pattern = to.bind(regular.part_pattern(to.options["pattern"]).re2, "text")
    new = to.bind(to.options["new"].replace("\\", "\\\\"), "text")
    return templates.function(
        "regexp_replace", to[0], pattern, new, templates.letters("g")
    )


def _split_part(to: Written) -> Sql:
    return templates.function(
        "string_split", to[0], to.bind(to.options["separator"], "text")
    )


def _format(to: Written) -> Sql:
    return templates.function("strftime", to[0], to.bind(to.options["layout"], "text"))


def _find(to: Written) -> Sql:
    return templates.minus(
        templates.function("instr", to[0], to[1]), templates.bigint(1)
    )


def _is_like(to: Written) -> Sql:
    pattern = to.bind(to.options["pattern"], "text")
    return templates.function(
        "like_escape", to[0], pattern, templates.letters(patterns.ESCAPE)
    )


def _read(kind: str, name: str) -> Entry:
    blanks = "[ \\t\\n\\r\\v\\f]*"
    pattern = f"{blanks}(?:{casts.GRAMMARS[name]}){blanks}"

    def entry(to: Written) -> Sql:
        fits = templates.function(
            "regexp_full_match", to[0], templates.letters(pattern)
        )
        return templates.case([(fits, templates.as_type_or_null(_strip(to), kind))])

    return entry


def _read_real(to: Written) -> Sql:
    """Return the nearest double, -0.0 as 0.0."""
    return templates.plus(_read("DOUBLE", "f64")(to), templates.double(0))


def _read_truth(to: Written) -> Sql:
    small = templates.function(
        "translate",
        _strip(to),
        templates.letters(ascii_uppercase),
        templates.letters(ascii_lowercase),
    )
    return exp.Case(
        this=small,
        ifs=[
            exp.If(this=templates.letters("true"), true=exp.true()),
            exp.If(this=templates.letters("false"), true=exp.false()),
        ],
    )


_CASTS: Final[Mapping[tuple[str, str], Entry]] = {
    ("i64", "f64"): _SQL.entry("a_::DOUBLE"),
    ("i64", "text"): _SQL.entry("a_::VARCHAR"),
    ("i64", "bool"): _SQL.entry("a_::BOOLEAN"),
    ("f64", "i64"): _SQL.entry("TRY_CAST(trunc(a_) AS BIGINT)"),
    ("bool", "i64"): _SQL.entry("a_::BIGINT"),
    ("bool", "f64"): _SQL.entry("a_::DOUBLE"),
    ("bool", "text"): _SQL.entry("a_::VARCHAR"),
    ("text", "i64"): _read("BIGINT", "i64"),
    ("text", "f64"): _read_real,
    ("text", "bool"): _read_truth,
    ("text", "date"): _read("DATE", "date"),
    ("text", "time"): _read("TIMESTAMP", "time"),
    ("date", "time"): _SQL.entry("a_::TIMESTAMP"),
    ("date", "text"): _SQL.entry("a_::VARCHAR"),
    ("time", "date"): _SQL.entry("a_::DATE"),
    ("time", "text"): _SQL.entry("strftime(a_, '%Y-%m-%dT%H:%M:%S.%f')"),
}


def _cast(to: Written) -> Sql:
    known, wanted = to.types[0], to.options["to"]
    return to[0] if known == wanted else _CASTS[known, wanted](to)


_LOWER: Final = _translate(ascii_uppercase, ascii_lowercase)
_UPPER: Final = _translate(ascii_lowercase, ascii_uppercase)


_EPOCH: Final = datetime(1970, 1, 1)  # noqa: DTZ001 UTC without a zone, as all times
_FIRST, _LAST = (
    (end - _EPOCH) // timedelta(microseconds=1)
    for end in (datetime.min, datetime.max)  # noqa: DTZ901 UTC without a zone
)
_SECOND: Final = 10**6
_BLANK: Final = "[ \\t\\n\\r\\v\\f]*"


def _cell_matches(cell: Sql, pattern: str) -> Sql:
    """Return whether a cell is all of a pattern, but for blanks around it."""
    whole = f"{_BLANK}(?:{pattern}){_BLANK}"
    return templates.function("regexp_full_match", cell, templates.letters(whole))


def _bare(cell: Sql) -> Sql:
    return templates.function("trim", cell, templates.letters(BLANKS))


def _cell_integer(to: Written, spelling: Spelling) -> Sql:
    point = templates.letters(spelling.decimal)
    number = templates.remove(_bare(to[0]), spelling.left_out)
    digits = templates.function("split_part", number, point, templates.whole(1))
    fits = _cell_matches(to[0], spelling.whole)
    return templates.case([(fits, templates.as_type_or_null(digits, "BIGINT"))])


def _double(to: Written, spelling: Spelling) -> Sql:
    """Return the nearest double, -0.0 as 0.0."""
    bare = templates.remove(_bare(to[0]), spelling.left_out)
    if spelling.decimal != ".":
        bare = templates.function(
            "replace", bare, templates.letters(spelling.decimal), templates.letters(".")
        )
    fits = _cell_matches(to[0], spelling.real)
    return templates.plus(
        templates.case([(fits, templates.as_type_or_null(bare, "DOUBLE"))]),
        templates.double(0),
    )


def _truth(to: Written, spelling: Spelling) -> Sql:
    small = templates.function(
        "translate",
        _bare(to[0]),
        templates.letters(ascii_uppercase),
        templates.letters(ascii_lowercase),
    )
    words = [(word, exp.true()) for word in spelling.true]
    words += [(word, exp.false()) for word in spelling.false]
    return exp.Case(
        this=small,
        ifs=[exp.If(this=templates.letters(word), true=truth) for word, truth in words],
    )


def _day(to: Written, spelling: Spelling) -> Sql:
    if spelling.date == ISO_DATE:
        fits = _cell_matches(to[0], GRAMMARS["date"])
        return templates.case([(fits, templates.as_type_or_null(_bare(to[0]), "DATE"))])
    return _match(
        to[0],
        spelling.date,
        lambda parts: templates.as_type_or_null(_date(parts), "DATE"),
    )


def _moment(to: Written, spelling: Spelling) -> Sql:
    """Return a time in UTC; one without fraction and zone needs no arithmetic."""
    moment = _match(to[0], spelling.time, lambda parts: _ticks(parts, spelling.time))
    in_range = _cell_let("held", moment, _keep_in_range)
    if spelling.time != ISO_TIME:
        return in_range
    plain = _cell_matches(to[0], GRAMMARS["time"])
    return templates.case(
        [(plain, templates.as_type_or_null(_bare(to[0]), "TIMESTAMP"))], in_range
    )


def _keep_in_range(ticks: Sql) -> Sql:
    """Return microseconds after 1970 as a time of the years 1 to 9999."""
    ends = exp.Between(
        this=ticks.copy(), low=templates.bigint(_FIRST), high=templates.bigint(_LAST)
    )
    return templates.case([(ends, templates.function("make_timestamp", ticks.copy()))])


def _match(cell: Sql, layout: Layout, make: Callable[[Sql], Sql]) -> Sql:
    names = exp.Array(expressions=[templates.letters(part) for part in layout.parts])
    whole = templates.letters(f"^{_BLANK}(?:{layout.pattern}){_BLANK}$")
    parts = templates.function("regexp_extract", cell.copy(), whole, names)
    fits = _cell_matches(cell, layout.pattern)
    return templates.case([(fits, _cell_let("parts", parts, make))])


def _cell_let(name: str, value: Sql, make: Callable[[Sql], Sql]) -> Sql:
    """Bind a value to a name for an expression, so that it is computed once.

    A list of it stands for a name: the function of a list is called with its entry.
    """
    bound = exp.to_identifier(name)
    each = exp.Lambda(this=make(bound.copy()), expressions=[bound])
    listed = templates.function("list_transform", exp.Array(expressions=[value]), each)
    return templates.function("list_extract", listed, templates.whole(1))


def _part(parts: Sql, name: str) -> Sql:
    return templates.function("struct_extract", parts.copy(), templates.letters(name))


def _date(parts: Sql) -> Sql:
    dash = templates.letters("-")
    year, month, day = (_part(parts, name) for name in ("year", "month", "day"))
    return templates.function("concat", year, dash, month, dash.copy(), day)


def _ticks(parts: Sql, layout: Layout) -> Sql:
    """Return microseconds after 1970 in UTC, none for a day that no calendar has."""
    midnight = templates.as_type_or_null(_date(parts), "TIMESTAMP")
    ticks = templates.function("epoch_us", midnight)
    for name, seconds in (("hour", 3600), ("minute", 60), ("second", 1)):
        if name in layout.parts:
            size = templates.bigint(seconds * _SECOND)
            ticks = templates.plus(
                ticks, templates.multiplied_by(digits_number(_part(parts, name)), size)
            )
    if "offset" in layout.parts:
        ticks = templates.minus(
            ticks, zone_ticks(_part(parts, "offset"), "starts_with")
        )
    if "fraction" not in layout.parts:
        return ticks
    digits = templates.function(
        "rpad", _part(parts, "fraction"), templates.whole(9), templates.letters("0")
    )
    return _cell_let(
        "moment",
        templates.function("row", ticks, digits_number(digits)),
        lambda both: round_to_microseconds(_place(both, 1), _place(both, 2)),
    )


def _place(pair: Sql, place: int) -> Sql:
    return templates.function("struct_extract", pair.copy(), templates.whole(place))


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


_DAY: Final = 86_400 * _SECOND
_SHIFT: Final = 4 * 10**17  # microseconds, whole seconds, more than 9999 years
_TIMES: Final = (datetime.min, datetime.max)  # noqa: DTZ901 UTC without a zone
_DAYS: Final = _DAY * 4 * 10**6  # whole days, more than 9999 years


def _date_truncate(to: Written) -> str:
    kind = "DATE" if to.types[0] == "date" else "TIMESTAMP"
    return f"date_trunc('{to.options['unit']}', a_)::{kind}"


def _elapsed(size: int, shift: int) -> str:
    # rounded down, shifted to where nothing is negative
    ticks = f"(epoch_us(b_) - epoch_us(a_)) + {shift}::BIGINT"
    return f"(({ticks}) // {size}::BIGINT) - {shift // size}::BIGINT"


def _near_shift(most: int, moved: str) -> str:
    return f"CASE WHEN b_ BETWEEN ({-most})::BIGINT AND {most}::BIGINT THEN {moved} END"


def _in_calendar(later: str) -> str:
    return f"CASE WHEN ({later}) BETWEEN :first AND :last THEN {later} END"


def _add_days(to: Written) -> str:
    days = _near_shift(dates.WHOLE, "TRY_CAST(b_ AS INTEGER)")
    return _in_calendar(f"a_ + {days if to.types[0] == 'date' else f'to_days({days})'}")


def _add_months(to: Written) -> str:
    months = _near_shift(dates.WHOLE_MONTHS, "TRY_CAST(b_ AS INTEGER)")
    kind = "DATE" if to.types[0] == "date" else "TIMESTAMP"
    return _in_calendar(f"(a_ + to_months({months}))::{kind}")


_ADD_SECONDS: Final = _in_calendar(
    f"""a_ + to_microseconds(
        ({_near_shift(dates.WHOLE_SECONDS, "b_")}) * {_SECOND}::BIGINT)"""
)
_ENDS: Final[Mapping[str, templates.Bound]] = {
    "first": lambda to: date.min if to.types[0] == "date" else _TIMES[0],
    "last": lambda to: date.max if to.types[0] == "date" else _TIMES[1],
}


def _changes_until(time: Sql, seconds: Sequence[int]) -> Sql:
    edge = exp.to_identifier("edge")
    ticks = exp.Array(expressions=numbers_of([n * _SECOND for n in seconds]))
    passed = templates.is_at_most(edge.copy(), templates.function("epoch_us", time))
    each = exp.Lambda(this=passed, expressions=[edge])
    return templates.function("len", templates.function("list_filter", ticks, each))


def _entry_at(values: Sequence[int], place: Sql) -> Sql:
    return templates.function(
        "list_extract", exp.Array(expressions=numbers_of(values)), place
    )


_FEW: Final = 4
"""Of fewer values each is compared by itself."""
_MANY: Final = 64
"""Of more values half are compared."""


def _is_in(to: Written) -> Sql:
    """Return whether a value is one of some, found by halves and then in a list.

    x IN (...) compares with one after the other, a list with all of them at once.
    """
    constants = [argument.constant for argument in to.known[1:]]
    if len(constants) < _FEW or None in constants:
        return entries.ENTRIES[choices.IS_IN](to)
    ranks = [float(value) if to.real else value for value in constants]
    ranked = sorted(
        range(1, len(to)), key=lambda place: cmp_to_key(order)(ranks[place - 1])
    )
    return _is_among(to, ranked)


def _is_among(to: Written, ranked: Sequence[int]) -> Sql:
    if len(ranked) <= _MANY:
        listed = exp.Array(expressions=[to.joint(place) for place in ranked])
        return templates.function("list_contains", listed, to.joint(0))
    middle = len(ranked) // 2
    below = templates.is_less(to.joint(0), to.joint(ranked[middle]))
    return templates.case(
        [(below, _is_among(to, ranked[:middle]))], _is_among(to, ranked[middle:])
    )


ENTRIES: Final[Mapping[Operation, Entry]] = {
    casts.READ: _cell_read,
    casts.STRPTIME: _parse,
    **entries.ENTRIES,
    choices.IS_IN: _is_in,
    logic.IS_NAN: _function_entry("isnan"),
    logic.IS_INFINITE: _function_entry("isinf"),
    logic.FILL_NAN: _SQL.entry("CASE WHEN isnan(a_) THEN b_ ELSE a_ END"),
    logic.REPLACE_INFINITY: _SQL.entry(
        """CASE WHEN isinf(a_) THEN CASE WHEN a_ < 0::DOUBLE THEN b_ ELSE c_ END
            ELSE a_ END"""
    ),
    choices.GREATEST: _function_entry("greatest"),
    choices.LEAST: _function_entry("least"),
    **exponential_entries(_let),
    arithmetic.ADD: _SQL.entry("narrow(huge(a) + huge(b))", "unsigned(a + b)"),
    arithmetic.SUBTRACT: _SQL.entry("narrow(huge(a) - huge(b))", "unsigned(a - b)"),
    arithmetic.MULTIPLY: _SQL.entry("narrow(huge(a) * huge(b))", "unsigned(a * b)"),
    arithmetic.DIVIDE: _SQL.entry("unsigned(a_::DOUBLE / some(b_::DOUBLE))"),
    arithmetic.FLOOR_DIVIDE: _SQL.entry(
        _floor_divide,
        """unsigned(round(((a - rest(a, b)) / some(b))
           - CASE WHEN astray(a, b, b_) THEN 1::DOUBLE ELSE 0::DOUBLE END))""",
    ),
    arithmetic.MODULO: _SQL.entry(
        _modulo,
        "unsigned(rest(a, b) + CASE WHEN astray(a, b, b_) THEN b ELSE 0::DOUBLE END)",
    ),
    arithmetic.QUOTIENT: _SQL.entry("narrow(huge(a) // some(huge(b)))"),
    arithmetic.REMAINDER: _SQL.entry("narrow(huge(a) % some(huge(b)))"),
    arithmetic.NEGATE: _SQL.entry("narrow(huge(0) - huge(a))", "0::DOUBLE - a"),
    arithmetic.CLIP: _SQL.entry(_clip),
    arithmetic.ABS: _SQL.entry("narrow(abs(huge(a)))", "abs(a)"),
    arithmetic.ROUND_DOWN: _SQL.entry(
        _round_down,
        step=templates.step_of,
        least=lambda to: least_multiple(to.options["step"]),
    ),
    arithmetic.ROUND: _SQL.entry(
        "a",
        """CASE WHEN isinf(a * :size) OR isnan(a) THEN a
           ELSE unsigned(round(a * :size) / :size) END""",
        size=lambda to: 10.0 ** to.options["digits"],
    ),
    # the root of a negative number raises, and NaN is above all numbers
    arithmetic.SQRT: _SQL.entry(
        "sqrt(CASE WHEN 0::DOUBLE <= a_::DOUBLE THEN a_::DOUBLE END)"
    ),
    arithmetic.FLOOR: _SQL.entry("a", "narrow(floor(a))"),
    arithmetic.CEIL: _SQL.entry("a", "narrow(ceil(a))"),
    bins.STEPS: _steps,
    bins.PORTION: _portion,
    casts.CAST: _cast,
    text.LOWER: _LOWER,
    text.UPPER: _UPPER,
    letters.LOWERCASE: _change_case("lower", _LOWER),
    letters.UPPERCASE: _change_case("upper", _UPPER),
    text.LENGTH: _function_entry("length"),
    text.SLICE: _slice,
    text.CONTAINS: _function_entry("contains"),
    text.FIND: _find,
    patterns.LIKE: _is_like,
    regular.MATCHES: _matches,
    regular.EXTRACT: _extract,
    regular.REPLACE_MATCHES: _replace_matches,
    pieces_of_text.SPLIT: _split_part,
    casts.STRFTIME: _format,
    text.STARTS_WITH: _function_entry("starts_with"),
    text.ENDS_WITH: _function_entry("suffix"),
    text.CONCAT: _concat,
    text.STRIP: _strip,
    text.STRIP_START: trimmed_by("ltrim"),
    text.STRIP_END: trimmed_by("rtrim"),
    text.SUBSTRING: _SQL.entry(substring_entry("substring", "BIGINT")),
    text.PIECE: piece_of_text,
    text.REPLACE: _replace,
    text.NORMALIZE: _normalize,
    dates.UTC_OFFSET: offset_entry(_changes_until, _entry_at),
    dates.YEAR: _SQL.entry("year(a_)"),
    dates.MONTH: _SQL.entry("month(a_)"),
    dates.DAY: _SQL.entry("day(a_)"),
    dates.WEEKDAY: _SQL.entry("isodow(a_) - 1::BIGINT"),
    dates.HOUR: _SQL.entry("hour(a_)"),
    dates.MINUTE: _SQL.entry("minute(a_)"),
    dates.SECOND: _SQL.entry("second(a_)"),
    dates.TRUNCATE: _SQL.entry(_date_truncate),
    dates.DAYS_BETWEEN: _SQL.entry(
        lambda to: "b_ - a_" if to.types[0] == "date" else _elapsed(_DAY, _DAYS)
    ),
    dates.SECONDS_BETWEEN: _SQL.entry(_elapsed(_SECOND, _SHIFT)),
    dates.ADD_DAYS: _SQL.entry(_add_days, None, **_ENDS),
    dates.ADD_MONTHS: _SQL.entry(_add_months, None, **_ENDS),
    dates.ADD_SECONDS: _SQL.entry(_ADD_SECONDS, None, **_ENDS),
}
