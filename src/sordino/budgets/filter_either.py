"""The tighter filter of an (epsilon, delta) budget: pure sums or concentrated sums.

>>> from sordino.budgets.filter_choice import concentrated_filter
>>> limit = concentrated_filter(ApproxDP(1, "1e-6"), reserve="5e-7")
>>> small = PureDP("0.02")
>>> spent, count = limit.zero, 0
>>> while limit.holds(spent):
...     spent, count = spent.plus(limit.charge_for(small, small)), count + 1
>>> count - 1  # fifty would be the sum of the epsilons
114
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, final

from sordino.budgets.charge import Amount, Charge
from sordino.budgets.filter_sums import amount_above
from sordino.budgets.filters import AbstractFilter
from sordino.losses.base import Loss, PureDP
from sordino.losses.closed import ApproxDP, ApproxZCDP
from sordino.losses.guarantees import Guarantees
from sordino.numbers import INFINITE


@final
@dataclass(frozen=True)
class PureOrConcentrated(AbstractFilter):
    """Deltas within a reserve, and the epsilons or else the rhos within their limits.

    The part of delta beyond the reserve pays once for turning rho into epsilon; the
    pure sums need no delta at all, so that "or" is free (docs/proofs/filters.md, lemma
    3). The split of delta is fixed before the first release.
    """

    epsilon: Fraction
    rho: Fraction
    """The largest rho that is within (epsilon, the part of delta not in reserve)."""
    reserve: Fraction
    """What the deltas of releases may add up to."""
    delta: Fraction
    """The delta that is promised in all."""
    rule: ClassVar[str] = "reserve-epsilon-or-rho"
    coordinates: ClassVar[tuple[str, ...]] = ("epsilon", "rho", "delta")
    own: ClassVar[tuple[type[Loss], ...]] = ()
    is_additive: ClassVar[bool] = False

    @property
    def promise(self) -> Loss:
        """Return (epsilon, delta)-DP."""
        return ApproxDP(self.epsilon, self.delta)

    def holds(self, spent: Charge) -> bool:
        """Say whether the reserve holds, and one of the two sums."""
        epsilon, rho, delta = spent.amounts
        return delta <= self.reserve and (epsilon <= self.epsilon or rho <= self.rho)

    def loss_of(self, spent: Charge) -> Loss:
        """Return rho and delta, or epsilon and delta where no rho is known."""
        epsilon, rho, delta = spent.amounts
        chance = min(delta, Fraction(1))
        if rho is INFINITE:
            return ApproxDP(epsilon, chance)
        return ApproxZCDP(rho, chance)

    def remainder(self, spent: Charge) -> Loss:
        """Return the rho that is left, or the epsilon where no rho is."""
        epsilon, rho, delta = spent.amounts
        if rho < self.rho:
            return ApproxZCDP(self.rho - rho, self.reserve - delta)
        left = max(self.epsilon - epsilon, Fraction(0))
        if delta == self.reserve:
            return PureDP(left)
        return ApproxDP(left, self.reserve - delta)

    def _amounts(self, guarantees: Guarantees) -> tuple[Amount, ...]:
        return (
            amount_above(guarantees.epsilon),
            amount_above(guarantees.rho),
            guarantees.delta,
        )
