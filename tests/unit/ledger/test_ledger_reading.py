"""Looking at a ledger needs no right to write, and changes nothing."""

import os
import shutil
import stat
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import sordino as sd
from sordino.errors import InvalidParameter, LedgerUnavailable, SordinoError
from sordino.ledger.file_format import Disk, World
from tests.ledgers import LIMIT, TENTH, claim

VECTORS = Path(__file__).parents[2] / "vectors"
WRITING: dict[str, Callable[[sd.Ledger], object]] = {
    "reserve": lambda ledger: ledger.reserve(claim("new")),
    "reserve again": lambda ledger: ledger.reserve(claim("waiting")),
    "allot": lambda ledger: ledger.allot("bob", TENTH),
    "lower": lambda ledger: ledger.lower("dataset", sd.PureDP("0.9")),
    "earmark": lambda ledger: ledger.earmark("plan", TENTH),
    "close_budget": lambda ledger: ledger.close_budget("dataset"),
    "describe": lambda ledger: ledger.describe("a job"),
    "publish": lambda ledger: ledger.publish("a", __file__),
}


def _refused(*_: Any) -> Any:
    raise AssertionError


NO_WRITING = World(
    disk=Disk(write=_refused, sync=_refused, cut=_refused, lock=_refused)
)


@pytest.fixture(name="path", params=["alone", "witnessed"])
def path_of_a_ledger(request: pytest.FixtureRequest, folder: Path) -> Path:
    """Return a ledger with an answer and a charge without one; its last line is cut."""
    path = folder / "a"
    witness = folder / "w" if request.param == "witnessed" else None
    with sd.Ledger.at(path, LIMIT, create=True, witness=witness) as ledger:
        ledger.store(ledger.reserve(claim("a")), b"42")
        ledger.reserve(claim("waiting"))
    with path.open("ab") as file:
        file.write(b'{"piece":')
    return path


def witness_of(path: Path) -> Path | None:
    witness = path.with_name("w")
    return witness if witness.exists() else None


def test_what_is_read_is_what_stands_there(path: Path) -> None:
    witness = witness_of(path)
    before = path.read_bytes()
    with sd.Ledger.read(path, witness=witness, world=NO_WRITING) as ledger:
        told: list[Any] = [
            ledger.records(),
            ledger.verify(),
            ledger.spent(),
            ledger.remaining(),
            ledger.limits(),
            ledger.history(),
            ledger.reserve(claim("a")).answer,
        ]
        wrong = [name for name, act in WRITING.items() if not _is_refused(ledger, act)]
        assert wrong == []
        assert ledger.verify() == told[1]
    assert path.read_bytes() == before
    with sd.Ledger.at(path, witness=witness) as ledger:
        assert told == [
            ledger.records(),
            ledger.verify(),
            ledger.spent(),
            ledger.remaining(),
            ledger.limits(),
            ledger.history(),
            b"42",
        ]


def _is_refused(ledger: sd.Ledger, act: Callable[[sd.Ledger], object]) -> bool:
    """Say whether an act is refused, because the ledger was opened to be read."""
    try:
        act(ledger)
    except InvalidParameter as refusal:
        return "was opened to be read" in str(refusal)
    return False


def test_readers_share_and_follow(folder: Path) -> None:
    path = folder / "a"
    charging = sd.Ledger.at(path, LIMIT, create=True, world=World(patience=0.05))
    first, second = sd.Ledger.read(path), sd.Ledger.read(path)

    def inside(_: Any) -> object:
        with pytest.raises(LedgerUnavailable, match="in use by another process"):
            charging.reserve(claim("a"))
        return second.spent()

    assert first._guarded.use(inside) == sd.PureDP(0)
    charging.reserve(claim("a"))
    assert first.spent() == second.spent() == TENTH
    session = sd.Session(
        {"visits": sd.PrivateTable({"n": [1, 2]}, protects=sd.AddOneRow())},
        ledger=first,
        engine="memory",
    )
    with pytest.raises(InvalidParameter, match="was opened to be read"):
        session.release(sd.table("visits").agg(n=sd.count()), TENTH)
    assert charging.spent() == TENTH
    for ledger in (charging, first, second):
        ledger.close()


@pytest.mark.skipif(os.getuid() != 0, reason="only root can be somebody else")
def test_somebody_else_may_look(path: Path) -> None:
    """As `nobody`, of a file that nobody may write, in a folder that is not theirs."""
    witness = witness_of(path)
    path.parent.chmod(0o755)
    for file in (path, *([witness] if witness else [])):
        file.chmod(stat.S_IRUSR | stat.S_IRGRP | stat.S_IROTH)
    child = os.fork()
    if child == 0:
        os.setgid(65534)
        os.setuid(65534)
        ended = 1
        try:
            sd.Ledger.at(path, witness=witness)
        except SordinoError:
            with sd.Ledger.read(path, witness=witness) as ledger:
                ended = 0 if ledger.verify().releases == 2 else 2
        finally:
            os._exit(ended)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_what_cannot_be_read_is_refused(path: Path, tmp_path: Path) -> None:
    """A witness, a ledger of format 1, one without its witness: what to do is said."""
    witness = witness_of(path)
    if witness is not None:
        with pytest.raises(InvalidParameter, match="witness must be given"):
            sd.Ledger.read(path)
        with pytest.raises(InvalidParameter, match="must be a ledger"):
            sd.Ledger.read(witness)
    old = Path(shutil.copy(VECTORS / "ledger-format-1.ledger", tmp_path))
    before = old.read_bytes()
    with pytest.raises(InvalidParameter, match="Open it once"):
        sd.Ledger.read(old)
    assert old.read_bytes() == before
    with sd.Ledger.at(old) as ledger, sd.Ledger.read(old) as looked:
        assert looked.records() == ledger.records()
    with pytest.raises(InvalidParameter, match="must exist"):
        sd.Ledger.read(tmp_path / "gone")


def test_a_backup_of_before_is_what_it_was(folder: Path) -> None:
    """Versions before 0.2 wrote copies with the role of a ledger: they open as one."""
    with sd.Ledger.at(folder / "a", LIMIT, create=True) as ledger:
        ledger.store(ledger.reserve(claim("a")), b"42")
        ledger.backup(folder / "copy")
    old = folder / "old"
    old.write_bytes((folder / "copy").read_bytes().replace(b"backup", b"ledger", 1))
    with sd.Ledger.at(old) as opened:
        assert opened.reserve(claim("a")).answer == b"42"
        assert opened.spent() == sd.PureDP(Fraction(1, 10))
