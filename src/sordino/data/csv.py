"""Rows in text files: fields are text, and become what their column is declared.

No type is ever guessed from rows. When files are opened they are looked at once from
end to end: one that is not well-formed is refused, with the line, and one that has
changed since is not read.

>>> Csv("visits.csv", columns={"day": "date"}, delimiter=";", date="%d.%m.%Y").delimiter
';'

| a file is well-formed if |
|---|
| its bytes are of its encoding, to the end |
| a quote opens a field at its begin, ends it before a delimiter or a line's end, and is doubled within it |
| every record has as many fields as the header; a blank line is none, but in a file of one column |
| a carriage return stands before a line feed, or within quotes |
| no record is longer than 4 MiB |

What a reader makes of any other file depends on the reader: an unclosed quote swallows
the records that follow. Blocks of bytes end at line feeds outside of quotes, so each is
a whole number of records, whatever its size.

| in the file | what becomes of it |
|---|---|
| a field that spells a missing value, without quotes | missing |
| a field in quotes | the text within, never missing |
| a cell that is not of its column's type | missing, see `sordino.expressions.cells` |

Kernel: totals.
"""  # noqa: E501

import csv
import io
import unicodedata
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeAlias, final

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
from numpy.typing import NDArray

from sordino.data.files import ENCODINGS, Fields, TextStream, find_files
from sordino.data.source import NOTHING, AbstractSource, internal
from sordino.errors import EngineFailure, InvalidParameter, show
from sordino.expressions.casts import ISO_DATE, ISO_TIME, Layout, Spelling, fold_ascii
from sordino.expressions.schema import Column, read_columns
from sordino.expressions.text import BLANKS
from sordino.numbers import arguments
from sordino.numbers.frozen import fill, hides

_DECIMALS: Final = (".", ",")
_THOUSANDS: Final = (".", ",", "'", "\u2019", " ", "\u00a0", "\u202f")
_OF_MONEY: Final = {"Lu", "Ll", "Lo", "Sc"}
MOST_SKIPPED: Final = 1_000
"""A header further below is not looked for."""
_LONGEST: Final = 100
_PLAIN: Final = Spelling()


@hides("spelling")
@final
@dataclass(frozen=True, init=False, eq=False)
class Csv:
    """Text files with a header, and how they are written.

    | argument | what it says |
    |---|---|
    | `path` | a path, a pattern or a list of them; `.gz`, `.bz2` and `.zst` are unpacked |
    | `columns` | the types of the columns that are used, as for a table |
    | `delimiter` | what stands between fields: one ASCII sign |
    | `quote` | what stands around fields that hold one; None where nothing does |
    | `encoding` | "utf-8", "latin-1", "cp1252", "utf-16", ...; never guessed |
    | `decimal` | "." or "," in numbers |
    | `thousands` | what parts the digits of numbers into threes, such as "." or " " |
    | `currency` | what may stand before or behind a number, such as ("€", "EUR") |
    | `date`, `time` | formats such as "%d.%m.%Y" and "%d.%m.%Y %H:%M"; None is ISO 8601 |
    | `true`, `false` | the words of truths, in small or capital letters |
    | `null` | what stands, without quotes, for a missing value |
    | `skip` | how many lines stand above the header |
    | `header` | a column by whose name the header is found, whatever stands above it |

    >>> Csv("visits.csv", columns={"days": "i64"}, decimal=";")
    Traceback (most recent call last):
    sordino.errors.InvalidParameter: decimal must be one of ".", ",", got ';'. Try decimal=".".
    """  # noqa: E501 a table

    path: Any
    columns: Mapping[str, Column] = field(repr=False)
    delimiter: str
    quote: str | None
    encoding: str
    null: tuple[str, ...]
    spelling: Spelling = field(repr=False)
    skip: int
    header: str | None

    def __init__(  # noqa: PLR0913 by keyword, and most are left out
        self,
        path: Any,
        columns: Mapping[str, Any] | None = None,
        *,
        delimiter: str = ",",
        quote: str | None = '"',
        encoding: str = "utf-8",
        decimal: str = ".",
        date: str | None = None,
        time: str | None = None,
        true: str | Iterable[str] = _PLAIN.true,
        false: str | Iterable[str] = _PLAIN.false,
        null: str | Iterable[str] = "",
        thousands: str | None = None,
        currency: str | Iterable[str] | None = None,
        skip: int = 0,
        header: str | None = None,
    ) -> None:
        point = arguments.choice(_DECIMALS, decimal=decimal)
        spelling = Spelling(
            point,
            ISO_DATE if date is None else Layout.of("date", date, clock=False),
            ISO_TIME if time is None else Layout.of("time", time, clock=True),
            *read_truths(true, false),
            "" if thousands is None else _thousands(thousands, point),
            () if currency is None else _currency(currency),
        )
        sign = _sign(delimiter=delimiter)
        mark = None if quote is None else _sign(quote=quote)
        if mark == sign:
            raise InvalidParameter(
                "quote", quote, "is the delimiter", 'Try quote="\'", or quote=None.'
            )
        fill(
            self,
            path=path,
            columns=read_columns(columns),
            delimiter=sign,
            quote=mark,
            encoding=arguments.choice(ENCODINGS, encoding=encoding),
            null=read_texts(null=null),
            spelling=spelling,
            skip=read_skip(skip, header),
            header=None if header is None else arguments.text(header=header),
        )


