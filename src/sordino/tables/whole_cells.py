"""Whole numbers near cells, with whole sums that are given."""

from typing import Final

import numpy as np

from sordino.tables.halving import Integers, Numbers
from sordino.tables.projection import Groups

_ALL: Final = 2**62


def round_cells(cells: Numbers, first: Groups, second: Groups) -> Integers:
    """Return whole cells with the sums of both kinds of groups, none below its floor.

    Every cell gets its whole part. Of what its groups still lack, one goes to each cell
    as long as there is any, those with the largest remainders first; what is left over
    then goes wherever both groups lack something. Where groups of both kinds cross
    completely, nothing is left over.
    """
    floors = np.floor(cells)
    whole = floors.astype(np.int64)
    lacking = [
        (groups.sums - groups.add(floors)).round().astype(np.int64).tolist()
        for groups in (first, second)
    ]
    order = np.argsort(floors - cells, kind="stable")
    for most in (1, _ALL):
        order = _hand_out(whole, order, (first, second), lacking, most)
    return whole


def _hand_out(
    whole: Integers,
    order: Integers,
    kinds: tuple[Groups, Groups],
    lacking: list[list[int]],
    most: int,
) -> Integers:
    """Give to cells in an order what both of their groups lack, each at most so much.

    Return the cells of groups that still lack something.
    """
    rows, other = lacking
    places = (groups.places[order].tolist() for groups in kinds)
    for cell, row, column in zip(order.tolist(), *places, strict=True):
        units = min(rows[row], other[column], most)
        if units > 0:
            whole[cell] += units
            rows[row] -= units
            other[column] -= units
    left = [
        np.array(each)[groups.places] > 0
        for groups, each in zip(kinds, lacking, strict=True)
    ]
    return np.flatnonzero(left[0] & left[1])
