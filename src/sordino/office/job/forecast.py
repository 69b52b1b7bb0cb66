"""What a year of a job costs, and the budget that brings a column within a width.

Where each block has a budget of its own, a release counts once for a person, whichever
of the person's blocks it reads, and in the budget of each of these blocks: so a person
over a year is charged at most the sum over the blocks, and less where a release reads
several.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from fractions import Fraction
from itertools import islice
from operator import itemgetter
from typing import Final, final

from sordino.errors import BudgetExceeded, InvalidQuery
from sordino.expressions.schema import unknown
from sordino.ledger.blocks import sum_text, worst_sum
from sordino.ledger.record_kinds import DATASET, Entry
from sordino.losses.budgets.blocks import WHOLE
from sordino.losses.budgets.charge import Charge
from sordino.losses.budgets.filters import AbstractFilter
from sordino.losses.budgets.limits import Limit
from sordino.losses.loss import Loss, headline
from sordino.office.job.outputs import starts
from sordino.office.job.questions import EVERY, BlockReading, PlannedRelease
from sordino.office.job.running import JobDesk
from sordino.plan.price import Price
from sordino.query.request import Request

_STEPS: Final = 12
_MOST: Final = 2**20
"""Times the budget that is stated: who needs more asks another question."""


def least_budget(
    desk: JobDesk, plan: PlannedRelease, column: str, width: Fraction
) -> Loss:
    """Loss of a release that has a column within a width.

    It is the stated budget times a factor, the least one to one part in 4096.
    """
    question = desk.question(plan)
    requests, budget = question.requests, question.budget
    if not isinstance(requests, Request) or not isinstance(budget, Loss):
        raise InvalidQuery(
            "only one request with a budget that is a loss can be made more exact",
            "Change the budget by hand, and price it again",
        )

    def price(times: Fraction) -> Price:
        larger = budget.times(times)
        return desk.session.price(requests, larger, confidence=plan.confidence)

    if column not in price(Fraction(1)).errors:
        raise unknown("column", column, price(Fraction(1)).errors)
    return price(
        _least(lambda times: price(times).errors[column].half_width <= width)
    ).loss


def _least(is_enough: Callable[[Fraction], bool]) -> Fraction:
    high = Fraction(1)
    while not is_enough(high):
        high *= 2
        if high > _MOST:
            raise InvalidQuery("no budget is enough", "Ask with other limits")
    low = high / 2
    while is_enough(low) and low > Fraction(1, _MOST):
        low, high = low / 2, low
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    return high  # the upper end: a little too much, never a width that is missed


_YEAR: Final = timedelta(365)
IN_A_YEAR: Final = {"year": 1, "quarter": 4, "month": 12, "week": 52, "day": 365}
"""Blocks of each kind in a year."""
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
    """Cost of the schedule for each block of the year that begins on a day."""
    limit = desk.session.ledger.first_limit()
    rule, zero = limit.rule, limit.rule.zero
    year = _blocks_of_year(next(iter(readings.values())), day)
    watched = frozenset([*year, WHOLE])
    entries = desk.session.ledger.entries()
    sums, person = _block_sums(entries, zero), zero
    for entry in entries:
        if entry.each is not None and not watched.isdisjoint(entry.blocks):
            # once, however many of its blocks are read
            person = person.plus(entry.each)
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
    for block in run.blocks:
        spent = sums.get(block, rule.zero)
        if not rule.holds(spent.plus(run.charge.shorten(spent))):
            cost, left = rule.loss_of(run.charge), sum_text(rule.remainder(spent))
            price = f"it costs {headline(cost)} in each block"
            return f"{price}, and {block} has {left} left"
    return ""


def _blocks_of_year(reading: BlockReading, day: date) -> tuple[str, ...]:
    names = reading.blocks.names(max(day, reading.first), date.max)
    return tuple(islice(names, IN_A_YEAR[reading.blocks.every]))


def _block_sums(entries: Iterable[Entry], zero: Charge) -> dict[str, Charge]:
    sums: dict[str, Charge] = {}
    for entry in entries:
        if entry.each is not None:
            for block in entry.blocks:
                sums[block] = sums.get(block, zero).plus(entry.each)
    return sums


def _runs(desk: JobDesk, day: date, readings: Mapping[str, BlockReading]) -> list[_Run]:
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
    return sorted(runs, key=lambda run: run.day)  # as they would be charged


def _cover(
    reading: BlockReading, period: str, touched: tuple[str, ...]
) -> tuple[str, ...]:
    whole = tuple(name for name in touched if name == WHOLE)
    return whole if touched == whole else (*whole, *reading.blocks_of(period))


def _periods(reading: BlockReading, day: date) -> Iterator[tuple[date, str]]:
    """Yield when each period is over: those so far, and those to come."""
    longest = _LONGEST * IN_A_YEAR[reading.blocks.every]
    blocks = 0 if reading.last == EVERY else min(reading.last, longest)
    years = 2 - -blocks // IN_A_YEAR[reading.blocks.every]
    # runs after the year still charge its blocks, as far back as a release reads
    for period in reading.periods_over(day + years * _YEAR):
        yield reading.schedule.next_start(reading.schedule.first_day(period)), period


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
    """Cost of a year's scheduled releases that are not made yet."""
    limit = desk.session.ledger.limit(desk.job.ledger.analyst or DATASET)
    before = _sum_of_charges(desk, limit)
    total, year, count = before, limit.rule.zero, 0
    costs = {
        name: limit.rule.charge_for(desk.question(plan).budget, desk.price(plan).loss)
        for name, plan in desk.job.releases.items()
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
    runs: list[tuple[date, PlannedRelease, str]] = []
    for plan in desk.job.releases.values():
        days = [day]
        if plan.schedule is not None:
            days = list(starts(plan.schedule, day, day + _YEAR))
        runs += [(start, plan, plan.period(start)) for start in days]
    runs.sort(key=itemgetter(0))
    return [run for run in runs if not desk.is_made(*run[1:])]


def _sum_of_charges(desk: JobDesk, limit: Limit) -> Charge:
    name, entries = desk.job.ledger.analyst or DATASET, desk.session.ledger.entries()
    total, zero = limit.rule.zero, limit.rule.zero
    for entry in entries:
        if name in entry.charges:
            total = total.plus(entry.charges[name])
    each = _block_sums(entries, zero) if name == DATASET else {}
    return worst_sum(limit, [total, *each.values()])
