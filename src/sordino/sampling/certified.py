"""Decisions that doubles leave open, settled in ball arithmetic with further bits.

A uniform number is known by a prefix of its binary digits. A decision is taken when
every completion of the prefixes agrees, else more digits are drawn and the working
precision is raised; the digits that were not read stay uniform (lemma 1 of
docs/proofs/samplers.md).
"""

from collections.abc import Callable
from typing import TypeVar, final

from flint import arb, fmpq

from sordino.numbers.precision import precision
from sordino.sampling.bits import BitSource

Answer = TypeVar("Answer")

_WORD = 64
_SPARE = 64


@final
class Uniform:
    """A uniform number in [0, 1) with a known prefix; more digits are drawn on demand.

    With a `depth` it is uniform on the multiples of 2**-depth, known for good once
    `known` reaches it.
    """

    __slots__ = ("_source", "depth", "known", "prefix")

    def __init__(
        self, source: BitSource, prefix: int, known: int, depth: int | None = None
    ) -> None:
        """Start from `known` digits; digits beyond the depth do not exist."""
        if depth is not None and known > depth:
            prefix, known = prefix >> (known - depth), depth
        self.prefix = prefix
        self.known = known
        self.depth = depth
        self._source = source

    @property
    def complete(self) -> bool:
        """Tell whether there are no further digits."""
        return self.known == self.depth

    def extend(self) -> None:
        """Draw another word of digits, or what is left of the depth."""
        room = _WORD if self.depth is None else min(_WORD, self.depth - self.known)
        more = self._source.word(8) >> (_WORD - room)
        self.prefix = self.prefix << room | more
        self.known += room

    def enclosure(self) -> arb:
        """Return a ball that holds every completion of the known digits."""
        low = arb(fmpq(self.prefix, 1 << self.known))
        if self.complete:
            return low
        return low.union(arb(fmpq(self.prefix + 1, 1 << self.known)))


def settle(question: Callable[[], Answer | None], *uniforms: Uniform) -> Answer:
    """Ask again, with further digits and precision, until there is an answer."""
    digits = _WORD + _SPARE
    while True:
        with precision(digits):
            answer = question()
        if answer is not None:
            return answer
        for uniform in uniforms:
            if not uniform.complete:
                uniform.extend()
        digits += _WORD


def surely_less(left: arb, right: arb) -> bool | None:
    """Compare two balls; None while they overlap."""
    if left < right:
        return True
    return False if left >= right else None
