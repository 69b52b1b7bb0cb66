"""Where a ledger may lie: on a file system whose locks keep other writers out."""

import itertools
import json
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import pytest

import sordino as sd
from sordino.errors import InvalidParameter
from sordino.ledger import file_system, opening, place_trial
from sordino.ledger.file_format import Disk, World
from sordino.ledger.ledger import Ledger
from tests.jobs import JOB, fill_folder, ran
from tests.ledgers import LIMIT

LOCAL: Final = frozenset({
    *("ext4", "xfs", "btrfs", "zfs", "bcachefs", "f2fs", "jfs"),
    *("tmpfs", "ramfs", "overlay", "apfs", "hfs"),
})
NAMED: Final = frozenset(file_system._KINDS.values())
SHARED: Final = (*sorted(NAMED - LOCAL), "kind 0x1234", "macfuse", "")


def world_on(kind: str | None, below: Path | None = None) -> World:
    """Return a world in which a folder, or all there is, lies on such a disk."""

    def kind_of(path: Path) -> str | None:
        return kind if below is None or path.is_relative_to(below) else "ext4"

    return World(disk=Disk(kind=kind_of))


def doors(folder: Path) -> dict[str, Callable[..., Ledger]]:
    """Return each way to open a ledger or its witness, that lie in two folders."""
    there, aside = folder / "there", folder / "aside"
    for place in (there, aside):
        place.mkdir()
    Ledger.at(there / "a", LIMIT, create=True).close()
    Ledger.at(aside / "b", LIMIT, create=True, witness=there / "b.seen").close()
    with Ledger.at(aside / "b", witness=there / "b.seen") as ledger:
        ledger.backup(aside / "b.copy")
    return {
        "open": lambda **more: Ledger.at(there / "a", **more),
        "make": lambda **more: Ledger.at(there / "c", LIMIT, create=True, **more),
        "witness": lambda **more: Ledger.at(
            aside / "b", witness=there / "b.seen", **more
        ),
        "new witness": lambda **more: Ledger.at(
            aside / "d", LIMIT, create=True, witness=there / "d.seen", **more
        ),
        "restore": lambda **more: Ledger.restore(
            aside / "b.copy", there / "e", witness=there / "b.seen", **more
        ),
    }


def contents(folder: Path) -> dict[str, bytes]:
    return {
        str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()
    }


def refusal_of(way: Callable[..., Ledger], world: World) -> str:
    try:
        way(world=world).close()
    except InvalidParameter as refusal:
        return str(refusal)
    return "opened"


def test_where_locks_may_not_hold_nothing_is_opened_or_made(tmp_path: Path) -> None:
    """Every door, every kind that is not known to be local: refused, untouched."""
    ways, wrong = doors(tmp_path), []
    before = contents(tmp_path)
    for kind, (name, way) in itertools.product(SHARED, ways.items()):
        told = refusal_of(way, world_on(kind, tmp_path / "there"))
        if f"lies on {kind}" not in told or "only_writer=True" not in told:
            wrong.append((name, kind, told))
    assert wrong == []
    assert contents(tmp_path) == before


def test_who_is_the_only_writer_says_so(tmp_path: Path) -> None:
    """Then every door opens, as does any where the kind is local, or none is told."""
    ways = doors(tmp_path)
    for way in ways.values():
        way(world=world_on("NFS"), only_writer=True).close()
    for kind in (*LOCAL, None):
        ways["open"](world=world_on(kind)).close()


@pytest.mark.slow
def test_a_job_and_a_command_say_so_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(fill_folder(tmp_path))
    monkeypatch.setattr(opening, "World", lambda: world_on("FUSE"))
    code, _, err = ran("release", "wards", "--on", "2026-11-03")
    assert (code, "lies on FUSE" in err) == (1, True), err
    assert not Path("clinic.ledger").exists()
    said = JOB.replace("[ledger]", "[ledger]\nonly_writer = true")
    Path("clinic.toml").write_text(said, encoding="utf-8")
    assert ran("release", "wards", "--on", "2026-11-03")[0] == 0
    close = ("ledger", "close", "clinic.ledger", "dataset")
    assert [ran(*close)[0], ran(*close, "--only-writer")[0]] == [1, 0]


