"""What may be asked of a loss: an attacker's error rates, in numbers and in words.

Every answer leaves through the curve (`sordino.curves.curve`), towards the attacker.
"""

from abc import ABC, abstractmethod
from dataclasses import fields
from fractions import Fraction
from typing import TYPE_CHECKING, Any, overload

from sordino.curves.curve import AbstractCurve
from sordino.curves.points import Answer, Floats, Many, One
from sordino.losses.explain import explain
from sordino.losses.guarantees import Guarantees
from sordino.losses.loss_page import loss_page
from sordino.losses.tradeoff import TradeoffCurve
from sordino.numbers import Extended, number_text


class AbstractAnswers(ABC):
    """Exact guarantees beside one curve, and all views of the two."""

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

    @property
    @abstractmethod
    def guarantees(self) -> Guarantees:
        """Return the exact headline parameters."""

    @property
    @abstractmethod
    def tradeoff(self) -> AbstractCurve:
        """Return the curve, which ends where the guarantees say."""

    @overload
    def delta_at(self, epsilon: One) -> float: ...
    @overload
    def delta_at(self, epsilon: Many) -> Floats: ...

    def delta_at(self, epsilon: Any) -> Answer:
        """Return the least delta such that the release is (epsilon, delta)-DP."""
        return self.tradeoff.delta_at(epsilon)

    @overload
    def epsilon_at(self, delta: One) -> float: ...
    @overload
    def epsilon_at(self, delta: Many) -> Floats: ...

    def epsilon_at(self, delta: Any) -> Answer:
        """Return an epsilon such that the release is (epsilon, delta)-DP."""
        return self.tradeoff.epsilon_at(delta)

    @overload
    def tpr_at(self, alpha: One) -> float: ...
    @overload
    def tpr_at(self, alpha: Many) -> Floats: ...

    def tpr_at(self, alpha: Any) -> Answer:
        """Return the greatest true positive rate at a false positive rate alpha."""
        return self.tradeoff.tpr_at(alpha)

    @overload
    def beta_at(self, alpha: One) -> float: ...
    @overload
    def beta_at(self, alpha: Many) -> Floats: ...

    def beta_at(self, alpha: Any) -> Answer:
        """Return the least false negative rate at a false positive rate alpha."""
        return self.tradeoff.beta_at(alpha)

    def advantage(self) -> float:
        """Return the greatest true minus false positive rate, which is delta(0)."""
        return self.tradeoff.advantage()

    @overload
    def bayes_risk(self, prior: One) -> float: ...
    @overload
    def bayes_risk(self, prior: Many) -> Floats: ...

    def bayes_risk(self, prior: Any) -> Answer:
        """Return the least chance of a wrong guess when the prior is `prior`.

        For a guesser who believes "this person is in" with probability `prior`.
        """
        return self.tradeoff.bayes_risk(prior)

    def curve(self) -> TradeoffCurve:
        """Return the trade-off curve as arrays that can be drawn."""
        return TradeoffCurve.of(self.tradeoff)

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


class AbstractHeadline(AbstractAnswers):
    """A loss whose headline is what its guarantees are."""

    @property
    def epsilon(self) -> Extended:
        """Return the exact epsilon."""
        return self.guarantees.epsilon

    @property
    def delta(self) -> Fraction:
        """Return the exact delta."""
        return self.guarantees.delta

    @property
    def rho(self) -> Extended:
        """Return the exact rho."""
        return self.guarantees.rho

    @property
    def mu(self) -> Extended:
        """Return the exact mu."""
        return self.guarantees.mu
