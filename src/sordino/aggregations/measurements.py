"""The noisy numbers that a release is made of: exact totals and how far they can move.

Two aggregations that need the same number share one part, and it is paid for once.
"""

from abc import ABC, abstractmethod
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, Final, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from sordino.aggregations.intervals import Noise
from sordino.aggregations.shares import AbstractShare, LaplaceShare
from sordino.aggregations.totals import AbstractTotal
from sordino.losses.closed import ApproxDP
from sordino.mechanisms.laplace_sum_threshold import LaplaceSumThreshold
from sordino.mechanisms.noise_mechanism import (
    AbstractAdditiveMechanism,
    AbstractNoiseMechanism,
)
from sordino.numbers import INFINITE
from sordino.sampling.bits import BitSource
from sordino.sensitivity import Sensitivity

Integers: TypeAlias = NDArray[np.int64]
Numbers: TypeAlias = NDArray[Any]

_MOST: Final = 2.0**62
_HALF: Final = 0.5


class AbstractMeasurement(ABC):
    """Exact totals that get noise together: the numbers a release is made of.

    Proof obligation: for any two tables that differ by the protected change, the vector
    of all its totals in all groups, in units of what is released, differs by at most
    `change`.
    """

    key: Hashable
    """Parts with equal keys are the same numbers."""
    change: Sensitivity
    totals: tuple[AbstractTotal, ...]
    """What the engine is to add up."""

    @abstractmethod
    def mechanism(self, share: AbstractShare) -> AbstractAdditiveMechanism:
        """Return the least noise that a share buys."""

    @abstractmethod
    def scale_totals(self, exact: Integers) -> Numbers:
        """Return exact totals in the units of the released numbers."""

    @abstractmethod
    def finish(self, noisy: Numbers) -> Numbers:
        """Return the numbers to release, from noisy totals."""

    @abstractmethod
    def noise(self, mechanism: AbstractNoiseMechanism) -> Noise:
        """Return the noise of the released numbers, for error bars."""


class AbstractPresence(AbstractMeasurement):
    """A measurement that can show which groups exist, by a sum of its numbers."""

    whole: Sensitivity
    """How far the sums of the numbers of each group move."""
    size: Fraction
    """What the numbers of a group add up to for each that is counted in it."""

    @abstractmethod
    def selection(self, share: AbstractShare, delta: Fraction) -> Any:
        """Return the mechanism that shows groups whose numbers reach a threshold."""

    @abstractmethod
    def select(
        self, selection: Any, exact: Sequence[Integers], bits: BitSource
    ) -> tuple[Integers, tuple[Numbers, ...]]:
        """Return the places of the groups that are shown, and their noisy numbers."""

    @abstractmethod
    def level(self, selection: Any) -> Fraction:
        """Return how many must be counted in a group, noise included, to show it."""


@final
@dataclass(frozen=True)
class IntegerMeasurement(AbstractPresence):
    """Integers that are released as integers: counts, and sums of integers."""

    key: Hashable
    change: Sensitivity
    totals: tuple[AbstractTotal, ...] = field(compare=False)
    size: Fraction = field(default=Fraction(1), init=False)

    def mechanism(self, share: AbstractShare) -> AbstractAdditiveMechanism:
        """Return noise for integers."""
        return share.integers(self.change)

    def scale_totals(self, exact: Integers) -> Numbers:
        """Return the totals as they are."""
        return exact

    def finish(self, noisy: Numbers) -> Integers:
        """Return integers, rounding numbers that are none: each by itself."""
        return round_to_integers(noisy)

    def noise(self, mechanism: AbstractNoiseMechanism) -> Noise:
        """Return the noise, and up to a half where sums are rounded to integers."""
        moved = 0 if mechanism.input_domain.is_integer else _HALF
        return Noise(mechanism, rounding=Fraction(moved))

    @property
    def whole(self) -> Sensitivity:  # type: ignore[override]
        """Return the change: each group has one number."""
        return self.change

    def selection(self, share: AbstractShare, delta: Fraction) -> Any:
        """Return noise for counts, and a threshold."""
        return share.threshold_noise(self.change, delta)

    def select(
        self, selection: Any, exact: Sequence[Integers], bits: BitSource
    ) -> tuple[Integers, tuple[Numbers, ...]]:
        """Return the groups whose noisy count reaches the threshold."""
        passing = selection.select(exact[0], bits)
        return passing.rows, (self.finish(passing.answers),)

    def level(self, selection: Any) -> Fraction:
        """Return the threshold."""
        threshold: Fraction = selection.threshold
        return threshold


