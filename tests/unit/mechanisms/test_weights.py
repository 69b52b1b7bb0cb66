"""Weights of bins: whole, monotone, heavier for round numbers, and invertible."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sordino.noise.bin_counts import AbstractWeights, EvenWeights, RoundWeights, weights
from tests.batches import for_each

GRIDS: dict[str, AbstractWeights] = {
    "even": EvenWeights(1000),
    "from zero": RoundWeights(0, -20, 1 << 36),
    "around zero": RoundWeights(-(1 << 30), -27, 1 << 31),
    "far from zero": RoundWeights(1 << 39, -3, 1 << 20),
    "of large units": RoundWeights(-(1 << 39), 24, 1 << 40),
    "of tiny units": RoundWeights(-7, -200, 1 << 40),
    "of integers": RoundWeights(-3, 0, 1 << 20),
}
every_grid = for_each("grid", GRIDS.values(), ids=GRIDS)


@every_grid
@given(shares=st.lists(st.floats(0, 1), min_size=1, max_size=20))
def test_every_bin_weighs_something(grid: AbstractWeights, shares: list[float]) -> None:
    bins = np.array([int(share * (grid.size - 1)) for share in shares], np.int64)
    each = grid.weight_before(bins + 1) - grid.weight_before(bins)
    assert (each >= grid.least).all()
    assert int(grid.weight_before(np.array([0]))[0]) == 0
    assert grid.size * grid.least <= grid.total < 2**49


@every_grid
@given(shares=st.lists(st.floats(0, 1), min_size=1, max_size=20))
def test_a_place_is_held_by_one_bin(grid: AbstractWeights, shares: list[float]) -> None:
    places = np.array([int(share * (grid.total - 1)) for share in shares], np.int64)
    bins = grid.bins_of(places)
    assert ((bins >= 0) & (bins < grid.size)).all()
    assert (grid.weight_before(bins) <= places).all()
    assert (grid.weight_before(bins + 1) > places).all()


def test_round_numbers_weigh_more() -> None:
    """Between 0 and 100 on 2**40 bins: 42 most, then 0.5, then 0.07, then the rest."""
    grid = RoundWeights(0, -33, 100 << 33)
    numbers = np.array([42.0, 0.5, 0.07, 0.0712345678])
    bins = np.floor(numbers * 2**33 + 0.5).astype(np.int64)
    each = grid.weight_before(bins + 1) - grid.weight_before(bins)
    assert (np.diff(each) < 0).all()
    assert each[0] * 101 > 7 * 16 * grid.size


def test_few_bins_weigh_the_same() -> None:
    assert weights(0, 0, 121) == EvenWeights(121)
    assert isinstance(weights(0, -33, 1 << 40), RoundWeights)
