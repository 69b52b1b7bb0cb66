"""What a year of a job costs, and when its budget ends, if it runs on every start."""

from dataclasses import dataclass
from datetime import date, timedelta
from operator import itemgetter
from typing import final

from sordino.budgets.charge import Charge
from sordino.budgets.limits import Limit
from sordino.errors import BudgetExceeded
from sordino.job.job_desk import JobDesk
from sordino.job.planned_release import PlannedRelease
from sordino.ledger.block_charges import worst_sum
from sordino.ledger.entries import DATASET
from sordino.losses.base import Loss

YEAR = timedelta(365)


@final
@dataclass(frozen=True)
class Forecast:
    """What is charged within a year from a day on, and what is refused first."""

    releases: int
    spent: Loss
    """By the releases of the year that are allowed."""
    after: Loss
    """What is spent at the end of the year, with all before it."""
    refused: tuple[str, str] | None
    """The first release that the budget does not allow, and its period."""
    ends: date | None = None
    """The day on which that falls due."""


def forecast(desk: JobDesk, day: date) -> Forecast:
    """Return what the scheduled releases of a year cost, those that are made aside."""
    limit = desk.session.ledger.limit(desk.job.ledger.analyst or DATASET)
    before = _sum_of_charges(desk, limit)
    total, year, count = before, limit.rule.zero, 0
    costs = {
        name: _charge(desk, plan, limit) for name, plan in desk.job.releases.items()
    }
    for start, plan, period in _starts(desk, day):
        try:
            charge, total = limit.rule.accept(total, costs[plan.name])
        except BudgetExceeded:
            loss = limit.rule.loss_of
            refused = plan.name, period
            return Forecast(count, loss(year), loss(total), refused, start)
        year, count = year.plus(charge), count + 1
    return Forecast(count, limit.rule.loss_of(year), limit.rule.loss_of(total), None)


def _starts(desk: JobDesk, day: date) -> list[tuple[date, PlannedRelease, str]]:
    """Return what falls due within a year, in order of its days."""
    runs: list[tuple[date, PlannedRelease, str]] = []
    for plan in desk.job.releases.values():
        days = [day]
        if plan.schedule is not None:
            days = list(plan.schedule.starts(day, day + YEAR))
        runs += [(start, plan, plan.period(start)) for start in days]
    runs.sort(key=itemgetter(0))
    return [run for run in runs if not desk.is_made(*run[1:])]


def _charge(desk: JobDesk, plan: PlannedRelease, limit: Limit) -> Charge:
    """Return what one release is charged."""
    return limit.rule.charge_for(desk.question(plan).budget, desk.price(plan).loss)


def _sum_of_charges(desk: JobDesk, limit: Limit) -> Charge:
    """Return what was charged so far."""
    name, ledger = desk.job.ledger.analyst or DATASET, desk.session.ledger
    total, each = limit.rule.zero, dict[str, Charge]()
    for entry in ledger.entries():
        if name in entry.charges:
            total = total.plus(entry.charges[name])
        if name == DATASET and entry.each is not None:
            for block in entry.blocks:
                each[block] = each.get(block, limit.rule.zero).plus(entry.each)
    return worst_sum(limit, [total, *each.values()])
