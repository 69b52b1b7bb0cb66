"""The making of plans: which estimators, what shows the groups, and the shares.

Columns share the budget by their weights. A measurement that several columns need is
made once; the shares of measurements are those with which the columns err least. Where
the groups are not known, whoever is there is counted to show that they exist, by a
measurement of its own unless a column needs it already.
"""

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final, final

from sordino.aggregations.base import (
    CENTRED,
    DIVIDED,
    SEPARATE,
    SINGLE,
    AbstractEstimator,
    Setting,
)
from sordino.aggregations.count import Count
from sordino.aggregations.count_ids import CountIds
from sordino.aggregations.measurements import AbstractMeasurement, AbstractPresence
from sordino.aggregations.moments import row_presence
from sordino.aggregations.rows import ROWS
from sordino.errors import InvalidQuery, show
from sordino.keysets.canonical import MOST_KEYS
from sordino.losses.allowance import Family
from sordino.mechanisms.kit.top_keys import TopScores
from sordino.planning.coverage import coverage_counts
from sordino.planning.first_stage import at_most_in, first_stage
from sordino.planning.key_stages import (
    AbstractKeyStage,
    CountedKeys,
    group_counts,
    key_counts,
)
from sordino.planning.plan import MOST_TOTALS, Plan, is_by_row
from sordino.planning.share_search import Answered, measurement_shares
from sordino.planning.weighted_keys import WeightedKeys, weights_of_keys
from sordino.query.passage import Counted
from sordino.query.relation import AbstractCatalog, Relation
from sordino.query.request import FAMILIES, Request
from sordino.query.steps import group_column

if TYPE_CHECKING:
    from sordino.aggregations.choices import AbstractChoice


def plans(request: Request, catalog: AbstractCatalog) -> list[Plan]:
    """Return the ways to answer a request, the estimators of all columns alike."""
    relation = request.rows.resolve(catalog)
    original = request
    request = request.with_known_bounds(relation.schema, relation.weighed)
    setting = _make_setting(request, relation)
    answers = setting
    if request.few is not None:
        answers = at_most_in(setting, request.few.most)
    options = [aggregation.estimators(answers) for _, aggregation in request.columns]
    counts = coverage_counts(original, relation, setting, answers)
    frame = _Frame(
        request, relation, {count.measurement.key: count for count in counts}
    )
    ways: list[Plan] = []
    for shows in _ways_to_show(request, relation, setting):
        for family in shows.families(request):
            for estimators, variant in _combine(options, family):
                ways.append(frame.plan(family, estimators, shows.shown_for(variant)))
    return _narrow(ways)


def _combine(
    options: list[tuple[AbstractEstimator, ...]], family: Family
) -> list[tuple[tuple[AbstractEstimator, ...], int]]:
    """Return the estimators of all columns, alike, each combination once."""
    seen: list[tuple[AbstractEstimator, ...]] = []
    variants = []
    for variant in _WAYS[family]:
        estimators = tuple(each[min(variant, len(each) - 1)] for each in options)
        if estimators not in seen:
            seen.append(estimators)
            variants.append(variant)
    return list(zip(seen, variants, strict=True))


@final
@dataclass(frozen=True, eq=False)
class _Shows:
    """What shows that a group exists, in the ways in which it may be counted."""

    presences: Mapping[int, AbstractPresence]
    """Of groups that are not known, by the variant of the estimators."""
    counted: Mapping[int, AbstractPresence]
    """What a reader's minimum is held against, likewise."""
    stage: AbstractKeyStage | None = None
    in_rounds: bool = False
    scores: TopScores | None = None

    def families(self, request: Request) -> tuple[Family, ...]:
        """Return the families of noise that serve."""
        if self.in_rounds:
            return ("gaussian",)
        return FAMILIES if request.noise is None else (request.noise,)

    def shown_for(self, variant: int) -> "_Shown":
        """Return what shows groups beside estimators of a variant."""
        return _Shown(
            self.presences.get(variant, self.presences.get(SINGLE)),
            self.counted.get(variant, self.counted.get(SINGLE)),
            self.stage,
            self.in_rounds,
            self.scores,
        )


@final
@dataclass(frozen=True, eq=False)
class _Shown:
    """What shows that a group exists, and what a reader's minimum is held against."""

    presence: AbstractPresence | None
    counted: AbstractPresence | None
    stage: AbstractKeyStage | None
    in_rounds: bool
    scores: TopScores | None

    def measurements(self) -> list[AbstractPresence]:
        """Return what is measured for it, each once."""
        if self.presence is None:
            return [] if self.counted is None else [self.counted]
        if self.counted is None or self.counted.key == self.presence.key:
            return [self.presence]
        return [self.presence, self.counted]


def _ways_to_show(
    request: Request, relation: Relation, setting: Setting
) -> Iterator[_Shows]:
    """Yield the ways to show groups: by counts of units or rows, or by weights.

    By weights where nothing but keys is asked, or keys have a weight of their own.
    """
    if request.few is not None:
        first = first_stage(request, request.few, relation, setting)
        shows = {SINGLE: first.measured}
        yield _Shows(shows, {}, first, scores=first.scores)
        return
    counts_groups = request.selects_keys or request.minimum is not None
    presences = _presences(setting) if counts_groups else {}
    least = presences if request.minimum is not None else {}
    if not request.selects_keys:
        yield _Shows({}, least)
        return
    part = setting
    if request.keyset is not None:
        part = replace(setting, by=request.unknown, clamped=(), needs_rows=False)
    alone = not request.columns
    weights = None
    if (alone or request.showing is not None) and request.noise != "laplace":
        weights = weights_of_keys(relation, part)
    if weights is not None:
        stage = WeightedKeys(relation, part.by, weights)
        yield _Shows({SINGLE: weights}, least, stage, in_rounds=True)
        if not alone:
            return
    if request.keyset is None:
        yield _Shows(presences, least)
        return
    counts = key_counts(part)
    yield _Shows({SINGLE: counts}, least, CountedKeys(relation, part.by, counts))


