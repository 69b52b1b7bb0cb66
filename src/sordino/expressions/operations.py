"""Every operation there is: each engine has an entry for each of them."""

from typing import Final

from sordino.expressions import (
    arithmetic,
    automata,
    bins,
    casts,
    cells,
    comparison,
    conditional,
    dates,
    exponentials,
    extreme_values,
    formats,
    lattice_steps,
    letters,
    logic,
    membership,
    missing,
    numeric,
    patterns,
    pieces_of_text,
    text,
    zones,
)
from sordino.expressions.tree import Operation

OPERATIONS: Final[tuple[Operation, ...]] = (
    *arithmetic.OPERATIONS,
    *comparison.OPERATIONS,
    *logic.OPERATIONS,
    *missing.OPERATIONS,
    *numeric.OPERATIONS,
    *exponentials.OPERATIONS,
    *lattice_steps.OPERATIONS,
    *casts.OPERATIONS,
    *cells.OPERATIONS,
    *extreme_values.OPERATIONS,
    *text.OPERATIONS,
    *patterns.OPERATIONS,
    *letters.OPERATIONS,
    *automata.OPERATIONS,
    *pieces_of_text.OPERATIONS,
    *formats.OPERATIONS,
    *dates.OPERATIONS,
    *zones.OPERATIONS,
    *conditional.OPERATIONS,
    *membership.OPERATIONS,
    *bins.OPERATIONS,
)
