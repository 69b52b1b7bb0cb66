"""Building what is published: the archive of the source, and the wheel from that."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Final, final

TREE: Final = Path(__file__).resolve().parents[2]
_FIXED: Final = {"SOURCE_DATE_EPOCH": "1600000000"}
"""A time that is written into the archives: one tree makes the same bytes each time."""


@final
@dataclass(frozen=True)
class Built:
    """The two files of a release."""

    source: Path
    wheel: Path


def built(folder: Path) -> Built:
    """Build both in a folder: the wheel from the archive, so neither lacks a file."""
    _hatchling(TREE, "sdist", folder)
    (source,) = folder.glob("*.tar.gz")
    with tempfile.TemporaryDirectory(prefix="sordino-source-") as place:
        with tarfile.open(source) as archive:
            archive.extractall(place, filter="data")
        (unpacked,) = Path(place).iterdir()
        _hatchling(unpacked, "wheel", folder)
    (wheel,) = folder.glob("*.whl")
    return Built(source, wheel)


def _hatchling(tree: Path, kind: str, folder: Path) -> None:
    subprocess.run(
        [
            *(sys.executable, "-m", "hatchling", "build"),
            *("--target", kind, "--directory", str(folder)),
        ],
        cwd=tree,
        env=os.environ | _FIXED,
        check=True,
        stdout=subprocess.DEVNULL,
    )
