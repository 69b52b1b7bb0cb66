"""Several requests bought together: one budget, spent on all of their curves at once.

Charged one by one, requests under (epsilon, delta) add up their epsilons and deltas.
Planned together their losses are composed as curves, and what that saves is given back
as less noise: each gets `gain` times its share of epsilon.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Final, TypeAlias, final

from sordino.curves.coarseness import COARSENESS
from sordino.curves.search import find_crossing
from sordino.errors import InvalidParameter
from sordino.losses.base import Budget, Loss, compose
from sordino.losses.closed import ApproxDP
from sordino.numbers import down
from sordino.planning.alike import alike_names
from sordino.planning.buying import best_of
from sordino.planning.plan import Plan
from sordino.planning.purchase import Purchase
from sordino.planning.request_weights import RequestWeights
from sordino.planning.ways import plans
from sordino.query.relation import AbstractCatalog
from sordino.query.request import FAMILIES, Request, refuse_large

if TYPE_CHECKING:
    from sordino.losses.allowance import Family

Ways: TypeAlias = Mapping[str, tuple[Plan, ...]]
"""The plans of each request, by its name."""
Names: TypeAlias = list[list[str]]
"""Names of requests that are priced alike, together."""

_HALF: Final = Fraction(1, 2)
_WHOLE: Final = Fraction(1)
_CLOSE: Final = 2.0**-7
_COARSE: Final = 4.0
"""How much coarser the grids of the search are: their bounds are true, only looser."""
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

    @cached_property
    def loss(self) -> Loss:
        """Return the loss of all of them, composed as curves."""
        return compose([purchase.loss for purchase in self.purchases.values()])

    @cached_property
    def score(self) -> float:
        """Return the sum of the mean logarithms of their errors; less is better."""
        return math.fsum(purchase.score for purchase in self.purchases.values())


def best_bundle(
    named: dict[str, Request],
    catalog: AbstractCatalog,
    budget: Budget,
    weights: RequestWeights,
) -> Bundle:
    """Return the least noise for requests that share one budget by their weights."""
    refuse_large(named.values())
    if not isinstance(budget, Budget):
        raise InvalidParameter(
            "budget", budget, "must be a budget", 'Try sd.ApproxDP(1, "1e-6").'
        )
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
    """Return what its share of the budget buys for each request.

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
        if self.budget.admits(loss):
            return min(beyond, 0.0)
        return max(beyond, math.ulp(1.0))
