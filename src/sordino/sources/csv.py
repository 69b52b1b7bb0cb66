"""Rows in text files: fields are text, and become what their column is declared.

No type is ever guessed from rows. When files are opened they are looked at once from
end to end: one that is not well-formed is refused, with the line, and one that has
changed since is not read.

| in the file | what becomes of it |
|---|---|
| a field that spells a missing value, without quotes | missing |
| a field in quotes | the text within, never missing |
| a cell that is not of its column's type | missing, see `sordino.expressions.cells` |
"""

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, TypeAlias, final

import pyarrow as pa
import pyarrow.csv as pa_csv

from sordino.errors import EngineFailure, InvalidParameter, show
from sordino.schema import Column
from sordino.sources.base import NOTHING, AbstractSource, internal
from sordino.sources.csv_format import Csv
from sordino.sources.paths import Fields, find_files
from sordino.sources.text_stream import TextStream
from sordino.sources.wellformed import LONGEST, Fault, Shape, first_fault

Stamp: TypeAlias = tuple[int, ...]

COMMAS: Final = (".csv", ".csv.gz")
TABS: Final = (".tsv", ".tsv.gz")
_OTHERS: Final = (";", "\t", "|", ",")
_BLOCK: Final = 1 << 20
"""Bytes of a file that are read at once."""


@final
class CSVSource(AbstractSource):
    """Text files of one dialect, with the same header."""

    untyped = True

    def __init__(self, dialect: Csv, declared: Mapping[str, Column]) -> None:
        """Read the headers, and look whether the files are well-formed."""
        self.declared = dialect.columns
        self.reading = dialect.spelling.value_of
        self._dialect = dialect
        self._stamps: dict[str, Stamp] = {}
        self._names: tuple[str, ...] = ()
        for path in _paths(dialect.path):
            self._look(path, {**dialect.columns, **declared})
        self.fields = _texts(self._names)

    def hand_over(self, places: Sequence[int]) -> pa.RecordBatchReader:
        """Return a reader of the columns, to be read once."""
        self.check()
        names = internal(places)
        fields = [(name, pa.string()) for name in names] or [(NOTHING, pa.bool_())]
        return pa.RecordBatchReader.from_batches(
            pa.schema(fields), self._batches(names)
        )

    def check(self) -> None:
        """Refuse files that are not those that were looked at."""
        for path, stamp in self._stamps.items():
            if _stamp(path) != stamp:
                raise EngineFailure

    def read(self, places: Sequence[int]) -> pa.Table:
        """Return the columns at some places."""
        return self.hand_over(places).read_all()

    def _look(self, path: str, declared: Mapping[str, Column]) -> None:
        """Refuse a file that is not well-formed, or has another header."""
        before = _stamp(path)
        names = self._header(path)
        _refuse_delimiter(path, names, self._dialect, declared)
        if self._names not in {(), names}:
            raise InvalidParameter(
                "source",
                path,
                f"must have the columns of {show(next(iter(self._stamps)))}, in the "
                "same order",
                "Open it as a table of its own.",
            )
        self._names = names
        fault = self._fault(path, len(names))
        if fault is None and _stamp(path) != before:
            fault = Fault(1, "changes while it is read")
        if fault is not None:
            raise _refusal(path, fault)
        self._stamps[path] = before

    def _header(self, path: str) -> tuple[str, ...]:
        """Return the names in the first record of a file."""
        unquoted = self._dialect.quote is None
        with self._stream(path) as stream:
            text = io.TextIOWrapper(io.BufferedReader(stream), "utf-8", newline="")
            records = csv.reader(
                text,
                delimiter=self._dialect.delimiter,
                quotechar=self._dialect.quote,
                quoting=csv.QUOTE_NONE if unquoted else csv.QUOTE_MINIMAL,
                strict=True,
            )
            try:
                names = next(records, [])
            except UnicodeError:
                raise _refusal(path, _none(1, self._dialect)) from None
            except (csv.Error, OSError):
                names = []
        if not names:
            fault = Fault(1, "has no header that can be read")
            raise _refusal(path, fault)
        return tuple(names)

    def _fault(self, path: str, fields: int) -> Fault | None:
        """Return why a file is not well-formed, or None."""
        shape = Shape(self._dialect.delimiter, self._dialect.quote, fields)
        with self._stream(path) as stream:
            try:
                fault = first_fault(iter(stream.next_block, b""), shape)
            except OSError:
                return Fault(stream.line, "cannot be read further")
            return _none(stream.line, self._dialect) if stream.broken else fault

    def _stream(self, path: str) -> TextStream:
        """Return a file as UTF-8."""
        return TextStream(path, self._dialect.encoding, _BLOCK)

    def _batches(self, names: list[str]) -> Iterator[pa.RecordBatch]:
        """Yield the rows of all files, batch after batch."""
        for path in self._stamps:
            header = 1
            for batch in self._records(path, names or internal([0])):
                rows = batch.slice(header)
                header = max(0, header - batch.num_rows)
                nothing = pa.nulls(rows.num_rows, pa.bool_())
                yield rows if names else pa.record_batch({NOTHING: nothing})
        self.check()

    def _records(self, path: str, names: list[str]) -> pa_csv.CSVStreamingReader:
        """Return a reader of some columns of a file, the header as a record."""
        whole = internal(range(len(self._names)))
        return pa_csv.open_csv(
            pa.PythonFile(io.BufferedReader(self._stream(path), _BLOCK), "r"),
            pa_csv.ReadOptions(column_names=whole, block_size=LONGEST),
            pa_csv.ParseOptions(
                delimiter=self._dialect.delimiter,
                quote_char=self._dialect.quote or False,
                newlines_in_values=self._dialect.quote is not None,
                ignore_empty_lines=len(whole) > 1,
            ),
            pa_csv.ConvertOptions(
                column_types=dict.fromkeys(whole, pa.string()),
                include_columns=names,
                null_values=self._dialect.null,
                strings_can_be_null=True,
                quoted_strings_can_be_null=False,
            ),
        )


