"""Budgets that protect nobody are accepted, with a warning in odds."""

import warnings
from typing import Any, Final

import pytest

import sordino as sd
from sordino.errors import WeakBudget

TABLES: Final = {
    "visits": sd.PrivateTable({"age": [1]}, protects=sd.AddOneRow()),
}
WEAK: Final = (
    (sd.ApproxDP(1, "0.5"), "53 times in 100"),
    (sd.ApproxDP("0.1", "0.0011"), "2 times in 100"),
    (sd.PureDP("10.5"), "100 times in 100"),
    (sd.PureDP(10**6), "100 times in 100"),
    (sd.ApproxDP(10**18, "0.9"), "100 times in 100"),
    (sd.ZCDP(5), "times in 100"),
    (sd.GaussianDP(4), "times in 100"),
)
STRONG: Final = (
    *(sd.PureDP(10), sd.ApproxDP(10, "1e-6"), sd.ApproxDP(1, "1e-3"), sd.PureDP("0.1")),
    *(sd.ZCDP(1), sd.GaussianDP(1), sd.Advantage("0.9")),
)


def opened(budget: Any) -> list[warnings.WarningMessage]:
    """Return what a session with a budget warns of."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        sd.Session(TABLES, budget, engine="memory")
    return told


@pytest.mark.parametrize(("budget", "odds"), WEAK, ids=lambda one: str(one)[:30])
def test_a_weak_budget_is_told_in_odds(budget: Any, odds: str) -> None:
    """Once, in the line that opens the session, of a kind that can be filtered."""
    (told,) = opened(budget)
    assert told.category is WeakBudget
    assert odds in str(told.message)
    assert told.filename == __file__


@pytest.mark.parametrize("budget", STRONG, ids=str)
def test_other_budgets_are_not(budget: Any) -> None:
    """Also at the very ends: epsilon 10, delta 1e-3."""
    assert not opened(budget)
