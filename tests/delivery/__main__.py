"""Build what is published, and try it where the source is not.

    python -m tests.delivery               # build dist/, try the wheel on this Python
    python -m tests.delivery --pythons     # and on every Python of pyproject.toml

A Python that is not found is said so, loudly: then it was not tried.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.delivery import places
from tests.delivery.building import TREE, built


def main(words: list[str]) -> int:
    """Build, try, and say what was tried; an error ends it."""
    reader = argparse.ArgumentParser(prog="python -m tests.delivery")
    reader.add_argument("--pythons", action="store_true", help="try every Python")
    asked = reader.parse_args(words)
    folder = TREE / "dist"
    shutil.rmtree(folder, ignore_errors=True)
    wheel = built(folder).wheel
    with tempfile.TemporaryDirectory(prefix="sordino-wheel-") as place:
        _say(wheel.name, tried(places.linked(wheel, Path(place) / "here"), wheel))
        if asked.pythons:
            every(wheel, Path(place))
    return 0


def every(wheel: Path, place: Path) -> None:
    """Try the wheel on each Python that is found, and name those that are not."""
    absent = []
    for version in places.versions():
        found = places.interpreter(version)
        if found is None:
            absent.append(version)
            continue
        python = places.fetched(wheel, found, place / version)
        _say(f"Python {version}", tried(python, wheel))
    for version in absent:
        _say(f"Python {version}", "NOT FOUND on this machine, NOT TRIED")


def tried(python: Path, wheel: Path) -> str:
    """Return what the first hour of a user says, in a folder far from the source."""
    version = wheel.name.split("-")[1]
    script = shutil.copy(Path(__file__).with_name("first_hour.py"), python.parent)
    done = subprocess.run(
        [str(python), "-W", "error", str(script), version],
        cwd=python.parent,
        env={"PATH": str(python.parent), "HOME": str(python.parent)},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise SystemExit(f"{wheel.name} fails on {python}:\n{done.stdout}{done.stderr}")
    return done.stdout.strip()


def _say(*words: str) -> None:
    """Print a line at once."""
    sys.stdout.write("  ".join(words) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
