"""The one door to randomness; decisions that doubles leave open, settled in balls.

Each call of a mechanism makes its own `Bits` and drops it. Forks, threads, pickles and
restored snapshots cannot repeat noise, because between calls there is no state to
repeat. Short requests are read from the operating system directly; longer ones are the
AES-256-CTR key stream of a key drawn from it.

A uniform number is known by a prefix of its binary digits. A decision is taken when
every completion of the prefixes agrees, else more digits are drawn and the working
precision is raised; the digits that were not read stay uniform (lemma 1 of
docs/proofs/samplers.md).

Kernel: mathematics.
"""

import hmac
import os
from collections.abc import Callable
from typing import Protocol, TypeVar, final

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.ciphers.base import CipherContext
from flint import arb, fmpq
from numpy.typing import NDArray

from sordino.errors import EntropyUnavailable
from sordino.numbers.rounding import precision

_KEY_BYTES = 32
_COUNTER_BYTES = 16
_WORD = np.dtype("<u8")


@final
class KeyedBits:
    """The bits of one secret for one content: the same whenever they are read.

    An AES-256-CTR key stream, as that of `Bits`, but its key is HMAC-SHA-512 of the
    content under the secret. To whoever does not know the secret, those of different
    contents are independent uniform bits (docs/proofs/noise-in-tasks.md).

    >>> one, again, other = (KeyedBits(b"secret", of) for of in (b"a", b"a", b"b"))
    >>> one.word(8) == again.word(8), one.word(8) == other.word(8)
    (True, False)
    """

    __slots__ = ("_stream",)

    def __init__(self, secret: bytes, content: bytes) -> None:
        seed = hmac.digest(secret, content, "sha512")
        counter = seed[_KEY_BYTES : _KEY_BYTES + _COUNTER_BYTES]
        cipher = Cipher(algorithms.AES(seed[:_KEY_BYTES]), modes.CTR(counter))
        self._stream = cipher.encryptor()

    def words(self, count: int) -> NDArray[np.uint64]:
        """Return the next 64-bit words in a new writable array."""
        following = bytearray(self._stream.update(bytes(_WORD.itemsize * count)))
        return np.frombuffer(following, _WORD)

    def word(self, size: int) -> int:
        """Return the next integer of `size` bytes."""
        return int.from_bytes(self._stream.update(bytes(size)), "little")

    def __reduce__(self) -> str:
        """Refuse to be copied: a copy that went on would repeat noise."""
        raise TypeError("random bits cannot be pickled or copied: key new ones")


_SECRET_BYTES = 64
_SHORT = 2048
"""Bytes below which a key set-up costs more than the operating system's own bytes."""
_STRETCH = 1 << 18
_ZEROS = bytes(_STRETCH)


class BitSource(Protocol):
    """Where random bits come from: `Bits`, or words planned by a test."""

    def words(self, count: int) -> NDArray[np.uint64]:
        """Return independent uniform 64-bit words in a new writable array."""

    def word(self, size: int) -> int:
        """Return one uniform integer of `size` bytes."""


@final
class Bits:
    """Cryptographic random bits for the length of one call."""

    __slots__ = ("_stream",)

    def __init__(self) -> None:
        # keyed at the first use: one key before and after a fork draws one noise twice
        self._stream: CipherContext | None = None

    def words(self, count: int) -> NDArray[np.uint64]:
        """Return independent uniform 64-bit words in a new writable array."""
        size = 8 * count
        if size < _SHORT:
            return np.frombuffer(bytearray(_random_bytes(size)), np.uint64)
        # Older ciphers ask for fifteen bytes of room beyond the output.
        room = np.empty(count + 2, np.uint64)
        target = room.view(np.uint8).data
        stream = self._stream or self._start()
        for begin in range(0, size, _STRETCH):
            taken = min(_STRETCH, size - begin)
            stream.update_into(memoryview(_ZEROS)[:taken], target[begin:])
        return room[:count]

    def word(self, size: int) -> int:
        """Return one uniform integer of `size` bytes."""
        return int.from_bytes(_random_bytes(size), "little")

    def _start(self) -> CipherContext:
        seed = _random_bytes(_KEY_BYTES + _COUNTER_BYTES)
        key, counter = seed[:_KEY_BYTES], seed[_KEY_BYTES:]
        self._stream = Cipher(algorithms.AES(key), modes.CTR(counter)).encryptor()
        return self._stream

    def __reduce__(self) -> str:
        """Refuse to be copied: a copy would repeat noise."""
        raise TypeError("random bits cannot be pickled or copied: draw fresh ones")


def _random_bytes(size: int) -> bytes:
    try:
        return os.urandom(size)
    except (OSError, NotImplementedError):
        pass
    raise EntropyUnavailable(
        "the operating system gave no random bits, so no noise was drawn. What was "
        "charged stays charged: see why getrandom fails here, and ask again with the "
        "same key."
    )


def fresh_secret() -> bytes:
    """Return a secret for `KeyedBits`, from the operating system."""
    return _random_bytes(_SECRET_BYTES)


Answer = TypeVar("Answer")

_BALL_WORD = 64
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
        room = (
            _BALL_WORD
            if self.depth is None
            else min(_BALL_WORD, self.depth - self.known)
        )
        more = self._source.word(8) >> (_BALL_WORD - room)
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
    digits = _BALL_WORD + _SPARE
    while True:
        with precision(digits):
            answer = question()
        if answer is not None:
            return answer
        for uniform in uniforms:
            if not uniform.complete:
                uniform.extend()
        digits += _BALL_WORD


def surely_less(left: arb, right: arb) -> bool | None:
    """Compare two balls; None while they overlap."""
    if left < right:
        return True
    return False if left >= right else None


def uniform_below(limits: NDArray[np.int64], bits: BitSource) -> NDArray[np.int64]:
    """Return for each limit in [1, 2**62] an independent uniform integer below it.

    As many digits as the limit needs are drawn, and drawn anew while they reach it:
    the mask is at least limit - 1, also where a double rounds that up.
    """
    digits = np.frexp((limits - 1).astype(np.float64))[1].astype(np.uint64)
    masks = (np.uint64(1) << digits) - np.uint64(1)
    draws = (bits.words(limits.size) & masks).view(np.int64)
    # drawn anew, not reduced: a remainder would favor small numbers
    open_ = np.flatnonzero(draws >= limits)
    while open_.size:
        again = (bits.words(open_.size) & masks[open_]).view(np.int64)
        draws[open_] = again
        open_ = open_[again >= limits[open_]]
    return draws
