"""A release that workers write: charged first, begun once, known by its digests."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sordino as sd
from sordino import errors
from sordino.engines.memory import MemoryEngine
from sordino.engines.statements.spreads import AbstractSpread, PartTask
from sordino.office.label.files import files_in
from sordino.query.nodes import Question
from sordino.release.explanation import exactness_of
from sordino.release.released_files import FilesAnswer
from tests.batches import for_each
from tests.sessions import LIMIT, TENTH, WARDS, session

T: Final = sd.table("visits").enforce(sd.MaxRowsPerID(2))
KNOWN: Final = T.group_by(WARDS).agg(days=sd.sum("days", 0, 30))
UNKNOWN: Final = T.group_by("ward").agg(n=sd.count_ids())
PARTS: Final = 2
pytestmark = pytest.mark.usefixtures("workers")


class Spread(AbstractSpread):
    """Totals of which this process is the only worker."""

    closed = 0
    fails = False
    secrets: list[bytes] = []  # noqa: RUF012 of a double

    def __init__(self, exact: pa.Table) -> None:
        self.exact = exact

    def write(self, task: PartTask, secret: bytes, folder: str) -> FilesAnswer:
        """Write each part, or fail after the first."""
        Spread.secrets.append(secret)
        Path(folder).mkdir()
        for part in range(PARTS):
            rows = task(self.exact.slice(part, 1 if part < PARTS - 1 else None), secret)
            pq.write_table(rows, f"{folder}/{part}.parquet")
            if self.fails:
                raise errors.EngineFailure
        table = pq.read_table(folder)
        exactness = exactness_of(table, table, task.names)
        return FilesAnswer(files_in(Path(folder)), exactness)

    def close(self) -> None:
        Spread.closed += 1


def prepare_spread(
    engine: MemoryEngine, question: Question, task: PartTask, folder: str
) -> Callable[[], Spread]:
    """Leave totals with workers that are no others."""
    del task
    if Path(folder).exists():
        raise errors.InvalidParameter(
            "folder", folder, "is there already", "Name a new one."
        )
    compute = engine.prepare(question)
    return lambda: Spread(compute())


@pytest.fixture
def workers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the engine of these tests, which has none, write to files."""
    monkeypatch.setattr(MemoryEngine, "prepare_spread", prepare_spread)
    monkeypatch.setattr(Spread, "closed", 0)
    monkeypatch.setattr(Spread, "fails", False)
    monkeypatch.setattr(Spread, "secrets", [])


def read(folder: Path) -> dict[str, list[Any]]:
    columns: dict[str, list[Any]] = pq.read_table(folder).to_pydict()
    return columns


@pytest.mark.parametrize("request_", [KNOWN, UNKNOWN], ids=["known", "unknown"])
def test_a_release_is_files(request_: Any, tmp_path: Path) -> None:
    opened = session(tmp_path / "l", LIMIT)
    files = opened.release_files(request_, TENTH, tmp_path / "out")
    usual = opened.release(request_, TENTH)
    assert (files.loss, files.notes, files.plan) == (
        usual.loss,
        usual.notes,
        usual.plan,
    )
    assert (files.names, files.keys) == (usual.names, usual.keys)
    assert Spread.closed == 1
    assert {len(secret) for secret in Spread.secrets} == {64}
    beside = [*usual.keys, *usual.names, *usual.errors.column_names[1:]]
    assert sorted(read(tmp_path / "out")) == sorted(beside)
    assert opened.spent == session(tmp_path / "l").spent
    assert f"{len(files.files)} Parquet files" in repr(files)
    assert str(tmp_path / "out") in repr(files)


def test_a_key_has_its_files(tmp_path: Path) -> None:
    opened = session(tmp_path / "l", LIMIT)
    first = opened.release_files(KNOWN, TENTH, tmp_path / "out", key="k")
    assert opened.release_files(KNOWN, TENTH, tmp_path / "out", key="k").files == (
        first.files
    )
    (tmp_path / "out").rename(tmp_path / "moved")
    again = session(tmp_path / "l").release_files(
        KNOWN, TENTH, str(tmp_path / "moved"), key="k"
    )
    assert again.files == first.files
    assert len(Spread.secrets) == 1
    assert opened.spent == TENTH


