"""Answers that are too large for a ledger: drawn once, never lost, never drawn anew."""

import json
import os
import re
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pyarrow.parquet as pq
import pytest

import sordino as sd
from sordino.errors import (
    AnswerTooLarge,
    InvalidParameter,
    InvalidQuery,
    OutputFailure,
)
from sordino.ledger import file_format
from sordino.office.cli.main import main
from sordino.office.label import files as label_files
from sordino.release import answer, storage
from sordino.session import files as large_answers
from sordino.session.executor import Desk
from tests.batches import for_each

LIMIT: Final = sd.ApproxDP(10, "1e-5")
BUDGET: Final = sd.ApproxDP(1, "1e-6")
GROUPS: Final = 40
ROWS: Final[dict[str, list[Any]]] = {
    "person": [n // 2 for n in range(100 * GROUPS)],
    "ward": [f"ward {n % GROUPS}" for n in range(100 * GROUPS)],
    "days": [3, 8] * (50 * GROUPS),
}
T: Final = sd.table("visits").enforce(sd.MaxRowsPerID(2))
UNKNOWN: Final = T.group_by("ward").agg(n=sd.count_ids())
WARDS: Final = sd.KeySet.from_dict({"ward": [f"ward {n}" for n in range(GROUPS)]})
KNOWN: Final = T.group_by(WARDS).agg(days=sd.sum("days", 0, 30))
LEAST: Final = 2000
"""Bytes that ledgers keep here: more than digests, less than forty groups."""


def session(ledger: Any, budget: Any = None, engine: Any = "memory") -> sd.Session:
    table = sd.PrivateTable(ROWS, protects=sd.AddRowsWithID("person"))
    return sd.Session({"visits": table}, budget, ledger=ledger, engine=engine)


pytestmark = pytest.mark.usefixtures("small")


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_format, "LARGEST", LEAST)


