"""What is set aside is there when it is needed, and no limit is ever exceeded."""

from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any, final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sordino as sd
from sordino.errors import BudgetExceeded, InvalidParameter, LedgerDamaged, UnknownName
from sordino.ledger import earmarks
from sordino.ledger.record_kinds import Claim
from sordino.losses.budgets.charge import Charge
from tests.batches import for_each, sampled
from tests.unit.ledger.test_ledger_forgery import History, forge_and_verify

LIMIT = sd.PureDP(1)


def of(epsilon: Any, earmark: str | None = None, name: str = "dataset") -> Claim:
    asked = sd.PureDP(epsilon)
    return Claim(request="count", asked=asked, loss=asked, budget=name, earmark=earmark)


@pytest.fixture(name="path")
def path_of_a_ledger(tmp_path: Path) -> Path:
    path = tmp_path / "a.ledger"
    with sd.Ledger.at(path, LIMIT, create=True) as made:
        made.allot("ana", sd.PureDP("0.5"))
    return path


def test_what_is_set_aside_cannot_be_spent_otherwise(path: Path) -> None:
    """Not by others, not by the own budget, in no process; but by its name."""
    with sd.Ledger.at(path) as ledger:
        ledger.earmark("report", sd.PureDP("0.6"), why="every year")
    with sd.Ledger.at(path) as ledger:
        assert ledger.remaining() == sd.PureDP("0.4")
        assert ledger.spent() == sd.PureDP(0)
        with pytest.raises(BudgetExceeded, match=r"epsilon=0\.4\) is left"):
            ledger.reserve(of("0.5"))
        with pytest.raises(BudgetExceeded):
            ledger.earmark("more", sd.PureDP("0.41"))
        ledger.reserve(of("0.4"))
        ledger.reserve(of("0.35", "report"))
        assert ledger.what_if(of("0.25", "report")) == sd.PureDP(0)
        with pytest.raises(BudgetExceeded, match=r"epsilon=0\.25\) is left"):
            ledger.reserve(of("0.26", "report"))
        ledger.reserve(of("0.25", "report"))
        assert ledger.spent() == LIMIT
        assert [str(one.left) for one in ledger.earmarks()] == ["PureDP(epsilon=0)"]
        assert ledger.verify().releases == 3


def test_what_is_freed_is_there_again(path: Path) -> None:
    with sd.Ledger.at(path) as ledger:
        ledger.earmark("report", sd.PureDP("0.6"))
        ledger.reserve(of("0.2", "report"))
        ledger.free("report", who="curator")
        assert ledger.remaining() == sd.PureDP("0.8")
        assert ledger.earmarks() == ()
        for ask in (
            lambda: ledger.free("report"),
            lambda: ledger.reserve(of("0.1", "report")),
        ):
            with pytest.raises(UnknownName, match="there is no earmark 'report'"):
                ask()
        with pytest.raises(InvalidParameter, match="was used for another earmark"):
            ledger.earmark("report", sd.PureDP("0.6"))
        ledger.verify()


def test_the_same_earmark_again_changes_nothing(path: Path) -> None:
    """So a script may say it each time; another part of that name is refused."""
    with sd.Ledger.at(path) as ledger:
        ledger.earmark("report", sd.PureDP("0.6"))
        ledger.reserve(of("0.2", "report"))
        before = ledger.records()
        ledger.earmark("report", sd.PureDP("3/5"))
        assert ledger.records() == before
        for part in ({"amount": sd.PureDP("0.5")}, {"budget": "ana"}):
            given: dict[str, Any] = {"amount": sd.PureDP("0.6"), **part}
            with pytest.raises(InvalidParameter, match="was used for another earmark"):
                ledger.earmark("report", **given)


def test_a_named_budget_sets_aside_of_both(path: Path) -> None:
    """Its own and the dataset's; only its sessions spend it; closing gives it back."""
    with sd.Ledger.at(path) as ledger:
        ledger.earmark("hers", sd.PureDP("0.3"), budget="ana")
        assert ledger.remaining("ana") == sd.PureDP("0.2")
        assert ledger.remaining() == sd.PureDP("0.7")
        with pytest.raises(InvalidParameter, match="belongs to the budget 'ana'"):
            ledger.reserve(of("0.1", "hers"))
        ledger.reserve(of("0.1", "hers", "ana"))
        with pytest.raises(BudgetExceeded, match="of the budget 'ana'"):
            ledger.reserve(of("0.25", None, "ana"))
        assert ledger.remaining() == sd.PureDP("0.7")
        ledger.close_budget("ana")
        assert ledger.remaining() == sd.PureDP("0.9")
        assert ledger.earmarks() == ()
        ledger.reserve(of("0.9"))
        ledger.verify()