_WAYS: Final[Mapping[Family, tuple[int, ...]]] = {
    "laplace": (SINGLE, DIVIDED, SEPARATE),
    "gaussian": (SINGLE, SEPARATE, CENTRED),
}
"""Which of the estimators of an aggregation are of use for a family of noise."""


def _make_setting(request: Request, relation: Relation) -> Setting:
    """Return what the public knows of the rows, the groups checked."""
    for name in request.by:
        group_column(relation.schema, name)
    if request.keyset is not None:
        request.keyset.check(relation.schema, request.known_columns)
    _refuse_unlisted(request)
    aggregations = [aggregation for _, aggregation in request.columns]
    clamped = tuple(
        aggregation.clamp
        for aggregation in aggregations
        if aggregation.clamp is not None
        and aggregation.clamp.degree
        and not aggregation.lacks_bounds
    )
    counted = any(
        isinstance(aggregation, Count | CountIds) for aggregation in aggregations
    )
    return Setting(
        relation.schema,
        relation.contribution,
        request.by,
        relation.ids,
        relation.spread if is_by_row(request, relation) else None,
        clamped,
        None if request.keyset is None or request.unknown else request.keyset.size,
        needs_rows=counted or request.counts_groups,
        size=relation.size,
        weighed=relation.weighed,
        least_rows=int(request.selects_keys and request.keyset is None),
    )


def _presences(setting: Setting) -> dict[int, AbstractPresence]:
    """Return what shows that a group exists, by the way."""
    counted = group_counts(setting)
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
        shown: _Shown,
    ) -> Plan:
        """Return the measurements of some estimators, each once, with their shares."""
        measurements: dict[Hashable, AbstractMeasurement] = {}
        choices: dict[Hashable, AbstractChoice] = {}
        for estimator in estimators:
            collected: dict[Hashable, Any] = (
                choices if estimator.chooses else measurements
            )
            collected |= {
                measurement.key: measurement for measurement in estimator.measurements
            }
        measured = shown.measurements()
        wanted = self._answers(estimators, shown, measured, measurements)
        for measurement in measured:
            measurements[measurement.key] = measurement
        beside = self._weights_apart(estimators)
        joint = sum((answer.weight for answer in wanted), Fraction(0))
        whole = joint + sum(beside.values(), Fraction(0))
        jointly = _shares(wanted, measurements, family)
        shares = {key: share * joint / whole for key, share in jointly.items()}
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
            shown.presence,
            shares,
            shown.counted,
            shown.stage,
            shown.in_rounds,
            shown.scores,
        )

    def _answers(
        self,
        estimators: tuple[AbstractEstimator, ...],
        shown: _Shown,
        measured: list[AbstractPresence],
        needed: Mapping[Hashable, AbstractMeasurement],
    ) -> list[Answered]:
        """Return what noise moves: the columns, and which groups show.

        Where a column counts what shows them, that weighs as much as all columns, and
        where keys have a weight of their own, that much.
        """
        wanted = [
            Answered(dict(zip(_keys(estimator), estimator.slopes, strict=True)), weight)
            for estimator, weight in zip(estimators, self.request.weights, strict=True)
            if not estimator.chooses
        ]
        columns = sum((answer.weight for answer in wanted), Fraction(0))
        for measurement in measured:
            weight = columns if measurement.key in needed else Fraction(1)
            if measurement is shown.presence and self.request.showing is not None:
                weight = self.request.showing
            wanted.append(Answered({measurement.key: 1.0}, weight))
        return wanted

    def _weights_apart(
        self, estimators: tuple[AbstractEstimator, ...]
    ) -> dict[Hashable, Fraction]:
        """Return the weights of choices and of counts of what is left out."""
        each = (self.request.coverage or Fraction(0)) / max(1, len(self.coverage))
        shares = dict.fromkeys(self.coverage, each)
        pairs = zip(estimators, self.request.weights, strict=True)
        for estimator, weight in (
            (estimator, weight) for estimator, weight in pairs if estimator.chooses
        ):
            for key, share in zip(_keys(estimator), estimator.shares, strict=True):
                shares[key] = shares.get(key, Fraction(0)) + share * weight
        return shares


def _shares(
    wanted: list[Answered],
    measurements: Mapping[Hashable, AbstractMeasurement],
    family: Family,
) -> dict[Hashable, Fraction]:
    """Return the shares of measurements; even ones where a plan is far too wide.

    It is refused by its width. The best shares are a table of columns by measurements.
    """
    if len(measurements) > 2 * MOST_TOTALS:
        return dict.fromkeys(measurements, Fraction(1, len(measurements)))
    return measurement_shares(wanted, measurements, family)


def _keys(estimator: AbstractEstimator) -> tuple[Hashable, ...]:
    """Return the keys of what an estimator is made of."""
    return tuple(measurement.key for measurement in estimator.measurements)


def _refuse_unlisted(request: Request) -> None:
    """Refuse more known groups than anybody lists, before any is."""
    keyset = request.keyset
    if keyset is not None and keyset.size > MOST_KEYS:
        raise InvalidQuery(
            f"the answer would have {show(keyset.size)} groups, and {MOST_KEYS:,} are "
            "listed at most",
            "Ask for fewer groups at a time.",
        )


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
