"""What `sordino ledger` does with shares of a budget: allot, lower, set aside, free.

Nothing is charged, and no limit is ever raised.
"""

import argparse
from typing import Any

from sordino.budgets.limits import Limit
from sordino.cli.budget_options import given_budget
from sordino.cli.ledger import open_ledger
from sordino.cli.signer_option import read_signer
from sordino.cli.terminal import say, write_object
from sordino.errors import InvalidJob
from sordino.ledger.entries import DATASET
from sordino.ledger.ledger import Ledger
from sordino.losses.base import Budget
from sordino.losses.headline import headline


def allot_budget(arguments: argparse.Namespace) -> None:
    """Give somebody a budget of their own, under that of the dataset."""
    limit = _limit(arguments)
    with _open_to_change(arguments) as ledger:
        ledger.allot(arguments.budget, limit)
        _tell(arguments, ledger, f"{arguments.budget} has {limit.stated}.")


def lower_budget(arguments: argparse.Namespace) -> None:
    """Lower the limit of a budget."""
    limit = _limit(arguments)
    with _open_to_change(arguments) as ledger:
        ledger.lower(arguments.budget, limit, who=arguments.who, why=arguments.why)
        _tell(arguments, ledger, f"{arguments.budget} has now {limit.stated}.")


def earmark_part(arguments: argparse.Namespace) -> None:
    """Set a part of a budget aside."""
    amount: Any = _budget(arguments)
    with _open_to_change(arguments) as ledger:
        ledger.earmark(
            arguments.name,
            amount,
            budget=arguments.budget,
            who=arguments.who,
            why=arguments.why,
        )
        _tell(arguments, ledger, f"{amount!r} is set aside for {arguments.name}.")


def free_part(arguments: argparse.Namespace) -> None:
    """Give back what is left of what was set aside."""
    with _open_to_change(arguments) as ledger:
        ledger.free(arguments.name, who=arguments.who, why=arguments.why)
    say(f"What was left of {arguments.name} can be spent again.")


def _open_to_change(arguments: argparse.Namespace) -> Ledger:
    """Return the ledger, which is written to."""
    return open_ledger(arguments, read_signer(arguments.signer))


def _budget(arguments: argparse.Namespace) -> Budget:
    """Return the budget that must be given."""
    budget = given_budget(arguments)
    if budget is None:
        raise InvalidJob("the budget", "must be given", "Try --epsilon 0.5.")
    return budget


def _limit(arguments: argparse.Namespace) -> Limit:
    """Return the budget as a limit, and how it is counted."""
    return Limit.of(_budget(arguments), arguments.counting, arguments.reserve)


def _tell(arguments: argparse.Namespace, ledger: Ledger, sentence: str) -> None:
    """Say what was done, and what is left of the budget."""
    left = ledger.remaining(arguments.budget)
    if arguments.json:
        facts = {
            "budget": arguments.budget,
            "limit": ledger.limit(arguments.budget).stated,
            "left": headline(left),
            "set aside": {
                earmark.name: headline(earmark.left)
                for earmark in ledger.earmarks()
                if arguments.budget in {DATASET, earmark.budget}
            },
        }
        write_object("budget", facts)
        return
    say(sentence)
    say(f"left of {arguments.budget}: {left!r}")
