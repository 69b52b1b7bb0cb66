"""The cells of the finest table that noisy tables say together, none below zero."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final, final

import numpy as np

from sordino.errors import InvalidQuery
from sordino.tables.agreement import agree
from sordino.tables.coarser import add_up, spread_out
from sordino.tables.crossing import MOST_CELLS, Crossing, Levels, parts_of
from sordino.tables.halving import Integers, Numbers
from sordino.tables.joint_law import Measured, fit_law
from sordino.tables.levels_down import fit_down, whole_down
from sordino.tables.measuring import contrasts_of, restore

MOST_JOINT: Final = 2**20
"""Cells of a law of three columns or more."""
_WIDEST: Final = 2**12
_CERTAIN: Final = 1e4
"""How much more precise what is known is than what is measured best."""
_ROUNDS: Final = 200
_CLOSE: Final = 1e-9


@final
@dataclass(frozen=True, eq=False)
class JointFit:
    """Contrasts of a crossing with their precisions, and tables that are known.

    What is made of them is made of noisy numbers and public facts alone.
    """

    crossing: Crossing
    contrasts: Mapping[Levels, Numbers]
    precisions: Mapping[Levels, float]
    """Of each part that was measured: one over the variance of its contrasts."""
    known: Mapping[Levels, Numbers] = field(default_factory=dict)

    @classmethod
    def of_tables(
        cls,
        crossing: Crossing,
        noisy: Mapping[Levels, Numbers],
        variances: Mapping[Levels, float],
    ) -> "JointFit":
        """Return what noisy tables say of each part that were measured apart."""
        _refuse_large(crossing)
        finest = crossing.finest
        cells = agree(crossing, finest, noisy, variances)
        parts = dict.fromkeys(part for table in noisy for part in parts_of(table))
        contrasts = {
            part: contrasts_of(crossing, part, add_up(crossing, finest, cells, part))
            for part in parts
        }
        precisions = {
            part: sum(
                crossing.cells(part) / (variances[table] * crossing.cells(table))
                for table in noisy
                if all(map(int.__le__, part, table))
            )
            for part in parts
        }
        return cls(crossing, contrasts, precisions)

    @cached_property
    def cells(self) -> Numbers:
        """Return the cells of the finest table: not negative, as near as can be."""
        _refuse_large(self.crossing)
        if len(self.crossing.trees) <= 2:
            rough = restore(self.crossing, self.crossing.finest, self.contrasts)
            return fit_down(self.crossing, self.crossing.finest, rough)
        best = max(self.precisions.values())
        certain = dict.fromkeys(self.contrasts, best * _CERTAIN)
        measured = Measured.of(
            self.crossing, self.contrasts, certain | dict(self.precisions)
        )
        cells = fit_law(measured).reshape(self.crossing.shape(self.crossing.finest))
        return _rake(self.crossing, cells, self.known)

    @cached_property
    def whole_cells(self) -> Integers:
        """Return whole cells near those, with whole sums near theirs."""
        if len(self.crossing.trees) <= 2:
            return whole_down(self.crossing, self.crossing.finest, self.cells)
        running = np.rint(np.cumsum(self.cells))
        whole: Integers = np.diff(running, prepend=0).astype(np.int64)
        return whole.reshape(self.cells.shape)


def _refuse_large(crossing: Crossing) -> None:
    """Refuse to adjust tables whose joint cells are too many."""
    most = MOST_CELLS if len(crossing.trees) <= 2 else MOST_JOINT
    wide = len(crossing.trees) > 2 and max(int(t.sizes[-1]) for t in crossing.trees)
    if crossing.joint_cells > most or wide > _WIDEST:
        raise InvalidQuery(
            f"tables of {len(crossing.trees)} columns are adjusted by a law of all "
            f"their combinations: these are {crossing.joint_cells:.3g}, with up to "
            f"{wide or most:,} values of a column, and the limits are {most:,} and "
            f"{_WIDEST:,}",
            "Use release.tables, which add up as they are, or ask for fewer columns.",
        )


def _rake(
    crossing: Crossing, cells: Numbers, known: Mapping[Levels, Numbers]
) -> Numbers:
    """Return cells with the sums that are known: each is multiplied until they have.

    It changes as little of the law as can be, in relative entropy.
    """
    for _ in range(_ROUNDS if known else 0):
        far = 0.0
        for table, counts in known.items():
            sums = add_up(crossing, crossing.finest, cells, table)
            far = max(far, float(np.abs(counts - sums).max()))
            factor = np.divide(counts, sums, out=np.zeros(sums.shape), where=sums > 0)
            cells *= spread_out(crossing, table, factor, crossing.finest)
        if far <= _CLOSE * max(1.0, float(cells.sum())):
            break
    return cells
