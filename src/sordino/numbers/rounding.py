"""The only conversions to float, each named for its direction; balls; infinity.

python-flint has one working precision for the whole process. Ours is set and restored
under a lock, so no result depends on what other code has set; balls are enclosures at
any precision. The context of decimals belongs to a thread.

>>> up(Fraction(1, 3)) > Fraction(1, 3) > down(Fraction(1, 3))
True
>>> total(Fraction(1, 10), INFINITE), product(Fraction(0), INFINITE)
(inf, Fraction(0, 1))

Kernel: mathematics.
"""

import math
import os
import threading
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager
from decimal import MAX_EMAX, MIN_EMIN, ROUND_HALF_EVEN, Context, Decimal, localcontext
from enum import ReprEnum
from fractions import Fraction
from typing import Final, Literal, TypeAlias, TypeVar, final

from flint import arb, ctx, fmpq

from sordino.numbers.exact import Exact, Radical, sqrt

_BITS = (96, 192, 384, 768, 1536, 3072)
_GOOD = 58
_LOCK = threading.RLock()


@contextmanager
def precision(bits: int) -> Generator[None]:
    """Compute with `bits` binary digits; the precision before is restored.

    Where somebody else has set another one meanwhile, theirs is left alone.
    """
    with _LOCK:
        before = ctx.prec
        ctx.prec = bits
        try:
            yield
        finally:
            if ctx.prec == bits:
                ctx.prec = before


def decimals(
    digits: int, rounding: str = ROUND_HALF_EVEN
) -> AbstractContextManager[Context]:
    """Compute with decimals of `digits` digits, whatever the context was.

    >>> from decimal import Decimal
    >>> with decimals(3):
    ...     f"{1 / Decimal(3)}"
    '0.333'
    """
    return localcontext(
        Context(digits, rounding, MIN_EMIN, MAX_EMAX, capitals=1, clamp=0, traps=[])
    )


def enclose(compute: Callable[[], arb]) -> arb:
    """Return an enclosure good to the last bit of a double, if precision allows."""
    for bits in _BITS:
        with precision(bits):
            value = compute()
            if value.rel_accuracy_bits() >= _GOOD:
                break
    return value


# a fork waits until no other thread computes: the child has neither its lock nor its
# precision to wait for
os.register_at_fork(
    before=_LOCK.acquire, after_in_parent=_LOCK.release, after_in_child=_LOCK.release
)


_END_BITS = 128
_RATIONAL_BITS = 256
_BEYOND = 1100
"""A power of two beyond which every double is 0 or infinite, in either direction."""
_NORMAL = 1000
"""A power of two below which doubles have all their digits, in either direction."""


def ball(value: "Exact") -> arb:
    """Return an enclosure at the working precision of flint."""
    if isinstance(value, Radical):
        root = ball(value.radicand)
        for _ in range(value.index.bit_length() - 1):
            root = root.sqrt()
        return root
    return arb(fmpq(value.numerator, value.denominator))


def fraction(point: arb) -> Fraction:
    """Return an exact ball as a rational."""
    mantissa, exponent = map(int, point.man_exp())
    if exponent >= 0:
        return Fraction(mantissa << exponent)
    return Fraction(mantissa, 1 << -exponent)


def shortest(value: float) -> Fraction:
    """Shortest decimal that reads back as a double: what a user meant by it.

    >>> shortest(0.1), shortest(2.5e-7)
    (Fraction(1, 10), Fraction(1, 4000000))
    """
    return Fraction(float.__repr__(value))


def up(value: "Exact | float | arb") -> float:
    """Return the least double that is not below the value.

    >>> from sordino.numbers.exact import sqrt
    >>> up(Fraction(1, 3)) > Fraction(1, 3)
    True
    """
    return _round(value, 1)


def down(value: "Exact | float | arb") -> float:
    """Return the greatest double that is not above the value."""
    return _round(value, -1)


def rational_above(value: Exact) -> Fraction:
    """Return a rational not below the number, above it by at most one part in 2**250.

    >>> from sordino.numbers.exact import sqrt
    >>> 0 < rational_above(sqrt(Fraction(2))) ** 2 - 2 < Fraction(1, 2**200)
    True
    """
    if isinstance(value, Fraction):
        return value
    with precision(_RATIONAL_BITS):
        return fraction(ball(value).upper())


def rounded_up(value: "Exact") -> Fraction:
    """Return the least short decimal, as doubles are printed, not below the value.

    >>> rounded_up(Fraction(1, 3)), rounded_up(Fraction(1, 10))
    (Fraction(33333333333333337, 100000000000000000), Fraction(1, 10))
    """
    near = down(value)
    # a decimal may lie below its double: compare what will be read
    while shortest(near) < value:
        near = math.nextafter(near, math.inf)
    return shortest(near)


def floor_log2(value: "Exact") -> int:
    """Return the greatest e with 2**e <= value, for a positive value.

    >>> from sordino.numbers.exact import sqrt
    >>> floor_log2(Fraction(3, 8)), floor_log2(sqrt(Fraction(8)))
    (-2, 1)
    """
    if isinstance(value, Radical):
        return floor_log2(value.radicand) // value.index
    exponent = value.numerator.bit_length() - value.denominator.bit_length()
    return exponent - (Fraction(2) ** exponent > value)


