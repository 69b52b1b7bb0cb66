"""Intervals of many groups are those of each group alone."""

from collections.abc import Sequence

import numpy as np
import pytest

from sordino.aggregations.intervals import linear, linear_forms, quotient_bars
from sordino.aggregations.intervals.linear_forms import Bars, Noise, Shown, Sums
from sordino.noise.laplace import Laplace
from tests.batches import for_each

_GROUPS = 40
_TOP, _BOTTOM = (0.0, 1.0), (1.0, 1.0)


def noisy_sums(*, shown: bool) -> Sums:
    size = np.linspace(1, 200, _GROUPS)
    cut = Shown((1.0, 1.0), 20.0) if shown else None
    return Sums((size * 0.6, size * 0.4), (Noise(Laplace(3)), Noise(Laplace(3))), cut)


def bars_of(numbers: Sums) -> tuple[np.ndarray, ...]:
    return (
        *quotient_bars(numbers, _TOP, _BOTTOM, "0.95"),
        *linear(numbers, (1.0, 0.5), "0.95", 0.0),
    )


def assert_alike(got: Sequence[np.ndarray], expected: Sequence[np.ndarray]) -> None:
    for one, other in zip(got, expected, strict=True):
        np.testing.assert_array_equal(one, other)


@for_each("shown", [False, True])
@for_each("block", [1, 7, _GROUPS])
def test_a_block_of_groups_is_like_all(
    block: int, *, shown: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = bars_of(noisy_sums(shown=shown))
    monkeypatch.setattr(linear_forms, "_BLOCK", block)
    got = noisy_sums(shown=shown).in_blocks(bars_of)
    assert len(got) == 2 * len(Bars._fields)
    assert_alike(got, expected)


def test_a_reach_told_of_another_form_is_noticed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What blocks share is told of one form and one chance."""
    expected = bars_of(noisy_sums(shown=True))
    known: dict[float, np.ndarray] = {}
    reach = Sums.reach
    monkeypatch.setattr(
        Sums,
        "reach",
        lambda self, forms, alpha: known.setdefault(alpha, reach(self, forms, alpha)),
    )
    with pytest.raises((AssertionError, ValueError)):
        assert_alike(bars_of(noisy_sums(shown=True)), expected)
