"""Privacy loss as a value: headline parameters, and the attacker's error rates.

A loss bounds, for any two neighbouring databases and in both directions, how well
an attacker can tell them apart. All its answers are two views of one curve:

- `delta_at(epsilon)`: the least delta for which the release is (epsilon, delta)-DP;
- `tpr_at(alpha)`: how often the best attack finds a person when it may raise a
  false alarm with probability alpha; `beta_at(alpha)` is how often it misses.

Both views hold the same facts: tpr(alpha) is the least of delta(e) + exp(e) alpha
over all e. Every answer errs towards the attacker: delta, epsilon, tpr and advantage
are upper bounds, beta and the Bayes risk are lower bounds, rounding included. All of
them leave through the methods of `Loss` (docs/proofs/losses.md, section 6).
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import fields
from fractions import Fraction
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    Literal,
    Protocol,
    TypeAlias,
    overload,
    runtime_checkable,
)

import numpy as np

from sordino import _validate
from sordino._completion import hides
from sordino.curves import points
from sordino.curves.points import Answer, Floats, Many, One
from sordino.errors import InvalidParameter
from sordino.losses.explain import explain
from sordino.losses.guarantees import NOTHING, Guarantees
from sordino.losses.loss_page import loss_page
from sordino.losses.spending import Family, Spending
from sordino.numbers import Extended, Number, down, number_text, positive

if TYPE_CHECKING:
    from sordino.curves.laws.law import AbstractLossLaw
    from sordino.losses.tradeoff import TradeoffCurve


Counts: TypeAlias = "dict[Loss, int]"
"""Losses and how often each occurs."""
Pieces: TypeAlias = "tuple[Counts, dict[Fraction, int]]"
Stated: TypeAlias = Literal["epsilon", "rho", "mu", "advantage", "itself"]
"""The terms that a release is stated in under a budget."""


@runtime_checkable
class Budget(Protocol):
    """What may be spent: a loss, or a risk that an attacker may pose."""

    stated_by: ClassVar[Stated]

    def admits(self, loss: "Loss") -> bool:
        """Say whether this certainly covers a loss."""

    def spending(self, family: Family) -> Spending | None:
        """Return what a family of noise may spend, None where it may spend nothing."""

    def scaled(self, factor: Fraction) -> "Budget":
        """Return so many times this budget: what as many releases of it add up to."""


@hides(  # noqa: PLR0904 one value, with all views of it
    *("convolutions", "delta_beneath", "gains_by_rho", "laws", "profile", "scaled"),
    *("folded", "pieces", "spending", "stated_by", "sums", "words"),
)
class Loss(ABC):
    """What a release costs, or what may be spent.

    Proof obligation: for any two neighbouring databases, the trade-off curve between
    the two laws of outputs lies on or above `beta_at`.
    """

    if TYPE_CHECKING:  # the headline: which of these a loss has is seen when it runs

        @property
        def epsilon(self) -> Extended:
            """Return the exact epsilon, of losses that have one."""

        @property
        def delta(self) -> Fraction:
            """Return the exact delta, of losses that have one."""

        @property
        def rho(self) -> Extended:
            """Return the exact rho, of losses that have one."""

        @property
        def mu(self) -> Extended:
            """Return the exact mu, of losses that have one."""

    stated_by: ClassVar[Stated] = "itself"
    gains_by_rho: ClassVar[bool] = False
    """Whether `laws`, composed often, say more than the exact rho does."""

    @property
    @abstractmethod
    def guarantees(self) -> Guarantees:
        """Return the exact headline parameters."""

    @abstractmethod
    def laws(self) -> "tuple[AbstractLossLaw, ...]":
        """Return dominating laws of the loss: removing a unit, then adding one.

        One law alone serves both directions.
        """

    @abstractmethod
    def _delta(self, epsilon: Floats) -> Floats:
        """Return upper bounds on delta for epsilon >= 0."""

    @abstractmethod
    def _epsilon(self, delta: Floats) -> Floats:
        """Return upper bounds on the least epsilon >= 0, infinite where none serves."""

    @abstractmethod
    def _tpr(self, alpha: Floats) -> Floats:
        """Return upper bounds on the true positive rate."""

    @abstractmethod
    def _beta(self, alpha: Floats) -> Floats:
        """Return lower bounds on the false negative rate."""

    @overload
    def delta_at(self, epsilon: One) -> float: ...
    @overload
    def delta_at(self, epsilon: Many) -> Floats: ...

    def delta_at(self, epsilon: Any) -> Answer:
        """Return the least delta such that the release is (epsilon, delta)-DP.

        Below zero it follows from the other direction by exchanging the two laws:
        delta(-e) = 1 - exp(-e) (1 - delta(e)).
        """
        asked = points.read(-1, least=-np.inf, epsilon=epsilon)
        size, known = np.abs(asked.values), self.guarantees
        found = self._upper_delta(size)
        at_limit = asked.reaches(known.epsilon) | (np.isinf(size) & known.is_bounded)
        found = np.where(
            at_limit, np.minimum(found, points.double_of_bound(known.delta)), found
        )
        with np.errstate(all="ignore"):
            mirrored = points.grow(-np.expm1(-size) + np.exp(-size) * found)
        return asked.answer(np.where(asked.values < 0, np.minimum(mirrored, 1), found))

    def _upper_delta(self, epsilon: Floats) -> Floats:
        """Return bounds on delta for epsilon >= 0 that are finite and rounded up."""
        with np.errstate(all="ignore"):
            return points.raise_bounds(self._delta(epsilon))

    @overload
    def epsilon_at(self, delta: One) -> float: ...
    @overload
    def epsilon_at(self, delta: Many) -> Floats: ...

    def epsilon_at(self, delta: Any) -> Answer:
        """Return an epsilon such that the release is (epsilon, delta)-DP."""
        asked = points.read(-1, most=1.0, delta=delta)
        known = self.guarantees
        with np.errstate(all="ignore"):
            found = points.raise_epsilons(self._epsilon(asked.before))
        capped = np.minimum(found, points.double_of_bound(known.epsilon))
        found = np.where(asked.reaches(known.delta), capped, found)
        return asked.answer(np.where(asked.values >= 1, 0.0, found))

    @overload
    def tpr_at(self, alpha: One) -> float: ...
    @overload
    def tpr_at(self, alpha: Many) -> Floats: ...

    def tpr_at(self, alpha: Any) -> Answer:
        """Return the greatest true positive rate at a false positive rate alpha."""
        asked = points.read(1, most=1.0, alpha=alpha)
        known, values = self.guarantees, asked.values
        if known == NOTHING:
            return asked.answer(values)
        with np.errstate(all="ignore"):
            found = np.maximum(points.raise_bounds(self._tpr(values)), values)
        surely = points.double_of_bound(known.delta) if known.is_bounded else 1.0
        return asked.answer(np.where(values == 0, np.minimum(found, surely), found))

    @overload
    def beta_at(self, alpha: One) -> float: ...
    @overload
    def beta_at(self, alpha: Many) -> Floats: ...

    def beta_at(self, alpha: Any) -> Answer:
        """Return the least false negative rate at a false positive rate alpha."""
        asked = points.read(1, most=1.0, alpha=alpha)
        known, guess = self.guarantees, points.complement(asked.values)
        if known == NOTHING:
            return asked.answer(guess)
        with np.errstate(all="ignore"):
            found = np.minimum(points.lower_bounds(self._beta(asked.values)), guess)
        surely = down(1 - known.delta) if known.is_bounded else 0.0
        at_zero = asked.values == 0
        return asked.answer(np.where(at_zero, np.maximum(found, surely), found))

    def advantage(self) -> float:
        """Return the greatest true minus false positive rate, which is delta(0)."""
        return float(self.delta_at(0.0))

    @overload
    def bayes_risk(self, prior: One) -> float: ...
    @overload
    def bayes_risk(self, prior: Many) -> Floats: ...

    def bayes_risk(self, prior: Any) -> Answer:
        """Return the least chance of a wrong guess when the prior is `prior`.

        For a guesser who believes "this person is in" with probability `prior`: the
        minimum over tests of (1 - prior) alpha + prior beta. With prior <= 1/2 that is
        prior (1 - delta(ln((1 - prior)/prior))), and the mirror image above 1/2.
        """
        asked = points.read(1, most=1.0, prior=prior)
        rarer = np.minimum(asked.values, 1 - asked.values)
        with np.errstate(all="ignore"):
            log_odds = np.log1p(-rarer) - np.log(rarer)
            # an epsilon too small only enlarges delta
            log_odds = np.where(np.isfinite(log_odds), log_odds, 0.0)
            safe = np.maximum(points.shrink(log_odds) - points.ELEMENTARY, 0.0)
            risk = points.shrink(rarer * (1 - self._upper_delta(safe)))
        return asked.answer(np.maximum(risk, 0.0))

    def curve(self) -> "TradeoffCurve":
        """Return the trade-off curve as arrays that can be drawn."""
        from sordino.losses.tradeoff import TradeoffCurve  # noqa: PLC0415 a cycle

        return TradeoffCurve.of(self)

    def compose(self, *others: "Loss") -> "Loss":
        """Return the loss of this release together with others."""
        return compose([self, *others])

    def subsampled(self, q: Any) -> "Loss":
        """Return the loss on a Poisson sample: each unit kept with probability q."""
        from sordino.losses.subsampled import subsample  # noqa: PLC0415 a cycle

        return subsample(self, q)

    def admits(self, loss: "Loss") -> bool:
        """Say whether, as a budget, this certainly covers a loss.

        A loss without a closed form is a budget only for itself and for nothing.
        """
        return loss == self or loss.guarantees == NOTHING

    def pieces(self) -> Pieces:
        """Return what the loss comes apart into: losses, and chances of a breach.

        Each with how often it occurs, and none where nothing is revealed. For any
        release with this loss, all of them together bound what it reveals.
        """
        return ({} if self.guarantees == NOTHING else {self: 1}), {}

    @property
    def sums(self) -> dict[str, Extended]:
        """Return the parameters that add up from release to release, if they say all.

        They are named as filters name them; the square of mu is what adds up of mu.
        """
        return {}

    def spending(self, family: Family) -> Spending | None:
        """Return what a family of noise may spend, None where it may spend nothing.

        A loss without a closed form is a budget for no noise at all.
        """
        del family
        raise InvalidParameter(
            "budget", self, "allows nothing, or everything", "Try sd.PureDP(1)."
        )

    def scaled(self, factor: Fraction) -> "Budget":
        """Return so many times this budget: what as many releases of it add up to."""
        del factor
        raise InvalidParameter(
            "budget",
            self,
            "cannot be shared or multiplied",
            "State it as sd.PureDP, sd.ApproxDP, sd.ZCDP or sd.GaussianDP.",
        )

    def explain(self) -> str:
        """Return what the loss means to an attacker, in plain sentences."""
        return explain(self)

    def _repr_html_(self) -> str:  # noqa: PLW3201 the name notebooks look for
        """Show in a notebook what the loss means to an attacker, and its curve."""
        return loss_page(repr(self), self)

    def __repr__(self) -> str:
        """Show the call that makes an equal loss, with numbers that can be read."""
        named = (
            f"{field.name}={number_text(getattr(self, field.name))}"
            for field in fields(self)  # type: ignore[arg-type]
        )
        return f"{type(self).__name__}({', '.join(named)})"

    def __add__(self, other: object) -> "Loss":
        """Compose two losses."""
        if isinstance(other, Loss):
            return compose([self, other])
        return NotImplemented

    def __radd__(self, other: object) -> "Loss":
        """Let `sum` begin at zero."""
        if other == 0:
            return self
        return NotImplemented

    def __mul__(self, times: int) -> "Loss":
        """Compose a loss with itself."""
        from sordino.losses.composition import repeat_loss  # noqa: PLC0415 a cycle

        return repeat_loss(self, _validate.integer(times=times, least=0))

    __rmul__ = __mul__

    def __truediv__(self, parts: Number) -> "Budget":
        """Return the budget of one of so many equal parts, which add up to this.

        >>> from sordino.losses.closed import ApproxDP
        >>> ApproxDP(1, "1e-6") / 5
        ApproxDP(epsilon=0.2, delta=2e-07)
        """
        count = positive(parts=parts)
        if not isinstance(count, Fraction):
            raise InvalidParameter(
                "parts", parts, "must be rational", "Try budget / 2."
            )
        return self.scaled(1 / count)


class AbstractFoldingLoss(Loss):
    """A loss of a kind of which several add up to one."""

    @classmethod
    @abstractmethod
    def folded(cls, group: Counts) -> Loss:
        """Return the one loss of this kind that several of this kind add up to."""


def compose(losses: Iterable[Loss]) -> Loss:
    """Return the loss of all the releases together.

    For any mechanisms whose losses were fixed before the first one ran, even when
    their questions depend on earlier answers.
    """
    from sordino.losses.composition import compose_losses  # noqa: PLC0415 a cycle

    listed = list(losses)
    for index, loss in enumerate(listed):
        if not isinstance(loss, Loss):
            place = f"losses[{index}]"
            raise InvalidParameter(place, loss, "is not a loss", "Use sd.PureDP(1).")
    return compose_losses(listed)
