"""Several requests bought together: one budget, spent on all of their curves.

Requests that are priced alike: a hundred questions of a batch are often of one kind.

What a budget buys for a plan follows from how far its numbers can move, from how they
share the budget, and from whom the rows protect; which rows and which columns they are
is nowhere in it (docs/adr/0174-columns-of-one-kind-are-priced-alike.md).

Charged one by one, requests under (epsilon, delta) add up their epsilons and deltas.
Planned together their losses are composed as curves, and what that saves is given back
as less noise: each gets `gain` times its share of epsilon.

Counts of the same rows, each behind a filter of its own, are yes/no columns of a row.
Measured as one survey they share the number of rows, of which each is told by how far
it lies from the half: half of the noise, where there are many (moments.md, section 5).

Kernel: sensitivity.
"""

import math
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field, fields, replace
from fractions import Fraction
from functools import cached_property, reduce
from operator import and_
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, final

from sordino.aggregations.count import count
from sordino.aggregations.sum import sum as sum_of
from sordino.errors import InvalidParameter, InvalidQuery
from sordino.expressions.language import Expression, when
from sordino.expressions.schema import unknown
from sordino.losses.closed import ApproxDP
from sordino.losses.curves.points import COARSENESS, find_crossing
from sordino.losses.loss import Budget, Loss, compose
from sordino.numbers import down, positive
from sordino.numbers.canonical import Words, canonical_text, number, worded_pairs
from sordino.plan.candidates import plans
from sordino.plan.plan import MOST_TOTALS, Plan
from sordino.plan.purchase import Purchase, best_of
from sordino.query.request import FAMILIES, Request, Rows, refuse_large
from sordino.query.steps import AbstractCatalog

if TYPE_CHECKING:
    from sordino.losses.budgets.charge import Family


Given: TypeAlias = Mapping[str, Any] | Literal["cells"] | None
"""Weights as they are given: by hand, by the number of cells, or none."""

_EXAMPLE: Final = 'Try weights={"by ward": 2}, or weights="cells".'
_HEAVIEST: Final = Fraction(2) ** 40
_FINEST: Final = 2**12


@final
@dataclass(frozen=True)
class RequestWeights:
    """The share of each request in the budget, and by which rule it was found."""

    shares: Mapping[str, Fraction]
    """By name; they add up to 1."""
    rule: str = ""
    """In words, empty where nothing was said: then shares are even."""

    @property
    def words(self) -> Words:
        """Return the shares by name, None where nothing was said."""
        if not self.rule:
            return None
        return worded_pairs(
            (name, number(share)) for name, share in self.shares.items()
        )

    def describe(self, name: str) -> str:
        """Return the share of a request in words, nothing where it was not asked for.

        >>> even = Fraction(1, 2)
        >>> RequestWeights({"a": even, "b": even}, "by hand").describe("a")
        '50 % of the budget, by hand'
        """
        percent = f"{float(100 * self.shares[name]):.3g}"
        return f"{percent} % of the budget, {self.rule}" if self.rule else ""


def share_budget(requests: Mapping[str, Request], weights: Given) -> RequestWeights:
    """Return the shares of requests; anything that is not a weight is refused."""
    if weights is None:
        even = Fraction(1, len(requests))
        return RequestWeights(dict.fromkeys(requests, even))
    if isinstance(weights, str) and weights == "cells":
        counts = {
            name: _weight_of_cells(name, request) for name, request in requests.items()
        }
        return _shares(counts, "by log2(8 + 4 cells)")
    if not isinstance(weights, Mapping):
        raise InvalidParameter(
            "weights",
            weights,
            'must be a dict from names of requests to numbers, or "cells"',
            _EXAMPLE,
        )
    for name in weights:
        if name not in requests:
            raise unknown("request", name, requests)
    return _shares(
        {name: _read_weight(weights.get(name, 1)) for name in requests}, "by hand"
    )


