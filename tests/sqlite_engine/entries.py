"""How SQLite writes operations on integers, truths and texts.

Beyond 64 bits its integers become doubles, which `typeof` tells.
"""

from collections.abc import Mapping
from typing import Final

from sqlglot import exp

from sordino.engines.statements import entries, templates
from sordino.engines.statements.dialect import refusal
from sordino.engines.statements.templates import Entry, Sql, Written
from sordino.expressions import arithmetic, bins, casts, text
from sordino.expressions.bins import thresholds
from sordino.expressions.literals import LEAST, MOST
from sordino.expressions.tree import Operation


def _narrow(one: Sql) -> Sql:
    """Return an integer, or NULL where it has become a double."""
    kind = templates.function("typeof", one)
    return templates.case([
        (templates.is_equal(kind, templates.letters("integer")), one.copy())
    ])


def _infix(kind: type[exp.Expression]) -> Entry:
    """Return the entry of an operator between two integers; x / 0 is NULL."""

    def entry(to: Written) -> Sql:
        return _narrow(templates.infix(kind, to[0], to[1]))

    return entry


def _signs_differ(to: Written) -> Sql:
    """Return whether there is a remainder that has not the sign of the divisor."""
    zero, rest = templates.whole(0), templates.infix(exp.Mod, to[0], to[1])
    below = templates.is_less(rest.copy(), zero), templates.is_less(to[1], zero.copy())
    return templates.conjunction(
        templates.infix(exp.NEQ, rest, zero.copy()), templates.infix(exp.NEQ, *below)
    )


def _floor_divide(to: Written) -> Sql:
    """Return a quotient rounded down."""
    down = templates.case([(_signs_differ(to), templates.whole(1))], templates.whole(0))
    # unless it is called typed, sqlglot writes a division of doubles
    quotient = exp.Div(this=to[0], expression=to[1], typed=True, safe=True)
    return _narrow(templates.minus(quotient, down))


def _modulo(to: Written) -> Sql:
    """Return a remainder with the sign of the divisor."""
    up = templates.case([(_signs_differ(to), to[1])], templates.whole(0))
    return _narrow(templates.plus(templates.infix(exp.Mod, to[0], to[1]), up))


def _negate(to: Written) -> Sql:
    return _narrow(templates.minus(templates.whole(0), to[0]))


def _abs(to: Written) -> Sql:
    negative = templates.is_less(to[0], templates.whole(0))
    return templates.case([(negative, _negate(to))], to[0])


def _clip(to: Written) -> Sql:
    low = (templates.is_less(to[0], to[1]), to[1])
    return templates.case([low, (templates.is_less(to[2], to[0]), to[2])], to[0])


def _steps(to: Written) -> Sql:
    """Return the steps of a lattice; thresholds beyond 64 bits never bind."""
    low, high = to.options["low"], to.options["high"]
    exponent, origin = to.options["exponent"], to.options.get("origin", 0)
    first, last = thresholds(low, high, exponent)
    branches = []
    if first >= LEAST:
        below = templates.is_at_most(to[0], to.bind(first, "i64"))
        branches.append((below, to.bind(low - origin, "i64")))
    if last <= MOST:
        above = templates.is_at_most(to.bind(last, "i64"), to[0])
        branches.append((above, to.bind(high - origin, "i64")))
    between = templates.minus(_between(to, exponent), to.bind(origin, "i64"))
    return templates.case(branches, between) if branches else between


def _between(to: Written, exponent: int) -> Sql:
    """Return the nearest number of steps: x >> e, plus the bit that is shifted out."""
    if exponent <= 0:
        return templates.multiplied_by(to[0], templates.whole(1 << min(-exponent, 62)))
    if exponent > 63:
        return templates.multiplied_by(to[0], templates.whole(0))
    shifted = templates.infix(exp.BitwiseRightShift, to[0], templates.whole(exponent))
    rest = templates.infix(exp.BitwiseRightShift, to[0], templates.whole(exponent - 1))
    return templates.plus(
        shifted, templates.infix(exp.BitwiseAnd, rest, templates.whole(1))
    )


_CASTS: Final = {("i64", "text"): "TEXT", ("bool", "i64"): "INTEGER"}


def _cast(to: Written) -> Sql:
    """Return a value as one of another type, where SQLite does that by our rule."""
    known, wanted = to.types[0], to.options["to"]
    if known == wanted:
        return to[0]
    if (known, wanted) not in _CASTS:
        raise refusal("sqlite", f"{known} as {wanted}", "its cast has other rules")
    return templates.as_type(to[0], _CASTS[known, wanted])


def _contains(to: Written) -> Sql:
    return templates.infix(
        exp.GT, templates.function("instr", to[0], to[1]), templates.whole(0)
    )


def _named(name: str) -> Entry:
    return lambda to: templates.function(name, *to.each())


ENTRIES: Final[Mapping[Operation, Entry]] = {
    **entries.ENTRIES,
    arithmetic.ADD: _infix(exp.Add),
    arithmetic.SUBTRACT: _infix(exp.Sub),
    arithmetic.MULTIPLY: _infix(exp.Mul),
    arithmetic.FLOOR_DIVIDE: _floor_divide,
    arithmetic.MODULO: _modulo,
    arithmetic.NEGATE: _negate,
    arithmetic.ABS: _abs,
    arithmetic.CLIP: _clip,
    bins.STEPS: _steps,
    casts.CAST: _cast,
    text.LOWER: _named("lower"),
    text.UPPER: _named("upper"),
    text.CONTAINS: _contains,
}
