"""What may be spent and what was spent: exact sums, charged before anything runs.

Each kind of budget has the sum that is proven to hold when questions and prices are
chosen after earlier answers (docs/proofs/queries.md, section 9): epsilons and deltas,
rhos and deltas, or squares of mu. A budget stated as a risk becomes the largest mu that
it admits.

>>> account = Account(PureDP(1))
>>> for _ in range(10):
...     account.charge(PureDP("0.1"), PureDP("0.1"))
>>> account.remaining
PureDP(epsilon=0)
"""

import math
import threading
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from fractions import Fraction
from typing import final

from sordino.errors import BudgetExceeded, InvalidParameter
from sordino.losses.base import Budget, Guarantees, Loss
from sordino.losses.closed import ZCDP, ApproxDP, ApproxZCDP, GaussianDP, PureDP
from sordino.mechanisms.appearance import rational
from sordino.numbers import Exact, down, sqrt
from sordino.query.allowance import largest


class AbstractCurrency(ABC):
    """What a kind of budget counts.

    Proof obligation: for any releases, each chosen after the answers of earlier ones,
    whose charges sum to at most (amount, delta), the loss of all is within
    `stated(amount, delta)`.
    """

    @abstractmethod
    def amount(self, known: Guarantees) -> "Exact | float":
        """Return what a loss costs, infinite if that is not known."""

    @abstractmethod
    def stated(self, amount: Fraction, delta: Fraction) -> Loss:
        """Return a sum in the words of the budget."""


@final
@dataclass(frozen=True)
class Epsilons(AbstractCurrency):
    """Epsilons and deltas add up (Rogers, Roth, Ullman and Vadhan 2016)."""

    approximate: bool
    """Whether to state the delta."""

    def amount(self, known: Guarantees) -> "Exact | float":
        """Return epsilon."""
        return known.epsilon

    def stated(self, amount: Fraction, delta: Fraction) -> Loss:
        """Return epsilon, and delta."""
        return ApproxDP(amount, delta) if self.approximate else PureDP(amount)


@final
@dataclass(frozen=True)
class Rhos(AbstractCurrency):
    """Rhos and deltas add up (Feldman and Zrnic 2021; Whitehouse et al. 2023)."""

    approximate: bool
    """Whether to state the delta."""

    def amount(self, known: Guarantees) -> "Exact | float":
        """Return rho."""
        return known.rho

    def stated(self, amount: Fraction, delta: Fraction) -> Loss:
        """Return rho, and delta."""
        return ApproxZCDP(amount, delta) if self.approximate else ZCDP(amount)


@final
@dataclass(frozen=True)
class Squares(AbstractCurrency):
    """Squares of mu add up (Smith and Thakurta 2022; Koskela et al. 2022)."""

    def amount(self, known: Guarantees) -> "Exact | float":
        """Return mu squared."""
        return known.mu if isinstance(known.mu, float) else known.mu**2

    def stated(self, amount: Fraction, delta: Fraction) -> Loss:
        """Return mu."""
        del delta
        return GaussianDP(sqrt(amount))


@final
@dataclass(frozen=True, eq=False)
class Account:
    """A limit, and the sum of what was charged against it."""

    limit: Budget
    sums: list[tuple[Fraction, Fraction]] = field(
        default_factory=lambda: [(Fraction(0), Fraction(0))]
    )
    """One entry: what was charged so far."""
    lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        """Refuse a limit that limits nothing."""
        known = self.counted.guarantees
        if math.isinf(self.currency.amount(known)) or known == PureDP(0).guarantees:
            raise InvalidParameter(
                "budget",
                self.limit,
                "must be positive and finite",
                'Try budget=sd.ApproxDP(1, "1e-6").',
            )

    @property
    def counted(self) -> Loss:
        """Return the limit as what is counted: a risk as the mu that it admits."""
        if isinstance(self.limit, Loss):
            return self.limit
        if isinstance(self.limit, Budget):
            return GaussianDP(largest(self.limit, GaussianDP))
        raise InvalidParameter(
            "budget", self.limit, "is no budget", 'Try sd.ApproxDP(1, "1e-6").'
        )

    @property
    def currency(self) -> AbstractCurrency:
        """Return what the limit counts."""
        match self.counted:
            case PureDP():
                return Epsilons(approximate=False)
            case ApproxDP():
                return Epsilons(approximate=True)
            case ZCDP():
                return Rhos(approximate=False)
            case ApproxZCDP():
                return Rhos(approximate=True)
            case GaussianDP():
                return Squares()
            case other:
                raise InvalidParameter(
                    "budget",
                    other,
                    "is a loss that no sum is known for",
                    "Use sd.PureDP, sd.ApproxDP, sd.ZCDP or sd.GaussianDP.",
                )

    @property
    def spent(self) -> Loss:
        """Return the sum of the charges."""
        return self.currency.stated(*self.sums[-1])

    @property
    def remaining(self) -> Loss:
        """Return what is left."""
        whole, delta = self._whole
        amount, reserve = self.sums[-1]
        return self.currency.stated(whole - amount, delta - reserve)

    def charge(self, asked: Budget, loss: Loss) -> None:
        """Charge what was asked for, or refuse it and charge nothing.

        `loss` is what the release really costs, within what was asked; it is charged
        where what was asked is of another kind than the limit.
        """
        cost = self.cost(asked, loss)
        with self.lock:
            before = self.sums[-1]
            after = (before[0] + cost[0], before[1] + cost[1])
            whole = self._whole
            if after[0] > whole[0] or after[1] > whole[1]:
                raise BudgetExceeded(
                    f"this costs {self.currency.stated(*cost)!r}, and "
                    f"{self.remaining!r} is left. Ask for less, or for a smaller "
                    "budget; nothing was charged."
                )
            self.sums[-1] = after

    def cost(self, asked: Budget, loss: Loss) -> tuple[Fraction, Fraction]:
        """Return what a release would be charged."""
        stated = [asked.guarantees] if isinstance(asked, Loss) else []
        for known in [*stated, loss.guarantees]:
            amount = self.currency.amount(known)
            if not isinstance(amount, float):
                return rational(amount), known.delta
        raise InvalidParameter(
            "budget",
            asked,
            f"is of another kind than the session's, {self.limit!r}",
            "State it in the session's terms.",
        )

    @property
    def _whole(self) -> tuple[Fraction, Fraction]:
        """Return the limit as a sum."""
        known = self.counted.guarantees
        amount = self.currency.amount(known)
        if isinstance(amount, Fraction):
            return amount, known.delta
        return Fraction(down(amount)), known.delta
