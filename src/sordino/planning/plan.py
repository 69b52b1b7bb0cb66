"""The ways to answer a request: estimators of its columns, and what they measure.

Columns share the budget by their weights. A measurement that several columns need is
made once; the shares of measurements are those with which the columns err least. Where
the groups are not known, whoever is there is counted to show that they exist, by a
measurement of its own unless a column needs it already.
"""

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, Final, final

from sordino.aggregations.base import (
    CENTRED,
    DIVIDED,
    SEPARATE,
    SINGLE,
    AbstractEstimator,
    Setting,
)
from sordino.aggregations.centred_counts import WholeMeasurement
from sordino.aggregations.choices import AbstractChoice
from sordino.aggregations.count import Count
from sordino.aggregations.count_ids import CountIds, ids_measurement
from sordino.aggregations.measurements import AbstractMeasurement, AbstractPresence
from sordino.aggregations.moments import row_presence
from sordino.aggregations.rows import ROWS, rows_measurement
from sordino.errors import InvalidQuery
from sordino.expressions.base import AbstractExpression
from sordino.expressions.literals import literal
from sordino.expressions.tree import Col
from sordino.losses.base import Budget
from sordino.losses.spending import Family
from sordino.planning.coverage import coverage_counts, coverage_questions
from sordino.planning.share_search import Answered, measurement_shares
from sordino.planning.weighted_keys import KeyQuestion, weights_of_keys
from sordino.query.nodes import Project
from sordino.query.passage import Counted
from sordino.query.question import Question, Total
from sordino.query.relation import AbstractCatalog, Relation
from sordino.query.request import FAMILIES, Request, refuse_large
from sordino.query.steps import group_column
from sordino.schema import Schema

MOST_TOTALS: Final = 500
"""What an engine takes to plan its work grows with the square of their number."""


@final
@dataclass(frozen=True, eq=False)
class Plan:
    """One way to answer a request: what is measured, and the share of each."""

    request: Request
    relation: Relation
    family: Family
    estimators: tuple[AbstractEstimator, ...]
    """Of the columns, in order."""
    weights: tuple[Fraction, ...]
    """Of the columns; with those of what no column needs they add up to 1."""
    measurements: Mapping[Hashable, AbstractMeasurement]
    choices: Mapping[Hashable, AbstractChoice]
    coverage: Mapping[Hashable, Counted]
    """What is counted of all rows together, beside the answers."""
    presence: AbstractPresence | None
    """What shows that a group exists, where groups are not known."""
    shares: Mapping[Hashable, Fraction]
    """Of the budget, for each measurement, choice and count; they add up to 1."""
    keys: KeyQuestion | None = None
    """What is asked in each round, where keys are shown in rounds."""

    @property
    def width(self) -> int:
        """Return how many exact totals of each group are needed."""
        return sum(len(one.totals) for one in self.of_groups.values())

    @property
    def apart(self) -> Fraction:
        """Return the share of what is paid apart: choices and coverage."""
        keys = (*self.choices, *self.coverage)
        return sum((self.shares[key] for key in keys), Fraction(0))

    @property
    def is_by_row(self) -> bool:
        """Tell whether a unit's rows are charged one by one, as rows of a part."""
        return _is_by_row(self.request, self.relation)

    def spendable(self, budget: Budget) -> Budget:
        """Return what of a budget may be spent on a unit, however few rows it has.

        In a part of a table an answer that is not charged row by row costs a unit with
        one row there no less than one with all of its rows.
        """
        spread = self.relation.spread
        if spread is None or self.is_by_row:
            return budget
        return budget.scaled(Fraction(1, spread.rows))

    @cached_property
    def question(self) -> Question:
        """Return the exact totals that the engine is asked for, at first."""
        if self.keys is not None:
            return self.keys.after(None)
        keyset, kept = self.request.keyset, self.of_groups.values()
        return Question(
            self.relation.node,
            self.request.by,
            tuple(total for one in kept for total in one.totals),
            None if keyset is None else keyset.table(),
        )

    @property
    def of_groups(self) -> Mapping[Hashable, AbstractMeasurement]:
        """Return the measurements of numbers of each group."""
        return {
            key: one
            for key, one in self.measurements.items()
            if key not in self.of_everything
        }

    @cached_property
    def of_everything(self) -> Mapping[Hashable, WholeMeasurement]:
        """Return the measurements of one number for the whole table."""
        return {
            key: one
            for key, one in self.measurements.items()
            if isinstance(one, WholeMeasurement)
        }

    @property
    def choice_questions(self) -> dict[Hashable, Question]:
        """Return what is asked beside: counts of candidates, and of everything."""
        bins = {
            key: bin_question(self.relation, self.request.by, choice.position)
            for key, choice in self.choices.items()
        }
        whole = {
            key: Question(self.relation.node, (), one.totals)
            for key, one in self.of_everything.items()
        }
        return bins | whole

    @property
    def coverage_questions(self) -> tuple[Question, ...]:
        """Return the questions that tell the exact counts of what is left out."""
        return coverage_questions(tuple(self.coverage.values()))


