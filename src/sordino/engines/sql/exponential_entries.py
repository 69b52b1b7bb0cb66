"""How every database writes exponentials and logarithms: by the same steps of doubles.

What raises or leaves the range somewhere is never computed. `power(2, k)` is exact, and
`ln` only guesses an exponent (ADR 177).
"""

import math
from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from typing import Final, TypeAlias

from sqlglot import exp

from sordino.engines.sql import pieces as sql
from sordino.engines.sql.pieces import Entry, Sql, Written
from sordino.expressions import exponentials as forms
from sordino.expressions.tree import Operation

Let: TypeAlias = Callable[[Sequence[Sql], Callable[..., Sql]], Sql]
"""(values, what is made of them and of nothing else) -> the same, each computed once"""
_HIGHEST: Final = 1023.0
"""The exponent of the greatest power of two."""


def exponential_entries(let: Let) -> Mapping[Operation, Entry]:
    """Return the entries of a database that can give values names."""
    return {
        forms.EXP: lambda to: let((_real(to),), lambda x: _exp(to, x, let)),
        forms.LOG: lambda to: let((_real(to),), lambda x: _log(to, x, let)),
    }


def _real(to: Written) -> Sql:
    """Return the argument as a double."""
    return sql.as_type(to[0], "DOUBLE")


def _double(to: Written, number: float) -> Sql:
    """Return a double of a formula."""
    return to.bind(number, "f64")


def _exp(to: Written, x: Sql, let: Let) -> Sql:
    """Return e**x; NaN is above all numbers."""
    low, high = (_double(to, end) for end in forms.EXP_ENDS)
    tiny = sql.is_less(sql.function("abs", x.copy()), _double(to, forms.LEAST_TO_TELL))
    inside = exp.Between(this=x.copy(), low=low.copy(), high=high.copy())
    safe = sql.case([(tiny, sql.double(0)), (inside, x.copy())], sql.double(0))
    infinity = _double(to, math.inf)
    return sql.case(
        [
            (sql.is_less(x.copy(), low), sql.double(0)),
            (sql.is_at_most(x.copy(), high), _held_exp(to, safe, let)),
            (sql.is_less(x.copy(), infinity), infinity.copy()),
        ],
        x.copy(),
    )


def _held_exp(to: Written, safe: Sql, let: Let) -> Sql:
    """Return e**x of an x for which it is a double above 0."""

    def doublings(x: Sql) -> Sql:
        return _floor(
            sql.plus(sql.multiplied_by(x.copy(), _double(to, forms.LOG2_E)), sql.half())
        )

    def rest(x: Sql, k: Sql) -> Sql:
        parts = [sql.multiplied_by(k.copy(), _double(to, part)) for part in forms.LN_2]
        return reduce(sql.minus, parts, x.copy())

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
    """Return e**r of a small r."""
    series = _horner(to, forms.EXP_SERIES, r)
    square = sql.multiplied_by(r.copy(), r.copy())
    beyond = sql.plus(r.copy(), sql.multiplied_by(square, series))
    return sql.plus(sql.double(1), beyond)


def _scale(number: Sql, k: Sql) -> Sql:
    """Return a number times 2**k, in two steps: each of these powers is a double."""
    half = _floor(sql.multiplied_by(k.copy(), sql.half()))
    rest = sql.minus(k.copy(), half.copy())
    return sql.multiplied_by(sql.multiplied_by(number, _two_to(half)), _two_to(rest))


def _log(to: Written, x: Sql, let: Let) -> Sql:
    """Return the logarithm; infinity and NaN, above all others, are their own."""
    positive = sql.is_less(sql.double(0), x.copy())
    inside = sql.conjunction(
        positive.copy(), sql.is_less(x.copy(), _double(to, math.inf))
    )
    safe = sql.case([(inside.copy(), x.copy())], sql.double(1))
    return sql.case([(inside, _held_log(to, safe, let)), (positive, x.copy())])


