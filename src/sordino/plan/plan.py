"""One way to answer a request, and noisy counts of the data that it leaves out.

| kind | what is counted | in |
|---|---|---|
| unreadable | cells of a column that is read, there and no value of its type | ids with one, or rows |
| cut off | what lies above a limit | ids, or keys of a join |
| clamped | values outside of the bounds of an aggregation | rows, after all steps |

Each is a number for the whole table, never for a group.

Kernel: sensitivity.
"""  # noqa: E501

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, reduce
from operator import and_
from typing import TYPE_CHECKING, Final, TypeAlias, final

from sordino.aggregations.aggregation import AbstractEstimator, Setting
from sordino.aggregations.choices import AbstractChoice
from sordino.aggregations.count import WholeMeasurement
from sordino.aggregations.measurement import (
    AbstractMeasurement,
    AbstractPresence,
    Total,
    scale_change,
)
from sordino.expressions.language import Expression, col
from sordino.expressions.literals import literal
from sordino.expressions.schema import Schema
from sordino.expressions.tree import AbstractExpression, Col
from sordino.losses.budgets.charge import Family
from sordino.losses.loss import Budget
from sordino.noise.key_rounds import TopScores
from sordino.noise.sensitivity import Sensitivity
from sordino.plan.keys_first import AbstractKeyStage, public_groups
from sordino.query.dropped_rows import (
    AbstractPassage,
    Clipped,
    Counted,
    Cut,
    CutRows,
    tally_measurement,
)
from sordino.query.node_rules import columns_of_tables
from sordino.query.nodes import AbstractNode, Project, Question
from sordino.query.request import Request
from sordino.query.steps import Relation

if TYPE_CHECKING:
    import pyarrow as pa


Read: TypeAlias = dict[str, frozenset[str]]


def coverage_counts(
    request: Request, relation: Relation, setting: Setting, answers: Setting
) -> tuple[Counted, ...]:
    """Noisy counts of dropped rows and cells that a request asks for, each once.

    What is counted is of all rows; `answers` are told of some groups alone.
    """
    if request.coverage is None:
        return ()
    read = _read(request, relation, answers)
    whole = lost_rows(request, relation)
    places: list[AbstractPassage] = [*relation.passed]
    if whole is not None:  # of the rows that are asked about, not of all
        places = [
            whole if isinstance(place, CutRows) else place for place in relation.passed
        ]
    counts = [
        _by_row(count, setting) for place in places for count in place.counts(read)
    ]
    counts += _clamp_counts(request, relation, setting)
    return tuple({count.measurement.key: count for count in counts}.values())


def lost_rows(request: Request, relation: Relation) -> CutRows | None:
    """Return the rows of the answers that limits leave out, if they alone do.

    None where a row may have become several since, or been left out in another place:
    then nothing counted bounds what the answers lack.
    """
    cuts, ids = _cuts(relation), relation.ids
    if len(cuts) != 1 or ids is None or relation.spread or request.few is not None:
        return None
    (whole,) = cuts
    places = [each for each in relation.passed if isinstance(each, (Cut, Clipped))]
    if not whole.is_whole or len(places) > len(whole.cuts):
        return None
    return whole.restrict(relation.node, ids, _in_keys(request))


def _cuts(relation: Relation) -> list[CutRows]:
    return [place for place in relation.passed if isinstance(place, CutRows)]


_MOST_KEYS: Final = 1000


def _in_keys(request: Request) -> AbstractExpression | None:
    """Condition for rows of public groups, None where too many words say it."""
    keyset, parts = request.keyset, list[Expression]()
    if keyset is None or keyset.at_most > _MOST_KEYS:
        return None
    keys = keyset.table()
    for name in request.known_columns:
        values = keys[name].unique().to_pylist()
        if None not in values:  # a missing key is no member of any list
            parts.append(col(name).is_in(values))
    return reduce(and_, parts).tree if parts else None


def _by_row(count: Counted, setting: Setting) -> Counted:
    """Return a count whose change is that of all rows of a unit, one after another."""
    if setting.spread is None:
        return count
    measurement, rows = count.measurement, setting.spread.rows
    # a part is charged by the row: rows one after another may each move the count
    change = scale_change(measurement.change, rows, rows)
    return replace(count, measurement=replace(measurement, change=change))


