"""Environments in which nothing is but the wheel and what it declares to need."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import Distribution, distribution
from pathlib import Path
from typing import Final

from packaging.requirements import Requirement

from tests.delivery.building import TREE

PINS: Final = TREE / "requirements" / "pins.txt"
_CLASSIFIER: Final = re.compile(r"Programming Language :: Python :: (3\.\d+)")


def linked(wheel: Path, place: Path) -> Path:
    """Return the Python of a new environment with the wheel and links to its needs.

    What it needs is taken from the packages of this very Python, by their metadata: no
    index is asked, and no package is there that the wheel does not declare.
    """
    subprocess.run(
        [sys.executable, "-m", "venv", "--without-pip", str(place)], check=True
    )
    python = place / "bin" / "python"
    _pip("--python", str(python), "install", "--no-index", "--no-deps", str(wheel))
    (packages,) = place.glob("lib/python*/site-packages")
    (metadata,) = packages.glob("sordino-*.dist-info")
    for found in needed(Distribution.at(metadata)):
        _link(found, packages)
    return python


def fetched(wheel: Path, interpreter: Path, place: Path) -> Path:
    """Return the Python of a new environment, its packages taken from the index."""
    subprocess.run([str(interpreter), "-m", "venv", str(place)], check=True)
    python = place / "bin" / "python"
    _pip("--python", str(python), "install", "-c", str(PINS), str(wheel))
    return python


def versions() -> list[str]:
    """Return the versions of Python that pyproject.toml names.

    >>> versions()[0]
    '3.11'
    """
    project = tomllib.loads((TREE / "pyproject.toml").read_text("utf-8"))["project"]
    matches = (_CLASSIFIER.fullmatch(one) for one in project["classifiers"])
    return [match[1] for match in matches if match]


def interpreter(version: str) -> Path | None:
    """Return a Python of a version that runs on this machine, None where none is.

    A name on the PATH may be the shim of a version manager that has no such version.
    """
    for path in _candidates(f"python{version}"):
        script = "import sys, ensurepip; print('%d.%d' % sys.version_info[:2])"
        asked = subprocess.run(
            [str(path), "-c", script], capture_output=True, text=True, check=False
        )
        if asked.returncode == 0 and asked.stdout.strip() == version:
            return path
    return None


def needed(root: Distribution, extra: str = "") -> list[Distribution]:
    known: dict[str, Distribution] = {}
    waiting = [(root, extra)]
    while waiting:
        found, wish = waiting.pop()
        for asked in map(Requirement, found.requires or ()):
            wanted = asked.marker is None or asked.marker.evaluate({"extra": wish})
            if wanted and asked.name not in known:
                known[asked.name] = distribution(asked.name)
                waiting += [(known[asked.name], one) for one in ("", *asked.extras)]
    return list(known.values())


def _candidates(name: str) -> Iterator[Path]:
    """Yield where a Python may be: on the PATH, and where managers of versions keep."""
    if (on_path := shutil.which(name)) is not None:
        yield Path(on_path)
    home = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    for kept in (home / "versions", Path.home() / ".local/share/uv/python"):
        yield from sorted(kept.glob(f"*/bin/{name}"))


def _link(found: Distribution, packages: Path) -> None:
    """Link what a distribution installed, its metadata included."""
    tops = {Path(str(file)).parts[0] for file in found.files or ()}
    for top in tops - {"..", "__pycache__"}:
        if not (packages / top).exists():
            (packages / top).symlink_to(Path(str(found.locate_file(top))))


def _pip(*words: str) -> None:
    """Run the installer of this environment."""
    quiet = ("--disable-pip-version-check", "--quiet")
    subprocess.run([sys.executable, "-m", "pip", *quiet, *words], check=True)
