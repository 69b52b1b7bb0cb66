"""Trade-off curves from privacy loss variables: TradeoffCurve, PLRVs and get_beta.

**Dominating pairs.** A pair of laws (P, Q) dominates a mechanism when no test tells the
mechanism's outputs on neighbouring databases apart better than it tells P from Q. Its
trade-off f(alpha) is the least false negative rate among tests of false positive rate
alpha. For add/remove neighbours both T(P, Q) and T(Q, P) occur, so the bound that holds
is the lower convex hull of both: never the larger of the two.

**Loss variables.** Y is ln(P/Q) of an outcome drawn from P, X the same drawn from Q.
Y may be +infinity (P has mass where Q has none) and X may be -infinity. On a grid both
live on whole numbers, and the size of the step does not matter here:

    Y = y0 + j with chance pmf_Y[j],    X = x0 + i with chance pmf_X[i].

**The curve.** A test that accuses when the loss exceeds a threshold x has the rates
(P[X > x], P[Y <= x]). These points, for every threshold, span the curve by straight
lines (randomised tests). For both directions the mirror images (P[Y <= x], P[X > x])
are added. Whatever mass is missing from a pmf counts as infinite.

>>> pair = PLRVs(0, [0.25, 0.75], 0.0, 0, [0.75, 0.25], 0.0, True)
>>> get_beta(pair, 0.25), get_beta(pair, [[0, 1]]).tolist()
(0.25, [[1.0, 0.0]])
"""

from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, final, overload

import numpy as np

from sordino.errors import InvalidParameter
from sordino.losses.curves import points
from sordino.losses.curves.curve import AbstractCurve, ResponseCurve
from sordino.losses.curves.points import Answer, Floats, Many, One
from sordino.numbers import arguments, distance, down, probability
from sordino.numbers.frozen import fill, hides
from sordino.numbers.views import office

if TYPE_CHECKING:
    from matplotlib.axes import Axes


_SLACK = 1e-9
"""Rounding allowed in the total of a pmf."""
_EXACT = 60
"""Sums of multiples of 2**-60 up to 1 lose nothing in long doubles."""
_SHORT = 30
_FEW = 64
_UNIT = float(np.finfo(np.float64).eps) / 2


@hides("is_plain", "safe_heights", "vertices")
@final
@dataclass(frozen=True, eq=False)
class PLRVs:
    """Privacy loss random variables on a common grid.

    | field | accepted | refused |
    |---|---|---|
    | `y0`, `x0` | any integer | bool, float |
    | `pmf_Y`, `pmf_X` | flat, not negative, total with its mass at most 1 | NaN |
    | `infinity_mass_Y`, `minus_infinity_mass_X` | 0 to 1 | NaN |

    An empty pmf is right where all mass is infinite.
    """

    y0: int
    pmf_Y: Any  # noqa: N815 the names of the variables; held as doubles
    infinity_mass_Y: float  # noqa: N815
    x0: int
    pmf_X: Any  # noqa: N815
    minus_infinity_mass_X: float  # noqa: N815
    is_symmetric: bool

    def __post_init__(self) -> None:
        for name, start in (("y0", self.y0), ("x0", self.x0)):
            fill(self, **{name: arguments.integer(**{name: start})})
        if not isinstance(self.is_symmetric, (bool, np.bool_)):
            problem = "must be True or False"
            raise InvalidParameter(
                "is_symmetric", self.is_symmetric, problem, "Say False."
            )
        for name, beside in (
            ("pmf_Y", "infinity_mass_Y"),
            ("pmf_X", "minus_infinity_mass_X"),
        ):
            infinite = points.read(1, most=1.0, **{beside: getattr(self, beside)})
            if infinite.shape is not None:
                raise InvalidParameter(
                    beside, infinite.shape, "must be a number", "Try 0."
                )
            mass = float(infinite.values[0])
            masses = _pmf(name, getattr(self, name), mass)
            fill(self, **{beside: mass, name: masses})

    @cached_property
    def vertices(self) -> tuple[Floats, Floats]:
        """Return the corners (alpha, beta) of the curve, alpha ascending."""
        alpha, beta = self._tests()
        if not self.is_symmetric:
            alpha, beta = np.append(alpha, beta), np.append(beta, alpha)
        alpha, beta = np.append(alpha, (0.0, 1.0)), np.append(beta, (1.0, 0.0))
        order = np.lexsort((beta, alpha))
        return _lower_hull(alpha[order], beta[order])

    @cached_property
    def safe_heights(self) -> Floats:
        """Return the heights of the corners less what an interpolation may err by.

        Between corners a double errs by six roundings of the left height at most; each
        corner is lowered by eight of the height before it, which is no less. An alpha
        stands for its decimal, half a unit away at most: a fall by the steepest slope.
        """
        corners, betas = self.vertices
        with np.errstate(all="ignore"):
            falls = -np.diff(betas) / np.diff(corners) * corners[1:]
        steep = np.minimum(np.nan_to_num(falls, nan=1.0, posinf=1.0), 1.0)
        ends = np.maximum(np.append(0.0, steep), np.append(steep, 0.0))
        before = np.append(betas[:1], betas[:-1])
        answer: Floats = betas - 8 * _UNIT * before - 2 * _UNIT * ends
        return answer

    @cached_property
    def is_plain(self) -> bool:
        """Tell whether all corners are short binary fractions: lines are exact."""
        both = np.ldexp(np.concatenate(self.vertices), _SHORT)
        return not bool((both % 1).any())

    def _tests(self) -> tuple[Floats, Floats]:
        """Return the rates of every threshold test, rounded down.

        Between the two supports the rates stay what they are, however far apart those
        lie: thresholds just below each place of either, and one beyond, are all.
        """
        size_x, size_y = len(self.pmf_X), len(self.pmf_Y)
        # places of X and of Y, from a start that no 64-bit integer may hold
        apart = max(-size_x - 1, min(size_y + 1, self.x0 - self.y0))
        place = np.unique(
            np.concatenate((apart + np.arange(size_x + 1), np.arange(size_y + 1)))
        )
        x = _sums(self.pmf_X[::-1])[::-1][np.clip(place - apart, 0, size_x)]
        y = _sums(self.pmf_Y)[np.clip(place, 0, size_y)]
        # no threshold misses an infinite loss, whatever sums round to
        return np.minimum(x, 1.0), np.minimum(y, 1 - self.infinity_mass_Y)


