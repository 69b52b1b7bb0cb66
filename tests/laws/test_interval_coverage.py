"""Intervals of whole releases hold the exact answer as often as they say.

Every group of a table is one repetition: all have the same size, and noise of their
own. Each check lets pass what has the stated coverage but once in 1e9 runs
(`FALSE_ALARM`); there are fewer than 200 of them.
"""

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from numpy.typing import NDArray

import sordino as sd
from tests.batches import for_each, sampled
from tests.effort import often
from tests.statistics import is_at_least, is_at_most

REPETITIONS = often(2_000, 20_000)
BUDGET = sd.ApproxDP(1, "1e-6")
LOW, HIGH = 0.0, 100.0
FACTS = {"x": sd.Column("f64", nullable=False, nan=False)}
ASKED: dict[str, Any] = {
    "n": sd.count(),
    "t": sd.sum("x", LOW, HIGH),
    "m": sd.mean("x", LOW, HIGH),
    "v": sd.variance("x", LOW, HIGH),
    "s": sd.stdev("x", LOW, HIGH),
}


@dataclass(frozen=True)
class Groups:
    """So many groups of one size, of values that are skewed as values are."""

    size: int
    count: int
    per_id: int
    """In how many groups each id lies; 0 where rows are protected."""

    @property
    def values(self) -> NDArray[np.float64]:
        rng = np.random.default_rng(self.size)
        return HIGH * rng.beta(2, 5, (self.count, self.size))

    @property
    def exact(self) -> dict[str, NDArray[np.float64]]:
        x = self.values
        spread = x.var(axis=1)
        return {
            "n": np.full(self.count, float(self.size)),
            "t": x.sum(axis=1),
            "m": x.mean(axis=1),
            "v": spread,
            "s": np.sqrt(spread),
        }

    @property
    def session(self) -> sd.Session:
        groups = np.repeat(np.arange(self.count), self.size)
        columns = {"g": groups, "x": self.values.ravel()}
        unit: Any = sd.AddOneRow()
        if self.per_id:
            # neighbours in a shuffled order share an id: mostly of different groups
            places = np.random.default_rng(1).permutation(groups.size)
            columns["id"] = np.empty(groups.size, np.int64)
            columns["id"][places] = np.arange(groups.size) // self.per_id
            unit = sd.AddRowsWithID("id")
        table = sd.PrivateTable(pa.table(columns), protects=unit, columns=FACTS)
        return sd.Session({"t": table}, sd.ApproxDP(10**6, "0.9"))

    @property
    def rows(self) -> sd.Query:
        rows = sd.table("t")
        if not self.per_id:
            return rows
        return rows.enforce(
            sd.MaxGroupsPerID("g", self.per_id + 1), sd.MaxRowsPerGroupPerID("g", 1)
        )


@cache
def released(groups: Groups, asked: str, *, known: bool) -> Any:
    """Return a release of some columns, and the exact answers of the shown groups."""
    keys: Any = "g"
    if known:
        keys = sd.KeySet.from_dict({"g": list(range(groups.count))})
    columns = {name: ASKED[name] for name in asked}
    release = groups.session.release(groups.rows.group_by(keys).agg(**columns), BUDGET)
    shown = release["g"].to_numpy()
    return release, {name: exact[shown] for name, exact in groups.exact.items()}


def held(release: Any, exact: Any, name: str) -> NDArray[np.bool_]:
    """Tell which intervals of a column hold the exact answer."""
    low, high = (release.errors[f"{name} {end}"].to_numpy() for end in ("low", "high"))
    return np.asarray((low <= exact[name]) & (exact[name] <= high))


@pytest.mark.slow
@sampled(1, 4)
@for_each("per_id", [0, 5])
@for_each("size", [1, 10, 100, 1000])
@for_each("asked", ["n", "m", "ntmv", "nms"])
def test_known_groups_of_every_size_are_held(
    asked: str, size: int, per_id: int
) -> None:
    """Every column of every size has 95 %, and large groups no more than 97.5 %."""
    groups = Groups(size, REPETITIONS if size < 1000 else 400, per_id)
    release, exact = released(groups, asked, known=True)
    for name in asked:
        hits = held(release, exact, name)
        assert is_at_least(hits, 0.95), name
        if size >= 100:
            assert is_at_most(hits, 0.975), name


