"""Intervals of computed answers hold the exact ones as often as they say.

Every group of a table is one repetition, with noise of its own. A law that is true is
called false once in 1e9 runs (`FALSE_ALARM`); there are fewer than 100 checks.
"""

from collections.abc import Mapping
from fractions import Fraction
from functools import cache
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pytest
from numpy.typing import NDArray

import sordino as sd
from sordino.aggregations.intervals import computed
from sordino.aggregations.intervals.computed import AnswerLaws, NumberForm
from tests.batches import for_each
from tests.effort import often
from tests.statistics import is_at_least, is_at_most

REPETITIONS: Final = often(2_000, 20_000)
SIZES: Final = {"Laplace": 60, "Gaussian": 60, "shown": 60, "barely shown": 20}
_A, _B, _N = sd.col("a"), sd.col("b"), sd.col("n")
COLUMNS: Final[Mapping[str, Any]] = {
    "difference": _A - _B,
    "weighed": 2 * _A + _B - 3 * _N,
    "rate": _A / _N,
    "share": 100 * _A / (_A + _B),
    "change": (_B - _A) / _A,
    "inverse": 1000 / _N,
    "odds": (_A / _N) / (_B / _N),
    "logarithm": (_A / _N).log(),
    "half": _N / 2 - 1,
}
BUDGETS: Final = {
    "Laplace": sd.PureDP(1),
    "Gaussian": sd.GaussianDP("1/2"),
    "shown": sd.ApproxDP(1, "1e-6"),
    # so few rows that the noise helped about half of the groups
    "barely shown": sd.ApproxDP(1, "1e-6"),
}


@cache
def released(budget: str) -> tuple[sd.Release, dict[str, NDArray[np.float64]]]:
    """Sums and a count of many groups, and the exact ones."""
    rng, size = np.random.default_rng(11), SIZES[budget]
    groups = np.repeat(np.arange(REPETITIONS), size)
    cells = {name: 10 * rng.beta(2, 3, groups.size) for name in ("x", "y")}
    float_column = sd.Column("f64", nullable=False, nan=False)
    table = sd.PrivateTable(
        pa.table({"g": groups, **cells}),
        protects=sd.AddOneRow(),
        columns=dict.fromkeys(cells, float_column),
    )
    keys: Any = sd.KeySet.from_dict({"g": list(range(REPETITIONS))})
    asked = sd.table("t").group_by("g" if "shown" in budget else keys)
    query = asked.agg(n=sd.count(), a=sd.sum("x", 0, 10), b=sd.sum("y", 0, 10))
    given = BUDGETS[budget]
    session = sd.Session({"t": table}, budget=given, engine="memory")
    release = session.release(query, given)
    sums = {
        name: np.add.reduceat(cells[cell], np.arange(0, groups.size, size))
        for name, cell in (("a", "x"), ("b", "y"))
    }
    there = np.array(release["g"].to_pylist())
    exact = {name: each[there] for name, each in sums.items()}
    return release, exact | {"n": np.full(len(there), float(size))}


def held(budget: str, name: str) -> NDArray[np.bool_]:
    """Whether the interval of a computed column holds the exact value, by group."""
    release, exact = released(budget)
    made = release.with_columns(**{name: COLUMNS[name]})
    tree = COLUMNS[name].tree
    rows = [dict(zip(exact, row, strict=True)) for row in zip(*exact.values())]  # noqa: B905 columns of one table
    truth = np.array([tree.value(row) for row in rows])
    low, high = (made.errors[f"{name} {end}"].to_numpy() for end in ("low", "high"))
    # an end that is not told excludes nothing
    return np.asarray(~((truth < low) | (high < truth)))


@for_each("budget", list(BUDGETS))
@for_each("name", list(COLUMNS))
def test_computed_intervals_hold(budget: str, name: str) -> None:
    """At least as often as they say, and hardly more often."""
    inside = held(budget, name)
    assert is_at_least(inside, 0.95)
    # of a group that the noise helped to show nobody can say by how much
    assert is_at_most(inside, 0.985) or budget == "barely shown"


def test_forgotten_shares_of_noise_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted: answers that were measured together, taken for independent ones."""
    made = AnswerLaws.of

    def apart(forms: Any, answers: Any, numbers: Any, confidence: Fraction) -> Any:
        own = {
            name: NumberForm({
                (name, mark): each for mark, each in form.factors.items()
            })
            for name, form in forms.items()
        }
        noises = {
            (name, mark): numbers.noises[mark]
            for name, form in forms.items()
            for mark in form.factors
        }
        free = computed.NumberNoises(noises)
        return made(own, answers, free, confidence)

    monkeypatch.setattr(AnswerLaws, "of", apart)
    released.cache_clear()
    try:
        inside = {name: held("Laplace", name).mean() for name in ("weighed", "rate")}
    finally:
        released.cache_clear()
    assert any(abs(share - 0.95) > 0.03 for share in inside.values())
