"""The working precision of balls and of decimals: ours alone, and given back.

python-flint has one precision for the whole process. Ours is set and restored under a
lock, so that no two of our threads mix theirs up, and what we compute never depends on
the precision that was found. Balls are enclosures at any precision. The context
of decimals is of a thread; how it rounds and what it traps are ours, too.
"""

import os
import threading
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager
from decimal import MAX_EMAX, MIN_EMIN, ROUND_HALF_EVEN, Context, localcontext

from flint import arb, ctx

_BITS = (96, 192, 384, 768, 1536, 3072)
_GOOD = 58
_LOCK = threading.RLock()


@contextmanager
def precision(bits: int) -> Generator[None]:
    """Compute with so many binary digits, and give back the precision that was found.

    Where somebody else has set another one meanwhile, theirs is left alone.

    >>> with precision(200):
    ...     ctx.prec
    200
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
    """Compute with decimals of so many digits, whatever context was found.

    >>> from decimal import Decimal
    >>> with decimals(3):
    ...     f"{1 / Decimal(3)}"
    '0.333'
    """
    return localcontext(
        Context(digits, rounding, MIN_EMIN, MAX_EMAX, capitals=1, clamp=0, traps=[])
    )


def enclose(compute: Callable[[], arb]) -> arb:
    """Return an enclosure good to the last bit of a double, if precision allows.

    >>> float(enclose(lambda: arb(2).sqrt()).mid())
    1.4142135623730951
    """
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
