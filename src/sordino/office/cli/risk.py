"""What a loss means to an attacker; budgets as options."""

from argparse import Namespace
from fractions import Fraction
from typing import Final

from sordino.errors import InvalidJob, SordinoError
from sordino.ledger.ledger import Ledger
from sordino.losses.loss import Budget, Loss, headline
from sordino.office.cli.main import (
    JSON,
    WITNESS,
    Command,
    ledger_place,
    list_option,
    option,
    say,
    text_table,
    write,
    write_object,
)
from sordino.office.job.questions import FORMS, budget_of

ALARMS: Final = ("0.01", "0.05", "0.1")
"""Shares of false alarms at which odds are printed."""
_USUAL: Final = 0.05


def odds(loss: Loss) -> dict[str, float]:
    """Greatest share of true alarms, by shares of false ones."""
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
    """Share of a hundred, never rounded down.

    >>> _percent(0.1359), _percent(0.05), _percent(1.0)
    ('14', '5', '100')
    """
    return f"{-int(-100 * share // 1) if share < 1 else 100:.0f}"


_NAMES = tuple(dict.fromkeys(name for form in FORMS for name in form))


BUDGET: Final = tuple(
    option(f"--{name}", "N", f"{name} of the budget") for name in _NAMES
)


def given_budget(arguments: Namespace) -> Budget | None:
    """Budget that the options state, None if none does."""
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
"""Odds are doubles, a little above what they are: 5 % stays 5 %."""


def _show_risk(arguments: Namespace) -> None:
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


def _loss(arguments: Namespace) -> Loss:
    budget = given_budget(arguments)
    if (budget is None) == (arguments.path is None):
        raise InvalidJob(
            "sordino risk", "needs a budget or a ledger", "Try --epsilon 1."
        )
    if budget is None:
        with Ledger.read(arguments.path, witness=arguments.witness) as ledger:
            return ledger.first_limit().promise
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
    """Share as per cent, rounded up at the third decimal.

    >>> _percents("0.05"), _percents(0.13591), _percents(0.05 + 2e-17)
    ('5 %', '13.591 %', '5 %')
    """
    thousandths = -(-(Fraction(share) - _ROUNDING) * 10**5 // 1)
    return f"{min(int(thousandths), 10**5) / 1000:g} %"


RISK: Final = Command(
    "risk",
    "Say what a budget, or all that a ledger allows, means to an attacker who knows "
    "everything but whether one person is in the data.",
    "sordino risk --epsilon 1 --delta 1e-6",
    _show_risk,
    (
        option("path", "LEDGER", "a ledger, for its limit", ledger_place, nargs="?"),
        WITNESS,
        *BUDGET,
        list_option(
            "--at",
            "SHARE",
            "a share of false alarms at which odds are told; may be repeated",
        ),
        JSON,
    ),
)
