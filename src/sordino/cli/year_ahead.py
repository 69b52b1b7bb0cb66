"""The year ahead of a job in sentences and as JSON: what it costs, when it ends."""

from dataclasses import dataclass
from datetime import date
from typing import Any, final

from sordino.budgets.touched import blocks_text
from sordino.cli.odds_text import odds, odds_sentence
from sordino.cli.quantities import quantities
from sordino.job.block_forecast import BlockForecast, block_forecast
from sordino.job.forecast import forecast
from sordino.job.job_desk import JobDesk
from sordino.losses.headline import headline
from sordino.numbers import down


@final
@dataclass(frozen=True)
class YearAhead:
    """What is said of the year, to a person and to a program."""

    sentences: tuple[str, ...]
    facts: dict[str, Any]


def look_ahead(desk: JobDesk, day: date) -> YearAhead:
    """Return what the scheduled releases of a year cost, and whom."""
    readings = {
        plan.name: plan.reading
        for plan in desk.job.releases.values()
        if plan.reading is not None
    }
    if readings:
        return _year_of_blocks(desk, block_forecast(desk, day, readings))
    return _year_of_one_budget(desk, day)


def _year_of_one_budget(desk: JobDesk, day: date) -> YearAhead:
    """Return what a budget for all that is ever published comes to."""
    limit, outlook = desk.session.budget, forecast(desk, day)
    end = "The budget lasts for a year or longer."
    if outlook.refused is not None:
        name, period = outlook.refused
        end = f"The budget ends within a year: {name} of {period} would be refused."
    cost = (
        f"A year from today: {_count_text(outlook.releases)} "
        f"{headline(outlook.spent)}; spent by then {headline(outlook.after)} of "
        f"{headline(limit)}."
    )
    sentences = (cost, end, f"All of the budget: {odds_sentence(limit)}")
    year = {
        "releases": outlook.releases,
        "loss": headline(outlook.spent),
        "loss_numbers": quantities(outlook.spent),
        "spent": headline(outlook.after),
        "refused": outlook.refused,
    }
    left = headline(desk.session.remaining)
    facts = {
        "limit": headline(limit),
        "limit_numbers": quantities(limit),
        "left": left,
        "left_numbers": quantities(desk.session.remaining, down),
        "year": year,
    }
    return YearAhead(sentences, facts)


def _year_of_blocks(desk: JobDesk, outlook: BlockForecast) -> YearAhead:
    """Return what the blocks of a year come to, for one person in all of them."""
    limit, person = headline(desk.session.budget), headline(outlook.person)
    most = headline(outlook.most)
    cost = (
        f"The year from today is {blocks_text(outlook.blocks)}, each with a budget of "
        f"its own, {limit}: {_count_text(outlook.releases)} a block at most "
        f"{headline(outlook.one)}."
    )
    sentences = [
        cost,
        f"A person present all year loses {person} as scheduled, {most} at most.",
        f"As scheduled: {odds_sentence(outlook.person)}",
        f"At most: {odds_sentence(outlook.most)}",
    ]
    if not outlook.refused:
        sentences.append("No budget ends: the schedule fits into that of each block.")
    for name, period, why in outlook.refused[:3]:
        sentences.append(f"{name} of {period} would be refused: {why}.")
    if len(outlook.refused) > 3:
        sentences.append(f"So would {len(outlook.refused) - 3:,} more of the year.")
    year = {
        "blocks": list(outlook.blocks),
        "releases": outlook.releases,
        "one_block": headline(outlook.one),
        "person": {"scheduled": person, "most": most},
        "odds": {"scheduled": odds(outlook.person), "most": odds(outlook.most)},
        "refused": [list(run) for run in outlook.refused],
    }
    numbers = quantities(desk.session.budget)
    facts = {"limit": limit, "limit_numbers": numbers, "year": year}
    return YearAhead(tuple(sentences), facts)


def _count_text(count: int) -> str:
    """Return how many releases there are, and that they cost.

    >>> _count_text(1), _count_text(12)
    ('1 release, which costs', '12 releases, which cost')
    """
    return f"{count} releases, which cost" if count != 1 else "1 release, which costs"
