"""Releases end to end: every question, alone and grouped, on every engine."""

from typing import Any, Literal

import sordino as sd
from tests.batches import for_each, sampled

ROWS: dict[str, list[Any]] = {
    "person": [1, 1, 2, 3, None, 4],
    "ward": ["A", "B", "A", None, "A", "B"],
    "days": [3, None, 8, 2, 5, 40],
    "cost": [1.5, 2.5, float("nan"), None, 3.0, float("inf")],
}
QUESTIONS: dict[str, Any] = {
    "count": sd.count(),
    "count_ids": sd.count_ids(),
    "count_distinct": sd.count_distinct("ward", "days"),
    "sum": sd.sum("days", 0, 30),
    "sum of floats": sd.sum("cost", "-0.5", 10),
    "mean": sd.mean("days", 0, 30),
    "mean with a rule": sd.mean("cost", 0, 10, nulls=0),
    "variance": sd.variance("days", 0, 30),
    "stdev": sd.stdev("cost", 0, 10),
    "median": sd.median("days", 0, 30),
    "quantile": sd.quantile("cost", "0.9", 0, 10),
    "quantiles": sd.quantiles("days", ["0.25", "0.75"], 0, 30),
    "min": sd.min("days", 0, 30),
    "max": sd.max("cost", 0, 10),
    "histogram": sd.histogram("days", [0, 10, 20]),
    "bounds": sd.bounds("cost"),
}
GROUPS: dict[str, Any] = {
    "all": None,
    "known": sd.KeySet.from_dict({"ward": ["A", "B", "C", None]}),
    "unknown": "ward",
}
BUDGETS = {
    "pure": sd.PureDP(1),
    "approximate": sd.ApproxDP(1, "1e-6"),
    "concentrated": sd.ApproxZCDP("0.1", "1e-6"),
    "Gaussian": sd.GaussianDP("0.5"),
}
Engine = Literal["duckdb", "memory"]


def session(engine: Engine, budget: sd.Loss) -> sd.Session:
    """Return a session with a table in which anything may be missing."""
    table = sd.PrivateTable(ROWS, protects=sd.AddRowsWithID("person"))
    return sd.Session(tables={"visits": table}, budget=budget, engine=engine)


def asked(question: Any, groups: Any) -> Any:
    rows = sd.table("visits").enforce(sd.MaxRowsPerID(2))
    if groups is None:
        return rows.agg(answer=question)
    return rows.group_by(groups).agg(answer=question)


@sampled(8, 40)
@for_each("engine", ["duckdb", "memory"])
@for_each("groups", GROUPS)
@for_each("question", QUESTIONS)
def test_every_question_has_an_answer(
    question: str, groups: str, engine: Engine
) -> None:
    budget = sd.ApproxDP(1, "1e-6")
    opened = session(engine, budget)
    query = asked(QUESTIONS[question], GROUPS[groups])
    release = opened.release(query, budget)
    assert len(release) == {"all": 1, "known": 4}.get(groups, len(release))
    assert release.keys == (() if groups == "all" else ("ward",))
    assert release.names == QUESTIONS[question].columns("answer")
    assert opened.remaining == sd.ApproxDP(0, 0)
    assert budget.admits(release.loss)
    assert "price: epsilon = " in str(release)


@for_each("budget", BUDGETS)
def test_every_budget_pays_for_several_answers(budget: str) -> None:
    """The price is within the budget; with one row of each id two counts are one."""
    limit: Any = BUDGETS[budget]
    query = (
        sd
        .table("visits")
        .enforce(sd.MaxGroupsPerID("ward", 2), sd.MaxRowsPerGroupPerID("ward", 1))
        .group_by(GROUPS["known"])
        .agg(n=sd.count(), people=sd.count_ids(), days=sd.mean("days", 0, 30))
    )
    found = session("memory", limit).price(query, limit)
    assert limit.admits(found.loss)
    assert found.noise["n"] == found.noise["people"]
    assert set(found.errors) == {"n", "people", "days"}
