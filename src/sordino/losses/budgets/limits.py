"""A limit of a ledger: a budget as it was stated, and the filter that keeps it.

The filter is fixed by the budget alone, before the first release.

>>> filter_for(ApproxDP(1, "1e-6"))
ApproxSum(epsilon=Fraction(1, 1), delta=Fraction(1, 1000000))
>>> Limit.of(PureDP("0.1")).stated
'PureDP(epsilon=1/10), counted as asked'

Kernel: mathematics.
"""

import math
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, fields, is_dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, Final, Literal, Self, final

from sordino.errors import InvalidParameter
from sordino.losses.budgets.charge import Charge, largest_parameter
from sordino.losses.budgets.filters import (
    AbstractFilter,
    ApproxConcentratedSum,
    ApproxGaussianSum,
    ApproxSum,
    ConcentratedSum,
    GaussianSum,
    PureOrConcentrated,
    PureSum,
    mu_beside_delta,
)
from sordino.losses.closed import ZCDP, ApproxDP, ApproxZCDP, GaussianDP
from sordino.losses.loss import Budget, Loss, PureDP, ReservedLoss
from sordino.numbers import INFINITE, arguments, ball, fraction, probability
from sordino.numbers.frozen import hides
from sordino.numbers.rounding import precision

_BITS: Final = 256
"""Binary digits of an enclosure that is rounded to a billionth."""


def budget_text(budget: Any) -> str:
    """Return a budget with exact numbers.

    >>> from sordino.losses.budgets.risk import Advantage
    >>> budget_text(Advantage("0.1"))
    'Advantage(most=1/10)'
    """
    if not is_dataclass(budget):
        return repr(budget)
    named = (
        f"{field.name}={exact_text(getattr(budget, field.name))}"
        for field in fields(budget)
    )
    return f"{type(budget).__name__}({', '.join(named)})"


def exact_text(value: Any) -> str:
    """Return a parameter exactly: "1/10", "sqrt(2)" or "inf"."""
    if isinstance(value, Fraction):
        return f"{value.numerator}/{value.denominator}"
    return str(value)


FILTERS: Final[dict[str, Any]] = {
    kind.rule: kind
    for kind in (
        PureSum,
        ApproxSum,
        ConcentratedSum,
        ApproxConcentratedSum,
        GaussianSum,
        ApproxGaussianSum,
        PureOrConcentrated,
    )
}
"""Every rule that a ledger may name."""


def filter_for(budget: Any) -> AbstractFilter:
    """Return the filter of a budget: the sums of what its kind of loss counts.

    An (epsilon, delta) budget adds up what was asked for, so that two releases of half
    of it fit; `concentrated` fits more small releases into it. A budget stated as a
    risk becomes the square of the largest mu that it admits.
    """
    summed = _SUMS.get(type(budget))
    if summed is not None:
        return summed(budget)
    if isinstance(budget, Budget) and not isinstance(budget, Loss):
        return gaussian_filter(budget)
    raise InvalidParameter(
        "budget",
        budget,
        "must be a loss that can be added up, or a risk",
        'Try sd.ApproxDP(1, "1e-6"), sd.ZCDP("0.1") or sd.Advantage("0.1").',
    )


def concentrated_filter(budget: Budget, reserve: Any = 0) -> PureOrConcentrated:
    """Return the filter that counts epsilons, or else rhos, for (epsilon, delta).

    `reserve` is the part of delta for releases that need one, such as those over keys
    that are not known; the rest pays for turning rho into epsilon.
    """
    if not isinstance(budget, ApproxDP):
        raise InvalidParameter(
            "budget",
            budget,
            "must be an (epsilon, delta) budget",
            'Try sd.ApproxDP(1, "1e-6").',
        )
    reserved = probability(reserve=reserve)
    if reserved >= budget.delta:
        raise InvalidParameter(
            "reserve",
            reserve,
            "must be less than the delta of the budget, whose rest turns rho into "
            "epsilon",
            "Reserve half of delta.",
        )
    epsilon, delta = _limit(budget, budget.epsilon), budget.delta
    # reserved + (1 - reserved) of this is delta, exactly
    rest = ApproxDP(epsilon, (delta - reserved) / (1 - reserved))
    return PureOrConcentrated(epsilon, largest_parameter(rest, ZCDP), reserved, delta)


def gaussian_filter(budget: Budget, reserve: Any = 0) -> AbstractFilter:
    """Return the filter that counts squares of mu, up to the largest mu admitted.

    `reserve` is the sum of the deltas that releases may have: it is part of what the
    budget has to admit.

    >>> from sordino.losses.budgets.risk import Advantage
    >>> gaussian_filter(Advantage("0.1"), reserve="1e-6").promise.advantage() <= 0.1
    True
    """
    reserved = probability(reserve=reserve)
    if reserved == 0:
        return GaussianSum(largest_parameter(budget, GaussianDP) ** 2)
    largest_mu = largest_parameter(budget, lambda mu: mu_beside_delta(mu, reserved))
    return ApproxGaussianSum(largest_mu**2, reserved)


