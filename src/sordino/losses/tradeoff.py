"""A trade-off curve as arrays, and its picture."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, final, overload

import numpy as np

from sordino.curves import points
from sordino.curves.curve import AbstractCurve
from sordino.curves.points import Answer, Floats, Many, One
from sordino.curves.response import ResponseCurve
from sordino.losses.curve_plot import CurveLines, plot_lines
from sordino.numbers import distance, probability

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@final
@dataclass(frozen=True, eq=False)
class TradeoffCurve:
    """A trade-off curve as arrays that can be drawn.

    `beta` and `tpr` are bounds at the false positive rates `alpha`; `bound_beta` is the
    curve that the single statement (epsilon, delta) would give, for comparison.
    """

    alpha: Floats = field(repr=False)
    beta: Floats = field(repr=False)
    tpr: Floats = field(repr=False)
    epsilon: float
    delta: float
    bound_beta: Floats = field(repr=False)

    @staticmethod
    def of(curve: AbstractCurve, delta: float = 1e-6) -> "TradeoffCurve":
        """Return a curve at rates spaced for drawing."""
        small = np.logspace(-9, -2, 141)[:-1]
        middle = np.linspace(0.01, 0.99, 393)
        alpha = np.concatenate(([0.0], small, middle, 1 - small[::-1], [1.0]))
        end = curve.end
        reserve = float(end.delta) if end.epsilon != np.inf else delta
        epsilon = float(curve.epsilon_at(reserve))
        bound = ResponseCurve(distance(epsilon=epsilon), probability(delta=reserve))
        return TradeoffCurve(
            alpha,
            curve.beta_at(alpha),
            curve.tpr_at(alpha),
            epsilon,
            reserve,
            bound.beta_at(alpha),
        )

    @overload
    def beta_at(self, alpha: One) -> float: ...
    @overload
    def beta_at(self, alpha: Many) -> Floats: ...

    def beta_at(self, alpha: Any) -> Answer:
        """Return the bound between the points: the lower of the two around alpha."""
        question = points.read(1, most=1.0, alpha=alpha)
        right = np.searchsorted(self.alpha, question.values, side="left")
        return question.answer(self.beta[right])

    def plot(self, path: "str | Path | None" = None, *, title: str = "") -> "Axes":
        """Draw the curve, and save it as PNG or SVG when a path is given."""
        # three digits, upwards, so that the label never understates
        bound = f"({self.epsilon:.3g}, {self.delta:.1g})-DP"
        lines = CurveLines(self.alpha, self.beta, self.bound_beta, bound)
        return plot_lines(lines, path, title)
