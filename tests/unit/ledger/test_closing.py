"""Budgets are closed and lowered, for ever, and what the first limit promised holds."""

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import sordino as sd
from sordino.errors import BudgetExceeded, InvalidParameter, UnknownName
from sordino.ledger.record_kinds import Claim
from tests.ledgers import claim

HALF = sd.ApproxDP("0.5", "1e-7")


def of(budget: Any, name: str = "dataset", key: str | None = None) -> Claim:
    return Claim(request="count", asked=budget, loss=budget, budget=name, key=key)


@pytest.fixture
def ledger(tmp_path: Path) -> sd.Ledger:
    """Return a ledger of 1 with a budget for Ana."""
    made = sd.Ledger.at(tmp_path / "a.ledger", sd.ApproxDP(1, "1e-6"), create=True)
    made.allot("ana", HALF)
    return made


def test_a_closed_budget_is_charged_nothing_more(ledger: sd.Ledger) -> None:
    tenth = sd.ApproxDP("0.1", 0)
    ledger.store(ledger.reserve(of(tenth, "ana", "kept")), b"42")
    waiting = ledger.reserve(of(tenth, "ana", "waiting"))
    ledger.close_budget("ana", who="curator", why="left")
    ledger.close_budget("ana")
    for ask in (
        lambda: ledger.reserve(of(tenth, "ana")),
        lambda: ledger.what_if(of(tenth, "ana")),
        lambda: ledger.earmark("plan", tenth, budget="ana"),
        lambda: ledger.lower("ana", sd.ApproxDP("0.3", 0)),
    ):
        with pytest.raises(BudgetExceeded, match="'ana' is closed"):
            ask()
    assert ledger.remaining("ana") == sd.ApproxDP(0, 0)
    assert ledger.reserve(of(tenth, "ana", "kept")).answer == b"42"
    assert ledger.store(waiting, b"43") == b"43"
    ledger.allot("ana", HALF)
    ledger.reserve(of(tenth))
    closings = [one for one in ledger.records() if one.kind == "closed"]
    assert [one.fields["why"] for one in closings] == ["left"]
    assert ledger.verify().releases == 3


def test_a_closed_dataset_closes_all(ledger: sd.Ledger) -> None:
    """Every release counts against it."""
    ledger.close_budget("dataset")
    for name in ("dataset", "ana"):
        with pytest.raises(BudgetExceeded, match="'dataset' is closed"):
            ledger.reserve(of(sd.ApproxDP("0.1", 0), name))
    ledger.verify()


def test_what_is_closed_or_lowered_stays_so(ledger: sd.Ledger, tmp_path: Path) -> None:
    """In another process, and by the limit that everybody knows."""
    ledger.lower("dataset", sd.ApproxDP("0.7", "1e-7"), who="curator")
    ledger.close_budget("ana")
    ledger.close()
    with sd.Ledger.at(tmp_path / "a.ledger", sd.ApproxDP(1, "1e-6")) as again:
        assert again.remaining() == sd.ApproxDP("0.7", "1e-7")
        assert again.first_limit().rule.promise == sd.ApproxDP(1, "1e-6")
        assert again.limits()["dataset"] == again.limit()
        with pytest.raises(BudgetExceeded, match="is left"):
            again.reserve(of(sd.ApproxDP("0.8", 0)))
        with pytest.raises(BudgetExceeded, match="is closed"):
            again.reserve(of(sd.ApproxDP("0.1", 0), "ana"))


@pytest.mark.parametrize(
    "limit",
    [
        sd.ApproxDP("0.8", "1e-6"),
        sd.ApproxDP("0.5", "2e-6"),
        sd.ApproxDP(2, 0),
        sd.PureDP("0.5"),
        sd.ZCDP("0.1"),
        sd.GaussianDP("0.1"),
        sd.Advantage("0.01"),
        (sd.ApproxDP("0.5", "1e-6"), "concentrated"),
    ],
    ids=repr,
)
def test_a_limit_is_never_raised(ledger: sd.Ledger, limit: Any) -> None:
    """Nor counted otherwise: that could be more of something."""
    ledger.lower("dataset", sd.ApproxDP("0.7", "1e-6"))
    before = ledger.records()
    if isinstance(limit, tuple):
        limit = sd.Limit.of(*limit)
    with pytest.raises(InvalidParameter, match="and not above it"):
        ledger.lower("dataset", limit)
    assert ledger.records() == before