def _held_log(to: Written, safe: Sql, let: Let) -> Sql:
    """Return the logarithm of a positive number, the least of them moved up first."""

    def is_tiny(x: Sql) -> Sql:
        return sql.is_less(x.copy(), _double(to, forms.LEAST_NORMAL))

    def moved(x: Sql) -> Sql:
        size = _double(to, 2.0**forms.TINY_SHIFT)
        scale = sql.case([(is_tiny(x), size)], sql.double(1))
        return sql.multiplied_by(x.copy(), scale)

    def shift(x: Sql) -> Sql:
        places = _double(to, float(forms.TINY_SHIFT))
        return sql.case([(is_tiny(x), places)], sql.double(0))

    return let(
        (safe,),
        lambda x: let(
            (moved(x), shift(x)),
            lambda x, shift: let(
                (x.copy(), shift.copy(), _guess(to, x)),
                lambda x, shift, k: let(
                    (
                        sql.infix(exp.Div, x.copy(), _two_to(k)),
                        sql.minus(k.copy(), shift.copy()),
                    ),
                    lambda mantissa, k: _log_of_parts(to, mantissa, k, let),
                ),
            ),
        ),
    )


def _guess(to: Written, x: Sql) -> Sql:
    """Return the exponent of a number, or one more or less."""
    size = sql.multiplied_by(sql.function("ln", x.copy()), _double(to, forms.LOG2_E))
    fits = sql.is_at_most(_floor(size), _double(to, _HIGHEST))
    return sql.case([(fits, _floor(size.copy()))], _double(to, _HIGHEST))


def _log_of_parts(to: Written, mantissa: Sql, k: Sql, let: Let) -> Sql:
    """Return the logarithm of mantissa * 2**k, the mantissa brought near to 1."""
    large = sql.is_at_most(_double(to, forms.SQRT_2), mantissa.copy())
    half = sql.multiplied_by(mantissa.copy(), sql.half())
    near = sql.case([(large, half)], mantissa.copy())
    more = sql.case([(large.copy(), sql.plus(k.copy(), sql.double(1)))], k.copy())

    def quotient(f: Sql) -> Sql:
        return sql.infix(exp.Div, f.copy(), sql.plus(sql.double(2), f.copy()))

    return let(
        (sql.minus(near, sql.double(1)), more),
        lambda f, k: let(
            (f.copy(), k.copy(), quotient(f)),
            lambda f, k, s: let(
                (f.copy(), k.copy(), s.copy(), sql.multiplied_by(s.copy(), s.copy())),
                lambda f, k, s, z: _log_series(to, (f, k, s, z)),
            ),
        ),
    )


def _log_series(to: Written, parts: Sequence[Sql]) -> Sql:
    """Return the logarithm of (1 + f) 2**k; s is f / (2 + f), z its square."""
    f, k, s, z = parts
    first, second = (
        sql.multiplied_by(k.copy(), _double(to, part)) for part in forms.LN_2
    )
    square = sql.multiplied_by(sql.multiplied_by(f.copy(), f.copy()), sql.half())
    series = sql.multiplied_by(_horner(to, forms.LOG_SERIES, z), z.copy())
    rest = sql.multiplied_by(s.copy(), sql.plus(square.copy(), series))
    rest = sql.plus(rest, second)
    return sql.minus(first, sql.minus(sql.minus(square, rest), f.copy()))


def _horner(to: Written, series: Sequence[float], x: Sql) -> Sql:
    """Return a polynomial, the factor of its highest power first."""
    first, *others = (_double(to, factor) for factor in series)
    return reduce(
        lambda value, factor: sql.plus(sql.multiplied_by(value, x.copy()), factor),
        others,
        first,
    )


def _floor(number: Sql) -> Sql:
    """Return the whole number below, as a double."""
    return sql.as_type(sql.function("floor", number), "DOUBLE")


def _two_to(k: Sql) -> Sql:
    """Return a power of two."""
    return sql.function("power", sql.double(2), k.copy())
