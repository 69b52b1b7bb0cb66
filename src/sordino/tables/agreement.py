"""Tables that were measured apart, made to agree: weighted least squares.

The cells of the finest table are sought whose sums are nearest to all noisy tables,
each distance squared over the variance of its noise. For any exact tables the mean of
what is found is the exact table, where noise has the mean 0: it is linear in it.
"""

from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

import numpy as np

from sordino.tables.coarser import add_up, spread_out
from sordino.tables.crossing import Crossing, Levels
from sordino.tables.halving import Numbers

Operator: TypeAlias = Callable[[Numbers], Numbers]

_STEPS: Final = 400
_CLOSE: Final = 1e-8


def agree(
    crossing: Crossing,
    finest: Levels,
    noisy: Mapping[Levels, Numbers],
    variances: Mapping[Levels, float],
) -> Numbers:
    """Return the cells of the finest table that noisy tables say together.

    By conjugate gradients, which need no more steps than there are sizes of errors.
    """

    def weigh(cells: Numbers) -> Numbers:
        """Return the sums of each table over its variance, spread out."""
        sums = {table: add_up(crossing, finest, cells, table) for table in noisy}
        return spread_all(sums)

    def spread_all(tables: Mapping[Levels, Numbers]) -> Numbers:
        """Return what all tables say of each cell."""
        return sum(
            (
                spread_out(crossing, table, cells / variances[table], finest)
                for table, cells in tables.items()
            ),
            np.zeros(crossing.shape(finest)),
        )

    wanted = spread_all(noisy)
    return solve(weigh, wanted)


def solve(
    weigh: Operator,
    wanted: Numbers,
    scale: Numbers | float = 1.0,
    close: float = _CLOSE,
) -> Numbers:
    """Return x with weigh(x) = wanted, for a symmetric operator without negative sizes.

    Beginning at zero, where several solve it the shortest is found. `scale` is near the
    diagonal of the operator.
    """
    solution = np.zeros_like(wanted)
    left = wanted.copy()
    step = left / scale
    size = goal = float(np.vdot(left, step))
    for _ in range(_STEPS):
        if size <= goal * close**2:
            break
        moved = weigh(step)
        far = size / max(float(np.vdot(step, moved)), np.finfo(float).tiny)
        solution += far * step
        left -= far * moved
        new = left / scale
        last, size = size, float(np.vdot(left, new))
        step = new + size / last * step
    return solution
