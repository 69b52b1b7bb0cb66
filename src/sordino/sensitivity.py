"""How far two exact answers can lie apart when one privacy unit changes.

>>> Sensitivity(l0=3, linf=1)
Sensitivity(l0=3, l1=Fraction(3, 1), l2=sqrt(3), linf=Fraction(1, 1))
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, final

from sordino import _validate
from sordino._fields import fill, make
from sordino.errors import InvalidParameter
from sordino.numbers import INFINITE, Extended, Infinity, distance, product, root


@final
@dataclass(frozen=True, init=False)
class Sensitivity:
    """Bounds on the change of a vector: how many values, and how far in each norm.

    Bounds that follow from the others are filled in or tightened, so a norm left out
    costs nothing where the rest implies it; what is not implied is infinite.

    For any change d with at most l0 nonzero entries of size at most linf:
    |d|_1 <= l0 linf, |d|_2 <= sqrt(l0) linf, |d|_2 <= sqrt(l1 linf),
    |d|_inf <= |d|_2 <= |d|_1 <= sqrt(l0) |d|_2.
    """

    l0: int | Infinity
    l1: Extended
    l2: Extended
    linf: Extended

    def __init__(
        self, *, l0: Any = None, l1: Any = None, l2: Any = None, linf: Any = None
    ) -> None:
        """Read the given bounds exactly and tighten them."""
        if l0 is l1 is l2 is linf is None:
            raise InvalidParameter(
                "l1",
                None,
                "must be given, or another bound",
                "Give at least one of l0, l1, l2 and linf, such as l1=1.",
            )
        count = INFINITE if l0 is None else _validate.integer(l0=l0, least=0)
        whole = INFINITE if l1 is None else distance(l1=l1)
        length = INFINITE if l2 is None else distance(l2=l2)
        largest = INFINITE if linf is None else distance(linf=linf)
        if 0 in (count, whole, length, largest):
            count, whole, length, largest = 0, Fraction(0), Fraction(0), Fraction(0)
        many = INFINITE if count is INFINITE else Fraction(count)
        most = root(many)
        largest = min(largest, whole, length)
        whole = min(whole, product(many, largest), product(most, length))
        length = min(
            length, whole, product(most, largest), root(product(whole, largest))
        )
        largest = min(largest, whole, length)
        fill(self, l0=count, l1=whole, l2=length, linf=largest)

    def times(self, size: Fraction, copies: int = 1) -> "Sensitivity":
        """Return the bounds where each value is so many numbers of a size together.

        The size is positive. All norms grow alike, so bounds that are tight stay so.

        >>> Sensitivity(l0=2, linf=1).times(Fraction(3), copies=2)
        Sensitivity(l0=4, l1=Fraction(6, 1), l2=sqrt(18), linf=Fraction(3, 1))
        """
        return make(
            Sensitivity,
            l0=self.l0 * copies,
            l1=product(self.l1, size),
            l2=product(self.l2, size),
            linf=product(self.linf, size),
        )
