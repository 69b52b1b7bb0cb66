"""Budgets stated as risk, the least noise within a target, and weak budgets.

>>> from sordino.losses.closed import GaussianDP
>>> tenth = Advantage("0.1")
>>> tenth.admits(GaussianDP("0.25")), tenth.admits(GaussianDP("0.26"))
(True, False)
>>> 3.97894 < calibrate(lambda s: GaussianDP(1 / Fraction(s)), target=tenth) < 3.97900
True

A budget that fails for more than 1 person in 1000, or beyond an epsilon of 10, says
little about anybody: it is accepted with a warning, in odds.
"""

import math
import warnings
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, ClassVar, Final, NoReturn, TypeAlias, final

from sordino.errors import InvalidParameter, WeakBudget
from sordino.losses.budgets.charge import Allowance, Family, largest_parameter
from sordino.losses.closed import GaussianDP
from sordino.losses.curves.points import COARSENESS, find_least
from sordino.losses.loss import Budget, Loss, PureDP, Stated
from sordino.numbers import number_text, positive, probability, shortest, up
from sordino.numbers.canonical import Words, call, number
from sordino.numbers.frozen import fill, hides
from sordino.numbers.progress import Tick, open_ticker
from sordino.numbers.views import office


@hides("excess", "times", "allowance", "stated_by", "words")
@final
@dataclass(frozen=True)
class Advantage:
    """The true positive rate of any attack exceeds its false one by at most `most`."""

    most: Fraction
    stated_by: ClassVar[Stated] = "advantage"

    def __init__(self, most: Any) -> None:
        fill(self, most=probability(most=most))

    @property
    def words(self) -> Words:
        """Return the name and the exact parameter."""
        return call("Advantage", most=number(self.most))

    def admits(self, loss: Loss) -> bool:
        """Say whether the advantage of a loss is certainly within this."""
        # a bound is compared as it is written (ADR 92)
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
        return f"Advantage(most={number_text(self.most)})"

    def _repr_html_(self) -> str:  # noqa: PLW3201 the name notebooks look for
        shown: str = office.risk_page(repr(self), self.tpr_at)
        return shown


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
        rates = number_text(self.fpr), number_text(self.tpr)
        return f"ErrorRates(fpr={rates[0]}, tpr={rates[1]})"

    def _repr_html_(self) -> str:  # noqa: PLW3201 the name notebooks look for
        shown: str = office.risk_page(repr(self), self.tpr_at)
        return shown

    def excess(self, loss: Loss) -> float:
        """Return how far a loss is beyond this, in logarithms; a search follows it."""
        gained = float(loss.tpr_at(self.fpr)) - float(self.fpr)
        return _log(gained) - _log(float(self.tpr - self.fpr))


def _largest_parameter(risk: Budget, family: Family) -> Allowance:
    if family == "gaussian":
        return Allowance("mu", largest_parameter(risk, GaussianDP))
    return Allowance("epsilon", largest_parameter(risk, PureDP))


def _refuse_shares(risk: Budget, factor: Fraction) -> NoReturn:
    del factor
    raise InvalidParameter(
        "budget",
        risk,
        "is a risk, which cannot be shared or multiplied",
        "State it as sd.GaussianDP or sd.ApproxDP.",
    )


def _log(value: float) -> float:
    return math.log(max(value, 1e-300))


_ROUNDS = 24
_ROUGH, _MEDIUM = 64.0, 8.0
"""How much coarser the grids are while the neighbourhood is sought, then bracketed."""

_FINER = (16.0, 8.0, 4.0, 2.0)
"""Grids that may decide, from the first whose looseness the tolerance forgives."""

_LENIENT = 2e-5, 3e-4
"""Lesser tolerances need full precision, where looseness is measured or is not."""

Risk: TypeAlias = Advantage | ErrorRates
"""Targets that say how far a loss is beyond them, so that a search can follow."""

_FURTHEST = 640.0
"""Largest logarithm of a scale, up or down, before giving up."""


def calibrate(
    loss_at: Callable[[float], Loss],
    *,
    target: Budget,
    tolerance: Any = "1e-6",
    start: Any = 1,
) -> float:
    """Return a scale whose loss the target admits, near the least such scale.

    For any function that gives less loss for more noise: the target was seen to admit
    the loss at the scale returned, and not at (1 - tolerance) times it or somewhat
    above. Coarse grids find the neighbourhood; the grid that decides is as fine as the
    tolerance needs, and its bounds are true bounds as on any grid.
    """
    relative, first = up(positive(tolerance=tolerance)), up(positive(start=start))
    if not 1e-15 <= relative < 1:
        raise InvalidParameter(
            "tolerance", tolerance, "must be at least 1e-15 and below 1", 'Try "1e-6".'
        )
    if not isinstance(target, Budget):
        raise InvalidParameter(
            "target", target, "must be a loss or a risk", "Try sd.Advantage(0.1)."
        )
    with open_ticker() as tick:
        return _search_scale(_Search(loss_at, target, tick), math.log(first), relative)


def _search_scale(search: "_Search", place: float, relative: float) -> float:
    if isinstance(search.target, Risk):
        return _follow_excess(search, search.target, place, relative)
    near = place
    if relative >= _LENIENT[1]:
        with _coarser(_MEDIUM):
            scale = search.least(near, relative)
        if search.admits(scale):
            return scale
        near = math.log(scale)
    return search.least(near, relative)


