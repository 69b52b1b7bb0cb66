"""The search for where a test turns true, where it ends before it begins."""

import math

from sordino.losses.curves.points import find_crossing, find_least


def test_a_crossing_outside_of_the_bracket() -> None:
    assert find_crossing(lambda _: -1.0, 0.0, 1.0, 1e-9) == 0.0
    assert find_crossing(lambda _: 1.0, 0.0, 1.0, 1e-9) == math.inf
    assert find_least(lambda _: False, 0.0, 1.0) == math.inf


def test_a_bracket_without_a_double_inside() -> None:
    after = math.nextafter(1.0, 2.0)
    crossed = find_crossing(lambda x: 1.0 if x <= 1 else -1.0, 1.0, after, 0.0)
    assert crossed == after