def _texts(names: tuple[str, ...]) -> Fields:
    """Return columns of text."""
    return tuple((name, pa.string()) for name in names)


def of_csv(csv: Csv, declared: Mapping[str, Column]) -> AbstractSource:
    """Return a source of files whose dialect is declared."""
    return CSVSource(csv, declared)


def of_commas(paths: tuple[str, ...], declared: Mapping[str, Column]) -> AbstractSource:
    """Return a source of files with commas."""
    return CSVSource(Csv(list(paths)), declared)


def of_tabs(paths: tuple[str, ...], declared: Mapping[str, Column]) -> AbstractSource:
    """Return a source of files with tabs."""
    return CSVSource(Csv(list(paths), delimiter="\t"), declared)


def _paths(source: Any) -> tuple[str, ...]:
    """Return the files of a path, a pattern or a list of them."""
    listed = source if isinstance(source, list) else [source]
    for path in listed:
        if not isinstance(path, (str, Path)):
            raise InvalidParameter(
                "path", path, "must be a path, a pattern or a list", 'Try "visits.csv".'
            )
    paths = tuple(dict.fromkeys(path for name in listed for path in find_files(name)))
    if not paths:
        raise InvalidParameter("path", source, "matches no file", "Check the path.")
    return paths


def _stamp(path: str) -> Stamp:
    """Return what changes when a file is written or replaced."""
    status = Path(path).stat()
    return (
        status.st_dev,
        status.st_ino,
        status.st_size,
        status.st_mtime_ns,
        status.st_ctime_ns,
    )


def _none(line: int, dialect: Csv) -> Fault:
    """Return the fault of bytes that are not valid in an encoding."""
    hint = "; Excel writes cp1252" if dialect.encoding == "utf-8" else ""
    return Fault(line, f"has bytes that are no {dialect.encoding}{hint}")


def _refuse_delimiter(
    path: str, names: tuple[str, ...], dialect: Csv, declared: Mapping[str, Column]
) -> None:
    """Refuse a delimiter that does not divide a header which another one divides."""
    other = next((letter for letter in _OTHERS if letter in names[0]), None)
    if len(names) > 1 or other is None or names[0] in declared:
        return
    raise InvalidParameter(
        "delimiter",
        dialect.delimiter,
        f"does not split the header {show(names[0])}",
        f"Try sd.Csv({show(Path(path).name)}, delimiter={other!r}).",
    )


def _refusal(path: str, fault: Fault) -> InvalidParameter:
    """Return the refusal of a file, for its curator: the line, and no cell of it."""
    return InvalidParameter(
        "source",
        path,
        f"is malformed: line {fault.line:,} {fault.why}",
        "Repair it, or say how it is written: sd.Csv(path, delimiter=..., quote=..., "
        "encoding=...).",
    )