@pytest.fixture
def drawings(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Tell of each noise that is drawn, whether anybody sees it or not."""
    drew: list[str] = []
    noisy = answer.noisy_tables

    def told(*arguments: Any) -> Any:
        table, errors = noisy(*arguments)
        drew.append(json.dumps(table.to_pydict()))
        return table, errors

    monkeypatch.setattr("sordino.release.answer.noisy_tables", told)
    return drew


def refused(ask: Callable[[], object]) -> AnswerTooLarge:
    with pytest.raises(AnswerTooLarge, match="paid for and was drawn once") as refusal:
        ask()
    return refusal.value


def rows(folder: Any) -> str:
    return json.dumps(pq.read_table(folder).select(["ward", "n"]).to_pydict())


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
@pytest.mark.parametrize("key", ["k", None])
def test_what_was_paid_is_not_lost(
    engine: Any, key: str | None, tmp_path: Path, drawings: list[str]
) -> None:
    """It was drawn once, lies beside the ledger with its label, and is on record."""
    opened = session(tmp_path / "l", LIMIT, engine=engine)
    drawings.clear()
    refusal = refused(lambda: opened.release(UNKNOWN, BUDGET, key=key))
    assert drawings == [rows(refusal.folder)]
    assert refusal.groups == pq.read_table(refusal.folder).num_rows == GROUPS
    assert f"{refusal.groups} groups, more than the 2,000 bytes" in str(refusal)
    assert Path(refusal.folder).parent == tmp_path
    assert opened.spent == BUDGET
    for path in sorted(Path(refusal.folder).iterdir()):
        published = opened.ledger.publication(path)
        assert published is not None
        assert published.charge == opened.history()[0].number
    assert opened.ledger.verify().releases == 1


def test_the_key_gives_the_same_files_wherever_they_lie(
    tmp_path: Path, drawings: list[str]
) -> None:
    """In this session or another, of whatever engine, at no new charge."""
    opened = session(tmp_path / "l", LIMIT)
    first = refused(lambda: opened.release(UNKNOWN, BUDGET, key="k"))
    assert refused(lambda: opened.release(UNKNOWN, BUDGET, key="k")).args == first.args
    other = session(tmp_path / "l", engine="duckdb")
    assert refused(lambda: other.release(UNKNOWN, BUDGET, key="k")).args == first.args
    moved = Path(first.folder).rename(tmp_path / "moved")
    files = other.release_files(UNKNOWN, BUDGET, moved, key="k")
    assert (files.folder, len(files), files.keys) == (str(moved), GROUPS, ("ward",))
    assert files.label().facts.numbers == GROUPS
    assert "40 rows in 1 Parquet files" in repr(files)
    assert len(drawings) == 1
    assert other.spent == BUDGET
    with pytest.raises(InvalidParameter, match="does not hold the files"):
        other.release_files(UNKNOWN, BUDGET, first.folder, key="k")
    (file,) = moved.glob("*.parquet")
    file.write_bytes(file.read_bytes() + b"\0")
    with pytest.raises(InvalidParameter, match="does not hold the files"):
        other.release_files(UNKNOWN, BUDGET, moved, key="k")


@for_each(
    ("query", "budget"),
    [
        (T.group_by("ward").agg(m=sd.count_ids()), BUDGET),
        (UNKNOWN, sd.ApproxDP(2, "1e-7")),
    ],
    ids=["query", "budget"],
)
def test_the_key_is_of_one_request(query: Any, budget: Any, tmp_path: Path) -> None:
    opened = session(tmp_path / "l", LIMIT, engine="duckdb")
    folder = refused(lambda: opened.release(UNKNOWN, BUDGET, key="k")).folder
    for ask in (
        lambda: opened.release(query, budget, key="k"),
        lambda: opened.release_files(query, budget, folder, key="k"),
    ):
        with pytest.raises(InvalidQuery, match="belongs to another request"):
            ask()
    assert opened.spent == BUDGET


def test_many_together_and_margins(tmp_path: Path) -> None:
    """Each table is a file with a label of its own."""
    opened = session(tmp_path / "l", LIMIT)
    asked = {"by ward": UNKNOWN, "all": T.agg(n=sd.count())}
    refusal = refused(lambda: opened.release_all(asked, BUDGET, key="k"))
    names = [path.name for path in sorted(Path(refusal.folder).iterdir())]
    assert names == ["answer-1.parquet", "answer-2.parquet"]
    assert refused(lambda: opened.release_all(asked, BUDGET, key="k")).folder == (
        refusal.folder
    )
    margins = T.marginals(WARDS * sd.KeySet.from_dict({"days": [3, 8]}), order=1)
    by_rho = session(tmp_path / "m", sd.ZCDP(1))
    folder = refused(lambda: by_rho.release(margins, sd.ZCDP("0.1"), key="m")).folder
    assert pq.read_table(folder).num_rows > GROUPS


def test_known_groups_are_refused_before_the_charge(tmp_path: Path) -> None:
    opened = session(tmp_path / "l", LIMIT)
    for ask in (
        lambda: opened.release(KNOWN, BUDGET),
        lambda: opened.release_all({"a": KNOWN}, BUDGET),
        lambda: opened.what_if(KNOWN, BUDGET),
    ):
        with pytest.raises(InvalidQuery, match=r"40 groups.*2000 bytes.*release_files"):
            ask()
    assert not opened.history()
    assert opened.price(KNOWN, BUDGET).budget == BUDGET


def test_the_border_is_the_number_of_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An answer of as many bytes as a ledger keeps is one; with one less it is none."""
    opened = session(tmp_path / "l", LIMIT)
    sizes: list[int] = []
    size = storage.answer_size

    def told(each: Any) -> int:
        sizes.append(size(each))
        return sizes[-1]

    monkeypatch.setattr(storage, "answer_size", told)
    monkeypatch.setattr(file_format, "LARGEST", 10**6)
    opened.release(UNKNOWN, BUDGET)
    (least,) = {each + 8 for each in sizes}
    monkeypatch.setattr(file_format, "LARGEST", least)
    opened.release(UNKNOWN, BUDGET)
    monkeypatch.setattr(file_format, "LARGEST", least - 1)
    refused(lambda: opened.release(UNKNOWN, BUDGET))


def test_who_stores_second_goes_on_with_what_was_stored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two draw at once: both name one answer, and the other drawing is nowhere."""
    first, second = session(tmp_path / "l", LIMIT), session(tmp_path / "l")
    drew = threading.Barrier(2, timeout=60)
    compute = Desk._prepare

    def together(desk: Desk, purchase: Any) -> Callable[[], Any]:
        work = compute(desk, purchase)

        def wait() -> Any:
            answer = work()
            drew.wait()
            return answer

        return wait

    monkeypatch.setattr(Desk, "_prepare", together)
    refusals: list[AnswerTooLarge] = []
    asks = [
        threading.Thread(
            target=lambda each=each: refusals.append(
                refused(lambda: each.release(UNKNOWN, BUDGET, key="k"))
            )
        )
        for each in (first, second)
    ]
    for ask in asks:
        ask.start()
    for ask in asks:
        ask.join()
    (folder,) = {refusal.folder for refusal in refusals}
    assert len(refusals) == 2
    assert [path.name for path in tmp_path.glob("l-answer-*")] == [Path(folder).name]
    assert re.fullmatch(r"l-answer-[0-9]+-[0-9a-f]{8}", Path(folder).name)
    files = second.release_files(UNKNOWN, BUDGET, folder, key="k")
    assert len(files) == GROUPS
    assert second.spent == BUDGET


def test_a_small_answer_that_was_stored_first_is_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Then the one that was too large was never drawn, as far as anybody sees."""
    first, second = session(tmp_path / "l", LIMIT), session(tmp_path / "l")
    given: list[Any] = []
    compute = Desk._prepare

    def late(desk: Desk, purchase: Any) -> Callable[[], Any]:
        work = compute(desk, purchase)

        def wait() -> Any:
            answer = work()
            if not given:
                given.append(None)
                monkeypatch.setattr(file_format, "LARGEST", 10**6)
                given[0] = second.release(UNKNOWN, BUDGET, key="k")
                monkeypatch.setattr(file_format, "LARGEST", LEAST)
            return answer

        return wait

    monkeypatch.setattr(Desk, "_prepare", late)
    release = first.release(UNKNOWN, BUDGET, key="k")
    assert release.table.equals(given[0].table)
    assert not list(tmp_path.glob("l-answer-*"))


@pytest.mark.parametrize("point", ["drawn", "stored", "half written"])
def test_a_death_shows_one_drawing_at_most(
    point: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, drawings: list[str]
) -> None:
    """Before the digests are stored nothing is written; after, nobody draws."""
    opened = session(tmp_path / "l", LIMIT)
    deaths: dict[str, tuple[Any, str]] = {
        "drawn": (opened.ledger.__class__, "store"),
        "stored": (large_answers, "write_drawn"),
        "half written": (large_answers, "_write"),
    }

    def die(place: Any, *_: Any, **__: Any) -> None:
        if isinstance(place, Path):
            place.write_bytes(b"PAR1")
        raise KeyboardInterrupt

    with monkeypatch.context() as dying:
        dying.setattr(*deaths[point], die)
        with pytest.raises(KeyboardInterrupt):
            opened.release(UNKNOWN, BUDGET, key="k")
    assert not list(tmp_path.glob("l-answer-*"))
    again = session(tmp_path / "l")
    refusal = refused(lambda: again.release(UNKNOWN, BUDGET, key="k"))
    if point == "drawn":
        assert (len(drawings), drawings[-1]) == (2, rows(refusal.folder))
    else:
        assert len(drawings) == 1
        with pytest.raises(InvalidParameter, match="does not hold the files"):
            again.release_files(UNKNOWN, BUDGET, refusal.folder, key="k")
    assert again.spent == BUDGET


@pytest.mark.parametrize("key", ["k", None])
def test_failing_on_purpose_averages_nothing(
    key: str | None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    drawings: list[str],
) -> None:
    """Who fails again and again sees one drawing, however it is made to fail."""
    opened, other = session(tmp_path / "l", LIMIT), session(tmp_path / "l")
    with monkeypatch.context() as full:
        full.setattr(label_files, "write_parquet", _full_disk(label_files))
        for _ in range(3 if key else 1):
            with pytest.raises(OutputFailure, match="make room"):
                opened.release(UNKNOWN, BUDGET, key=key)
    assert (len(drawings), opened.spent) == (1, BUDGET)
    assert not list(tmp_path.glob("l-answer-*"))
    if key is None:
        return
    refused(lambda: other.release(UNKNOWN, BUDGET, key="k"))
    with pytest.raises(InvalidParameter, match="does not hold"):
        other.release_files(UNKNOWN, BUDGET, tmp_path / "other", key="k")
    files = opened.release_files(UNKNOWN, BUDGET, tmp_path / "room", key="k")
    again = other.release_files(UNKNOWN, BUDGET, tmp_path / "room", key="k")
    assert files.files == again.files
    assert drawings == [rows(files.folder)]
    assert opened.spent == BUDGET


def _full_disk(module: Any) -> Callable[..., None]:
    """Return what writes to a disk that is full, though bytes can be counted."""
    write = module.write_parquet

    def written(table: Any, where: Any) -> None:
        if hasattr(where, "fileno"):
            raise OSError(28, "No space left on device", "secret.parquet")
        write(table, where)

    return written


@pytest.mark.parametrize("there", ["folder", "file", "link"])
def test_what_lies_in_the_way_is_not_touched(
    there: str, tmp_path: Path, drawings: list[str]
) -> None:
    """The answer stays in the session until a folder is named that can be made."""
    opened = session(tmp_path / "l", LIMIT)
    folder = opened.ledger.folder_beside(3)
    victim = tmp_path / "victim"
    victim.mkdir()
    (victim / "mine").write_text("mine")
    if there == "folder":
        victim.rename(folder)
        victim = folder
    elif there == "file":
        folder.write_text("a file")
    else:
        folder.symlink_to(victim)
    for _ in range(2):
        with pytest.raises(OutputFailure):
            opened.release(UNKNOWN, BUDGET, key="k")
    assert [path.name for path in victim.iterdir()] == ["mine"]
    files = opened.release_files(UNKNOWN, BUDGET, tmp_path / "new", key="k")
    assert rows(files.folder) == drawings[0]


def test_a_child_cannot_ask(tmp_path: Path) -> None:
    """A fork has no ledger: it is refused before it draws or writes."""
    opened = session(tmp_path / "l", LIMIT)
    refused(lambda: opened.release(UNKNOWN, BUDGET, key="k"))
    if (child := os.fork()) == 0:
        try:
            opened.release_files(UNKNOWN, BUDGET, tmp_path / "child", key="k")
        except sd.errors.SessionMoved:
            os._exit(7)
        os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7


def test_a_ledger_that_ends_with_the_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Files lie where temporary files do."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    opened = session(None, LIMIT)
    refusal = refused(lambda: opened.release(UNKNOWN, BUDGET, key="k"))
    assert Path(refusal.folder).parent == tmp_path
    assert len(opened.release_files(UNKNOWN, BUDGET, refusal.folder, key="k")) == GROUPS


def test_the_label_of_such_a_folder(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    opened = session(tmp_path / "l", LIMIT)
    folder = Path(refused(lambda: opened.release(UNKNOWN, BUDGET, key="k")).folder)
    for place in (folder, folder / "answer.parquet", folder / "_label.json"):
        assert main(["verify", str(place), "--ledger", str(tmp_path / "l")]) == 0
        assert "is untouched" in capsys.readouterr().out
    for place in (folder, folder / "answer.parquet"):
        assert main(["label", str(place), "--ledger", str(tmp_path / "l")]) == 0
        assert "confirms it" in capsys.readouterr().out.lower()
