"""What a ledger believes of clocks: little (ADR 237).

The order of records is that of their numbers. Time decides two things all the same:
which blocks are over, and of which period a release is. Both are for good, so that a
clock which contradicts the ledger, or leaps, must be confirmed by a person.

>>> leapt_over("month", date(2026, 11, 22), date(2027, 3, 10))
['2026-12', '2027-01', '2027-02']

Kernel: charge.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from itertools import islice
from typing import Final, final

from sordino.errors import InvalidParameter
from sordino.ledger.log import Log
from sordino.numbers.calendar import CALENDARS

_FORBORNE: Final = timedelta(days=1)
"""How far a clock may be behind the ledger without a word."""
_LEAP: Final = 2
"""Periods between the newest record and today that need a word."""
_LONGEST: Final = 10_000


@final
@dataclass(frozen=True)
class SaidDay:
    """What a person says of the day."""

    on: date | None = None
    """The day that it is, whatever the clock says."""
    catch_up: bool = False
    """Whether periods have passed without a record."""
    is_unsynchronised: Callable[[], bool] = field(default=lambda: False, repr=False)
    """Tells whether the system doubts its clock."""

    def __post_init__(self) -> None:
        """Refuse what is no day."""
        if self.on is not None and type(self.on) is not date:
            raise InvalidParameter(
                "on", self.on, "must be a date", "Try on=datetime.date(2026, 11, 22)."
            )


UNSAID: Final = SaidDay()
"""Nobody says anything: the clock is all there is."""


def newest_time(log: Log) -> datetime:
    """Return when the newest record was written, as it says."""
    when: str = log.record(log.head.number).fields["when"]
    return datetime.fromisoformat(when)


def time_after(log: Log, now: datetime) -> datetime:
    """Return the time of a next record: no clock makes it earlier than the newest."""
    # a clock that goes back must not write a history that goes back
    return max(now, newest_time(log))


def days_ahead(log: Log, now: datetime) -> int:
    """Return by how many days a ledger is ahead of a clock, 0 for up to one."""
    ahead = newest_time(log) - now
    return ahead.days if ahead > _FORBORNE else 0


def trusted_time(log: Log, now: datetime, word: SaidDay, every: str) -> datetime:
    """Return the time by which periods are over, or refuse a clock that is in doubt."""
    newest = newest_time(log)
    # a wrong clock would open blocks, and with them budgets, before their time
    if word.on is None and days_ahead(log, now):
        raise InvalidParameter(
            "on",
            None,
            f"must be said: the newest record of the ledger is of "
            f"{newest:%Y-%m-%d}, and the clock of this machine says {now:%Y-%m-%d}, "
            "so that one of two clocks was wrong",
            "Nothing was charged: say --on DATE, or sd.Ledger.at(path, "
            f"on=datetime.date({now.year}, {now.month}, {now.day})).",
        )
    today = now if word.on is None else datetime.combine(word.on, time(), UTC)
    leapt = leapt_over(every, newest.date(), today.date())
    doubted = word.on is None and bool(leapt) and word.is_unsynchronised()
    if not word.catch_up and (len(leapt) >= _LEAP or doubted):
        unsure = ", and says itself that it is not synchronised" if doubted else ""
        raise InvalidParameter(
            "catch_up",
            False,
            f"must be said: since the newest record, of {newest:%Y-%m-%d}, the clock "
            f"has leapt over {_periods_text(leapt)} to {today:%Y-%m-%d}{unsure}",
            "Nothing was charged: if that is the day, say --catch-up, or "
            "sd.Ledger.at(path, catch_up=True).",
        )
    return today


def leapt_over(every: str, newest: date, today: date) -> list[str]:
    """Return the periods that lie between that of one day and that of another."""
    calendar = CALENDARS[every]
    names = calendar.names(newest, today)
    return list(islice(names, _LONGEST))[1:-1]


def _periods_text(periods: list[str]) -> str:
    """Return one or two periods by name, more by the first and the last.

    >>> _periods_text(["2026-12"]), _periods_text(["2026-12", "2027-01", "2027-02"])
    ('2026-12', '3 periods, 2026-12 to 2027-02')
    """
    if len(periods) < 3:
        return " and ".join(periods)
    return f"{len(periods):,} periods, {periods[0]} to {periods[-1]}"
