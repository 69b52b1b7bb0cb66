"""One law on a grid of losses, by connecting the dots, always pessimistic.

In each cell of the grid the pair (P, Q) is replaced by two points at its ends with the
same masses of P and of Q. The profile of the replacement is the chord of the true one,
so it lies above it, touches it at the grid, and the error falls with the step squared
(Doroshenko, Ghazi, Kamath, Kumar and Manurangsi 2022).
"""

import math
from dataclasses import dataclass
from typing import final

import numpy as np

from sordino.curves.laws.law import AbstractLossLaw
from sordino.curves.points import ELEMENTARY, Floats

_UNIT = float(np.finfo(np.float64).eps)


@final
@dataclass(frozen=True, eq=False)
class Grid:
    """Masses of P at the losses (start + j) step, and at infinity."""

    start: int
    masses: Floats
    infinity: float

    @property
    def index(self) -> Floats:
        """Return 0, 1, 2, ..."""
        return np.arange(len(self.masses), dtype=np.float64)

    @property
    def logs(self) -> Floats:
        """Return the logarithms of the masses, minus infinity where there is none."""
        with np.errstate(divide="ignore"):
            return np.log(self.masses)


def on_grid(law: AbstractLossLaw, step: float) -> Grid:
    """Return a law on the grid; for any threshold test it dominates the law.

    P is grown and Q shrunk by the margin of the law and by the rounding of exp(loss).
    """
    low, high = law.span
    start = math.floor(low / step - 1e-9)
    count = max(math.ceil(high / step + 1e-9) - start, 1)
    edges: Floats = (start + np.arange(count + 1, dtype=np.float64)) * step
    p, q = law.masses(edges)
    p *= 1 + law.margin
    inner, shadow = p[1:-1], q[1:-1] * (1 - law.margin - 4 * _UNIT * np.abs(edges[:-1]))
    right = _right_share(inner, shadow, edges[:-1], step)
    # rounding, or an edge that missed an atom, can put a loss beyond its cell
    beyond = np.flatnonzero(right > inner)
    further = _right_share(inner[beyond], shadow[beyond], edges[beyond + 1], step)
    lost = further > inner[beyond]
    further = np.clip(further, 0.0, inner[beyond])
    right = np.clip(right, 0.0, inner)
    masses = np.zeros(count + 2)
    masses[0] = p[0]
    masses[:-2] += inner - right
    masses[1:-1] += right
    masses[beyond + 1] -= further
    masses[beyond + 2] += np.where(lost, 0.0, further)
    infinity = float(p[-1] + further[lost].sum())
    masses = np.maximum(masses if masses[-1] > 0 else masses[:-1], 0.0)
    return Grid(start, masses * (1 + ELEMENTARY), infinity)


def _right_share(p: Floats, q: Floats, left: Floats, step: float) -> Floats:
    """Return the mass at the right end of cells that keeps P and Q, or all of it.

    From p = a + b and q = exp(-left) (a + exp(-step) b).
    """
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        share = (p - q * np.exp(left)) / -math.expm1(-step)
    return np.where(np.isfinite(share), share, p)
