"""Clocks of places: how far a zone is ahead of UTC, by rules that are written down.

The rules are read when an expression is made, so that every engine has the same ones,
whatever it knows of zones itself. They are those of 1970 to 2069; other times have no
offset.
"""

import hashlib
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any, Final, final
from zoneinfo import ZoneInfo

from sordino import _validate
from sordino.errors import InvalidParameter
from sordino.expressions import facts
from sordino.expressions.arithmetic import MULTIPLY
from sordino.expressions.base import Value
from sordino.expressions.dates import ADD_SECONDS
from sordino.expressions.fluent import Fluent
from sordino.expressions.tree import AbstractTree, Argument, Operation, receiver
from sordino.schema import Column
from sordino.words import Words, call

FIRST: Final = datetime(1970, 1, 1)  # noqa: DTZ001 UTC without a zone, as all times
END: Final = datetime(2070, 1, 1)  # noqa: DTZ001
_CAST: Final = 'Read a text as a time by .cast("time").'
_BEYOND: Final = "a time before 1970 or after 2069 has no offset of a zone"


@final
@dataclass(frozen=True)
class Clock:
    """The offsets of a zone in seconds, and the times in UTC at which each begins."""

    zone: str
    edges: tuple[datetime, ...]
    offsets: tuple[int, ...]

    def offset(self, moment: datetime) -> int | None:
        """Return the offset at a time in UTC."""
        if not FIRST <= moment < END:
            return None
        return self.offsets[bisect_right(self.edges, moment)]

    @property
    def digest(self) -> str:
        """Return what tells these rules from others, for ever."""
        lines = [self.zone, *(edge.isoformat() for edge in self.edges)]
        lines += map(str, self.offsets)
        return hashlib.sha256("\n".join(lines).encode()).hexdigest()


@cache
def clock_of(zone: str) -> Clock:
    """Return the rules of a zone as they are known here."""
    try:
        info = ZoneInfo(zone)
    except (KeyError, ValueError, OSError):
        raise InvalidParameter(
            "zone",
            zone,
            "must be the name of a time zone",
            'Try "Europe/Berlin"; where no names are known, pip install tzdata.',
        ) from None
    edges: list[datetime] = []
    offsets = [_seconds(info, FIRST)]
    day = FIRST
    while day < END:
        later = day + timedelta(days=1)
        while _seconds(info, later) != offsets[-1]:
            edge = _change(info, day, later, offsets[-1])
            edges.append(edge)
            offsets.append(_seconds(info, edge))
            day = edge
        day = later
    return Clock(zone, tuple(edges), tuple(offsets))


def _change(info: ZoneInfo, low: datetime, high: datetime, offset: int) -> datetime:
    """Return the first second of a day whose offset is another."""
    while high - low > timedelta(seconds=1):
        middle = low + (high - low) // timedelta(seconds=2) * timedelta(seconds=1)
        if _seconds(info, middle) == offset:
            low = middle
        else:
            high = middle
    return high


def _seconds(info: ZoneInfo, moment: datetime) -> int:
    """Return the seconds by which a zone is ahead of UTC at a time in UTC."""
    ahead = moment.replace(tzinfo=UTC).astimezone(info).utcoffset()
    return 0 if ahead is None else ahead // timedelta(seconds=1)


def _facts(argument: Argument, clock: Clock) -> Column:
    """Return the facts of an offset."""
    del clock
    facts.require_types("utc_offset", (argument,), ("time",), _CAST)
    return facts.result("i64", (argument,), lost=_BEYOND)


def _meaning(moment: Value, clock: Clock) -> Value:
    """Return the offset of a zone at a time."""
    return clock.offset(moment)


def _text(arguments: Sequence[AbstractTree], clock: Clock) -> str:
    """Return the offset as it is asked for."""
    return f"{receiver(arguments[0])}.utc_offset({clock.zone!r})"


def _words(arguments: Sequence[AbstractTree], clock: Clock) -> Words:
    """Return the zone and the digest of its rules: other rules are another question."""
    of = [argument.words for argument in arguments]
    return call("utc_offset", of=of, zone=clock.zone, rules=clock.digest)


UTC_OFFSET: Final = Operation(
    "utc_offset", _facts, _meaning, copies=2, text=_text, words=_words
)

OPERATIONS: Final = (UTC_OFFSET,)


def utc_offset(self: Fluent, zone: str) -> Fluent:
    """Return the seconds by which the clocks of a zone are ahead of UTC at the time.

    >>> from sordino.expressions.language import col
    >>> col("x").utc_offset("Europe/Berlin").value({"x": datetime(2026, 7, 1, 12)})
    7200
    """
    clock = clock_of(_validate.text(zone=zone))
    return self.call(UTC_OFFSET, self, clock=clock)


def local_time(self: Fluent, zone: str) -> Fluent:
    """Return what the clocks of a zone show at the time, which is in UTC.

    >>> from sordino.expressions.language import col
    >>> col("x").local_time("Europe/Berlin").value({"x": datetime(2026, 7, 1, 12)})
    datetime.datetime(2026, 7, 1, 14, 0)
    """
    return self.call(ADD_SECONDS, self, utc_offset(self, zone))


def add_hours(self: Fluent, hours: Any) -> Fluent:
    """Return the time so many whole hours later; missing beyond 9999 and before 1.

    >>> from sordino.expressions.language import col
    >>> col("x").add_hours(-3).value({"x": datetime(2026, 7, 1, 2)})
    datetime.datetime(2026, 6, 30, 23, 0)
    """
    seconds = self.call(MULTIPLY, hours, 3600)
    return self.call(ADD_SECONDS, self, seconds)
