"""An engine that believes what a file says of itself is refused before it is asked."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sqlglot import exp

import sordino as sd
from sordino.engines import canary
from sordino.engines.duckdb import belief, connection
from sordino.engines.duckdb.dialect import DuckDBDialect
from sordino.engines.duckdb.optimisers import HARMLESS
from sordino.engines.sql.pieces import function
from sordino.errors import EngineUnavailable
from tests.liars import write_canary

BELIEVING: Final = ("filter_pushdown", "join_filter_pushdown", "statistics_propagation")
"""The optimisers through which a plain column is believed by questions of ours."""


pytestmark = pytest.mark.usefixtures("asked_anew")


@pytest.fixture
def asked_anew() -> Iterator[None]:
    """Have the canary asked in each test, and once more after it."""
    belief.refuse_belief.cache_clear()
    yield
    belief.refuse_belief.cache_clear()


def plain(
    forms: DuckDBDialect, column: exp.Expression, arrow: pa.DataType
) -> exp.Expression:
    """Return a column as a database knows it."""
    del forms, arrow
    return column


def let(patch: pytest.MonkeyPatch, *names: str) -> None:
    """Let further optimisers run, all of them if none is named."""
    rows = duckdb.execute("FROM duckdb_optimizers()").fetchall()
    every = {one for (one,) in rows}
    allowed = HARMLESS | (set(names) or every)
    patch.setattr(connection, "HARMLESS", allowed)


def test_the_canary_lies(tmp_path: Path) -> None:
    """The shipped file is the one that is written for it, and says what is not so."""
    with canary.canary_path() as path:
        held = pq.ParquetFile(path)
        facts = [
            held.metadata.row_group(0).column(place).statistics for place in range(4)
        ]
        write_canary(tmp_path / "canary.parquet")
        assert str(held.read()) == str(pq.read_table(tmp_path / "canary.parquet"))
    assert [one.max for one in facts] == [5.0, 5, 1, "e"]
    assert [one.null_count for one in facts] == [0, 0, 0, 0]


def test_the_optimisers_hold_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is shipped passes; so do plain columns with the optimisers that may run."""
    belief.refuse_belief()
    monkeypatch.setattr(DuckDBDialect, "opaque", plain)
    belief.refuse_belief.__wrapped__()


def test_opaque_columns_hold_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where every column is opaque, all optimisers may run."""
    let(monkeypatch)
    opaque = DuckDBDialect.opaque

    def everywhere(self: DuckDBDialect, column: Any, arrow: pa.DataType) -> Any:
        wrapped = opaque(self, column, arrow)
        return function("TRY", column) if wrapped is column else wrapped

    monkeypatch.setattr(DuckDBDialect, "opaque", everywhere)
    belief.refuse_belief.__wrapped__()


def test_bare_columns_are_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of integers, which are not opaque, the optimisers must believe nothing."""
    let(monkeypatch)
    with pytest.raises(EngineUnavailable):
        belief.refuse_belief()


@pytest.mark.parametrize("names", [(), *((one,) for one in BELIEVING)])
def test_a_planted_belief_is_refused(
    names: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Plain columns and one believing optimiser are found out."""
    monkeypatch.setattr(DuckDBDialect, "opaque", plain)
    let(monkeypatch, *names)
    with pytest.raises(EngineUnavailable, match="believes what a file says of itself"):
        belief.refuse_belief()


def test_a_session_is_refused_before_any_charge(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The refusal comes when a file is opened, is typed, and says what to do."""
    write_canary(tmp_path / "rows.parquet")
    table = sd.PrivateTable(tmp_path / "rows.parquet", protects=sd.AddOneRow())
    monkeypatch.setattr(DuckDBDialect, "opaque", plain)
    let(monkeypatch)
    for _ in range(2):
        with pytest.raises(EngineUnavailable, match='or use engine="memory"'):
            sd.Session(tables={"t": table}, budget=sd.PureDP(1))