def _follow_excess(
    search: "_Search", risk: Risk, place: float, relative: float
) -> float:
    """Return the scale for a target that says how far a loss is beyond it.

    A grid's looseness falls as the square of its step: halving a step takes away three
    quarters of it, so what is left is less than half of what the finer grid gained. No
    gain at all tells nothing: then the grids may be the same.
    """
    with _coarser(_ROUGH):
        near = search.neighbourhood(risk, place, max(relative, 1e-3))
    before = 0.0
    for factor in _FINER if relative >= _LENIENT[0] else ():
        with _coarser(factor):
            value = search.excess(risk, near)
            loose = (before - value) / -search.slope / 2
            before = value
            if 0 < loose <= relative / 4:
                near = search.neighbourhood(risk, near, 10 * relative)
                return search.least(near, relative * 3 / 4)
    near = search.neighbourhood(risk, near, 10 * relative)
    return search.least(near, relative)


@contextmanager
def _coarser(factor: float) -> Generator[None]:
    """Let losses made here choose coarser grids: their bounds are true, only looser."""
    token = COARSENESS.set(factor)
    try:
        yield
    finally:
        COARSENESS.reset(token)


@final
class _Search:
    """What is asked of a function of the scale."""

    def __init__(
        self, loss_at: Callable[[float], Loss], target: Budget, tick: Tick
    ) -> None:
        self.loss_at = loss_at
        self.target = target
        self.tick = tick
        self.slope = -1.0
        self.seen: dict[tuple[float, float], bool] = {}
        self.values: dict[tuple[float, float], float] = {}

    def loss(self, scale: float) -> Loss:
        self.tick(f"calibrating: scale {scale:.6g}")
        loss = self.loss_at(scale)
        if isinstance(loss, Loss):
            return loss
        raise InvalidParameter(
            "loss_at",
            loss,
            "must return a loss",
            "Return the loss of a mechanism, such as sd.Laplace(scale).map(1).",
        )

    def admits(self, scale: float) -> bool:
        question = scale, COARSENESS.get()
        if question not in self.seen:
            self.seen[question] = self.target.admits(self.loss(scale))
        return self.seen[question]

    def least(self, near: float, relative: float) -> float:
        low, high = self.bracket(near + 0.4 * relative, 0.8 * relative)
        return find_least(self.admits, math.exp(low), math.exp(high), relative)

    def excess(self, risk: Risk, place: float) -> float:
        question = place, COARSENESS.get()
        if question not in self.values:
            self.values[question] = risk.excess(self.loss(math.exp(place)))
        return self.values[question]

    def neighbourhood(self, risk: Risk, place: float, close: float) -> float:
        """Return the logarithm of a scale near the edge, by secants.

        A last step of at most `close` is taken on trust.
        """
        value = self.excess(risk, place)
        for _ in range(_ROUNDS):
            # a secant of a flat stretch would run away
            step = min(max(-value / self.slope, -4.0), 4.0)
            place, before = place + step, value
            if abs(step) < close or abs(place) > _FURTHEST:
                break
            value = self.excess(risk, place)
            self.slope = min((value - before) / step, -0.05)
        return place

    def bracket(self, near: float, width: float) -> tuple[float, float]:
        """Return logarithms of a scale refused and of one admitted, close to `near`."""
        inside = self.admits(math.exp(near))
        edge, reach = near, width
        while abs(edge + reach) < _FURTHEST:
            other = edge - reach if inside else edge + reach
            if self.admits(math.exp(other)) != inside:
                return (other, edge) if inside else (edge, other)
            edge, reach = other, min(reach * 4, 40.0)
        problem = "is admitted at every scale" if inside else "is admitted at no scale"
        remedy = "Check that the loss falls with the scale."
        raise InvalidParameter("target", self.target, problem, remedy)


EPSILON: Final = 10
DELTA: Final = 1e-3
_ERROR: Final = 1e-9
"""Bounds are told upwards: this far a delta may lie above what was stated."""
_OUT_OF: Final = 100
LIKELY: Final = 0.5


def warn_of_weak(budget: Any, level: int) -> None:
    """Warn of a budget that promises little, in the caller's line.

    That is a loss whose delta at epsilon 10 is above 1e-3, and a risk within which an
    attacker with 1 false alarm in 100 finds more people than not.
    """
    if _is_weak(budget):
        warnings.warn(weakness(budget), WeakBudget, stacklevel=level + 1)


def _is_weak(budget: Any) -> bool:
    match budget:
        case Advantage() | ErrorRates():
            return budget.tpr_at(Fraction(1, _OUT_OF)) > LIKELY
        case Loss():
            return _is_weak_loss(budget, COARSENESS.get())
        case _:
            return False


@lru_cache(maxsize=64)
def _is_weak_loss(loss: Loss, coarseness: float) -> bool:
    del coarseness  # by which the answer may differ
    return float(loss.delta_at(EPSILON)) > DELTA + _ERROR


def weakness(budget: Loss | Advantage | ErrorRates) -> str:
    """Sentence on what a weak budget allows an attacker, in odds.

    >>> from sordino.losses.closed import ApproxDP
    >>> "find a person up to 53 times in 100" in weakness(ApproxDP(1, "0.5"))
    True
    """
    right = math.ceil(float(budget.tpr_at(1 / _OUT_OF)) * _OUT_OF - _ERROR)
    usual = _USUAL_LOSS if isinstance(budget, Loss) else _USUAL_RISK
    return (
        f"{budget!r} promises little: all releases within it together let an "
        f"attacker who is allowed 1 false alarm in {_OUT_OF} find a person up to "
        f"{right} times in {_OUT_OF}. {usual}"
    )


_USUAL_LOSS: Final = (
    f"Usual budgets have an epsilon of up to {EPSILON} and a delta far below 1 in the "
    "number of people."
)
_USUAL_RISK: Final = "Usual risks allow 2 to 10 times."
