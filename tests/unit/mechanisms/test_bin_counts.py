"""Counts of rows in bins: what lies outside of groups and bins is refused."""

import pytest

import sordino as sd
from sordino.errors import InvalidData
from sordino.noise.bin_counts import BinCounts
from tests.batches import for_each


@for_each(
    ("owner", "where", "rows", "told"),
    [
        (0, 0, 2**61, r"2\*\*61 or more"),
        (1, 0, 1, "a group lies outside"),
        (0, 2, 1, "a position lies outside"),
    ],
)
def test_what_lies_outside_is_refused(
    owner: int, where: int, rows: int, told: str
) -> None:
    """Of one group with two bins, before anything is drawn."""
    with pytest.raises(InvalidData, match=told):
        BinCounts.of([owner], [where], [rows], groups=1, size=2)


def test_scores_by_name_are_refused() -> None:
    with pytest.raises(InvalidData, match="must not be a dict: give a list"):
        sd.Exponential(1)({"a": [1]})  # type: ignore[arg-type]
