"""Where a release comes from: what was asked, and which record of a ledger paid."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Final, final

from sordino.losses.base import Loss
from sordino.planning.purchase import Purchase


@final
@dataclass(frozen=True)
class LedgerRecord:
    """The record of a charge, in a ledger that outlives the process."""

    ledger: str
    """The identity of the ledger."""
    number: int
    hash: str
    """It stands for the record and for all before it."""
    when: str
    """By the clock of whoever charged it."""
    promise: Loss | None
    """What everything that this ledger ever pays for is within; None with blocks."""


@final
@dataclass(frozen=True)
class Provenance:
    """What a release knows of its own making, beside its plan."""

    words: str = ""
    """The request as a ledger keeps it, or that of several asked together."""
    name: str = ""
    """Its name among several."""
    record: LedgerRecord | None = None
    """None where no ledger outlives the process."""
    least_shown: Fraction | None = None
    """What a group must reach to be shown, where groups are not known."""
    is_processed: bool = False
    """Whether something was done to the noisy answers, such as leaving groups out."""
    noise: tuple[str, ...] = ()
    """The names of the mechanisms; none where only a ledger is left to ask."""

    def with_noise(self, purchase: Purchase) -> "Provenance":
        """Return it with what a purchase says of its noise."""
        shown = purchase.least_shown
        names: dict[str, None] = {}
        for mechanisms in purchase.mechanisms:
            for each in mechanisms:
                names[type(each).__name__] = None
        return Provenance(
            self.words,
            self.name,
            self.record,
            least_shown=None if shown is None else shown[0],
            is_processed=bool(purchase.plan.request.processing),
            noise=tuple(names),
        )


UNKNOWN: Final = Provenance()