def test_a_limit_is_not_lowered_below_what_is_spent(ledger: sd.Ledger) -> None:
    """Or what is set aside; the same limit again changes nothing."""
    ledger.reserve(of(sd.ApproxDP("0.3", 0), "ana"))
    ledger.earmark("plan", sd.ApproxDP("0.1", 0), budget="ana")
    with pytest.raises(InvalidParameter, match="set aside, ApproxDP"):
        ledger.lower("ana", sd.ApproxDP("0.39", "1e-7"))
    ledger.lower("ana", sd.ApproxDP("0.4", "1e-7"))
    before = ledger.records()
    ledger.lower("ana", sd.ApproxDP("0.4", "1e-7"))
    assert ledger.records() == before
    assert ledger.remaining("ana") == sd.ApproxDP(0, "1e-7")
    ledger.verify()


def test_every_way_of_counting_can_be_lowered() -> None:
    """Each number of a rule bounds a sum, so smaller ones allow less."""
    for budget, counting, reserve in (
        (sd.PureDP(1), "asked", 0),
        (sd.ZCDP(1), "asked", 0),
        (sd.GaussianDP(1), "asked", 0),
        (sd.ApproxDP(1, "1e-6"), "concentrated", "5e-7"),
        (sd.ApproxDP(1, "1e-6"), "gaussian", "5e-7"),
        (sd.Advantage("0.1"), "gaussian", 0),
    ):
        limit = sd.Limit.of(budget, counting, reserve)  # type: ignore[arg-type]
        ledger = sd.Ledger.in_memory(limit)
        smaller = sd.Limit(
            "smaller",
            type(limit.rule)(**{
                name: Fraction(number) / 2 for name, number in limit.rule.limits.items()
            }),
        )
        ledger.lower("dataset", smaller)
        assert ledger.limit() == smaller
        with pytest.raises(InvalidParameter):
            ledger.lower("dataset", limit)
        ledger.verify()


@pytest.mark.parametrize("name", ["nobody", 1, None, "", "\ud800"])
def test_unknown_budgets_are_refused(ledger: sd.Ledger, name: Any) -> None:
    before = ledger.records()
    for ask in (
        lambda: ledger.close_budget(name),
        lambda: ledger.lower(name, sd.PureDP(1)),
        lambda: ledger.history("" if name is None else name),
        lambda: ledger.first_limit(name),
    ):
        with pytest.raises((UnknownName, InvalidParameter)):
            ask()
    assert ledger.records() == before


def test_an_analyst_sees_the_own_requests_in_full(ledger: sd.Ledger) -> None:
    """And of others that, when and what: no plan, no literal, no key, no name."""
    told: dict[str, Any] = {"who": "Bob", "why": "secret", "plan": "x == 'secret'"}
    tenth = sd.ApproxDP("0.1", 0)
    ledger.allot("bob", HALF)
    ledger.reserve(of(tenth, "ana", "mine"))
    ledger.reserve(
        Claim(
            request="secret", asked=tenth, loss=tenth, budget="bob", key="his", **told
        )
    )
    mine, his = ledger.history("ana")
    assert mine == ledger.entries()[0]
    assert his.charges == {"dataset": ledger.entries()[1].charges["dataset"]}
    assert (his.key, his.who, his.why, his.plan) == (None, "", "", "")
    assert not any(word in str(vars(his)) for word in ("Bob", "secret", "his", "bob"))
    assert "of another budget" in repr(his)
    assert ledger.history() == ledger.entries()
    with pytest.raises(UnknownName, match="there is no key 'his'"):
        ledger.answer("his", "ana")


def test_names_of_who_and_why_are_text(ledger: sd.Ledger) -> None:
    for told in ({"who": 1}, {"why": None}, {"who": "\ud800"}):
        given: Any = told
        with pytest.raises(InvalidParameter, match="must be text"):
            ledger.close_budget("ana", **given)
    assert claim("k").earmark is None
