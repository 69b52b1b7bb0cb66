"""Quantiles refuse what makes no sense, without showing it."""

from typing import Any

import pytest

from sordino.errors import InvalidData, InvalidParameter
from sordino.noise.quantiles import Quantiles
from sordino.noise.sampling.bits import Bits
from tests.batches import for_each


@for_each(
    "wrong",
    [
        [],
        (),
        "0.5",
        0.5,
        None,
        ["0.5", "0.5"],
        ["0.6", "0.5"],
        [2],
        [-1],
        [True],
        [0.1234567],
    ],
)
def test_senseless_probabilities_are_refused(wrong: Any) -> None:
    with pytest.raises(InvalidParameter, match="probabilities"):
        Quantiles(wrong, 1)


@for_each(
    ("positions", "counts", "size"),
    [
        ([0, 0], [1, 1], 3),
        ([3], [1], 3),
        ([-1], [1], 3),
        ([0], [-1], 3),
        ([0], [1, 2], 3),
        ([0.5], [1], 3),
        ([0], [1 << 38], 3),
        ([[0]], [[1]], 3),
    ],
)
def test_bins_outside_the_grid_are_refused(
    positions: Any, counts: Any, size: int
) -> None:
    with pytest.raises(InvalidData):
        Quantiles(["0.5"], 1).release(positions, counts, size, Bits())


@for_each("parts", [0, -1, 1.5, True, None])
def test_senseless_parts_are_refused(parts: Any) -> None:
    with pytest.raises(InvalidParameter, match="parts"):
        Quantiles(["0.5"], 1, parts=parts)
    assert Quantiles(["1/3"], 1, parts=1 << 30).parts == (1 << 24) // 3
