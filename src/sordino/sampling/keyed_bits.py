"""Bits that a secret repeats: for noise that is drawn where work may run again."""

import hmac
from typing import final

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from numpy.typing import NDArray

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
        """Key the stream."""
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
