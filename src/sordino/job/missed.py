"""Periods that passed without a release, since the last one that was made."""

from datetime import date

from sordino.job.job_desk import JobDesk
from sordino.job.planned_release import PlannedRelease

_SHOWN = 12


def missed_periods(desk: JobDesk, plan: PlannedRelease, day: date) -> list[str]:
    """Return what was never made between the last release and a day's period.

    The last release is the newest of this name in the ledger, on its own day. Of
    blocks none is missed for good: it stays due.
    """
    prefix = plan.key("x").removesuffix("x")
    days = [
        entry.when.date()
        for entry in desk.session.ledger.entries()
        if entry.key is not None and entry.key.startswith(prefix)
    ]
    if plan.schedule is None or plan.reading is not None or not days or days[-1] >= day:
        return []
    starts = list(plan.schedule.starts(days[-1], day))
    between = [plan.period(start) for start in starts[1:]]
    current = plan.period(day)
    missed = [period for period in between if period != current]
    return [period for period in missed if not desk.is_made(plan, period)][-_SHOWN:]
