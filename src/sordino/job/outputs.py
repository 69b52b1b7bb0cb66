"""The files that a release becomes, each of them whole or not at all."""

from collections.abc import Callable, Mapping
from pathlib import Path
from tempfile import TemporaryFile
from typing import Final

from sordino.errors import InvalidJob, OutputFailure, SordinoError
from sordino.ledger.ledger import Ledger
from sordino.release.release import Release

FORMATS: Final[Mapping[str, Callable[[Release, Path], None]]] = {
    "parquet": Release.to_parquet,
    "csv": Release.to_csv,
}
"""What writes each kind of file, by the ending of its name."""
USUAL: Final = ("parquet", "csv")


def try_folder(folder: Path) -> None:
    """Refuse a folder in which nothing can be written, before anything is charged."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with TemporaryFile(dir=folder) as file:
            file.write(b"\0" * 4096)
    except OSError:
        raise InvalidJob(
            str(folder), "cannot be written to", "Name another: --out FOLDER."
        ) from None


def write_outputs(
    releases: Mapping[str, Release], stem: Path, formats: tuple[str, ...]
) -> list[Path]:
    """Write each release in each format beside a stem; return the files."""
    return [
        _write_file(release, path_of(stem, name, kind), kind)
        for name, release in releases.items()
        for kind in formats
    ]


def path_of(stem: Path, name: str, kind: str) -> Path:
    """Return where an answer goes: one of several has its name in the file's.

    >>> path_of(Path("out/wards-2026-11"), "by_age", "csv").as_posix()
    'out/wards-2026-11.by_age.csv'
    """
    return stem.with_name(".".join(filter(None, (stem.name, name, kind))))


def record_files(ledger: Ledger, key: str, paths: list[Path], who: str) -> None:
    """Let the ledger know what was published."""
    for path in paths:
        ledger.publish(key, path, who=who)


def _write_file(release: Release, path: Path, kind: str) -> Path:
    """Write one file; the disk's own words stay away."""
    try:
        FORMATS[kind](release, path)
    except (SordinoError, OSError):
        raise OutputFailure(str(path)) from None
    return path