def plans(request: Request, catalog: AbstractCatalog) -> list[Plan]:
    """Return the ways to answer a request, the estimators of all columns alike."""
    relation = request.rows.resolve(catalog)
    given, request = request, request.within(relation.schema)
    setting = _setting(request, relation)
    options = [asked.estimators(setting) for _, asked in request.columns]
    counts = coverage_counts(given, relation, setting)
    frame = _Frame(
        request, relation, {count.measurement.key: count for count in counts}
    )
    presences = _presences(setting) if request.selects_keys else {}
    ways: list[Plan] = []
    for family in FAMILIES if request.noise is None else (request.noise,):
        seen: list[tuple[AbstractEstimator, ...]] = []
        for variant in _WAYS[family]:
            estimators = tuple(each[min(variant, len(each) - 1)] for each in options)
            if estimators not in seen:
                seen.append(estimators)
                presence = presences.get(variant, presences.get(SINGLE))
                ways.append(frame.plan(family, estimators, presence))
    return _narrow([*ways, *_in_rounds(frame, setting)])


def _in_rounds(frame: "_Frame", setting: Setting) -> Iterator[Plan]:
    """Yield the plan that shows keys in rounds, where nothing but keys is asked."""
    request, relation = frame.request, frame.relation
    if request.columns or not request.selects_keys or request.noise == "laplace":
        return
    weights = weights_of_keys(relation, setting)
    if weights is not None:
        asked = KeyQuestion(relation, request.by, weights)
        yield replace(frame.plan("gaussian", (), weights), keys=asked)


_WAYS: Final[Mapping[Family, tuple[int, ...]]] = {
    "laplace": (SINGLE, DIVIDED, SEPARATE),
    "gaussian": (SINGLE, SEPARATE, CENTRED),
}
"""Which of the estimators of an aggregation are of use for a family of noise."""


def _setting(request: Request, relation: Relation) -> Setting:
    """Return what the public knows of the rows, the groups checked."""
    for name in request.by:
        group_column(relation.schema, name)
    if request.keyset is not None:
        request.keyset.checked(relation.schema, request.by)
    refuse_large([request])
    asked = [one for _, one in request.columns]
    clamped = tuple(
        one.clamped for one in asked if one.clamped is not None and one.clamped.degree
    )
    counted = any(isinstance(one, Count | CountIds) for one in asked)
    return Setting(
        relation.schema,
        relation.contribution,
        request.by,
        relation.ids,
        relation.spread if _is_by_row(request, relation) else None,
        clamped,
        None if request.keyset is None else request.keyset.size,
        needs_rows=counted or request.selects_keys,
    )


def _is_by_row(request: Request, relation: Relation) -> bool:
    """Tell whether a unit's rows are charged one by one.

    A key that is new to a release is seen or not, whatever rows of a unit show it.
    """
    alone = relation.spread is not None and relation.spread.is_alone
    return alone and not request.selects_keys


def _presences(setting: Setting) -> dict[int, AbstractPresence]:
    """Return what shows that a group exists, by the way: people, or else rows."""
    if setting.ids is None:
        counted = rows_measurement(setting)
    else:
        counted = ids_measurement(setting)
    divided = row_presence(setting) if counted.key == ROWS else None
    return {SINGLE: counted, DIVIDED: divided or counted}


