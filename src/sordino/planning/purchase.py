"""What a layout buys: the noise of every part within a budget, and its exact loss."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, final

from sordino.aggregations.base import Expected
from sordino.errors import InvalidParameter
from sordino.losses.base import Budget, Loss, compose
from sordino.losses.closed import ApproxDP
from sordino.mechanisms.kit.threshold_fitting import SPARE
from sordino.mechanisms.mechanism import AbstractMechanism
from sordino.mechanisms.noise_mechanism import AbstractAdditiveMechanism
from sordino.mechanisms.threshold_mechanism import AbstractThresholdMechanism
from sordino.planning import families
from sordino.planning.families import AbstractAllowance
from sordino.planning.joint import largest_mu
from sordino.planning.plan import Plan

_EVEN: Final = Fraction(1, 2)
_LESS: Final = 1 - Fraction(1, 2**16)
_TRIES: Final = 200


@final
@dataclass(frozen=True)
class Purchase:
    """The mechanisms of a layout, by the keys of its parts, and what they cost."""

    plan: Plan
    noise: dict[Any, AbstractAdditiveMechanism]
    """Of the parts that are not selected by."""
    choices: dict[Any, AbstractMechanism]
    selection: AbstractThresholdMechanism | None
    """Noise and threshold of the part that shows which groups exist."""
    coverage: dict[Any, AbstractAdditiveMechanism]
    additive_loss: Loss
    losses_apart: tuple[Loss, ...]
    """Of choices and of coverage: whatever the others are, these compose with them."""

    def mechanisms(self, place: int) -> tuple[AbstractMechanism, ...]:
        """Return the mechanisms behind a column, in the order of its parts."""
        return tuple(
            self.behind[part.key] for part in self.plan.estimators[place].measurements
        )

    @property
    def behind(self) -> dict[Any, AbstractMechanism]:
        """Return the mechanism of every part."""
        known: dict[Any, AbstractMechanism] = {**self.noise, **self.choices}
        if self.selection is not None and self.plan.presence is not None:
            known[self.plan.presence.key] = self.selection
        return known

    def expected(self, place: int, confidence: Fraction) -> Expected:
        """Return how far a column will be off."""
        return self.plan.estimators[place].expected(self.mechanisms(place), confidence)

    @property
    def score(self) -> float:
        """Return the mean logarithm of the errors of the columns; less is better.

        Where only keys are asked for, it is that of the threshold.
        """
        if not self.plan.estimators:
            level = self.selection.threshold if self.selection else Fraction(1)
            return math.log(max(level, Fraction(1)))
        return math.fsum(
            float(weight) * math.log(self.expected(place, _EVEN).sd)
            for place, weight in enumerate(self.plan.weights)
        )

    @property
    def loss(self) -> Loss:
        """Return the loss of everything that is released."""
        return compose([self.additive_loss, *self.losses_apart])


def purchases(
    plan: Plan, budget: Budget, family: str | None = None
) -> dict[str, Purchase]:
    """Return what each family of noise, or one, buys; none that cannot serve."""
    found = {
        name: allowed(plan, budget)
        for name, allowed in _ALLOWANCES.items()
        if family in {None, name}
    }
    return {
        name: _bought(plan, spent)
        for name, spent in found.items()
        if spent is not None and (plan.presence is None or spent.delta > 0)
    }


def _gaussian(layout: Plan, budget: Budget) -> AbstractAllowance | None:
    """Return what a budget allows Gaussian noise, also beside a threshold."""
    mu_of = None if layout.presence is None else _mu_of(layout)
    return families.gaussian(budget, layout.apart, mu_of)


_ALLOWANCES: Final[dict[str, Callable[[Plan, Budget], AbstractAllowance | None]]] = {
    "laplace": lambda _, budget: families.laplace(budget),
    "gaussian": _gaussian,
}


def _mu_of(layout: Plan) -> Callable[[ApproxDP], Fraction]:
    """Return the search for the largest mu beside a threshold.

    The closed form is followed by a check of the very loss that will be charged.
    """

    def mu_of(rest: ApproxDP) -> Fraction:
        mu = largest_mu(layout, rest)
        for _ in range(_TRIES):
            probe = families.MixedAllowance(Fraction(1), mu, rest.delta * SPARE)
            if rest.admits(_bought(layout, probe).additive_loss):
                return mu
            mu *= _LESS
        raise InvalidParameter(
            "budget", rest, "is too small for unknown keys", "Ask for a larger one."
        )

    return mu_of


def _bought(layout: Plan, allowed: AbstractAllowance) -> Purchase:
    """Return the mechanisms that an allowance buys."""
    apart = layout.apart
    presence = layout.presence
    noise = {
        key: part.mechanism(allowed.share(weight, apart))
        for key, (part, weight) in layout.additive.items()
        if presence is None or key != presence.key
    }
    shares = {
        key: allowed.choice(weight) for key, (_, weight) in layout.choices.items()
    }
    choices = {
        key: part.mechanism(shares[key]) for key, (part, _) in layout.choices.items()
    }
    selection = None
    if presence is not None:
        share = allowed.share(layout.additive[presence.key][1], apart)
        selection = share.thresholded(presence.change, allowed.delta)
    changes = {key: layout.additive[key][0].change for key in noise}
    loss = allowed.together(
        [(one, changes[key]) for key, one in noise.items()],
        selection,
        None if presence is None else presence.change,
    )
    coverage = {
        key: one.part.mechanism(allowed.apart(weight))
        for key, (one, weight) in layout.coverage.items()
    }
    spent = [share.loss for share in shares.values()]
    spent += [
        one.map(layout.coverage[key][0].part.change) for key, one in coverage.items()
    ]
    return Purchase(layout, noise, choices, selection, coverage, loss, tuple(spent))
