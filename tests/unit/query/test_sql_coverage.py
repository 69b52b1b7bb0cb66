"""What limits cut off is counted beside answers that were asked in SQL."""

from typing import Any

import pytest

import sordino as sd
from sordino.errors import InvalidParameter

ROWS = {"p": [1] * 9 + [2, 3], "w": ["a"] * 10 + ["b"], "x": list(range(11))}
BUDGET = sd.PureDP(10**6)
GIVEN: Any = {"limits": sd.MaxRowsPerID(2), "bounds": {"x": (0, 5)}}


def opened() -> sd.Session:
    table = sd.PrivateTable(ROWS, protects=sd.AddRowsWithID("p"))
    return sd.Session({"t": table}, sd.PureDP(10**9), engine="memory")


def test_sql_counts_what_is_left_out() -> None:
    """One id has more rows than the limit; without being asked nothing is counted."""
    text = "SELECT COUNT(*) AS n, SUM(x) AS s FROM t"
    release = opened().sql(text, BUDGET, coverage=True, **GIVEN)
    assert release.coverage is not None
    counted = {
        (row["kind"], row["counted"]): row["count"]
        for row in release.coverage.to_pylist()
    }
    assert counted["cut off", "ids"] == 1
    assert "They cut off about" in release.limits
    without = opened().sql(text, BUDGET, **GIVEN)
    assert without.coverage is None
    assert "was not measured" in without.limits


def test_several_groupings_count_it_once() -> None:
    """Each grouping has the same rows, so the first one counts for all."""
    text = "SELECT w, COUNT(*) AS n FROM t GROUP BY GROUPING SETS ((w), ())"
    release = opened().sql(
        text, BUDGET, coverage=True, keys={"w": ["a", "b"]}, limits=sd.MaxRowsPerID(2)
    )
    assert release.coverage is not None
    # an id, 7 rows of it up to 6, and an id with more
    assert release.coverage["count"].to_pylist() == [1, 6, 1]


def test_a_tenth_of_the_budget_counts_what_is_left_out() -> None:
    """Of the whole, however many columns there are."""
    for text in (
        "SELECT SUM(x) AS s FROM t",
        "SELECT COUNT(*) AS n, AVG(x) AS m FROM t",
    ):
        asked = opened().sql(text, coverage=True, **GIVEN)
        assert asked.coverage == sum(asked.weights) / 9


def test_another_word_is_refused() -> None:
    wrong: Any = "yes"
    with pytest.raises(InvalidParameter, match="coverage"):
        opened().sql("SELECT COUNT(*) AS n FROM t", coverage=wrong)
