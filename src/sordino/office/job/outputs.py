"""The files that a release becomes; how often it is made.

>>> [calendar.name_of(date(2026, 11, 22)) for calendar in SCHEDULES.values()]
['2026-11-22', '2026-W47', '2026-11', '2026-Q4', '2026']
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import date
from functools import partial
from pathlib import Path
from tempfile import TemporaryFile
from typing import Final

from sordino.errors import InvalidJob, OutputFailure, SordinoError, show
from sordino.ledger.ledger import Ledger
from sordino.numbers.calendar import CALENDARS, Calendar
from sordino.office.label.files import BESIDE
from sordino.release.release import Release
from sordino.release.storage import LINK

FORMATS: Final[Mapping[str, Callable[[Release, Path], None]]] = {
    "parquet": Release.to_parquet,
    "csv": Release.to_csv,
    "spreadsheet.csv": partial(Release.to_csv, spreadsheet=True),
    "html": lambda release, path: release.report(path, title=path.stem),
}
"""What writes each kind of file, by the ending of its name."""
USUAL: Final = ("parquet", "csv")


def try_folder(folder: Path) -> None:
    """Refuse a folder in which nothing can be written, before anything is charged."""
    try:  # a folder that exists may be read-only, or its disk full: only writing tells
        folder.mkdir(parents=True, exist_ok=True)
        with TemporaryFile(dir=folder) as file:
            file.write(b"\0" * 4096)
    except (OSError, ValueError):
        raise InvalidJob(
            show(str(folder)), "cannot be written to", "Name another: --out FOLDER."
        ) from None


def output_paths(
    stem: Path, names: Iterable[str], formats: Iterable[str]
) -> list[Path]:
    """Files that answers become."""
    return [path_of(stem, name, kind) for name in names for kind in formats]


def refuse_taken(ledger: Ledger, key: str, paths: list[Path]) -> None:
    """Refuse to write over a link, or over what the ledger has of another key."""
    # behind a link may lie somebody else's file (ADR 239)
    for path in filter(Path.is_symlink, (*paths, *map(_label_path, paths))):
        raise InvalidJob(str(path), LINK, "Take it away, or name another folder.")
    for path in paths:
        known = ledger.publication(path) if path.is_file() else None
        entry = None if known is None else ledger.entry(key)
        if known is not None and (entry is None or entry.number != known.charge):
            raise InvalidJob(
                str(path),
                f"is the file of another release, record {known.charge}",
                "Name another period, or another folder.",
            )


def write_outputs(
    releases: Mapping[str, Release], stem: Path, formats: tuple[str, ...]
) -> list[Path]:
    """Write each release in each format, named after a stem; return the files."""
    return [
        _write_file(release, path_of(stem, name, kind), kind)
        for name, release in releases.items()
        for kind in formats
    ]


def path_of(stem: Path, name: str, kind: str) -> Path:
    """Path of an answer: one of several has its name in the file's.

    >>> path_of(Path("out/wards-2026-11"), "by_age", "csv").as_posix()
    'out/wards-2026-11.by_age.csv'
    """
    return stem.with_name(".".join(filter(None, (stem.name, name, kind))))


def record_files(ledger: Ledger, key: str, paths: list[Path], who: str) -> None:
    """Record published files, and the labels that lie next to them."""
    for path in (*paths, *filter(Path.is_file, map(_label_path, paths))):
        ledger.publish(key, path, who=who)


def _label_path(path: Path) -> Path:
    return path.with_name(path.name + BESIDE)


def _write_file(release: Release, path: Path, kind: str) -> Path:
    try:  # the words of the disk stay away: they name folders of this machine
        FORMATS[kind](release, path)
    except (SordinoError, OSError, ValueError):
        raise OutputFailure(str(path)) from None
    return path


SCHEDULES: Final[Mapping[str, Calendar]] = {
    "daily": CALENDARS["day"],
    "weekly": CALENDARS["week"],
    "monthly": CALENDARS["month"],
    "quarterly": CALENDARS["quarter"],
    "yearly": CALENDARS["year"],
}
"""The periods of every schedule, by UTC."""


def starts(calendar: Calendar, day: date, until: date) -> Iterator[date]:
    """Yield the day, and the first day of each period after it, to a last one."""
    while day <= until:
        yield day
        day = calendar.next_start(day)
