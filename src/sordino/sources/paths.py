"""The files of a table: found when it is opened, and the same at every question."""

import glob
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Final, TypeAlias, final

import pyarrow as pa

from sordino.errors import EngineFailure, InvalidParameter, show

Fields: TypeAlias = tuple[tuple[str, pa.DataType], ...]
Stamp: TypeAlias = tuple[int, int, int]

_WILD: Final = "*?["


def find_files(pattern: Any) -> tuple[str, ...]:
    """Return the absolute paths of the files that a path or a pattern names, sorted."""
    text = os.fspath(pattern)
    # A pattern may begin at the root, which Path.glob refuses.
    there = Path(text).exists()
    named = [text] if there else glob.glob(text, recursive=True)  # noqa: PTH207 so
    if not named:
        shown = text.partition("://")[0] + "://..." if "://" in text else text
        raise InvalidParameter("source", shown, "matches no file", "Check the path.")
    paths = tuple(sorted(str(Path(name).resolve()) for name in named))
    for path in paths:
        if not Path(path).is_file() or any(sign in path for sign in _WILD):
            raise InvalidParameter(
                "source",
                path,
                "must be a file, without *, ? or [ in its name",
                "Give its files by a pattern such as 'folder/*.parquet'.",
            )
    return paths


def have_endings(paths: Iterable[str], endings: Iterable[str]) -> bool:
    """Tell whether all paths end in one of some ways.

    >>> have_endings(["a.CSV", "b.tsv"], (".csv", ".tsv"))
    True
    """
    known = tuple(endings)
    return all(path.lower().endswith(known) for path in paths)


@final
class Files:
    """Files of one form: the same columns, in the same order, in each of them."""

    def __init__(
        self, paths: tuple[str, ...], form_of: Callable[[str], Fields]
    ) -> None:
        """Read the form of each file, and nothing else of it."""
        self.paths = paths
        self._form_of = form_of
        self.fields = form_of(paths[0])
        for path in paths[1:]:
            if form_of(path) != self.fields:
                raise InvalidParameter(
                    "source",
                    path,
                    f"must have the columns of {show(paths[0])}, in the same order",
                    "Open it as a table of its own.",
                )
        self._stamps = {path: _stamp(path) for path in paths}

    def check(self) -> None:
        """Refuse files that are not of the form that they had when they were opened.

        Columns are found by their places: in a file of another form they are others.
        """
        for path, stamp in self._stamps.items():
            with Path(path).open("rb"):
                pass  # it may be there, and not be ours to read
            if _stamp(path) != stamp and self._form_of(path) != self.fields:
                raise EngineFailure


def _stamp(path: str) -> Stamp:
    """Return what changes when a file is written or replaced."""
    status = Path(path).stat()
    return (status.st_ino, status.st_size, status.st_mtime_ns)