def read_filter(rule: str, limits: Mapping[str, str]) -> AbstractFilter:
    """Return the filter that a ledger names.

    >>> read_filter("rho", {"rho": "1/8"})
    ConcentratedSum(rho=Fraction(1, 8))
    """
    numbers = {name: Fraction(text) for name, text in limits.items()}
    limit: AbstractFilter = FILTERS[rule](**numbers)
    return limit


def written_limits(limit: AbstractFilter) -> dict[str, str]:
    """Return the limits of a filter as a ledger writes them."""
    names, numbers = zip(*limit.limits.items(), strict=True)
    return Charge(names, numbers).texts()


def _limit(budget: Budget, value: Any) -> Fraction:
    """Return a limit, which must be rational: sums are compared with it exactly."""
    if budget.admits(_EVERYTHING) or value == math.inf:
        raise InvalidParameter(
            "budget",
            budget,
            "must be finite: an infinite budget protects nothing",
            'Try budget=sd.ApproxDP(1, "1e-6").',
        )
    if value == 0:
        raise InvalidParameter(
            "budget",
            budget,
            "must be positive: nothing fits into a budget of zero",
            'Try budget=sd.ApproxDP(1, "1e-6").',
        )
    if not isinstance(value, Fraction):
        raise InvalidParameter(
            "budget",
            budget,
            "must be a rational number, which sums can be compared with",
            "Write a decimal or a fraction instead of a root.",
        )
    return value


def _summed_gaussian(budget: GaussianDP) -> AbstractFilter:
    square = budget.mu if budget.mu is INFINITE else budget.mu**2
    return GaussianSum(_limit(budget, square))


def _summed_reserved(budget: ReservedLoss) -> AbstractFilter:
    if not isinstance(budget.base, GaussianDP):
        raise InvalidParameter(
            "budget",
            budget,
            "must be a GaussianDP and a delta, or another loss that adds up",
            "Try sd.GaussianDP(1) + sd.ApproxDP(0, '1e-6').",
        )
    square = _summed_gaussian(budget.base).limits["square"]
    return ApproxGaussianSum(_limit(budget, square), budget.delta)


_EVERYTHING: Final = ApproxDP(0, 1)
"""The loss of telling everything."""

_SUMS: Final[dict[type, Callable[[Any], AbstractFilter]]] = {
    PureDP: lambda budget: PureSum(_limit(budget, budget.epsilon)),
    ApproxDP: lambda budget: ApproxSum(_limit(budget, budget.epsilon), budget.delta),
    ZCDP: lambda budget: ConcentratedSum(_limit(budget, budget.rho)),
    ApproxZCDP: lambda budget: ApproxConcentratedSum(
        _limit(budget, budget.rho), budget.delta
    ),
    GaussianDP: _summed_gaussian,
    ReservedLoss: _summed_reserved,
}


Counting = Literal["asked", "concentrated", "gaussian"]
"""What a limit adds up: budgets as asked, epsilons or else rhos, or squares of mu."""

_STEPS: Final = 10**9
"""A billionth: what may be lost of a sample is told in as many steps of epsilon."""


@final
@dataclass(frozen=True)
class Frame:
    """A population of which a table is a secret random sample, and what it may lose.

    Each person came into the table by an own coin of chance `rate`. For any mechanism
    on the table that is within `sample`, the mechanism and the coins together are
    within `promise` of anybody in the frame (docs/proofs/samples.md).

    >>> Frame.of(ApproxDP(1, "1e-6"), "0.1").sample
    ApproxDP(epsilon=2.900477097, delta=1e-05)
    """

    promise: PureDP | ApproxDP
    rate: Fraction
    sample: PureDP | ApproxDP
    """Loss that is allowed of the table itself."""

    @classmethod
    def of(cls, budget: Any, sampled: Any) -> Self:
        """Return the frame of a budget that is promised to all who could be drawn."""
        rate = sampling_rate(sampled)
        if not isinstance(budget, (PureDP, ApproxDP)):
            raise InvalidParameter(
                "budget",
                budget,
                "must be an epsilon or (epsilon, delta) where the table is a secret "
                "sample: of other budgets nothing is proved",
                'Try sd.ApproxDP(1, "1e-6").',
            )
        epsilon = _limit(budget, budget.epsilon)
        if isinstance(budget, PureDP):
            return cls(budget, rate, PureDP(_epsilon_of_sample(epsilon, rate)))
        if budget.delta >= rate:
            raise InvalidParameter(
                "budget",
                budget,
                f"allows all of a sample of {exact_text(rate)} to be told: its delta "
                "must be less than the rate",
                "Give a smaller delta.",
            )
        inner = ApproxDP(_epsilon_of_sample(epsilon, rate), budget.delta / rate)
        return cls(budget, rate, inner)

    @property
    def fields(self) -> dict[str, str]:
        """Fields that a ledger records."""
        delta = getattr(self.promise, "delta", None)
        stated = {"rate": exact_text(self.rate), "epsilon": exact_text(self._epsilon)}
        return stated if delta is None else stated | {"delta": exact_text(delta)}

    @property
    def _epsilon(self) -> Fraction:
        return _limit(self.promise, self.promise.epsilon)

    @classmethod
    def read(cls, fields: Mapping[str, str]) -> Self:
        """The inverse of writing."""
        epsilon = Fraction(fields["epsilon"])
        if "delta" not in fields:
            return cls.of(PureDP(epsilon), fields["rate"])
        return cls.of(ApproxDP(epsilon, Fraction(fields["delta"])), fields["rate"])

    def __str__(self) -> str:
        """Say of whom it is."""
        return f"the frame of a secret sample of {exact_text(self.rate)}"


