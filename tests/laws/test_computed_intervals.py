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


KINDS: Final[Mapping[str, Any]] = {
    "n": sd.count(),
    "p": sd.count_ids(),
    "d": sd.count_distinct("x"),
    "i": sd.sum("x", -3, 9),
    "f": sd.sum("y", 0, 10, nulls=0),
    "m": sd.mean("y", 0, 10),
    "v": sd.variance("x", 0, 9),
    "q": sd.median("x", 0, 9),
    "h": sd.histogram("x", [0, 3, 9]),
}
UNITS: Final[Mapping[str, Any]] = {
    "a row": sd.AddOneRow(),
    "another row": sd.ChangeOneRow(),
    "an id": sd.AddRowsWithID("id"),
}


@cache
def asked_of(
    unit: str, budget: sd.ApproxDP | sd.PureDP, noise: str
) -> list[sd.Release]:
    """Releases of drawn columns, by known groups, by unknown ones, and of all rows."""
    rng, rows = np.random.default_rng(5), 800
    cells = {
        "id": np.arange(rows) // 2,
        "g": rng.integers(0, 4, rows),
        "x": rng.integers(0, 10, rows),
        "y": rng.random(rows) * 10,
    }
    table = sd.PrivateTable(pa.table(cells), protects=UNITS[unit])
    session = sd.Session({"t": table}, sd.ApproxDP(10**6, "0.5"), engine="memory")
    query, keys = sd.table("t"), sd.KeySet.from_dict({"g": list(range(5))})
    if unit == "an id":
        query = query.enforce(
            sd.MaxGroupsPerID("g", 2), sd.MaxRowsPerGroupPerID("g", 2)
        )
    releases = []
    for _ in range(often(4, 60)):
        names = [name for name in KINDS if rng.random() < 0.4] or ["n"]
        names = [name for name in names if name != "p" or unit == "an id"]
        columns = {name: KINDS[name] for name in names} or {"n": KINDS["n"]}
        groups: list[Any] = [query.group_by(keys), query]
        groups += [query.group_by("g")] if isinstance(budget, sd.ApproxDP) else []
        for rows_of in groups:
            request = rows_of.agg(noise=noise, **columns)
            if rows_of is not query and rng.random() < 0.5:
                request = request.suppress_below(20)
            releases.append(session.release(request, budget))
    return releases


@for_each("unit", list(UNITS))
@for_each("budget", [sd.PureDP(1), sd.ApproxDP(1, "1e-6")])
@for_each("noise", ["laplace", "gaussian"])
def test_laws_are_those_of_the_printed_answers(
    unit: str, budget: Any, noise: str
) -> None:
    """The law of each count and sum deviates as it is printed, whatever is beside it.

    Of what is chosen or divided there is none.
    """
    if noise == "gaussian" and isinstance(budget, sd.PureDP):
        return
    with_a_law = set()
    for release in asked_of(unit, budget, noise):
        laws = release.read_laws()
        for name in release.names:
            if laws is None or name not in laws.forms:
                # without any noise there is no law to tell
                assert name[0] in "mvqh" or laws is None, name
                continue
            bars = laws.bars(laws.forms[name])
            if bars is None:  # what showed the group, and is not printed, is in it
                continue
            with_a_law.add(name)
            printed = release.errors[f"{name} sd"].to_numpy()
            assert np.allclose(bars.sd, printed, rtol=0.05), name
            assert (bars.low <= release[name].to_numpy()).all()
            assert (release[name].to_numpy() <= bars.high).all()
    assert with_a_law >= {"n", "i", "f"}