def threshold(asked: str, per_id: int) -> float:
    groups = Groups(3, 10, per_id)
    columns = {name: ASKED[name] for name in asked}
    request = groups.rows.group_by("g").agg(**columns)
    return float(groups.session.price(request, BUDGET).thresholds[0])


@pytest.mark.slow
@sampled(1, 3)
@for_each("per_id", [0, 5])
@for_each("asked", ["n", "m", "ntmv"])
@for_each("share", [0.8, 1.0, 1.25, 3.0])
def test_groups_that_show_are_held_given_that_they_show(
    asked: str, share: float, per_id: int
) -> None:
    """Of those printed 95 % hold, however near the threshold; far above no more."""
    size = round(threshold(asked, per_id) * share)
    # where few show, many are asked: a tenth of the size of 2,000 that are shown
    count = REPETITIONS * (10 if share < 1 else 2)
    release, exact = released(Groups(size, count, per_id), asked, known=False)
    for name in asked:
        hits = held(release, exact, name)
        assert hits.size > 50
        assert is_at_least(hits, 0.95), name
        if share > 2:
            assert is_at_most(hits, 0.975), name


@pytest.mark.slow
@for_each("per_id", [0, 5])
def test_intervals_over_all_groups_are_caught(per_id: int) -> None:
    """The intervals of before, for all groups, shown or not, are too often wrong."""
    size = round(threshold("n", per_id) * 0.8)
    groups = Groups(size, REPETITIONS * 10, per_id)
    release, exact = released(groups, "n", known=False)
    request = groups.rows.group_by("g").agg(n=sd.count())
    reach = groups.session.price(request, BUDGET).errors["n"].half_width
    value = release["n"].to_numpy()
    before = np.abs(value - exact["n"]) <= reach
    assert before.size > 50
    assert not is_at_least(before, 0.95)


CHOICES: dict[str, Any] = {
    "middle": (sd.median("x", LOW, HIGH), 0.5),
    "high": (sd.quantile("x", "0.9", LOW, HIGH), 0.9),
    "greatest": (sd.max("x", LOW, HIGH), 1.0),
}


@pytest.mark.slow
@for_each("known", [True, False])
@for_each("name", CHOICES)
def test_choices_lie_within_the_ranks_told(name: str, *, known: bool) -> None:
    """Of 2,000 groups that show 95 % of the answers are no more ranks off than told.

    Of a 64th of these ranks less than 85 % are held: missed once in 1e20 runs.
    """
    asked, share = CHOICES[name]
    groups = Groups(60, REPETITIONS, 0)
    keys: Any = sd.KeySet.from_dict({"g": list(range(groups.count))}) if known else "g"
    request = groups.rows.group_by(keys).agg(a=asked)
    session = groups.session
    price, release = session.price(request, BUDGET), session.release(request, BUDGET)
    values = groups.values[release["g"].to_numpy()]
    assert len(values) > REPETITIONS / 2
    answers = release["a"].to_numpy()[:, None]
    below, within = (values < answers).sum(axis=1), (values <= answers).sum(axis=1)
    aim = share * groups.size
    off = np.maximum(np.maximum(below - aim, aim - within), 0)
    half = price.errors["a"].half_width
    assert f"within ±{half:.4g}" in str(release.notes)
    assert is_at_least(off <= half, 0.95)
    assert not is_at_least(off <= half / 64, 0.95)


@pytest.mark.slow
@for_each("share", [0.5, 0.9])
def test_shorter_intervals_are_caught(share: float) -> None:
    """Intervals of known groups that are shorter by a share hold too seldom.

    Where half is left 76 to 84 % hold and less than 92 % is refused: of 2,000 that is
    missed once in 1e20 runs.
    """
    release, exact = released(Groups(100, REPETITIONS, 0), "ntmv", known=True)
    for name in "ntmv":
        low, high = (
            release.errors[f"{name} {end}"].to_numpy() for end in ("low", "high")
        )
        middle, half = (low + high) / 2, (high - low) / 2 * (1 - share)
        hits = np.abs(middle - exact[name]) <= half
        assert not is_at_least(hits, 0.95), name
