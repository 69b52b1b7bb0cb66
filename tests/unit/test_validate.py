"""Checks at the door: what passes, and what the refusal says."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sordino.errors import InvalidParameter
from sordino.numbers import arguments
from tests.batches import for_each


@given(st.integers(), st.integers(), st.integers())
def test_an_integer_passes_within_its_limits(value: int, least: int, most: int) -> None:
    if least <= value <= most:
        assert arguments.integer(rows=value, least=least, most=most) == value
    else:
        with pytest.raises(InvalidParameter, match=r"^rows must be at (least|most)"):
            arguments.integer(rows=value, least=least, most=most)


def test_a_numpy_integer_becomes_a_python_one() -> None:
    """So that it cannot overflow later."""
    assert type(arguments.integer(rows=np.int8(3))) is int


@for_each("bad", [True, np.True_, 1.0, 1.5, "1", None, [1], np.array([1])])
def test_what_is_no_integer_is_refused(bad: object) -> None:
    with pytest.raises(InvalidParameter, match=r"^rows must be an integer.*Try rows=1"):
        arguments.integer(rows=bad)


@for_each("bad", ["f16", "", None, 64, ["f64"]])
def test_an_unknown_word_is_refused_with_the_known_ones(bad: object) -> None:
    assert arguments.choice(("f32", "f64"), dtype="f32") == "f32"
    with pytest.raises(InvalidParameter, match=r'^dtype must be one of "f32", "f64"'):
        arguments.choice(("f32", "f64"), dtype=bad)
