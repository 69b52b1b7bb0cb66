"""What one protected change can do to the exact answers of any question.

Noise is off: for drawn databases, neighbours and questions, the exact totals of every
part differ by at most what the price says, in every norm, in rational numbers. Each
test of a mutant breaks one rule of docs/proofs/queries.md and must be caught.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Final, final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sordino.aggregations import measurement, moments
from sordino.aggregations.lattice import Lattice, exact_bounds, width_lattice
from sordino.aggregations.measurement import IntegerMeasurement, Total, scale_change
from sordino.auditing import drawn_queries
from sordino.auditing.dice import Dice
from sordino.auditing.drawn_queries import (
    Step,
)
from sordino.auditing.drawn_queries import (
    draw_query as drawn,
)
from sordino.auditing.drawn_queries import (
    draw_request as asked,
)
from sordino.auditing.worlds import neighbour, world
from sordino.data.contribution import Contribution
from sordino.data.limits import DropExcess
from sordino.engines.memory import MemoryEngine, keyed_order
from sordino.errors import SordinoError
from sordino.expressions.literals import literal
from sordino.expressions.schema import Column, Schema
from sordino.noise.sensitivity import Sensitivity
from sordino.plan import plan
from sordino.query import dropped_rows, joins, steps
from sordino.query.dropped_rows import tally_measurement
from sordino.query.nodes import AbstractNode, KeepGroups
from sordino.query.steps import Relation
from tests.batches import for_each
from tests.dice import rolled, shrinking
from tests.distances import broken, claim, exact

QUESTIONS: Final = 4
NEIGHBOURS: Final = 5
_SEED: Final = 20_261_101
_PATIENCE: Final = 600
"""How many databases are drawn in search of a case against a mutant."""


@final
@dataclass(frozen=True)
class Case:
    """A question and two databases, and what of its price does not hold for them."""

    text: str
    complaints: tuple[str, ...]


def cases(dice: Dice, steps: Sequence[Step] = ()) -> Iterator[Case]:
    """Draw a database, some neighbours and some questions, and compare the answers."""
    one = world(dice)
    order = keyed_order(dice.below(2**16))
    engine = MemoryEngine(order=order)
    catalog = one.catalog(engine, one.private)
    others = []
    for _ in range(NEIGHBOURS):
        database, further = neighbour(dice, one), MemoryEngine(order=order)
        one.catalog(further, database)
        others.append((database, further))
    for _ in range(QUESTIONS):
        try:
            made = claim(asked(drawn(dice, catalog, steps)), catalog)
        except SordinoError:
            continue
        before = exact(made, engine)
        for database, further in others:
            wrong = broken(made, before, exact(made, further))
            text = f"{made.request}\n{one}\n{database}" if wrong else ""
            yield Case(text, tuple(wrong))


@settings(max_examples=max(5, settings().max_examples // 5))
@given(st.data())
def test_no_change_moves_an_answer_further_than_its_price_says(
    data: st.DataObject,
) -> None:
    """The law, in a form that Hypothesis makes smaller when it fails."""
    for case in cases(shrinking(data)):
        assert not case.complaints, f"{case.complaints}\n{case.text}"


def test_no_change_moves_an_answer_in_many_pairs() -> None:
    """The law for 400 pairs of databases at dev, 4,000 at ci, 100,000 at night."""
    wanted = QUESTIONS * NEIGHBOURS * settings().max_examples
    tried, seed = 0, _SEED
    while tried < wanted:
        for case in cases(rolled(seed)):
            assert not case.complaints, f"seed {seed}: {case.complaints}\n{case.text}"
            tried += 1
        seed += 1


def caught(steps: Sequence[Step], first: int) -> bool:
    """Tell whether the law fails within some number of databases."""
    return any(
        case.complaints
        for seed in range(_SEED + first, _SEED + _PATIENCE)
        for case in cases(rolled(seed), steps)
    )


Patch = pytest.MonkeyPatch


def _joined_to_nothing(patch: Patch) -> None:
    """Price a left join with m, where max(1, m) is needed for an empty table."""

    def multiplied(self: Relation, node: AbstractNode, factor: int | None) -> Relation:
        if factor is None:
            held = self.contribution.without_row_bounds()
        else:
            held = self.contribution.times(factor)
        return replace(self, node=node, contribution=held)

    patch.setattr(Relation, "multiply", multiplied)


def _product_of_limits(patch: Patch) -> None:
    """Price a private join with the product of its limits."""
    rule = joins.JoinPrivate._by_rows

    def by_rows(self: joins.JoinPrivate, one: Relation, other: Relation) -> Relation:
        made = rule(self, one, other)
        limits = [side.limit for side in (self.left, self.right) if side is not None]
        return replace(made, contribution=Contribution(rows=math.prod(limits)))

    patch.setattr(joins.JoinPrivate, "_by_rows", by_rows)


def _one_row_moves_one(patch: Patch) -> None:
    """Price `DropExcess` as if a new row pushed none out."""
    patch.setattr(DropExcess, "change", 1)


def _one_group_more(patch: Patch) -> None:
    """Keep one group more than the limit of `MaxGroupsPerID`."""

    def keep(
        child: AbstractNode,
        per: tuple[str, ...],
        groups: tuple[str, ...],
        limit: int,
        schema: Schema,
    ) -> KeepGroups:
        return KeepGroups(child, per, groups, limit + 1, schema)

    patch.setattr(steps, "KeepGroups", keep)


def _same_versions(patch: Patch) -> None:
    patch.setattr(Column, "renew", lambda self: self)


def _bounds_before_the_lattice(patch: Patch) -> None:
    """Price means from the bounds that were asked, not from those of the lattice."""
    asked_for = {"share": Fraction(1)}

    def remembered(low: Any, high: Any, kind: str, steps: dict[str, int]) -> Lattice:
        grid, (least, most) = (
            width_lattice(low, high, kind, steps),
            exact_bounds(low, high),
        )
        asked_for["share"] = (most - least) / (grid.top - grid.bottom)
        return grid

    def cheaper(change: Sensitivity, factor: Any, copies: int = 1) -> Sensitivity:
        return scale_change(change, factor * asked_for["share"], copies)

    patch.setattr(moments, "width_lattice", remembered)
    patch.setattr(moments, "scale_change", cheaper)
    patch.setattr(measurement, "scale_change", cheaper)


def _rows_made_for_nothing(patch: Patch) -> None:
    patch.setattr(Contribution, "times", lambda self, _factor: self)


def _written_anew_and_still_known(patch: Patch) -> None:
    """Keep the bounds of a column that is written anew."""
    rule = steps.project

    def projected(relation: Relation, columns: Any) -> Relation:
        listed = tuple(columns)
        made = rule(relation, listed)
        old = dict(relation.schema.columns)
        facts = tuple(
            (
                name,
                replace(one, version=old[name].version) if name in old else one,
            )
            for name, one in made.schema.columns
        )
        return replace(made, node=replace(made.node, schema=Schema(facts)))  # type: ignore[type-var]  # it is a Project

    patch.setattr(steps, "project", projected)


def _bounds_of_other_columns(patch: Patch) -> None:
    """Use a bound on groups for groups of columns that it does not include."""
    rule = Contribution.most_groups

    def most_groups(self: Contribution, by: frozenset[Any]) -> int | None:
        known = [most for columns, most in self.groups if columns & by]
        return min(known, default=rule(self, by))

    patch.setattr(Contribution, "most_groups", most_groups)


def _rows_for_ids(patch: Patch) -> None:
    """Count rows with an unreadable cell where ids are protected."""
    each = tally_measurement("each", Total(literal(1)), Sensitivity(l0=1, linf=1))
    rule = dropped_rows.tally_measurement

    def counted(key: Any, total: Any, change: Sensitivity) -> IntegerMeasurement:
        made = rule(key, total, change)
        return replace(made, totals=each.totals) if key[0] == "unreadable" else made

    patch.setattr(dropped_rows, "tally_measurement", counted)


def _all_that_is_cut(patch: Patch) -> None:
    """Count the groups of an id above a limit where ids are counted."""
    rule = dropped_rows.tally_measurement

    def counted(key: Any, total: Any, change: Sensitivity) -> IntegerMeasurement:
        made = rule(key, total, change)
        each = (Total(literal(1)),)
        return replace(made, totals=each) if key[0] == "cut off" else made

    patch.setattr(dropped_rows, "tally_measurement", counted)


def _one_row_in_all(patch: Patch) -> None:
    """Price rows for each id and group as if an id had one row."""

    def once(self: Contribution, columns: Any, most: int) -> Contribution:
        del columns
        return self.with_rows(most)

    patch.setattr(Contribution, "with_group_rows", once)


def _all_that_is_clipped(patch: Patch) -> None:
    """Count the rows of an id with a value outside of bounds where ids are counted."""
    rule = dropped_rows.tally_measurement

    def counted(key: Any, total: Any, change: Sensitivity) -> IntegerMeasurement:
        made = rule(key, total, change)
        each = (Total(literal(1)),)
        return replace(made, totals=each) if key[0] == "clamped per id" else made

    patch.setattr(dropped_rows, "tally_measurement", counted)


def _one_clamped(patch: Patch) -> None:
    """Price clamped values as if a unit had one row."""

    def counted(key: Any, total: Any, change: Sensitivity) -> IntegerMeasurement:
        del change
        return tally_measurement(key, total, Sensitivity(l0=1, linf=1))

    patch.setattr(plan, "tally_measurement", counted)


MUTANTS: Final[dict[Callable[[Patch], None], tuple[Sequence[Step], int]]] = {
    _joined_to_nothing: (drawn_queries.JOINS_PUBLIC, 8),
    _product_of_limits: (drawn_queries.JOINS_PRIVATE, 9),
    _one_row_moves_one: (drawn_queries.JOINS_PRIVATE, 149),
    _one_group_more: (drawn_queries.BOUNDS, 0),
    _same_versions: (drawn_queries.SELF_JOINS, 57),
    _bounds_before_the_lattice: (drawn_queries.PLAIN, 2),
    _rows_made_for_nothing: (drawn_queries.STEPS, 12),
    _written_anew_and_still_known: (drawn_queries.REWRITTEN, 16),
    _bounds_of_other_columns: (drawn_queries.BOUNDS, 16),
    _rows_for_ids: (drawn_queries.PLAIN, 0),
    _all_that_is_cut: (drawn_queries.BOUNDS, 107),
    _one_row_in_all: (drawn_queries.PER_ID, 10),
    _all_that_is_clipped: (drawn_queries.PER_ID, 23),
    _one_clamped: (drawn_queries.PLAIN, 42),
}
"""Rules broken on purpose, the steps that show it, and of which seed first."""


@for_each("mutant", MUTANTS, ids=lambda one: one.__name__.strip("_"))
@pytest.mark.slow
def test_a_broken_rule_is_caught(
    mutant: Callable[[Patch], None], monkeypatch: Patch
) -> None:
    mutant(monkeypatch)
    assert caught(*MUTANTS[mutant])
