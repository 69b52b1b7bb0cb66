"""How often a release is made, and the name of the period that a day lies in.

>>> from datetime import date
>>> [kind.period(date(2026, 11, 22)) for kind in SCHEDULES.values()]
['2026-11-22', '2026-W47', '2026-11', '2026-Q4', '2026']
>>> [kind.next_start(date(2026, 11, 22)).isoformat() for kind in SCHEDULES.values()]
['2026-11-23', '2026-11-23', '2026-12-01', '2027-01-01', '2027-01-01']
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Final, final


@final
@dataclass(frozen=True)
class Schedule:
    """Periods that follow each other, by UTC."""

    name: str
    period: Callable[[date], str]
    next_start: Callable[[date], date]

    def starts(self, day: date, until: date) -> Iterator[date]:
        """Yield the day, and the first day of each period after it, to a last one."""
        while day <= until:
            yield day
            day = self.next_start(day)


def _week(day: date) -> str:
    """Return the week of ISO 8601."""
    year, week, _ = day.isocalendar()
    return f"{year}-W{week:02}"


def _in_months(day: date, months: int) -> date:
    """Return the first day of a month that many months later."""
    year, month = divmod(day.month - 1 + months, 12)
    return date(day.year + year, month + 1, 1)


SCHEDULES: Final = {
    kind.name: kind
    for kind in (
        Schedule("daily", date.isoformat, lambda day: day + timedelta(1)),
        Schedule("weekly", _week, lambda day: day + timedelta(8 - day.isoweekday())),
        Schedule(
            "monthly",
            lambda day: f"{day.year}-{day.month:02}",
            lambda day: _in_months(day, 1),
        ),
        Schedule(
            "quarterly",
            lambda day: f"{day.year}-Q{(day.month + 2) // 3}",
            lambda day: _in_months(day, 3 - (day.month - 1) % 3),
        ),
        Schedule(
            "yearly", lambda day: f"{day.year}", lambda day: date(day.year + 1, 1, 1)
        ),
    )
}
"""Every schedule by name."""