@for_each(
    "change",
    [
        lambda out: (out / "0.parquet").unlink(),
        lambda out: (out / "more.parquet").write_bytes(b"another"),
        lambda out: (out / "0.parquet").write_bytes(b"another"),
        lambda out: (out / "0.parquet").rename(out / "2.parquet"),
    ],
    ids=["gone", "one more", "changed", "renamed"],
)
def test_files_that_are_others_are_refused(
    change: Callable[[Path], object], tmp_path: Path
) -> None:
    opened = session(tmp_path / "l", LIMIT)
    opened.release_files(KNOWN, TENTH, tmp_path / "out", key="k")
    change(tmp_path / "out")
    with pytest.raises(errors.InvalidParameter, match="does not hold the files"):
        opened.release_files(KNOWN, TENTH, tmp_path / "out", key="k")
    assert opened.spent == TENTH


def test_noise_is_drawn_once_for_a_charge(tmp_path: Path) -> None:
    """What failed after it began may lie somewhere in part: it is never drawn anew.

    Without a key there is nobody who could ask again.
    """
    opened = session(tmp_path / "l", LIMIT)
    Spread.fails = True
    with pytest.raises(errors.EngineFailure):
        opened.release_files(KNOWN, TENTH, tmp_path / "out", key="k")
    Spread.fails = False
    with pytest.raises(errors.AnswerLost):
        opened.release_files(KNOWN, TENTH, tmp_path / "again", key="k")
    assert (len(Spread.secrets), Spread.closed, opened.spent) == (1, 1, TENTH)
    opened.release_files(KNOWN, TENTH, tmp_path / "third")
    assert session(tmp_path / "l").ledger.verify().releases == 2


def test_what_failed_before_noise_is_computed_once_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Totals that could not be computed hold no noise, so the key has another turn."""
    opened = session(tmp_path / "l", LIMIT)

    def failing(*_: Any) -> Callable[[], Spread]:
        def fail() -> Spread:
            raise errors.EngineFailure

        return fail

    with monkeypatch.context() as broken:
        broken.setattr(MemoryEngine, "prepare_spread", failing)
        with pytest.raises(errors.EngineFailure):
            opened.release_files(KNOWN, TENTH, tmp_path / "out", key="k")
    opened.release_files(KNOWN, TENTH, tmp_path / "out", key="k")
    assert (len(Spread.secrets), opened.spent) == (1, TENTH)


def test_a_key_belongs_to_one_kind_of_answer(tmp_path: Path) -> None:
    opened = session(tmp_path / "l", LIMIT)
    opened.release_files(KNOWN, TENTH, tmp_path / "out", key="k")
    with pytest.raises(errors.InvalidQuery, match="belongs to another request"):
        opened.release(KNOWN, TENTH, key="k")
    with pytest.raises(errors.InvalidQuery, match="are files in a folder"):
        opened.answer("k")
    opened.release(KNOWN, TENTH, key="table")
    with pytest.raises(errors.InvalidQuery, match="belongs to another request"):
        opened.release_files(KNOWN, TENTH, tmp_path / "more", key="table")


@for_each("folder", ["", " ", "a\0b", 3, None, b"bytes"])
def test_what_is_no_folder_is_refused(folder: Any, tmp_path: Path) -> None:
    opened = session(tmp_path / "l", LIMIT)
    with pytest.raises(errors.InvalidParameter, match="folder must be a path"):
        opened.release_files(KNOWN, TENTH, folder)
    assert not opened.history()


def test_what_is_refused_costs_nothing(tmp_path: Path) -> None:
    opened = session(tmp_path / "l", LIMIT)
    with pytest.raises(errors.InvalidParameter, match="is there already"):
        opened.release_files(KNOWN, TENTH, tmp_path)
    with pytest.raises(errors.InvalidQuery, match="has no groups"):
        opened.release_files(T.agg(n=sd.count()), TENTH, tmp_path / "out")
    with pytest.raises(errors.BudgetExceeded):
        opened.release_files(KNOWN, sd.PureDP(2), tmp_path / "out")
    assert not opened.history()
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("engine", ["duckdb", "memory"])
def test_engines_without_workers_refuse(
    engine: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.undo()
    opened = session(None, LIMIT, engine=engine)
    with pytest.raises(
        errors.InvalidQuery, match=r"only Spark has workers.*to_parquet"
    ):
        opened.release_files(KNOWN, TENTH, tmp_path / "out")
    assert not opened.history()
