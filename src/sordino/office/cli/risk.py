"""Risk, odds, budgets as options."""

import argparse
from fractions import Fraction
from pathlib import Path
from typing import Final

from sordino.errors import InvalidJob, SordinoError
from sordino.ledger.ledger import Ledger
from sordino.losses.loss import Budget, Loss, headline
from sordino.office.cli.main import say, text_table, write, write_object
from sordino.office.job.questions import FORMS, budget_of

ALARMS: Final = ("0.01", "0.05", "0.1")
"""Shares of false alarms at which odds are told."""
_USUAL: Final = 0.05


def odds(loss: Loss) -> dict[str, float]:
    """Return the greatest share of true alarms for some shares of false ones."""
    return {alarm: float(loss.tpr_at(alarm)) for alarm in ALARMS}


def odds_sentence(loss: Loss) -> str:
    """Sentence on what a loss means to an attacker.

    >>> from sordino.losses.loss import PureDP
    >>> odds_sentence(PureDP(1))
    'Of 100 people in the data an attacker finds at most 14, accusing 5 of 100 others.'
    """
    true = float(loss.tpr_at(_USUAL))
    return (
        f"Of 100 people in the data an attacker finds at most {_percent(true)}, "
        f"accusing {_percent(_USUAL)} of 100 others."
    )


def _percent(share: float) -> str:
    """Return a share of a hundred, never rounded down.

    >>> _percent(0.1359), _percent(0.05), _percent(1.0)
    ('14', '5', '100')
    """
    return f"{-int(-100 * share // 1) if share < 1 else 100:.0f}"


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


_ROUNDING: Final = Fraction(1, 10**12)
"""Odds are told as doubles, a little above what they are."""
RISK_EXAMPLE: Final = "sordino risk --epsilon 1 --delta 1e-6"
RISK_WHAT: Final = (
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
