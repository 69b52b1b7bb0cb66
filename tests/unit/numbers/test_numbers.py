"""Numbers are read as they are written, exactly, and rounded one way."""

import math
import operator
import pickle
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from flint import arb, ctx
from hypothesis import given
from hypothesis import strategies as st

import sordino as sd
from sordino.errors import InvalidParameter
from sordino.losses.budgets.limits import filter_for
from sordino.numbers import (
    Exact,
    Radical,
    ball,
    distance,
    down,
    exact,
    floor_log2,
    fraction,
    number_text,
    positive,
    probability,
    rounded_up,
    shortest,
    sqrt,
    total,
    up,
)
from tests.batches import for_each

SIZES = st.fractions(min_value=Fraction(1, 10**6), max_value=10**6)
EXTREMES = st.builds(
    lambda ratio, power: ratio * Fraction(2) ** power,
    st.fractions(min_value=-2, max_value=2),
    st.integers(-1200, 1200),
)
ROOTS = st.one_of(SIZES.map(sqrt), SIZES.map(lambda size: sqrt(sqrt(size))))


@for_each(
    ("given_value", "meaning"),
    [
        (3, Fraction(3)),
        (Fraction(1, 3), Fraction(1, 3)),
        (Decimal("0.1"), Fraction(1, 10)),
        (Decimal("1e400"), Fraction(10**400)),
        (0.1, Fraction(1, 10)),
        (np.float64(0.1), Fraction(1, 10)),
        (5e-324, Fraction(5, 10**324)),
        (1.7976931348623157e308, Fraction("1.7976931348623157e308")),
        (np.float32(0.1), Fraction(1, 10)),
        (np.float16(0.1), Fraction(1, 10)),
        (np.longdouble(1) / 10, Fraction(1, 10)),
        (np.int64(-7), Fraction(-7)),
        (np.uint64(2**64 - 1), Fraction(2**64 - 1)),
        ("0.1", Fraction(1, 10)),
        (" 1 ", Fraction(1)),
        ("1/3", Fraction(1, 3)),
        ("-2/4", Fraction(-1, 2)),
        ("+.5", Fraction(1, 2)),
        ("1.", Fraction(1)),
        ("1e-6", Fraction(1, 10**6)),
        ("1e400", Fraction(10**400)),
        ("2*3/4*5", Fraction(15, 2)),
        ("sqrt(2)*sqrt(2)", Fraction(2)),
        ("sqrt(9/4)", Fraction(3, 2)),
        ("-sqrt(4)", Fraction(-2)),
        ("0*sqrt(2)", Fraction(0)),
    ],
)
def test_reads_exactly(given_value: object, meaning: Fraction) -> None:
    value = exact(scale=given_value)
    assert isinstance(value, Fraction)
    assert value == meaning
    assert type(value.numerator) is type(value.denominator) is int


TEXTS = (
    *(
        "",
        " ",
        "one",
        "nan",
        "inf",
        "1,5",
        "1e",
        "0x10",
        "1_000",
        "1 2",
        "1\n",
        "\u0661",
    ),
    *("--1", "1//2", "1/", "/2", "1+1", "sqrt(-2)", "sqrt()", "sqrt 2", "2sqrt(3)"),
    *("1/0", "1/0.0", "sqrt(1/0)", "1/sqrt(0)", "0/0"),
    *("-sqrt(2)", "-1*sqrt(2)", "-sqrt(2)/3"),
)
BAD = {
    **{repr(text): text for text in TEXTS},
    "bool": True,
    "numpy bool": np.True_,
    "none": None,
    "complex": 1 + 0j,
    "bytes": b"1",
    "array": np.array([1.0]),
    "list": [1],
    "time span": np.timedelta64(3),
    "date": np.datetime64("2026-11-20"),
    "nan": math.nan,
    "numpy nan": np.float64("nan"),
    "infinity": math.inf,
    "minus infinity": -math.inf,
    "decimal nan": Decimal("NaN"),
    "signalling nan": Decimal("sNaN"),
    "decimal infinity": Decimal("Infinity"),
    "huge decimal": Decimal("1e999999999"),
    "tiny decimal": Decimal("1e-999999999"),
    "huge integer": 10**5000,
    "tiny fraction": Fraction(1, 10**5000),
    "long text": "1" * 4500,
    "huge text": "9e9999",
    "huge product": "*".join(["9e999"] * 50),
}


