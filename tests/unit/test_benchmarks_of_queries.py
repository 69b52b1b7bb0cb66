"""The benchmarks of queries, of volume and of utility, at tiny sizes."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sordino as sd
from benchmarks import data, queries, ranks, utility, volume
from benchmarks.__main__ import rows
from tests.batches import for_each, sampled
from tests.effort import often

pytestmark = pytest.mark.usefixtures("small")

SIZE = 2000
ENOUGH = 60_000
"""Rows of which some groups show in the old way, too."""


@pytest.fixture(name="small")
def small_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchmarks.frame.SAMPLE_SECONDS", 0.0)
    monkeypatch.setattr(queries, "SMALL", SIZE)
    monkeypatch.setattr(utility, "RELEASES", 2)
    monkeypatch.setattr(data, "CHUNK", 700)


def test_rows_of_files() -> None:
    path = data.parquet(SIZE)
    held = pq.read_table(path)
    assert held.num_rows == SIZE
    assert pq.ParquetFile(path).num_row_groups == 3
    assert held.column_names == ["id", "g", "k", "x"]


def test_both_sides_answer() -> None:
    """What is raced asks the same: counts and means agree up to a little noise."""
    asked = queries.known(queries.ROWS_OF_G)
    much = sd.PureDP(10**6)
    ours = queries.released(SIZE, sd.AddOneRow(), asked, much)()
    theirs = queries.written(SIZE, queries.MEANS_SQL)()
    assert isinstance(ours, sd.Release)
    assert isinstance(theirs, pa.Table)
    found = {row["g"]: (row["n"], row["m"]) for row in ours.table.to_pylist()}
    for group, count, mean in zip(*theirs.to_pydict().values(), strict=True):
        assert found[group] == (count, pytest.approx(mean, abs=0.1))


@pytest.mark.slow
def test_rows_of_queries_are_measured() -> None:
    asked = queries.known(queries.ROWS_OF_G)
    few = queries.few("few", sd.AddOneRow(), lambda: asked, queries.PURE)
    for row in [*queries.rows(SIZE), few][:: often(2, 1)]:
        assert (row.measure().ratio or 0) > 0


def test_volume_is_asked_for_by_name() -> None:
    large = {row.what for row in volume.ROWS}
    assert large.isdisjoint(row.what for row in rows([]))
    words = ("million rows", "Spark: count and sum by 1000 keys, 1e7 rows")
    assert large <= {row.what for word in words for row in rows([word])}


@pytest.mark.slow
def test_volume_in_a_fresh_process() -> None:
    """A child tells its groups, its seconds and its peak."""
    told = volume.Volume(millions=0.002).measure()
    assert "1000 released" in told.what
    assert told.verdict == "below floor"


@pytest.mark.slow
def test_rows_of_ranks_are_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ranks, "SIZE", 300)
    monkeypatch.setattr(ranks, "GROUPS", 2)
    assert all((row.measure().ratio or 0) >= 0 for row in ranks.ROWS[:: often(8, 1)])
    assert ranks.off(ranks.EVEN, 1) < 100


def test_errors_of_releases() -> None:
    """Perfect answers have no error, and a group that does not show is off by all."""
    counts, means = utility.truth(SIZE)
    shown = [one for one in range(utility.GROUPS) if counts[one]]
    perfect = pa.table({"g": shown, "n": counts[shown].astype(int), "m": means[shown]})
    assert utility.off(perfect, SIZE)[1:] == (len(shown), 0.0)
    none = perfect.slice(0, 1)
    assert utility.off(none, SIZE)[0] == 1.0


@sampled(1)
@for_each("way", [utility.new_way, utility.old_way])
def test_ways_of_utility(way: utility.Way) -> None:
    """Both ways answer with groups, counts and means."""
    found = way(utility.opened(ENOUGH))
    assert found.num_rows > 0
    assert found.column_names == ["g", "n", "m"]
