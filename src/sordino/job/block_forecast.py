"""What a year of a job costs where each block has a budget of its own.

A release counts once for a person, whichever of the person's blocks it reads, and in
the budget of each of these blocks: so a person over a year is charged at most the sum
over its blocks, and less where a release reads several.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import islice
from typing import Final, final

from sordino.budgets.charge import Charge
from sordino.budgets.filters import AbstractFilter
from sordino.budgets.table_blocks import WHOLE
from sordino.job.block_reading import EVERY, BlockReading
from sordino.job.job_desk import JobDesk
from sordino.job.planned_release import PlannedRelease
from sordino.ledger.block_charges import worst_sum
from sordino.ledger.block_rows import sum_text
from sordino.losses.base import Loss
from sordino.losses.headline import headline

_YEAR: Final = timedelta(365)
IN_A_YEAR: Final = {"year": 1, "quarter": 4, "month": 12, "week": 52, "day": 365}
"""Blocks of each kind that a person is in who is present all year."""
_LONGEST: Final = 3
"""Years of blocks, at most, that a release is followed to read."""


@final
@dataclass(frozen=True)
class BlockForecast:
    """What the blocks of the year to come are charged, by what is scheduled."""

    blocks: tuple[str, ...]
    releases: int
    """That fall due within the year and are allowed."""
    one: Loss
    """What the worst of these blocks is charged."""
    person: Loss
    """What a person in all of them is charged: each release once."""
    most: Loss
    """What holds for that person, whatever is asked."""
    refused: tuple[tuple[str, str, str], ...]
    """Releases of the year that are not allowed: name, period, and why."""


@final
@dataclass(frozen=True)
class _Run:
    """A release of a period: when it falls due, what it reads, and what it costs."""

    day: date
    plan: PlannedRelease
    period: str
    blocks: tuple[str, ...]
    charge: Charge


def block_forecast(
    desk: JobDesk, day: date, readings: Mapping[str, BlockReading]
) -> BlockForecast:
    """Return what the schedule costs the blocks of the year that a day begins."""
    limit = desk.session.ledger.first_limit()
    rule, zero = limit.rule, limit.rule.zero
    year = _blocks_of_year(next(iter(readings.values())), day)
    watched = frozenset([*year, WHOLE])
    sums, person = _sums_so_far(desk, zero, watched)
    refused: list[tuple[str, str, str]] = []
    releases = 0
    whole = any(block.name == WHOLE for block in desk.session.ledger.blocks())
    for run in _runs(desk, day, readings):
        within_year = run.day <= day + _YEAR
        why = _lack_text(rule, run, sums)
        if why:
            refused += [(run.plan.name, run.period, why)] * within_year
            continue
        for block in run.blocks:
            sums[block] = rule.accept(sums.get(block, zero), run.charge)[1]
        releases += within_year
        if not watched.isdisjoint(run.blocks):
            person = person.plus(run.charge)
    return BlockForecast(
        year,
        releases,
        rule.loss_of(worst_sum(limit, (sums.get(block, zero) for block in watched))),
        rule.loss_of(person),
        rule.times(len(year) + whole).promise,
        tuple(refused),
    )


def _lack_text(rule: AbstractFilter, run: _Run, sums: Mapping[str, Charge]) -> str:
    """Return which block has less left than a release costs, "" if all have it."""
    for block in run.blocks:
        spent = sums.get(block, rule.zero)
        if not rule.holds(spent.plus(run.charge.shorten(spent))):
            cost, left = rule.loss_of(run.charge), sum_text(rule.remainder(spent))
            price = f"it costs {headline(cost)} in each block"
            return f"{price}, and {block} has {left} left"
    return ""


def _blocks_of_year(reading: BlockReading, day: date) -> tuple[str, ...]:
    """Return the blocks of somebody who is present from a day on for a year."""
    calendar = reading.blocks
    names = calendar.names(max(day, reading.first), date.max)
    return tuple(islice(names, IN_A_YEAR[calendar.every]))


def _sums_so_far(
    desk: JobDesk, zero: Charge, watched: frozenset[str]
) -> tuple[dict[str, Charge], Charge]:
    """Return what each block was charged, and what a person in some blocks was."""
    sums: dict[str, Charge] = {}
    person = zero
    for entry in desk.session.ledger.entries():
        if entry.each is not None:
            for block in entry.blocks:
                sums[block] = sums.get(block, zero).plus(entry.each)
            person = person.plus(entry.each) if watched & {*entry.blocks} else person
    return sums, person


def _runs(desk: JobDesk, day: date, readings: Mapping[str, BlockReading]) -> list[_Run]:
    """Return what falls due, in order of its days, what was missed first."""
    limit = desk.session.ledger.first_limit()
    runs: list[_Run] = []
    for plan in desk.job.releases.values():
        near = desk.in_newest(plan, day)
        price, budget = near.price(plan), near.question(plan).budget
        charge = limit.rule.charge_for(budget, price.loss)
        reading, touched = readings.get(plan.name), price.blocks
        if reading is None:
            if not desk.is_made(plan, plan.period(day)):
                runs.append(_Run(day, plan, plan.period(day), touched, charge))
            continue
        for due, period in _periods(reading, day):
            if not desk.is_made(plan, period):
                blocks = _cover(reading, period, touched)
                runs.append(_Run(max(due, day), plan, period, blocks, charge))
    return sorted(runs, key=lambda run: run.day)


def _cover(
    reading: BlockReading, period: str, touched: tuple[str, ...]
) -> tuple[str, ...]:
    """Return what a period's release is charged to, by what the newest one is."""
    whole = tuple(name for name in touched if name == WHOLE)
    return whole if touched == whole else (*whole, *reading.blocks_of(period))


def _periods(reading: BlockReading, day: date) -> Iterator[tuple[date, str]]:
    """Yield when each period is over: those so far, and those to come."""
    longest = _LONGEST * IN_A_YEAR[reading.blocks.every]
    blocks = 0 if reading.last == EVERY else min(reading.last, longest)
    years = 2 - -blocks // IN_A_YEAR[reading.blocks.every]
    for period in reading.periods_over(day + years * _YEAR):
        yield reading.schedule.next_start(reading.schedule.first_day(period)), period
