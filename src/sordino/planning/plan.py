"""A way to answer a request: estimators of its columns, and what they measure."""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Final, final

from sordino.aggregations.base import AbstractEstimator
from sordino.aggregations.centred_counts import WholeMeasurement
from sordino.aggregations.choices import AbstractChoice
from sordino.aggregations.measurements import AbstractMeasurement, AbstractPresence
from sordino.expressions.base import AbstractExpression
from sordino.expressions.literals import literal
from sordino.expressions.tree import Col
from sordino.losses.allowance import Family
from sordino.losses.base import Budget
from sordino.mechanisms.kit.top_keys import TopScores
from sordino.planning.coverage import coverage_questions
from sordino.planning.key_stages import AbstractKeyStage, public_groups
from sordino.query.nodes import AbstractNode, Project
from sordino.query.passage import Counted
from sordino.query.question import Question, Total
from sordino.query.relation import Relation
from sordino.query.request import Request
from sordino.schema import Schema
from sordino.sensitivity import Sensitivity

if TYPE_CHECKING:
    import pyarrow as pa

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
    counted: AbstractPresence | None = None
    """What a reader's minimum is held against, where one was given."""
    stage: AbstractKeyStage | None = None
    """What is asked first, where keys are shown before anything is told of them."""
    in_rounds: bool = False
    """Whether it shows them by weights, in rounds."""
    scores: TopScores | None = None
    """By what the first few groups are chosen, if no others are told."""

    @property
    def width(self) -> int:
        """Return how many exact totals of each group are needed."""
        return sum(len(measurement.totals) for measurement in self.of_groups.values())

    @property
    def share_apart(self) -> Fraction:
        """Return the share of what is paid apart: choices and coverage."""
        keys = (*self.choices, *self.coverage)
        return sum((self.shares[key] for key in keys), Fraction(0))

    @property
    def is_by_row(self) -> bool:
        """Tell whether a unit's rows are charged one by one, as rows of a part."""
        return is_by_row(self.request, self.relation)

    def spendable(self, budget: Budget) -> Budget:
        """Return what of a budget may be spent on a unit, however few rows it has.

        In a part of a table an answer that is not charged row by row costs a unit with
        one row there no less than one with all of its rows.
        """
        spread = self.relation.spread
        if spread is None or self.is_by_row:
            return budget
        return budget.times(Fraction(1, spread.rows))

    @cached_property
    def question(self) -> Question:
        """Return the exact totals that the engine is asked for, at first."""
        if self.stage is not None:
            return self.stage.question_after(None)
        keyset = self.request.keyset
        return self._question(None if keyset is None else keyset.table())

    def second_question(self, shown: "pa.Table") -> Question | None:
        """Return the question about groups whose keys were shown, if there is one."""
        if not self.estimators:
            return None
        keyset = None if self.request.few is not None else self.request.keyset
        groups = public_groups(shown, keyset, self.request.by)
        return self._question(groups)

    def _question(self, keys: "pa.Table | None") -> Question:
        """Return the question for what is measured of each group."""
        groups = self.of_groups.values()
        totals = tuple(total for measurement in groups for total in measurement.totals)
        return Question(self.relation.node, self.request.by, totals, keys)

    @property
    def later_questions(self) -> tuple[Question, ...]:
        """Return the question after keys were shown, about no keys: for a rehearsal."""
        if self.stage is None:
            return ()
        none = self.stage.none
        more = (self.stage.question_after(none),) if self.in_rounds else ()
        last = self.second_question(none)
        return more if last is None else (*more, last)

    @property
    def rows_read(self) -> tuple[AbstractNode, ...]:
        """Return the rows of all that an engine is asked, in any round."""
        questions = (
            self.question,
            *self.choice_questions.values(),
            *self.coverage_questions,
            *self.later_questions,
        )
        return tuple(question.rows for question in questions)

    @property
    def hides_keys(self) -> bool:
        """Tell whether groups that nobody named beforehand have to show."""
        if self.scores is not None:
            return self.scores.fresh is not None
        return self.presence is not None

    @property
    def of_groups(self) -> Mapping[Hashable, AbstractMeasurement]:
        """Return the measurements of numbers of each group."""
        first = None if self.stage is None or self.presence is None else self.presence
        return {
            key: measurement
            for key, measurement in self.measurements.items()
            if key not in self.of_everything and measurement is not first
        }

    def change_beside(self, key: Hashable) -> Sensitivity:
        """Return how far a measurement moves, for numbers released beside shown keys.

        Where keys are known in part one key that shows holds several groups, and all
        that a unit moves may lie there (docs/proofs/keys.md, lemma 4).
        """
        change = self.measurements[key].change
        if self.request.keyset is None or self.presence is None or self.scores:
            return change
        if self.presence.key == key:
            return change
        return replace(change, linf=change.l2)

    @cached_property
    def of_everything(self) -> Mapping[Hashable, WholeMeasurement]:
        """Return the measurements of one number for the whole table."""
        return {
            key: measurement
            for key, measurement in self.measurements.items()
            if isinstance(measurement, WholeMeasurement)
        }

    @property
    def choice_questions(self) -> dict[Hashable, Question]:
        """Return the further questions: counts of candidates, and of everything."""
        bins = {
            key: bin_question(self.relation, self.request.by, choice.position)
            for key, choice in self.choices.items()
        }
        whole = {
            key: Question(self.relation.node, (), measurement.totals)
            for key, measurement in self.of_everything.items()
        }
        return bins | whole

    @property
    def coverage_questions(self) -> tuple[Question, ...]:
        """Return the questions that tell the exact counts of what is left out."""
        return coverage_questions(tuple(self.coverage.values()))


def is_by_row(request: Request, relation: Relation) -> bool:
    """Tell whether a unit's rows are charged one by one.

    A key that is new to a release is seen or not, whatever rows of a unit show it.
    """
    alone = relation.spread is not None and relation.spread.is_alone
    return alone and not request.selects_keys and request.few is None


def bin_question(
    relation: Relation, by: tuple[str, ...], position: AbstractExpression
) -> Question:
    """Return the question for the rows of each group in each bin."""
    place = "bin"
    while place in by:
        place += "_"
    columns = (*((name, Col(name)) for name in by), (place, position))
    facts = ((name, expression.column(relation.schema)) for name, expression in columns)
    rows = Project(relation.node, columns, Schema.of(facts))
    return Question(rows, (*by, place), (Total(literal(1)),))
