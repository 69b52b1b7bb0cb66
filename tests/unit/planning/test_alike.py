"""Columns of one kind are priced alike: once for all of them, and each by its name."""

from typing import Any, Final

import pytest

import sordino as sd
from sordino.plan import bundle
from sordino.plan.candidates import plans
from sordino.plan.purchase import best_of
from tests.batches import for_each

NAMES: Final = [f"x{place}" for place in range(6)]
BUDGET: Final = sd.ApproxDP(20_000, "1e-6")
FACTS: Final = {name: sd.Column("f64", nullable=False, nan=False) for name in NAMES}
MISSING: Final = {"y": sd.Column("f64", nullable=True, nan=False)}
ROWS: Final = {
    "g": [k % 2 for k in range(200)],
    **{name: [float(k)] * 200 for k, name in enumerate(NAMES)},
    "y": [None] * 200,
}


def session() -> sd.Session:
    facts = FACTS | MISSING
    table = sd.PrivateTable(ROWS, protects=sd.AddOneRow(), columns=facts)
    return sd.Session({"t": table}, sd.ApproxDP(10**7, "0.9"))


def kinds(*columns: dict[str, Any]) -> int:
    """Return how many kinds of prices some requests have."""
    catalog = session()._desk.catalog
    requests = [sd.table("t").group_by("g").agg(**asked) for asked in columns]
    ways = {
        str(place): tuple(plans(request, catalog))
        for place, request in enumerate(requests)
    }
    return len(bundle.alike_names(ways))


ALIKE: Final[dict[str, tuple[dict[str, Any], dict[str, Any], int]]] = {
    "another column": ({"a": sd.mean("x0", 0, 9)}, {"a": sd.mean("x1", 0, 9)}, 1),
    "an expression": (
        {"a": sd.sum(sd.col("x0") * 2, 0, 9)},
        {"a": sd.sum(sd.col("x1") * 3, 0, 9)},
        1,
    ),
    "medians": ({"a": sd.median("x0", 0, 9)}, {"a": sd.median("x1", 0, 9)}, 1),
    "another bound": ({"a": sd.mean("x0", 0, 9)}, {"a": sd.mean("x1", 0, 8)}, 2),
    "another median": ({"a": sd.median("x0", 0, 9)}, {"a": sd.median("x1", 0, 8)}, 2),
    "missing values": (
        {"a": sd.mean("x0", 0, 9)},
        {"a": sd.mean("y", 0, 9, nulls="drop")},
        2,
    ),
    "numbers in common": (
        {"a": sd.mean("x0", 0, 9), "b": sd.sum("x0", 0, 9)},
        {"a": sd.mean("x0", 0, 9), "b": sd.sum("x1", 0, 9)},
        2,
    ),
    "another order": (
        {"a": sd.count(), "b": sd.sum("x0", 0, 9)},
        {"a": sd.sum("x0", 0, 9), "b": sd.count()},
        2,
    ),
    "another question": ({"a": sd.sum("x0", 0, 9)}, {"a": sd.mean("x0", 0, 9)}, 2),
}


@for_each("name", ALIKE)
def test_plans_are_alike_by_what_prices_follow_from(name: str) -> None:
    """Columns and expressions make no kind of their own; changes and patterns do."""
    first, second, expected = ALIKE[name]
    assert kinds(first, second) == expected


@pytest.mark.slow
def test_each_column_is_answered_from_its_own_rows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Six columns are bought as one, at the price of each, and told apart.

    With hardly any noise: off by 1/4 with a chance far below 1e-100.
    """
    requests: dict[str, Any] = {
        name: sd
        .table("t")
        .group_by("g")
        .agg(n=sd.count(), m=sd.mean(name, 0, 9), c=sd.median(name, 0, 9))
        for name in NAMES
    }
    bought: list[Any] = []

    def buy(ways: Any, budget: Any) -> Any:
        bought.append(ways)
        return best_of(ways, budget)

    monkeypatch.setattr(bundle, "best_of", buy)
    opened = session()
    batch = opened.price_all(requests, BUDGET)
    tries = len(bought)
    bought.clear()
    monkeypatch.setattr(bundle, "alike_names", lambda ways: [[name] for name in ways])
    apart = session().price_all(requests, BUDGET)
    assert len(bought) == len(NAMES) * tries
    for name in NAMES:
        assert batch.prices[name].noise == apart.prices[name].noise
        assert batch.prices[name].errors == apart.prices[name].errors
    monkeypatch.undo()
    releases = opened.release_all(requests, BUDGET)
    for place, name in enumerate(NAMES):
        for row in releases[name].table.to_pylist():
            assert row["n"] == 100
            assert abs(row["m"] - place) < 1 / 4
            assert abs(row["c"] - place) < 1 / 4
