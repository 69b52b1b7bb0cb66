"""Ask a sample of what the night asks: files of slow tests, drawn by a seed.

    python -m tests.evening --minutes 3
    python -m tests.evening --minutes 3 --seed 20261123

Each law draws two hundred examples, by the seed, and what only the night has time for
is asked. The seed is the date unless one is given; it is printed, and repeats a
failure.
"""

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path

NOTHING_TO_ASK = 5
"""What pytest ends with if a file has no such test."""


def files() -> list[Path]:
    """Return the files that mark a test as slow."""
    every = sorted(Path("tests").rglob("test_*.py"))
    return [path for path in every if "mark.slow" in path.read_text(encoding="utf-8")]


def asked(path: Path, seed: int, seconds: float) -> int | None:
    """Run the slow tests of a file; None if the time was over before they ended."""
    command = [sys.executable, "-m", "pytest", "-q", "-n", "0", "-m", "slow"]
    command += ["-p", "no:cacheprovider", f"--hypothesis-seed={seed}", str(path)]
    moved = {"SORDINO_PROFILE": "evening", "SORDINO_SEED": str(seed)}
    with tempfile.TemporaryFile() as log:
        run = subprocess.Popen(command, env=os.environ | moved, stdout=log, stderr=log)
        try:
            outcome = run.wait(seconds)
        except subprocess.TimeoutExpired:
            run.send_signal(signal.SIGINT)  # so that it stops the servers it started
            run.wait()
            return None
        if outcome not in {0, NOTHING_TO_ASK}:
            log.seek(0)
            say(log.read().decode(errors="replace")[-20_000:])
            words = " ".join(f"{name}={value}" for name, value in moved.items())
            say(f"repeat: {words} {' '.join(command[1:])}")
    return outcome


def say(text: str) -> None:
    """Write a line at once, so that it stands in the log of what was killed, too."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def main(words: list[str]) -> int:
    """Ask drawn files until the time is over; return 1 if one of them failed."""
    parser = argparse.ArgumentParser(prog="python -m tests.evening")
    parser.add_argument("--minutes", type=float, default=3.0)
    parser.add_argument("--seed", type=int, default=None)
    given = parser.parse_args(words)
    # in a shell's background it is ignored, and what runs here would inherit that
    signal.signal(signal.SIGINT, signal.default_int_handler)
    seed = given.seed or int(f"{datetime.now(tz=UTC):%Y%m%d}")
    drawn = files()
    random.Random(seed).shuffle(drawn)
    say(f"a sample of the night by the seed {seed}")
    end, failed = time.monotonic() + 60 * given.minutes, False
    for path in drawn:
        outcome = asked(path, seed, max(end - time.monotonic(), 1.0))
        say(f"{path}: {'the time is over' if outcome is None else outcome}")
        failed |= outcome not in {None, 0, NOTHING_TO_ASK}
        if time.monotonic() > end:
            break
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
