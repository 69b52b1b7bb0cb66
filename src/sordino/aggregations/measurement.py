"""Measurements: exact totals, how far they move, and the noise that a share buys.

Aggregations that need the same number share a measurement, which is paid for once.
Shares of one kind add up: epsilons with Laplace noise, squares of mu or rhos with
Gaussian noise (docs/proofs/queries.md, lemmas 6 and 9).

>>> half = LaplaceShare(Fraction(1)).times(Fraction(1, 2))
>>> half.integers(Sensitivity(l0=3, linf=1))
Geometric(scale=6, dtype='i64')

With unknown keys and Gaussian noise, a key that is new to the release costs the chance
that it appears, and a key of both databases the noise on its numbers. One unit touches
at most l0 keys, so with j new ones only l0 - j are told apart by noise (lemma 8).

Kernel: sensitivity.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from itertools import starmap
from typing import Any, Final, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from sordino.aggregations.intervals import Noise as Noise_from_intervals
from sordino.expressions.language import Expression
from sordino.expressions.tree import AbstractExpression
from sordino.losses.budgets.charge import largest_parameter
from sordino.losses.closed import ZCDP, ApproxDP, ApproxZCDP, GaussianDP
from sordino.losses.loss import Loss, PureDP, compose
from sordino.losses.thresholded import JointLoss
from sordino.noise.additive import AbstractAdditiveMechanism, AbstractNoiseMechanism
from sordino.noise.gaussian import Gaussian
from sordino.noise.key_rounds import ToldNumbers
from sordino.noise.laplace import Geometric, Laplace
from sordino.noise.sampling.bits import BitSource
from sordino.noise.sensitivity import Sensitivity
from sordino.noise.threshold.fitting import (
    fit_threshold,
    gaussian_ratio,
    positive_change,
)
from sordino.noise.threshold.gaussian import GaussianThreshold
from sordino.noise.threshold.laplace import LaplaceSumThreshold, LaplaceThreshold
from sordino.noise.threshold.mechanism import (
    AbstractThresholdMechanism,
    Change,
    any_passes,
)
from sordino.numbers import INFINITE, Exact, down, finite, rational_above, sqrt, up
from sordino.numbers.canonical import Words

MOST: Final = 2**53
"""Where exact totals saturate: all of them are doubles without rounding."""


class AbstractTotal(ABC):
    """An exact integer for each group."""

    @abstractmethod
    def names(self) -> frozenset[str]:
        """Return the columns that are read."""

    @property
    @abstractmethod
    def certificate(self) -> Words:
        """The contribution of a row to it, as a certificate has it."""


@final
@dataclass(frozen=True)
class Total(AbstractTotal):
    """The sum of factor * x + shift over the rows of a group in which x is not missing.

    Totals of the same x differ in integers alone, so an engine computes x once. Where
    the facts say that x is never missing and it is, an engine may take it for 0: what
    is promised of a total holds of factor * 0 + shift, too.
    """

    expression: AbstractExpression
    """x, an i64."""
    factor: int = 1
    shift: int = 0

    def names(self) -> frozenset[str]:
        return self.expression.names()

    @property
    def certificate(self) -> Words:
        cell = self.expression.cell
        return {"cell": cell, "factor": self.factor, "shift": self.shift}


@final
@dataclass(frozen=True)
class Missing(AbstractTotal):
    """`times` for each row of a group in which x is missing.

    All rows less those that a `Total` of the same x adds up, so that no engine looks
    at x another time.
    """

    expression: AbstractExpression
    """x, an i64."""
    times: int = 1

    def names(self) -> frozenset[str]:
        return self.expression.names()

    @property
    def certificate(self) -> Words:
        cell = {"missing": self.expression.cell}
        return {"cell": cell, "factor": self.times, "shift": 0}


@final
@dataclass(frozen=True)
class Distinct(AbstractTotal):
    """How many different values of some columns a group has, none of them missing."""

    columns: tuple[str, ...]

    def names(self) -> frozenset[str]:
        return frozenset(self.columns)

    @property
    def certificate(self) -> Words:
        return {"distinct": list(self.columns)}


@final
@dataclass(frozen=True)
class Extreme:
    """The least or the greatest value of some rows: a number, a date or a time.

    No value is NaN: engines disagree on where it stands.
    """

    expression: AbstractExpression
    is_greatest: bool

    def names(self) -> frozenset[str]:
        """Return the columns of the expression."""
        return self.expression.names()


Ends = tuple[Any, Any]
_LARGEST: Final = Fraction(2) ** 200
"""Beyond, bounds are of no use to any question."""
_FIRST: Final = -(2**63)
_LAST: Final = 2**63 - 1


def _alone(total: Expression) -> Expression:
    return total


@final
@dataclass(frozen=True)
class Summary:
    """Totals and extremes of the rows of an id, and the value that they make."""

    totals: tuple[AbstractTotal, ...] = ()
    extremes: tuple[Extreme, ...] = ()
    value: Callable[..., Expression] = _alone
    """Takes the totals, then the extremes."""
    bounds: Ends | None = None
    nullable: bool = False
    """Whether it is missing where no row has a value."""


def ends_of_sum(ends: tuple[Any, Any], most: int | None) -> Ends | None:
    """Bounds on the sum of up to `most` numbers, each between two ends.

    >>> ends_of_sum((-1, 3), 5), ends_of_sum((-0.25, 0.5), 3)
    ((-5, 15), (-0.75, 1.5))
    """
    if most is None:
        return None
    least, greatest = (most * Fraction(end) for end in ends)
    low, high = min(Fraction(0), least), max(Fraction(0), greatest)
    if max(-low, high) > _LARGEST:
        return None
    return plain_ends(low, high)


def plain_ends(low: Fraction, high: Fraction) -> Ends:
    """Return bounds as integers, or as the doubles around them.

    >>> plain_ends(Fraction(0), Fraction(15, 2))
    (0, 7.5)
    """
    return (
        int(low) if low.denominator == 1 else down(low),  # outward: no value falls out
        int(high) if high.denominator == 1 else up(high),
    )


def whole_ends(low: Fraction, high: Fraction) -> tuple[int, int]:
    """Return the integers around two bounds, as far as they fit into 64 bits.

    >>> whole_ends(Fraction(-1, 2), Fraction(10**30))
    (-1, 9223372036854775807)
    """
    first, last = low.__floor__(), high.__ceil__()
    return min(max(first, _FIRST), _LAST), min(max(last, _FIRST), _LAST)


@final
@dataclass(frozen=True)
class KeptMeasurements:
    """The loss of Gaussian noise on several numbers, by how many keys are kept."""

    measurements: tuple[tuple[Fraction, Fraction], ...]
    """(mu squared, most share of it that one key can hold)"""

    def __call__(self, keys: int) -> Loss:
        """Loss if `keys` of the changed keys exist in both databases."""
        if keys == 0:
            return PureDP(0)  # no number is in both databases
        # fewer common keys move less, but never more than all of a change
        squares = (
            mu * min(Fraction(1), share * keys) for mu, share in self.measurements
        )
        return GaussianDP(sqrt(sum(squares, Fraction(0))))


def joint_loss(
    selection: GaussianThreshold,
    presence: Sensitivity,
    noise: Sequence[tuple[Gaussian, Sensitivity]],
) -> JointLoss:
    """Return the joint loss of selecting keys and of the noise on their numbers."""
    apart = selection.change(presence)
    spent = [(selection.variance, presence)]
    spent += [(mechanism.variance, change) for mechanism, change in noise]
    kept = KeptMeasurements(tuple(starmap(_mu_and_share, spent)))
    rho = sum((mu for mu, _ in kept.measurements), Fraction(0)) / 2
    headline = ApproxZCDP(rho, selection.delta(apart))
    largest = rational_above(finite(presence.linf))
    # a key with all that a change adds is the likeliest to appear
    chance = any_passes(selection.law, selection.threshold - largest, 1)
    return JointLoss(headline, chance, int(apart.l0), kept)


def largest_mu(
    presence: Sensitivity, noise: Sequence[Sensitivity], budget: ApproxDP
) -> Fraction:
    """Return nearly the largest mu of all noise together within (epsilon, delta).

    `noise` are the changes of all numbers that are told, those of `presence` among
    them.
    """
    shares = [_one_key(change) for change in noise]
    apart = Change(presence.l0, Fraction(1), sqrt(max(shares)))
    ratio = gaussian_ratio(apart, down(budget.epsilon), budget.delta, on_lattice=False)
    return Fraction(ratio)


def told_numbers(mechanism: Gaussian, change: Sensitivity) -> ToldNumbers:
    """Cost of Gaussian noise on numbers whose keys are selected by weights."""
    return ToldNumbers(*_mu_and_share(mechanism.variance, change))


def _mu_and_share(variance: Exact, change: Sensitivity) -> tuple[Fraction, Fraction]:
    """Return mu squared of some noise, and the share that one key can hold."""
    return rational_above(finite(change.l2) ** 2 / variance), _one_key(change)


def _one_key(change: Sensitivity) -> Fraction:
    return rational_above(finite(change.linf) ** 2 / finite(change.l2) ** 2)


Noise: TypeAlias = Sequence[tuple[Any, Sensitivity]]
"""Mechanisms, and how far the numbers can move that they add noise to."""


class AbstractShare(ABC):
    """What a measurement, or a choice among candidates, may spend."""

    @abstractmethod
    def times(self, factor: Fraction) -> "AbstractShare":
        """Return so much of it: parts whose factors add up to 1 add up to it."""

    @abstractmethod
    def integers(self, change: Sensitivity) -> AbstractAdditiveMechanism:
        """Return the least noise for integers that move by at most a change."""

    @abstractmethod
    def reals(self, change: Sensitivity) -> AbstractAdditiveMechanism:
        """Return the least noise for numbers on a lattice."""

    @abstractmethod
    def threshold_noise(
        self, change: Sensitivity, delta: Fraction
    ) -> AbstractThresholdMechanism:
        """Return the least noise and threshold for counts of unknown keys."""

    @abstractmethod
    def loss_of(
        self, selection: Any, presence: Sensitivity | None, noise: Noise
    ) -> Loss:
        """Loss of a noise, composed with that of the selection of keys, if any."""

    @abstractmethod
    def rate(self, change: Sensitivity, curvature: Fraction) -> Exact:
        """Return the greatest rate of a choice for each row of a change."""

    @property
    @abstractmethod
    def loss(self) -> Loss:
        """Return the loss of a choice at that rate."""

    def loss_in_parts(self, choices: Sequence[Fraction], noise: Fraction) -> Loss:
        """Return the loss of choices and of noise, each of a part of the share."""
        del choices, noise
        # epsilon or rho: what noise loses is what choices would, and parts add up
        return self.loss


@final
@dataclass(frozen=True)
class LaplaceShare(AbstractShare):
    """An epsilon, for Laplace noise and for choices."""

    epsilon: Exact

    def times(self, factor: Fraction) -> "LaplaceShare":
        return LaplaceShare(self.epsilon * factor)

    def integers(self, change: Sensitivity) -> Geometric:
        # l1: the losses of all numbers add up
        return Geometric(finite(change.l1) / self.epsilon)

    def reals(self, change: Sensitivity) -> Laplace:
        return Laplace(finite(change.l1) / self.epsilon)

    def threshold_noise(self, change: Sensitivity, delta: Fraction) -> LaplaceThreshold:
        scale = finite(change.l1) / self.epsilon
        probe = LaplaceThreshold(scale, 1, dtype="i64")
        apart = positive_change(probe.change(change), change)
        return fit_threshold(probe, apart, delta, negative=False)

    def loss_of(
        self, selection: Any, presence: Sensitivity | None, noise: Noise
    ) -> Loss:
        keys = [] if selection is None else [selection.map(presence)]
        # keys and numbers are told both: their losses add up
        return compose([*keys, *(mechanism.map(change) for mechanism, change in noise)])

    def rate(self, change: Sensitivity, curvature: Fraction) -> Exact:
        del curvature
        # l1: one row's rate is paid as often as rows of a unit come
        return self.epsilon / finite(change.l1)

    @property
    def loss(self) -> PureDP:
        return PureDP(self.epsilon)


class AbstractGaussianShare(AbstractShare):
    """A square of mu, for Gaussian noise.

    Noise for integers is continuous and the sum is rounded afterwards, so that its loss
    is exactly that of the Gaussian (lemma 6). A selection of keys and the noise beside
    it have a joint loss (lemma 8).
    """

    mu_squared: Exact

    def integers(self, change: Sensitivity) -> Gaussian:
        return self.reals(change)  # rounded after the noise, which costs nothing

    def reals(self, change: Sensitivity) -> Gaussian:
        # the share is mu squared, and mu is l2 / sigma
        return Gaussian(variance=finite(change.l2) ** 2 / self.mu_squared)

    def threshold_noise(
        self, change: Sensitivity, delta: Fraction
    ) -> GaussianThreshold:
        variance = finite(change.l2) ** 2 / self.mu_squared
        probe = GaussianThreshold(variance=variance, threshold=1)
        apart = positive_change(probe.change(change), change)
        return fit_threshold(probe, apart, delta, negative=False)

    def loss_of(
        self, selection: Any, presence: Sensitivity | None, noise: Noise
    ) -> Loss:
        if selection is None or presence is None:
            return compose([mechanism.map(change) for mechanism, change in noise])
        return joint_loss(selection, presence, noise)


@final
@dataclass(frozen=True)
class GaussianShare(AbstractGaussianShare):
    """A square of mu; a choice spends the largest epsilon that it stands for."""

    mu_squared: Exact

    def times(self, factor: Fraction) -> "GaussianShare":
        return GaussianShare(self.mu_squared * factor)

    @property
    def loss(self) -> PureDP:
        return PureDP(self._epsilon)

    def loss_in_parts(self, choices: Sequence[Fraction], noise: Fraction) -> Loss:
        # squares of mu add up, and the epsilons that they stand for do not
        drawn = GaussianDP(sqrt(self.mu_squared * noise))
        return compose([*(self.times(part).loss for part in choices), drawn])

    @cached_property
    def _epsilon(self) -> Fraction:
        return largest_parameter(GaussianDP(sqrt(self.mu_squared)), PureDP)

    def rate(self, change: Sensitivity, curvature: Fraction) -> Exact:
        return LaplaceShare(self._epsilon).rate(change, curvature)


@final
@dataclass(frozen=True)
class ConcentratedShare(AbstractGaussianShare):
    """A square of mu, standing for half as much rho, which choices can spend too."""

    mu_squared: Exact

    def times(self, factor: Fraction) -> "ConcentratedShare":
        return ConcentratedShare(self.mu_squared * factor)

    def rate(self, change: Sensitivity, curvature: Fraction) -> Exact:
        # l2: rho adds up in the squares of what rows cost
        return sqrt(self.mu_squared / 2 / curvature) / finite(change.l2)

    @property
    def loss(self) -> ZCDP:
        return ZCDP(self.mu_squared / 2)


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

    def mechanism(self, share: AbstractShare) -> AbstractAdditiveMechanism:
        """Return the least noise that a share buys: that of real numbers."""
        return share.reals(self.change)

    @abstractmethod
    def scale_totals(self, exact: Integers) -> Numbers:
        """Return exact totals in the units of the released numbers."""

    def finish(self, noisy: Numbers) -> Numbers:
        """Return the numbers to release, from noisy totals."""
        return noisy

    def noise(self, mechanism: AbstractNoiseMechanism) -> Noise_from_intervals:
        """Return the noise of the released numbers, for error bars."""
        return Noise_from_intervals(mechanism)

    @property
    @abstractmethod
    def certificate(self) -> dict[str, Words]:
        """Return by which lemma its numbers move, and what is added up."""


def certify_totals(rule: str, totals: Sequence[AbstractTotal]) -> dict[str, Words]:
    """Return totals by the rule that bounds them; different values have their own."""
    words: list[Words] = [total.certificate for total in totals]
    match words:
        case [{"distinct": columns}]:
            return {"of": "distinct", "columns": columns}
        case _:
            return {"of": rule, "totals": words}


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

    @property
    def certificate(self) -> dict[str, Words]:
        return certify_totals("sum" if len(self.totals) == 1 else "bins", self.totals)

    def mechanism(self, share: AbstractShare) -> AbstractAdditiveMechanism:
        return share.integers(self.change)

    def scale_totals(self, exact: Integers) -> Numbers:
        return exact

    def finish(self, noisy: Numbers) -> Integers:
        return round_to_integers(noisy)

    def noise(self, mechanism: AbstractNoiseMechanism) -> Noise_from_intervals:
        """Return the noise, and up to a half where sums are rounded to integers."""
        moved = 0 if mechanism.input_domain.is_integer else _HALF
        return Noise_from_intervals(mechanism, rounding=Fraction(moved))

    @property
    def whole(self) -> Sensitivity:  # type: ignore[override]
        return self.change

    def selection(self, share: AbstractShare, delta: Fraction) -> Any:
        return share.threshold_noise(self.change, delta)

    def select(
        self, selection: Any, exact: Sequence[Integers], bits: BitSource
    ) -> tuple[Integers, tuple[Numbers, ...]]:
        passing = selection.select(exact[0], bits)
        return passing.rows, (self.finish(passing.answers),)

    def level(self, selection: Any) -> Fraction:
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

    @property
    def certificate(self) -> dict[str, Words]:
        rule = "sum" if len(self.totals) == 1 else "sized"
        return certify_totals(rule, self.totals) | {"exponent": self.exponent}

    def scale_totals(self, exact: Integers) -> Numbers:
        return np.ldexp(exact.astype(np.float64), self.exponent)  # exact up to 2**53


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
    def certificate(self) -> dict[str, Words]:
        return certify_totals("together", self.totals) | {"exponent": self.exponent}

    @property
    def whole(self) -> Sensitivity:  # type: ignore[override]
        change = self.change
        assert change.l0 is not INFINITE  # noqa: S101 measurements bound their change
        # of each group all numbers move together, by one row's size at most
        return replace(change, l0=change.l0 // len(self.totals))

    def scale_totals(self, exact: Integers) -> Numbers:
        return np.ldexp(exact.astype(np.float64), self.exponent)  # exact up to 2**53

    def selection(self, share: AbstractShare, delta: Fraction) -> LaplaceSumThreshold:
        assert isinstance(share, LaplaceShare)  # noqa: S101 so plans are made
        loss = ApproxDP(share.epsilon, delta)
        return LaplaceSumThreshold.for_loss(loss, self.whole, numbers=len(self.totals))

    def select(
        self, selection: Any, exact: Sequence[Integers], bits: BitSource
    ) -> tuple[Integers, tuple[Numbers, ...]]:
        passing = selection.select([self.scale_totals(total) for total in exact], bits)
        return passing.rows, passing.answers

    def level(self, selection: Any) -> Fraction:
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
    # after the noise: rounding what is public costs nothing
    whole = np.floor(noisy.astype(np.float64) + _HALF)
    # clipped first: a double beyond 64 bits would wrap to the other sign
    return np.clip(whole, -_MOST, _MOST).astype(np.int64)


def scale_change(change: Sensitivity, factor: Any, copies: int = 1) -> Sensitivity:
    """Return a change of row counts as one of sums of numbers of at most a size.

    With `copies` the numbers of a row are several, of that size together.
    """
    return change.times(Fraction(factor), copies)
