"""Keys that are shown before anything is told of them, and the first few groups.

first question ── keys that show ── times the public keys, if any ── second question

Where what shows a key is told of it as well, one question does. Two are asked where
keys are known in part, and where weights show them, in rounds: where a protected id may
lie in several groups, weights show more keys than counts do
(docs/adr/0104-keys-are-shown-in-rounds.md).

The first few groups are chosen by exact scores, and a part of the budget pays for the
choice; epsilons and deltas, rhos and squares of mu add up. For any two databases the
scores of common groups change within a range that one unit can move *one* group by,
however many it is in (docs/proofs/first-few.md).

Kernel: sensitivity.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Final, NamedTuple, final

import numpy as np

from sordino.aggregations.aggregation import AbstractAggregation, Setting
from sordino.aggregations.count import ids_measurement
from sordino.aggregations.estimators import SingleEstimator
from sordino.aggregations.lattice import Clamped
from sordino.aggregations.measurement import (
    AbstractMeasurement,
    AbstractPresence,
    AbstractShare,
    ConcentratedShare,
    GaussianShare,
    IntegerMeasurement,
    LaplaceShare,
    LatticeMeasurement,
)
from sordino.aggregations.moments import rows_measurement
from sordino.aggregations.sum import weight_measurement, weights_measurement
from sordino.data.key_columns import canonical_order
from sordino.errors import InvalidQuery
from sordino.expressions.schema import Column, Schema, arrow_type
from sordino.losses.budgets.charge import Allowance, Family
from sordino.losses.closed import ZCDP, ApproxDP, ApproxZCDP, GaussianDP
from sordino.losses.loss import Loss, PureDP
from sordino.noise.gaussian import Gaussian
from sordino.noise.key_rounds import KeyRounds, TopScores, fit_by_rho, fit_key_rounds
from sordino.numbers import finite, rational_above, sqrt
from sordino.query.nodes import Memberships, PublicRows, Question, Without
from sordino.query.request import Request
from sordino.query.steps import Relation

if TYPE_CHECKING:
    import pyarrow as pa

    from sordino.data import KeySet
    from sordino.query.request import FirstFew


@final
class FirstShares(NamedTuple):
    """What the choice may cost, and what the rest may spend for a share of 1."""

    choice: Loss
    joint: AbstractShare
    """Of measurements of the chosen groups."""
    apart: AbstractShare
    """Of choices among candidates, and coverage."""


def first_shares(
    family: Family, allowance: Allowance, choice: Fraction, columns: Fraction
) -> FirstShares:
    """Return the parts of a budget: a share for the choice, and one for the columns."""
    amount, delta = allowance.amount, allowance.delta
    if allowance.parameter == "mu":
        joint: AbstractShare = GaussianShare(amount**2)
        return FirstShares(GaussianDP(amount * sqrt(choice)), joint, joint)
    if allowance.parameter == "rho":
        joint = ConcentratedShare(2 * amount)
        rho = amount * choice
        return FirstShares(ApproxZCDP(rho, delta) if delta else ZCDP(rho), joint, joint)
    apart = LaplaceShare(amount)
    if family == "laplace" or not columns:
        return FirstShares(_epsilon_loss(amount * choice, delta), apart, apart)
    part = choice / (choice + columns)
    rest = ApproxDP(amount * columns, delta * (1 - part))
    square = Gaussian.for_loss(rest, 1).scale ** -2
    joint = GaussianShare(square / columns)
    return FirstShares(_epsilon_loss(amount * choice, delta * part), joint, apart)


def _epsilon_loss(epsilon: object, delta: Fraction) -> Loss:
    """Return the loss of an epsilon and a delta, which may be none."""
    return ApproxDP(epsilon, delta) if delta else PureDP(epsilon)


class AbstractKeyStage(ABC):
    """What is asked to show keys, in one round or in several."""

    relation: Relation
    names: tuple[str, ...]
    """The columns whose keys are not known."""

    @abstractmethod
    def question_after(self, shown: "pa.Table | None") -> Question:
        """Return the question for the keys that are not among those shown before."""

    @property
    def none(self) -> "pa.Table":
        """Return a table of keys without any."""
        import pyarrow as pa  # noqa: PLC0415 loaded when needed

        kinds = {name: self.relation.schema[name].type for name in self.names}
        empty = {name: pa.array([], arrow_type(kind)) for name, kind in kinds.items()}
        return pa.table(empty)


@final
@dataclass(frozen=True, eq=False)
class CountedKeys(AbstractKeyStage):
    """Keys shown by how many protected units, or rows, each of them has."""

    relation: Relation
    names: tuple[str, ...]
    counted: AbstractPresence

    def question_after(self, shown: "pa.Table | None") -> Question:
        """Return the question for the counts of all keys: there is one round."""
        del shown
        return Question(self.relation.node, self.names, self.counted.totals)


def group_counts(setting: Setting) -> IntegerMeasurement:
    """Measurement that shows that a group exists: of people, weights, or rows.

    A group has rows if and only if what they are weighed by adds up to 1 or more.
    """
    if setting.ids is not None:
        return ids_measurement(setting)
    return weight_measurement(setting) or rows_measurement(setting)


def key_counts(setting: Setting) -> IntegerMeasurement:
    """Return the counts that show keys and nothing else, and are no column's."""
    counted = group_counts(setting)
    key = ("shows", counted.key, setting.by)
    return IntegerMeasurement(key, counted.change, counted.totals)


