"""What a ledger recorded of a loss is a bound, whichever part of it is finite."""

import pickle
from typing import Any

import pytest

import sordino as sd
from sordino.errors import SessionMoved
from sordino.ledger.answers import read_loss
from sordino.numbers import INFINITE
from tests.batches import for_each

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
