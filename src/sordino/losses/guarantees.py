"""What is known exactly of a loss, and its answers: error rates and plain sentences.

Conversions between parameters return the least one that holds for every loss with the
given one, rounded up. Rates leave through the curve, towards the attacker.

>>> from sordino.losses.loss import PureDP
>>> "at most 2.8 times in 100." in explain(PureDP(1))
True

Kernel: mathematics.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any, final, overload

from flint import arb

from sordino.losses.curves.curve import AbstractCurve, End
from sordino.losses.curves.normal import normal_quantile
from sordino.losses.curves.points import Answer, Floats, Many, One
from sordino.losses.curves.tradeoff import TradeoffCurve
from sordino.numbers import (
    INFINITE,
    Exact,
    Extended,
    ball,
    number_text,
    root,
    total,
    up,
)
from sordino.numbers.rounding import precision
from sordino.numbers.views import office

_BITS = 192
_STEEP = 200
"""From this epsilon on mu is bounded by a form, up to four thousandths above it."""


@lru_cache(maxsize=4096)
def pure_to_rho(epsilon: Extended) -> Extended:
    """Return epsilon tanh(epsilon/2), rounded up: attained by randomized response."""
    if epsilon is INFINITE:
        return INFINITE
    with precision(_BITS):
        return _upper_end(ball(epsilon) * (ball(epsilon) / 2).tanh())


@lru_cache(maxsize=4096)
def pure_to_mu(epsilon: Extended) -> Extended:
    """Return 2 Phi^-1(1 / (1 + exp(-epsilon))), rounded up.

    The pure curve is two straight lines that meet at alpha = beta; the Gaussian curve
    is convex, so it lies below them when it passes below their meeting point.
    """
    if epsilon is INFINITE:
        return INFINITE
    if epsilon == 0:
        return Fraction(0)
    if epsilon > _STEEP:
        # Phi(-x) <= exp(-x**2 / 2) / 2: what the kernel proves, and so what is bought
        with precision(_BITS):
            return _upper_end(2 * (2 * ball(epsilon)).sqrt())
    # beside 1 exp(-epsilon) begins 1.45 epsilon binary digits down
    with precision(_BITS + 2 * math.ceil(up(epsilon))):
        return _upper_end(2 * normal_quantile(1 / (1 + ball(epsilon).exp())))


@lru_cache(maxsize=4096)
def laplace_to_rho(ratio: Extended) -> Extended:
    """Return r + exp(-r) - 1, rounded up, for Laplace noise with shift/scale = r.

    Harrison and Manurangsi 2025: the order 1 is the worst of D_a / a.
    """
    if ratio is INFINITE:
        return INFINITE
    with precision(_BITS):
        return _upper_end(ball(ratio) + (-ball(ratio)).expm1())


@lru_cache(maxsize=4096)
def geometric_to_rho(shift: int, scale: Exact) -> Extended:
    """Return (D - 2a(1 - a^D)/(1 - a^2))/s, a = exp(-1/s), rounded up: the divergence.

    Harrison and Manurangsi 2025: as for Laplace noise, the order 1 is the worst.
    """
    with precision(_BITS):
        rate = -1 / ball(scale)
        a = rate.exp()
        lost = 2 * a * (rate * shift).expm1() / (2 * rate).expm1()
        return _upper_end((arb(shift) - lost) / ball(scale))


@lru_cache(maxsize=4096)
def sampled_epsilon(epsilon: Extended, rate: Fraction) -> Extended:
    """Return ln(1 + q (exp(epsilon) - 1)), rounded up, or epsilon where that is less.

    The epsilon of a release on a Poisson sample of rate q.
    """
    if epsilon is INFINITE:
        return INFINITE
    with precision(_BITS):
        top = up((ball(rate) * ball(epsilon).expm1()).log1p())
    # exp(epsilon) may overflow; a sample never costs more than all
    return min(epsilon, Fraction(top)) if math.isfinite(top) else epsilon


def _upper_end(value: arb) -> Extended:
    top = up(value)
    return INFINITE if math.isinf(top) else Fraction(max(top, 0.0))


@final
@dataclass(frozen=True)
class Guarantees:
    """What is known exactly of a loss, infinite where nothing is known.

    With probability at least 1 - delta the release comes from a pair of laws that is
    epsilon-DP, and rho-zCDP, and mu-GDP.
    """

    epsilon: Extended
    delta: Fraction
    rho: Extended
    mu: Extended

    @property
    def end(self) -> End:
        """Return the point of the curve that follows."""
        return End(self.epsilon, self.delta, self.is_bounded)

    @property
    def is_bounded(self) -> bool:
        """Tell whether nothing but the reserve delta can be seen with certainty."""
        return min(self.epsilon, self.rho, self.mu) < math.inf

    def with_reserve(self, chance: Fraction) -> "Guarantees":
        """Return the same where everything is revealed with one more chance."""
        delta = min(self.delta + chance, Fraction(1))
        return Guarantees(self.epsilon, delta, self.rho, self.mu)


NOTHING = Guarantees(Fraction(0), Fraction(0), Fraction(0), Fraction(0))
"""The guarantees of a release that reveals nothing."""


def pure_guarantees(epsilon: Extended, delta: Fraction) -> Guarantees:
    """Guarantees of (epsilon, delta)-DP: the rho and mu that epsilon implies."""
    rho, mu = pure_to_rho(epsilon), pure_to_mu(epsilon)
    return Guarantees(epsilon, delta, rho, mu)


def zcdp_guarantees(rho: Extended, delta: Fraction) -> Guarantees:
    """Guarantees of (rho, delta): only rho = 0 implies an epsilon."""
    nothing = Fraction(0) if rho == 0 else INFINITE
    return Guarantees(nothing, delta, rho, nothing)


def sum_guarantees(parts: list[tuple[Guarantees, int]]) -> Guarantees:
    """Guarantees of releases together: parameters add up, mu by its squares."""
    reserve = sum((part.delta * times for part, times in parts), Fraction(0))
    return Guarantees(
        sum_times((part.epsilon, times) for part, times in parts),
        min(reserve, Fraction(1)),
        sum_times((part.rho, times) for part, times in parts),
        root(sum_times(((part.mu, times) for part, times in parts), 2)),
    )


def sum_times(values: Iterable[tuple[Extended, int]], power: int = 1) -> Extended:
    """Sum of powers of numbers, each multiplied by its count."""
    return total(
        *(
            INFINITE if value is INFINITE else value**power * Fraction(times)
            for value, times in values
        )
    )


_FIELD = "In the terms of the field"
OUT_OF = (100, 1000)
"""In how many an attacker is allowed one false alarm."""


def explain(loss: "AbstractAnswers") -> str:
    """Return sentences on false alarms, on guessing, on belief, and the headline."""
    sentences = [finds(loss.tpr_at, out_of) for out_of in OUT_OF]
    sentences += [_guesses(loss), _believes(loss), _headline(loss)]
    return "\n".join(sentence for sentence in sentences if sentence)


def finds(tpr_at: Callable[[float], Any], out_of: int) -> str:
    """How often the best attack finds a person at 1 false alarm in `out_of`."""
    times = _digits_above(float(tpr_at(1 / out_of)) * out_of)
    return (
        f"An attacker who is allowed 1 false alarm in {out_of} finds the person "
        f"at most {times} times in {out_of}."
    )


def _guesses(loss: "AbstractAnswers") -> str:
    right = _digits_above(50 * (1 + loss.advantage()))
    return (
        "Asked whether a person is in the data, when both answers are equally likely "
        f"beforehand, the best guess is right at most {right} times in 100, "
        "where a coin is right 50 times."
    )


def _believes(loss: "AbstractAnswers") -> str:
    ratio = up(loss.guarantees.epsilon)
    # with a delta a belief may become certainty
    if loss.guarantees.delta > 0 or ratio > 3:
        return ""
    belief = 1 / (1 + 9 * math.exp(-ratio))
    return (
        "Whatever is published, a belief of 10 in 100 that the person is in the data "
        f"becomes at most {_digits_above(100 * belief)} in 100."
    )


def _headline(loss: "AbstractAnswers") -> str:
    guarantees = loss.guarantees
    reserve = (
        f", with a reserve delta of {_digits_above(up(guarantees.delta))}"
        if guarantees.delta
        else ""
    )
    for name, value in (
        ("epsilon", guarantees.epsilon),
        ("mu", guarantees.mu),
        ("rho", guarantees.rho),
    ):
        if value != math.inf:
            return f"{_FIELD}: {name} = {_digits_above(up(value))}{reserve}."
    epsilon = _digits_above(float(loss.epsilon_at(1e-6)))
    return f"{_FIELD}: epsilon = {epsilon} at delta = 1e-06."


def _digits_above(value: float) -> str:
    """Return two digits, rounded up, so that a sentence never understates."""
    if value <= 0 or not math.isfinite(value):
        return f"{value:g}"
    unit = 10.0 ** (math.floor(math.log10(value)) - 1)
    # a quotient that rounding lifted is not pushed a digit up
    upper = math.ceil(value / unit * (1 - 1e-12)) * unit
    return f"{upper:.2g}" if upper < 100 else f"{upper:.0f}"


class AbstractAnswers(ABC):
    """Exact guarantees, one curve, and all that may be asked of both."""

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
        """Least delta for which the release is (epsilon, delta)-DP."""
        return self.tradeoff.delta_at(epsilon)

    @overload
    def epsilon_at(self, delta: One) -> float: ...
    @overload
    def epsilon_at(self, delta: Many) -> Floats: ...

    def epsilon_at(self, delta: Any) -> Answer:
        """An epsilon for which the release is (epsilon, delta)-DP."""
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
        """Plain sentences on what the loss means to an attacker."""
        return explain(self)

    def _repr_html_(self) -> str:  # noqa: PLW3201 the name notebooks look for
        shown: str = office.loss_page(repr(self), self)
        return shown

    def __repr__(self) -> str:
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
