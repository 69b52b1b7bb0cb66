"""The offset of a zone in SQL: its changes are counted up to a time, in a list."""

from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

from sqlglot import exp

from sordino.engines.sql import pieces as sql
from sordino.engines.sql.pieces import Entry, Sql, Written
from sordino.expressions import zones

Count: TypeAlias = Callable[[Sql, Sequence[int]], Sql]
"""(time, ascending seconds after 1970) -> how many of these are not after the time"""
Pick: TypeAlias = Callable[[Sequence[int], Sql], Sql]
"""(numbers, place from 1) -> the number at the place"""
_EPOCH: Final = zones.FIRST


def offset_entry(count: Count, pick: Pick) -> Entry:
    """Return the entry of a database that can count within a list and pick of one."""

    def entry(to: Written) -> Sql:
        clock = to.options["clock"]
        inside = sql.conjunction(
            sql.is_at_most(to.bind(zones.FIRST, "time"), to[0]),
            sql.is_less(to[0], to.bind(zones.END, "time")),
        )
        if not clock.edges:
            return sql.case([(inside, to.bind(clock.offsets[0], "i64"))])
        seconds = [int((edge - _EPOCH).total_seconds()) for edge in clock.edges]
        place = sql.plus(count(to[0], seconds), sql.whole(1))
        offset = sql.as_type(pick(clock.offsets, place), "BIGINT")
        return sql.case([(inside, offset)])

    return entry


def numbers_of(values: Sequence[int]) -> list[exp.Expression]:
    """Return whole numbers as literals of SQL."""
    return [
        exp.Neg(this=exp.Literal.number(-value)) if value < 0 else sql.whole(value)
        for value in values
    ]