@for_each("bad", BAD.values(), ids=BAD)
@for_each("read", [exact, positive, probability])
def test_refuses_by_name(read: Callable[..., Exact], bad: object) -> None:
    with pytest.raises(InvalidParameter, match=r"(?s)^scale .*, got .*\.$") as refusal:
        read(scale=bad)
    assert refusal.value.name == "scale"


@for_each("value", [0, -1, "-1", "0.0", -0.0])
def test_positive_refuses_what_is_not(value: object) -> None:
    """Zero and below are refused with a value that would do (B001, B002)."""
    with pytest.raises(InvalidParameter, match=r"scale must be positive.*Try scale=1"):
        positive(scale=value)


def test_a_distance_may_be_infinite_but_not_negative() -> None:
    """Infinity is said, never reached by a large decimal (B032)."""
    assert distance(d_in=math.inf) == math.inf
    assert distance(d_in=Decimal("1e400")) == 10**400
    assert distance(d_in="1e400") == 10**400
    for bad in (-1, -math.inf, "-1/3"):
        with pytest.raises(InvalidParameter, match="d_in must not be negative"):
            distance(d_in=bad)


def test_a_probability_is_a_rational_in_the_unit_interval() -> None:
    assert [probability(delta=0), probability(delta="1")] == [0, 1]
    for bad in (2, -1, "1.0000001"):
        with pytest.raises(InvalidParameter, match="delta must lie between 0 and 1"):
            probability(delta=bad)
    with pytest.raises(InvalidParameter, match="delta must be a rational number"):
        probability(delta="sqrt(2)/2")


@given(st.fractions())
def test_text_says_what_it_says(value: Fraction) -> None:
    assert exact(scale=str(value)) == value
    if value > 0:
        root = sqrt(value)
        assert exact(scale=str(root)) == root


@given(EXTREMES)
def test_up_is_the_least_double_not_below(value: Fraction) -> None:
    """up(x) >= x and the next double below is < x; down is its mirror image."""
    above = up(value)
    assert above >= value
    assert math.nextafter(above, -math.inf) < value
    assert down(-value) == -above


@given(ROOTS, st.integers(-400, 400))
def test_a_root_is_rounded_like_a_rational(root: Exact, power: int) -> None:
    value = root * Fraction(2) ** power
    assert math.nextafter(up(value), 0.0) < value <= up(value)
    assert down(value) <= value < math.nextafter(down(value), math.inf)


@given(st.floats(allow_nan=False))
def test_a_double_is_rounded_to_itself(value: float) -> None:
    assert up(value) == down(value) == value
    if math.isfinite(value):
        assert up(Fraction(value)) == down(Fraction(value)) == value


@given(SIZES, st.integers(-3000, 3000), st.integers(20, 80))
def test_a_ball_is_rounded_outwards(size: Fraction, power: int, bits: int) -> None:
    value = size / 3 * Fraction(2) ** power
    with ctx.workprec(bits):
        enclosure = ball(value)
        assert down(enclosure) <= value <= up(enclosure)
        assert fraction(enclosure.lower()) <= value <= fraction(enclosure.upper())


def test_a_ball_that_says_nothing_is_rounded_to_infinity() -> None:
    assert (down(arb("nan")), up(arb("nan"))) == (-math.inf, math.inf)
    largest = np.finfo(float).max
    assert (down(arb(2) ** 10**6), up(arb(2) ** 10**6)) == (largest, math.inf)
    assert (down(arb(2) ** -(10**6)), up(arb(2) ** -(10**6))) == (0.0, 5e-324)


@given(SIZES, SIZES)
def test_roots_multiply_divide_and_compare_as_their_squares(
    one: Fraction, other: Fraction
) -> None:
    root, second = sqrt(one), sqrt(other)
    assert root * second == sqrt(one * other)
    assert root / second == sqrt(one / other)
    assert root**2 == one
    assert root**-2 == 1 / one
    assert sqrt(root) ** 4 == one
    assert (root < second, root == second) == (one < other, one == other)
    assert (root <= other) == (one <= other**2)
    assert (other < root) == (other**2 < one)
    assert hash(root * 1) == hash(root)
    assert 1 / root * one == root
    assert (root * second) / second == root