def test_no_more_than_a_hundred_are_open() -> None:
    """A charge looks at each of them."""
    ledger = sd.Ledger.in_memory(LIMIT)
    for number in range(100):
        ledger.earmark(str(number), sd.PureDP("0.001"))
    with pytest.raises(InvalidParameter, match="cannot be added"):
        ledger.earmark("another", sd.PureDP("0.001"))
    ledger.free("5")
    ledger.earmark("another", sd.PureDP("0.001"))
    assert len(ledger.earmarks()) == 100
    ledger.verify()


@pytest.mark.parametrize(
    "bad",
    [
        {"name": ""},
        {"name": 1},
        {"name": "a\nb"},
        {"amount": 1},
        {"amount": "0.1"},
        {"amount": None},
        {"amount": sd.ZCDP("0.1")},
        {"budget": "nobody"},
        {"budget": 1},
        {"why": 1},
    ],
    ids=repr,
)
def test_what_cannot_be_set_aside_is_refused(path: Path, bad: dict[str, Any]) -> None:
    given: dict[str, Any] = {"name": "report", "amount": sd.PureDP("0.1")} | bad
    with sd.Ledger.at(path) as ledger:
        before = ledger.records()
        with pytest.raises((InvalidParameter, UnknownName)):
            ledger.earmark(**given)
        assert ledger.records() == before


def test_rests_do_not_grow_long() -> None:
    """After many charges of unlike fractions a rest is rounded down."""
    ledger = sd.Ledger.in_memory(LIMIT)
    ledger.earmark("report", sd.PureDP("0.5"))
    primes = [p for p in range(1000, 4000) if all(p % d for d in range(2, 64))]
    for prime in primes[:250]:
        ledger.reserve(of(Fraction(1, prime * 100_003), "report"))
    rest = ledger.records()[-1].fields["rest"]["dataset"]["epsilon"]
    assert len(rest) < 1500
    assert ledger.verify().releases == 250


LIMITS = {
    "epsilon": (sd.Limit.of(sd.PureDP(1)), sd.PureDP),
    "rho": (sd.Limit.of(sd.ZCDP(1)), sd.ZCDP),
    "mu": (sd.Limit.of(sd.GaussianDP(1)), sd.GaussianDP),
    "epsilon and delta": (
        sd.Limit.of(sd.ApproxDP(1, "1e-6")),
        lambda share: sd.ApproxDP(share, Fraction(share) / 10**6),
    ),
    "either": (
        sd.Limit.of(sd.ApproxDP(1, "1e-6"), "concentrated", "5e-7"),
        lambda share: sd.PureDP(Fraction(share) / 4),
    ),
    "either, no epsilon": (
        sd.Limit.of(sd.ApproxDP(1, "1e-6"), "concentrated", "5e-7"),
        lambda share: sd.ZCDP(Fraction(share) / 50),
    ),
}
ACTS = st.lists(
    st.tuples(
        st.sampled_from(["ask", "ask", "mark", "free", "spend", "lower", "close"]),
        st.sampled_from(["one", "two", "three"]),
        st.sampled_from(["dataset", "ana", "bob"]),
        st.integers(1, 6),
    ),
    max_size=25,
)


@final
@dataclass
class Model:
    """A ledger, and the sums of what it accepted."""

    ledger: sd.Ledger
    kind: Any
    spent: dict[str, Charge] = field(default_factory=dict)

    def act(self, verb: str, mark: str, budget: str, size: int) -> None:
        """Do one thing; what is refused changes nothing."""
        before = self.ledger.records()
        loss = self.kind(Fraction(size, 10))
        acts = {
            "mark": lambda: self.ledger.earmark(mark, loss, budget=budget),
            "free": lambda: self.ledger.free(mark),
            "close": lambda: self.ledger.close_budget("bob"),
            "lower": lambda: self.ledger.lower(
                budget, sd.Limit.of(self.kind(Fraction(9, 10)))
            ),
            "ask": lambda: self.ask(loss, budget, None),
            "spend": lambda: self.ask(loss, budget, mark),
        }
        try:
            acts[verb]()
        except (BudgetExceeded, InvalidParameter, UnknownName):
            assert self.ledger.records() == before

    def ask(self, loss: Any, budget: str, mark: str | None) -> None:
        """Charge a loss, and add it up."""
        self.ledger.reserve(
            Claim(request="q", asked=loss, loss=loss, budget=budget, earmark=mark)
        )
        for name in {"dataset", budget}:
            rule = self.ledger.limit(name).rule
            known = self.spent.get(name, rule.zero)
            self.spent[name] = known.plus(rule.charge_for(loss, loss))


