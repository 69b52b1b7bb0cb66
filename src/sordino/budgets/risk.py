"""Budgets stated as risk: what an attacker may achieve, instead of an epsilon.

>>> from sordino.losses.closed import GaussianDP
>>> tenth = Advantage("0.1")
>>> tenth.admits(GaussianDP("0.25")), tenth.admits(GaussianDP("0.26"))
(True, False)
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, NoReturn, final

from sordino._completion import hides
from sordino._fields import fill
from sordino.budgets.risk_page import risk_page
from sordino.errors import InvalidParameter
from sordino.losses.allowance import Allowance, Family, largest_parameter
from sordino.losses.base import Budget, Loss, PureDP, Stated
from sordino.losses.closed import GaussianDP
from sordino.numbers import number_text, probability, shortest, up
from sordino.words import Words, call, number


@hides("excess", "times", "allowance", "stated_by", "words")
@final
@dataclass(frozen=True)
class Advantage:
    """The true positive rate of any attack exceeds its false one by at most `most`."""

    most: Fraction
    stated_by: ClassVar[Stated] = "advantage"

    def __init__(self, most: Any) -> None:
        """Read the advantage exactly."""
        fill(self, most=probability(most=most))

    @property
    def words(self) -> Words:
        """Return the name and the exact parameter."""
        return call("Advantage", most=number(self.most))

    def admits(self, loss: Loss) -> bool:
        """Say whether the advantage of a loss is certainly within this."""
        return shortest(loss.advantage()) <= self.most

    def allowance(self, family: Family) -> Allowance | None:
        """Return the largest epsilon for Laplace noise, or mu for Gaussian noise."""
        return _largest_parameter(self, family)

    def tpr_at(self, fpr: Any) -> float:
        """Return the most that any attack finds at a false positive rate.

        >>> Advantage("0.05").tpr_at("0.2")
        0.25
        """
        return up(min(probability(fpr=fpr) + self.most, Fraction(1)))

    def times(self, factor: Fraction) -> Budget:
        """Refuse: a risk does not add up."""
        return _refuse_shares(self, factor)

    def excess(self, loss: Loss) -> float:
        """Return how far a loss is beyond this, in logarithms; a search follows it."""
        return _log(loss.advantage()) - _log(float(self.most))

    def __repr__(self) -> str:
        """Show the call, with a number that can be read."""
        return f"Advantage(most={number_text(self.most)})"

    def _repr_html_(self) -> str:  # noqa: PLW3201 the name notebooks look for
        """Show in a notebook what the risk means, and its bound."""
        return risk_page(repr(self), self.tpr_at)


@hides("excess", "times", "allowance", "stated_by", "words")
@final
@dataclass(frozen=True, kw_only=True)
class ErrorRates:
    """A false positive rate of `fpr` allows a true positive rate of at most `tpr`."""

    fpr: Fraction
    tpr: Fraction
    stated_by: ClassVar[Stated] = "advantage"

    def __init__(self, *, fpr: Any, tpr: Any) -> None:
        """Read the rates exactly; a tpr below the fpr is met by no release at all."""
        fill(self, fpr=probability(fpr=fpr), tpr=probability(tpr=tpr))
        if self.tpr < self.fpr:
            raise InvalidParameter(
                "tpr",
                tpr,
                "must be at least fpr, which blind guessing attains",
                "Give a tpr above fpr.",
            )

    @property
    def words(self) -> Words:
        """Return the name and the exact parameters."""
        return call("ErrorRates", fpr=number(self.fpr), tpr=number(self.tpr))

    def admits(self, loss: Loss) -> bool:
        """Say whether the rates of a loss are certainly within these."""
        if self.fpr == self.tpr:
            return loss.advantage() == 0
        return shortest(loss.tpr_at(self.fpr)) <= self.tpr

    def allowance(self, family: Family) -> Allowance | None:
        """Return the largest epsilon for Laplace noise, or mu for Gaussian noise."""
        return _largest_parameter(self, family)

    def tpr_at(self, fpr: Any) -> float:
        """Return the most that any attack finds at a false positive rate.

        For any loss within this, the best true positive rate is a concave function r of
        the false one. So r(a) <= r(fpr) below fpr, and r(a) / a <= r(fpr) / fpr above.

        >>> ErrorRates(fpr="0.02", tpr="0.05").tpr_at("0.1")
        0.25
        """
        rate = probability(fpr=fpr)
        if self.fpr == self.tpr:
            return up(rate)
        if rate <= self.fpr:
            return up(self.tpr)
        return up(min(rate * self.tpr / self.fpr, Fraction(1))) if self.fpr else 1.0

    def times(self, factor: Fraction) -> Budget:
        """Refuse: a risk does not add up."""
        return _refuse_shares(self, factor)

    def __repr__(self) -> str:
        """Show the call, with numbers that can be read."""
        rates = number_text(self.fpr), number_text(self.tpr)
        return f"ErrorRates(fpr={rates[0]}, tpr={rates[1]})"

    def _repr_html_(self) -> str:  # noqa: PLW3201 the name notebooks look for
        """Show in a notebook what the risk means, and its bound."""
        return risk_page(repr(self), self.tpr_at)

    def excess(self, loss: Loss) -> float:
        """Return how far a loss is beyond this, in logarithms; a search follows it."""
        gained = float(loss.tpr_at(self.fpr)) - float(self.fpr)
        return _log(gained) - _log(float(self.tpr - self.fpr))


def _largest_parameter(risk: Budget, family: Family) -> Allowance:
    """Return the largest parameter of a family whose loss a risk admits."""
    if family == "gaussian":
        return Allowance("mu", largest_parameter(risk, GaussianDP))
    return Allowance("epsilon", largest_parameter(risk, PureDP))


def _refuse_shares(risk: Budget, factor: Fraction) -> NoReturn:
    """Refuse to share or multiply what does not add up."""
    del factor
    raise InvalidParameter(
        "budget",
        risk,
        "is a risk, which cannot be shared or multiplied",
        "State it as sd.GaussianDP or sd.ApproxDP.",
    )


def _log(value: float) -> float:
    """Return the logarithm of a number that may be 0."""
    return math.log(max(value, 1e-300))
