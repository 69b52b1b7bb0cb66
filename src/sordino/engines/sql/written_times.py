"""Times as texts write them: digits, zones, and the one rounding of seconds."""

from typing import Final

from sqlglot import exp

from sordino.engines.sql import pieces as sql
from sordino.engines.sql.pieces import Sql

_SECOND: Final = 10**6


def digits_number(text: Sql) -> Sql:
    """Return digits as an integer, no digits as 0."""
    number = sql.as_type_or_null(text, "BIGINT")
    return exp.Coalesce(this=number, expressions=[sql.bigint(0)])


def zone_ticks(offset: Sql, starts_with: str) -> Sql:
    """Return the microseconds by which a zone is ahead of UTC: +02:00, +02, Z.

    `starts_with` is what the database calls the function of this name.
    """
    digits = sql.function("replace", offset, sql.letters(":"), sql.letters(""))
    hours = digits_number(sql.function("substring", digits, sql.whole(2), sql.whole(2)))
    rest = sql.function("substring", digits.copy(), sql.whole(4), sql.whole(2))
    seconds = sql.plus(
        sql.multiplied_by(hours, sql.bigint(3600)),
        sql.multiplied_by(digits_number(rest), sql.bigint(60)),
    )
    behind = sql.function(starts_with, offset.copy(), sql.letters("-"))
    size = sql.multiplied_by(seconds, sql.bigint(_SECOND))
    return sql.case([(behind, sql.minus(sql.bigint(0), size))], size.copy())


def round_to_microseconds(ticks: Sql, nanoseconds: Sql) -> Sql:
    """Return ticks with a fraction of a second, halves away from 1970."""
    down = sql.plus(ticks, sql.infix(exp.IntDiv, nanoseconds, sql.bigint(1000)))
    rest = sql.infix(exp.Mod, nanoseconds.copy(), sql.bigint(1000))
    past = sql.is_less(sql.bigint(500), rest)
    half = sql.conjunction(
        sql.is_equal(rest.copy(), sql.bigint(500)),
        sql.is_at_most(sql.bigint(0), down.copy()),
    )
    more = sql.case([(sql.infix(exp.Or, past, half), sql.bigint(1))], sql.bigint(0))
    return sql.plus(down, more)
