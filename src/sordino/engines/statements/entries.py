"""Operations that every database writes alike.

A dialect may take these entries where its database compares as we do: NaN equals
itself and is greater than all, 0.0 is -0.0, and texts go code point by code point.

Exponentials and logarithms are the same steps of doubles everywhere. What raises or
leaves the range somewhere is never computed: `power(2, k)` is exact, and `ln` only
guesses an exponent (ADR 177).

Kernel: totals.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from typing import Final, TypeAlias

from sqlglot import exp

from sordino.engines.statements import templates
from sordino.engines.statements.templates import Entry, Sql, Written
from sordino.expressions import bins, choices, dates, exponentials, logic
from sordino.expressions.bins import thresholds
from sordino.expressions.literals import LEAST, MOST
from sordino.expressions.tree import Operation
from sordino.numbers.double_grid import bin_of_double


def _comparison(kind: type[exp.Expression]) -> Entry:
    def entry(to: Written) -> Sql:
        return templates.infix(kind, to.joint(0), to.joint(1))

    return entry


def _connection(kind: type[exp.Expression]) -> Entry:
    def entry(to: Written) -> Sql:
        return templates.infix(kind, to[0], to[1])

    return entry


def _not(to: Written) -> Sql:
    return templates.negation(to[0])


def _is_null(to: Written) -> Sql:
    return templates.is_missing(to[0])


def _coalesce(to: Written) -> Sql:
    return templates.function("coalesce", *to.each())


def _when(to: Written) -> Sql:
    conditions, values = choices.split_branches(to.each(), to.options["given"])
    pairs = zip(conditions, (value or exp.null() for value in values), strict=False)
    return templates.case(list(pairs), values[-1])


def _is_in(to: Written) -> Sql:
    """Return x IN (...); in nothing at all, whatever is there is not."""
    if len(to) == 1:
        return templates.case([
            (templates.negation(templates.is_missing(to[0])), exp.false())
        ])
    values = [to.joint(index) for index in range(1, len(to))]
    return exp.In(this=to.joint(0), expressions=values)


def _bin(to: Written) -> Sql:
    """Return a label; what is missing or NaN is below no edge, and so in no range."""
    return _is_within(to, 0, len(to.options["bins"].edges))


def _is_within(to: Written, first: int, last: int) -> Sql:
    known = to.options["bins"]
    count = len(known.edges)
    if first == last:  # the arguments are (value, edge, ..., edge, label, ..., label)
        outside = first in (0, count)
        return to.bind(None, "text") if outside else to[count + first]
    middle = (first + last + 1) // 2
    below = templates.is_less if known.opens(middle - 1) else templates.is_at_most
    lower = _is_within(to, first, middle - 1)
    upper = _is_within(to, middle, last)
    return templates.case([(below(to.joint(0), to.joint(middle)), lower)], upper)


ENTRIES: Final[Mapping[Operation, Entry]] = {
    logic.EQUAL: _comparison(exp.EQ),
    logic.UNEQUAL: _comparison(exp.NEQ),
    logic.LESS: _comparison(exp.LT),
    logic.AT_MOST: _comparison(exp.LTE),
    logic.GREATER: _comparison(exp.GT),
    logic.AT_LEAST: _comparison(exp.GTE),
    logic.AND: _connection(exp.And),
    logic.OR: _connection(exp.Or),
    logic.NOT: _not,
    logic.IS_NULL: _is_null,
    logic.FILL_NULL: _coalesce,
    logic.COALESCE: _coalesce,
    choices.WHEN: _when,
    choices.IS_IN: _is_in,
    bins.BIN: _bin,
}


Let: TypeAlias = Callable[[Sequence[Sql], Callable[..., Sql]], Sql]
"""(values, what is made of them and of nothing else) -> the same, each computed once"""
_HIGHEST: Final = 1023.0
"""The exponent of the greatest power of two."""


def exponential_entries(let: Let) -> Mapping[Operation, Entry]:
    """Return the entries of a database that can give values names."""
    return {
        exponentials.EXP: lambda to: let((_real(to),), lambda x: _exp(to, x, let)),
        exponentials.LOG: lambda to: let((_real(to),), lambda x: _log(to, x, let)),
        bins.DOUBLE_BIN: lambda to: let(
            (_clamp_double(to),), lambda x: _double_bin(to, x, let)
        ),
    }


def _real(to: Written) -> Sql:
    return templates.as_type(to[0], "DOUBLE")


def _double(to: Written, number: float) -> Sql:
    return to.bind(number, "f64")


def _clamp_double(to: Written) -> Sql:
    """Return a double moved to the bounds; NaN, which is above all, has none."""
    low, high = (_double(to, to.options[end]) for end in ("low", "high"))
    infinity = _double(to, math.inf)
    return templates.case([
        (templates.is_less(to[0], low), low.copy()),
        (templates.is_at_most(to[0], high), to[0]),
        (templates.is_at_most(to[0], infinity), high.copy()),
    ])


def _double_bin(to: Written, x: Sql, let: Let) -> Sql:
    """Return the bin of a double within the bounds, from that of the lower one on."""
    digits, least = to.options["digits"], to.options["least"]
    first = bin_of_double(to.options["low"], digits, least)
    size = templates.function("abs", x.copy())
    tiny, small = (_double(to, 2.0**k) for k in (least - digits - 1, least))

    def at_least(end: Sql) -> Sql:
        below = templates.is_less(size.copy(), end)
        return templates.case([(below, end.copy())], size.copy())

    def place(size: Sql, power: Sql) -> Sql:
        shifted = templates.infix(exp.Div, size.copy(), _two_to(power))
        scaled = templates.multiplied_by(shifted, _double(to, 2.0**digits))
        beyond = templates.minus(power.copy(), _double(to, float(least)))
        return templates.plus(
            templates.as_type(_floor(scaled), "BIGINT"),
            templates.multiplied_by(
                templates.as_type(beyond, "BIGINT"), templates.bigint(1 << digits)
            ),
        )

    # what is too small for a bin of its own is moved up: it must not vanish
    return let(
        (x.copy(), at_least(tiny), at_least(small)),
        lambda x, size, large: let(
            (x.copy(), size.copy(), large.copy(), _guess(to, large)),
            lambda x, size, large, guess: let(
                (x.copy(), size.copy(), _exponent(large, guess)),
                lambda x, size, power: let(
                    (x.copy(), place(size, power)),
                    lambda x, place: _count_from_first(to, x, place, first),
                ),
            ),
        ),
    )


def _exponent(number: Sql, guess: Sql) -> Sql:
    """Return the exponent of the power of two below a number, from a near one."""
    mantissa = templates.infix(exp.Div, number.copy(), _two_to(guess))
    below = templates.is_less(mantissa, templates.double(1))
    beyond = templates.is_at_most(templates.double(2), mantissa.copy())
    return templates.case(
        [
            (below, templates.minus(guess.copy(), templates.double(1))),
            (beyond, templates.plus(guess.copy(), templates.double(1))),
        ],
        guess.copy(),
    )


def _count_from_first(to: Written, x: Sql, place: Sql, first: int) -> Sql:
    negative = templates.is_less(x.copy(), templates.double(0))
    mirrored = templates.minus(to.bind(-first, "i64"), place.copy())
    inside = templates.negation(templates.is_missing(x.copy()))
    return templates.case([
        (negative, mirrored),
        (inside, templates.minus(place.copy(), to.bind(first, "i64"))),
    ])


def _exp(to: Written, x: Sql, let: Let) -> Sql:
    """Return e**x; NaN is above all numbers."""
    low, high = (_double(to, end) for end in exponentials.EXP_ENDS)
    tiny = templates.is_less(
        templates.function("abs", x.copy()), _double(to, exponentials.LEAST_TO_TELL)
    )
    inside = exp.Between(this=x.copy(), low=low.copy(), high=high.copy())
    safe = templates.case(
        [(tiny, templates.double(0)), (inside, x.copy())], templates.double(0)
    )
    infinity = _double(to, math.inf)
    return templates.case(
        [
            (templates.is_less(x.copy(), low), templates.double(0)),
            (templates.is_at_most(x.copy(), high), _held_exp(to, safe, let)),
            (templates.is_less(x.copy(), infinity), infinity.copy()),
        ],
        x.copy(),
    )


def _held_exp(to: Written, safe: Sql, let: Let) -> Sql:
    """Return e**x of an x for which it is a double above 0."""

    def doublings(x: Sql) -> Sql:
        return _floor(
            templates.plus(
                templates.multiplied_by(x.copy(), _double(to, exponentials.LOG2_E)),
                templates.half(),
            )
        )

    def rest(x: Sql, k: Sql) -> Sql:
        parts = [
            templates.multiplied_by(k.copy(), _double(to, part))
            for part in exponentials.LN_2
        ]
        return reduce(templates.minus, parts, x.copy())

    return let(
        (safe,),
        lambda x: let(
            (x.copy(), doublings(x)),
            lambda x, k: let(
                (rest(x, k), k.copy()),
                lambda r, k: _scale(_exp_series(to, r), k),
            ),
        ),
    )


def _exp_series(to: Written, r: Sql) -> Sql:
    series = _horner(to, exponentials.EXP_SERIES, r)
    square = templates.multiplied_by(r.copy(), r.copy())
    beyond = templates.plus(r.copy(), templates.multiplied_by(square, series))
    return templates.plus(templates.double(1), beyond)


def _scale(number: Sql, k: Sql) -> Sql:
    """Return a number times 2**k, in two steps: each of these powers is a double."""
    half = _floor(templates.multiplied_by(k.copy(), templates.half()))
    rest = templates.minus(k.copy(), half.copy())
    return templates.multiplied_by(
        templates.multiplied_by(number, _two_to(half)), _two_to(rest)
    )


def _log(to: Written, x: Sql, let: Let) -> Sql:
    positive = templates.is_less(templates.double(0), x.copy())
    inside = templates.conjunction(
        positive.copy(), templates.is_less(x.copy(), _double(to, math.inf))
    )
    safe = templates.case([(inside.copy(), x.copy())], templates.double(1))
    return templates.case([(inside, _held_log(to, safe, let)), (positive, x.copy())])


def _held_log(to: Written, safe: Sql, let: Let) -> Sql:
    """Return the logarithm of a positive number, the least of them moved up first."""

    def is_tiny(x: Sql) -> Sql:
        return templates.is_less(x.copy(), _double(to, exponentials.LEAST_NORMAL))

    def moved(x: Sql) -> Sql:
        size = _double(to, 2.0**exponentials.TINY_SHIFT)
        scale = templates.case([(is_tiny(x), size)], templates.double(1))
        return templates.multiplied_by(x.copy(), scale)

    def shift(x: Sql) -> Sql:
        places = _double(to, float(exponentials.TINY_SHIFT))
        return templates.case([(is_tiny(x), places)], templates.double(0))

    return let(
        (safe,),
        lambda x: let(
            (moved(x), shift(x)),
            lambda x, shift: let(
                (x.copy(), shift.copy(), _guess(to, x)),
                lambda x, shift, k: let(
                    (
                        templates.infix(exp.Div, x.copy(), _two_to(k)),
                        templates.minus(k.copy(), shift.copy()),
                    ),
                    lambda mantissa, k: _log_of_parts(to, mantissa, k, let),
                ),
            ),
        ),
    )


def _guess(to: Written, x: Sql) -> Sql:
    """Return the exponent of a number, or one more or less."""
    size = templates.multiplied_by(
        templates.function("ln", x.copy()), _double(to, exponentials.LOG2_E)
    )
    fits = templates.is_at_most(_floor(size), _double(to, _HIGHEST))
    return templates.case([(fits, _floor(size.copy()))], _double(to, _HIGHEST))


def _log_of_parts(to: Written, mantissa: Sql, k: Sql, let: Let) -> Sql:
    """Return the logarithm of mantissa * 2**k, the mantissa brought near to 1."""
    large = templates.is_at_most(_double(to, exponentials.SQRT_2), mantissa.copy())
    half = templates.multiplied_by(mantissa.copy(), templates.half())
    near = templates.case([(large, half)], mantissa.copy())
    more = templates.case(
        [(large.copy(), templates.plus(k.copy(), templates.double(1)))], k.copy()
    )

    def quotient(f: Sql) -> Sql:
        return templates.infix(
            exp.Div, f.copy(), templates.plus(templates.double(2), f.copy())
        )

    return let(
        (templates.minus(near, templates.double(1)), more),
        lambda f, k: let(
            (f.copy(), k.copy(), quotient(f)),
            lambda f, k, s: let(
                (
                    f.copy(),
                    k.copy(),
                    s.copy(),
                    templates.multiplied_by(s.copy(), s.copy()),
                ),
                lambda f, k, s, z: _log_series(to, (f, k, s, z)),
            ),
        ),
    )


def _log_series(to: Written, parts: Sequence[Sql]) -> Sql:
    """Return the logarithm of (1 + f) 2**k; s is f / (2 + f), z its square."""
    f, k, s, z = parts
    first, second = (
        templates.multiplied_by(k.copy(), _double(to, part))
        for part in exponentials.LN_2
    )
    square = templates.multiplied_by(
        templates.multiplied_by(f.copy(), f.copy()), templates.half()
    )
    series = templates.multiplied_by(_horner(to, exponentials.LOG_SERIES, z), z.copy())
    rest = templates.multiplied_by(s.copy(), templates.plus(square.copy(), series))
    rest = templates.plus(rest, second)
    return templates.minus(
        first, templates.minus(templates.minus(square, rest), f.copy())
    )


def _horner(to: Written, series: Sequence[float], x: Sql) -> Sql:
    first, *others = (_double(to, factor) for factor in series)
    return reduce(
        lambda value, factor: templates.plus(
            templates.multiplied_by(value, x.copy()), factor
        ),
        others,
        first,
    )


def _floor(number: Sql) -> Sql:
    return templates.as_type(templates.function("floor", number), "DOUBLE")


def _two_to(k: Sql) -> Sql:
    return templates.function("power", templates.double(2), k.copy())


def whole_steps(
    to: Written, number: Sql, between: Sql, difference: Callable[[Sql, Sql], Sql]
) -> Sql:
    """Return the steps of an integer, exactly; thresholds beyond 64 bits never bind.

    `between` has the steps of a number between the ends, and `difference` is how the
    database subtracts two i64 whatever they are.
    """
    low, high = to.options["low"], to.options["high"]
    origin = to.options.get("origin", 0)
    first, last = thresholds(low, high, to.options["exponent"])
    branches = []
    if first >= LEAST:
        below = templates.is_at_most(number.copy(), to.bind(first, "i64"))
        branches.append((below, to.bind(low - origin, "i64")))
    if last <= MOST:
        above = templates.is_at_most(to.bind(last, "i64"), number.copy())
        branches.append((above, to.bind(high - origin, "i64")))
    if origin:
        between = difference(between, to.bind(origin, "i64"))
    return templates.case(branches, between) if branches else between


_FARTHEST: Final = 2**21
"""More code points than a text has."""


def substring_entry(substring: str, place: str) -> str:
    """Template of a text from one place to before another; `place` is their type."""
    first, last = (
        f"""(CASE WHEN {name} < 0::BIGINT THEN 0::BIGINT
            WHEN {_FARTHEST}::BIGINT < {name} THEN {_FARTHEST}::BIGINT
            ELSE {name} END)"""
        for name in ("b_", "c_")
    )
    return f"{substring}(left(a_, {last}::{place}), ({first} + 1::BIGINT)::{place})"


def trimmed_by(name: str) -> Entry:
    """Entry of a function that takes letters away from an end of a text."""
    return lambda to: templates.function(
        name, to[0], to.bind(to.options["letters"], "text")
    )


def piece_of_text(to: Written) -> Sql:
    """Entry of a piece between separators."""
    separator = to.bind(to.options["separator"], "text")
    place = templates.whole(to.options["place"])
    return templates.function("split_part", to[0], separator, place)


_SECOND: Final = 10**6


def digits_number(text: Sql) -> Sql:
    """Return digits as an integer, no digits as 0."""
    number = templates.as_type_or_null(text, "BIGINT")
    return exp.Coalesce(this=number, expressions=[templates.bigint(0)])


def zone_ticks(offset: Sql, starts_with: str) -> Sql:
    """Return the microseconds by which a zone is ahead of UTC: +02:00, +02, Z.

    `starts_with` is what the database calls the function of this name.
    """
    digits = templates.function(
        "replace", offset, templates.letters(":"), templates.letters("")
    )
    hours = digits_number(
        templates.function("substring", digits, templates.whole(2), templates.whole(2))
    )
    rest = templates.function(
        "substring", digits.copy(), templates.whole(4), templates.whole(2)
    )
    seconds = templates.plus(
        templates.multiplied_by(hours, templates.bigint(3600)),
        templates.multiplied_by(digits_number(rest), templates.bigint(60)),
    )
    behind = templates.function(starts_with, offset.copy(), templates.letters("-"))
    size = templates.multiplied_by(seconds, templates.bigint(_SECOND))
    return templates.case(
        [(behind, templates.minus(templates.bigint(0), size))], size.copy()
    )


def round_to_microseconds(ticks: Sql, nanoseconds: Sql) -> Sql:
    """Return ticks with a fraction of a second, halves away from 1970."""
    down = templates.plus(
        ticks, templates.infix(exp.IntDiv, nanoseconds, templates.bigint(1000))
    )
    rest = templates.infix(exp.Mod, nanoseconds.copy(), templates.bigint(1000))
    past = templates.is_less(templates.bigint(500), rest)
    half = templates.conjunction(
        templates.is_equal(rest.copy(), templates.bigint(500)),
        templates.is_at_most(templates.bigint(0), down.copy()),
    )
    more = templates.case(
        [(templates.infix(exp.Or, past, half), templates.bigint(1))],
        templates.bigint(0),
    )
    return templates.plus(down, more)


Count: TypeAlias = Callable[[Sql, Sequence[int]], Sql]
"""(time, ascending seconds after 1970) -> how many of these are not after the time"""
Pick: TypeAlias = Callable[[Sequence[int], Sql], Sql]
"""(numbers, place from 1) -> the number at the place"""
_EPOCH: Final = dates.FIRST


def offset_entry(count: Count, pick: Pick) -> Entry:
    """Return the entry of a database that can count within a list and pick of one."""

    def entry(to: Written) -> Sql:
        clock = to.options["clock"]
        inside = templates.conjunction(
            templates.is_at_most(to.bind(dates.FIRST, "time"), to[0]),
            templates.is_less(to[0], to.bind(dates.END, "time")),
        )
        if not clock.edges:
            return templates.case([(inside, to.bind(clock.offsets[0], "i64"))])
        seconds = [int((edge - _EPOCH).total_seconds()) for edge in clock.edges]
        place = templates.plus(count(to[0], seconds), templates.whole(1))
        offset = templates.as_type(pick(clock.offsets, place), "BIGINT")
        return templates.case([(inside, offset)])

    return entry


def numbers_of(values: Sequence[int]) -> list[exp.Expression]:
    """Return whole numbers as literals of SQL."""
    return [
        exp.Neg(this=exp.Literal.number(-value))
        if value < 0
        else templates.whole(value)
        for value in values
    ]
