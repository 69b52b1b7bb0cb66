"""The ways to answer a request: estimators of its columns, and what they measure.

Columns share the budget by their weights, and an estimator says what each of its
measurements gets of that. A measurement that several columns need is made once, with
all their shares. Where the groups are not known, whoever is there is counted to show
that they exist, by a measurement of its own unless a column needs it already.
"""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Final, final

from sordino.aggregations.base import AbstractEstimator, Setting
from sordino.aggregations.choices import AbstractChoice
from sordino.aggregations.count import rows_measurement
from sordino.aggregations.count_ids import ids_measurement
from sordino.aggregations.measurements import AbstractMeasurement
from sordino.errors import InvalidQuery
from sordino.expressions.base import AbstractExpression
from sordino.expressions.literals import literal
from sordino.expressions.tree import Col
from sordino.losses.base import Budget
from sordino.planning.coverage import coverage_counts, coverage_questions
from sordino.query.nodes import Project
from sordino.query.passage import Counted
from sordino.query.question import Question, Total
from sordino.query.relation import AbstractCatalog, Relation
from sordino.query.request import Request, refuse_large
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
    estimators: tuple[AbstractEstimator, ...]
    """Of the columns, in order."""
    weights: tuple[Fraction, ...]
    """Of the columns; with those of what no column needs they add up to 1."""
    measurements: Mapping[Hashable, AbstractMeasurement]
    choices: Mapping[Hashable, AbstractChoice]
    coverage: Mapping[Hashable, Counted]
    """What is counted of all rows together, beside the answers."""
    presence: AbstractMeasurement | None
    """What shows that a group exists, where groups are not known."""
    shares: Mapping[Hashable, Fraction]
    """Of the budget, for each measurement, choice and count; they add up to 1."""

    @property
    def width(self) -> int:
        """Return how many exact totals of each group are needed."""
        return sum(len(one.totals) for one in self.measurements.values())

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
        """Return the exact totals that the engine is asked for."""
        measurements, keyset = self.measurements.values(), self.request.keyset
        return Question(
            self.relation.node,
            self.request.by,
            tuple(total for one in measurements for total in one.totals),
            None if keyset is None else keyset.table(),
        )

    @property
    def choice_questions(self) -> dict[Hashable, Question]:
        """Return the counts of candidates that choices are drawn from."""
        return {
            key: bin_question(self.relation, self.request.by, choice.position)
            for key, choice in self.choices.items()
        }

    @property
    def coverage_questions(self) -> tuple[Question, ...]:
        """Return the questions that tell the exact counts of what is left out."""
        return coverage_questions(tuple(self.coverage.values()))


def plans(request: Request, catalog: AbstractCatalog) -> list[Plan]:
    """Return the ways to answer a request, the estimators of all columns alike."""
    relation = request.rows.resolve(catalog)
    setting = _setting(request, relation)
    options = [asked.estimators(setting) for _, asked in request.columns]
    presence = _presence(setting) if request.selects_keys else None
    counts = coverage_counts(request, relation, setting)
    coverage = {count.measurement.key: count for count in counts}
    variants = max(map(len, options), default=1)
    ways = [
        _plan(
            request,
            relation,
            tuple(ways[min(variant, len(ways) - 1)] for ways in options),
            presence,
            coverage,
        )
        for variant in range(variants)
    ]
    return _narrow(ways)


def _setting(request: Request, relation: Relation) -> Setting:
    """Return what the public knows of the rows, the groups checked."""
    for name in request.by:
        group_column(relation.schema, name)
    if request.keyset is not None:
        request.keyset.checked(relation.schema, request.by)
    refuse_large([request])
    spread = relation.spread if _is_by_row(request, relation) else None
    known = relation.schema, relation.contribution
    return Setting(*known, request.by, relation.ids, spread)


def _is_by_row(request: Request, relation: Relation) -> bool:
    """Tell whether a unit's rows are charged one by one.

    A key that is new to a release is seen or not, whatever rows of a unit show it.
    """
    alone = relation.spread is not None and relation.spread.is_alone
    return alone and not request.selects_keys


def _presence(setting: Setting) -> AbstractMeasurement:
    """Return what shows that a group exists: people, or else rows."""
    if setting.ids is None:
        return rows_measurement(setting)
    return ids_measurement(setting)


def _plan(
    request: Request,
    relation: Relation,
    estimators: tuple[AbstractEstimator, ...],
    presence: AbstractMeasurement | None,
    coverage: dict[Hashable, Counted],
) -> Plan:
    """Return the measurements of some estimators, each once, with their shares."""
    measurements: dict[Hashable, AbstractMeasurement] = {}
    choices: dict[Hashable, AbstractChoice] = {}
    for estimator in estimators:
        held: dict[Hashable, Any] = choices if estimator.chooses else measurements
        held |= {one.key: one for one in estimator.measurements}
    alone = dict.fromkeys(coverage, _each(request.coverage, len(coverage)))
    if presence is not None and presence.key not in measurements:
        measurements[presence.key] = presence
        alone[presence.key] = Fraction(1)
    whole = sum((*request.weights, *alone.values()), Fraction(0))
    weights = tuple(weight / whole for weight in request.weights)
    shares = {key: weight / whole for key, weight in alone.items()}
    _add_shares(shares, estimators, weights)
    return Plan(
        request,
        relation,
        estimators,
        weights,
        measurements,
        choices,
        coverage,
        presence,
        shares,
    )


def _each(weight: Fraction | None, count: int) -> Fraction:
    """Return the weight of each count of what was left out."""
    return Fraction(0) if weight is None or not count else weight / count


def _add_shares(
    shares: dict[Hashable, Fraction],
    estimators: Sequence[AbstractEstimator],
    weights: Sequence[Fraction],
) -> None:
    """Add the share of each measurement: what all its estimators have for it."""
    for estimator, weight in zip(estimators, weights, strict=True):
        for one, share in zip(estimator.measurements, estimator.shares, strict=True):
            shares[one.key] = shares.get(one.key, Fraction(0)) + share * weight


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
