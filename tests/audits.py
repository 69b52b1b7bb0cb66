"""Does an attacker do better than a loss allows? Black-box, on samples of answers.

An event is chosen on one half of the samples and judged on the other half alone, so
that choosing it costs no confidence. The chance that a correct mechanism is accused is
at most `FALSE_ALARM` for each audit.
"""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from sordino.losses.loss import Loss

FALSE_ALARM: Final = 1e-9
_EVENTS: Final = 200
_FEW: Final = 25

Samples = NDArray[np.float64]


def is_broken(loss: Loss, without: Any, with_: Any) -> bool:
    """Tell whether samples of two neighbours show an attack beyond the curve of a loss.

    An event with false positive rate a and false negative rate b breaks a curve f if
    f(a') > b' for upper confidence bounds a', b' (f decreases).
    """
    return any(
        _broken(loss, np.asarray(one, float), np.asarray(other, float))
        for one, other in ((without, with_), (with_, without))
    )


def _broken(loss: Loss, null: Samples, other: Samples) -> bool:
    """Tell whether some event tells the samples apart too well, one way round."""
    half = null.size // 2
    places = np.unique(np.concatenate([null[:half], other[:half]]))
    levels = places[np.linspace(0, places.size - 1, _EVENTS).astype(int)]
    best, least = None, np.inf
    for sign in (1, -1):
        for level in np.unique(levels):
            false, missed = _counts(null[:half], other[:half], sign, level)
            if false < _FEW or missed < _FEW:
                continue
            spread = np.sqrt(missed) / half
            gap = (missed / half - float(loss.beta_at(false / half))) / spread
            if gap < least:
                best, least = (sign, level), gap
    if best is None:
        return False
    false, missed = _counts(null[half:], other[half:], *best)
    rest = null.size - half
    return float(loss.beta_at(upper(false, rest))) > upper(missed, rest)


def _counts(null: Samples, other: Samples, sign: int, level: float) -> tuple[int, int]:
    """Return how often the event is seen without, and not seen with, the unit."""
    seen, unseen = sign * null >= sign * level, sign * other < sign * level
    return int(seen.sum()), int(unseen.sum())


def upper(count: int, trials: int, alarm: float = FALSE_ALARM / 4) -> float:
    """Return the upper confidence bound of a chance (Clopper and Pearson)."""
    if count == trials:
        return 1.0
    return float(stats.beta.ppf(1 - alarm, count + 1, trials - count))


def lower(count: int, trials: int, alarm: float = FALSE_ALARM) -> float:
    """Return the lower confidence bound of a chance (Clopper and Pearson)."""
    return float(stats.beta.ppf(alarm, count, trials - count + 1)) if count else 0.0
