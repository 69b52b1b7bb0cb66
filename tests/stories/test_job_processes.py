"""A job beside other processes, and with a person at the terminal."""

import json
import os
import pty
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import sordino as sd
from tests.effort import often
from tests.jobs import charged, folder, logged, ran

__all__ = ["folder"]

ROOT = Path(__file__).parent.parent.parent
SCHEDULERS = often(3, 6)


def start(*words: str, **options: Any) -> subprocess.Popen[str]:
    paths = os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
    return subprocess.Popen(
        [sys.executable, "-m", "sordino", *words],
        env=os.environ | {"PYTHONPATH": paths},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **options,
    )


@pytest.mark.slow
def test_schedulers_make_one_release(folder: Path) -> None:
    """At the same time: one charge, one who says so, and all have the same answer."""
    assert folder
    ran("check")
    logged("ages")
    words = "release", "wards", "--on", "2026-11-03", "--json"
    runs = [start(*words) for _ in range(SCHEDULERS)]
    ended = [process.communicate(timeout=120) for process in runs]
    assert [process.returncode for process in runs] == [0] * SCHEDULERS, ended
    lines = [json.loads(out) for out, _ in ended]
    assert {line["key"] for line in lines} == {"wards/2026-11"}
    assert sum(line["charged"] for line in lines) == 1
    assert [line["left"] for line in lines] == ["epsilon = 0.625"] * SCHEDULERS
    assert charged() == ["ages/once", "wards/2026-11"]
    assert all(ran("verify", name)[0] == 0 for name in lines[0]["files"])


def waiting_program(folder: Path) -> Callable[[], bool]:
    waits = f"""
    import time
    from pathlib import Path
    import sordino as sd

    def wait(row):
        Path({str(folder / "begun")!r}).touch()
        for _ in range(600):
            if Path({str(folder / "done")!r}).exists():
                break
            time.sleep(0.1)
        return {{"longer": row["days"]}}

    def ages():
        slowly = sd.udf(wait, returns={{"longer": "i64"}})
        visits = sd.table("visits").enforce(sd.MaxRowsPerID(3))
        return visits.with_columns(slowly).agg(
            n=sd.sum("longer", 0, 9, nulls="drop")
        )
    """
    (folder / "queries.py").write_text(textwrap.dedent(waits))
    return lambda: (folder / "begun").exists()


def once(
    happens: Callable[[], bool], process: subprocess.Popen[str], times: int = 1200
) -> bool:
    """Wait until something happens, as long as the process lives."""
    for _ in range(times):
        if happens() or process.poll() is not None:
            return happens()
        time.sleep(0.05)
    return False


@pytest.mark.slow
def test_an_interrupted_release_leaves_the_ledger_sound(folder: Path) -> None:
    """Ctrl-C amid the engine's work: 130, one charge, and the next run goes on."""
    begun = waiting_program(folder)
    # in a shell's background Ctrl-C is ignored, and children would inherit that
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    process = start("release", "ages", stdin=subprocess.DEVNULL)
    signal.signal(signal.SIGINT, before)
    assert once(begun, process), process.communicate()
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=120)
    assert process.returncode == 130
    assert "it is charged (record" in err
    assert "Traceback" not in err
    assert charged() == ["ages/once"]


def _leases() -> int:
    with sd.Ledger.at("clinic.ledger") as ledger:
        return sum(record.kind == "leased" for record in ledger.records())


@pytest.mark.slow
def test_a_second_run_leaves_the_retry_to_a_first_that_dies(folder: Path) -> None:
    """Who waits takes no retry before, and goes on when the first is killed."""
    begun = waiting_program(folder)
    first = start("release", "ages", stdin=subprocess.DEVNULL)
    assert once(begun, first), first.communicate()
    waiting = start("release", "ages", "--json", stdin=subprocess.DEVNULL)
    assert not once(lambda: False, waiting, times=40)
    assert waiting.poll() is None, waiting.communicate()
    assert _leases() == 0
    (folder / "done").touch()
    first.kill()
    first.communicate()
    out, err = waiting.communicate(timeout=120)
    assert (waiting.returncode, json.loads(out)["charged"]) == (0, False), err
    assert (charged(), _leases()) == (["ages/once"], 1)


def typed(words: list[str], answer: str) -> tuple[int, str]:
    """Run a command on a terminal at which a person types an answer."""
    ours, theirs = pty.openpty()
    options: dict[str, Any] = dict.fromkeys(("stdin", "stdout", "stderr"), theirs)
    paths = os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
    process = subprocess.Popen(
        [sys.executable, "-m", "sordino", *words],
        env=os.environ | {"PYTHONPATH": paths, "TERM": "xterm"},
        **options,
    )
    os.close(theirs)
    shown = b""
    for part in _parts(ours):
        if b"[y/N]" in part + shown[-8:] and answer:
            os.write(ours, answer.encode())
            answer = ""
        shown += part
    os.close(ours)
    return process.wait(timeout=120), shown.decode()


def _parts(terminal: int) -> Iterator[bytes]:
    """Yield what is shown on a terminal, until it is let go."""
    while True:
        try:
            part = os.read(terminal, 4096)
        except OSError:
            return
        if not part:
            return
        yield part


@pytest.mark.slow
def test_a_person_is_asked_before_the_charge(folder: Path) -> None:
    """The price first; no is no; yes is charged, and told in colour."""
    assert folder
    code, shown = typed(["release", "wards", "--on", "2026-11-03"], "n\n")
    assert code == 1
    assert "This is charged for good, of epsilon = 1 left. Continue? [y/N]" in shown
    assert "nothing was charged" in shown
    assert charged() == []
    code, shown = typed(["release", "wards", "--on", "2026-11-03"], "y\n")
    assert (code, "\x1b[32mcharged\x1b[0m" in shown) == (0, True)
    assert charged() == ["wards/2026-11"]


@pytest.mark.slow
def test_pipes_have_data_alone(folder: Path) -> None:
    """No question, no colour, no progress; a reader that leaves ends it quietly."""
    assert folder
    process = start("release", "wards", "--on", "2026-11-03", stdin=subprocess.DEVNULL)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0
    assert out.startswith("ward ")
    assert "\x1b" not in out + err
    reader = start("ledger", "export", "clinic.ledger")
    assert reader.stdout is not None
    reader.stdout.close()
    assert reader.wait(timeout=120) == 0
    assert reader.stderr is not None
    assert not reader.stderr.read()
    reader.stderr.close()
