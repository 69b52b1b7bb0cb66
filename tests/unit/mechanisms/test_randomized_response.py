"""Randomized response: the truth with the stated chance, in the question's type."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from flint import arb, ctx

from sordino.errors import InvalidParameter
from sordino.noise import randomized_response
from sordino.noise.randomized_response import RandomizedResponse, RandomizedResponseLoss
from sordino.numbers import sqrt
from tests.batches import for_each
from tests.planned_bits import PlannedBits

F = Fraction


@for_each("epsilon", [F(1, 10**12), F(1), F(40), sqrt(F(3)), F(10**9)])
@for_each("categories", [2, 3, 10**9])
def test_the_first_digits_of_the_truth(epsilon: Any, categories: int) -> None:
    """The level is the first 64 digits of P[truth], whatever the parameters."""
    level = RandomizedResponse(epsilon, categories)._level
    assert level is not None
    with ctx.workprec(500):
        size = arb(3).sqrt() if epsilon == sqrt(F(3)) else arb(str(epsilon))
        lies = (categories - 1) * (-size).exp()
        # 1 - P = lies / (1 + lies), compared without forming P
        assert arb(2**64 - level) >= 2**64 * lies / (1 + lies)
        assert level == 2**64 - 1 or arb(2**64 - level - 1) <= 2**64 * lies / (1 + lies)


def test_equal_digits_are_settled_exactly() -> None:
    """A word that is the level itself is decided by further digits."""
    mechanism = RandomizedResponse(1)
    level = mechanism._level
    assert level is not None
    words = np.array([level - 1, level, level + 1], np.uint64)
    with ctx.workprec(300):
        further = int((mechanism._truth * arb(2) ** 128).floor().unique_fmpz() or 0)

    class Planned:
        """Answers the words, then digits just below or above those of the truth."""

        def __init__(self, more: int) -> None:
            self.more = more

        def words(self, count: int) -> Any:
            assert count == 3
            return words.copy()

        def word(self, size: int) -> int:
            assert size == 8
            return self.more

    digits = further & (2**64 - 1)
    assert mechanism._truthful(3, Planned(digits - 1)).tolist() == [True, True, False]
    assert mechanism._truthful(3, Planned(digits + 1)).tolist() == [True, False, False]


@for_each(
    "value",
    [
        1,
        np.int64(1),
        np.uint8(1),
        [0, 1, 1],
        (0, 1),
        np.array([[0, 1], [1, 1]]),
        np.array([0, 1], np.uint8),
        pa.array([0, 1, 1]),
    ],
)
def test_the_answer_has_the_type_of_the_question(value: Any) -> None:
    sure = RandomizedResponse(10_000)
    answer = sure(value)
    assert type(answer) is type(value)
    assert np.array_equal(np.asarray(answer), np.asarray(value))
    assert np.asarray(answer).dtype == np.asarray(value).dtype


def test_an_answer_that_its_dtype_could_not_hold() -> None:
    answers = RandomizedResponse("1e-6", 100_000)(np.zeros(50, np.uint8))
    assert answers.dtype == np.int64
    assert int(answers.max()) > 255


def test_map_counts_answers() -> None:
    one = RandomizedResponseLoss(1, 4)
    assert RandomizedResponse(1, 4).map(1) == one
    assert RandomizedResponse(1, 4).map(3) == one * 3
    assert RandomizedResponse.no_noise(4).map(1).guarantees.epsilon == math.inf
    with pytest.raises(InvalidParameter, match="d_in"):
        RandomizedResponse(1).map("1/2")  # type: ignore[arg-type]


def test_no_noise_tells_the_truth() -> None:
    values = np.arange(7)
    assert (RandomizedResponse.no_noise(7)(values) == values).all()
    assert randomized_response.RandomizedResponse.no_noise().adds_no_noise


def test_lies_are_the_other_categories() -> None:
    """Over many answers each category occurs, and a lie is never the truth."""
    mechanism = RandomizedResponse("1e-9", 3)
    answers = mechanism._answer(np.full(3000, 1), PlannedBits(seed=3))
    assert set(answers.tolist()) == {0, 1, 2}