_LEAST_RATE: Final = Fraction(1, 10**9)
"""More people than there are would be needed for a smaller one."""


def sampling_rate(sampled: Any) -> Fraction:
    """Chance with which each person was drawn, from one in a billion to below 1."""
    rate = probability(sampled=sampled)
    if not _LEAST_RATE <= rate < 1:
        raise InvalidParameter(
            "sampled",
            sampled,
            "must be a chance from 1e-9 to less than 1",
            'Try sampled="0.1"; leave it out where everybody is in the table.',
        )
    return rate


def _epsilon_of_sample(epsilon: Fraction, rate: Fraction) -> Fraction:
    """Most epsilon of which a sample makes no more than one of its frame.

    It is ln(1 + (exp(epsilon) - 1) / rate), rounded down to a billionth.
    """
    with precision(_BITS):
        allowed = (1 + (ball(epsilon).exp() - 1) / ball(rate)).log()
        # down: whatever is rounded up would be promised to the frame and not kept
        return Fraction(math.floor(fraction(allowed.lower()) * _STEPS), _STEPS)


_AS_ASKED: Final = ", counted as asked"
_RESERVED: Final = 10
"""The part of delta, one in so many, that a limit in mu keeps for unknown keys."""


@lru_cache(maxsize=64)
def _filter_by_mu(budget: Loss, reserve: Fraction) -> AbstractFilter:
    return gaussian_filter(budget, reserve)


@hides("becomes", "by_mu")
@final
@dataclass(frozen=True)
class Limit:
    """A budget and its filter. The words are what a ledger compares when it is opened.

    The filter may hold numbers that were searched for, such as the largest rho within
    (epsilon, delta). A ledger keeps those it was made with, so that a later version
    that searches better changes nothing.
    """

    stated: str
    rule: AbstractFilter
    frame: Frame | None = None
    """The population that is promised less, where tables are a secret sample of it."""

    @classmethod
    def of(
        cls,
        budget: Any,
        counting: Counting = "asked",
        reserve: Any = 0,
        *,
        sampled: Any = None,
    ) -> Self:
        """Return the limit of a budget, and how it is counted.

        `reserve` is for "concentrated" and "gaussian": the part of delta that is kept
        for releases over keys that are not known. With `sampled` the budget is that of
        a population, of which the tables are a secret random sample of this rate; what
        adds up is what may be lost of the sample.
        """
        arguments.choice(tuple(_COUNTED), counting=counting)
        reserved = probability(reserve=reserve)
        if counting == "asked" and reserved:
            raise InvalidParameter(
                "reserve",
                reserve,
                'is only for counting="concentrated"',
                'Add counting="concentrated", or leave the reserve out.',
            )
        frame = None if sampled is None else Frame.of(budget, sampled)
        rule = _COUNTED[counting](budget if frame is None else frame.sample, reserved)
        beside = f" beside {exact_text(reserved)}" if reserved else ""
        whose = "" if frame is None else f" for {frame}"
        stated = f"{budget_text(budget)}{whose}, counted as {counting}{beside}"
        return cls(stated, rule, frame)

    @property
    def promise(self) -> Loss:
        """Loss of everything together: of the frame, where there is one."""
        return self.rule.promise if self.frame is None else self.frame.promise

    @property
    def by_mu(self) -> "Limit | None":
        """The same budget, counted in squares of mu; None if it is not one as asked.

        A tenth of its delta is kept for releases over keys that are not known.

        >>> by_mu = Limit.of(ApproxDP(1, "1e-6")).by_mu
        >>> by_mu.stated
        'ApproxDP(epsilon=1/1, delta=1/1000000), counted as gaussian beside 1/10000000'
        """
        if not isinstance(self.rule, ApproxSum) or not self.stated.endswith(_AS_ASKED):
            return None
        reserve = self.rule.delta / _RESERVED
        counted = f", counted as gaussian beside {exact_text(reserve)}"
        stated = self.stated.removesuffix(_AS_ASKED) + counted
        with suppress(InvalidParameter):  # of no delta, or very much, there is no mu
            return Limit(stated, _filter_by_mu(self.rule.promise, reserve), self.frame)
        return None

    def becomes(self, other: "Limit") -> bool:
        """Say whether a limit that nothing was charged to may be another from now on.

        For any budget: whatever the other accepts is within this one's promise.
        """
        return (
            isinstance(self.rule, ApproxSum)
            and isinstance(other.rule, ApproxGaussianSum)
            and self.frame == other.frame
            and self.rule.promise.admits(other.rule.promise)
        )

    @property
    def fields(self) -> dict[str, Any]:
        """Fields that a ledger records."""
        rule = self.rule
        fields = {
            "stated": self.stated,
            "rule": rule.rule,
            "limits": written_limits(rule),
        }
        return fields if self.frame is None else fields | {"frame": self.frame.fields}

    @classmethod
    def read(cls, fields: dict[str, Any]) -> Self:
        """The inverse of writing; what promises a frame too much is refused."""
        rule = read_filter(fields["rule"], fields["limits"])
        if "frame" not in fields:
            return cls(fields["stated"], rule)
        frame = Frame.read(fields["frame"])
        # numbers of the rule were found by a search: they are held against the proof
        if not frame.sample.admits(rule.promise):
            raise InvalidParameter(
                "limit",
                rule.promise,
                f"is more than {frame} allows of it, {frame.sample!r}",
                "Make the ledger anew.",
            )
        return cls(fields["stated"], rule, frame)


