"""Bits that a secret repeats: the same for the same, unlike for all else."""

import copy
import pickle

import numpy as np
import pytest
from scipy import stats

from sordino.noise.sampling.bits import KeyedBits, fresh_secret
from tests.batches import for_each
from tests.statistics import FALSE_ALARM


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