def _round(value: "Exact | float | arb", towards: Literal[1, -1]) -> float:
    if isinstance(value, float):
        return value
    if isinstance(value, Radical):
        return _directed_root(value, towards)
    if isinstance(value, arb):
        return _directed_ball(value, towards)
    try:
        nearest = value.numerator / value.denominator
    except OverflowError:
        nearest = math.inf if value > 0 else -math.inf
    if math.isinf(nearest):
        # down from beyond the doubles is the largest double, never infinity
        return nearest if nearest * towards > 0 else math.nextafter(nearest, 0.0)
    # Python's quotient is correctly rounded, so one step is enough
    numerator, denominator = nearest.as_integer_ratio()
    error = numerator * value.denominator - value.numerator * denominator
    return (
        nearest if error * towards >= 0 else math.nextafter(nearest, math.inf * towards)
    )


def _directed_root(value: Radical, towards: Literal[1, -1]) -> float:
    """Round a root: start from an enclosure and step until the powers agree."""
    digits = 128
    while True:
        with precision(digits):
            enclosure = ball(value)
            low, high = fraction(enclosure.lower()), fraction(enclosure.upper())
        answer = _round(high, towards)
        if answer == _round(low, towards):
            return answer
        digits *= 2


def _directed_ball(value: arb, towards: Literal[1, -1]) -> float:
    if not value.is_finite():  # nothing is known: the end that bounds everything
        return math.inf * towards
    with precision(_END_BITS):
        end = value.upper() if towards > 0 else value.lower()
    mantissa, exponent = map(int, end.man_exp())
    size = exponent + abs(mantissa).bit_length()
    if abs(size) < _NORMAL:  # a mantissa is rounded as the number is
        nearest = float(mantissa)
        if (int(nearest) - mantissa) * towards < 0:
            nearest = math.nextafter(nearest, math.inf * towards)
        return math.ldexp(nearest, exponent)
    exponent += min(0, _BEYOND - size) + max(0, -_BEYOND - size)
    return _round(Fraction(mantissa) * Fraction(2) ** exponent, towards)


_SUM_BITS = 256


@final
class Infinity(float, ReprEnum):
    """The type of one value, which no number reaches.

    It compares, prints and computes like the double, and is asked for by name, so that
    a type checker knows an exact number in the other case.

    >>> INFINITE == math.inf, INFINITE > Fraction(10) ** 400, Infinity(math.inf)
    (True, True, inf)
    """

    INFINITE = math.inf

    __repr__ = float.__repr__


INFINITE: Final = Infinity.INFINITE
"""What is without bound; of an `Extended` number, ask whether it `is INFINITE`."""

_Size = TypeVar("_Size", bound=Exact)

Extended: TypeAlias = Exact | Infinity
"""An exact number, or infinity; never another double."""


def finite(size: _Size | Infinity) -> _Size:
    """Return a number that is known to be finite, by the reasons of the caller."""
    assert size is not INFINITE  # noqa: S101 who calls this has made sure
    return size


def total(*terms: Exact | float) -> Extended:
    """Return the sum, exact when rational; a sum of unlike roots is rounded up.

    A double is the number that its shortest decimal says.

    >>> total(Fraction(1, 10), 0.9)
    Fraction(1, 1)
    """
    if INFINITE in terms:
        return INFINITE
    exact_terms = [shortest(t) if isinstance(t, float) else t for t in terms]
    rational = sum((t for t in exact_terms if isinstance(t, Fraction)), Fraction(0))
    roots = [term for term in exact_terms if isinstance(term, Radical)]
    if not roots:
        return rational
    ratios = [root / roots[0] for root in roots]
    if rational == 0 and all(isinstance(ratio, Fraction) for ratio in ratios):
        return roots[0] * finite(total(*ratios))
    with precision(_SUM_BITS):
        balls = [ball(root) for root in roots]
        return fraction(sum(balls, ball(rational)).upper())


def product(left: Extended, right: Extended) -> Extended:
    """Return a product; nothing times anything is nothing.

    >>> product(Fraction(2), INFINITE), product(Fraction(2), Fraction(3))
    (inf, Fraction(6, 1))
    """
    if 0 in (left, right):
        return Fraction(0)
    if left is INFINITE or right is INFINITE:
        return INFINITE
    return left * right


def root(size: Extended) -> Extended:
    """Return the square root, also of what is without bound."""
    return INFINITE if size is INFINITE else sqrt(size)


_WRITTEN = 24


def number_text(value: object) -> str:
    """Text that a user may write for the value; "~" marks one that is cut.

    >>> [number_text(Fraction(1, below)) for below in (10, 10**6, 3)]
    ['0.1', '1e-06', "'1/3'"]
    >>> number_text(Fraction(3, 10) + Fraction(1, 2**70))
    "'~0.3000000000'"
    """
    if not isinstance(value, (Fraction, Radical)):
        return repr(value)
    if isinstance(value, Radical):
        return repr(str(value)) if len(str(value)) <= _WRITTEN else _long(value)
    if value.denominator == 1 and abs(value.numerator) < 10**_WRITTEN:
        return str(value.numerator)
    for nearest in filter(math.isfinite, (up(value), down(value))):
        if shortest(nearest) == value:
            return repr(nearest)
    text = str(value)
    return repr(text) if len(text) <= _WRITTEN else _long(value)


def _long(value: Exact) -> str:
    if isinstance(value, Fraction):
        with decimals(10):
            return f"'~{Decimal(value.numerator) / Decimal(value.denominator)}'"
    return f"'~{up(value):.10g}'"


_NONE: Final = 1e-300
"""Noise below this is none, in any number; it stands for 0 that was rounded up."""


def without_dust(sd: float) -> float:
    """Return a deviation, 0 where it is a 0 that was rounded up.

    >>> without_dust(5e-324), without_dust(2.5)
    (0.0, 2.5)
    """
    return 0.0 if abs(sd) < _NONE else sd
