"""Every operation there is: each engine has an entry for each of them."""

from typing import Final

from sordino.expressions import arithmetic, comparison, logic
from sordino.expressions.tree import Operation

OPERATIONS: Final[tuple[Operation, ...]] = (
    *arithmetic.OPERATIONS,
    *comparison.OPERATIONS,
    *logic.OPERATIONS,
)
