"""Quantiles, extremes and bounds of odd columns: the documented answer, or refusal."""

import math
from collections.abc import Mapping
from typing import Any, Final

import pyarrow as pa

import sordino as sd
from tests.batches import for_each, sampled

LOUD: Final = sd.PureDP(10**6)
"""A price at which hardly any noise is left: an error once in 1e100 runs."""
FIVE: Final = ["0", "0.25", "0.5", "0.75", "1"]


def five(values: Any, low: Any, high: Any) -> list[Any]:
    """Return the five numbers of a column within bounds."""
    rows = values if isinstance(values, pa.Table) else pa.table({"x": values})
    table = sd.PrivateTable(rows, protects=sd.AddOneRow())
    session = sd.Session({"t": table}, LOUD)
    asked = sd.quantiles("x", FIVE, low, high, nulls="drop")
    (row,) = session.release(sd.table("t").agg(a=asked), LOUD).table.to_pylist()
    return list(row.values())


COLUMNS: Final[Mapping[str, tuple[Any, tuple[Any, Any], list[float]]]] = {
    "constant": ([4] * 500, (0, 10), [4] * 5),
    "one value a million times": ([7] * 10**6, (0, 10), [7] * 5),
    "all above the bounds": ([99] * 500, (0, 10), [10] * 5),
    "all below the bounds": ([-99] * 500, (0, 10), [0] * 5),
    "infinities": ([-math.inf, math.inf] * 300, (0.0, 8.0), [0, 0, 0, 8, 8]),
    "nothing but missing values": (
        pa.table({"x": pa.array([None] * 500, pa.float64())}),
        (0.0, 8.0),
        [],
    ),
    "no rows": (pa.table({"x": pa.array([], pa.float64())}), (0.0, 8.0), []),
}


@sampled(3)
@for_each("name", COLUMNS)
def test_odd_columns_have_the_documented_choices(name: str) -> None:
    """Values are moved to the bounds; of none the answers lie within the bounds.

    A quantile between two values may be either, and the extremes of none cross.
    """
    values, (low, high), expected = COLUMNS[name]
    answers = five(values, low, high)
    assert all(low <= answer <= high for answer in answers)
    if name == "infinities":
        assert (answers[0], answers[1], answers[3], answers[4]) == (0, 0, 8, 8)
    elif expected:
        assert answers == expected


def test_all_keys_rare_make_an_empty_answer_of_the_right_types() -> None:
    """A row in each group shows nowhere, but for a chance of 300 * 1e-13."""
    rows = {"g": [f"k{place}" for place in range(300)], "x": [1] * 300}
    budget = sd.ApproxDP(1, "1e-13")
    session = sd.Session({"t": sd.PrivateTable(rows, protects=sd.AddOneRow())}, budget)
    asked: dict[str, Any] = {
        "m": sd.median("x", 0, 9, nulls="drop"),
        "b": sd.bounds("x", nulls="drop"),
    }
    release = session.release(sd.table("t").group_by("g").agg(**asked), budget)
    kinds = [str(kind) for kind in release.table.schema.types]
    assert (len(release), kinds) == (0, ["string", "int64", "int64", "int64"])


def test_an_id_that_holds_everything_is_a_few_rows_among_others() -> None:
    """A thousand rows of one id are three, and the median is that of a hundred ids."""
    rows = {
        "id": [0] * 1000 + list(range(1, 101)),
        "x": [9] * 1000 + [2] * 100,
    }
    table = sd.PrivateTable(rows, protects=sd.AddRowsWithID("id"))
    session = sd.Session({"t": table}, LOUD)
    asked = sd.median("x", 0, 10, nulls="drop")
    request = sd.table("t").enforce(sd.MaxRowsPerID(3)).agg(a=asked)
    assert session.release(request, LOUD)["a"].to_pylist() == [2]
