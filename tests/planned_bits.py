"""Random words planned by a test: the private door through which bits are injected."""

import hashlib
from collections import deque
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray


class PlannedBits:
    """Hands out planned words first, then a fixed pseudo-random stream."""

    def __init__(
        self, planned: Iterable[NDArray[np.uint64]] = (), seed: int = 0
    ) -> None:
        """Take arrays of words, one for each request in turn."""
        self._planned = deque(planned)
        self._seed = seed
        self._count = 0

    def words(self, count: int) -> NDArray[np.uint64]:
        """Return the next planned array, or a stretch of the stream."""
        if self._planned:
            words = self._planned.popleft()
            assert words.size == count
            return words.copy()
        return np.array([self.word(8) for _ in range(count)], np.uint64)

    def word(self, size: int) -> int:
        self._count += 1
        digest = hashlib.sha256(f"{self._seed}:{self._count}".encode()).digest()
        return int.from_bytes(digest[:size], "little")


class SpreadBits:
    """Hands out words that are spread evenly over all 64-bit numbers, and mixed.

    A request for n words is answered by a Weyl sequence in a random order: each digit
    of the words, and each run of low digits, is as even as n words can be. What one
    word decides comes out with its chance but for about 1 in n.
    """

    _STEP = np.uint64(0x9E3779B97F4A7C15)

    def __init__(self, seed: int = 0) -> None:
        """Begin a fixed stream."""
        self._rng = np.random.default_rng(seed)

    def words(self, count: int) -> NDArray[np.uint64]:
        """Return evenly spread words in a mixed order."""
        places = self._rng.permutation(count).astype(np.uint64)
        begin = np.uint64(self._rng.integers(1 << 63))
        return places * self._STEP + begin

    def word(self, size: int) -> int:
        return int.from_bytes(self._rng.bytes(size), "little")