def test_a_root_is_a_frozen_value() -> None:
    root = exact(scale="sqrt(2)")
    assert pickle.loads(pickle.dumps(root)) == root
    assert repr(sqrt(root)) == "sqrt(sqrt(2))"
    assert float(root) >= root
    assert root != "sqrt(2)"
    assert -math.inf < root < math.inf
    assert 1.4 < root < 1.5
    large: Any = np.int64(2**62)
    assert root * large * large == sqrt(Fraction(2**249))
    with pytest.raises(AttributeError, match="frozen"):
        root.index = 4  # type: ignore[union-attr]
    for compare in (operator.lt, operator.gt, operator.le, operator.ge):
        with pytest.raises(TypeError):
            compare(root, math.nan)
    for act in (operator.mul, operator.truediv, operator.lt):
        with pytest.raises(TypeError):
            act(root, "2")
        with pytest.raises(TypeError):
            act("2", root)


@given(st.lists(st.fractions(min_value=0), max_size=5), SIZES)
def test_a_sum_of_rationals_or_of_like_roots_is_exact(
    terms: list[Fraction], size: Fraction
) -> None:
    """Ten times "0.1" is exactly 1, and sqrt(2) ten times exactly 10 sqrt(2)."""
    assert total(*terms) == sum(terms)
    root = sqrt(size)
    multiples = [root * (1 + term) for term in terms]
    assert total(*multiples) == root * (len(terms) + sum(terms))
    assert total(*terms, math.inf) == math.inf


@given(SIZES, SIZES, st.fractions(min_value=0, max_value=100))
def test_a_sum_of_unlike_roots_is_rounded_up(
    one: Fraction, other: Fraction, rational: Fraction
) -> None:
    """The sum is bounded from above, by less than one part in 2**200."""
    bound = total(sqrt(one), sqrt(other), rational)
    assert isinstance(bound, (Fraction, Radical))
    with ctx.workprec(1000):
        excess = ball(bound) - ball(sqrt(one)) - ball(sqrt(other)) - ball(rational)
        assert not excess < 0
        assert excess < ball(bound) * arb(2) ** -200


def test_a_sum_takes_floats_as_they_are_written() -> None:
    assert total(*[0.1] * 10) == 1
    assert total() == 0
    with pytest.raises(ValueError, match="nan"):
        total(math.nan, Fraction(1))


@given(st.one_of(SIZES, ROOTS), st.integers(-2000, 2000))
def test_floor_log2_brackets(size: Exact, power: int) -> None:
    value = size * Fraction(2) ** power
    exponent = floor_log2(value)
    assert Fraction(2) ** exponent <= value < Fraction(2) ** (exponent + 1)


@given(st.fractions(Fraction(1, 10**9), 10**9), st.integers(-1100, 1050))
def test_a_root_as_a_float_is_rounded_up(value: Fraction, exponent: int) -> None:
    root = sqrt(sqrt(value * Fraction(4) ** exponent))
    if isinstance(root, Radical):
        assert float(root) == up(root)


DOORS: dict[str, Callable[[Any], Any]] = {
    "epsilon": sd.PureDP,
    "epsilon and delta": lambda x: sd.ApproxDP(x, x),
    "rho": lambda x: sd.ApproxZCDP(x, x),
    "mu": sd.GaussianDP,
    "advantage": sd.Advantage,
    "error rates": lambda x: sd.ErrorRates(fpr=x, tpr=x),
    "scale": sd.Laplace,
    "variance": lambda x: sd.DiscreteGaussian(variance=x),
    "standard deviation": lambda x: sd.Gaussian(scale=x),
    "threshold": lambda x: sd.LaplaceThreshold(x, x),
    "distance": lambda x: sd.Laplace(1).map(x),
    "distances": lambda x: sd.LaplaceThreshold(1, 9).map((1, x, x)),
    "sensitivity": lambda x: sd.Sensitivity(l0=3, linf=x),
    "choice": sd.Exponential,
    "odds": lambda x: sd.RandomizedResponse(x, 3),
    "rate": lambda x: sd.GaussianDP(1).subsampled(x),
    "confidence": lambda x: sd.Geometric(9).error(x),
    "chance": lambda x: sd.Geometric(9).inverse_cdf(x),
    "quantile": lambda x: sd.quantile("x", x, 0, 1).probabilities,
    "quantiles": lambda x: sd.quantiles("x", [x], 0, 1).probabilities,
    "weight": lambda x: sd.table("t").agg(n=sd.count(), weights={"n": x}).weights,
}


