"""What `sordino price` does: it says what a release would cost, and reads no row."""

import argparse
from fractions import Fraction
from typing import Final

from sordino.cli.job_options import (
    add_clock_options,
    add_job_options,
    given_job,
    named_releases,
    said_day,
)
from sordino.cli.prices import price_facts, print_price
from sordino.cli.terminal import say, write_object
from sordino.errors import InvalidJob, show
from sordino.job.job_desk import open_to_look, today
from sordino.job.needed_budget import least_budget
from sordino.losses.headline import headline

_WIDEST: Final = 10**300
EXAMPLE: Final = "sordino price clinic.toml wards"
WHAT: Final = (
    "Say what releases of a job would cost, how far off each column would be, and what "
    "that means to an attacker. Nothing is charged, and nothing private is shown."
)


def add_price_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments, and what runs."""
    parser.set_defaults(run=print_prices)
    add_job_options(parser, "releases of it (all)")
    add_clock_options(parser)
    parser.add_argument(
        "--within",
        action="append",
        default=[],
        metavar="COLUMN=N",
        help="what it takes for a column to be within N; may be repeated",
    )


def print_prices(arguments: argparse.Namespace) -> None:
    """Print what releases would cost."""
    job, names = given_job(arguments)
    desk = open_to_look(job, said_day(arguments))
    wanted = dict(map(_column_and_width, arguments.within))
    for plan in named_releases(desk, names):
        near = desk.in_newest(plan, arguments.on or today())
        price = near.price(plan)
        needed = {
            column: headline(least_budget(near, plan, column, width))
            for column, width in wanted.items()
        }
        if arguments.json:
            facts = {"release": plan.name} | price_facts(price, near.session)
            write_object("price", facts | ({"needed": needed} if needed else {}))
            continue
        print_price(plan.name, price, near.session)
        for column, loss in needed.items():
            say(f"{column} within ±{float(wanted[column]):g} needs {loss} in all.")


def _column_and_width(text: str) -> tuple[str, Fraction]:
    """Return COLUMN=N in two."""
    column, _, number = text.rpartition("=")
    try:
        width = Fraction(number)
    except (ValueError, ZeroDivisionError):
        width = Fraction(0)
    if not column or not 0 < width < _WIDEST:
        raise InvalidJob("--within", f"must be COLUMN=N, got {show(text)}", "Try n=10.")
    return column, width
