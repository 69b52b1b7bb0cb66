"""What `sordino check` does: what a job would do and cost, before anything is read."""

import argparse
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from sordino.cli.job_options import (
    add_clock_options,
    add_job_options,
    given_job,
    given_path,
    named_releases,
    said_day,
)
from sordino.cli.metrics import metrics_text
from sordino.cli.prices import price_facts, print_price
from sordino.cli.terminal import say, write, write_object
from sordino.cli.year_ahead import look_ahead
from sordino.errors import InvalidJob
from sordino.job.job import undecided_places
from sordino.job.job_desk import open_to_look, today
from sordino.release.whole_files import write_text

EXAMPLE: Final = "sordino check clinic.toml"
WHAT: Final = (
    "Read a job file, look at the schemas of its tables, and say what each release "
    "costs, what a year costs, and when the budget ends. Nothing private is shown."
)


def add_check_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments, and what runs."""
    parser.set_defaults(run=check_job)
    add_job_options(parser, "releases of it (all)")
    parser.add_argument(
        "--metrics",
        type=Path,
        metavar="FILE",
        help="write what a monitor reads, as OpenMetrics, to a file",
    )
    add_clock_options(parser)


def check_job(arguments: argparse.Namespace) -> None:
    """Print what a job would do."""
    _refuse_undecided(arguments)
    job, names = given_job(arguments)
    desk = open_to_look(job, said_day(arguments))
    day = arguments.on or today()
    if arguments.metrics is not None:
        write_text(arguments.metrics, metrics_text(desk, day, datetime.now(UTC)))
    outlook = look_ahead(desk, day)
    prices = {}
    for plan in named_releases(desk, names):
        near = desk.in_newest(plan, day)
        prices[plan.name] = near.price(plan), near.session
    waiting = [why for run in desk.due(day) if (why := desk.waits(*run))]
    if arguments.json:
        facts = {name: price_facts(*priced) for name, priced in prices.items()}
        write_object("check", {"releases": facts, "waiting": waiting} | outlook.facts)
        return
    write(f"{job.path.name}: {', '.join(job.releases) or 'no release yet'}")
    for holding in desk.session.describe().holdings:
        say(f"{holding.name}: {holding.sentence}")
    for name, priced in prices.items():
        write()
        print_price(name, *priced)
    write()
    for sentence in outlook.sentences:
        say(sentence)
    for why in waiting:
        say(f"{why}. Until then --due does not make it.")
    say("Nothing was charged, and nothing private is shown.")


def _refuse_undecided(arguments: argparse.Namespace) -> None:
    """Refuse a file in which a person still has to choose, naming every place."""
    path = given_path(arguments)
    places = undecided_places(path)
    if places:
        raise InvalidJob(
            str(path),
            f"is still to be decided at {', '.join(places)}",
            'Put what you choose in place of each "?".',
        )
