"""How far two exact answers can lie apart when one privacy unit changes.

>>> Sensitivity(l0=3, linf=1)
Sensitivity(l0=3, l1=Fraction(3, 1), l2=sqrt(3), linf=Fraction(1, 1))

For Laplace and geometric noise the change (linf, ..., linf, rest) is the worst of all
with the given bounds, for every epsilon at once (docs/proofs/losses.md, section 5).

Kernel: mathematics.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, final

from sordino.errors import InvalidParameter
from sordino.numbers import (
    INFINITE,
    Exact,
    Extended,
    Infinity,
    arguments,
    distance,
    down,
    product,
    root,
)
from sordino.numbers.exact import floor_exact
from sordino.numbers.frozen import fill, make


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
        if l0 is l1 is l2 is linf is None:
            raise InvalidParameter(
                "l1",
                None,
                "must be given, or another bound",
                "Give at least one of l0, l1, l2 and linf, such as l1=1.",
            )
        count = INFINITE if l0 is None else arguments.integer(l0=l0, least=0)
        whole = INFINITE if l1 is None else distance(l1=l1)
        length = INFINITE if l2 is None else distance(l2=l2)
        largest = INFINITE if linf is None else distance(linf=linf)
        # one bound of 0 says that nothing changes
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
        """Sensitivity if each value becomes `copies` numbers, scaled by `size` in all.

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


def _worst(d_in: Sensitivity) -> tuple[int, Extended, Extended]:
    """Split an l1 change into copies of size linf and one remainder."""
    if d_in.linf is INFINITE or d_in.linf == 0:
        return 0, d_in.linf, d_in.l1
    if d_in.l1 is INFINITE:
        return 0, d_in.linf, INFINITE
    full = floor_exact(d_in.l1 / d_in.linf)
    if full >= d_in.l0:  # l0 binds first: as many as may change, each by the most
        return int(d_in.l0), d_in.linf, Fraction(0)
    rest = _difference(d_in.l1, d_in.linf * Fraction(full))
    return full, d_in.linf, rest


def _whole(d_in: Sensitivity) -> Sensitivity:
    """Return the bounds on integer changes: those of each size rounded down."""
    sizes: dict[str, Any] = {
        "l0": None if d_in.l0 is INFINITE else d_in.l0,
        "l2": d_in.l2,
    }
    for name, value in (("l1", d_in.l1), ("linf", d_in.linf)):
        sizes[name] = value if value is INFINITE else floor_exact(value)
    return Sensitivity(**sizes)


def _difference(whole: Exact, part: Exact) -> Exact:
    """Return whole - part, at least 0, rounded up where the roots are unlike."""
    if isinstance(whole, Fraction) and isinstance(part, Fraction):
        return whole - part
    ratio = part / whole
    share = ratio if isinstance(ratio, Fraction) else Fraction(down(ratio))
    return whole * (1 - share)
