"""What `sordino check` does: what a job would do and cost, before anything is read."""

import argparse
from typing import Any, Final

from sordino.cli.job_options import (
    add_job_options,
    given_job,
    given_path,
    named_releases,
)
from sordino.cli.prices import odds_sentence, price_facts, print_price
from sordino.cli.terminal import say, write, write_object
from sordino.errors import InvalidJob
from sordino.job.forecast import Forecast, forecast
from sordino.job.job import undecided_places
from sordino.job.job_desk import JobDesk, open_to_look, today
from sordino.losses.headline import headline

EXAMPLE: Final = "sordino check clinic.toml"
WHAT: Final = (
    "Read a job file, look at the schemas of its tables, and say what each release "
    "costs, what a year costs, and when the budget ends. Nothing private is shown."
)


def add_check_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments, and what runs."""
    parser.set_defaults(run=check_job)
    add_job_options(parser, "releases of it (all)")


def check_job(arguments: argparse.Namespace) -> None:
    """Print what a job would do."""
    _refuse_undecided(arguments)
    job, names = given_job(arguments)
    desk = open_to_look(job)
    outlook = forecast(desk, today())
    prices = {plan.name: desk.price(plan) for plan in named_releases(desk, names)}
    if arguments.json:
        facts = {name: price_facts(price) for name, price in prices.items()}
        write_object("check", {"releases": facts} | _facts(desk, outlook))
        return
    write(f"{job.path.name}: {', '.join(job.releases) or 'no release yet'}")
    for holding in desk.session.describe().holdings:
        say(f"{holding.name}: {holding.sentence}")
    for name, price in prices.items():
        write()
        print_price(name, price, desk.session.remaining)
    write()
    _show_year(desk, outlook)


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


def _show_year(desk: JobDesk, outlook: Forecast) -> None:
    """Print what a year costs, and when the budget ends."""
    limit = desk.session.budget
    releases = "1 release, which costs"
    if outlook.releases != 1:
        releases = f"{outlook.releases} releases, which cost"
    say(
        f"A year from today: {releases} {headline(outlook.spent)}; spent by then "
        f"{headline(outlook.after)} of {headline(limit)}."
    )
    if outlook.refused is None:
        say("The budget lasts for a year or longer.")
    else:
        name, period = outlook.refused
        say(f"The budget ends within a year: {name} of {period} would be refused.")
    say(f"All of the budget: {odds_sentence(limit)}")
    say("Nothing was charged, and nothing private is shown.")


def _facts(desk: JobDesk, outlook: Forecast) -> dict[str, Any]:
    """Return the same for JSON."""
    return {
        "limit": headline(desk.session.budget),
        "left": headline(desk.session.remaining),
        "year": {
            "releases": outlook.releases,
            "loss": headline(outlook.spent),
            "spent": headline(outlook.after),
            "refused": outlook.refused,
        },
    }