def coverage_questions(counts: Sequence[Counted]) -> tuple[Question, ...]:
    """Questions for an engine, one for all counts of the same rows."""
    return tuple(
        Question(node, (), tuple(count.measurement.totals[0] for count in counted))
        for node, counted in _counts_by_rows(counts)
    )


def exact_counts(counts: Sequence[Counted], answers: Sequence["pa.Table"]) -> list[int]:
    """Return the exact counts, from the answers to their questions."""
    exact = {
        count.measurement.key: column[0].as_py()
        for (_, counted), answer in zip(_counts_by_rows(counts), answers, strict=True)
        for count, column in zip(counted, answer.columns, strict=True)
    }
    return [exact[count.measurement.key] for count in counts]


def _counts_by_rows(
    counts: Sequence[Counted],
) -> list[tuple[AbstractNode, list[Counted]]]:
    """Return rows, each once, and what is counted of them."""
    rows = {id(count.rows): count.rows for count in counts}
    return [
        (node, [count for count in counts if count.rows is node])
        for node in rows.values()
    ]


def _read(request: Request, relation: Relation, setting: Setting) -> Read:
    """Return the columns of each table that the answers are made of."""
    needed = frozenset(request.by)
    for aggregation in request.questions:
        for estimator in aggregation.with_known_bounds(setting.schema).estimators(
            setting
        ):
            needed |= frozenset[str]().union(*map(_names, estimator.measurements))
    return columns_of_tables(relation.node, needed)


def _clamp_counts(
    request: Request, relation: Relation, setting: Setting
) -> Iterator[Counted]:
    """Yield the numbers of rows with a value outside of bounds.

    For any two databases they differ by at most as many rows as one unit holds. Outside
    of bounds that are known of a column there is none.
    """
    # of all rows together: a count by group would tell which groups exist
    whole = replace(setting, by=())
    for aggregation in request.questions:
        if aggregation.clamp is not None and not aggregation.lacks_bounds:
            key = ("clamped", aggregation.clamp.key(whole))
            total = Total(aggregation.clamp.outside(whole))
            count = tally_measurement(key, total, whole.rows())
            yield Counted(
                "clamped", str(aggregation.clamp), "rows", relation.node, count
            )


def _names(source: AbstractMeasurement | AbstractChoice) -> frozenset[str]:
    match source:
        case AbstractMeasurement():
            return frozenset[str]().union(*(total.names() for total in source.totals))
        case _:
            return source.position.names()


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

    @cached_property
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
        """Part of a budget that may be spent on a unit, however few rows it has.

        In a part of a table an answer that is not charged row by row costs a unit with
        one row there no less than one with all of its rows.
        """
        spread = self.relation.spread
        # else one row in the part would be told as much of as all rows of its unit
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
        # groups that were not chosen stay hidden
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
            # what a later round reads is paid for now: nobody can be asked again then
            *self.later_questions,
        )
        return tuple(question.rows for question in questions)

    @property
    def hides_keys(self) -> bool:
        """Tell whether groups that nobody named beforehand have to show."""
        if self.scores is not None:
            return self.scores.fresh is not None
        return self.presence is not None

    @cached_property
    def of_groups(self) -> Mapping[Hashable, AbstractMeasurement]:
        """Return the measurements of numbers of each group."""
        first = None if self.stage is None or self.presence is None else self.presence
        return {
            key: measurement
            for key, measurement in self.measurements.items()
            if key not in self.of_everything and measurement is not first
        }

    def change_beside(self, key: Hashable) -> Sensitivity:
        """Sensitivity of a measurement whose keys are shown by another one.

        Where keys are known in part one key that shows holds several groups, and all
        that a unit moves may lie there (docs/proofs/keys.md, lemma 4).
        """
        change = self.measurements[key].change
        if self.request.keyset is None or self.presence is None or self.scores:
            return change
        if self.presence.key == key:
            return change  # a key has one number that shows it
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

    @cached_property
    def rows_cut_off(self) -> CutRows | None:
        """Rows of the answers that limits leave out, where they are counted."""
        if self.request.coverage is None:
            return None
        return lost_rows(self.request, self.relation)


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
