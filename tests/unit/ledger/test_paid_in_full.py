"""What a ledger charges is enough, and what it says of paid answers is a bound."""

import pickle
from fractions import Fraction
from itertools import product
from typing import Any

import pytest

import sordino as sd
from sordino.errors import InvalidParameter, SessionMoved
from sordino.ledger.answers import read_loss
from sordino.ledger.record_kinds import Claim
from sordino.ledger.verification import pays_what_it_says
from sordino.numbers import INFINITE
from tests.batches import for_each

LIMITS = [
    sd.Limit.of(sd.PureDP(9)),
    sd.Limit.of(sd.ApproxDP(9, "0.5")),
    sd.Limit.of(sd.ZCDP(9)),
    sd.Limit.of(sd.ApproxZCDP(9, "0.5")),
    sd.Limit.of(sd.GaussianDP(9)),
    sd.Limit.of(sd.Advantage("0.9")),
    sd.Limit.of(sd.ApproxDP(9, "0.10005"), "concentrated", reserve="0.1"),
    sd.Limit.of(sd.ApproxDP(9, "0.5"), "gaussian", reserve="0.1"),
]
TOGETHER = sd.compose([sd.PureDP("0.1"), sd.GaussianDP("1/7")])
"""As a budget it is not read back: what is known of the loss counts alone."""
LOSSES: list[Any] = [
    sd.PureDP("0.1"),
    sd.PureDP("sqrt(2)/3"),
    sd.ApproxDP("1/3", "1e-9"),
    sd.ZCDP("0.01"),
    sd.ZCDP("sqrt(3)/70"),
    sd.ApproxZCDP("0.01", "1e-9"),
    sd.GaussianDP("0.1"),
    sd.GaussianDP("sqrt(2)/9"),
    TOGETHER,
    sd.PureDP(0),
]
BUDGETS: list[Any] = [
    *LOSSES,
    sd.Advantage("0.2"),
    sd.PureDP("1.5"),
    sd.ApproxDP(2, "1e-3"),
]


@for_each("limit", LIMITS, ids=lambda limit: limit.stated)
def test_what_a_ledger_charges_is_enough(limit: sd.Limit) -> None:
    """For any budget and loss that a rule counts: verify agrees, and not to less."""
    wrong, counted = [], 0
    for asked, loss in product(BUDGETS, LOSSES):
        ledger = sd.Ledger.in_memory(limit)
        claim = Claim(request="1f", asked=asked, loss=loss)
        try:
            ledger.reserve(claim)
        except (InvalidParameter, sd.errors.BudgetExceeded):
            continue
        counted += 1
        ledger.verify()
        if asked is TOGETHER:
            continue
        fields = ledger.records()[-1].fields
        [entry] = ledger.entries()
        paid = entry.charges["dataset"]
        for place, amount in enumerate(paid.amounts):
            if amount == 0 or amount == float("inf"):
                continue
            less: list[Any] = list(paid.amounts)
            less[place] = amount * (1 - Fraction(1, 10**6))
            short = type(paid)(paid.coordinates, tuple(less))
            if pays_what_it_says(fields, [(ledger.limit().rule, short)]):
                wrong.append((asked, loss, paid.coordinates[place]))
    assert wrong == []
    assert counted > 5


NOTHING = {"epsilon": "inf", "delta": "1/10", "rho": "inf", "mu": "inf"}


@for_each(
    ("known", "bound"),
    [
        ({"epsilon": "2/1"}, sd.ApproxDP(2, "0.1")),
        ({"epsilon": "2/1", "delta": "0/1"}, sd.PureDP(2)),
        ({"mu": "1/2", "delta": "0/1"}, sd.GaussianDP("0.5")),
        ({"rho": "1/8"}, sd.ApproxZCDP("0.125", "0.1")),
        ({"rho": "1/8", "delta": "0/1"}, sd.ZCDP("0.125")),
        ({}, sd.ApproxDP(INFINITE, "0.1")),
        ({"rho": "no number", "delta": "none"}, sd.ApproxDP(INFINITE, 1)),
    ],
)
def test_the_first_finite_guarantee_is_taken(known: Any, bound: sd.Loss) -> None:
    """Beside delta; what cannot be read promises nothing."""
    assert read_loss(NOTHING | known) == bound


def test_a_ledger_is_not_copied() -> None:
    with sd.Ledger.in_memory(sd.PureDP(1)) as ledger:
        assert repr(ledger).startswith("Ledger(")
        with pytest.raises(SessionMoved, match="copied or pickled"):
            pickle.dumps(ledger)
