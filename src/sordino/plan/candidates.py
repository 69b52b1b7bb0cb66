"""All plans of a request, and how measurements share a budget.

The mean logarithm of the errors is minimised, each answer with its weight; at the least
one a measurement has the share of the errors that it causes (docs/proofs/moments.md,
lemma 5). Where each answer has a measurement of its own, shares are the weights.

Columns share the budget by their weights. A measurement that several columns need is
made once; the shares of measurements are those with which the columns err least. Where
the groups are not known, whoever is there is counted to show that they exist, by a
measurement of its own unless a column needs it already.
"""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, TypeAlias, final

import numpy as np

from sordino.aggregations.aggregation import (
    CENTRED,
    DIVIDED,
    SEPARATE,
    SINGLE,
    AbstractEstimator,
    Setting,
)
from sordino.aggregations.count import Count, CountIds
from sordino.aggregations.measurement import AbstractMeasurement, AbstractPresence
from sordino.aggregations.moments import ROWS, row_presence
from sordino.data.key_columns import MOST_KEYS
from sordino.errors import InvalidQuery, show
from sordino.losses.budgets.charge import Family
from sordino.noise.key_rounds import TopScores
from sordino.numbers import finite
from sordino.plan.keys_first import (
    AbstractKeyStage,
    CountedKeys,
    WeightedKeys,
    at_most_in,
    first_stage,
    group_counts,
    key_counts,
    weights_of_keys,
)
from sordino.plan.plan import MOST_TOTALS, Plan, coverage_counts, is_by_row
from sordino.query.dropped_rows import Counted
from sordino.query.request import FAMILIES, Request
from sordino.query.steps import AbstractCatalog, Relation, group_column

if TYPE_CHECKING:
    from sordino.aggregations.choices import AbstractChoice


Slopes: TypeAlias = tuple[tuple[float, ...], ...]
"""For each answer the variance that each measurement causes if it has all."""

_STEPS: Final = 60
_FAINTEST: Final = 1e-9
_FINEST: Final = 2**12
"""Shares are near rationals of such denominators: short, and thirds are thirds."""


@final
@dataclass(frozen=True)
class Answered:
    """What noise moves: by how much each measurement does, and what that weighs."""

    slopes: Mapping[Hashable, float]
    weight: Fraction


def measurement_shares(
    wanted: Sequence[Answered],
    measurements: Mapping[Hashable, AbstractMeasurement],
    family: Family,
) -> dict[Hashable, Fraction]:
    """Return the share of each measurement in what all of them may spend."""
    if not measurements:
        return {}
    sizes = {
        key: _size(measurement, family) for key, measurement in measurements.items()
    }
    table = tuple([
        tuple([answer.slopes.get(key, 0.0) * size for key, size in sizes.items()])
        for answer in wanted
    ])
    weights = tuple([answer.weight for answer in wanted])
    shares = best_shares(table, weights, _POWERS[family])
    return dict(zip(measurements, shares, strict=True))


def _size(measurement: AbstractMeasurement, family: Family) -> float:
    """Return the variance of the noise of a whole budget, but for a factor."""
    change = measurement.change
    return float(finite(change.l1 if family == "laplace" else change.l2)) ** 2


_POWERS: Final[Mapping[Family, int]] = {"laplace": 2, "gaussian": 1}


@lru_cache(maxsize=4096)
def best_shares(
    slopes: Slopes, weights: tuple[Fraction, ...], power: int
) -> tuple[Fraction, ...]:
    """Return the shares of measurements, which add up to 1.

    Noise of a share s has the variance slope / s**power in an answer: 1 for Gaussian
    noise, whose shares are of mu squared, 2 for Laplace noise.

    >>> best_shares(((4.0, 0.0), (0.0, 1.0)), (Fraction(1), Fraction(2)), 1)
    (Fraction(1, 3), Fraction(2, 3))
    >>> best_shares(((1.0, 1.0),), (Fraction(1),), 2)
    (Fraction(1, 2), Fraction(1, 2))
    >>> best_shares(((0.0, 0.0),), (Fraction(1),), 2)
    (Fraction(1, 2), Fraction(1, 2))
    """
    if len(slopes[0]) == 1:
        # one measurement causes all of the variance: no share is to be sought
        return (Fraction(1),)
    table, weight = np.array(slopes), np.array([float(weight) for weight in weights])
    weight /= weight.sum()
    shares = np.full(table.shape[1], 1 / table.shape[1])
    for _ in range(_STEPS):
        caused = weight @ _parts(table, shares, power)
        shares = (caused * shares**power) ** (1 / (power + 1))
        shares = np.maximum(shares / shares.sum(), _FAINTEST)
    causes = weight @ _parts(table, shares, power)
    near = [Fraction(part).limit_denominator(_FINEST) for part in causes.tolist()]
    least = Fraction(1, _FINEST**2)  # with a share of 0 the noise would have no end
    # doubles choose the shares, never what is spent: these add up to 1 exactly
    whole = sum((max(part, least) for part in near), Fraction(0))
    return tuple(max(part, least) / whole for part in near)


