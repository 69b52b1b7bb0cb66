"""Tests of a law that state their false-alarm rate: once in a billion runs."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from sordino.engines.conformance.plans import bound_rows, question_of
from sordino.engines.engine import AbstractEngine
from sordino.query.nodes import Source

FALSE_ALARM = 1e-9
_LEAST_EXPECTED = 50
_PLACES = 4000


def integers_follow(
    draws: NDArray[np.int64],
    mass: Callable[[NDArray[np.int64]], NDArray[np.float64]],
    reach: int,
) -> bool:
    """Tell whether integers follow a law, by a chi-square test of about 100 cells.

    Neighbouring points share a cell where the law is wide; cells with fewer than 50
    expected draws are pooled, so that the chi-square law of the statistic holds far
    into its own tail.
    """
    width = max(1, reach // 50)
    points = np.arange(-reach, reach + 1)
    cells = (points + reach) // width
    expected = np.bincount(cells, mass(points)) * draws.size
    inside = np.abs(draws) <= reach
    observed = np.bincount((draws[inside] + reach) // width, minlength=expected.size)
    wide = expected >= _LEAST_EXPECTED
    kept, seen = expected[wide], observed[wide].astype(float)
    pooled = draws.size - kept.sum(), draws.size - seen.sum()
    if pooled[0] >= _LEAST_EXPECTED:
        kept, seen = np.append(kept, pooled[0]), np.append(seen, pooled[1])
    else:
        kept[-1], seen[-1] = kept[-1] + pooled[0], seen[-1] + pooled[1]
    assert kept.size > 1, "too few draws for so wide a law"
    statistic = float(((seen - kept) ** 2 / kept).sum())
    return bool(stats.chi2.sf(statistic, kept.size - 1) > FALSE_ALARM)


def choices_follow(draws: NDArray[np.int64], chances: NDArray[np.float64]) -> bool:
    """Tell whether indices follow given chances, by chi-square, rare ones pooled."""
    expected = chances / chances.sum() * draws.size
    observed = np.bincount(draws, minlength=expected.size).astype(float)
    assert observed.size == expected.size, "an index beyond every candidate"
    cell = np.where(expected >= _LEAST_EXPECTED, np.arange(expected.size), 0)
    kept, seen = np.bincount(cell, expected), np.bincount(cell, observed)
    kept, seen = kept[kept > 0], seen[kept > 0]
    statistic = float(((seen - kept) ** 2 / kept).sum())
    return bool(stats.chi2.sf(statistic, max(kept.size - 1, 1)) > FALSE_ALARM)


def reals_follow(draws: NDArray[np.floating], cdf: Callable[..., object]) -> bool:
    """Tell whether reals follow a law, by a Kolmogorov-Smirnov test.

    P[sqrt(n) D > x] <= 2 exp(-2 x**2) for every n (Massart). Of many draws D is taken
    at 4,000 of them, where it is no greater, and less by at most 1/4000.
    """
    places = np.linspace(0, draws.size - 1, min(draws.size, _PLACES)).astype(int)
    levels = np.asarray(cdf(np.sort(draws)[places]), dtype=float)
    above, below = (places + 1) / draws.size - levels, levels - places / draws.size
    distance = max(above.max(), below.max())
    return bool(2 * np.exp(-2 * draws.size * distance**2) > FALSE_ALARM)


def is_at_least(hits: NDArray[np.bool_], share: float) -> bool:
    """Tell whether the chance of a hit may be so much: denied once in 1e9 if it is.

    Of 100,000 draws around 0.9 a chance that is 0.01 less is denied but once in 1e5.
    """
    count = int(np.count_nonzero(hits))
    return bool(stats.binom.cdf(count, hits.size, share) > FALSE_ALARM)


def is_at_most(hits: NDArray[np.bool_], share: float) -> bool:
    """Tell whether the chance of a hit may be so little: denied once in 1e9 if it is.

    It is to be asked where a chance may not be *more*, and `not is_at_least` where a
    mutant must be *less*: its chance has to lie 12 deviations below.
    """
    count = int(np.count_nonzero(hits))
    return bool(stats.binom.sf(count - 1, hits.size, share) > FALSE_ALARM)


def alike(first: NDArray[np.int64], second: NDArray[np.int64]) -> bool:
    """Tell whether two samples of small integers follow one law, by chi-square."""
    size = int(max(first.max(), second.max())) + 1
    table = np.array([np.bincount(x, minlength=size) for x in (first, second)], float)
    table = table[:, table.sum(axis=0) > 0]
    return bool(stats.chi2_contingency(table).pvalue > FALSE_ALARM)


MOST_UNEVEN = 51.0
"""Chi-square with 5 degrees of freedom is above this once in 1e9 runs."""


def unevenness_of(engine: AbstractEngine, dice: Any, ids: int) -> float:
    """Return the chi-square of keeping one of six rows, by side, of each of many ids.

    All ids have the same six rows, so nothing but the hash decides.
    """
    rows = Source("t", engine.open("t", dice, {}))
    answer: Any = engine.answer(question_of(bound_rows(rows, ("id",), 1), "side"))
    counts = answer.column(1).to_pylist()
    assert sum(counts) == ids
    return float(sum((count - ids / 6) ** 2 for count in counts) / (ids / 6))
