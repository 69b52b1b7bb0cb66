"""How a change of rows becomes a change of the numbers that rows are turned into."""

from fractions import Fraction

from sordino.aggregations.measurement import scale_change
from sordino.noise.sensitivity import Sensitivity
from tests.batches import for_each


@for_each("copies", [1, 2, 3])
def test_each_row_moves_as_many_numbers_as_it_is_turned_into(copies: int) -> None:
    """Several numbers of a row share its size, and each of them can change."""
    rows = Sensitivity(l0=3, l1=5, linf=2)
    change = scale_change(rows, Fraction(7, 2), copies)
    assert change.l0 == 3 * copies
    assert change.l1 == Fraction(35, 2)
    assert change.linf == 7
    assert change.l2 == rows.l2 * Fraction(7, 2)
