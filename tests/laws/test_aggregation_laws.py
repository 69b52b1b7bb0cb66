"""Every aggregation: it is a case, and without noise it says what its name says."""

import importlib
import inspect
import math
import pkgutil
import statistics
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

import pytest

import sordino as sd
from sordino import aggregations
from sordino.aggregations.aggregation import AbstractAggregation
from sordino.aggregations.intervals import names_among
from sordino.aggregations.running import Running
from sordino.auditing.drawn_queries import AGGREGATIONS
from sordino.engines.engine import AbstractEngine
from sordino.plan.purchase import best_purchase
from sordino.release.answer import noisy_answer
from sordino.release.release import Release
from sordino.session.tables import open_catalog
from tests.batches import for_each, sampled
from tests.cases import ENGINES

QUIET: Final = sd.PureDP(10**9)
"""A budget that buys noise of no size."""
ENDS: Final = (0, 10)
VALUES: Final[Mapping[str, list[float | None]]] = {
    "a": [1.0, 2.5, 3.0, 4.0, 40.0, None, math.nan],
    "b": [-7.0],
    "z": [],
}
"""What is in each group; "z" is a key without rows."""


def clamped(values: list[float | None]) -> list[float]:
    return [min(10.0, max(0.0, x)) for x in values if x is not None and x == x]  # noqa: PLR0124 NaN is not itself


def filled(values: list[float | None]) -> list[float]:
    """Return the values with 3 for what is missing, within the bounds."""
    there = [3.0 if x is None or math.isnan(x) else x for x in values]
    return clamped([*there])


MEANINGS: Final[Mapping[str, Callable[[list[float | None]], Any]]] = {
    "count": len,
    "count_ids": len,
    "count_distinct": lambda held: len({repr(x) for x in held if x is not None}),
    "sum": lambda held: sum(clamped(held)),
    "sum, missing as 3": lambda held: sum(filled(held)),
    "mean": lambda held: statistics.mean(clamped(held)),
    "variance": lambda held: statistics.pvariance(clamped(held)),
    "stdev": lambda held: statistics.pstdev(clamped(held)),
}
"""What an aggregation means, in Python."""
RANKS: Final[Mapping[str, float]] = {"median": 0.5, "min": 0.0, "max": 1.0}
"""Which share of the values lies below an answer."""
OTHERS: Final = {
    *("quantiles", "quantiles, extremes too", "histogram", "covariance"),
    *("bounds", "bounds of a size"),
}
"""Aggregations of several columns, which have tests of their own."""


def released(name: str, engine: AbstractEngine) -> Release:
    """Return an answer with hardly any noise for each group."""
    rows = [(group, one) for group, held in VALUES.items() for one in held]
    table = {
        "id": [f"p{place}" for place in range(len(rows))],
        "g": [group for group, _ in rows],
        "y": [one for _, one in rows],
    }
    private = sd.PrivateTable(table, protects=sd.AddRowsWithID("id"))
    catalog = open_catalog(engine, {"rows": private})
    query = sd.table("rows").enforce(sd.MaxRowsPerID(1))
    keys = sd.KeySet.from_dict({"g": list(VALUES)})
    request = query.group_by(keys).agg(a=AGGREGATIONS[name]("y", ENDS))
    quiet = QUIET if name != "covariance" else sd.GaussianDP(10**9)
    purchase = best_purchase(request, catalog, quiet)
    plan = purchase.plan
    bins = {key: engine.answer(one) for key, one in plan.choice_questions.items()}
    answer = noisy_answer(purchase, engine.answer(plan.question), bins)
    return Release.of(purchase, answer, purchase.plan_text)


@sampled(5, 12)
@for_each("engine", ENGINES)
@for_each("name", AGGREGATIONS)
def test_without_noise_an_answer_is_what_its_name_says(name: str, engine: str) -> None:
    """For every engine, answers are those of plain Python, but for the grid.

    Each column of the answer has its error columns.
    """
    release = released(name, ENGINES[engine]())
    asked = AGGREGATIONS[name]("y", ENDS)
    assert release.names == asked.columns("a")
    columns = release.errors.column_names
    expected = [part for one in release.names for part in names_among(one, columns)]
    assert columns == ["g", *expected]
    stands = name == "median" or name.startswith("quantiles")
    assert (len(expected) > 3 * len(release.names)) == stands
    assert release["g"].to_pylist() == list(VALUES)
    if name in OTHERS:
        return
    for held, told in zip(VALUES.values(), release["a"].to_pylist(), strict=True):
        if name in RANKS:
            assert rank_error(clamped(held), told, RANKS[name]) <= 0.5
        elif held or name not in {"mean", "variance", "stdev"}:
            assert told == pytest.approx(MEANINGS[name](held), abs=1e-3)
        else:  # an empty group has an answer too, within the bounds
            assert 0 <= told <= 25


def rank_error(held: list[float], told: float, share: float) -> float:
    """Return how many values lie between an answer and a place that is right."""
    assert 0 <= told <= 10
    below = sum(one < told for one in held)
    upto = sum(one <= told for one in held)
    wanted = share * len(held)
    return max(below - wanted, wanted - upto, 0)


def test_every_meaning_is_of_an_aggregation() -> None:
    assert set(MEANINGS) | set(RANKS) | OTHERS == set(AGGREGATIONS)


def descendants(kind: Any) -> Iterator[Any]:
    for below in kind.__subclasses__():
        yield below
        yield from descendants(below)


def is_whole(kind: Any) -> bool:
    return not inspect.isabstract(kind)


WITH_LAWS_OF_THEIR_OWN: Final = {Running}
"""What needs ordered periods: tests/laws/test_running_laws.py."""


def test_every_aggregation_is_a_case() -> None:
    for module in pkgutil.iter_modules(aggregations.__path__):
        importlib.import_module(f"sordino.aggregations.{module.name}")
    listed = {type(made("y", ENDS)) for made in AGGREGATIONS.values()}
    kinds = {kind for kind in descendants(AbstractAggregation) if is_whole(kind)}
    ours = {one for one in kinds if one.__module__.startswith("sordino.")}
    assert listed == ours - WITH_LAWS_OF_THEIR_OWN


def test_every_word_for_an_aggregation_is_a_case() -> None:
    named = {name.partition(",")[0] for name in AGGREGATIONS}
    words = {
        "count", "count_ids", "count_distinct", "sum", "mean", "variance", "stdev",
        "median", "quantile", "quantiles", "min", "max", "histogram", "bounds",
        "covariance",
    }  # fmt: skip
    assert words - named <= {"quantile"}  # one of `quantiles`
    assert words <= set(dir(sd))
