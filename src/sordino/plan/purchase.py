"""What a budget buys: mechanisms and loss of each family; the plan as text.

Laplace noise and choices spend epsilon; Gaussian noise spends the square of mu. Under
(epsilon, delta) choices spend epsilon, and Gaussian noise the rest of it and delta
(docs/proofs/queries.md, section 6).

Kernel: sensitivity.
"""

import math
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import starmap
from typing import Any, Final, final

from sordino.aggregations.aggregation import Expected
from sordino.aggregations.measurement import (
    AbstractShare,
    ConcentratedShare,
    GaussianShare,
    Integers,
    LaplaceShare,
    largest_mu,
    told_numbers,
)
from sordino.errors import InvalidParameter, InvalidQuery
from sordino.losses.budgets.charge import Allowance
from sordino.losses.closed import ApproxDP
from sordino.losses.curves.points import COARSENESS
from sordino.losses.loss import Budget, Loss, compose
from sordino.noise.additive import AbstractAdditiveMechanism, AbstractMechanism
from sordino.noise.gaussian import Gaussian
from sordino.noise.key_rounds import KeyRounds, TopKeys, TopScores, fit_top_keys
from sordino.noise.sampling.bits import Bits
from sordino.noise.threshold.fitting import SPARE
from sordino.numbers import Exact, frozen
from sordino.numbers.formatting import format_percent
from sordino.plan.candidates import plans
from sordino.plan.keys_first import buy_rounds, first_shares
from sordino.plan.plan import Plan
from sordino.query.nodes import AbstractNode
from sordino.query.request import Request
from sordino.query.steps import AbstractCatalog

_EVEN: Final = Fraction(1, 2)
_BY_KEY: Final = {"noise", "choices", "coverage"}
"""What a purchase knows of each measurement, choice and count, by its key."""