def _shares(weights: Mapping[str, Fraction], rule: str) -> RequestWeights:
    """Return weights as parts of 1."""
    whole = sum(weights.values(), Fraction(0))
    return RequestWeights(
        {name: weight / whole for name, weight in weights.items()}, rule
    )


def _read_weight(weight: Any) -> Fraction:
    value = positive(weights=weight)
    if not isinstance(value, Fraction) or not 1 / _HEAVIEST <= value <= _HEAVIEST:
        raise InvalidParameter(
            "weights", weight, "must be rational, from 2**-40 to 2**40", _EXAMPLE
        )
    return value


def _weight_of_cells(name: str, request: Request) -> Fraction:
    """Return the weight of a table by its public number of groups.

    Doubles are rounded to a short rational: it is the same on every machine.
    """
    if request.selects_keys:
        raise InvalidQuery(
            f"requests[{name!r}] has groups that are not known beforehand, so nobody "
            "knows how many cells it has",
            "Group by a sd.KeySet, or give weights by hand.",
        )
    cells = 1 if request.keyset is None else request.keyset.size
    return Fraction(round(math.log2(8 + 4 * cells) * _FINEST), _FINEST)


_KEY: Final = object()
"""Marks a place that stands for a key."""


def alike_names(ways: Mapping[str, tuple[Plan, ...]]) -> list[list[str]]:
    """Return the names of requests, those together whose plans are priced alike."""
    names: dict[Hashable, list[str]] = {}
    for name, each in ways.items():
        names.setdefault(tuple(map(_priced_by, each)), []).append(name)
    return list(names.values())


def _priced_by(plan: Plan) -> Hashable:
    """Return all that the price and the errors of a plan follow from.

    Measurements are equal if their changes and units are, whatever they add up; keys
    only tell which of them are the same, so they are replaced by their places.
    """
    keys = (*plan.measurements, *plan.choices, *plan.coverage)
    places = {key: place for place, key in enumerate(keys)}
    counts = tuple(count.measurement for count in plan.coverage.values())
    parts = (plan.measurements, plan.choices, counts, plan.shares)
    # two plans that differ in anything left out here would be sold at one price
    return (
        plan.family,
        plan.weights,
        *(_without_keys(part, places) for part in (plan.estimators, *parts)),
        _without_keys(plan.presence, places),
        _without_keys(plan.counted, places),
        plan.stage is not None,
        plan.in_rounds,
        plan.scores,
        plan.relation.spread,
        plan.request.selects_keys,
        plan.request.keyset is None,
        plan.request.confidence,
    )


def _without_keys(value: Any, places: Mapping[Hashable, int]) -> Hashable:
    """Value in a form that equals those of alike plans: places instead of keys.

    A value that is not equal by its fields is taken whole.
    """
    if isinstance(value, Mapping):
        return tuple(_without_keys(pair, places) for pair in value.items())
    if isinstance(value, tuple | str) and value in places:
        return _KEY, places[value]
    if isinstance(value, tuple):
        return tuple(_without_keys(item, places) for item in value)
    how: Any = getattr(type(value), "__dataclass_params__", None)
    if how is None or not how.eq:
        whole: Hashable = value
        return whole
    parts = [getattr(value, field.name) for field in fields(value) if field.compare]
    return type(value), *(_without_keys(part, places) for part in parts)


Ways: TypeAlias = Mapping[str, tuple[Plan, ...]]
"""The plans of each request, by its name."""
Names: TypeAlias = list[list[str]]
"""Names of requests that are priced alike, together."""

_HALF: Final = Fraction(1, 2)
_WHOLE: Final = Fraction(1)
_CLOSE: Final = 2.0**-7
_COARSE: Final = 4.0
"""How much coarser the grids of the search are: their bounds are true, only looser."""
_WIDEST: Final = MOST_TOTALS - 1
"""Counts of one survey: each has a total of its own, and all of them one more."""
_WORTH: Final = 1e-6
"""By how much less a survey must err for each of its counts, in logarithms."""
_DEEPEST: Final = -60.0
"""The logarithm that stands for those of all deltas too small to follow."""


