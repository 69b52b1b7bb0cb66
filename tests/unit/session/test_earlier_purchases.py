"""What was bought before is bought again for the very same request alone."""

from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Final

import sordino as sd
from sordino.losses.curves.points import COARSENESS
from sordino.plan.purchase import Purchase, best_purchase
from sordino.session import executor
from sordino.session.executor import EarlierPurchases

ROWS: Final = {"id": [1, 2, 2], "g": ["a", "b", "b"], "x": [1.0, 2.0, 3.0]}
BUDGET: Final = sd.ApproxDP(1, "1e-6")


def session() -> sd.Session:
    table = sd.PrivateTable(ROWS, protects=sd.AddRowsWithID("id"))
    return sd.Session({"t": table, "u": table}, sd.ApproxDP(10**6, "0.5"))


def close_requests() -> Iterator[tuple[Any, Any]]:
    """Yield requests and budgets that differ in one thing each, of new objects."""
    rows = sd.table("t").enforce(sd.MaxRowsPerID(5))
    keys = sd.KeySet.from_dict({"g": ["a", "b"]})
    request = rows.group_by(keys).agg(n=sd.count(), m=sd.mean("x", 0, 10))
    yield request, BUDGET
    yield request, sd.ApproxDP(1, "1e-7")
    yield request, sd.PureDP(1)
    yield replace(request, confidence=request.confidence / 2), BUDGET
    yield replace(request, population=True), BUDGET
    yield request.suppress_below(20), BUDGET
    yield rows.group_by(keys).agg(n=sd.count(), m=sd.mean("x", 0, 11)), BUDGET
    yield rows.group_by(keys).agg(m=sd.mean("x", 0, 10), n=sd.count()), BUDGET
    yield rows.group_by("g").agg(n=sd.count()), BUDGET
    yield rows.agg(n=sd.count()), BUDGET
    other = sd.KeySet.from_dict({"g": ["a", "c"]})
    yield rows.group_by(other).agg(n=sd.count(), m=sd.mean("x", 0, 10)), BUDGET
    fewer = sd.table("t").enforce(sd.MaxRowsPerID(4)).group_by(keys)
    yield fewer.agg(n=sd.count(), m=sd.mean("x", 0, 10)), BUDGET
    second = sd.table("u").enforce(sd.MaxRowsPerID(5)).group_by(keys)
    yield second.agg(n=sd.count(), m=sd.mean("x", 0, 10)), BUDGET


def facts(purchase: Purchase) -> tuple[Any, ...]:
    request = purchase.plan.request
    known = request.confidence, request.population, repr(request)
    return purchase.plan_text, repr(purchase.loss), purchase.budget, known


@contextmanager
def bought(monkeypatch: Any) -> Generator[list[Any]]:
    """Note each request for which something is bought anew."""
    noted: list[Any] = []

    def noting(request: Any, *others: Any) -> Purchase:
        noted.append(request)
        return best_purchase(request, *others)

    with monkeypatch.context() as patch:
        patch.setattr(executor, "best_purchase", noting)
        yield noted


def test_a_purchase_is_that_of_its_request(monkeypatch: Any) -> None:
    """Asked again, each has its own; none has that of one that is close."""
    catalog, earlier = session()._desk.catalog, EarlierPurchases()
    expected = [
        facts(best_purchase(request, catalog, budget))
        for request, budget in close_requests()
    ]
    with bought(monkeypatch) as noted:
        for order in (1, -1):
            pairs = [*close_requests()][::order]
            told = [
                facts(earlier.best(request, catalog, budget))
                for request, budget in pairs
            ]
            assert told == expected[::order]
        assert len(noted) == len(expected)


def test_no_purchase_outlives_what_it_follows_from(monkeypatch: Any) -> None:
    """Another catalog, a view more, coarser curves, functions, steps on answers."""
    one, other = session()._desk.catalog, session()._desk.catalog
    earlier = EarlierPurchases()
    (request, budget), *_ = close_requests()
    with bought(monkeypatch) as noted:
        for catalog, times in ((one, 1), (one, 1), (other, 2), (other, 2), (one, 3)):
            earlier.best(request, catalog, budget)
            assert len(noted) == times
        one.view("v", sd.table("t").filter(sd.col("x") > 1))
        earlier.best(request, one, budget)
        assert len(noted) == 4
        mark = COARSENESS.set(4.0)
        earlier.best(request, one, budget)
        COARSENESS.reset(mark)
        assert len(noted) == 5
        half = sd.udf(lambda _: {"y": 1}, {"y": "i64"}, name="half", version="1")
        rows = sd.table("t").with_columns(half).enforce(sd.MaxRowsPerID(5))
        made = rows.agg(n=sd.count())
        done = request.sort("n")
        for times in (7, 9):
            earlier.best(made, one, budget)
            earlier.best(done, one, budget)
            assert len(noted) == times
        for limit in range(1, 40):
            few = sd.table("t").enforce(sd.MaxRowsPerID(limit)).agg(n=sd.count())
            earlier.best(few, one, budget)
        assert len(earlier._known) <= 16