def _thousands(sign: Any, point: str) -> str:
    if sign == point:
        raise InvalidParameter(
            "thousands", sign, "is also the decimal sign", 'Try decimal=",".'
        )
    return arguments.choice(_THOUSANDS, thousands=sign)


def _currency(raw: Any) -> tuple[str, ...]:
    """Return texts that no number has in it, so that none is changed without them."""
    texts = read_texts(currency=raw)
    for text in texts:
        signs = {unicodedata.category(sign) for sign in text.replace(".", "")}
        in_numbers = any(text.lower() in word for word in ("e", "infinity", "nan"))
        if not signs or not signs <= _OF_MONEY or in_numbers:
            raise InvalidParameter(
                "currency",
                text,
                "must be letters or currency signs that occur in no number",
                'Try currency="$" or currency=("€", "EUR").',
            )
    return texts


def _sign(**argument: Any) -> str:
    ((name, sign),) = argument.items()
    single = isinstance(sign, str) and len(sign) == 1 and sign.isascii()
    if not single or sign.isalnum() or sign in "\r\n\0.+-":
        raise InvalidParameter(
            name,
            sign,
            "must be a single ASCII character that occurs in no number",
            'Try delimiter=";" or delimiter="\\t".',
        )
    return str(sign)


def read_texts(**argument: Any) -> tuple[str, ...]:
    """Return a text or several, once each."""
    ((name, value),) = argument.items()
    listed = (value,) if isinstance(value, str) else value
    texts = tuple(listed) if isinstance(listed, (tuple, list, set, frozenset)) else ()
    fit = all(isinstance(text, str) and len(text) <= _LONGEST for text in texts)
    if not texts or len(texts) > _LONGEST or not fit:
        raise InvalidParameter(
            name, value, "must be text or a list of texts", f'Try {name}=("NA", "").'
        )
    return tuple(dict.fromkeys(texts))


