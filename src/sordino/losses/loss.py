"""Privacy loss as a value: exact guarantees beside a curve, and how losses add up.

A loss bounds, for any two neighbouring databases and in both directions, how well an
attacker can tell them apart. Exact parameters add up at once; curves are convolved
when they are first asked.

>>> tenth = PureDP("0.1") * 10
>>> tenth.epsilon, tenth.epsilon_at(1e-6) < 1
(Fraction(1, 1), True)
>>> from sordino.losses.closed import ApproxDP, GaussianDP
>>> headline(GaussianDP("0.25")), headline(GaussianDP("0.25"), ApproxDP(2, "1e-6"))
('mu = 0.25', 'epsilon = 1.061 at delta = 1e-06 (mu = 0.25)')

Kernel: mathematics.
"""

import math
from abc import abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal
from fractions import Fraction
from functools import cached_property, partial
from typing import (
    Any,
    ClassVar,
    Final,
    Literal,
    Protocol,
    TypeAlias,
    TypeVar,
    final,
    runtime_checkable,
)

from sordino.errors import InvalidParameter
from sordino.losses import guarantees as conversion
from sordino.losses.budgets.charge import Allowance, Family, finite_parameter
from sordino.losses.curves.combined import BreachCurve, joint_breach
from sordino.losses.curves.concentrated import ConcentratedCurve
from sordino.losses.curves.curve import AbstractCurve, ResponseCurve
from sordino.losses.curves.laws import sampled_laws
from sordino.losses.curves.tables import LawCurve, SumCurve
from sordino.losses.guarantees import (
    NOTHING,
    AbstractAnswers,
    AbstractHeadline,
    Guarantees,
    pure_guarantees,
    sum_guarantees,
)
from sordino.numbers import (
    Exact,
    Extended,
    Number,
    arguments,
    distance,
    positive,
    probability,
    up,
)
from sordino.numbers.canonical import Words, call, number
from sordino.numbers.frozen import fill, hides
from sordino.numbers.rounding import decimals

Piece = TypeVar("Piece")
Chances: TypeAlias = dict[Fraction, int]
"""Chances of total breach, and how often each occurs."""


def add_pieces(
    parts: Iterable[tuple[int, Mapping[Piece, int], Chances]],
) -> tuple[dict[Piece, int], Chances]:
    """Counts of pieces and of chances, summed over parts with their multiplicities.

    >>> add_pieces([(2, {"a": 1}, {}), (1, {"a": 3, "b": 1}, {Fraction(1, 9): 1})])
    ({'a': 5, 'b': 1}, {Fraction(1, 9): 1})
    """
    pieces: dict[Piece, int] = {}
    chances: Chances = {}
    for times, own, reserves in parts:
        if times == 1 and not pieces:
            # a copy does not hash the pieces again
            pieces.update(own)
        else:
            _count(own, times, pieces)
        _count(reserves, times, chances)
    return pieces, chances


def _count(own: Mapping[Piece, int], times: int, counts: dict[Piece, int]) -> None:
    for piece, often in own.items():
        counts[piece] = counts.get(piece, 0) + often * times


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
        """Parameter that a family of noise may spend; None: nothing."""

    def times(self, factor: Fraction) -> "Budget":
        """Budget that `factor` releases of this one add up to."""


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
        """Losses and chances of a breach of which this loss is composed.

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
        """Parameter that a family of noise may spend; None: nothing.

        A loss without a closed form is a budget for no noise at all.
        """
        del family
        raise InvalidParameter(
            "budget", self, "allows nothing, or everything", "Try sd.PureDP(1)."
        )

    def times(self, factor: Fraction) -> "Budget":
        """Budget that `factor` releases of this one add up to."""
        del factor
        raise InvalidParameter(
            "budget",
            self,
            "cannot be shared or multiplied",
            "State it as sd.PureDP, sd.ApproxDP, sd.ZCDP or sd.GaussianDP.",
        )

    def __add__(self, other: object) -> "Loss":
        if isinstance(other, Loss):
            return compose([self, other])
        return NotImplemented

    def __radd__(self, other: object) -> "Loss":
        if other == 0:  # where `sum` begins
            return self
        return NotImplemented

    def __mul__(self, times: int) -> "Loss":
        return _sum([(self, arguments.integer(times=times, least=0))])

    __rmul__ = __mul__

    def __truediv__(self, parts: Number) -> "Budget":
        """Budget of one of `parts` equal parts, which add up to this one.

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
        fill(self, epsilon=distance(epsilon=epsilon))

    @property
    def words(self) -> Words:
        """Return the name and the exact parameters."""
        return call("PureDP", epsilon=number(self.epsilon))

    @property
    def guarantees(self) -> Guarantees:
        return pure_guarantees(self.epsilon, Fraction(0))

    @property
    def tradeoff(self) -> AbstractCurve:
        return ResponseCurve(self.epsilon)

    @property
    def sums(self) -> dict[str, Extended]:
        return {"epsilon": self.epsilon}

    def allowance(self, family: Family) -> Allowance | None:
        if family == "gaussian":  # Gaussian noise has no epsilon without a delta
            return None
        return Allowance("epsilon", finite_parameter(self, self.epsilon))

    def times(self, factor: Fraction) -> "PureDP":
        return PureDP(self.epsilon * factor)

    def admits(self, loss: Loss) -> bool:
        guarantees = loss.guarantees
        # a reserve, however small, is not pure
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
        return self.counts, {}

    @cached_property
    def guarantees(self) -> Guarantees:
        return sum_guarantees([
            (part.guarantees, times) for part, times in self.counts.items()
        ])

    @cached_property
    def tradeoff(self) -> SumCurve:
        guarantees = self.guarantees
        curves = tuple((part.tradeoff, times) for part, times in self.counts.items())
        gains = any(curve.gains_by_rho for curve, _ in curves)
        others = (ConcentratedCurve(guarantees.rho, guarantees.delta),) if gains else ()
        return SumCurve(curves, guarantees.end, others)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Composition) and self.counts == other.counts

    def __hash__(self) -> int:
        return hash(frozenset(self.parts))

    def __repr__(self) -> str:
        shown = [f"{p!r} * {n}" if n > 1 else repr(p) for p, n in self.parts[:4]]
        more = len(self.parts) - len(shown)
        return " + ".join(shown) + (f" + ... ({more} more)" if more else "")


