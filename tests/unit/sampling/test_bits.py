"""Bits are balanced, new for everybody, and the same for one secret and content."""

import copy
import os
import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from scipy import stats

import sordino as sd
from sordino.noise.sampling.bits import Bits, KeyedBits, fresh_secret
from tests.batches import for_each
from tests.statistics import FALSE_ALARM


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


def test_the_same_secret_and_content_have_the_same_bits() -> None:
    first, again = (KeyedBits(b"secret", b"content") for _ in range(2))
    together = first.words(5)
    assert together.tolist() == [again.word(8) for _ in range(5)]
    others = KeyedBits(b"secret", b"contents"), KeyedBits(b"secrets", b"content")
    assert all(together[0] != other.word(8) for other in others)


def test_known_words() -> None:
    """AES-256-CTR of zeros, key and counter from HMAC-SHA-512: no build may differ.

    Made by `openssl dgst -sha512 -mac HMAC` and `openssl enc -aes-256-ctr`.
    """
    assert KeyedBits(b"secret", b"content").word(16).to_bytes(16, "little").hex() == (
        "5e144a0bb5ac7f8d2796f5f0b15a10f0"
    )


def test_words_are_new_and_writable() -> None:
    words = KeyedBits(b"s", b"c").words(3)
    words += np.uint64(1)
    assert words.dtype == np.uint64
    assert KeyedBits(b"s", b"c").words(0).size == 0


def test_words_are_uniform() -> None:
    """Bytes of many contents, chi-square (false alarm 1e-9); a lost bit is seen."""
    words = np.concatenate([
        KeyedBits(b"one secret", bytes([n])).words(2000) for n in range(100)
    ])

    def p_value(seen: "np.typing.NDArray[np.uint64]") -> float:
        counts = np.bincount(seen.view(np.uint8), minlength=256)
        return float(stats.chisquare(counts).pvalue)

    assert p_value(words) > FALSE_ALARM
    assert p_value(words & ~np.uint64(1)) < FALSE_ALARM


def test_secrets_are_fresh() -> None:
    secrets = {fresh_secret() for _ in range(100)}
    assert len(secrets) == 100
    assert {len(secret) for secret in secrets} == {64}


@for_each("move", [pickle.dumps, copy.copy, copy.deepcopy])
def test_a_stream_is_never_copied(move: object) -> None:
    assert callable(move)
    with pytest.raises(TypeError, match="cannot be pickled"):
        move(KeyedBits(b"s", b"c"))
