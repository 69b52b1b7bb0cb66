"""How far the exact answers of two databases are apart, against what is claimed.

With no noise: the totals of every part of every form of every answer, over the union of
the groups, in the units of what is released.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any, TypeAlias, final

import numpy as np

from sordino.aggregations.count import CentredMeasurement
from sordino.aggregations.measurement import AbstractMeasurement
from sordino.data.source import sort_values, values_of
from sordino.engines.engine import AbstractEngine
from sordino.noise.sensitivity import Sensitivity
from sordino.numbers import finite, rational_above
from sordino.plan.candidates import plans
from sordino.plan.keys_first import CountedKeys
from sordino.plan.plan import bin_question, coverage_questions, exact_counts
from sordino.query.dropped_rows import Counted
from sordino.query.nodes import Question
from sordino.query.request import Request
from sordino.query.steps import AbstractCatalog, Relation

Group: TypeAlias = tuple[Any, ...]
Totals: TypeAlias = Mapping[Group, Sequence[int]]


@final
@dataclass(frozen=True, eq=False)
class Claim:
    """What is claimed of a request: its parts, and how far each can move."""

    request: Request
    relation: Relation
    measurements: tuple[AbstractMeasurement, ...]
    choices: tuple[Any, ...]
    groups: int | float | None
    """In how many groups one unit is, where groups are not known."""
    counts: tuple[Counted, ...] = ()
    """What is counted beside the answers."""
    first: CountedKeys | None = None
    """What shows keys before anything is told of them."""

    @cached_property
    def question(self) -> Question:
        """Return the exact totals of all parts, in order."""
        keyset = self.request.keyset
        return Question(
            self.relation.node,
            self.request.by,
            tuple(total for part in self.measurements for total in part.totals),
            None if keyset is None or self.request.unknown else keyset.table(),
        )

    @cached_property
    def choice_questions(self) -> tuple[Question, ...]:
        by = self.request.by
        return tuple(
            bin_question(self.relation, by, one.position) for one in self.choices
        )


def claim(request: Request, catalog: AbstractCatalog) -> Claim:
    """Return what is claimed of a request, in every way to put it together."""
    relation = request.rows.resolve(catalog)
    measurements: dict[Any, AbstractMeasurement] = {}
    choices: dict[Any, Any] = {}
    groups: int | float | None = None
    counts: tuple[Counted, ...] = ()
    for plan in plans(request, catalog):
        measurements |= {
            key: one
            for key, one in plan.of_groups.items()
            # counts less a share of all ids have a law of their own
            if not isinstance(one, CentredMeasurement)
        }
        choices |= plan.choices
        counts = tuple(plan.coverage.values())
        if plan.presence is not None and plan.stage is None:
            groups = plan.presence.whole.l0
        first = plan.stage if isinstance(plan.stage, CountedKeys) else None
    listed = (tuple(measurements.values()), tuple(choices.values()))
    return Claim(request, relation, *listed, groups, counts, first)


@final
@dataclass(frozen=True)
class Exact:
    """The exact answers of one database."""

    totals: Totals
    bins: tuple[Totals, ...]
    """For each choice, (group, bin) and how many rows are in it."""
    counts: tuple[int, ...] = ()
    """What was left out."""
    shown: Totals = field(default_factory=dict)
    """The totals that show keys first."""


def exact(asked: Claim, engine: AbstractEngine) -> Exact:
    """Return the exact answers of an engine to what a claim is about."""
    by = len(asked.request.by)
    bins = tuple(_totals(engine.answer(one), by + 1) for one in asked.choice_questions)
    beside = [engine.answer(one) for one in coverage_questions(asked.counts)]
    counts = tuple(exact_counts(asked.counts, beside))
    shown: Totals = {}
    if asked.first is not None:
        question = asked.first.question_after(None)
        shown = _totals(engine.answer(question), len(question.by))
    return Exact(_totals(engine.answer(asked.question), by), bins, counts, shown)


def broken(asked: Claim, one: Exact, other: Exact) -> list[str]:
    """Return what is wrong with a claim for two databases; nothing if it holds."""
    moved = _moved(one.totals, other.totals)
    found = [] if asked.groups is None else list(_groups(asked.groups, moved))
    if asked.first is not None:
        apart = [
            [Fraction(one) for one in held] for held in _moved(one.shown, other.shown)
        ]
        found += [f"keys: {told}" for told in beyond(apart, asked.first.counted.change)]
    place = 0
    for part in asked.measurements:
        width = len(part.totals)
        held = [list(given(part, all_[place : place + width])) for all_ in moved]
        place += width
        found += [f"{part.key}: {told}" for told in beyond(held, part.change)]
    for part, before, after in zip(asked.choices, one.bins, other.bins, strict=True):
        rows = _rows_moved(before, after)
        found += [f"{part.key}: {told}" for told in beyond(rows, part.change)]
    for count, was, is_now in zip(asked.counts, one.counts, other.counts, strict=True):
        apart = [[Fraction(was - is_now)]]
        found += [
            f"{count}: {told}" for told in beyond(apart, count.measurement.change)
        ]
    return found


def given(part: AbstractMeasurement, steps: Sequence[int]) -> Iterator[Fraction]:
    """Return numbers of steps in the units of what is released."""
    unit = Fraction(part.scale_totals(np.array([1])).item())
    return (unit * one for one in steps)


def beyond(moved: Sequence[Sequence[Fraction]], change: Sensitivity) -> Iterator[str]:
    """Return the norms in which a change, group by group, is larger than claimed.

    Also the squares of one group must not add up to more than linf squared: what is
    known of a group alone (docs/proofs/queries.md, lemma 8).
    """
    flat = [abs(one) for held in moved for one in held if one]
    squares = [sum(one**2 for one in held) for held in moved]
    norms = (
        ("l0", len(flat), change.l0),
        ("l1", sum(flat), change.l1),
        ("l2 squared", sum(squares), rational_above(finite(change.l2) ** 2)),
        ("linf", max(flat, default=0), change.linf),
        (
            "one group",
            max(squares, default=0),
            rational_above(finite(change.linf) ** 2),
        ),
    )
    return (f"{name} {size} > {most}" for name, size, most in norms if size > most)


def _groups(most: float, moved: Iterable[Sequence[int]]) -> Iterator[str]:
    """Return whether more groups changed than a unit is said to be in."""
    changed = sum(any(one) for one in moved)
    if changed > most:
        yield f"{changed} groups changed, of at most {most}"


def _moved(one: Totals, other: Totals) -> list[list[int]]:
    """Return the changes of all totals, group by group; an absent group has 0."""
    nothing = [0] * max(map(len, (*one.values(), *other.values())), default=0)
    return [
        [
            a - b
            for a, b in zip(
                one.get(group, nothing), other.get(group, nothing), strict=True
            )
        ]
        for group in {**one, **other}
    ]


def _rows_moved(one: Totals, other: Totals) -> list[list[Fraction]]:
    """Return for each group how many rows changed, bin by bin."""
    rows: Counter[Group] = Counter()
    for place in {**one, **other}:
        (before,), (after,) = one.get(place, [0]), other.get(place, [0])
        rows[place[:-1]] += abs(before - after)
    return [[Fraction(count)] for count in rows.values()]


def _totals(answer: Any, by: int) -> Totals:
    """Return the totals of each group of an answer, equal groups by equal keys."""
    columns = [values_of(one.combine_chunks()) for one in answer.columns]
    if not columns:
        return {}
    return {sort_values(row[:by]): list(row[by:]) for row in zip(*columns, strict=True)}