@final
@dataclass(frozen=True, eq=False)
class Bundle:
    """What a budget buys for requests that are planned together, by name."""

    purchases: Mapping[str, Purchase]
    budget: Budget
    gain: float
    """How many times its share of epsilon each request gets."""
    weights: RequestWeights
    surveys: Mapping[str, Purchase] = field(default_factory=dict)
    """What several of them are measured by, by the name of the first of these."""
    places: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """For each of those: the survey and the column that it is."""

    @cached_property
    def charged_purchases(self) -> Mapping[str, Purchase]:
        """Each purchase that is drawn and charged, once: surveys, and single ones."""
        alone = {
            name: purchase
            for name, purchase in self.purchases.items()
            if name not in self.places
        }
        return alone | dict(self.surveys)

    @cached_property
    def loss(self) -> Loss:
        """Return the loss of all of them, composed as curves."""
        return compose([purchase.loss for purchase in self.charged_purchases.values()])

    @cached_property
    def score(self) -> float:
        """Return the sum of the mean logarithms of their errors; less is better."""
        return math.fsum(purchase.score for purchase in self.purchases.values())


def best_bundle(
    named: dict[str, Request],
    catalog: AbstractCatalog,
    budget: Budget,
    weights: RequestWeights,
    *,
    in_surveys: bool = True,
) -> Bundle:
    """Return the least noise for requests that share one budget by their weights.

    Counts of the same rows are measured `in_surveys` where that errs less.
    """
    refuse_large(named.values())
    if not isinstance(budget, Budget):
        raise InvalidParameter(
            "budget", budget, "must be a budget", 'Try sd.ApproxDP(1, "1e-6").'
        )
    apart = _best_apart(named, catalog, budget, weights)
    planned = [purchase.plan for purchase in apart.purchases.values()]
    # of rows charged one by one a certificate has one release, and batches no gain
    if len(planned) > 1 and any(plan.is_by_row for plan in planned):
        raise InvalidQuery(
            "in this part of a table rows are charged one by one, which holds of one "
            "request, and not of several that share a charge",
            "Release each alone.",
        )
    if any(plan.relation.spread for plan in planned):
        return apart
    surveys = find_surveys(named, catalog, weights) if in_surveys else ()
    if not surveys:
        return apart
    counted = {name for survey in surveys for name in survey.names}
    requests = {name: each for name, each in named.items() if name not in counted}
    shares = {name: weights.shares[name] for name in requests}
    for survey in surveys:
        requests[survey.names[0]] = survey.request
        parts = (weights.shares[name] for name in survey.names)
        shares[survey.names[0]] = sum(parts, Fraction(0))
    together = _best_apart(requests, catalog, budget, RequestWeights(shares))
    bundle = _tell_apart(together, surveys, named, catalog, weights)
    return bundle if bundle.score < apart.score - _WORTH * len(named) else apart


def _best_apart(
    named: Mapping[str, Request],
    catalog: AbstractCatalog,
    budget: Budget,
    weights: RequestWeights,
) -> Bundle:
    ways = {name: tuple(plans(request, catalog)) for name, request in named.items()}
    groups = _priced_together(ways, weights)
    purchases = _each(ways, groups, budget, weights)
    best = alone = Bundle(purchases, budget, 1.0, weights)
    if not isinstance(budget, ApproxDP) or budget.delta == 0 or len(named) == 1:
        return alone
    if any(purchase.plan.relation.spread for purchase in alone.purchases.values()):
        return alone  # of rows charged one by one no composed curve is known
    for alike in _alike(ways):
        groups = _priced_together(alike, weights)
        best = _Search(alike, groups, budget, weights).better(best)
    return best