def test_a_kind_is_asked_of_the_system_and_never_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is told of folders and files; of what is not there, or by no function, not."""
    kind = file_system.file_system_of(tmp_path)
    file = tmp_path / "file"
    file.touch()
    assert kind
    assert file_system.file_system_of(file) == kind
    assert file_system.file_system_of(tmp_path / "gone") is None
    assert file_system.file_system_of(Path("/proc")) not in LOCAL
    monkeypatch.setattr(file_system, "_statfs", lambda: None)
    assert file_system.file_system_of(tmp_path) is None


@pytest.fixture
def mounted(tmp_path: Path) -> Iterator[Path]:
    """Return a folder that is seen through FUSE, beside the folder itself."""
    binder, undo = shutil.which("bindfs"), shutil.which("fusermount")
    if binder is None or undo is None or not os.access("/dev/fuse", os.W_OK):
        pytest.skip("bindfs is not here: NO REAL FUSE WAS TRIED")
    there, seen = tmp_path / "host", tmp_path / "seen"
    for place in (there, seen):
        place.mkdir()
    if subprocess.run([binder, there, seen], check=False).returncode:
        pytest.skip("bindfs cannot mount: NO REAL FUSE WAS TRIED")
    try:
        yield seen
    finally:
        subprocess.run([undo, "-u", "-z", seen], check=True)


@pytest.mark.slow
def test_a_real_mount_of_fuse_is_refused_at_opening(mounted: Path) -> None:
    """As is a session there; the folder itself is a disk like any other."""
    host = mounted.parent / "host"
    Ledger.at(host / "a", LIMIT, create=True).close()
    table: Any = sd.PrivateTable({"day": [1, 2]}, protects=sd.AddOneRow())
    for attempt in (
        lambda: Ledger.at(mounted / "a"),
        lambda: Ledger.at(mounted / "b", LIMIT, create=True),
        lambda: sd.Session({"visits": table}, LIMIT, ledger=mounted / "c"),
    ):
        with pytest.raises(InvalidParameter, match="lies on FUSE"):
            attempt()
    assert [path.name for path in host.iterdir()] == ["a"]
    Ledger.at(mounted / "a", only_writer=True).close()


@pytest.mark.slow
def test_a_doctor_tries_the_very_folder(mounted: Path) -> None:
    """Through FUSE, and through one mount beside the folder: locks do not hold."""
    host = mounted.parent / "host"
    code, out, err = ran("doctor", str(host), "--json")
    assert code == 1, err
    told = json.loads(out)
    assert str(mounted) in told["mounts of it"]
    assert told["locks"].startswith("NOT held between")
    assert told["kills and faults"].startswith("ok, ")
    assert json.loads(ran("doctor", str(mounted), "--json")[1])["file system"] == (
        "NOT a disk of this machine: FUSE"
    )
    assert list(host.iterdir()) == []


@pytest.mark.slow
def test_a_doctor_says_that_locks_hold_here(tmp_path: Path) -> None:
    code, out, err = ran("doctor", str(tmp_path), "--json")
    told = json.loads(out)
    assert told["locks"].startswith("hold here"), told
    assert told["two writers"].startswith("ok"), told
    assert told["kills and faults"].startswith("ok, "), told
    assert (code, err, list(tmp_path.iterdir())) == (0, "", [])
    assert ran("doctor", str(tmp_path / "gone"))[0] == 1


@pytest.mark.slow
def test_a_trial_finds_what_does_not_hold(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file system whose locks keep nobody out, and one that loses what was synced."""
    folder = tmp_path / "tried"
    folder.mkdir()
    (folder / "seen").write_text("tried", encoding="ascii")
    monkeypatch.setattr(place_trial, "_is_kept_out", lambda _: 9)
    assert place_trial._try_locks(folder, []).startswith("NOT held between")
    monkeypatch.setattr(place_trial, "_is_freed_by_death", lambda *_: False)
    monkeypatch.setattr(place_trial, "_is_kept_out", lambda _: 0)
    assert place_trial._try_locks(folder, []).startswith("NOT let go of")
    monkeypatch.setattr(place_trial, "_count_charges", lambda _: -1)
    assert place_trial._try_failures(folder).startswith("NOT whole")
    assert place_trial._try_writers(folder, []).startswith("NOT held apart")
