"""The one door to randomness: a fresh key per call, nothing kept.

Each call of a mechanism makes its own `Bits` and drops it. Forks, threads, pickles and
restored snapshots cannot repeat noise, because between calls there is no state to
repeat. Short requests are read from the operating system directly; longer ones are the
AES-256-CTR key stream of a key drawn from it.
"""

import os
from typing import Protocol, final

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.ciphers.base import CipherContext
from numpy.typing import NDArray

from sordino.errors import EntropyUnavailable

_KEY_BYTES = 32
_SECRET_BYTES = 64
_COUNTER_BYTES = 16
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
        """Start without a key; the first long request draws one."""
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
        """Key the stream from the operating system."""
        seed = _random_bytes(_KEY_BYTES + _COUNTER_BYTES)
        key, counter = seed[:_KEY_BYTES], seed[_KEY_BYTES:]
        self._stream = Cipher(algorithms.AES(key), modes.CTR(counter)).encryptor()
        return self._stream

    def __reduce__(self) -> str:
        """Refuse to be copied: a copy would repeat noise."""
        raise TypeError("random bits cannot be pickled or copied: draw fresh ones")


def _random_bytes(size: int) -> bytes:
    """Return bytes of the operating system; that it has none is told as such."""
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