@final
@dataclass(frozen=True, eq=False)
class Purchase:
    """The mechanisms of a plan, and what they cost together."""

    plan: Plan
    budget: Budget
    joint: AbstractShare
    """What measurements of groups may spend together, for a share of 1."""
    apart: AbstractShare
    """What choices and coverage may spend, each by itself."""
    delta: Fraction
    """The chance that a group shows which is new, where groups are not known."""
    limit: ApproxDP | None = None
    """What the measurements' loss must be within, if that remains to be checked."""
    rounds: KeyRounds | None = None
    """Noise and thresholds of keys that are shown in rounds."""
    first: TopKeys | None = None
    """The choices of the first few groups, where no others are told."""
    gain: float = 1.0
    """How many times its share of epsilon it has, of a budget that several share."""

    share: str = ""
    """Which part of a budget it has that several share by weights, in words."""
    counted_with: int = 0
    """How many counts of the same rows are measured with it as one survey."""

    @property
    def survey(self) -> str:
        """By what a count is measured that is one of several, in words."""
        if not self.counted_with:
            return ""
        return f"{self.counted_with} counts of the same rows, measured as one survey"

    def alike(self, plan: Plan, gain: float, share: str) -> "Purchase":
        """Return the same noise for a plan that is priced alike, and what is known.

        But for what is listed by key: the other plan has keys of its own.
        """
        known = {name: fact for name, fact in vars(self).items() if name not in _BY_KEY}
        new = {"plan": plan, "gain": gain, "share": share}
        return frozen.make(Purchase, **known | new)

    @cached_property
    def selection(self) -> Any:
        """Return noise and threshold of what shows which groups exist, or None."""
        presence = self.plan.presence
        if presence is None or self.rounds is not None:
            return self.rounds
        if self.first is not None:
            return self.first
        share = self.joint.times(self.plan.shares[presence.key])
        return presence.selection(share, self.delta)

    @cached_property
    def noise(self) -> Mapping[Hashable, AbstractAdditiveMechanism]:
        """Return the noise of the measurements that are not selected by."""
        plan = self.plan
        return {
            # exact shares that add up to 1: no part of the budget is bought twice
            key: measurement.mechanism(self.joint.times(plan.shares[key]))
            for key, measurement in plan.measurements.items()
            if plan.presence is None or key != plan.presence.key
        }

    @cached_property
    def choices(self) -> Mapping[Hashable, AbstractMechanism]:
        """Return the mechanisms of choices."""
        return {
            key: choice.mechanism(self._share_apart(key))
            for key, choice in self.plan.choices.items()
        }

    @cached_property
    def coverage(self) -> Mapping[Hashable, AbstractAdditiveMechanism]:
        """Return the noise of the counts of what was left out."""
        return {
            key: count.measurement.mechanism(self._share_apart(key))
            for key, count in self.plan.coverage.items()
        }

    @cached_property
    def additive_loss(self) -> Loss:
        """Return the loss of all measurements of groups, jointly with the selection."""
        plan = self.plan
        noise = [
            (mechanism, plan.change_beside(key))
            for key, mechanism in self.noise.items()
        ]
        if self.rounds is not None:
            return self.rounds.loss(tuple(starmap(told_numbers, noise)))
        if self.first is not None:
            others = [mechanism.map(change) for mechanism, change in noise]
            return self._first_loss(others)
        presence = None if plan.presence is None else plan.presence.whole
        return self.joint.loss_of(self.selection, presence, noise)

    def _first_loss(self, others: Sequence[Loss]) -> Loss:
        """Return the loss of choices, by what they are within if more is told."""
        assert self.first is not None  # noqa: S101 asked where groups are chosen
        return compose([self.first.limit, *others]) if others else self.first.loss

    @property
    def stages(self) -> int:
        """Return in how many rounds keys are shown first."""
        return 1 if self.rounds is None else len(self.rounds.thresholds)

    def select(self, totals: Integers, place: int) -> Integers:
        """Return the places of exact totals whose keys pass a round."""
        if self.rounds is not None:
            return self.rounds.select(totals, place).rows
        if self.first is not None:
            return self.first.select(totals).rows
        assert self.plan.presence is not None  # noqa: S101 it shows the keys
        return self.plan.presence.select(self.selection, [totals], Bits())[0]

    @property
    def is_within(self) -> bool:
        """Tell whether the very loss that will be charged is within its limit."""
        return self.limit is None or _admits(
            self.limit, self.additive_loss, COARSENESS.get()
        )

    @cached_property
    def plan_text(self) -> str:
        """Return the answers, their noise, groups and rows, one line each."""
        return _write_plan(self)

    @cached_property
    def losses_apart(self) -> tuple[Loss, ...]:
        """Return the losses of choices and coverage: they compose with any others."""
        choices = [
            choice.loss(self._share_apart(key))
            for key, choice in self.plan.choices.items()
        ]
        coverage = [
            mechanism.map(self.plan.coverage[key].measurement.change)
            for key, mechanism in self.coverage.items()
        ]
        return (*choices, *coverage)

    @cached_property
    def loss(self) -> Loss:
        """Return the loss of everything that is released.

        Rounds are composed with choices by what they are within: tables of their curve
        would tell a thousandth more.
        """
        apart = self.losses_apart
        if self.rounds is not None and self.limit is not None and apart:
            return compose([self.limit, *apart])
        if self.first is not None and not self.noise:
            return self._first_loss(apart)
        return compose([self.additive_loss, *apart])

    @cached_property
    def mechanisms(self) -> tuple[tuple[AbstractMechanism, ...], ...]:
        """Return the mechanisms behind each column, in the order of what it needs."""
        presence = self.plan.presence
        known: dict[Hashable, AbstractMechanism] = {**self.noise, **self.choices}
        if presence is not None:
            known[presence.key] = self.selection
        return tuple(
            tuple(known[measurement.key] for measurement in estimator.measurements)
            for estimator in self.plan.estimators
        )

    def expected_error(self, place: int, confidence: Fraction) -> Expected:
        """Return how far a column will be off."""
        estimator = self.plan.estimators[place]
        return estimator.expected_error(self.mechanisms[place], confidence)

    @cached_property
    def errors(self) -> dict[str, Expected]:
        """Return how far each column will be off, as far as that is known."""
        request = self.plan.request
        return {
            name: self.expected_error(place, request.confidence)
            for place, (name, _) in enumerate(request.columns)
        }

    @cached_property
    def score(self) -> float:
        """Return the mean logarithm of the errors of columns; less is better.

        Where only keys are asked for, it is that of the threshold.
        """
        if not self.plan.estimators and self.first is None:
            return math.log(max(self.level or 1, 1))
        moved = [
            (float(weight), self._deviation(place))
            for place, weight in enumerate(self.plan.weights)
            if self.plan.estimators[place].measurements
        ]
        presence = self.plan.presence
        if self.first is not None and presence is not None:
            share = float(self.plan.shares[presence.key])
            moved.append((share, self.first.scale))
        logarithms = math.fsum(weight * math.log(sd) for weight, sd in moved)
        return logarithms / (math.fsum(weight for weight, _ in moved) or 1.0)

    @property
    def level(self) -> Fraction | None:
        """Return how many must be counted in a group to show it, if any is hidden."""
        presence, least = self.plan.presence, self.plan.request.minimum
        if presence is None:
            return least
        if self.first is not None:
            return self.first.least if self.plan.hides_keys else None
        level = presence.level(self.selection)
        if least is None or self.plan.counted is not presence:
            return level
        return max(level, least)

    @property
    def least_shown(self) -> tuple[Fraction, str] | None:
        """Return from how many of what on a group shows, if any is hidden."""
        if self.rounds is not None:
            return self.rounds.thresholds[-1], "ids that have no other group left"
        unit = "rows" if self.plan.relation.ids is None else "ids"
        if self.plan.request.few is not None:
            unit = f"of {self.plan.request.few.by!r}"
        return None if self.level is None else (self.level, unit)

    def _deviation(self, place: int) -> float:
        """Return the deviation of a column, in a typical group."""
        estimator, mechanisms = self.plan.estimators[place], self.mechanisms[place]
        if estimator.chooses:
            return estimator.expected_error(mechanisms, _EVEN).sd
        each = zip(estimator.measurements, mechanisms, estimator.slopes, strict=True)
        return math.hypot(
            *(
                math.sqrt(slope) * measurement.noise(noise).sd
                for measurement, noise, slope in each
            )
        )

    def _share_apart(self, key: Hashable) -> AbstractShare:
        """Return the share of a choice, or of a count of what was left out."""
        return self.apart.times(self.plan.shares[key])


