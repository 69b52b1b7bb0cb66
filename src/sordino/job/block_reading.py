"""Which blocks the release of a period reads, and which periods can be released.

>>> reading = BlockReading(CALENDARS["quarter"], CALENDARS["month"], date(2026, 2, 1))
>>> reading.periods_over(date(2026, 7, 3))
['2026-Q1', '2026-Q2']
>>> reading.blocks_of("2026-Q1"), reading.blocks_of("2026-Q2")
(('2026-02', '2026-03'), ('2026-04', '2026-05', '2026-06'))
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any, Final, final

from sordino.budgets.table_blocks import Blocks
from sordino.calendars import CALENDARS, Calendar
from sordino.errors import InvalidJob, InvalidParameter
from sordino.job.schedule import Schedule
from sordino.settings.section import Section

EVERY: Final = 10_000
"""More blocks than can be open."""
_DAY: Final = timedelta(1)
_WHOLE: Final[Mapping[str, tuple[str, ...]]] = {
    "day": ("day", "week", "month", "quarter", "year"),
    "week": ("week",),
    "month": ("month", "quarter", "year"),
    "quarter": ("quarter", "year"),
    "year": ("year",),
}
"""The periods that each kind of block fills without being cut."""


@final
@dataclass(frozen=True)
class BlockReading:
    """Blocks by period: what the name of a period means, whenever it is released."""

    schedule: Calendar
    blocks: Calendar
    first: date
    """The first day of the first block."""
    since: date = date.min
    """The first day of the first period that is due."""
    last: int = 0
    """How many blocks it reads that end with the period; 0 for those in it."""

    @property
    def begin(self) -> date:
        """Return the first day of what it reads."""
        return max(self.first, self.since)

    def periods_over(self, today: date) -> list[str]:
        """Return the periods that can be released on a day, the oldest first."""
        return self.schedule.names_over(self.begin, today)

    def blocks_of(self, period: str) -> tuple[str, ...]:
        """Return the blocks that the release of a period reads."""
        try:
            start = self.schedule.first_day(period)
        except InvalidParameter as error:
            raise InvalidJob("--key", f"is refused: {error}", "") from None
        end = self.schedule.next_start(start) - _DAY
        begin = self.first if self.last else max(self.first, start)
        names = tuple(self.blocks.names(begin, end))
        if not names:
            first = self.blocks.name_of(self.first)
            raise InvalidJob(
                "--key",
                f"names {period}, before the first block, {first}",
                f"Name {self.schedule.name_of(self.first)}, or a later one.",
            )
        return names[-self.last :]


def read_block_reading(
    release: Section, schedule: Schedule | None, blocks: Blocks | None
) -> BlockReading | None:
    """Return which blocks a release reads, None for all that are open."""
    if schedule is None or blocks is None or blocks.start is None:
        for name in ("reads", "since"):
            if name in release:
                raise release.wrong(
                    name,
                    "is for releases with a schedule, and blocks that are periods",
                    'Say [ledger] blocks = { start = "2026-01", every = "month" }.',
                )
        return None
    calendar = CALENDARS[blocks.every]
    first = calendar.first_day(blocks.start)
    if schedule.calendar.every not in _WHOLE[blocks.every]:
        fitting = ", ".join(_WHOLE[blocks.every])
        raise release.wrong(
            "schedule",
            f"cuts blocks in two: each is a {blocks.every}",
            f"Make a release every {fitting}, or shorter blocks.",
        )
    since = date.min
    if "since" in release:
        with release.place_refusals("since"):
            since = schedule.calendar.first_day(release.value("since"))
    return BlockReading(schedule.calendar, calendar, first, since, _last(release))


def _last(release: Section) -> int:
    """Return how many blocks a release reads."""
    reads: Any = release.values.get("reads", "period")
    whole = isinstance(reads, int) and not isinstance(reads, bool)
    if reads == "period":
        return 0
    if reads == "all":
        return EVERY
    if not whole or not 1 <= reads <= EVERY:
        raise release.wrong(
            "reads",
            'must be "period", "all", or how many blocks that end with the period',
            'Write reads = "period".',
        )
    return int(reads)
