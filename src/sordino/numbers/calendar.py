"""Days, weeks, months, quarters and years: their names, and when they begin.

>>> day = date(2026, 11, 22)
>>> [calendar.name_of(day) for calendar in CALENDARS.values()]
['2026-11-22', '2026-W47', '2026-11', '2026-Q4', '2026']
>>> [calendar.next_start(day).isoformat() for calendar in CALENDARS.values()]
['2026-11-23', '2026-11-23', '2026-12-01', '2027-01-01', '2027-01-01']
>>> CALENDARS["quarter"].first_day("2026-Q4").isoformat()
'2026-10-01'
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any, Final, final

from sordino.errors import InvalidParameter
from sordino.numbers import arguments

_MONTHS: Final = 12
_IN_QUARTER: Final = 3
LAST_YEAR: Final = 9998
"""After the year 9999 there are no dates, and each period needs a next one."""


@final
@dataclass(frozen=True)
class Calendar:
    """Periods that follow each other without gaps: a day lies in one of them."""

    every: str
    name_of: Callable[[date], str]
    """What the period is called that a day lies in."""
    next_start: Callable[[date], date]
    """The first day after the period that a day lies in."""
    _start: Callable[[str], date]
    example: str

    def first_day(self, name: Any) -> date:
        """Return when a period begins; what is no name of one is refused.

        >>> CALENDARS["month"].first_day("2026-13")
        Traceback (most recent call last):
        sordino.errors.InvalidParameter: period must be a month, got '2026-13'. \
Try '2026-11'.
        """
        text = arguments.text(period=name)
        try:
            day = self._start(text)
        except ValueError:
            raise self._refusal(name) from None
        # one name for each period: Python reads "20261122" as well
        if self.name_of(day) != text or day.year > LAST_YEAR:
            raise self._refusal(name)
        return day

    def names(self, first: date, last: date) -> Iterator[str]:
        """Yield the names of the periods from that of one day to that of another.

        >>> list(CALENDARS["month"].names(date(2026, 11, 22), date(2027, 1, 1)))
        ['2026-11', '2026-12', '2027-01']
        """
        while first <= last:
            yield self.name_of(first)
            first = self.next_start(first)

    def names_over(self, first: date, today: date) -> list[str]:
        """Return the periods from that of a day on that were over before another.

        >>> CALENDARS["month"].names_over(date(2026, 9, 1), date(2026, 11, 1))
        ['2026-09', '2026-10']
        """
        return [
            name
            for name in self.names(first, today)
            if self.next_start(self.first_day(name)) <= today
        ]

    def _refusal(self, name: Any) -> InvalidParameter:
        return InvalidParameter(
            "period", name, f"must be a {self.every}", f"Try {self.example!r}."
        )


def _week_name(day: date) -> str:
    year, week, _ = day.isocalendar()
    return f"{year:04}-W{week:02}"


def _week_start(name: str) -> date:
    year, _, week = name.partition("-W")
    return date.fromisocalendar(int(year), int(week), 1)


def _months_later(day: date, months: int) -> date:
    year, month = divmod(day.month - 1 + months, _MONTHS)
    return date(day.year + year, month + 1, 1)


def _quarter(day: date) -> int:
    """Return which quarter of its year a day lies in, counted from 0."""
    return (day.month - 1) // _IN_QUARTER


def _quarter_start(name: str) -> date:
    year, _, quarter = name.partition("-Q")
    return date(int(year), _IN_QUARTER * int(quarter) - 2, 1)


CALENDARS: Final = {
    calendar.every: calendar
    for calendar in (
        Calendar(
            "day",
            date.isoformat,
            lambda day: day + timedelta(1),
            date.fromisoformat,
            "2026-11-22",
        ),
        Calendar(
            "week",
            _week_name,
            lambda day: day + timedelta(8 - day.isoweekday()),
            _week_start,
            "2026-W47",
        ),
        Calendar(
            "month",
            lambda day: f"{day.year:04}-{day.month:02}",
            lambda day: _months_later(day, 1),
            lambda name: date.fromisoformat(f"{name}-01"),
            "2026-11",
        ),
        Calendar(
            "quarter",
            lambda day: f"{day.year:04}-Q{_quarter(day) + 1}",
            lambda day: _months_later(day, _IN_QUARTER - (day.month - 1) % _IN_QUARTER),
            _quarter_start,
            "2026-Q4",
        ),
        Calendar(
            "year",
            lambda day: f"{day.year:04}",
            lambda day: date(day.year + 1, 1, 1),
            lambda name: date(int(name), 1, 1),
            "2026",
        ),
    )
}
"""Every kind of period by its name."""
