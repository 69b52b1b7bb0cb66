"""The first few groups: which exact scores they are chosen by, and how these can move.

For any two databases the scores of common groups change within a range that one unit
can move *one* group by, however many it is in (docs/proofs/first-few.md).
"""

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, final

from sordino.aggregations.additive import SingleEstimator
from sordino.aggregations.base import AbstractAggregation, Setting
from sordino.aggregations.column_values import Clamped
from sordino.aggregations.measurements import (
    AbstractMeasurement,
    AbstractPresence,
    IntegerMeasurement,
    LatticeMeasurement,
)
from sordino.errors import InvalidQuery
from sordino.mechanisms.kit.top_keys import TopScores
from sordino.numbers import finite, rational_above
from sordino.planning.key_stages import AbstractKeyStage
from sordino.query.question import Question
from sordino.query.relation import Relation
from sordino.query.request import Request

if TYPE_CHECKING:
    import pyarrow as pa

    from sordino.query.first_few import FirstFew


@final
@dataclass(frozen=True, eq=False)
class FirstStage(AbstractKeyStage):
    """What the engine is asked before the first few groups are chosen: all scores."""

    relation: Relation
    names: tuple[str, ...]
    measured: AbstractPresence
    """The scores, in steps."""
    scores: TopScores
    keys: "pa.Table | None"
    """All groups, where they are known."""

    def question_after(self, shown: "pa.Table | None") -> Question:
        """Return the question for the scores of all groups: there is one round."""
        del shown
        return Question(self.relation.node, self.names, self.measured.totals, self.keys)


def first_stage(
    request: Request, few: "FirstFew", relation: Relation, setting: Setting
) -> FirstStage:
    """Return the scores of a request for the first few groups."""
    if request.known_columns and request.unknown:
        raise InvalidQuery(
            "the first few groups are chosen among keys that are all known, or none",
            "Give a sd.KeySet of all columns, or no keys.",
        )
    measured = _single(few.by, at_most_in(setting, 1))
    unit = Fraction(1)
    if isinstance(measured, LatticeMeasurement):
        unit = Fraction(2) ** measured.exponent
    largest = rational_above(finite(measured.change.linf)) / unit
    width = largest
    if setting.ids is None:
        whole = rational_above(finite(_single(few.by, setting).change.l1)) / unit
        width = min(whole, 2 * largest)
    elif not _has_one_sign(few.by):
        width = 2 * largest
    scores = TopScores(few.most, width, unit)
    if request.unknown:
        scores = replace(scores, fresh=largest, keys=_most_groups(setting))
    key = ("rank", measured.key)
    steps = IntegerMeasurement(key, measured.change, measured.totals)
    known = None if request.keyset is None else request.keyset.table()
    return FirstStage(relation, request.by, steps, scores, known)


def at_most_in(setting: Setting, groups: int) -> Setting:
    """Return the setting of so many groups alone: a unit lies in no more of them.

    All bounds hold of those of a unit's rows that lie there, but the number of all
    rows, where it is public, is not theirs.
    """
    contribution = setting.contribution.with_groups(setting.versions, groups)
    return replace(setting, contribution=contribution, groups=None, size=None)


def _single(aggregation: AbstractAggregation, setting: Setting) -> AbstractMeasurement:
    """Return the one number of each group that groups are ranked by."""
    first = aggregation.estimators(setting)[0]
    if not isinstance(first, SingleEstimator) or len(first.measurements[0].totals) > 1:
        raise InvalidQuery(
            f"groups are not ranked by {aggregation!r}: it is not one exact total",
            "Rank them by count, count_ids or sum.",
        )
    return first.measurements[0]


def _has_one_sign(aggregation: AbstractAggregation) -> bool:
    """Tell whether a row more moves the scores all the same way."""
    if not isinstance(aggregation.clamp, Clamped):
        return True
    low, high = aggregation.clamp.bounds
    return low >= 0 or high <= 0


def _most_groups(setting: Setting) -> int:
    """Return how many groups a unit can be in."""
    if setting.ids is not None:
        return int(setting.people().l0)
    return int(setting.rows().l0)
