"""How many files private tables are read from, and when the newest was written.

These are facts of whoever keeps the files, for whoever keeps the ledger.
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path, PurePath
from typing import Any

from sordino.errors import InvalidParameter
from sordino.ledger.entries import FilesRead
from sordino.session.catalog import private_sources
from sordino.sources.csv_format import Csv
from sordino.sources.paths import find_files


def files_behind(tables: Mapping[str, Any]) -> FilesRead | None:
    """Return the files of all private tables, None if one is not made of files."""
    try:
        paths = {
            path
            for source in private_sources(tables)
            for pattern in _patterns(source)
            for path in find_files(pattern)
        }
        times = [Path(path).stat().st_mtime for path in paths]
        return FilesRead(len(times), datetime.fromtimestamp(max(times), UTC))
    except (InvalidParameter, OSError, OverflowError, TypeError, ValueError):
        return None  # rows in memory, of a server, or where a cluster alone can look


def _patterns(source: Any) -> list[Any]:
    """Return the paths and patterns of a source; what is not of files is refused."""
    place = source.path if isinstance(source, Csv) else source
    listed = place if isinstance(place, list) else [place]
    if not all(isinstance(path, (str, PurePath)) for path in listed):
        raise TypeError
    return listed
