"""Privacy loss as a value: exact guarantees beside a curve, and how losses add up.

A loss bounds, for any two neighbouring databases and in both directions, how well an
attacker can tell them apart (`answers`). Releases together cost the sum of their
losses: exact parameters add up at once, curves are convolved when they are first asked.

>>> tenth = PureDP("0.1") * 10
>>> tenth.epsilon, tenth.epsilon_at(1e-6) < 1
(Fraction(1, 1), True)
"""

from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial
from typing import (
    Any,
    ClassVar,
    Literal,
    Protocol,
    TypeAlias,
    final,
    runtime_checkable,
)

from sordino import _validate
from sordino._completion import hides
from sordino._fields import fill
from sordino.curves.breach_curve import BreachCurve, joint_breach
from sordino.curves.concentrated_curve import ConcentratedCurve
from sordino.curves.curve import AbstractCurve
from sordino.curves.laws.derived import sampled_laws
from sordino.curves.response import ResponseCurve
from sordino.curves.table_curve import LawCurve, SumCurve
from sordino.errors import InvalidParameter
from sordino.losses import conversion
from sordino.losses.allowance import Allowance, Family, finite_parameter
from sordino.losses.answers import AbstractAnswers, AbstractHeadline
from sordino.losses.folding import Chances, add_pieces
from sordino.losses.guarantees import (
    NOTHING,
    Guarantees,
    pure_guarantees,
    sum_guarantees,
)
from sordino.numbers import (
    Extended,
    Number,
    distance,
    positive,
    probability,
    up,
)
from sordino.words import Words, call, number

Counts: TypeAlias = "dict[Loss, int]"
"""Losses and how often each occurs."""
Pieces: TypeAlias = tuple[Counts, Chances]
"""What a loss comes apart into."""
Stated: TypeAlias = Literal["epsilon", "rho", "mu", "advantage", "itself"]
"""The terms that a release is stated in under a budget."""


@runtime_checkable
class Budget(Protocol):
    """What may be spent: a loss, or a risk that an attacker may pose."""

    stated_by: ClassVar[Stated]

    def admits(self, loss: "Loss") -> bool:
        """Say whether this certainly covers a loss."""

    def allowance(self, family: Family) -> Allowance | None:
        """Return what a family of noise may spend, None where it may spend nothing."""

    def times(self, factor: Fraction) -> "Budget":
        """Return so many times this budget: what as many releases of it add up to."""


@hides(
    *("fold", "pieces", "times", "allowance"),
    *("stated_by", "sums", "tradeoff", "words"),
)
class Loss(AbstractAnswers):
    """What a release costs, or what may be spent.

    Proof obligation: for any two neighbouring databases, the trade-off curve between
    the two laws of outputs lies on or above `beta_at`.
    """

    stated_by: ClassVar[Stated] = "itself"

    def compose(self, *others: "Loss") -> "Loss":
        """Return the loss of this release together with others."""
        return compose([self, *others])

    def subsampled(self, q: Any) -> "Loss":
        """Return the loss on a Poisson sample: each unit kept with probability q."""
        return subsample(self, q)

    def admits(self, loss: "Loss") -> bool:
        """Say whether, as a budget, this certainly covers a loss.

        A loss without a closed form is a budget only for itself and for nothing.
        """
        return loss == self or loss.guarantees == NOTHING

    def pieces(self) -> Pieces:
        """Return what the loss comes apart into: losses, and chances of a breach.

        Each with how often it occurs, and none where nothing is revealed. For any
        release with this loss, all of them together bound what it reveals.
        """
        return ({} if self.guarantees == NOTHING else {self: 1}), {}

    @property
    def sums(self) -> dict[str, Extended]:
        """Return the parameters that add up from release to release, if they say all.

        They are named as filters name them; the square of mu is what adds up of mu.
        """
        return {}

    def allowance(self, family: Family) -> Allowance | None:
        """Return what a family of noise may spend, None where it may spend nothing.

        A loss without a closed form is a budget for no noise at all.
        """
        del family
        raise InvalidParameter(
            "budget", self, "allows nothing, or everything", "Try sd.PureDP(1)."
        )

    def times(self, factor: Fraction) -> "Budget":
        """Return so many times this budget: what as many releases of it add up to."""
        del factor
        raise InvalidParameter(
            "budget",
            self,
            "cannot be shared or multiplied",
            "State it as sd.PureDP, sd.ApproxDP, sd.ZCDP or sd.GaussianDP.",
        )

    def __add__(self, other: object) -> "Loss":
        """Compose two losses."""
        if isinstance(other, Loss):
            return compose([self, other])
        return NotImplemented

    def __radd__(self, other: object) -> "Loss":
        """Let `sum` begin at zero."""
        if other == 0:
            return self
        return NotImplemented

    def __mul__(self, times: int) -> "Loss":
        """Compose a loss with itself."""
        return _sum([(self, _validate.integer(times=times, least=0))])

    __rmul__ = __mul__

    def __truediv__(self, parts: Number) -> "Budget":
        """Return the budget of one of so many equal parts, which add up to this.

        >>> PureDP(1) / 5
        PureDP(epsilon=0.2)
        """
        count = positive(parts=parts)
        if not isinstance(count, Fraction):
            raise InvalidParameter(
                "parts", parts, "must be rational", "Try budget / 2."
            )
        return self.times(1 / count)