def _parts(
    table: "np.ndarray[tuple[int, int], np.dtype[np.float64]]",
    shares: "np.ndarray[tuple[int], np.dtype[np.float64]]",
    power: int,
) -> "np.ndarray[tuple[int, int], np.dtype[np.float64]]":
    """Return which part of each answer's variance each measurement causes.

    An answer that no unit moves has no variance, and leaves it even.
    """
    variances = table / shares**power
    whole = variances.sum(axis=1, keepdims=True)
    even = np.full_like(variances, 1 / table.shape[1])
    return np.asarray(np.divide(variances, whole, out=even, where=whole > 0))


def plans(request: Request, catalog: AbstractCatalog) -> list[Plan]:
    """Return the ways to answer a request, the estimators of all columns alike."""
    relation = request.rows.resolve(catalog)
    original = request
    _refuse_family(request)
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
        estimators = tuple([each[min(variant, len(each) - 1)] for each in options])
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
        """Return the families of noise that serve all of a request."""
        families: tuple[Family, ...] = ("gaussian",)
        if not self.in_rounds:
            families = FAMILIES if request.noise is None else (request.noise,)
        return tuple(family for family in families if _serves(family, request))

    def shown_for(self, variant: int) -> "_Shown":
        """Measurement that shows groups, for the estimators of a variant."""
        return _Shown(
            self.presences.get(variant, self.presences.get(SINGLE)),
            self.counted.get(variant, self.counted.get(SINGLE)),
            self.stage,
            self.in_rounds,
            self.scores,
        )


def _serves(family: Family, request: Request) -> bool:
    return all(family in aggregation.families for _, aggregation in request.columns)


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
        """Measurements that show groups, each once."""
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
        # a public key shows whatever it holds: nothing hides that it is there
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
        # of unknown groups the number is private, too
        None if request.keyset is None or request.unknown else request.keyset.size,
        needs_rows=counted or request.counts_groups,
        size=relation.size,
        weighed=relation.weighed,
        # a group that nobody named is there because a row is
        least_rows=int(request.selects_keys and request.keyset is None),
    )


def _presences(setting: Setting) -> dict[int, AbstractPresence]:
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
        """Estimators that noise moves: those of the columns, and of which groups show.

        Where a column counts what shows them, that weighs as much as all columns, and
        where keys have a weight of their own, that much. A minimum weighs nothing where
        a column counts what it is held against.
        """
        wanted = [
            Answered(dict(zip(_keys(estimator), estimator.slopes, strict=True)), weight)
            for estimator, weight in zip(estimators, self.request.weights, strict=True)
            if not estimator.chooses
        ]
        columns = sum((answer.weight for answer in wanted), Fraction(0))
        for measurement in measured:
            is_needed = measurement.key in needed
            if is_needed and measurement is not shown.presence:
                # a reader's minimum is held against a number that is told anyway
                continue
            weight = columns if is_needed else Fraction(1)
            if measurement is shown.presence and self.request.showing is not None:
                weight = self.request.showing
            wanted.append(Answered({measurement.key: 1.0}, weight))
        return wanted

    def _weights_apart(
        self, estimators: tuple[AbstractEstimator, ...]
    ) -> dict[Hashable, Fraction]:
        together = sum(count.weight for count in self.coverage.values())
        each = (self.request.coverage or Fraction(0)) / max(1, together)
        shares = {key: each * count.weight for key, count in self.coverage.items()}
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
    return tuple(measurement.key for measurement in estimator.measurements)


def _refuse_family(request: Request) -> None:
    """Refuse a family of noise that one of the questions cannot have."""
    for _, aggregation in request.columns:
        if request.noise is not None and request.noise not in aggregation.families:
            (serves,) = aggregation.families
            raise InvalidQuery(
                f"{aggregation!r} is measured with {serves} noise alone",
                f'Leave noise="{request.noise}" out, or ask it by itself.',
            )


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