def _priced_together(ways: Ways, weights: RequestWeights) -> Names:
    """Return the names of requests, those together that are priced alike.

    They have plans that are, and the same share.
    """
    groups: Names = []
    for names in alike_names(ways):
        shares = dict.fromkeys(weights.shares[name] for name in names)
        groups += [
            [name for name in names if weights.shares[name] == share]
            for share in shares
        ]
    return groups


def _each(
    ways: Ways,
    groups: Names,
    budget: Budget,
    weights: RequestWeights,
    gain: float = 1.0,
) -> dict[str, Purchase]:
    """Purchase of each request with its share of the budget.

    What is found for one request serves all that are priced alike.
    """
    purchases: dict[str, Purchase] = {}
    for first, *others in groups:
        bought = best_of(ways[first], budget.times(weights.shares[first]))
        place = next(
            place for place, plan in enumerate(ways[first]) if plan is bought.plan
        )
        for name in (first, *others):
            plan = ways[name][place]
            purchases[name] = bought.alike(plan, gain, weights.describe(name))
    return {name: purchases[name] for name in ways}


def _alike(ways: Ways) -> list[Ways]:
    """Return the plans with one family of noise for all, and each with its own.

    What errs least alone need not do so in company. Gaussian noise comes first: its
    sums have a closed form, and what it reaches says whether others are worth a try.
    """
    tries: list[Ways] = []
    for family in reversed(FAMILIES):
        alike = {name: _of_family(each, family) for name, each in ways.items()}
        tries += [] if alike in tries else [alike]
    return tries if ways in tries else [*tries, ways]


def _of_family(each: tuple[Plan, ...], family: "Family") -> tuple[Plan, ...]:
    """Return the plans with one family of noise, and those that only choose.

    All of them where noise of another family was asked for.
    """
    alike = (plan for plan in each if plan.family == family or not plan.measurements)
    return tuple(alike) or each


@final
@dataclass(frozen=True, eq=False)
class Survey:
    """Counts of the same rows, each behind a filter of its own, as one request."""

    names: tuple[str, ...]
    request: Request
    """A column for each of them, in order."""


def find_surveys(
    named: Mapping[str, Request], catalog: AbstractCatalog, weights: RequestWeights
) -> tuple[Survey, ...]:
    """Return requests that count the same rows behind filters, two or more together.

    A filter after all other steps leaves out rows that then count for nothing: so does
    a sum of 1 where it is true and 0 elsewhere, missing or not.
    """
    alike: dict[str, list[tuple[str, Rows, Expression]]] = {}
    for name, request in named.items():
        rows, conditions = request.rows.split_filters()
        if not conditions or not _only_counts(request):
            continue
        keys = None if request.keyset is None else request.keyset.words
        text = canonical_text([rows.words(catalog), list(request.by), keys])
        condition = reduce(and_, map(Expression, conditions))
        alike.setdefault(text, []).append((name, rows, condition))
    return tuple(
        _survey(named, listed[place : place + _WIDEST], weights)
        for listed in alike.values()
        for place in range(0, len(listed), _WIDEST)
        if len(listed) > place + 1
    )


def _only_counts(request: Request) -> bool:
    """Tell whether rows of groups that are known are counted, and nothing else."""
    plain = (request.noise, request.coverage, request.minimum, request.few)
    counted = [aggregation for _, aggregation in request.columns]
    return counted == [count()] and not request.selects_keys and set(plain) == {None}


def _survey(
    named: Mapping[str, Request],
    listed: list[tuple[str, Rows, Expression]],
    weights: RequestWeights,
) -> Survey:
    names = tuple(name for name, _, _ in listed)
    columns = tuple(
        (
            _column(place, named[name]),
            sum_of(when(condition).then(1).otherwise(0), 0, 1),
        )
        for place, (name, _, condition) in enumerate(listed)
    )
    shares = tuple(weights.shares[name] for name in names)
    first = named[names[0]]
    request = replace(
        first, rows=listed[0][1], columns=columns, weights=shares, processing=()
    )
    return Survey(names, request)


