"""Counts of many known groups, released less a share of all ids.

An id that lies in many groups moves each of their counts; told less a share c of the
number of ids n, it moves those where it is by 1 - c and the others by c, which is less
in all. One number for the whole table, n, then serves every group. For Gaussian noise
(docs/proofs/moments.md, lemma 6).
"""

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Final, final

import numpy as np

from sordino.aggregations.base import Setting
from sordino.aggregations.estimators import LinearEstimator
from sordino.aggregations.intervals import Noise
from sordino.aggregations.measurements import (
    AbstractMeasurement,
    IntegerMeasurement,
    Integers,
    Numbers,
)
from sordino.aggregations.shares import AbstractShare
from sordino.aggregations.totals import AbstractTotal, Distinct
from sordino.mechanisms.noise_mechanism import (
    AbstractAdditiveMechanism,
    AbstractNoiseMechanism,
)
from sordino.numbers import finite, rational_above, sqrt
from sordino.sensitivity import Sensitivity

_STEP: Final = 6
"""Shares of the number of ids are multiples of 2**-6."""
_FEWEST: Final = 8
"""Fewer groups gain less than a third, and would err together for that."""
_MOST_ROWS: Final = 2**10
"""Of an id in a group: 2**48 ids, more than any table has, add up within 64 bits."""


@final
@dataclass(frozen=True)
class WholeMeasurement(AbstractMeasurement):
    """How many ids there are in all groups and beside them: one number for all."""

    key: Hashable
    totals: tuple[AbstractTotal, ...] = field(compare=False)
    change: Sensitivity = field(default=Sensitivity(l0=1, linf=1), init=False)

    def mechanism(self, share: AbstractShare) -> AbstractAdditiveMechanism:
        """Return noise for real numbers."""
        return share.reals(self.change)

    def scale_totals(self, exact: Integers) -> Numbers:
        """Return the number as a double."""
        return exact.astype(np.float64)

    def finish(self, noisy: Numbers) -> Numbers:
        """Return the double."""
        return noisy

    def noise(self, mechanism: AbstractNoiseMechanism) -> Noise:
        """Return the noise."""
        return Noise(mechanism)


@final
@dataclass(frozen=True)
class CentredMeasurement(AbstractMeasurement):
    """Counts of known groups, each less a share of the number of ids.

    For any two tables that differ by one id, the count of at most k of d groups moves
    by at most `most`, and n by 1: an id in j of them moves the squares by
    most**2 (j (1 - 2 c) + d c**2), which grows with j (lemma 6).
    """

    key: Hashable
    change: Sensitivity
    steps: int
    """What is taken off a count for each id, in 2**-6."""
    ids: WholeMeasurement
    totals: tuple[AbstractTotal, ...] = field(compare=False)

    def less(self, exact: Sequence[Integers], ids: int) -> list[Integers]:
        """Return exact counts less the share of the number of ids, in 2**-6."""
        return [(counts << _STEP) - self.steps * ids for counts in exact]

    def mechanism(self, share: AbstractShare) -> AbstractAdditiveMechanism:
        """Return noise for real numbers."""
        return share.reals(self.change)

    def scale_totals(self, exact: Integers) -> Numbers:
        """Return the numbers in rows."""
        return np.ldexp(exact.astype(np.float64), -_STEP)

    def finish(self, noisy: Numbers) -> Numbers:
        """Return the doubles."""
        return noisy

    def noise(self, mechanism: AbstractNoiseMechanism) -> Noise:
        """Return the noise."""
        return Noise(mechanism)


@final
@dataclass(frozen=True)
class CentredCounts:
    """The number of ids, and the counts less a share of it."""

    measurements: tuple[WholeMeasurement, CentredMeasurement]
    units: tuple[Fraction, ...] = (Fraction(1), Fraction(1))
    size: int | None = None


def centred_estimator(
    setting: Setting, counted: IntegerMeasurement
) -> LinearEstimator | None:
    """Return counts of known groups by way of centred ones, None where that is no use.

    It is of use where ids are protected, and one may lie in several of the groups.
    """
    groups, ids = setting.groups, setting.ids
    if ids is None or groups is None or groups < _FEWEST or setting.spread is not None:
        return None
    touched = min(int(counted.change.l0), groups)
    most = rational_above(finite(counted.change.linf))
    steps = math.floor(_best_share(touched, groups) * 2**_STEP)
    if touched < 2 or steps == 0 or most > _MOST_ROWS or most.denominator > 1:
        return None
    whole = WholeMeasurement(("ids everywhere", ids), (Distinct((ids,)),))
    share = Fraction(steps, 2**_STEP)
    squares = touched * (1 - 2 * share) + groups * share**2
    change = Sensitivity(
        l0=groups,
        l1=most * (touched * (1 - share) + (groups - touched) * share),
        l2=most * sqrt(squares),
        linf=most * (1 - share),
    )
    key = ("centred", counted.key, steps)
    taken = steps * int(most)
    centred = CentredMeasurement(key, change, taken, whole, counted.totals)
    form = (share * most, Fraction(1))
    counts = CentredCounts((whole, centred))
    return LinearEstimator(counts, form, least=0, whole=True, remark=_TOGETHER)


_TOGETHER: Final = "groups err together: ask for totals of many, do not add them up"


def _best_share(touched: int, groups: int) -> float:
    """Return the share of the number of ids that makes counts err least."""
    if groups == 1:
        return 0.0
    spread = math.sqrt(touched * (groups - touched) / (groups - 1))
    return min(0.5, (touched - spread) / groups)
