"""Lazy frames of Polars, data sets of Arrow: what they do is read, then their rows."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pytest

import sordino as sd
from sordino.errors import InvalidParameter
from tests.lazy_sources import BUDGET, count, nan_files

LAZY: Final[Mapping[str, tuple[Callable[[pl.LazyFrame], pl.LazyFrame], str]]] = {
    "head": (lambda at: at.head(3), "takes some rows"),
    "tail": (lambda at: at.tail(3), "takes some rows"),
    "sort": (lambda at: at.sort("x"), "order of rows"),
    "group_by": (lambda at: at.group_by("x").agg(pl.len()), "group_by"),
    "unique": (lambda at: at.unique(), "equal rows"),
    "join": (lambda at: at.join(at, on="x"), "joins"),
    "row index": (lambda at: at.with_row_index(), "row_index"),
    "aggregate": (lambda at: at.filter(pl.col("x") > pl.col("x").mean()), "'Agg'"),
    "window": (lambda at: at.select(pl.col("x").sum().over("x")), "'Over'"),
    "shift": (lambda at: at.select(pl.col("x").shift(1)), "'Shift'"),
    "sample": (lambda at: at.select(pl.col("x").shuffle()), "'Random'"),
    "strict cast": (lambda at: at.select(pl.col("x").cast(pl.Int8)), "strict=False"),
    "reverse": (lambda at: at.reverse(), "'Reverse'"),
    "values": (lambda at: at.with_columns(pl.Series("k", [1] * 503)), "'Literal'"),
    "Python": (lambda at: at.map_batches(lambda frame: frame), "Python"),
}


def test_lazy_frames_are_judged_before_they_are_collected(tmp_path: Path) -> None:
    """What is of one row is read; the rest is refused, or somebody answers for it."""
    path, other = nan_files(tmp_path)["honest"][0], []
    frame = pl.scan_parquet(path)
    for name, (make, word) in LAZY.items():
        try:
            count(make(frame))
            other.append((name, "taken"))
        except InvalidParameter as refusal:
            if word not in str(refusal):
                other.append((name, str(refusal)))
    assert not other
    assert count(frame.head(3), vouched_by="A. Weber") == 3
    x = pl.col("x")
    made = frame.with_columns(x.cast(pl.Int64, strict=False).alias("i"), pl.lit(1))
    renamed = pl.concat([made, made]).rename({"i": "j"}).drop("x").drop_nulls()
    assert count(renamed) == 6
    assert count(pl.LazyFrame({"x": [1, 2]}).filter(x > 1)) == 1


def test_a_filtered_data_set_is_refused(tmp_path: Path) -> None:
    """A filter of Arrow is pushed to the footers; one of the session sees values."""
    path, cells = nan_files(tmp_path)["lying"]
    whole = ds.dataset(path)
    for filtered in (
        whole.filter(pc.field("x") > 100),
        ds.dataset(pa.table({"x": [1.0]})).filter(pc.field("x") > 0),
    ):
        with pytest.raises(InvalidParameter, match="filtered by Arrow"):
            count(filtered)
    table = sd.PrivateTable(whole, protects=sd.AddOneRow())
    session = sd.Session({"t": table}, BUDGET)
    far = sd.table("t").filter(sd.col("x") > 100).agg(n=sd.count())
    expected = [int(((cells > 100) | np.isnan(cells)).sum())]
    got = session.release(far, sd.PureDP(10**6))["n"].to_pylist()
    assert got in (expected, [int((cells > 100).sum())])
    assert count(ds.dataset([whole, whole])) == 2 * len(cells)


def test_an_order_that_a_frame_claims_is_not_believed() -> None:
    """Polars' mark of sorted values stays behind: DuckDB and memory see cells."""
    frame = pl.DataFrame({"x": [9, 1, 5]}).with_columns(pl.col("x").set_sorted())
    for source in (frame, frame.lazy()):
        assert count(source) == 3
        table = sd.PrivateTable(source, protects=sd.AddOneRow())
        session = sd.Session({"t": table}, BUDGET)
        below = sd.table("t").filter(sd.col("x") < 6).agg(n=sd.count())
        assert session.release(below, sd.PureDP(10**6))["n"].to_pylist() == [2]
