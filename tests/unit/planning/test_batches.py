"""Requests planned together: within one budget, and never worse than one by one."""

import math
import time
from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sordino as sd
from sordino.errors import BudgetExceeded, InvalidParameter
from sordino.losses.loss import Budget
from sordino.plan import bundle
from sordino.plan.purchase import best_of
from tests.batches import for_each

ROWS: Final = {"ward": ["A", "B"] * 40, "days": [2, 5] * 40, "cost": [1.5, 9.0] * 40}
KEYS: Final = sd.KeySet.from_dict({"ward": ["A", "B", "C"]})
WHOLE: Final = sd.ApproxDP(1, "1e-6")
VISITS: Final = sd.table("visits")
REQUESTS: Final[dict[str, Any]] = {
    "count": VISITS.agg(n=sd.count()),
    "sum": VISITS.group_by(KEYS).agg(days=sd.sum("days", 0, 30)),
    "means": VISITS.group_by(KEYS).agg(
        days=sd.mean("days", 0, 30), cost=sd.mean("cost", 0, 90)
    ),
    "filtered": VISITS.filter(sd.col("days") > 2).agg(n=sd.count()),
    "laplace": VISITS.group_by(KEYS).agg(noise="laplace", n=sd.count()),
    "gaussian": VISITS.group_by(KEYS).agg(noise="gaussian", n=sd.count()),
    "unknown keys": VISITS.group_by("ward").agg(n=sd.count()),
    "keys alone": VISITS.group_by("ward").keys(),
    "a choice": VISITS.group_by(KEYS).agg(days=sd.median("days", 0, 30)),
    "choices and sums": VISITS.agg(
        days=sd.median("days", 0, 30), cost=sd.sum("cost", 0, 90)
    ),
    "unknown keys and a choice": VISITS.group_by("ward").agg(
        days=sd.quantile("days", "0.9", 0, 30)
    ),
}
BUDGETS: Final[dict[str, Budget]] = {
    "pure": sd.PureDP(1),
    "approximate": WHOLE,
    "approximate without a delta": sd.ApproxDP(1, 0),
    "concentrated": sd.ZCDP("0.1"),
    "approximately concentrated": sd.ApproxZCDP("0.1", "1e-6"),
    "Gaussian": sd.GaussianDP("0.5"),
}


def session(budget: Any = WHOLE) -> sd.Session:
    table = sd.PrivateTable(ROWS, protects=sd.AddOneRow())
    return sd.Session({"visits": table}, budget, engine="memory")


def named(names: list[str]) -> dict[str, Any]:
    return {f"{place} {name}": REQUESTS[name] for place, name in enumerate(names)}


def one_by_one(names: list[str]) -> float:
    """Return the score of requests that each get their share and no more."""
    part = sd.ApproxDP(WHOLE.epsilon / len(names), WHOLE.delta / len(names))
    opened = session()
    return math.fsum(
        opened.price(REQUESTS[name], part)._purchase.score for name in names
    )


@given(st.lists(st.sampled_from(sorted(REQUESTS)), min_size=1, max_size=5))
@settings(max_examples=10)
def test_any_mixture_is_within_the_budget_and_errs_no_more(names: list[str]) -> None:
    """The composed curve is within (epsilon, delta), and planning is never a loss."""
    batch = session().price_all(named(names), WHOLE)
    assert WHOLE.admits(batch.loss)
    assert batch.gain >= 1
    assert batch._bundle.score <= one_by_one(names) + 1e-9


@for_each("budget", BUDGETS)
def test_every_budget_is_shared(budget: str) -> None:
    limit: Any = BUDGETS[budget]
    asked = named(["count", "sum", "a choice"])
    opened = session(limit)
    batch = opened.price_all(asked, limit)
    assert limit.admits(batch.loss)
    assert list(batch.prices) == list(asked)
    releases = opened.release_all(asked, limit)
    assert [one.loss for one in releases.values()] == [
        one.loss for one in batch.prices.values()
    ]
    assert opened.spent == limit
    with pytest.raises(BudgetExceeded):
        opened.release(REQUESTS["count"], limit)


@for_each("count", [4, 10, 50])
def test_many_gaussian_answers_gain(count: int) -> None:
    """Sums of squares grow slower: each gets more than 1, nearly the root of count."""
    batch = session().price_all(named(["gaussian"] * count), WHOLE)
    assert batch.gain > math.sqrt(count)
    assert WHOLE.admits(batch.loss)
    more = sd.ApproxDP(WHOLE.epsilon, WHOLE.delta / 2)
    assert not more.admits(batch.loss), "half of delta is not used"


def test_what_pure_answers_gain() -> None:
    """Three Laplace answers share epsilon; forty small ones are worth more together."""
    assert session().price_all(named(["laplace"] * 3), WHOLE).gain == 1
    assert session().price_all(named(["laplace"] * 40), WHOLE).gain > 1.5