@final
@dataclass(frozen=True, eq=False)
class _Frame:
    """What all ways to answer a request have in common."""

    request: Request
    relation: Relation
    coverage: dict[Hashable, Counted]

    def plan(
        self,
        family: Family,
        estimators: tuple[AbstractEstimator, ...],
        presence: AbstractPresence | None,
    ) -> Plan:
        """Return the measurements of some estimators, each once, with their shares."""
        measurements: dict[Hashable, AbstractMeasurement] = {}
        choices: dict[Hashable, AbstractChoice] = {}
        for estimator in estimators:
            held: dict[Hashable, Any] = choices if estimator.chooses else measurements
            held |= {one.key: one for one in estimator.measurements}
        wanted = self._wanted(estimators, presence, measurements)
        if presence is not None:
            measurements[presence.key] = presence
        beside = self._beside(estimators)
        joint = sum((one.weight for one in wanted), Fraction(0))
        whole = joint + sum(beside.values(), Fraction(0))
        found = measurement_shares(wanted, measurements, family)
        shares = {key: share * joint / whole for key, share in found.items()}
        shares |= {key: weight / whole for key, weight in beside.items()}
        return Plan(
            self.request,
            self.relation,
            family,
            estimators,
            tuple(weight / whole for weight in self.request.weights),
            measurements,
            choices,
            self.coverage,
            presence,
            shares,
        )

    def _wanted(
        self,
        estimators: tuple[AbstractEstimator, ...],
        presence: AbstractPresence | None,
        needed: Mapping[Hashable, AbstractMeasurement],
    ) -> list[Answered]:
        """Return what noise moves: the columns, and which groups show.

        Where a column counts what shows them, that weighs as much as all columns.
        """
        wanted = [
            Answered(dict(zip(_keys(one), one.slopes, strict=True)), weight)
            for one, weight in zip(estimators, self.request.weights, strict=True)
            if not one.chooses
        ]
        if presence is not None:
            columns = sum((one.weight for one in wanted), Fraction(0))
            weight = columns if presence.key in needed else Fraction(1)
            wanted.append(Answered({presence.key: 1.0}, weight))
        return wanted

    def _beside(
        self, estimators: tuple[AbstractEstimator, ...]
    ) -> dict[Hashable, Fraction]:
        """Return the weights of choices and of counts of what is left out."""
        each = (self.request.coverage or Fraction(0)) / max(1, len(self.coverage))
        found = dict.fromkeys(self.coverage, each)
        pairs = zip(estimators, self.request.weights, strict=True)
        for one, weight in ((one, weight) for one, weight in pairs if one.chooses):
            for key, share in zip(_keys(one), one.shares, strict=True):
                found[key] = found.get(key, Fraction(0)) + share * weight
        return found


def _keys(estimator: AbstractEstimator) -> tuple[Hashable, ...]:
    """Return the keys of what an estimator is made of."""
    return tuple(one.key for one in estimator.measurements)


def _narrow(ways: list[Plan]) -> list[Plan]:
    """Return the plans whose totals an engine adds up at once, or refuse them all."""
    narrow = [plan for plan in ways if plan.width <= MOST_TOTALS]
    if not narrow:
        least = min(plan.width for plan in ways)
        raise InvalidQuery(
            f"this needs {least} exact totals for each group, and the limit is "
            f"{MOST_TOTALS}",
            "Ask for fewer at a time: session.release_all plans requests together.",
        )
    return narrow


def bin_question(
    relation: Relation, by: tuple[str, ...], position: AbstractExpression
) -> Question:
    """Return the question for the rows of each group in each bin."""
    place = "bin"
    while place in by:
        place += "_"
    columns = (*((name, Col(name)) for name in by), (place, position))
    facts = ((name, one.column(relation.schema)) for name, one in columns)
    rows = Project(relation.node, columns, Schema.of(facts))
    return Question(rows, (*by, place), (Total(literal(1)),))
