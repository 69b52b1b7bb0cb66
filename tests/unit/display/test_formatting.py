"""Numbers as people read them: nothing is lost that the noise has not washed out."""

import math
from decimal import Decimal
from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from sordino.numbers.formatting import (
    cut_text,
    format_interval,
    format_key,
    format_number,
    format_percent,
    format_spread,
    text_width,
)
from tests.batches import for_each

F = Fraction
floats = st.floats(allow_nan=False, allow_infinity=False, allow_subnormal=False)
positives = st.floats(1e-300, 1e300)


def read(text: str) -> Fraction:
    return F(text.replace(",", ""))


@given(value=floats, sd=positives)
def test_a_float_is_read_back_within_a_tenth_of_the_deviation(
    value: float, sd: float
) -> None:
    """|shown - value| <= sd / 10, or half of the last bit, whatever the sizes.

    The fewest digits that are read back as a double are within half of its last bit,
    one part in 2**53: that is more than one in 1e16.
    """
    shown = read(format_number(value, sd))
    assert abs(shown - F(value)) <= max(F(sd) / 10, abs(F(value)) / 2**53)


@given(value=floats, sd=positives)
def test_no_digit_is_shown_that_the_noise_has_washed_out(
    value: float, sd: float
) -> None:
    """What is shown is a multiple of the second digit of the deviation."""
    place = F(10) ** (Decimal(repr(sd)).adjusted() - 1)
    assert read(format_number(value, sd)) % place == 0


@given(value=floats)
def test_a_float_without_deviation_has_six_digits(value: float) -> None:
    for sd in (None, 0.0, math.inf, math.nan):
        assert (
            abs(read(format_number(value, sd)) - F(value)) <= abs(F(value)) / 10**5 / 2
        )


@given(value=st.integers(-(2**63), 2**63 - 1), sd=positives)
def test_an_integer_has_all_its_digits(value: int, sd: float) -> None:
    shown = format_number(value, sd)
    assert read(shown) == value
    assert all(len(group) <= 3 for group in shown.lstrip("-").split(","))


@given(value=st.floats(-1e300, 1e300), sd=positives, wide=st.floats(0, 1e6))
def test_an_interval_is_rounded_outward(value: float, sd: float, wide: float) -> None:
    """The shown ends hold the interval, for floats and for integers alike."""
    low, high = value - wide, value + wide
    for exact in (value, 7):
        start, end = format_interval(exact, (sd, low, high)).split(" to ")
        slack = F(10) ** -14
        assert read(start) <= F(low) + slack * abs(F(low))
        assert read(end) >= F(high) - slack * abs(F(high))


@for_each(
    ("value", "sd", "shown"),
    [
        (0, 1.0, "0"),
        (0.0, None, "0"),
        (-0.0, 0.5, "0.00"),
        (-0.004, 0.5, "0.00"),
        (-1234.5678, 0.21, "-1,234.57"),
        (123456.0, 1234.0, "123,500"),
        (999.96, 0.99, "999.96"),
        (5.0, 1e9, "0"),
        (0.0, 1e-200, "0"),
        (5e-324, 5e-324, "5.0e-324"),
        (1e300, 1e297, "1.0000e+300"),
        (1e-12, 1e-13, "1.00e-12"),
        (0.1, None, "0.1"),
        (1234567.0, None, "1,234,570"),
        (2.0**70, 1.0, "1.18059162071741130e+21"),
        (None, 1.0, "missing"),
        (math.nan, 1.0, "NaN"),
        (math.inf, 1.0, "inf"),
        (-math.inf, None, "-inf"),
        ("text", None, "text"),
    ],
)
def test_numbers_as_they_are_shown(
    value: float | None, sd: float | None, shown: str
) -> None:
    assert format_number(value, sd) == shown


@for_each(
    ("bars", "shown"),
    [
        ((2.8, None, 3.0), ""),
        ((2.8, 1.0, math.nan), ""),
        ((None, 0.25, 0.75), "0.25 to 0.75"),
        ((0.3, -math.inf, 4.0), "-inf to 4.00"),
        ((0.012, 0.1, 0.9), "0.100 to 0.900"),
    ],
)
def test_intervals_as_they_are_shown(
    bars: tuple[float | None, float | None, float | None], shown: str
) -> None:
    assert format_interval(1.0, bars) == shown


def test_deviations_have_two_digits() -> None:
    assert [format_spread(sd) for sd in (0.1234, 98765.0, 0.0, None, math.nan)] == [
        "0.12",
        "99,000",
        "0",
        "",
        "",
    ]


def test_percents_are_exact() -> None:
    assert [format_percent(F(p)) for p in ("0.95", "0.995", "0.9", "1")] == [
        "95%",
        "99.5%",
        "90%",
        "100%",
    ]


@given(text=st.text())
def test_keys_are_one_printable_line(text: str) -> None:
    shown = format_key(text)
    assert shown.isprintable()
    assert format_key(shown) == shown


@given(text=st.text(), most=st.integers(1, 40))
def test_cut_texts_fit(text: str, most: int) -> None:
    shown = cut_text(text, most)
    assert text_width(shown) <= most
    assert shown == text or shown.endswith("…")


def test_wide_letters_take_two_columns() -> None:
    assert cut_text("病院の名前", 7) == "病院の…"
    assert text_width("e\u0301") == 1
    assert text_width(cut_text("x" * 10**6, 30)) == 30