def read_truths(true: Any, false: Any) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the words of truths in small letters; a word has one meaning."""
    words = _words(true=true), _words(false=false)
    for word in set(words[0]) & set(words[1]):
        raise InvalidParameter(
            "true", word, "is also listed in false", "Give it one meaning."
        )
    return words


def read_skip(skip: Any, header: Any) -> int:
    """Return how many lines stand above a header that is not found by a name."""
    if header is not None and skip:
        raise InvalidParameter(
            "skip", skip, "is given beside header", "Give one of them."
        )
    return arguments.integer(skip=skip, least=0, most=MOST_SKIPPED)


def _words(**argument: Any) -> tuple[str, ...]:
    return tuple(
        dict.fromkeys(fold_ascii(text.strip(BLANKS)) for text in read_texts(**argument))
    )


LONGEST: Final = 1 << 22
"""Bytes of the longest record, in UTF-8."""
_FEED, _RETURN = 10, 13

Places: TypeAlias = NDArray[np.int64]


@final
class Fault(NamedTuple):
    """Where a file is not well-formed, and why; no cell is quoted."""

    line: int
    why: str


@final
@dataclass(frozen=True)
class Shape:
    """What tells the fields of a file apart, and how many a record has."""

    delimiter: str
    quote: str | None
    fields: int


def first_fault(blocks: Iterator[bytes], shape: Shape) -> Fault | None:
    r"""Return the first fault of a text in UTF-8, None if it is well-formed.

    >>> first_fault(iter([b"a,b\n1,2\n", b"3\n"]), Shape(",", '"', 2))
    Fault(line=3, why='has 1 field, where the header has 2')
    """
    line, rest = 1, b""
    for block in blocks:
        data = rest + block
        size = _whole(data, shape)
        if len(data) - size > LONGEST:
            return Fault(line, _TOO_LONG)  # a block is shorter: none ended in this
        fault = _fault(data[:size], shape, line)
        if fault is not None:
            return fault
        line += data.count(b"\n", 0, size)
        rest = data[size:]
    return _last(rest, shape, line)


def _last(rest: bytes, shape: Shape, line: int) -> Fault | None:
    if shape.quote is None or rest.count(shape.quote.encode()) % 2 == 0:
        return _fault(rest + b"\n", shape, line) if rest else None
    view = np.frombuffer(rest, np.uint8)
    quotes = _quotes(view, shape)
    last = int(quotes[-1])
    opens = last == 0 or view[last - 1] in {_FEED, ord(shape.delimiter)}
    why = "has a quote that is never closed" if opens else _WITHIN
    place, why = next(_torn_quotes(view, quotes[:-1], shape), (last, why))
    return Fault(line + rest.count(b"\n", 0, place), why)


_WITHIN: Final = "has a quote within a field"
_TOO_LONG: Final = "begins a record of more than 4 MiB, or a quote that is never closed"


def _whole(data: bytes, shape: Shape) -> int:
    if shape.quote is None:
        return data.rfind(b"\n") + 1
    view = np.frombuffer(data, np.uint8)
    outside = _outside(np.flatnonzero(view == _FEED), _quotes(view, shape))
    return int(outside[-1]) + 1 if outside.size else 0


def _quotes(view: NDArray[np.uint8], shape: Shape) -> Places:
    if shape.quote is None:
        return np.empty(0, np.int64)
    return np.flatnonzero(view == ord(shape.quote))


def _outside(places: Places, quotes: Places) -> Places:
    if not quotes.size:
        return places
    # outside of quotes is what stands after an even number of them
    ends: Places = places[np.searchsorted(quotes, places) % 2 == 0]
    return ends


def _fault(data: bytes, shape: Shape, line: int) -> Fault | None:
    view = np.frombuffer(data, np.uint8)
    quotes = _quotes(view, shape)
    feeds = np.flatnonzero(view == _FEED)
    ends = _outside(feeds, quotes)
    faults = [
        *_torn_quotes(view, quotes, shape),
        *_lone(view, quotes),
        *_long(ends),
        *_ragged_records(view, ends, quotes, shape),
    ]
    lines = np.searchsorted(feeds, [place for place, _ in faults])
    first = min(range(len(faults)), key=lines.__getitem__, default=None)
    return None if first is None else Fault(line + int(lines[first]), faults[first][1])


def _torn_quotes(
    view: NDArray[np.uint8], quotes: Places, shape: Shape
) -> Iterator[tuple[int, str]]:
    if not quotes.size:
        return
    cut = ord(shape.delimiter)
    opening, closing = quotes[::2], quotes[1::2]
    before = view[np.maximum(opening - 1, 0)]
    begins = (opening == 0) | (before == cut) | (before == _FEED)
    # a quote before it closed a field: the two are one quote within it
    begins |= before == view[quotes[0]]
    if not begins.all():
        yield int(opening[~begins][0]), _WITHIN
    after = view[np.minimum(closing + 1, view.size - 1)]
    ends = (after == cut) | (after == _FEED) | (after == _RETURN)
    ends |= after == view[quotes[0]]
    if not ends.all():
        first = int(np.flatnonzero(~ends)[0])
        yield int(opening[first]), "has a quote that is not closed where a field ends"


def _lone(view: NDArray[np.uint8], quotes: Places) -> Iterator[tuple[int, str]]:
    returns = _outside(np.flatnonzero(view == _RETURN), quotes)
    alone = returns[view[np.minimum(returns + 1, view.size - 1)] != _FEED]
    if alone.size:
        yield int(alone[0]), "has a carriage return that ends no line"


def _long(ends: Places) -> Iterator[tuple[int, str]]:
    begins = np.concatenate([[0], ends[:-1] + 1])
    long = np.flatnonzero(ends - begins >= LONGEST)
    if long.size:
        yield int(begins[long[0]]), _TOO_LONG


def _ragged_records(
    view: NDArray[np.uint8], ends: Places, quotes: Places, shape: Shape
) -> Iterator[tuple[int, str]]:
    cuts = _outside(np.flatnonzero(view == ord(shape.delimiter)), quotes)
    counts = np.diff(np.searchsorted(cuts, ends), prepend=0) + 1
    wrong = np.flatnonzero(counts != shape.fields)
    for line in wrong:
        begin = int(ends[line - 1]) + 1 if line else 0
        if bytes(view[begin : ends[line]]) in {b"", b"\r"}:
            continue  # a blank line
        fields = "1 field" if counts[line] == 1 else f"{counts[line]} fields"
        yield begin, f"has {fields}, where the header has {shape.fields}"
        return


Stamp: TypeAlias = tuple[int, ...]

COMMAS: Final = (".csv", ".csv.gz")
TABS: Final = (".tsv", ".tsv.gz")
_NO_HEADER: Final = "has no header that can be read"
_OTHERS: Final = (";", "\t", "|", ",")
_BLOCK: Final = 1 << 20
"""Bytes of a file that are read at once."""


@final
class CSVSource(AbstractSource):
    """Text files of one dialect, with the same header."""

    untyped = True

    def __init__(self, dialect: Csv, declared: Mapping[str, Column]) -> None:
        self.declared = dialect.columns
        self.reading = dialect.spelling.value_of
        self._dialect = dialect
        self._stamps: dict[str, Stamp] = {}
        self._skipped: dict[str, int] = {}
        self._names: tuple[str, ...] = ()
        for path in read_paths(dialect.path):
            self._look(path, {**dialect.columns, **declared})
        self.fields = _texts(self._names)

    def hand_over(self, places: Sequence[int]) -> pa.RecordBatchReader:
        self.check()
        names = internal(places)
        fields = [(name, pa.string()) for name in names] or [(NOTHING, pa.bool_())]
        return pa.RecordBatchReader.from_batches(
            pa.schema(fields), self._batches(names)
        )

    def check(self) -> None:
        for path, stamp in self._stamps.items():
            if _stamp(path) != stamp:
                raise EngineFailure

    def read(self, places: Sequence[int]) -> pa.Table:
        return self.hand_over(places).read_all()

    def _look(self, path: str, declared: Mapping[str, Column]) -> None:
        before = _stamp(path)
        self._skipped[path] = self._lines_above(path)
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

    def _lines_above(self, path: str) -> int:
        """Return how many lines stand above the header."""
        if self._dialect.header is None:
            return self._dialect.skip
        with self._text(path, 0) as text:
            for above, line in enumerate(islice(text, MOST_SKIPPED)):
                if self._dialect.header in self._fields([line]):
                    return above
        raise InvalidParameter(
            "header",
            self._dialect.header,
            f"names a column that the first {MOST_SKIPPED:,} lines of "
            f"{show(Path(path).name)} do not have",
            "Name a column as the file does, or say skip=3.",
        )

    def _header(self, path: str) -> tuple[str, ...]:
        skipped = self._skipped[path]
        with self._text(path, skipped) as text:
            names = self._fields(text)
        line = skipped + 1
        if not names:
            raise _refusal(path, Fault(line, _NO_HEADER))
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise InvalidParameter(
                "source",
                path,
                f"has a header, line {line:,}, that names {show(twice)} twice",
                "Rename one of them; or say which line is the header: "
                'sd.Csv(path, skip=3) or sd.Csv(path, header="patient").',
            )
        return tuple(names)

    @contextmanager
    def _text(self, path: str, skip: int) -> Generator[io.TextIOWrapper, None, None]:
        with self._stream(path, skip) as stream:
            text = io.TextIOWrapper(io.BufferedReader(stream), "utf-8", newline="\n")
            try:
                yield text
            except UnicodeError:
                raise _refusal(path, _none(stream.line, self._dialect)) from None
            except OSError:
                raise _refusal(path, Fault(1, _NO_HEADER)) from None

    def _fields(self, lines: Iterable[str]) -> list[str]:
        """Return the fields of the first record of some lines."""
        unquoted = self._dialect.quote is None
        records = csv.reader(
            lines,
            delimiter=self._dialect.delimiter,
            quotechar=self._dialect.quote,
            quoting=csv.QUOTE_NONE if unquoted else csv.QUOTE_MINIMAL,
            strict=True,
        )
        try:
            return next(records, [])
        except csv.Error:
            return []

    def _fault(self, path: str, fields: int) -> Fault | None:
        shape = Shape(self._dialect.delimiter, self._dialect.quote, fields)
        with self._stream(path, self._skipped[path]) as stream:
            try:
                fault = first_fault(iter(stream.next_block, b""), shape)
            except OSError:
                return Fault(stream.line, "cannot be read further")
        if stream.broken:
            return _none(stream.line, self._dialect)
        if fault is None:
            return None
        return fault._replace(line=fault.line + self._skipped[path])

    def _stream(self, path: str, skip: int) -> TextStream:
        return TextStream(path, self._dialect.encoding, _BLOCK, skip)

    def _batches(self, names: list[str]) -> Iterator[pa.RecordBatch]:
        for path in self._stamps:
            header = 1
            for batch in self._records(path, names or internal([0])):
                rows = batch.slice(header)
                header = max(0, header - batch.num_rows)
                nothing = pa.nulls(rows.num_rows, pa.bool_())
                yield rows if names else pa.record_batch({NOTHING: nothing})
        self.check()  # again: a file may have changed while it was read

    def _records(self, path: str, names: list[str]) -> pa_csv.CSVStreamingReader:
        whole = internal(range(len(self._names)))
        stream = self._stream(path, self._skipped[path])
        return pa_csv.open_csv(
            pa.PythonFile(io.BufferedReader(stream, _BLOCK), "r"),
            # a block holds the longest record that the check lets pass
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
    return tuple((name, pa.string()) for name in names)


def read_paths(source: Any) -> tuple[str, ...]:
    """Return the files that a path, a pattern or a list of them names."""
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
    status = Path(path).stat()
    return (
        status.st_dev,
        status.st_ino,
        status.st_size,
        status.st_mtime_ns,
        status.st_ctime_ns,
    )


def _none(line: int, dialect: Csv) -> Fault:
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
        "Repair it, or say how it is written: sd.Csv(path, skip=..., delimiter=..., "
        "quote=..., encoding=...). sd.inspect(path) proposes that.",
    )
