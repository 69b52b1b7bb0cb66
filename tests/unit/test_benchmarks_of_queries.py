"""The benchmarks of queries, of volume and of utility, at tiny sizes."""

import pyarrow as pa
import pytest

import sordino as sd
from benchmarks import data, queries, utility, volume
from benchmarks.__main__ import rows

pytestmark = pytest.mark.usefixtures("small")

SIZE = 2000


@pytest.fixture(name="small")
def small_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(data, "CHUNK", 700)


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


def test_volume_is_asked_for_by_name() -> None:
    large = {row.what for row in volume.ROWS}
    assert large.isdisjoint(row.what for row in rows([]))
    words = ("million rows", "Spark: count and sum by 1000 keys, 1e7 rows")
    assert large <= {row.what for word in words for row in rows([word])}


def test_errors_of_releases() -> None:
    """Perfect answers have no error, and a group that does not show is off by all."""
    counts, means = utility.truth(SIZE)
    shown = [one for one in range(utility.GROUPS) if counts[one]]
    perfect = pa.table({"g": shown, "n": counts[shown].astype(int), "m": means[shown]})
    assert utility.off(perfect, SIZE)[1:] == (len(shown), 0.0)
    none = perfect.slice(0, 1)
    assert utility.off(none, SIZE)[0] == 1.0