@sampled(1)
@for_each("rule", LIMITS)
@settings(max_examples=40, deadline=None)
@given(acts=ACTS)
def test_no_history_exceeds_a_limit(rule: str, acts: list[Any]) -> None:
    """For any acts in any order: each sum is within its limit, and so with the rests.

    And what was set aside can be spent: an open rest is never refused to its releases.
    """
    limit, kind = LIMITS[rule]
    ledger = sd.Ledger.in_memory(limit)
    ledger.allot("ana", limit)
    ledger.allot("bob", limit)
    model = Model(ledger, kind)
    for act in acts:
        model.act(*act)
        for name, known in model.spent.items():
            assert ledger.first_limit(name).rule.holds(known)
            assert ledger.limit(name).rule.holds(known)
    ledger.verify()
    for one in ledger.earmarks():
        left = next(
            record.fields["rest"]["dataset"]
            for record in reversed(ledger.records())
            if record.fields.get("earmark") == one.name
        )
        if rule in {"epsilon", "rho"} and Fraction(left[rule]) > 0:
            loss = kind(Fraction(left[rule]))
            claim = Claim(
                request="q", asked=loss, loss=loss, budget=one.budget, earmark=one.name
            )
            ledger.reserve(claim)


def test_spending_what_is_set_aside_twice_is_caught(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Planted: earmarks that nobody counts let a rest be refused to its release."""
    monkeypatch.setattr(
        earmarks,
        "sum_earmarks",
        lambda _log, _name, limit, **_without: limit.rule.zero,
    )
    ledger = sd.Ledger.in_memory(LIMIT)
    ledger.earmark("report", sd.PureDP("0.6"))
    ledger.reserve(of("0.5"))
    with pytest.raises(LedgerDamaged):
        ledger.verify()


def marked(path: Path) -> Path:
    """Return a ledger with an earmark that was spent of, lowered and closed budgets."""
    with sd.Ledger.at(path) as ledger:
        ledger.earmark("report", sd.PureDP("0.6"))
        ledger.reserve(of("0.2", "report"))
        ledger.lower("dataset", sd.PureDP("0.9"))
        ledger.close_budget("ana")
        ledger.free("report")
        assert ledger.verify().releases == 1
    return path


def number(history: History, kind: str) -> dict[str, Any]:
    return next(fields for one, fields in history if one == kind)


def charge_closed(history: History) -> None:
    place = next(place for place, (kind, _) in enumerate(history) if kind == "charged")
    history.insert(place, ("closed", number(history, "closed") | {"budget": "dataset"}))


FORGERIES = {
    "more set aside": lambda h: number(h, "earmarked")["rest"]["dataset"].update(
        epsilon="2/1"
    ),
    "more left": lambda h: number(h, "charged")["rest"]["dataset"].update(
        epsilon="3/5"
    ),
    "raised": lambda h: number(h, "lowered")["limit"]["limits"].update(epsilon="2/1"),
    "too low": lambda h: number(h, "lowered")["limit"]["limits"].update(epsilon="1/10"),
    "another rule": lambda h: number(h, "lowered")["limit"].update(
        rule="rho", limits={"rho": "1/2"}
    ),
    "of nobody": lambda h: number(h, "lowered").update(budget="nobody"),
    "nobody closed": lambda h: number(h, "closed").update(budget="nobody"),
    "closed twice": lambda h: h.append(("closed", number(h, "closed"))),
    "freed twice": lambda h: h.append(("freed", number(h, "freed"))),
    "another name": lambda h: number(h, "charged").update(earmark="another"),
    "other names are open": lambda h: number(h, "earmarked").update(open=["another"]),
    "names stay open": lambda h: number(h, "freed").update(open=["report"]),
    "names that are none": lambda h: number(h, "freed").update(open="report"),
    "twice": lambda h: h.append(("earmarked", number(h, "earmarked"))),
    "no rest": lambda h: number(h, "charged").pop("rest"),
    "charged when closed": charge_closed,
}


@pytest.mark.parametrize("forgery", FORGERIES.values(), ids=FORGERIES)
def test_a_history_that_cannot_be_is_refused(path: Path, forgery: Any) -> None:
    with pytest.raises(LedgerDamaged):
        forge_and_verify(marked(path), forgery)
