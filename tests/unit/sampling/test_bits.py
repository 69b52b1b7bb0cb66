"""Random bits: fresh for every call, whatever happens to the process in between."""

import copy
import os
import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import sordino as sd
from sordino.noise.sampling.bits import Bits
from tests.batches import for_each


@for_each("count", [0, 1, 255, 256, 1000, 100_000])
def test_words_are_new_writable_and_of_the_right_number(count: int) -> None:
    bits = Bits()
    first, second = bits.words(count), bits.words(count)
    assert first.shape == second.shape == (count,)
    assert first.dtype == np.uint64
    assert first.flags.writeable
    assert count == 0 or (first != second).any()
    assert len(set(first.tolist())) >= count - 1


def test_bits_are_balanced() -> None:
    """Each of the 64 bits is set in half of the words (6.5 sigma: 5e-9 a run)."""
    words = Bits().words(1_000_000)
    for bit in range(64):
        share = float((words >> np.uint64(bit) & np.uint64(1)).mean())
        assert abs(share - 0.5) < 6.5 * 0.0005


def test_a_stream_cannot_be_copied() -> None:
    for attempt in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match="draw fresh ones"):
            attempt(Bits())


def test_forked_children_draw_different_noise() -> None:
    """Eight children forked after a draw, and their parent, never share a word."""
    mechanism = sd.Laplace(1)
    mechanism(np.zeros(1000))
    seen = []
    for _ in range(8):
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            drawn = [*mechanism(np.zeros(1000))[:2], mechanism(0.0)]
            os.write(write, np.array(drawn).tobytes())
            os._exit(0)
        os.waitpid(child, 0)
        os.close(write)
        seen += np.frombuffer(os.read(read, 1000)).tolist()
        os.close(read)
    seen += [*mechanism(np.zeros(1000))[:2].tolist(), mechanism(0.0)]
    assert len(seen) == len(set(seen)) == 27


def test_threads_and_pickled_mechanisms_draw_different_noise() -> None:
    """Threads sharing a mechanism, and its unpickled copies, never repeat a draw."""
    mechanism = sd.Gaussian(scale=1)
    copies = [pickle.loads(pickle.dumps(mechanism)) for _ in range(4)]
    with ThreadPoolExecutor(4) as pool:
        drawn = list(pool.map(lambda m: m(np.zeros(500)), [mechanism] * 4 + copies))
    together = np.concatenate(drawn)
    assert len(np.unique(together)) == together.size