@final
@dataclass(frozen=True)
class LatticeMeasurement(AbstractMeasurement):
    """Multiples of 2**exponent that are released as doubles."""

    key: Hashable
    change: Sensitivity
    exponent: int
    totals: tuple[AbstractTotal, ...] = field(compare=False)

    def mechanism(self, share: AbstractShare) -> AbstractAdditiveMechanism:
        """Return noise for real numbers."""
        return share.reals(self.change)

    def scale_totals(self, exact: Integers) -> Numbers:
        """Return multiples of the step: totals of at most 2**53 steps are doubles."""
        return np.ldexp(exact.astype(np.float64), self.exponent)

    def finish(self, noisy: Numbers) -> Numbers:
        """Return the doubles."""
        return noisy

    def noise(self, mechanism: AbstractNoiseMechanism) -> Noise:
        """Return the noise."""
        return Noise(mechanism)


@final
@dataclass(frozen=True)
class DividedMeasurement(AbstractPresence):
    """Nonnegative numbers that each row is divided into, by one rule for all rows.

    For any row they add up to `size` at most, so over all of them a change is no
    greater than that of their sum (docs/proofs/moments.md, lemma 2).
    """

    key: Hashable
    change: Sensitivity
    size: Fraction
    exponent: int
    totals: tuple[AbstractTotal, ...] = field(compare=False)

    @property
    def whole(self) -> Sensitivity:  # type: ignore[override]
        """Return the same norms for fewer numbers: one for each group."""
        change = self.change
        assert change.l0 is not INFINITE  # noqa: S101 measurements bound their change
        return replace(change, l0=change.l0 // len(self.totals))

    def mechanism(self, share: AbstractShare) -> AbstractAdditiveMechanism:
        """Return noise for real numbers."""
        return share.reals(self.change)

    def scale_totals(self, exact: Integers) -> Numbers:
        """Return multiples of the step: totals of at most 2**53 steps are doubles."""
        return np.ldexp(exact.astype(np.float64), self.exponent)

    def finish(self, noisy: Numbers) -> Numbers:
        """Return the doubles."""
        return noisy

    def noise(self, mechanism: AbstractNoiseMechanism) -> Noise:
        """Return the noise."""
        return Noise(mechanism)

    def selection(self, share: AbstractShare, delta: Fraction) -> LaplaceSumThreshold:
        """Return Laplace noise for the numbers, and a threshold for their sum."""
        assert isinstance(share, LaplaceShare)  # noqa: S101 so plans are made
        loss = ApproxDP(share.epsilon, delta)
        return LaplaceSumThreshold.for_loss(loss, self.whole, numbers=len(self.totals))

    def select(
        self, selection: Any, exact: Sequence[Integers], bits: BitSource
    ) -> tuple[Integers, tuple[Numbers, ...]]:
        """Return the groups whose noisy numbers reach the threshold together."""
        passing = selection.select([self.scale_totals(total) for total in exact], bits)
        return passing.rows, passing.answers

    def level(self, selection: Any) -> Fraction:
        """Return the threshold, in rows."""
        threshold: Fraction = selection.threshold
        return threshold / self.size


def draw(
    part: AbstractMeasurement,
    mechanism: AbstractAdditiveMechanism,
    exact: Sequence[Integers],
    bits: BitSource,
) -> tuple[Numbers, ...]:
    """Return the noisy values of each total of a part, fresh noise on every number."""
    kind, noise = mechanism.input_domain.numpy, mechanism.carrier
    return tuple(
        part.finish(noise.many(part.scale_totals(total).astype(kind, copy=False), bits))
        for total in exact
    )


def round_to_integers(noisy: Numbers) -> Integers:
    """Return the nearest integers, halves upwards, within 64 bits."""
    if noisy.dtype.kind == "i":
        return noisy.astype(np.int64, copy=False)
    whole = np.floor(noisy.astype(np.float64) + _HALF)
    return np.clip(whole, -_MOST, _MOST).astype(np.int64)


def scale_change(change: Sensitivity, factor: Any, copies: int = 1) -> Sensitivity:
    """Return a change of row counts as one of sums of numbers of at most a size.

    With `copies` the numbers of a row are several, of that size together.
    """
    return change.times(Fraction(factor), copies)
