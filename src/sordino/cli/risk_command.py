"""What `sordino risk` does: it says what a budget means to an attacker."""

import argparse
from fractions import Fraction
from pathlib import Path
from typing import Final

from sordino.cli.budget_options import add_budget_options, given_budget
from sordino.cli.odds_text import ALARMS
from sordino.cli.terminal import say, text_table, write, write_object
from sordino.errors import InvalidJob, SordinoError
from sordino.ledger.ledger import Ledger
from sordino.losses.base import Loss
from sordino.losses.headline import headline

_ROUNDING: Final = Fraction(1, 10**12)
"""Odds are told as doubles, a little above what they are."""
EXAMPLE: Final = "sordino risk --epsilon 1 --delta 1e-6"
WHAT: Final = (
    "Say what a budget, or all that a ledger allows, means to an attacker who knows "
    "everything but whether one person is in the data."
)


def add_risk_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments, and what runs."""
    parser.set_defaults(run=show_risk)
    parser.add_argument(
        "path", nargs="?", type=Path, metavar="LEDGER", help="a ledger, for its limit"
    )
    parser.add_argument(
        "--witness", type=Path, metavar="PATH", help="the witness of that ledger"
    )
    add_budget_options(parser)
    parser.add_argument(
        "--at",
        action="append",
        metavar="SHARE",
        help="a share of false alarms at which odds are told; may be repeated",
    )
    parser.add_argument("--json", action="store_true", help="print JSON")


def show_risk(arguments: argparse.Namespace) -> None:
    """Print the odds."""
    loss = _loss(arguments)
    odds = {share: _odds_at(loss, share) for share in arguments.at or ALARMS}
    if arguments.json:
        facts = {
            "loss": headline(loss),
            "odds": odds,
            "advantage": float(loss.advantage()),
        }
        write_object("risk", facts)
        return
    write(headline(loss))
    for sentence in loss.explain().splitlines():
        say(sentence)
    write()
    rows = [("accused wrongly", "found at most")]
    rows += [(_percents(share), _percents(most)) for share, most in odds.items()]
    text_table(rows)


def _loss(arguments: argparse.Namespace) -> Loss:
    """Return the loss that is given, or the limit of a ledger."""
    budget = given_budget(arguments)
    if (budget is None) == (arguments.path is None):
        raise InvalidJob(
            "sordino risk", "needs a budget or a ledger", "Try --epsilon 1."
        )
    if budget is None:
        with Ledger.read(arguments.path, witness=arguments.witness) as ledger:
            return ledger.first_limit().rule.promise
    if not isinstance(budget, Loss):
        raise InvalidJob(
            repr(budget), "is a risk already", "Give --epsilon, --rho or --mu."
        )
    return budget


def _odds_at(loss: Loss, share: str | float) -> float:
    """Return how often an attacker finds the person at a share of false alarms."""
    try:
        return float(loss.tpr_at(share))
    except SordinoError as error:
        raise InvalidJob("--at", f"is refused: {error}", "") from None


def _percents(share: str | float) -> str:
    """Return a share as per cent, rounded up at the third decimal.

    >>> _percents("0.05"), _percents(0.13591), _percents(0.05 + 2e-17)
    ('5 %', '13.591 %', '5 %')
    """
    thousandths = -(-(Fraction(share) - _ROUNDING) * 10**5 // 1)
    return f"{min(int(thousandths), 10**5) / 1000:g} %"