def test_company_changes_the_family() -> None:
    """One count is best with Laplace noise; ten are best with Gaussian noise."""
    assert session().price(REQUESTS["count"], _TENTH).family == "laplace"
    batch = session().price_all(named(["count"] * 10), WHOLE)
    assert {found.family for found in batch.prices.values()} == {"gaussian"}


def test_what_only_chooses_keeps_what_it_is() -> None:
    """A request without additive noise takes part in every plan, whatever its family.

    Gaussian noise was once forced on it, and the batch was refused.
    """
    batch = session().price_all(named(["a choice", *["gaussian"] * 9]), WHOLE)
    assert batch.gain > 1
    assert WHOLE.admits(batch.loss)


def test_a_batch_is_charged_once_under_one_key() -> None:
    opened = session()
    half = sd.ApproxDP("0.5", "5e-7")
    asked = named(["count", "means", "unknown keys", "a choice"])
    first = opened.release_all(asked, half, key="monday", why="report")
    again = opened.release_all(asked, half, key="monday")
    for name, release in first.items():
        assert again[name].table.equals(release.table)
        assert again[name].errors.equals(release.errors)
        assert again[name].price == release.price
    (entry,) = opened.history()
    assert opened.spent == half
    assert (entry.why, entry.plan.count("└─ table visits")) == ("report", 4)
    with pytest.raises(sd.errors.InvalidQuery, match="belongs to another request"):
        opened.release(REQUESTS["count"], half, key="monday")
    other = {f"my {name}": one for name, one in asked.items()}
    with pytest.raises(sd.errors.InvalidQuery, match="belongs to another request"):
        opened.release_all(other, half, key="monday")


def test_a_batch_shows_what_it_saves() -> None:
    text = repr(session().price_all(named(["count"] * 10), WHOLE))
    assert text.count("price: epsilon = ") == 10
    assert text.splitlines()[-1].startswith("together: each has 3.")
    assert text.count("planned together: 3.") == 10
    alone = session().price(REQUESTS["count"], WHOLE)
    assert (alone.gain, "together" in repr(alone)) == (1, False)


@pytest.mark.slow
def test_what_is_alike_is_bought_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A hundred questions of one kind cost hardly more than one, and the same.

    Each keeps its own rows; what differs in a bound is another kind.
    """
    grouped = [
        VISITS
        .filter(sd.col("cost") > place)
        .group_by("ward")
        .agg(n=sd.count(), m=sd.mean("days", 0, 30 + place % 2))
        for place in range(100)
    ]
    bought: list[object] = []

    def buy(ways: Any, budget: Any) -> Any:
        bought.append(budget)
        return best_of(ways, budget)

    monkeypatch.setattr(bundle, "best_of", buy)
    asked = {str(place): one for place, one in enumerate(grouped)}
    batch = session().price_all(asked, WHOLE)
    assert len(bought) < 2 * 40
    for place in (0, 1, 98, 99):
        one = batch.prices[str(place)]
        assert one.request.rows is grouped[place].rows
        assert f"> {place}" in one.plan
        assert str(30 + place % 2) in one.plan
    bought.clear()
    monkeypatch.setattr(bundle, "alike_names", lambda ways: [[name] for name in ways])
    some = {name: asked[name] for name in ("0", "1", "2", "3")}
    each = session().price_all(some, WHOLE)
    monkeypatch.undo()
    together = session().price_all(some, WHOLE)
    assert len(bought) > 8
    for name, price in each.prices.items():
        assert together.prices[name].noise == price.noise
        assert together.prices[name].sensitivity == price.sensitivity


def test_a_batch_is_priced_soon() -> None:
    """Ten grouped requests take a second or two where each try composes their curves.

    The bound is wide, for a machine that does other things.
    """
    asked = {
        f"{most}": VISITS.group_by(KEYS).agg(n=sd.count(), d=sd.sum("days", 0, most))
        for most in range(30, 40)
    }
    opened = session()
    before = time.process_time()
    opened.price_all(asked, WHOLE)
    assert time.process_time() - before < 5


@for_each(
    "wrong", [{}, [REQUESTS["count"]], {"n": VISITS}, {"n": 5}, {5: REQUESTS["count"]}]
)
def test_what_is_no_batch_is_refused(wrong: Any) -> None:
    opened = session()
    with pytest.raises(InvalidParameter):
        opened.release_all(wrong, WHOLE)
    with pytest.raises(InvalidParameter, match="cannot be shared"):
        opened.release_all({"n": REQUESTS["count"]}, sd.Advantage("0.1"))
    assert opened.spent == sd.ApproxDP(0, 0)


_TENTH: Final = sd.ApproxDP("0.1", "1e-7")
