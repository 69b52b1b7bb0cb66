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
        """Return `size` bytes of the stream."""
        self._count += 1
        digest = hashlib.sha256(f"{self._seed}:{self._count}".encode()).digest()
        return int.from_bytes(digest[:size], "little")
