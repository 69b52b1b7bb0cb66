"""Budgets as options: `--epsilon 1 --delta 1e-6`, `--rho 0.1`, `--mu 0.2`, ..."""

import argparse

from sordino.errors import InvalidJob, SordinoError
from sordino.job.budgets import FORMS, budget_of
from sordino.losses.base import Budget

_NAMES = tuple(dict.fromkeys(name for form in FORMS for name in form))


def add_budget_options(parser: argparse.ArgumentParser) -> None:
    """Add a number of each name that a budget may have."""
    for name in _NAMES:
        parser.add_argument(f"--{name}", metavar="N", help=f"{name} of the budget")


def given_budget(arguments: argparse.Namespace) -> Budget | None:
    """Return the budget that is given, None if none is."""
    numbers = {
        name: vars(arguments)[name]
        for name in _NAMES
        if vars(arguments)[name] is not None
    }
    try:
        budget = budget_of(numbers)
    except SordinoError as error:
        raise InvalidJob("the budget", f"is refused: {error}", "") from None
    if numbers and budget is None:
        forms = ", ".join(" and ".join(f"--{name}" for name in form) for form in FORMS)
        raise InvalidJob(
            " and ".join(f"--{name}" for name in numbers),
            "make no budget",
            f"Give one of: {forms}.",
        )
    return budget