_EXACT_BREACHES: Final = 64


@final
@dataclass(frozen=True, repr=False)
class ReservedLoss(AbstractHeadline, Loss):
    """A loss, and independent chances of total breach with how often each occurs."""

    base: Loss
    reserves: tuple[tuple[Fraction, int], ...]

    @cached_property
    def delta(self) -> Fraction:
        # a union bound; the curve has the exact chance of any breach
        return min(sum((d * n for d, n in self.reserves), Fraction(0)), Fraction(1))

    @property
    def guarantees(self) -> Guarantees:
        return self.base.guarantees.with_reserve(self.delta)

    @cached_property
    def tradeoff(self) -> AbstractCurve:
        breach, known = joint_breach(self.reserves), self.guarantees
        alike = (1 - self.base.guarantees.delta) * (1 - self._any_breach)
        end = known.end._replace(delta=min(known.delta, 1 - alike))
        return BreachCurve(self.base.tradeoff, breach, end)

    @property
    def _any_breach(self) -> Fraction:
        """Return the exact chance of any breach; of many, one from above."""
        if sum(times for _, times in self.reserves) > _EXACT_BREACHES:
            return Fraction(joint_breach(self.reserves))
        stays = ((1 - chance) ** times for chance, times in self.reserves)
        return 1 - math.prod(stays, start=Fraction(1))

    @property
    def sums(self) -> dict[str, Extended]:
        base = self.base.sums
        return {**base, "delta": self.guarantees.delta} if base else {}

    def pieces(self) -> Pieces:
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
        # rho and mu of a sample have no formula here: those that epsilon implies hold
        return pure_guarantees(self.epsilon, self.rate * self.base.guarantees.delta)

    @cached_property
    def tradeoff(self) -> LawCurve:
        # upwards: a higher rate only reveals more
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
    if rate == 0:  # nobody is in the sample
        return PureDP(0)
    # a sample of nearly all costs no more than all: delta is convex in the pair of laws
    return loss if up(rate) == 1 else SubsampledLoss(loss, rate)


def _sum(losses: Iterable[tuple[Loss, int]]) -> Loss:
    terms = [(loss, times, loss.pieces()) for loss, times in losses if times]
    costly = [term for term in terms if any(term[2])]
    # one release keeps its own form: ApproxDP does not come apart
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
    if not parts:
        return PureDP(0)
    ((first, times), *rest) = parts.items()
    return first if times == 1 and not rest else Composition(parts)


_DIGITS = 4
_NOTED_DELTA = Fraction(1, 10**6)


def headline(loss: Loss, budget: Budget | None = None) -> str:
    """Return a loss as its budget would put it, and as what it is; rounded up."""
    own = _own_terms(loss)
    terms = _budget_terms(loss, budget)
    return f"{terms} ({own})" if terms else own


def _own_terms(loss: Loss) -> str:
    guarantees = loss.guarantees
    reserve = f", delta = {decimal_above(guarantees.delta)}" if guarantees.delta else ""
    named = {"epsilon": guarantees.epsilon, "mu": guarantees.mu, "rho": guarantees.rho}
    for name, value in named.items():
        if value != math.inf:
            return f"{name} = {decimal_above(value)}{reserve}"
    return _epsilon_text(loss, _NOTED_DELTA)


def _budget_terms(loss: Loss, budget: Budget | None) -> str:
    """Return the loss in the terms of a budget, "" where its own are the same."""
    guarantees = loss.guarantees
    match budget.stated_by if budget else "itself":
        case "advantage":
            return f"advantage = {decimal_above(loss.advantage())}"
        case "epsilon" if guarantees.epsilon == math.inf and isinstance(budget, Loss):
            delta = budget.guarantees.delta
            return _epsilon_text(loss, delta) if 0 < delta < 1 else ""
        case "rho" if (
            guarantees.rho < math.inf != min(guarantees.epsilon, guarantees.mu)
        ):
            return f"rho = {decimal_above(guarantees.rho)}"
        case "mu" if guarantees.mu < math.inf and guarantees.epsilon < math.inf:
            return f"mu = {decimal_above(guarantees.mu)}"
        case _:
            return ""


def _epsilon_text(loss: Loss, delta: Fraction) -> str:
    epsilon = float(loss.epsilon_at(delta))
    return f"epsilon = {decimal_above(epsilon)} at delta = {decimal_above(delta)}"


def decimal_above(value: Exact | float) -> str:
    """Return four digits, rounded up."""
    if value == math.inf:
        return "inf"
    ratio = value if isinstance(value, Fraction) else Fraction(up(value))
    with decimals(_DIGITS, ROUND_CEILING):
        rounded = Decimal(ratio.numerator) / Decimal(ratio.denominator)
    return f"{float(rounded):.{_DIGITS}g}"
