"""Steps of a lattice: exact for integers, the nearest for doubles."""

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sordino.errors import InvalidQuery
from sordino.expressions.bins import FARTHEST, STEEPEST, steps
from sordino.expressions.language import col
from sordino.expressions.schema import Column, Schema
from tests.batches import for_each

EXPONENTS = st.one_of(st.integers(-70, 70), st.integers(-STEEPEST, STEEPEST))
ENDS = st.integers(-FARTHEST, FARTHEST)
BOUNDS = st.tuples(ENDS, ENDS).map(lambda ends: (min(ends), max(ends)))


def exact(value: float, low: int, high: int, exponent: int) -> int:
    """Return floor(clamped value / 2**exponent + 1/2), in rationals."""
    unit = Fraction(2) ** exponent
    held = min(max(Fraction(value), low * unit), high * unit)
    return math.floor(held / unit + Fraction(1, 2))


@given(st.integers(-(2**63), 2**63 - 1), BOUNDS, EXPONENTS)
def test_integers_are_exact(value: int, bounds: tuple[int, int], exponent: int) -> None:
    """For any i64, bounds and exponent: the exact number of steps."""
    made = steps(col("x"), *bounds, exponent)
    assert made.value({"x": value}) == exact(value, *bounds, exponent)


@given(st.floats(allow_nan=False, allow_infinity=False), BOUNDS, EXPONENTS)
def test_doubles_are_nearest(
    value: float, bounds: tuple[int, int], exponent: int
) -> None:
    """For any double: within bounds, and off by one rounding of the half at most."""
    made = steps(col("x"), *bounds, exponent).value({"x": value})
    assert bounds[0] <= made <= bounds[1]
    unit = Fraction(2) ** exponent
    held = min(max(Fraction(value), bounds[0] * unit), bounds[1] * unit)
    assert abs(held / unit - made) <= Fraction(1, 2) + Fraction(1, 2**12)


@for_each(
    ("value", "expected"),
    [
        (math.inf, 9),
        (-math.inf, -9),
        (math.nan, None),
        (None, None),
        (0.5, 1),
        (-0.5, 0),
    ],
)
def test_edges(value: float | None, expected: int | None) -> None:
    assert steps(col("x"), -9, 9, 0).value({"x": value}) == expected


def test_facts() -> None:
    made = steps(col("x"), 0, 1, 0)
    for kind, nan in (("i64", False), ("f64", False), ("f64", True)):
        facts = made.column(Schema.of([("x", Column(kind, nullable=False, nan=nan))]))
        assert facts.type == "i64"
        assert facts.nullable is nan
        assert (facts.unsettled is not None) is nan
    with pytest.raises(InvalidQuery, match="steps takes numbers"):
        made.column(Schema.of([("x", Column("text"))]))
