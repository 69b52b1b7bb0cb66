"""How often a release is made, and the name of the period that a day lies in.

>>> [schedule.period(date(2026, 11, 22)) for schedule in SCHEDULES.values()]
['2026-11-22', '2026-W47', '2026-11', '2026-Q4', '2026']
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from typing import Final, final

from sordino.calendars import CALENDARS, Calendar


@final
@dataclass(frozen=True)
class Schedule:
    """Periods that follow each other, by UTC."""

    name: str
    calendar: Calendar

    def period(self, day: date) -> str:
        """Return the name of the period that a day lies in."""
        return self.calendar.name_of(day)

    def starts(self, day: date, until: date) -> Iterator[date]:
        """Yield the day, and the first day of each period after it, to a last one."""
        while day <= until:
            yield day
            day = self.calendar.next_start(day)


_ADVERBS: Final = {
    "daily": "day",
    "weekly": "week",
    "monthly": "month",
    "quarterly": "quarter",
    "yearly": "year",
}
SCHEDULES: Final = {
    name: Schedule(name, CALENDARS[every]) for name, every in _ADVERBS.items()
}
"""Every schedule by name."""
