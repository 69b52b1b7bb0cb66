"""Intervals hold the table's figures where a promise bounds what limits cut off.

Of each drawn table one answer is drawn many times. A law that is true is called false
once in 1e9 runs (`FALSE_ALARM`) by each check; there are fewer than 200 of them.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pytest
from numpy.typing import NDArray

import sordino as sd
from sordino.engines.memory import MemoryEngine
from sordino.plan.purchase import best_purchase
from sordino.release.answer import noisy_answer
from sordino.release.table_figures import CutOff, LostForm, read_holds
from sordino.session.tables import open_catalog
from tests.batches import for_each, sampled
from tests.effort import often
from tests.statistics import is_at_least, is_at_most

DRAWS: Final = often(80, 2_000)
GROUPS: Final = 3
FINE: Final = sd.PureDP(20)
ASKED: Final[Mapping[str, Any]] = {
    "n": sd.count(),
    "people": sd.count_ids(),
    "x": sd.sum("x", -2, 6),
    "m": sd.mean("x", -2, 6),
}


@dataclass(frozen=True)
class Shape:
    """A table of people, and the limits of a question about it."""

    kind: str
    groups: int
    """0 where all rows are asked about together."""
    limits: tuple[Any, ...]
    most: int
    """No id has more rows: that is so, and promised."""
    budget: Any = FINE
    weight: Any = 2
    """Of the counts of what was left out."""
    hidden: bool = False
    """Whether groups have to show."""

    @property
    def rows(self) -> dict[str, NDArray[np.int64]]:
        rng = np.random.default_rng(len(self.kind) + self.most)
        people = 300
        counts = {
            "few": rng.integers(1, 8, people),
            "lognormal": np.maximum(1, rng.lognormal(1, 1, people).astype(int)),
            "zipf": rng.zipf(1.8, people),
        }[self.kind]
        ids = np.repeat(np.arange(people), np.minimum(counts, self.most))
        group = rng.integers(0, GROUPS, ids.size)
        # whoever has many rows has great values: means move with what is cut off
        own = np.minimum(counts, self.most)[ids]
        values = rng.integers(-2, 3, ids.size) + np.where(own > 5, 4, 0)
        return {"id": ids, "g": group, "x": values}

    def query(self, *names: str) -> Any:
        rows = sd.table("t").enforce(*self.limits)
        keys: Any = sd.KeySet.from_dict({"g": list(range(GROUPS))})
        keys = "g" if self.hidden else keys
        asked = rows.group_by(keys) if self.groups else rows
        questions = {name: ASKED[name] for name in names or ASKED}
        return asked.agg(**questions, weights={"coverage": self.weight}, coverage=True)

    def exact(self, name: str) -> float:
        """The figure of the table, of the first group or of all rows."""
        cells = self.rows
        here = cells["g"] == 0 if self.groups else cells["g"] >= 0
        x = np.clip(cells["x"][here], -2, 6)
        figures = {"n": x.size, "people": len(set(cells["id"][here])), "x": x.sum()}
        return float(figures[name] if name != "m" else x.mean())


def _rows(most: int, promised: int) -> tuple[Any, ...]:
    return (sd.MaxRowsPerID(most, at_most=promised),)


def _cells(groups: int, rows: int, promised: int) -> tuple[Any, ...]:
    each = sd.MaxGroupsPerID("g", groups), sd.MaxRowsPerGroupPerID("g", rows)
    return (*each, *_rows(groups * rows, promised))


SHAPES: Final = {
    "few rows": Shape("few", 0, _rows(2, 7), 7),
    "little is spent on it": Shape("few", 0, _rows(2, 7), 7, weight="1/50"),
    "few rows by group": Shape("few", GROUPS, _cells(2, 2, 7), 7),
    "two of three groups": Shape("few", GROUPS, _cells(2, 3, 7), 7, sd.PureDP(1)),
    "one of three groups": Shape("few", GROUPS, _cells(1, 1, 7), 7, sd.PureDP(60)),
    "one group of many rows": Shape(
        "few", 0, (sd.MaxGroupsPerID("g", 1), *_rows(6, 7)), 7
    ),
    "some lose more than is counted": Shape("zipf", 0, _rows(2, 90), 90),
    "the same by group": Shape("zipf", GROUPS, _rows(3, 90), 90, sd.PureDP(60)),
    "long tails": Shape("lognormal", 0, _rows(4, 40), 40, sd.GaussianDP(4)),
    "long tails by group": Shape("lognormal", GROUPS, _cells(2, 3, 40), 40),
    "groups that show": Shape(
        "few", GROUPS, _cells(2, 2, 7), 7, sd.ApproxDP(20, "1e-6"), hidden=True
    ),
    "nothing is lost, and might be": Shape("few", GROUPS, _rows(7, 9), 7),
    "nothing is lost": Shape("few", GROUPS, _rows(7, 7), 7, sd.PureDP(1)),
    "all of it": Shape("few", 0, _rows(9, 7), 7, sd.ApproxDP(1, "1e-6")),
}


@cache
def drawn(
    shape: str, draws: int = DRAWS, *names: str
) -> tuple[dict[str, NDArray[np.bool_]], dict[str, str]]:
    """Whether each interval held the figure of the table, and what it said it holds."""
    asked = SHAPES[shape]
    unit = sd.AddRowsWithID("id")
    engine = MemoryEngine()
    table = sd.PrivateTable(pa.table(asked.rows), protects=unit)
    bought = best_purchase(
        asked.query(*names), open_catalog(engine, {"t": table}), asked.budget
    )
    plan = bought.plan
    exact = engine.prepare(plan.question)()
    counts = [engine.prepare(question)() for question in plan.coverage_questions]
    held: dict[str, list[bool]] = {name: [] for name in names or ASKED}
    words: dict[str, str] = {}
    for _ in range(draws):
        errors = noisy_answer(bought, exact, {}, counts).errors
        for name, each in held.items():
            low, high = (errors[f"{name} {end}"][0].as_py() for end in ("low", "high"))
            each.append(low <= asked.exact(name) <= high)
            words[name] = read_holds(errors, name)
    return {name: np.array(each) for name, each in held.items()}, words


def _held(shape: str, name: str) -> NDArray[np.bool_] | None:
    """None where an interval does not say that it holds the figure of the table."""
    held, words = drawn(shape)
    return held[name] if words[name].startswith("of the table") else None


@sampled(2, 4)
@for_each("shape", list(SHAPES))
def test_intervals_hold_the_figures_of_the_table(shape: str) -> None:
    whole = not SHAPES[shape].groups or shape == "nothing is lost"
    for name in ASKED:
        held = _held(shape, name)
        assert (held is not None) == (name != "m" or whole)
        assert held is None or is_at_least(held, 0.95), name


@for_each("name", list(ASKED))
def test_where_nothing_is_lost_they_are_no_wider(name: str) -> None:
    held = _held("all of it", name)
    assert held is not None
    assert is_at_most(held, 0.99)


def test_without_a_promise_they_say_that_they_hold_the_noise() -> None:
    asked = Shape("few", GROUPS, (sd.MaxRowsPerID(2),), 7)
    table = sd.PrivateTable(pa.table(asked.rows), protects=sd.AddRowsWithID("id"))
    session = sd.Session({"t": table}, sd.PureDP(20), engine="memory")
    release = session.release(asked.query(), sd.PureDP(20))
    assert set(release.figures.values()) == {"of the noise"}
    # two thirds of the rows are missing, and that is told with no promise
    about = np.array(release.about["n"].to_pylist()).sum()
    assert 0.85 < about / len(asked.rows["id"]) < 1.15
    assert "people" not in release.about
    assert '"About" is what n, x would be' in release.limits


LEFT_OUT: Final = {
    "the rows that were lost": ("few rows", "n"),
    "their noise": ("little is spent on it", "n"),
    "the rows of those who lose more": ("some lose more than is counted", "n"),
    "the ids that lost rows": ("one of three groups", "people"),
    "what groups lost that show": ("groups that show", "n"),
    "the mean of what was lost": ("few rows", "m"),
    "values below zero": ("few rows", "x"),
}


@for_each("term", list(LEFT_OUT))
def test_a_term_that_is_left_out_is_caught(
    term: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Planted: each term of lemmas 10 to 14, taken for zero."""
    shape, name = LEFT_OUT[term]
    whole, _ = drawn(shape, 25, name)
    assert is_at_least(whole[name], 0.95)
    rows, ids = CutOff.rows_lost, CutOff.ids_lost

    def rows_lost(self: CutOff, promised: int) -> LostForm:
        if term == "the rows of those who lose more":
            return rows(self, self.cut.most)
        return without(rows(self, promised))

    def without(lost: LostForm) -> LostForm:
        silent = tuple(0.0 for _ in lost.factors)
        return replace(
            lost, factors=silent, value=lost.value if term == "their noise" else 0.0
        )

    if term == "the ids that lost rows":
        monkeypatch.setattr(CutOff, "ids_lost", lambda self: without(ids(self)))
    else:
        monkeypatch.setattr(CutOff, "rows_lost", rows_lost)
    # of few draws half are within reach by luck
    draws = 120 if term == "their noise" else 25
    held, _ = drawn.__wrapped__(shape, draws, name)
    assert not is_at_least(held[name], 0.95)
