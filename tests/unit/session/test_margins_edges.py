"""What an attack found at the edges of margins, and of units that weigh rows."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sordino as sd
from sordino.aggregations.margins.crossing import MOST_CELLS, Halving
from sordino.errors import EngineUnavailable, UnknownName
from tests.batches import for_each

CERTAIN = sd.GaussianDP(1000)
TABLE = sd.table("t")


def session(rows: Any, unit: Any = None) -> sd.Session:
    table = sd.PrivateTable(rows, protects=unit or sd.AddOneRow())
    return sd.Session({"t": table}, sd.GaussianDP(10**6), engine="memory")


@for_each("name", [("a", "b"), ("b", "a")])
def test_totals_are_read_in_the_order_they_are_named(name: tuple[str, str]) -> None:
    """The keys of a total are those of its columns, one by one, in either order."""
    rows = {"a": [0] * 90 + [1] * 10, "b": [1] * 90 + [0] * 10, "c": [0, 1] * 50}
    keys = sd.KeySet.from_dict({"a": [0, 1], "b": [0, 1], "c": [0, 1]})
    counts = {(0, 1): 90, (1, 0): 10, (0, 0): 0, (1, 1): 0}
    totals = {name: counts if name[0] == "a" else {k[::-1]: counts[k] for k in counts}}
    release = session(rows).release(
        TABLE.marginals(keys, order=3, totals=totals), CERTAIN
    )
    assert release.tables["a", "b"]["count"].to_pylist() == [0, 90, 10, 0]


def test_squares_of_contrasts_stay_in_64_bits() -> None:
    for cells in (MOST_CELLS, MOST_CELLS - 1):
        squares = Halving.of(np.array([0, cells])).squares
        assert int(squares.min()) > 0
        assert int(squares.max()) < 2**62


def test_a_public_size_that_changed_refuses_margins(tmp_path: Path) -> None:
    """As it refuses every question, before anything is charged."""
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"a": [1] * 10}), path)
    table = sd.PrivateTable(path, protects=sd.ChangeOneRow())
    opened = sd.Session({"t": table}, sd.GaussianDP(10))
    pq.write_table(pa.table({"a": [1] * 13}), path)
    keys = sd.KeySet.from_dict({"a": [0, 1]})
    with pytest.raises(EngineUnavailable):
        opened.release(TABLE.marginals(keys, order=1), sd.GaussianDP(1))
    assert opened.spent == sd.GaussianDP(0)


def test_columns_of_one_value_can_be_adjusted() -> None:
    keys = sd.KeySet.from_dict({"a": [0], "b": [0], "z": [0]})
    rows = {"a": [0], "b": [0], "z": [0]}
    release = session(rows).release(TABLE.marginals(keys, order=1), CERTAIN)
    assert release.adjusted["a"].num_rows == 1
    assert release.synthetic(3).num_rows == 3


def test_a_kept_answer_has_the_columns_of_the_keys() -> None:
    opened = session({"a": [0, 1], "b": [0, 1], "z": [1, 0]})
    pairs = [(0, 0), (1, 1)]
    keys = sd.KeySet.from_tuples(pairs, columns=("a", "b"))
    other = sd.KeySet.from_tuples(
        [(a, z, b) for a, b in pairs for z in (0, 1)], columns=("a", "z", "b")
    )
    both = (keys * sd.KeySet.from_dict({"z": [0, 1]}), other)
    names = []
    for each in both:
        asked = TABLE.marginals(each, order=2, hierarchies=[("a", "b")])
        release = opened.release(asked, CERTAIN, key="x")
        names.append(release.table.column_names[1:4])
    assert names == [["a", "b", "z"], ["a", "z", "b"]]
    assert opened.spent == CERTAIN


def test_tables_are_asked_for_by_any_name() -> None:
    keys = sd.KeySet.from_dict({"a": [0, 1]})
    tables = session({"a": [0]}).release(TABLE.marginals(keys, order=1), CERTAIN).tables
    assert "x" not in tables
    assert "a" in tables
    strange: list[Any] = ["x", ([],), 3, ["a", []]]
    for name in strange:
        with pytest.raises(UnknownName):
            tables[name]


def test_rows_without_weight_are_not_counted() -> None:
    """Neighbours may have any number of them: no count of what is unreadable shows it.

    Before, 500 rows of no views, whose other cell was no number, showed as 500.
    """
    unit = sd.AddMaxTotal("views", 1)
    columns = {"views": "i64", "z": "i64"}
    coverages = []
    for more in (0, 500):
        rows = {"views": ["3"] + ["0"] * more, "z": ["1"] + ["junk"] * more}
        table = sd.PrivateTable(pa.table(rows), protects=unit, columns=columns)
        opened = sd.Session({"t": table}, sd.PureDP(10**9))
        query = TABLE.agg(x=sd.sum("z", 0, 10, nulls=0), coverage=True)
        coverage = opened.release(query, sd.PureDP(10**6)).coverage
        assert coverage is not None
        coverages.append(coverage.select(["what", "count"]).to_pylist())
    assert coverages[0] == coverages[1]