@overload
def get_beta(plrvs: PLRVs, alpha: One) -> float: ...
@overload
def get_beta(plrvs: PLRVs, alpha: Many) -> Floats: ...


def get_beta(plrvs: PLRVs, alpha: Any) -> Answer:
    """Return the least false negative rate of any attack at false positive rate alpha.

    For any mechanism that the variables dominate, in both directions unless they are
    declared symmetric. A number gives a number, an array of any shape and order gives
    an array of that shape. NaN and values outside [0, 1] are refused.
    """
    if not isinstance(plrvs, PLRVs):
        raise InvalidParameter(
            "plrvs", plrvs, "are not loss variables", "Build sd.PLRVs(...)."
        )
    question = points.read(0, most=1.0, alpha=alpha)
    if len(question.values) <= _FEW and plrvs.is_plain:
        return question.answer(
            np.array([_line(plrvs, x) for x in question.values.tolist()])
        )
    heights = np.interp(question.values, plrvs.vertices[0], plrvs.safe_heights)
    # a drop between denormals has no slope that a double holds: there it is no number
    heights[~(heights >= 0)] = 0.0
    return question.answer(heights)


def _pmf(name: str, pmf: Any, infinite: float) -> Floats:
    if not isinstance(pmf, (np.ndarray, list, tuple)):
        raise InvalidParameter(name, pmf, "must be an array", f"Try {name}=[1.0].")
    masses = np.asarray(pmf)
    if masses.ndim != 1:
        raise InvalidParameter(
            name, masses.shape, "must have one dimension", "Flatten it."
        )
    if masses.size and masses.dtype.kind not in "iuf":
        raise InvalidParameter(name, pmf, "must hold real numbers", "Use floats.")
    masses = masses.astype(np.float64)
    if not (masses >= 0).all():
        worst = float(masses[~(masses >= 0)][0])
        raise InvalidParameter(name, worst, "must not be negative or NaN", "Clip to 0.")
    whole = float(masses.sum()) + infinite
    if whole > 1 + _SLACK:
        raise InvalidParameter(
            name, whole, "must total at most 1", "Divide by the total."
        )
    if whole == 0:
        raise InvalidParameter(name, pmf, "is empty", "Give some probability.")
    return masses


def _sums(masses: Floats) -> Floats:
    """Return the sums of the first 0, 1, ... masses, each rounded down."""
    wide = np.cumsum(np.append(0.0, masses), dtype=np.longdouble)
    if (np.ldexp(masses, _EXACT) % 1).any():
        # each sum may have rounded up, and beta is a lower bound
        wide *= 1 - len(masses) * np.finfo(np.longdouble).eps
    sums = wide.astype(np.float64)
    return np.where(sums > wide, np.nextafter(sums, 0.0), sums)


def _line(plrvs: PLRVs, alpha: float) -> float:
    """Return the height of the curve at alpha, exact but for one rounding down."""
    corners, betas = plrvs.vertices
    right = int(np.searchsorted(corners, alpha))
    if corners[right] == alpha:
        return float(betas[right])
    ends = corners[right - 1], corners[right], betas[right - 1], betas[right]
    left, end, high, low = (Fraction(float(value)) for value in ends)
    return down(high - (Fraction(alpha) - left) * (high - low) / (end - left))


def _lower_hull(alpha: Floats, beta: Floats) -> tuple[Floats, Floats]:
    """Return the lower convex hull of points sorted by alpha, then beta.

    A point above the chord of its neighbours is no corner, so all such points go at
    once, and a few rounds leave the hull.
    """
    first = np.append(True, np.diff(alpha) > 0)
    alpha, beta = alpha[first], np.minimum.accumulate(beta[first])
    while len(alpha) > 2:
        run, rise = np.diff(alpha), np.diff(beta)
        above = rise[:-1] * run[1:] >= rise[1:] * run[:-1]
        if not above.any():
            break
        keep = np.concatenate(([True], ~above, [True]))
        alpha, beta = alpha[keep], beta[keep]
    return alpha, beta


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
        lines = office.CurveLines(self.alpha, self.beta, self.bound_beta, bound)
        shown: Axes = office.plot_lines(lines, path, title)
        return shown