class AbstractFoldingLoss(Loss):
    """A loss whose kind is closed under addition: several add up to one."""

    @classmethod
    @abstractmethod
    def fold(cls, group: Counts) -> Loss:
        """Return the one loss of this kind that several of this kind add up to."""


@final
@dataclass(frozen=True, repr=False)
class PureDP(Loss):
    """epsilon-differential privacy: no worse than randomized response."""

    epsilon: Extended

    def __init__(self, epsilon: Any) -> None:
        """Read the parameter exactly."""
        fill(self, epsilon=distance(epsilon=epsilon))

    @property
    def words(self) -> Words:
        """Return the name and the exact parameters."""
        return call("PureDP", epsilon=number(self.epsilon))

    @property
    def guarantees(self) -> Guarantees:
        """Return epsilon, and the least rho and mu that it implies."""
        return pure_guarantees(self.epsilon, Fraction(0))

    @property
    def tradeoff(self) -> AbstractCurve:
        """Return the curve of randomized response."""
        return ResponseCurve(self.epsilon)

    @property
    def sums(self) -> dict[str, Extended]:
        """Return epsilon."""
        return {"epsilon": self.epsilon}

    def allowance(self, family: Family) -> Allowance | None:
        """Return epsilon for Laplace noise; Gaussian noise needs a delta."""
        if family == "gaussian":
            return None
        return Allowance("epsilon", finite_parameter(self, self.epsilon))

    def times(self, factor: Fraction) -> "PureDP":
        """Return so many times epsilon."""
        return PureDP(self.epsilon * factor)

    def admits(self, loss: Loss) -> bool:
        """Say whether a loss is certainly epsilon-DP, without any reserve delta."""
        guarantees = loss.guarantees
        return guarantees.delta == 0 and guarantees.epsilon <= self.epsilon


@final
@dataclass(frozen=True, eq=False, repr=False)
class Composition(AbstractHeadline, Loss):
    """Losses of independent releases and how often each occurs, in any order."""

    counts: Counts
    """Never changed once it is here."""

    @property
    def parts(self) -> tuple[tuple[Loss, int], ...]:
        """Return the losses and how often each occurs."""
        return tuple(self.counts.items())

    def pieces(self) -> Pieces:
        """Return the parts."""
        return self.counts, {}

    @cached_property
    def guarantees(self) -> Guarantees:
        """Return the sums of the parts: epsilon, delta, rho, and mu by squares."""
        return sum_guarantees([
            (part.guarantees, times) for part, times in self.counts.items()
        ])

    @cached_property
    def tradeoff(self) -> SumCurve:
        """Return the sum of the curves, beside rho alone where that gains on it."""
        guarantees = self.guarantees
        curves = tuple((part.tradeoff, times) for part, times in self.counts.items())
        gains = any(curve.gains_by_rho for curve, _ in curves)
        others = (ConcentratedCurve(guarantees.rho, guarantees.delta),) if gains else ()
        return SumCurve(curves, guarantees.end, others)

    def __eq__(self, other: object) -> bool:
        """Compare as a collection of parts."""
        return isinstance(other, Composition) and self.counts == other.counts

    def __hash__(self) -> int:
        """Agree with equality."""
        return hash(frozenset(self.parts))

    def __repr__(self) -> str:
        """Show the parts as a sum."""
        shown = [f"{p!r} * {n}" if n > 1 else repr(p) for p, n in self.parts[:4]]
        more = len(self.parts) - len(shown)
        return " + ".join(shown) + (f" + ... ({more} more)" if more else "")


