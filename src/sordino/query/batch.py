"""Several requests priced together: one budget, spent on all of their curves at once.

Charged one by one, requests under (epsilon, delta) add up their epsilons and deltas.
Planned together their losses are composed as curves, and what that saves is given back
as less noise: each gets `gain` times its share of epsilon.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, Final, final

from sordino.errors import InvalidParameter
from sordino.losses.base import Budget, Loss, compose
from sordino.losses.closed import ZCDP, ApproxDP, ApproxZCDP, GaussianDP, PureDP
from sordino.losses.root import least
from sordino.numbers import sqrt
from sordino.query.price import Price, price
from sordino.query.relation import AbstractCatalog
from sordino.query.request import FAMILIES, Request
from sordino.units import column_name

_HALF: Final = Fraction(1, 2)
_CLOSE: Final = 2.0**-7
_MOST: Final = 64.0
"""No batch is worth more than so many times its parts: what a search tries at most."""


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
    share = Fraction(1, len(named))
    alone = Batch(_priced(named, catalog, _part(budget, share)), budget, 1.0)
    if not isinstance(budget, ApproxDP) or budget.delta == 0 or len(named) == 1:
        return alone
    # what errs least alone need not do so in company: each family is tried for all
    tried = [alone]
    for family in FAMILIES:
        like = {n: replace(one, noise=one.noise or family) for n, one in named.items()}
        tried += _planned(like, catalog, budget)
    return min(tried, key=_score)


def _planned(
    named: dict[str, Request], catalog: AbstractCatalog, budget: ApproxDP
) -> list[Batch]:
    """Return the batch with the greatest gain whose composed curve is within."""
    share = Fraction(1, len(named))
    keys = any(one.selects_keys for one in named.values())
    delta = budget.delta * share * (_HALF if keys else 1)

    def tried(gain: float) -> dict[str, Price]:
        epsilon = budget.epsilon * share * Fraction(gain)
        return _priced(named, catalog, ApproxDP(epsilon, delta))

    def within(shrink: float) -> bool:
        found = tried(1 / shrink)
        return budget.admits(compose([one.loss for one in found.values()]))

    shrink = least(within, 1 / _MOST, 1.0, _CLOSE)
    return [] if shrink > 1 else [Batch(tried(1 / shrink), budget, 1 / shrink)]


def _priced(
    named: dict[str, Request], catalog: AbstractCatalog, part: Budget
) -> dict[str, Price]:
    """Return the price of each request within its part of a budget."""
    return {name: price(one, catalog, part) for name, one in named.items()}


def _score(batch: Batch) -> float:
    """Return the mean logarithm of the errors of all answers; less is better."""
    return math.fsum(found.outlay.score for found in batch.prices.values())


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
        column_name(requests=name)
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
