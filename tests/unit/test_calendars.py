"""Periods, and integers and words of arguments."""

from datetime import date
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sordino.errors import InvalidParameter
from sordino.numbers import arguments
from sordino.numbers.calendar import CALENDARS
from tests.batches import for_each

DAYS = range(date(2024, 1, 1).toordinal(), date(2028, 1, 1).toordinal())


@for_each("every", CALENDARS)
def test_periods_follow_each_other(every: str) -> None:
    calendar = CALENDARS[every]
    for day in map(date.fromordinal, DAYS):
        name, start = calendar.name_of(day), calendar.next_start(day)
        before = date.fromordinal(start.toordinal() - 1)
        assert calendar.name_of(before) == name != calendar.name_of(start)
        assert calendar.first_day(calendar.name_of(start)) == start
        assert calendar.name_of(calendar.first_day(name)) == name


@for_each("every", CALENDARS)
def test_a_period_is_over_from_the_next_one_on(every: str) -> None:
    calendar = CALENDARS[every]
    first = date(2026, 1, 1)
    for day in map(date.fromordinal, DAYS[731::13]):
        names = list(calendar.names(first, day))
        assert calendar.names_over(first, day) == names[:-1]
        assert names[-1:] == [calendar.name_of(day)] * (day >= first)


NO_PERIODS: dict[str, list[Any]] = {
    "day": ["2026-02-30", "20261122", "2026-W47-7", "2026-1-1", ""],
    "week": ["2026-W54", "2026-47", "2026W47", "2026-W7", "2026-W00", "9999-W52"],
    "month": ["2026-13", "2026-1", "2026", "2026-11-22", "9999-12", "٢٠٢٦-١١"],
    "quarter": ["2026-Q5", "2026-Q0", "2026-q1", "2026-Q", "9999-Q1"],
    "year": ["26", "0000", "9999", " 2026", "2_026", "12026", "-001"],
}


@for_each("every", CALENDARS)
def test_what_is_no_name_of_a_period_is_refused(every: str) -> None:
    calendar = CALENDARS[every]
    for name in [*NO_PERIODS[every], 2026, None, date(2026, 1, 1), "x" * 400]:
        with pytest.raises(InvalidParameter, match=r"period must be") as caught:
            calendar.first_day(name)
        assert len(str(caught.value)) < 300


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