@final
@dataclass(frozen=True, repr=False)
class ReservedLoss(AbstractHeadline, Loss):
    """A loss, and independent chances of total breach with how often each occurs."""

    base: Loss
    reserves: tuple[tuple[Fraction, int], ...]

    @cached_property
    def delta(self) -> Fraction:
        """Return the sum of the chances: the exact headline."""
        return min(sum((d * n for d, n in self.reserves), Fraction(0)), Fraction(1))

    @property
    def guarantees(self) -> Guarantees:
        """Return those of the base, with the chances added to its reserve."""
        return self.base.guarantees.with_reserve(self.delta)

    @cached_property
    def tradeoff(self) -> AbstractCurve:
        """Return the curve of the base, beside the chance that any of them happens."""
        breach = joint_breach(self.reserves)
        return BreachCurve(self.base.tradeoff, breach, self.guarantees.end)

    @property
    def sums(self) -> dict[str, Extended]:
        """Return what adds up of the base, beside delta."""
        base = self.base.sums
        return {**base, "delta": self.guarantees.delta} if base else {}

    def pieces(self) -> Pieces:
        """Return the pieces of the base, and the chances besides its own."""
        parts, chances = self.base.pieces()
        for delta, times in self.reserves:
            chances = {**chances, delta: chances.get(delta, 0) + times}
        return parts, chances


@final
@dataclass(frozen=True, repr=False)
class SubsampledLoss(Loss):
    """The loss of one release on a Poisson sample, by both directions.

    Removing a unit compares (1-q) Q + q P with Q; adding one compares P with
    (1-q) P + q Q.
    """

    base: Loss
    rate: Fraction

    @property
    def epsilon(self) -> Extended:
        """Return ln(1 + q (exp(epsilon) - 1)), rounded up."""
        return conversion.sampled_epsilon(self.base.guarantees.epsilon, self.rate)

    @property
    def guarantees(self) -> Guarantees:
        """Return the amplified epsilon beside q delta, and what epsilon implies."""
        return pure_guarantees(self.epsilon, self.rate * self.base.guarantees.delta)

    @cached_property
    def tradeoff(self) -> LawCurve:
        """Return the curve of removing a unit, and of adding one."""
        source = partial(sampled_laws, self.base.tradeoff.laws, up(self.rate))
        return LawCurve(source, self.guarantees.end)


def compose(losses: Iterable[Loss]) -> Loss:
    """Return the loss of all the releases together.

    For any mechanisms whose losses were fixed before the first one ran, even when
    their questions depend on earlier answers.
    """
    parts = list(losses)
    for index, loss in enumerate(parts):
        if not isinstance(loss, Loss):
            place = f"losses[{index}]"
            raise InvalidParameter(place, loss, "is not a loss", "Use sd.PureDP(1).")
    return _sum([(loss, 1) for loss in parts])


def subsample(loss: Loss, q: Any) -> Loss:
    """Return the loss on a Poisson sample of rate q."""
    rate = probability(q=q)
    if rate == 0:
        return PureDP(0)
    # a sample of nearly all costs no more than all: delta is convex in the pair of laws
    return loss if up(rate) == 1 else SubsampledLoss(loss, rate)


def _sum(losses: Iterable[tuple[Loss, int]]) -> Loss:
    """Return the loss of releases so many times, folded where a closed form exists."""
    terms = [(loss, times, loss.pieces()) for loss, times in losses if times]
    costly = [term for term in terms if any(term[2])]
    if len(costly) == 1 and costly[0][1] == 1:
        return costly[0][0]
    parts, reserves = add_pieces((times, *pieces) for _, times, pieces in costly)
    families: dict[type[AbstractFoldingLoss], Counts] = {}
    for part in [p for p in parts if isinstance(p, AbstractFoldingLoss)]:
        families.setdefault(type(part), {})[part] = parts.pop(part)
    for family, group in families.items():
        parts[family.fold(group)] = 1
    base = _composition(parts)
    return ReservedLoss(base, tuple(reserves.items())) if reserves else base


def _composition(parts: Counts) -> Loss:
    """Return the only part, or a composition, or nothing."""
    if not parts:
        return PureDP(0)
    ((first, times), *rest) = parts.items()
    return first if times == 1 and not rest else Composition(parts)