def public_groups(
    shown: "pa.Table", keyset: "KeySet | None", by: tuple[str, ...]
) -> "pa.Table":
    """Return each key that shows with each of the public keys, sorted.

    For any two tables that show the same keys these are the same groups.
    """
    pairs = shown if keyset is None else _pair(shown, keyset.table())
    groups = pairs.select(list(by)).combine_chunks()
    return groups.take(canonical_order(groups))


def _pair(left: "pa.Table", right: "pa.Table") -> "pa.Table":
    """Return every pair of rows of two tables without a common column."""
    places = np.repeat(np.arange(left.num_rows), right.num_rows)
    others = np.tile(np.arange(right.num_rows), left.num_rows)
    pairs = left.take(places)
    for name, column in zip(
        right.column_names, right.take(others).columns, strict=True
    ):
        pairs = pairs.append_column(name, column)
    return pairs


_SIZE: Final = "size"
_FEWEST: Final = 2
"""With one group for each id weights are counts."""


def weights_of_keys(relation: Relation, setting: Setting) -> AbstractPresence | None:
    """Return the sums of weights that show keys, None where counts do as well."""
    if setting.ids is None or setting.people().l0 < _FEWEST:
        return None
    return weights_measurement(setting, _size_name(relation, setting.by))


@final
@dataclass(frozen=True, eq=False)
class WeightedKeys(AbstractKeyStage):
    """What the engine is asked in each round: the weights of keys that are left."""

    relation: Relation
    names: tuple[str, ...]
    weights: AbstractPresence

    def question_after(self, shown: "pa.Table | None") -> Question:
        """Return the question for the keys that are not among those shown before."""
        relation, ids = self.relation, self.relation.ids
        assert ids is not None  # noqa: S101 asked where ids are protected
        rows = relation.node
        if shown is not None:
            facts = ((name, relation.schema[name]) for name in self.names)
            listed = PublicRows(shown, Schema.of(facts))
            rows = Without(rows, listed, self.names, relation.schema)
        size = _size_name(relation, self.names)
        names = tuple(dict.fromkeys((ids, *self.names)))
        columns = [(name, relation.schema[name]) for name in names]
        columns.append((size, Column("i64", nullable=False)))
        pairs = Memberships(rows, (ids,), self.names, size, Schema(tuple(columns)))
        return Question(pairs, self.names, self.weights.totals)


def buy_rounds(
    keys: int, allowance: Allowance, beside: Fraction = Fraction(0)
) -> KeyRounds | None:
    """Return the rounds that Gaussian noise buys, None for a budget without a form.

    `beside` is the share of it that is left to the other columns of the keys.
    """
    match allowance.parameter:
        case "epsilon":
            return fit_key_rounds(
                ApproxDP(allowance.amount, allowance.delta), keys, beside
            )
        case "rho":
            return fit_by_rho(allowance.amount * (1 - beside), allowance.delta, keys)
        case _:
            return None


def _size_name(relation: Relation, by: tuple[str, ...]) -> str:
    """Return a name that no column of the question has."""
    name = _SIZE
    while name in {*by, relation.ids}:
        name += "_"
    return name


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
        # a row that changes may leave one group and enter another: both scores move
        whole = rational_above(finite(_single(few.by, setting).change.l1)) / unit
        width = min(whole, 2 * largest)
    elif not _has_one_sign(few.by):
        width = 2 * largest
    scores = TopScores(few.most, width, unit)
    if request.unknown:
        scores = replace(scores, fresh=largest, keys=_most_groups(setting))
    # a column may ask for the same numbers: they get noise of their own
    key = ("rank", measured.key)
    steps = IntegerMeasurement(key, measured.change, measured.totals)
    known = None if request.keyset is None else request.keyset.table()
    return FirstStage(relation, request.by, steps, scores, known)


def at_most_in(setting: Setting, groups: int) -> Setting:
    """Setting of `groups` groups: a unit lies in no more of them.

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
    if setting.ids is not None:
        return int(setting.people().l0)
    return int(setting.rows().l0)
