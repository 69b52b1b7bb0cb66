"""What one protected change can do to the parts of any rows.

For drawn databases, neighbours, questions and columns: no row is in two parts, together
the parts are the whole, and no change reaches more parts than are paid for. Each mutant
breaks one rule of docs/proofs/filters.md, section 7, and must be caught.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Final, final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sordino.auditing.dice import Dice
from sordino.auditing.drawn_queries import bound_ids as bounded
from sordino.auditing.drawn_queries import draw_query as drawn
from sordino.auditing.worlds import neighbour, world
from sordino.data.source import sort_values
from sordino.engines.memory import MemoryEngine, keyed_order
from sordino.errors import InvalidQuery, SordinoError
from sordino.expressions.language import col
from sordino.query.nodes import AbstractNode, Filter
from sordino.query.steps import Relation
from sordino.session import tables
from tests.batches import for_each
from tests.dice import rolled, shrinking

NEIGHBOURS: Final = 4
_SEED: Final = 20_261_121
_PATIENCE: Final = 600
"""How many databases are drawn in search of a case against a mutant."""

Multiset = Counter[tuple[Any, ...]]


@final
@dataclass(frozen=True)
class Split:
    """Rows, the parts of them by one column, and how many of these are paid for."""

    whole: Relation
    parts: dict[Any, Relation]
    times: Fraction

    def complaints(self, engine: MemoryEngine, other: MemoryEngine) -> Iterator[str]:
        """Yield what is wrong for two neighbouring databases."""
        for one in (engine, other):
            together: Multiset = Counter()
            for part in self.parts.values():
                together += rows(one, part.node)
            if together != rows(one, self.whole.node):
                yield "the parts are not the whole"
        changed = Fraction(0)
        for part in self.parts.values():
            before, after = rows(engine, part.node), rows(other, part.node)
            moved = ((before - after) + (after - before)).total()
            spread, most = part.spread, part.contribution.most_rows()
            changed += moved > 0 if spread is None else Fraction(moved, spread.rows)
            if most is not None and moved > most:
                yield f"{moved} rows changed, of at most {most} in a part"
        if changed > self.times:
            yield f"{changed} parts changed, of {self.times} that are paid for"


def rows(engine: MemoryEngine, node: AbstractNode) -> Multiset:
    return Counter(sort_values(row.values()) for row in engine.rows(node))


def cases(dice: Dice) -> Iterator[list[str]]:
    """Draw a database, a question and a column, and yield complaints for neighbours."""
    one = world(dice)
    order = keyed_order(dice.below(2**16))
    engine = MemoryEngine(order=order)
    catalog = one.catalog(engine, one.private)
    scene = drawn(dice, catalog)
    if not scene.groupable():
        return
    by = dice.one(scene.groupable())
    try:
        if scene.relation.ids is not None:
            scene = scene.then(bounded(scene, [by]))
    except SordinoError:
        return
    for _ in range(NEIGHBOURS):
        other = MemoryEngine(order=order)
        one.catalog(other, neighbour(dice, one))
        found = split(scene.relation, by, (engine, other))
        if found is not None:
            yield list(found.complaints(engine, other))


def split(whole: Relation, by: str, engines: Sequence[MemoryEngine]) -> Split | None:
    there = {row[by]: None for engine in engines for row in engine.rows(whole.node)}
    values = list(there | {None: None})
    try:
        divided = tables.partition_of(whole, by, values)
    except InvalidQuery:
        return None
    return Split(whole, divided.parts, divided.times)


@given(st.data())
def test_no_change_reaches_more_parts_than_are_paid_for(data: st.DataObject) -> None:
    """The law, in a form that Hypothesis makes smaller when it fails."""
    for complaints in cases(shrinking(data)):
        assert not complaints


def test_no_change_reaches_more_parts_in_many_pairs() -> None:
    """The law for 200 pairs of databases at dev, 2,000 at ci, 50,000 at night."""
    wanted, tried, seed = 10 * settings().max_examples, 0, _SEED
    while tried < wanted:
        for complaints in cases(rolled(seed)):
            assert not complaints, f"seed {seed}"
            tried += 1
        seed += 1


Patch = pytest.MonkeyPatch


def _paid_once(patch: Patch) -> None:
    patch.setattr(tables, "_charge", lambda *_: (Fraction(1), None))


def _rows_counted_twice(patch: Patch) -> None:
    """Charge half of what the rows of a unit fill."""
    rule = tables._charge

    def charge(relation: Relation, by: str, count: int) -> Any:
        times, spread = rule(relation, by, count)
        return times if spread is None else times / 2, spread

    patch.setattr(tables, "_charge", charge)


def _nobody_without_a_value(patch: Patch) -> None:
    """Leave out the rows that have no value."""

    def part(relation: Relation, by: str, marked: Any) -> Relation:
        held = ~col(by).is_null()
        held &= held if marked.constant is None else col(by) == marked.constant
        if marked.constant is None:
            held &= ~held
        return relation.with_node(Filter(relation.node, held.tree, relation.schema))

    patch.setattr(tables, "_part", part)


def _everybody_without_a_value(patch: Patch) -> None:
    def part(relation: Relation, by: str, marked: Any) -> Relation:
        held = col(by).is_null()
        if marked.constant is not None:
            held |= col(by) == marked.constant
        return relation.with_node(Filter(relation.node, held.tree, relation.schema))

    patch.setattr(tables, "_part", part)


def _one_row_in_a_part(patch: Patch) -> None:
    rule = tables._part

    def part(relation: Relation, by: str, marked: Any) -> Relation:
        made = rule(relation, by, marked)
        return replace(made, contribution=made.contribution.with_rows(1))

    patch.setattr(tables, "_part", part)


MUTANTS: Final[list[Callable[[Patch], None]]] = [
    _one_row_in_a_part,
    _paid_once,
    _rows_counted_twice,
    _nobody_without_a_value,
    _everybody_without_a_value,
]


@for_each("mutate", MUTANTS, ids=[one.__name__ for one in MUTANTS])
def test_every_mutant_is_caught(
    mutate: Callable[[Patch], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    mutate(monkeypatch)
    seeds = range(_SEED, _SEED + _PATIENCE)
    assert any(any(cases(rolled(seed))) for seed in seeds)
