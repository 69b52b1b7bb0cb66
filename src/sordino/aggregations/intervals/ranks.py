"""Where quantiles stand: intervals in rows around the row that was asked for.

Rows between neighbouring cuts are known with noise. The rows up to a cut, less a share
of all rows, are a form in them: how many rows too far up the cut is
(docs/proofs/intervals.md, lemma 13).
"""

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any, Final

import numpy as np

from sordino.aggregations.intervals.linear_forms import Bars, Noise, Sums
from sordino.losses.curves.points import Floats
from sordino.numbers import probability

CUTS: Final = 3
"""Each quantile has a cut of its own, one below it and one above it."""
_ROUNDING: Final = 2.0**-46
"""What doubles may lose of sums of a few numbers of rows."""


@lru_cache(maxsize=256)
def rank_reaches(
    mechanism: Any, probabilities: tuple[Fraction, ...], chance: Fraction
) -> Floats:
    """Return how far the noise of the rows up to each cut goes, but with a chance.

    Those of the first quantile's lower cut, of it, of its upper one, and so on.
    """
    cells = CUTS * len(probabilities) + 1
    noises, nothing = (Noise(mechanism),) * cells, (np.zeros(1),) * cells
    return Sums(nothing, noises).reach(_forms(probabilities), float(chance))


def rank_bars(
    cells: Sequence[Floats],
    mechanism: Any,
    probabilities: tuple[Fraction, ...],
    confidence: Any,
) -> list[Bars]:
    """Return how many rows too far up each cut is, from noisy rows between cuts."""
    chance = 1 - probability(confidence=confidence)
    forms = _forms(probabilities)
    noises = (Noise(mechanism),) * len(cells)
    sums = Sums(tuple(cells), noises)
    size = np.sum(np.abs(cells), axis=0)
    bars = []
    for form, reach in zip(
        forms.T, rank_reaches(mechanism, probabilities, chance), strict=True
    ):
        value = sums.value_of(tuple(form))
        sd = np.full_like(value, float(sums.sd(form)))
        wide = reach + _ROUNDING * (size + (reach if np.isfinite(reach) else 0.0))
        bars.append(Bars(sd, value - wide, value + wide))
    return bars


def _forms(probabilities: tuple[Fraction, ...]) -> Floats:
    """Return the factors of the cells, by cut: rows up to it count 1 less the share."""
    shares = np.repeat([float(share) for share in probabilities], CUTS)
    cut, cell = np.arange(shares.size), np.arange(shares.size + 1)[:, None]
    return np.where(cell <= cut, 1 - shares, -shares)
