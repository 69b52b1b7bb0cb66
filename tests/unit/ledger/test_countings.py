"""The first charge may have a budget counted in squares of mu, and no later one."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest

import sordino as sd
from sordino.errors import InvalidParameter, LedgerDamaged
from sordino.ledger import file_format
from sordino.ledger.file_format import NOTHING, Record, World
from sordino.ledger.ledger import Ledger
from tests.batches import for_each

BUDGET: Final = sd.ApproxDP(1, "1e-6")
QUERY: Final = sd.table("t").agg(n=sd.count())
BY_MU: Final = sd.GaussianDP("0.1")


def opened(ledger: Any, budget: Any = None) -> sd.Session:
    table = sd.PrivateTable({"x": [1, 2, 3]}, protects=sd.AddOneRow())
    return sd.Session({"t": table}, budget, ledger=ledger, engine="memory")


def test_the_choice_lasts(tmp_path: Path) -> None:
    path = tmp_path / "a.ledger"
    first, other = opened(path, BUDGET), opened(path)
    # asked for at once: neither has seen an answer, and one of them chooses
    other.release(QUERY, BY_MU, key="by mu")
    assert first.release(QUERY, BY_MU, key="by mu").loss.mu <= BY_MU.mu
    with pytest.raises(sd.errors.BudgetExceeded):
        first.release(QUERY, sd.PureDP("0.99"))
    again = sd.Limit.of(BUDGET, "gaussian", "1e-7")
    for budget in (BUDGET, again, None):
        known = opened(path, budget)
        assert known.budget == again.rule.promise
        assert known.spent == BY_MU
        assert known.ledger.verify().proved == 1
    with pytest.raises(InvalidParameter, match="differs"):
        opened(path, sd.Limit.of(BUDGET, "gaussian", "2e-7"))


def set_aside_and_free(session: sd.Session) -> None:
    session.ledger.earmark("plan", sd.PureDP("0.1"))
    session.ledger.free("plan")


BEFORE: Final[dict[str, Callable[[sd.Session], object]]] = {
    "an answer": lambda s: s.release(QUERY, sd.PureDP("0.1")),
    "an answer that costs nothing": lambda s: s.release(QUERY, sd.PureDP("1e-9")),
    "a part set aside": lambda s: s.ledger.earmark("plan", sd.PureDP("0.1")),
    "a part set aside and freed": set_aside_and_free,
    "a closed budget": lambda s: s.ledger.close_budget("dataset"),
}


@for_each("what", BEFORE)
def test_nothing_came_before_the_choice(what: str) -> None:
    known = opened(None, BUDGET)
    BEFORE[what](known)
    with pytest.raises((InvalidParameter, sd.errors.BudgetExceeded)):
        known.release(QUERY, BY_MU)
    assert known.ledger.limit().rule.rule == "epsilon-delta"


def test_a_lower_limit_is_counted_from_what_it_is() -> None:
    known = opened(None, BUDGET)
    half = sd.ApproxDP("0.5", "5e-7")
    known.ledger.lower("dataset", half)
    known.release(QUERY, known.share("1/2"))
    assert half.admits(known.budget)
    assert known.ledger.verify().proved == 1


def test_budgets_without_a_delta_and_blocks_do_not_choose() -> None:
    for budget in (sd.PureDP(1), sd.ApproxDP(1, 0)):
        known = opened(None, budget)
        with pytest.raises(InvalidParameter, match="cannot be counted"):
            known.release(QUERY, BY_MU)
        assert known.share("1/4").epsilon == known.budget.epsilon / 4
    table = sd.PrivateTable({"x": ["a"]}, protects=sd.AddOneRow(), blocks="x")
    divided = sd.Session({"t": table}, BUDGET, blocks=sd.Blocks(names=["a"]))
    with pytest.raises(InvalidParameter, match="cannot be counted"):
        divided.release(QUERY, BY_MU)


History = list[tuple[str, dict[str, Any]]]


def charges(history: History) -> list[dict[str, Any]]:
    return [fields for kind, fields in history if kind == "charged"]


def choose_later(history: History) -> None:
    first, second = charges(history)
    second["limit"] = first.pop("limit")


def choose_twice(history: History) -> None:
    first, second = charges(history)
    second["limit"] = first["limit"]


def choose_more(history: History) -> None:
    (first, _) = charges(history)
    first["limit"]["limits"]["square"] = "56/1000"


def choose_a_larger_reserve(history: History) -> None:
    (first, _) = charges(history)
    first["limit"]["limits"]["delta"] = "2/1000000"


def choose_another_rule(history: History) -> None:
    (first, _) = charges(history)
    first["limit"] = {
        "stated": "mu",
        "rule": "mu-squared",
        "limits": {"square": "1/100"},
    }


def choose_a_frame(history: History) -> None:
    (first, _) = charges(history)
    first["limit"]["frame"] = {"rate": "1/2", "epsilon": "1/1", "delta": "1/1000000"}


FORGERIES: Final = {
    act.__name__: act
    for act in (
        choose_later,
        choose_twice,
        choose_more,
        choose_a_larger_reserve,
        choose_another_rule,
        choose_a_frame,
    )
}


@for_each("name", FORGERIES)
def test_a_forged_choice_is_found_out(name: str, tmp_path: Path) -> None:
    path, forged = tmp_path / "true.ledger", tmp_path / "forged.ledger"
    known = opened(path, BUDGET)
    for _ in range(2):
        known.release(QUERY, BY_MU)
    known.ledger.close()
    for change in (lambda _: None, FORGERIES[name]):
        with Ledger.at(path) as ledger:
            history = [(one.kind, one.fields) for one in ledger.records()]
        change(history)
        contents, head = [], NOTHING
        for kind, fields in history:
            record = Record.successor(head, kind, fields)
            contents.append((record, b""))
            head = record.head
        forged.unlink(missing_ok=True)
        assert file_format.create_file(forged, World(), "ledger", contents)
        if change is FORGERIES[name]:
            with pytest.raises(LedgerDamaged):
                Ledger.at(forged).verify()
        else:
            assert Ledger.at(forged).verify().proved == 2