_COUNTED: Final[dict[Counting, Callable[[Any, Any], AbstractFilter]]] = {
    "asked": lambda budget, _: filter_for(budget),
    "concentrated": concentrated_filter,
    "gaussian": gaussian_filter,
}


@final
@dataclass(frozen=True)
class Headroom:
    """How many releases of one price a limit has left, and others would have had.

    Public arithmetic on prices: a sum that is rounded up may hold one fewer.
    """

    more: int | None
    """How many what is left answers, None if it cannot count them at all."""
    limit: Loss
    """What everything together is within."""
    rest: Loss
    by_counting: Mapping[Counting, int]
    """How many a new ledger of the same budget answers, by how it counts."""

    @classmethod
    def of(
        cls,
        promise: Loss,
        rule: AbstractFilter,
        spent: Charge,
        release: tuple[Budget, Loss],
    ) -> Self:
        """Headroom of a limit for releases asked for and lost so, beside what is spent.

        `promise` is that of the first limit, which a lower one may have followed.

        >>> limit, tenth = filter_for(ApproxDP(1, "1e-6")), ApproxDP("0.1", "1e-7")
        >>> spent = limit.charge_for(tenth, tenth)
        >>> Headroom.of(limit.promise, limit, spent, (tenth, tenth)).more
        9
        """
        # only a limit that adds up what was asked could have been another one
        others = _countings(promise) if isinstance(rule, ApproxSum) else {}
        fits = {
            counting: other.count_releases(other.zero, *release) or 0
            for counting, other in others.items()
        }
        return cls(
            rule.count_releases(spent, *release),
            promise,
            rule.remainder(spent),
            {counting: n for counting, n in fits.items() if n},
        )

    @property
    def advice(self) -> str:
        """Which counting answers most such, empty where it is the one that counts."""
        own = self.by_counting.get("asked", 0)
        best = max(self.by_counting, key=self.by_counting.__getitem__, default=None)
        if best is None or self.by_counting[best] <= own:
            return ""
        return (
            f"Of a new ledger that counts as {best!r} (sd.Limit.of) "
            f"{self.by_counting[best]:,} such fit, of one that counts as asked "
            f"{own:,}."
        )

    def __str__(self) -> str:
        """Say it in a sentence."""
        if self.more is None:
            return (
                f"it cannot be counted against {self.limit!r}, so it is refused: ask "
                "in the terms of the limit"
            )
        many = f"what is left, {self.rest!r}, answers {self.more:,} such"
        return f"{many}. {self.advice}" if self.advice else many


@lru_cache(maxsize=64)
def _countings(budget: Loss) -> dict[Counting, AbstractFilter]:
    """Return the filters of a budget, by what they add up: two are searched for."""
    filters: dict[Counting, AbstractFilter] = {}
    for counting in _COUNTED:
        # without a delta, or with very much of one, it can be counted in one way only
        with suppress(InvalidParameter):
            filters[counting] = Limit.of(budget, counting).rule
    return filters
