"""Several requests priced together: one budget, spent on all of their curves at once.

Charged one by one, requests under (epsilon, delta) add up their epsilons and deltas.
Planned together their losses are composed as curves, and what that saves is given back
as less noise: each gets `gain` times its share of epsilon.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, Final, final

from sordino import _validate
from sordino.errors import InvalidParameter
from sordino.losses.base import Budget, Loss, compose
from sordino.losses.closed import ZCDP, ApproxDP, ApproxZCDP, GaussianDP, PureDP
from sordino.losses.coarseness import COARSENESS
from sordino.losses.root import crossing
from sordino.numbers import down, sqrt
from sordino.planning.price import Price, price
from sordino.query.relation import AbstractCatalog
from sordino.query.request import FAMILIES, Family, Request, refuse_large

_HALF: Final = Fraction(1, 2)
_CLOSE: Final = 2.0**-7
_COARSE: Final = 4.0
"""How much coarser the grids of the search are: their bounds are true, only looser."""
_DEEPEST: Final = -60.0
"""The logarithm that stands for those of all deltas too small to follow."""


@final
@dataclass(frozen=True, eq=False, repr=False)
class Batch:
    """The prices of requests that are planned together, by name."""

    prices: dict[str, Price]
    budget: Budget
    gain: float
    """How many times its share of epsilon each request gets."""

    @cached_property
    def loss(self) -> Loss:
        """Return the loss of all of them, composed as curves."""
        return compose([found.loss for found in self.prices.values()])

    @cached_property
    def score(self) -> float:
        """Return the sum of the mean logarithms of their errors; less is better."""
        return math.fsum(found.purchase.score for found in self.prices.values())

    def __repr__(self) -> str:
        """Show each price, and what planning together saves."""
        shown = [f"{name}:\n{_indented(found)}" for name, found in self.prices.items()]
        saved = f"together: each has {self.gain:.3g} times its share of the budget"
        return "\n".join([*shown, saved])


def price_all(
    requests: Mapping[str, Any], catalog: AbstractCatalog, budget: Budget
) -> Batch:
    """Return the prices of requests that share one budget equally."""
    named = _checked(requests)
    refuse_large(named.values())
    part = _part(budget, Fraction(1, len(named)))
    prices = {name: price(one, catalog, part) for name, one in named.items()}
    best = alone = Batch(prices, budget, 1.0)
    if not isinstance(budget, ApproxDP) or budget.delta == 0 or len(named) == 1:
        return alone
    for alike in _alike(named, alone):
        best = _Search(alike, catalog, budget).better(best)
    return best


def _alike(named: dict[str, Request], alone: Batch) -> list[dict[str, Request]]:
    """Return the requests with one family of noise for all, and each with its own.

    What errs least alone need not do so in company. Gaussian noise comes first: its
    sums have a closed form, and what it reaches says whether others are worth a try.
    """
    found: list[dict[str, Request]] = []
    families: tuple[Family | None, ...] = (*reversed(FAMILIES), None)
    for family in families:
        alike = {
            # a request that only chooses has no noise of either family
            name: replace(one, noise=family)
            if one.noise is None and alone.prices[name].measurements
            else one
            for name, one in named.items()
        }
        found += [] if alike in found else [alike]
    return found


@final
@dataclass(frozen=True, eq=False)
class _Search:
    """Requests that are to be answered together within (epsilon, delta)."""

    named: dict[str, Request]
    catalog: AbstractCatalog
    budget: ApproxDP
    seen: dict[float, Batch] = field(default_factory=dict)
    """What was tried, by gain."""

    def better(self, best: Batch) -> Batch:
        """Return the batch with the greatest gain, or the best so far if it errs less.

        Errors fall as the gain grows, so the least gain that would do better is tried
        first: often it is already too much, and no search is needed.
        """
        most = float(len(self.named))
        behind = (self.at(1.0).score - best.score) / most
        needed = math.exp(min(max(behind, 0.0), math.log(most)))
        token = COARSENESS.set(_COARSE)
        try:
            if self._excess(1 / needed) > 0:
                return best
            shrink = crossing(self._excess, 1 / most, 1 / needed, _CLOSE)
        finally:
            COARSENESS.reset(token)
        return min(best, self.at(1 / shrink), key=lambda one: one.score)

    def at(self, gain: float) -> Batch:
        """Return the batch in which each request has `gain` times its share."""
        if gain not in self.seen:
            share = Fraction(1, len(self.named))
            keys = any(one.selects_keys for one in self.named.values())
            part = ApproxDP(
                self.budget.epsilon * share * Fraction(gain),
                self.budget.delta * share * (_HALF if keys else 1),
            )
            prices = {
                name: price(one, self.catalog, part) for name, one in self.named.items()
            }
            self.seen[gain] = Batch(prices, self.budget, gain)
        return self.seen[gain]

    def _excess(self, shrink: float) -> float:
        """Return how far the composed curve is beyond the budget, in logarithms."""
        loss = self.at(1 / shrink).loss
        found = float(loss.delta_at(down(self.budget.epsilon)))
        beyond = max(math.log(max(found, 1e-300) / float(self.budget.delta)), _DEEPEST)
        if self.budget.admits(loss):
            return min(beyond, 0.0)
        return max(beyond, math.ulp(1.0))


def _part(budget: Budget, share: Fraction) -> Budget:
    """Return a share of a budget, such that so many shares add up to it."""
    match budget:
        case PureDP():
            return PureDP(budget.epsilon * share)
        case ApproxDP():
            return ApproxDP(budget.epsilon * share, budget.delta * share)
        case ZCDP():
            return ZCDP(budget.rho * share)
        case ApproxZCDP():
            return ApproxZCDP(budget.rho * share, budget.delta * share)
        case GaussianDP():
            return GaussianDP(budget.mu * sqrt(share))
        case _:
            raise InvalidParameter(
                "budget",
                budget,
                "cannot be shared between requests",
                "State it as sd.GaussianDP or sd.ApproxDP.",
            )


def _checked(requests: Any) -> dict[str, Request]:
    """Return named requests, refusing what is none."""
    if not isinstance(requests, Mapping) or not requests:
        raise InvalidParameter(
            "requests", requests, "must name requests", 'Try {"by ward": query}.'
        )
    for name, one in requests.items():
        _validate.text(requests=name)
        if not isinstance(one, Request):
            raise InvalidParameter(
                f"requests[{name!r}]",
                one,
                "asks nothing yet",
                "End it with .agg(n=sd.count()).",
            )
    return dict(requests)


def _indented(found: Price) -> str:
    """Return a price a little to the right."""
    return "\n".join(f"  {line}" for line in repr(found).splitlines())
