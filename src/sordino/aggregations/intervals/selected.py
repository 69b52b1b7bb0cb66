"""The interval of a number that showed its group by reaching a cut.

Of groups with the exact number n those show whose noisy number y reaches the cut T, so
the law of what is seen is cut at T. To each n belong the y of greatest density that
make up the confidence; the interval of y has the n to which it belongs
(docs/proofs/intervals.md, lemma 5). Below the cut nothing can be told: groups far too
small that show look alike.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from sordino.curves.points import Floats

if TYPE_CHECKING:
    from sordino.aggregations.intervals.sums import Sums

_STEPS: Final = 64
LogTail: TypeAlias = Callable[[Floats], Floats]
"""ln P[noise >= x]."""


def invert_cut_law(sums: "Sums", alpha: float, least: float) -> tuple[Floats, Floats]:
    """Return the ends of the intervals of the form that showed the groups."""
    assert sums.shown is not None  # noqa: S101 asked where groups show
    weights, cut = sums.shown.weights, sums.shown.cut
    value = sums.value_of(weights)
    tail, slack, step = _law(sums)
    reach = float(sums.reach(weights, alpha)[0]) + step
    if not np.isfinite(reach):
        return np.full_like(value, max(least, 0.0)), np.full_like(value, np.inf)
    lower = np.maximum(value - slack, cut)
    upper = np.maximum(value + slack, cut)

    def holds(n: Floats, seen: Floats) -> Any:
        return _holds(n, seen, (cut, alpha), tail)

    first = np.full_like(value, max(least, 0.0))
    low = _edge(lambda n: holds(n, lower), np.minimum(first, lower), lower, step)
    high = _edge(lambda n: holds(n, upper), upper + reach, upper, step)
    return low, high


def _law(sums: "Sums") -> tuple[LogTail, float, float]:
    """Return the tail of the number that showed the groups, its rounding and step.

    One number on a lattice has its own exact law; real noise, and sums, that of the
    reals, from which they lie apart by their slips.
    """
    assert sums.shown is not None  # noqa: S101 asked where groups show
    weights = np.abs(np.array(sums.shown.weights))
    alone = np.flatnonzero(weights)
    if len(alone) == 1:
        noise, weight = sums.noises[alone[0]], float(weights[alone[0]])
        law, unit = noise.mechanism.law, float(noise.unit) * weight
        step = unit if law.slip else 0.0
        rounding = float(noise.rounding) * weight
        return (lambda x: law.log_at_least(x / unit)), rounding, step
    sizes = (weights * sums.spreads)[:, None]
    blend = sums.noises[0].blend
    return (lambda x: blend.log_tail(x, sizes)), float(weights @ sums.slips), 0.0


def _holds(
    n: Floats, seen: Floats, cut_and_alpha: tuple[float, float], tail: LogTail
) -> Any:
    """Tell whether the densest set of the law around n holds the number seen.

    It does if the points nearer to n, from the cut on, have less than the confidence.
    """
    cut, alpha = cut_and_alpha
    away = np.abs(seen - n)
    showing, beyond = tail(cut - n), tail(away)
    inside = np.exp(showing)
    on_both_sides = 1 - 2 * np.exp(beyond) < (1 - alpha) * inside
    above_the_cut = beyond > np.log(alpha) + showing
    return np.where((seen <= n) | (n - away >= cut), on_both_sides, above_the_cut)


def _edge(
    holds: Callable[[Floats], Any], outside: Floats, inside: Floats, step: float
) -> Floats:
    """Return the last point that holds, going outward; on a lattice one of it."""
    reached = holds(outside)
    near, far = inside, outside
    for _ in range(_STEPS):
        middle = (near + far) / 2
        if step:
            # from the inside, which is on the lattice, by whole steps and at least one
            steps = np.trunc((far - near) / step)
            middle = near + np.sign(steps) * np.ceil(np.abs(steps) / 2) * step
        kept = holds(middle)
        near, far = np.where(kept, middle, near), np.where(kept, far, middle)
    return np.where(reached, outside, near if step else far)
