"""Paths and globs; text files as streams of UTF-8.

Kernel: totals.
"""

import codecs
import glob
import io
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
    status = Path(path).stat()
    return (status.st_ino, status.st_size, status.st_mtime_ns)


ENCODINGS: Final = (
    "utf-8",
    "utf-16",
    "utf-16-le",
    "utf-16-be",
    "latin-1",
    "iso-8859-2",
    "iso-8859-15",
    "cp1250",
    "cp1251",
    "cp1252",
    "cp437",
    "cp850",
    "mac-roman",
    "cp932",
    "gb18030",
    "big5",
    "euc-kr",
)
_MARK: Final = "\ufeff"


@final
class TextStream(io.RawIOBase):
    """The bytes of a text in UTF-8, without a byte order mark and its first lines.

    At bytes that are none of the encoding it is broken: what is before them can still
    be read, then `readinto` raises.
    """

    def __init__(self, path: str, encoding: str, block: int, skip: int) -> None:
        super().__init__()
        self._file = pa.input_stream(path, compression="detect")
        self._decoder = codecs.getincrementaldecoder(encoding)()
        self._block, self._skip = block, skip
        self._rest = b""
        self._begun = self._ended = False
        self.broken = False
        self.line = 1
        """The line in which the next block begins."""

    def readable(self) -> bool:
        """True: Arrow asks it of any stream."""
        return True

    def next_block(self) -> bytes:
        """Return the next bytes, none at the end and where the stream is broken."""
        while not self._ended:
            text = self._decode(self._file.read(self._block))
            if not self._begun:
                text = text.removeprefix(_MARK)
                self._begun = bool(text)
            self.line += text.count("\n")
            *skipped, text = text.split("\n", self._skip)
            self._skip -= len(skipped)
            if text and not self._skip:
                return text.encode()
        return b""

    def readinto(self, room: Any) -> int:
        """Fill some room and return how much was filled, 0 at the end."""
        self._rest = self._rest or self.next_block()
        if self.broken and not self._rest:
            raise UnicodeError
        size = min(len(room), len(self._rest))
        room[:size], self._rest = self._rest[:size], self._rest[size:]
        return size

    def close(self) -> None:
        """Close the file, too."""
        self._file.close()
        super().close()

    def _decode(self, read: bytes) -> str:
        before = self._decoder.getstate()
        self._ended = not read
        try:
            return self._decoder.decode(read, final=self._ended)
        except UnicodeDecodeError as error:
            self._ended = self.broken = True
            self._decoder.setstate(before)
            good = max(0, error.start - len(before[0]))
            return self._decoder.decode(read[:good])
