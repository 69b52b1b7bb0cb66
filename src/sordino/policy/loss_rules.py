"""Rules of a policy about losses: most epsilon and delta, as the file states them."""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, final

from sordino.budgets.charge import Amount, Charge
from sordino.budgets.filter_sums import is_within
from sordino.errors import PolicyRefusal
from sordino.losses.base import Loss
from sordino.losses.closed import ApproxDP
from sordino.losses.headline import decimal_above
from sordino.numbers import INFINITE

COORDINATES: Final = ("epsilon", "delta")
"""What the sums of a policy count."""


@final
@dataclass(frozen=True)
class Most:
    """An epsilon and a delta that are not to be exceeded, and how they are stated."""

    epsilon: Fraction
    delta: Fraction
    rules: tuple[str, str]
    """The two rules, as they stand in the file."""

    @property
    def sentence(self) -> str:
        """Return both rules."""
        return ", ".join(self.rules)

    def refuse_loss(self, loss: Loss) -> None:
        """Refuse a release whose loss is not within both, by its exact curve."""
        if ApproxDP(self.epsilon, self.delta).admits(loss):
            return
        epsilon = loss.epsilon_at(self.delta)
        shown = "infinite" if math.isinf(epsilon) else decimal_above(Fraction(epsilon))
        raise PolicyRefusal(
            self.sentence,
            f"this costs epsilon = {shown} at that delta",
            "Ask for less, or for a smaller budget.",
        )

    def holds(self, total: Charge) -> bool:
        """Say whether a sum is within both."""
        return is_within(total, self.epsilon, self.delta)

    def refuse_sum(self, charge: Charge, total: Charge, period: str) -> None:
        """Refuse a charge with which a sum would be above one of both."""
        sides = zip(
            COORDINATES,
            (self.epsilon, self.delta),
            self.rules,
            charge.amounts,
            total.amounts,
            strict=True,
        )
        for name, most, rule, amount, after in sides:
            if after > most:
                raise PolicyRefusal(
                    rule,
                    f"this counts as {name} = {_amount_text(amount)}, with which "
                    f"{period} would have {_amount_text(after)}",
                    "Ask for less, or another time.",
                )


def _amount_text(amount: Amount) -> str:
    """Return an amount that can be read, rounded up."""
    return "infinite" if amount is INFINITE else decimal_above(amount)
