"""The buying of a plan: what a budget pays for in each family, and the best of them.

Laplace noise and choices spend epsilon; Gaussian noise spends the square of mu. Under
(epsilon, delta) choices spend epsilon, and Gaussian noise the rest of it and delta.
"""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from typing import Final

from sordino.aggregations.keys_and_noise import largest_mu
from sordino.aggregations.shares import (
    AbstractShare,
    ConcentratedShare,
    GaussianShare,
    LaplaceShare,
)
from sordino.errors import InvalidParameter, InvalidQuery
from sordino.losses.allowance import Allowance
from sordino.losses.base import Budget
from sordino.losses.closed import ApproxDP
from sordino.mechanisms.gaussian import Gaussian
from sordino.mechanisms.kit.threshold_fitting import SPARE
from sordino.mechanisms.kit.top_keys import TopScores, fit_top_keys
from sordino.numbers import Exact
from sordino.planning.first_shares import first_shares
from sordino.planning.plan import Plan
from sordino.planning.purchase import Purchase
from sordino.planning.ways import plans
from sordino.planning.weighted_keys import buy_rounds
from sordino.query.relation import AbstractCatalog
from sordino.query.request import Request

_LESS: Final = (1 - Fraction(1, 2**16)) ** 2
_TRIES: Final = 200


def best_purchase(
    request: Request, catalog: AbstractCatalog, budget: Budget
) -> Purchase:
    """Return the least noise that a budget buys for a request.

    Of the plans, and of the families of noise, the one with the least expected error is
    taken; the choice depends on public facts alone.
    """
    if not isinstance(budget, Budget):
        raise InvalidParameter(
            "budget", budget, "must be a budget", 'Try sd.ApproxDP(1, "1e-6").'
        )
    return best_of(plans(request, catalog), budget)


def best_of(ways: Sequence[Plan], budget: Budget) -> Purchase:
    """Return the least noise that a budget buys for one of the plans of a request."""
    bought = (purchase_of(plan, budget) for plan in ways)
    options = [purchase for purchase in bought if purchase is not None]
    if not options:
        raise _unaffordable(ways[0].request, budget)
    return _best_within(options)


def _best_within(options: list[Purchase]) -> Purchase:
    """Return the purchase that errs least, among those within their limits.

    Noise beside a selection of keys is found by a closed form. Only if it errs less
    than all others its loss is composed, and where that is beyond the limit, by an
    error of doubles, it gets a little more noise and is compared anew.
    """
    for _ in range(_TRIES):
        best = min(options, key=lambda purchase: purchase.score)
        if best.is_within:
            return best
        options[options.index(best)] = replace(best, joint=best.joint.times(_LESS))
    raise InvalidParameter(
        "budget",
        best.limit,
        "is too small for unknown keys",
        "Use a larger budget, or group by a sd.KeySet.",
    )


def purchase_of(plan: Plan, budget: Budget) -> Purchase | None:
    """Return what a budget buys for a plan, None where its noise cannot serve."""
    allowance = plan.spendable(budget).allowance(plan.family)
    if allowance is None or (plan.hides_keys and allowance.delta == 0):
        return None
    if plan.scores is not None:
        return _buy_first(plan, plan.scores, budget, allowance)
    if plan.in_rounds:
        return _buy_in_rounds(plan, budget, allowance)
    return _BUY[plan.family](plan, budget, allowance)


def _buy_first(
    plan: Plan, scores: TopScores, budget: Budget, allowance: Allowance
) -> Purchase:
    """Return the choices of the first few groups, and the noise of their numbers."""
    assert plan.presence is not None  # noqa: S101 the scores are measured
    choice = plan.shares[plan.presence.key]
    columns = 1 - plan.share_apart - choice
    shares = first_shares(plan.family, allowance, choice, columns)
    top = fit_top_keys(scores, shares.choice)
    delta = allowance.delta
    return Purchase(plan, budget, shares.joint, shares.apart, delta, first=top)


def _buy_in_rounds(plan: Plan, budget: Budget, allowance: Allowance) -> Purchase | None:
    """Return the rounds that Gaussian noise buys beside the other columns of the keys.

    What the search in doubles found is within the budget for any columns with this
    share of mu squared, however it lies among the keys: these columns lose no more.
    """
    presence, left = plan.presence, 1 - plan.share_apart
    assert presence is not None  # noqa: S101 it shows the keys
    beside = 1 - plan.shares[presence.key] / left
    rest = replace(allowance, amount=allowance.amount * left)
    rounds = buy_rounds(int(presence.change.l0), rest, beside)
    if rounds is None:
        return None
    square = sum((1 / variance for variance in rounds.variances), Fraction(0)) / (
        1 - beside
    )
    if allowance.parameter == "rho":
        joint = ConcentratedShare(square / left)
        return Purchase(plan, budget, joint, joint, allowance.delta, rounds=rounds)
    limit = ApproxDP(rest.amount, allowance.delta)
    apart, share = LaplaceShare(allowance.amount), GaussianShare(square / left)
    return Purchase(plan, budget, share, apart, allowance.delta, limit, rounds)


def _laplace(plan: Plan, budget: Budget, allowance: Allowance) -> Purchase:
    """Return what an epsilon buys."""
    share = LaplaceShare(allowance.amount)
    return Purchase(plan, budget, share, share, allowance.delta)


def _gaussian(plan: Plan, budget: Budget, allowance: Allowance) -> Purchase | None:
    """Return what rho or mu buys, or what Gaussian noise may have of an epsilon."""
    share: AbstractShare
    match allowance.parameter:
        case "rho":
            share = ConcentratedShare(2 * allowance.amount)
        case "mu":
            share = GaussianShare(allowance.amount**2)
        case _:
            return _buy_mixture(plan, budget, allowance)
    return Purchase(plan, budget, share, share, allowance.delta)


def _buy_mixture(plan: Plan, budget: Budget, allowance: Allowance) -> Purchase | None:
    """Return what (epsilon, delta) buys: choices have their shares of epsilon.

    Gaussian noise has delta and the rest of epsilon, if anything is to have noise.
    """
    left = 1 - plan.share_apart
    if left == 0:
        return None
    rest = ApproxDP(allowance.amount * left, allowance.delta)
    apart = LaplaceShare(allowance.amount)
    if plan.presence is None:
        square = mu_within(rest) ** 2
        if plan.is_by_row:  # up to there delta falls as fast as the rows of a unit
            square = min(square, 2 * allowance.amount * left)
        joint = GaussianShare(square / left)
        return Purchase(plan, budget, joint, apart, allowance.delta)
    changes = [plan.change_beside(key) for key in plan.measurements]
    joint = GaussianShare(largest_mu(plan.presence.whole, changes, rest) ** 2 / left)
    delta = allowance.delta * SPARE
    return Purchase(plan, budget, joint, apart, delta, rest)


@lru_cache(maxsize=64)
def mu_within(budget: ApproxDP) -> Exact:
    """Return the largest mu within (epsilon, delta); requests of a batch share it."""
    return 1 / Gaussian.for_loss(budget, 1).scale


_BUY: Final = {"laplace": _laplace, "gaussian": _gaussian}


def _unaffordable(request: Request, budget: Budget) -> InvalidQuery:
    """Return the refusal of a request that no family of noise can serve."""
    if request.selects_keys:
        return InvalidQuery(
            f"groups with unknown keys need a delta, and {budget!r} has none",
            'Use sd.ApproxDP(1, "1e-6"), or group by a sd.KeySet.',
        )
    return InvalidQuery(
        f"{budget!r} cannot pay for {request.noise} noise",
        'Use noise="laplace", or a budget with a delta.',
    )