def _column(place: int, request: Request) -> str:
    """Name of a count among others: no key of its groups has it."""
    return max(request.by, key=len, default="") + f" {place}"


def _tell_apart(
    together: Bundle,
    surveys: tuple[Survey, ...],
    named: Mapping[str, Request],
    catalog: AbstractCatalog,
    weights: RequestWeights,
) -> Bundle:
    """Return each count of surveys as if it were bought by itself, with its noise."""
    bought = dict(together.purchases)
    places: dict[str, tuple[str, str]] = {}
    for survey in surveys:
        whole = bought[survey.names[0]]
        for place, name in enumerate(survey.names):
            column, _ = survey.request.columns[place]
            places[name] = survey.names[0], column
            bought[name] = replace(
                whole,
                plan=_plan_of_column(whole.plan, place, named[name], catalog),
                budget=together.budget.times(weights.shares[name]),
                share=weights.describe(name),
                counted_with=len(survey.names),
            )
    return Bundle(
        {name: bought[name] for name in named},
        together.budget,
        together.gain,
        weights,
        {survey.names[0]: together.purchases[survey.names[0]] for survey in surveys},
        places,
    )


def _plan_of_column(
    whole: Plan, place: int, request: Request, catalog: AbstractCatalog
) -> Plan:
    """Plan of one count of a survey: its estimator, with the shares that it has."""
    estimator = whole.estimators[place]
    keys = [measurement.key for measurement in estimator.measurements]
    return replace(
        whole,
        request=request,
        relation=request.rows.resolve(catalog),
        estimators=(estimator,),
        weights=(Fraction(1),),
        measurements={key: whole.measurements[key] for key in keys},
        shares={key: whole.shares[key] for key in keys},
    )


@final
@dataclass(frozen=True, eq=False)
class _Search:
    """Requests that are to be answered together within (epsilon, delta)."""

    ways: Ways
    groups: Names
    budget: ApproxDP
    weights: RequestWeights
    seen: dict[float, Bundle] = field(default_factory=dict)
    """What was tried, by gain."""

    def better(self, best: Bundle) -> Bundle:
        """Return the bundle with the greatest gain, or the best so far if it errs less.

        Errors fall as the gain grows, so the least gain that would do better is tried
        first: often it is already too much, and no search is needed.
        """
        most = float(len(self.ways))
        behind = (self.bundle_at(1.0).score - best.score) / most
        needed = math.exp(min(max(behind, 0.0), math.log(most)))
        token = COARSENESS.set(_COARSE)
        try:
            if self._excess(1 / needed) > 0:
                return best
            shrink = find_crossing(self._excess, 1 / most, 1 / needed, _CLOSE)
        finally:
            COARSENESS.reset(token)
        return min(best, self.bundle_at(1 / shrink), key=lambda bundle: bundle.score)

    def bundle_at(self, gain: float) -> Bundle:
        """Return the bundle in which each request has `gain` times its share."""
        if gain not in self.seen:
            keys = any(way.request.selects_keys for way, *_ in self.ways.values())
            larger = ApproxDP(
                self.budget.epsilon * Fraction(gain),
                self.budget.delta * (_HALF if keys else _WHOLE),
            )
            purchases = _each(self.ways, self.groups, larger, self.weights, gain)
            self.seen[gain] = Bundle(purchases, self.budget, gain, self.weights)
        return self.seen[gain]

    def _excess(self, shrink: float) -> float:
        """Return how far the composed curve is beyond the budget, in logarithms."""
        loss = self.bundle_at(1 / shrink).loss
        delta = float(loss.delta_at(down(self.budget.epsilon)))
        beyond = max(math.log(max(delta, 1e-300) / float(self.budget.delta)), _DEEPEST)
        # doubles lead the search; whether a loss is within is decided exactly
        if self.budget.admits(loss):
            return min(beyond, 0.0)
        return max(beyond, math.ulp(1.0))