@for_each("door", DOORS.values(), ids=DOORS)
@for_each("float_", [0.1, np.float64(0.1), np.float32(0.1)])
def test_a_tenth_is_a_tenth(door: Callable[[Any], Any], float_: Any) -> None:
    """A float means what its text means, a rational and a decimal too."""
    tenth = door("0.1")
    assert door(float_) == door(Decimal("0.1")) == door(Fraction(1, 10)) == tenth


@for_each(
    ("one", "whole"),
    [
        (sd.PureDP(0.1), sd.PureDP(1)),
        (sd.ZCDP(0.1), sd.ZCDP(1)),
        (sd.ApproxDP(0.1, 1e-7), sd.ApproxDP(1, 1e-6)),
    ],
    ids=repr,
)
def test_ten_tenths_are_one(one: sd.Loss, whole: sd.Loss) -> None:
    """Ten charges of a tenth exhaust a budget; what is left reads as written."""
    limit = filter_for(whole)
    spent = limit.zero
    for _ in range(9):
        _, spent = limit.accept(spent, limit.charge_for(one, one))
    assert repr(limit.remainder(spent)) == repr(one)
    _, spent = limit.accept(spent, limit.charge_for(one, one))
    with pytest.raises(sd.errors.BudgetExceeded, match=r"this costs .*=0\.1[,)]"):
        limit.accept(spent, limit.charge_for(one, one))


def test_percentiles_are_a_list_of_quantiles() -> None:
    asked = sd.quantiles("x", [i / 100 for i in range(1, 100)], 0, 100)
    assert asked.probabilities == tuple(Fraction(i, 100) for i in range(1, 100))
    assert asked.columns("x")[6] == "x_0.07"


def test_values_are_not_parameters() -> None:
    """Data and outcomes of noise are the doubles they are, not their decimals."""
    grid = sd.Laplace("1e-9", granularity=-40)
    place = (2**40 // 10 + 1) * 2.0**-40
    assert shortest(place) != Fraction(place)
    assert grid.cdf(grid.inverse_cdf("0.7")) >= 0.7
    assert round(grid(place) * 2**40) == pytest.approx(round(place * 2**40), abs=1e5)
    assert sd.Laplace.no_noise()(place) == place


@given(st.floats(min_value=0, allow_nan=False, allow_infinity=False))
def test_a_float_is_written_as_it_is_read(value: float) -> None:
    """What is printed makes an equal number, at every double."""
    read = shortest(value)
    assert up(read) in {value, math.nextafter(value, math.inf)}
    assert shortest(float(number_text(read))) == read


@for_each(
    ("value", "text"),
    [
        (Fraction(10**24 - 1), str(10**24 - 1)),
        (Fraction(10**24), "1e+24"),
        (Fraction(1, 3), "'1/3'"),
        (Fraction(1, 10**21 + 1), f"'1/{10**21 + 1}'"),
        (Fraction(1, 10**22 + 1), "'~1.000000000E-22'"),
        (sqrt(Fraction(2)), "'sqrt(2)'"),
    ],
)
def test_long_numbers_are_cut(value: Exact, text: str) -> None:
    """What is written has 24 characters at most, and says if it was cut."""
    assert number_text(value) == text


@given(st.fractions(min_value=Fraction(1, 10**9), max_value=10**9))
def test_rounding_up_to_a_decimal(value: Fraction) -> None:
    found = rounded_up(value)
    assert value <= found
    assert shortest(float(np.nextafter(float(found), 0))) < value
