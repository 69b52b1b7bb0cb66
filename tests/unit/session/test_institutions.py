"""Sessions of analysts, of closed and lowered budgets, and of planned reports."""

from pathlib import Path

import pytest

import sordino as sd
from sordino.errors import BudgetExceeded, UnknownName
from tests.unit.session.test_paid_answers import MANY, QUARTER, session, told

TENTH = sd.ApproxDP("0.1", 0)


@pytest.fixture
def curator(tmp_path: Path) -> sd.Session:
    """Return a session of the dataset, with a budget for Ana and for Bob."""
    path = tmp_path / "clinic.ledger"
    made = sd.Ledger.at(path, sd.ApproxDP(1, "1e-6"), create=True)
    for name in ("ana", "bob"):
        made.allot(name, sd.ApproxDP("0.5", "1e-6"))
    return session(made)


def test_an_analyst_sees_and_reads_the_own_answers(curator: sd.Session) -> None:
    """Of others that, when and how much; the curator sees all."""
    ana, bob = (session(curator.ledger, analyst=name) for name in ("ana", "bob"))
    mine = ana.release(MANY["all"], TENTH, key="mine", why="staffing")
    bob.release(MANY["long: stays"], QUARTER, key="his", why="a secret")
    own, other = ana.history()
    assert (own.key, own.why) == ("mine", "staffing")
    assert "secret" not in str(vars(other))
    assert "days" not in str(vars(other))
    assert other.charges["dataset"].amounts[0] == QUARTER.epsilon
    assert told(ana.answer("mine")) == told(mine)
    for key in ("his", "nobody's"):
        with pytest.raises(UnknownName, match="there is no key"):
            ana.answer(key)
    assert [one.key for one in curator.history()] == ["mine", "his"]
    assert told(curator.answer("mine")) == told(mine)


def test_a_planned_report_has_what_it_needs(curator: sd.Session) -> None:
    """One release, several together, and the same again at no cost."""
    curator.ledger.earmark("report", sd.ApproxDP("0.75", "1e-7"))
    with pytest.raises(BudgetExceeded):
        curator.release(MANY["all"], sd.ApproxDP("0.5", 0))
    outlook = curator.what_if(MANY["all"], QUARTER, earmark="report")
    assert outlook.remaining == curator.remaining
    first = curator.release(MANY["all"], QUARTER, key="a", earmark="report")
    again = curator.release(MANY["all"], QUARTER, key="a", earmark="report")
    assert told(again) == told(first)
    together = sd.ApproxDP("0.5", "1e-7")
    curator.release_all(MANY, together, key="b", earmark="report")
    (mark,) = curator.ledger.earmarks()
    assert mark.left == sd.ApproxDP(0, 0)
    assert curator.spent == sd.ApproxDP("0.75", "1e-7")
    with pytest.raises(BudgetExceeded, match="is left of what was set aside"):
        curator.release(MANY["all"], TENTH, earmark="report")
    with pytest.raises(UnknownName, match="there is no earmark 'repotr'"):
        curator.release(MANY["all"], TENTH, earmark="repotr")
    curator.ledger.free("report")
    curator.release(MANY["all"], QUARTER)
    assert curator.ledger.verify().releases == 3


def test_sessions_of_lowered_and_closed_budgets(curator: sd.Session) -> None:
    ledger = curator.ledger
    ana = session(ledger, analyst="ana")
    ana.release(MANY["all"], TENTH, key="mine")
    ledger.lower("dataset", sd.ApproxDP("0.5", "1e-6"))
    ledger.close_budget("ana")
    again = session(ledger, budget=sd.ApproxDP(1, "1e-6"))
    assert again.remaining == sd.ApproxDP("0.4", "1e-6")
    assert again.budget == sd.ApproxDP(1, "1e-6")
    with pytest.raises(BudgetExceeded):
        again.release(MANY["all"], sd.ApproxDP("0.5", 0))
    with pytest.raises(BudgetExceeded, match="'ana' is closed"):
        ana.release(MANY["all"], TENTH)
    paid = ana.release(MANY["all"], TENTH, key="mine")
    assert told(paid) == told(ana.answer("mine"))
    assert ana.remaining == sd.ApproxDP(0, 0)
