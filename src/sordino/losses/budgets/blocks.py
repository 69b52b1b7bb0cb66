"""Blocks of a table, periods or names, each with a budget of its own; blocks in words.

>>> Blocks(start="2026-01", every="month").due(datetime(2026, 3, 1, tzinfo=UTC), None)
('2026-01', '2026-02')
>>> touched_text(("2026-10", "2026-11"), "mu = 0.05")
'touches 2026-10 and 2026-11: mu = 0.05 in each; who is in both loses it once'
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from itertools import islice
from typing import Any, Final, Literal, final

from sordino.errors import InvalidParameter
from sordino.numbers import arguments
from sordino.numbers.calendar import CALENDARS, LAST_YEAR
from sordino.numbers.frozen import fill, make

Period = Literal["year", "quarter", "month", "week", "day"]
"""How long a block lasts."""
MOST: Final = 10_000
"""Blocks that may be open: 27 years of days."""
WHOLE: Final = "*"
"""The block of all rows of tables without blocks: it never renews."""
_LONGEST: Final = 200
_NAMED: Final = "name"


@final
@dataclass(frozen=True, init=False, repr=False)
class Blocks:
    """Blocks of private tables: the budget of a session is then that of each block.

    Periods begin with `start` and open when they are over, in UTC. Named blocks, such
    as cohorts, open when a session names them; other sessions may name more.

    >>> Blocks(start="2026-W01", every="week")
    Blocks(start='2026-W01', every='week')
    >>> Blocks(names=["pilot", "2026"])
    Blocks(names=['pilot', '2026'])
    """

    every: str
    """"year", "quarter", "month", "week" or "day"; "name" for named blocks."""
    start: str | None
    """The first period."""
    names: tuple[str, ...]

    def __init__(
        self,
        start: str | None = None,
        every: Period | None = None,
        *,
        names: Sequence[str | int] | None = None,
    ) -> None:
        if names is not None:
            if start is not None or every is not None:
                raise InvalidParameter(
                    "names",
                    names,
                    "must be left out of periods",
                    'Try sd.Blocks(names=["pilot"]) or '
                    'sd.Blocks(start="2026-01", every="month").',
                )
            fill(self, every=_NAMED, start=None, names=_read_names(names))
            return
        kind = arguments.choice(tuple(CALENDARS), every=every)
        fill(self, every=kind, start=_read_start(start, kind), names=())

    @classmethod
    def read(cls, fields: Mapping[str, Any]) -> "Blocks":
        """The inverse of `fields`."""
        if fields["every"] == _NAMED:
            return make(cls, every=_NAMED, start=None, names=())
        return cls(fields["start"], fields["every"])

    @property
    def fields(self) -> dict[str, Any]:
        """Fields that a ledger records: all but the names, which it opens."""
        return {"every": self.every, "start": self.start}

    @property
    def text(self) -> str:
        """Return it in words, which a ledger compares when it is opened."""
        if self.start is None:
            return "blocks by name"
        return f"a block every {self.every} from {self.start}"

    def due(self, now: datetime, newest: str | None) -> tuple[str, ...]:
        """Return the periods that are over, behind the newest one that is open."""
        if self.start is None:
            return ()
        names: list[str] = []
        for name, end in _periods(newest or self.start, self.every):
            if datetime.combine(end, time(), UTC) > now:
                break
            names.append(name)
            if len(names) > MOST:
                raise InvalidParameter(
                    "start",
                    self.start,
                    f"would open more than {MOST:,} blocks, by the clock of this "
                    "machine",
                    "Set the clock, begin later, or make blocks of longer periods.",
                )
        return tuple(names if newest is None else names[1:])

    def periods_behind(self, newest: str | None, count: int) -> list[str]:
        """Names of the `count` periods after the newest one.

        >>> Blocks(start="2026-11", every="month").periods_behind("2026-12", 2)
        ['2027-01', '2027-02']
        """
        known = newest is not None
        periods = _periods(newest or self.start or "", self.every)
        return [name for name, _ in islice(periods, known, known + count)]

    def ends(self, name: str, kind: str) -> tuple[Any, Any]:
        """Return the least and the greatest value of a column that a block has.

        >>> Blocks(start="2026-01", every="month").ends("2026-02", "date")
        (datetime.date(2026, 2, 1), datetime.date(2026, 2, 28))
        """
        self.refuse_unfit(kind)
        if kind == "text":
            return name, name
        if kind == "i64":
            return int(name), int(name)
        first = CALENDARS[self.every].first_day(name)
        last = CALENDARS[self.every].next_start(first) - timedelta(days=1)
        if kind == "date":
            return first, last
        return datetime.combine(first, time()), datetime.combine(last, time.max)

    def refuse_unfit(self, kind: str, names: Sequence[str] = ()) -> None:
        """Refuse a type of column that cannot say of what block a row is."""
        kinds = ("text", "i64") if self.start is None else ("date", "time", "text")
        if self.every == "year":
            kinds = (*kinds, "i64")
        if kind not in kinds:
            raise InvalidParameter(
                "blocks",
                kind,
                f"cannot be the type of a column of {self.text}: it must be "
                f"{' or '.join(kinds)}",
                "Name another column, or choose other blocks.",
            )
        for name in names if kind == "i64" else ():
            if not _is_whole(name):
                raise InvalidParameter(
                    "blocks",
                    name,
                    "must be a whole number, as the values of the column are",
                    "Name the blocks as they stand in the column.",
                )

    def __repr__(self) -> str:
        if self.start is None:
            return f"Blocks(names={list(self.names)!r})"
        return f"Blocks(start={self.start!r}, every={self.every!r})"


def _read_names(names: Any) -> tuple[str, ...]:
    if isinstance(names, str) or not isinstance(names, Sequence) or not names:
        raise InvalidParameter(
            "names", names, "must be a list of names", 'Try names=["pilot"].'
        )
    if len(names) > MOST:
        raise InvalidParameter(
            "names",
            f"{len(names):,} of them",
            f"must be at most {MOST:,}",
            "Join some.",
        )
    listed = []
    for name in names:
        whole = isinstance(name, int) and not isinstance(name, bool)
        text = str(name) if whole and abs(name) < 2**63 else name
        if not is_block_name(text) or text == WHOLE:
            raise InvalidParameter(
                "names",
                name,
                f"must be printable text of 1 to {_LONGEST} letters other than "
                f"{WHOLE!r}, or an integer of 64 bits",
                'Try names=["pilot"].',
            )
        listed.append(text)
    if len(set(listed)) < len(listed):
        raise InvalidParameter(
            "names", names, "must name each block once", "Name it once."
        )
    return tuple(listed)


def is_block_name(name: Any) -> bool:
    """Say whether this can be the name of a block."""
    if not isinstance(name, str) or not 1 <= len(name) <= _LONGEST:
        return False
    return name.isprintable() and not any("\ud800" <= c <= "\udfff" for c in name)


def _is_whole(name: str) -> bool:
    """Say whether a name is an integer of 64 bits, written as Python writes it."""
    if not re.fullmatch(r"0|-?[1-9][0-9]{0,18}", name):
        return False
    return -(2**63) <= int(name) < 2**63


def _read_start(start: Any, every: str) -> str:
    calendar = CALENDARS[every]
    try:
        calendar.first_day(start)
    except InvalidParameter:
        raise InvalidParameter(
            "start",
            start,
            f"must name the first {every}, such as {calendar.example!r}",
            f'Try start="{calendar.example}".',
        ) from None
    name: str = start
    return name


def _periods(first: str, every: str) -> Iterator[tuple[str, date]]:
    """Yield the periods from one on, each with the first day behind it."""
    calendar = CALENDARS[every]
    day = calendar.first_day(first)
    while day.year <= LAST_YEAR:
        end = calendar.next_start(day)
        yield calendar.name_of(day), end
        day = end


_SHOWN: Final = 3


def touched_text(names: tuple[str, ...], price: str) -> str:
    """Return which blocks are charged a price: a person pays it once."""
    if len(names) == 1:
        return f"touches {blocks_text(names)}: {price}"
    several = "both" if len(names) == 2 else "several"
    return (
        f"touches {blocks_text(names)}: {price} in each; who is in {several} loses it "
        "once"
    )


def blocks_text(names: tuple[str, ...]) -> str:
    """Return blocks in words: the first and the last of many.

    >>> blocks_text(("*",)), blocks_text(("a", "b", "c", "d", "*"))
    ('tables without blocks', '4 blocks, a to d, and tables without blocks')
    """
    listed = [name for name in names if name != WHOLE]
    whole = ["tables without blocks"] * (WHOLE in names)
    if len(listed) > _SHOWN:
        span = f"{len(listed):,} blocks, {listed[0]} to {listed[-1]}"
        return ", and ".join([span, *whole])
    *first, last = [*listed, *whole]
    return f"{', '.join(first)} and {last}" if first else last
