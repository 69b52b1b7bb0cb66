"""Read and write the privacy loss distributions of dp_accounting (an optional extra).

Writing keeps every guarantee: the masses written dominate the loss. Reading trusts the
other library that what it holds dominates the mechanism; its masses of P are taken as
they are and its grid is kept.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial
from typing import Any, final

import numpy as np

from sordino.errors import InvalidParameter, MissingDependency
from sordino.losses.curves.curve import AbstractCurve
from sordino.losses.curves.laws import Atoms
from sordino.losses.curves.tables import LawCurve
from sordino.losses.curves.transform import on_grid
from sordino.losses.guarantees import Guarantees
from sordino.losses.loss import Loss
from sordino.numbers import INFINITE, positive, up


@final
@dataclass(frozen=True, eq=False)
class TableLoss(Loss):
    """A loss known only by its masses on grids of losses, in each direction."""

    sides: tuple[Atoms, ...]

    @property
    def guarantees(self) -> Guarantees:
        # masses promise no parameter
        return Guarantees(INFINITE, Fraction(0), INFINITE, INFINITE)

    @cached_property
    def tradeoff(self) -> AbstractCurve:
        return LawCurve(partial(tuple, self.sides))


def from_dp_accounting(distribution: Any) -> Loss:
    """Return the loss of a pessimistic `PrivacyLossDistribution`."""
    _peer()
    remove, add = distribution._pmf_remove, distribution._pmf_add  # noqa: SLF001 no other door
    for side in (remove, add):
        if not side._pessimistic_estimate:  # noqa: SLF001 no other door
            raise InvalidParameter(
                "distribution",
                "optimistic",
                "is no upper bound",
                "Use a pessimistic one.",
            )
    sides = (_atoms(remove),) if remove is add else (_atoms(remove), _atoms(add))
    return TableLoss(sides)


def to_dp_accounting(loss: Loss, *, step: Any = "1e-4") -> Any:
    """Return a pessimistic `PrivacyLossDistribution` that dominates a loss."""
    peer = _peer()
    interval = up(positive(step=step))
    tables = []
    for law in loss.tradeoff.laws():
        grid = on_grid(law, interval)
        masses = {grid.start + j: float(m) for j, m in enumerate(grid.masses) if m > 0}
        tables.append((masses, grid.infinity))
    (remove, lost), (add, lost_adding) = tables[0], tables[-1]
    return peer.PrivacyLossDistribution.create_from_rounded_probability(
        remove,
        lost,
        interval,
        pessimistic_estimate=True,
        rounded_probability_mass_function_add=None if len(tables) == 1 else add,
        infinity_mass_add=None if len(tables) == 1 else lost_adding,
        symmetric=len(tables) == 1,
    )


def _atoms(side: Any) -> Atoms:
    dense = side.to_dense_pmf()
    step = float(dense._discretization)  # noqa: SLF001 no other door
    masses = np.maximum(np.asarray(dense._probs, dtype=np.float64), 0.0)  # noqa: SLF001
    losses = (dense._lower_loss + np.arange(len(masses))) * step  # noqa: SLF001
    with np.errstate(under="ignore", over="ignore"):
        # exp(709) overflows; a Q that is too small only raises delta
        shadow = masses * np.exp(-np.maximum(losses, -700.0))
    return Atoms(losses, masses, shadow, float(dense._infinity_mass), step)  # noqa: SLF001


def _peer() -> Any:
    try:
        from dp_accounting.pld import (  # noqa: PLC0415 an optional extra
            privacy_loss_distribution,
        )
    except ImportError as error:
        raise MissingDependency("This", "dp-accounting", "interop") from error
    return privacy_loss_distribution
