"""What tests of ledgers share."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

MEMORY = Path("/dev/shm")  # noqa: S108 a disk in memory, where there is one


@pytest.fixture(name="folder")
def quick_folder(tmp_path: Path) -> Iterator[Path]:
    """Return a folder on a disk in memory: a kill loses nothing the kernel has."""
    if not MEMORY.is_dir():
        yield tmp_path
        return
    with tempfile.TemporaryDirectory(dir=MEMORY) as name:
        yield Path(name)
