"""Units that replace a row, and units that add to a sum: what they can move.

Noise is off, as in `test_query_laws.py`; what is drawn here are the questions that have
prices of their own. Each test of a mutant breaks a lemma of docs/proofs/units.md.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sordino as sd
from sordino.aggregations import moments
from sordino.aggregations.aggregation import Setting
from sordino.aggregations.measurement import AbstractMeasurement
from sordino.auditing.dice import Dice
from sordino.auditing.drawn_queries import ENDS, STEPS, Scene
from sordino.auditing.worlds import DrawnWorld as World
from sordino.auditing.worlds import draw_total_unit as adding
from sordino.auditing.worlds import neighbour, world
from sordino.data.contribution import Contribution, Weighed, most_squares
from sordino.data.units import AbstractUnit
from sordino.engines.memory import MemoryEngine
from sordino.errors import SordinoError
from sordino.expressions.schema import Schema
from sordino.numbers import finite, rational_above
from sordino.plan.candidates import plans
from sordino.query.request import Request
from sordino.query.steps import Relation
from sordino.session import tables
from tests.batches import for_each
from tests.dice import rolled, shrinking
from tests.distances import Claim, broken, claim, exact
from tests.effort import often

QUESTIONS: Final = 5
NEIGHBOURS: Final = 5
_SEED: Final = 20_261_122
_PATIENCE: Final = 500
Ask = Callable[[Scene], Request]


def _values(scene: Scene) -> Any:
    """Draw a question about values that are all there, or of those that are."""
    dice = scene.dice
    ends = dice.one(ENDS)
    nulls: Any = dice.one((0, 3, "drop"))
    word: Any = dice.one((sd.sum, sd.mean, sd.variance, sd.sum))
    return word(scene.one("i64", "f64"), *ends, nulls=nulls)


def _several(scene: Scene) -> dict[str, Any]:
    dice = scene.dice
    asked = {f"answer {place}": _values(scene) for place in range(dice.between(1, 3))}
    return asked | ({"n": sd.count()} if dice.chance(1, 2) else {})


def whole(scene: Scene) -> Request:
    return scene.query.agg(**_several(scene))


def grouped(scene: Scene) -> Request:
    """Ask of groups of one or two columns, which are known or not."""
    by = scene.dice.several(scene.groupable(), 1, 2)
    return scene.query.group_by(by).agg(**_several(scene))


def own_names(scene: Scene) -> list[str]:
    """Return what the weighed column is called; nothing where there is none."""
    column = scene.relation.weighed
    return [] if column is None else sorted(column.names_in(scene.schema))


def weighed(scene: Scene) -> Request:
    """Ask for the sum of the weighed column: of everything, or of groups."""
    names = own_names(scene) or ["x"]
    asked: dict[str, Any] = {"total": sd.sum(scene.dice.one(names))}
    if scene.dice.chance(1, 2):
        asked["n"] = sd.count()
    others = [name for name in scene.groupable() if name not in names]
    by = scene.dice.several(others, 0, 2)
    return (scene.query.group_by(by) if by else scene.query).agg(**asked)


def clamped(scene: Scene) -> Request:
    """Ask for the sum of the weighed column within bounds, of which some keep 0."""
    name = scene.dice.one(own_names(scene) or ["x"])
    ends: Any = scene.dice.one(((0, 2), (1, 3), (-3, 10), (2, 9), (0, 2**62)))
    others = [known for known in scene.groupable() if known not in own_names(scene)]
    by = scene.dice.several(others, 0, 2)
    rows = scene.query.group_by(by) if by else scene.query
    return rows.agg(total=sd.sum(name, *ends))


def running(scene: Scene) -> Request:
    """Ask for figures of three periods: of the weighed column, or of rows."""
    names = own_names(scene)
    periods = [name for name in ("h", "z", "x") if name not in names]
    kinds = {name: scene.schema[name].type for name in periods if name in scene.schema}
    period = scene.dice.one([name for name in kinds if kinds[name] == "i64"])
    each = sd.sum(names[0]) if scene.dice.chance(3, 4) else sd.count()
    return scene.query.cumulative(period, [0, 1, 2], total=each)


def running_cases(dice: Dice, patience: int) -> Iterator[tuple[Fraction, Fraction]]:
    """Draw figures and neighbours: how far forms move, squared, and what is priced."""
    drawn = world(dice)
    one = replace(drawn, units={name: adding(dice) for name in drawn.private})
    engine = MemoryEngine()
    catalog = one.catalog(engine, one.private)
    others = [_opened(one, neighbour(dice, one)) for _ in range(patience)]
    query = sd.table("visits")
    scene = Scene(dice, catalog, query, query.resolve(catalog))
    for _ in range(dice.below(3)):
        scene = _stepped(scene)
    try:
        ways = list(plans(running(scene), catalog))
    except (SordinoError, IndexError):
        return
    for way in ways:
        (measured,) = way.measurements.values()
        priced = rational_above(finite(measured.change.l2) ** 2)
        here = _forms(measured, engine.answer(way.question))
        for other in others:
            there = _forms(measured, other.answer(way.question))
            apart = (
                Fraction(a) - Fraction(b) for a, b in zip(here, there, strict=True)
            )
            yield sum((one * one for one in apart), Fraction(0)), priced


def _forms(measured: AbstractMeasurement, totals: pa.Table) -> list[float]:
    """Return what is measured of exact totals, without noise."""
    forms: list[float] = measured.scale_totals(totals.column(-1).to_numpy()).tolist()
    return forms


def test_no_neighbour_moves_a_figure_over_time_further() -> None:
    """For any two neighbours that differ in what people add, of any periods."""
    pairs = [
        pair for seed in range(60) for pair in running_cases(rolled(_SEED + seed), 4)
    ]
    assert all(moved <= priced for moved, priced in pairs)
    assert any(moved == priced for moved, priced in pairs)
    assert len(pairs) > 100


def cases(
    dice: Dice, units: Callable[[Dice], AbstractUnit], ways: Sequence[Ask]
) -> Iterator[tuple[Claim, tuple[str, ...]]]:
    """Draw a database, neighbours of it and questions: what does not hold of prices."""
    drawn = world(dice)
    one = replace(drawn, units={name: units(dice) for name in drawn.private})
    engine = MemoryEngine()
    catalog = one.catalog(engine, one.private)
    others = [_opened(one, neighbour(dice, one)) for _ in range(NEIGHBOURS)]
    for _ in range(QUESTIONS):
        try:
            query = sd.table(dice.one(("visits", "stays")))
            scene = Scene(dice, catalog, query, query.resolve(catalog))
            for _ in range(dice.below(3)):
                scene = _stepped(scene)
            made = claim(dice.one(ways)(scene), catalog)
        except SordinoError:
            continue
        before = exact(made, engine)
        for further in others:
            yield made, tuple(broken(made, before, exact(made, further)))


def _opened(one: World, database: Any) -> MemoryEngine:
    engine = MemoryEngine()
    one.catalog(engine, database)
    return engine


def _stepped(scene: Scene) -> Scene:
    """Draw a step; one that is refused is left out."""
    try:
        return scene.then(scene.dice.one(STEPS)(scene))
    except SordinoError:
        return scene


def _replacing(dice: Dice) -> AbstractUnit:
    del dice
    return sd.ChangeOneRow()


KINDS: Final = {
    "replaced": (_replacing, (whole, whole, grouped)),
    "added": (adding, (weighed, weighed, clamped, whole, grouped)),
}


@for_each("kind", KINDS)
def test_no_neighbour_moves_an_answer_further(kind: str) -> None:
    """For any two neighbours of the unit, what the price says."""

    @settings(max_examples=max(3, settings().max_examples // 6))
    @given(st.data())
    def holds(data: st.DataObject) -> None:
        for made, wrong in cases(shrinking(data), *KINDS[kind]):
            assert not wrong, made.request

    holds()


@pytest.mark.slow
@for_each("kind", KINDS)
def test_no_neighbour_moves_an_answer_in_many_pairs(kind: str) -> None:
    """The same for 300 pairs or more; all kinds of questions are among them."""
    tried, seed, seen = 0, _SEED, set[Any]()
    while tried < often(10, 30) * settings().max_examples:
        for made, wrong in cases(rolled(seed), *KINDS[kind]):
            assert not wrong, f"seed {seed}: {wrong}"
            keys: list[Any] = [measured.key for measured in made.measurements]
            seen |= {next(iter(key)) for key in keys}
            tried += 1
        seed += 1
    assert ("sized" if kind == "replaced" else "weight") in seen


CELLS: Final = np.array([(page, day) for page in (0, 1) for day in (0, 1)])
"""A row for each page and day."""
VIEWS: Final = np.array(list(product(range(4), repeat=2 * len(CELLS))))
"""All numbers of these rows in two tables; 0 where a row is not there."""
READ: Final[dict[str, tuple[bool, Callable[[Any], Any]]]] = {
    "as they are": (True, lambda views: views),
    "within [0, 2]": (True, lambda views: np.clip(views, 0, 2)),
    "within [1, 2]": (True, lambda views: np.where(views, np.clip(views, 1, 2), 0)),
    "of a row": (True, lambda views: np.minimum(views, 1)),
    "of both signs": (False, lambda views: np.where(views, 2 * (views % 2) - 1, 0)),
}
"""What is made of a number, and whether it moves as the weighed column does."""


@for_each(
    "unit",
    [
        sd.AddMaxTotal("views", most, in_each=each)
        for most in (2, 4)
        for each in (None, 1, ("page", 1), ("page", 2), ("page", "day", 1))
    ],
)
def test_small_tables_move_as_far_as_is_said_and_no_further(
    unit: sd.AddMaxTotal,
) -> None:
    """Of all pairs of tables of four rows, in all groups; each bound is reached."""
    names = ("page", "day", "views")
    schema = Schema(tuple((name, sd.Column("i64").renew()) for name in names))
    before, after, whole = _neighbours(unit, schema)
    weighed, rows = unit.weigh(schema), unit.contribution(schema)
    for by in ((), ("page",), ("day",), ("page", "day")):
        groups = frozenset(schema[name].version for name in by)
        for name, (is_weighed, read) in READ.items():
            told: Any = (weighed if is_weighed else rows).sensitivity(groups)
            apart = abs(_by(by, read(before) - read(after)))
            norms = apart.sum(axis=1), (apart**2).sum(axis=1), apart.max(axis=1)
            l1, squares, largest = (int(norm.max()) for norm in norms)
            assert l1 <= told.l1, (by, name)
            assert squares <= rational_above(finite(told.l2) ** 2), (by, name)
            assert largest <= told.linf, (by, name)
            reached = whole, most_squares(whole, largest, 2 ** len(by))
            assert name != "as they are" or (l1, squares) == reached, by


def _neighbours(unit: sd.AddMaxTotal, schema: Schema) -> tuple[Any, Any, int]:
    """Return all pairs of tables that are neighbours, and what they differ by."""
    named = unit.name_columns(schema).in_each
    before, after = np.split(VIEWS, 2, axis=1)
    moved = abs(before - after)
    near, whole = moved.sum(axis=1) <= unit.max_total, unit.max_total
    if isinstance(named, tuple):
        each = _by(named[:-1], moved)
        near &= each.max(axis=1) <= int(named[-1])
        whole = min(whole, int(named[-1]) * each.shape[1])
    return before[near], after[near], whole


def _by(names: Sequence[Any], numbers: Any) -> Any:
    """Return sums by page, day, both or neither."""
    places = [("page", "day").index(name) for name in names]
    marks = CELLS[:, places] @ [2**place for place in range(len(places))]
    return np.stack([numbers[:, marks == mark].sum(axis=1) for mark in set(marks)], 1)


Patch = pytest.MonkeyPatch


def _signs_forgotten(patch: Patch) -> None:

    def rows(self: Setting, *more: Any) -> Any:
        return self.contribution.count_sensitivity(self.versions.union(*more))

    patch.setattr(Setting, "rows", rows)


def _copies_forgotten(patch: Patch) -> None:
    """Let a row that becomes several leave and come as one."""
    times = Contribution.times

    def as_one(self: Contribution, factor: int) -> Contribution:
        return replace(times(self, factor), each_way=self.each_way)

    patch.setattr(Contribution, "times", as_one)


def _squares_apart(patch: Patch) -> None:
    patch.setattr(moments, "_TOGETHER", Fraction(1))
    patch.setattr(moments, "_ODD", 0)


def _one_way_alone(patch: Patch) -> None:

    def counts(self: Contribution, by: Any) -> Any:
        return Contribution(rows=self.each_way or self.rows).sensitivity(by)

    patch.setattr(Contribution, "count_sensitivity", counts)


def _read_by_others(patch: Patch) -> None:
    patch.setattr(Relation, "weighed_beside", lambda self, _: self.weighed)


def _zeros_kept(patch: Patch) -> None:

    def kept(rows: Relation, unit: AbstractUnit) -> Relation:
        return replace(rows, weighed=unit.weigh(rows.schema))

    patch.setattr(tables, "_weigh_rows", kept)


def _grouped_by_itself(patch: Patch) -> None:

    def sensitivity(self: Weighed, by: Any) -> Any:
        return Contribution(rows=self.most).sensitivity(by)

    patch.setattr(Weighed, "sensitivity", sensitivity)


def _cells_in_any_groups(patch: Patch) -> None:
    """Let a group move by no more than one cell, though it holds several."""

    def sensitivity(self: Weighed, by: Any) -> Any:
        rows = Contribution(rows=self.most)
        if self.in_each is not None:
            rows = rows.with_group_rows(frozenset(), self.in_each[1])
        return None if self.version in by else rows.sensitivity(by)

    patch.setattr(Weighed, "sensitivity", sensitivity)


def _as_if_less_were_added(patch: Patch) -> None:

    def sensitivity(self: Weighed, by: Any) -> Any:
        return Contribution(rows=(self.most + 1) // 2).sensitivity(by)

    patch.setattr(Weighed, "sensitivity", sensitivity)


def by_itself(scene: Scene) -> Request:
    name = scene.dice.one(own_names(scene) or ["x"])
    return scene.query.group_by(name).agg(total=sd.sum(name))


MUTANTS: Final[tuple[tuple[str, Callable[[Patch], None], tuple[Ask, ...]], ...]] = (
    ("replaced", _signs_forgotten, (grouped,)),
    ("replaced", _copies_forgotten, (grouped,)),
    ("replaced", _squares_apart, (whole,)),
    ("replaced", _one_way_alone, (grouped,)),
    ("added", _read_by_others, (weighed,)),
    ("added", _zeros_kept, (weighed,)),
    ("added", _grouped_by_itself, (by_itself,)),
    ("added", _cells_in_any_groups, (weighed,)),
)


@pytest.mark.slow
@for_each(("kind", "mutant", "ways"), MUTANTS)
def test_a_mutant_is_caught(
    kind: str,
    mutant: Callable[[Patch], None],
    ways: tuple[Ask, ...],
    monkeypatch: Patch,
) -> None:
    mutant(monkeypatch)
    units, _ = KINDS[kind]
    # of what is read by others no earlier database shows it
    first = 380 if mutant is _read_by_others else 0
    seeds = range(_SEED + first, _SEED + _PATIENCE)
    assert any(wrong for seed in seeds for _, wrong in cases(rolled(seed), units, ways))


@pytest.mark.slow
def test_figures_over_time_that_move_further_are_caught(monkeypatch: Patch) -> None:
    _as_if_less_were_added(monkeypatch)
    seeds = range(_SEED + 60, _SEED + _PATIENCE)
    assert any(
        moved > priced
        for seed in seeds
        for moved, priced in running_cases(rolled(seed), NEIGHBOURS)
    )