@lru_cache(maxsize=64)
def _admits(limit: ApproxDP, loss: Loss, coarseness: float) -> bool:
    """Tell whether a loss is within a limit; requests of a batch share the answer."""
    del coarseness  # by which the answer may differ
    return limit.admits(loss)


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
        raise _unaffordable(ways[0], budget)
    return _best_within(options)


def _best_within(options: list[Purchase]) -> Purchase:
    """Return the purchase that errs least, among those within their limits.

    Noise beside a selection of keys is found by a closed form. Only if it errs less
    than all others its loss is composed, and where that is beyond the limit, by an
    error of doubles, it gets a little more noise and is compared anew.
    """
    for _ in range(_TRIES):
        best = min(options, key=lambda purchase: purchase.score)
        # asked of the very loss that is charged, not of the closed form that found it
        if best.is_within:
            return best
        # less to spend is more noise: it can only become cheaper
        options[options.index(best)] = replace(best, joint=best.joint.times(_LESS))
    raise InvalidParameter(
        "budget",
        best.limit,
        "is too small for unknown keys",
        "Use a larger budget, or group by a sd.KeySet.",
    )


def purchase_of(plan: Plan, budget: Budget) -> Purchase | None:
    """Mechanisms that a budget buys for a plan; None: its noise cannot serve."""
    allowance = plan.spendable(budget).allowance(plan.family)
    # without a delta no threshold hides that a group is new
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
    share = LaplaceShare(allowance.amount)
    return Purchase(plan, budget, share, share, allowance.delta)


def _gaussian(plan: Plan, budget: Budget, allowance: Allowance) -> Purchase | None:
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
    """Purchase under (epsilon, delta): choices have their shares of epsilon.

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


def _unaffordable(plan: Plan, budget: Budget) -> InvalidQuery:
    """Return the refusal of a request that no family of noise can serve."""
    if plan.request.selects_keys:
        return InvalidQuery(
            f"groups with unknown keys need a delta, and {budget!r} has none",
            'Use sd.ApproxDP(1, "1e-6"), or group by a sd.KeySet.',
            needs=("delta",),
        )
    other = "" if plan.request.noise is None else 'noise="laplace", or '
    return InvalidQuery(
        f"{budget!r} cannot pay for {plan.family} noise",
        f"Use {other}a budget with a delta.",
    )


def _write_plan(purchase: Purchase) -> str:
    plan, request = purchase.plan, purchase.plan.request
    lines = [purchase.survey] if purchase.survey else []
    if purchase.selection is not None:
        verb = "keep groups that pass"
        if request.few is not None:
            verb = f"rank by {request.few.by!r}:"
        lines.append(f"{verb} {purchase.selection!r}")
    for place, (name, aggregation) in enumerate(request.columns):
        noise = ", ".join(map(repr, purchase.mechanisms[place]))
        lines.append(f"{name} = {aggregation!r} with {noise}")
    for key, counted in plan.coverage.items():
        lines.append(f"{counted} with {purchase.coverage[key]!r}")
    if request.minimum is not None:
        lines.append(
            f"leave out groups below {float(request.minimum):g}, by noisy count"
            + _share_of_minimum(plan)
        )
    lines.append(group_line(plan))
    return "\n".join([*lines, *node_lines(plan.relation.node, "")])


def _share_of_minimum(plan: Plan) -> str:
    """Say what a reader's minimum takes of the budget, where no answer counts it."""
    parts = (estimator.measurements for estimator in plan.estimators)
    keys = {measurement.key for measurements in parts for measurement in measurements}
    counted = plan.counted
    if counted is None or counted is plan.presence or counted.key in keys:
        return ""
    share = Fraction(round(100 * plan.shares[counted.key]), 100)
    return f", which takes {format_percent(share)} of the budget"


def rank_lines(purchase: Purchase) -> Iterator[str]:
    """Yield how sharply the first few groups are told apart, if they are chosen."""
    few, first = purchase.plan.request.few, purchase.first
    if few is None or first is None:
        return
    confidence = purchase.plan.request.confidence
    distance = first.distance_apart(float(confidence))
    yield (
        f"rank by {few.by!r}: of two groups {distance:.3g} apart "
        f"the greater comes first with a chance of {format_percent(confidence)}"
    )


def group_line(plan: Plan) -> str:
    """Return which groups there are."""
    request = plan.request
    sorts = {"unknown": request.unknown, "known": request.known_columns}
    groups = [
        f"{', '.join(map(repr, names))} ({sort} keys)"
        for sort, names in sorts.items()
        if names
    ]
    return f"group by {', '.join(groups)}" if groups else "all rows together"


def node_lines(node: AbstractNode, indent: str) -> Iterator[str]:
    """Yield a line for each node, the rows it takes below it."""
    yield f"{indent}└─ {node.describe()}"
    for source in node.inputs:
        yield from node_lines(source, indent + "   ")
