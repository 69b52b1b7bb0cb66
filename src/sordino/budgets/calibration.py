"""The least noise within a target: one search for the whole library.

>>> from fractions import Fraction
>>> from sordino.losses.closed import GaussianDP
>>> from sordino.budgets.risk import Advantage
>>> scale = calibrate(lambda s: GaussianDP(1 / Fraction(s)), target=Advantage("0.1"))
>>> 3.97894 < scale < 3.97900
True
"""

import math
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any, TypeAlias, final

from sordino.budgets.risk import Advantage, ErrorRates
from sordino.curves.coarseness import COARSENESS
from sordino.curves.search import find_least
from sordino.curves.ticks import Tick, open_ticker
from sordino.errors import InvalidParameter
from sordino.losses.base import Budget, Loss
from sordino.numbers import positive, up

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
    """Return the scale: found on rough grids, then bracketed on those that decide."""
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
        """Keep the question, and each answer by scale and coarseness."""
        self.loss_at = loss_at
        self.target = target
        self.tick = tick
        self.slope = -1.0
        self.seen: dict[tuple[float, float], bool] = {}
        self.values: dict[tuple[float, float], float] = {}

    def loss(self, scale: float) -> Loss:
        """Return the loss at a scale."""
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
        """Say whether the target admits the loss at a scale."""
        question = scale, COARSENESS.get()
        if question not in self.seen:
            self.seen[question] = self.target.admits(self.loss(scale))
        return self.seen[question]

    def least(self, near: float, relative: float) -> float:
        """Return an admitted scale within a tolerance of a refused one."""
        low, high = self.bracket(near + 0.4 * relative, 0.8 * relative)
        return find_least(self.admits, math.exp(low), math.exp(high), relative)

    def excess(self, risk: Risk, place: float) -> float:
        """Return how far the loss at the exponential of a place is beyond a risk."""
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
