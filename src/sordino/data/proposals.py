r"""How a text file or a workbook seems to be written: a declaration to take over.

**Private.** It is told from cells, so it is for the eyes of who may read them; what
the curator declares after a look is public. Nothing else of Sordino guesses.

| what is proposed | why |
|---|---|
| encoding | the first of UTF-16 by its mark, UTF-8 and cp1252 that reads the file |
| delimiter | what gives most lines the same number of fields |
| header | the first line of that many fields: they are names, none a number |
| types | the first of i64, f64, bool, date and time that most cells are of, else text |
| missing values | the words for them in columns that are of a type without these |

Digits with a zero before them stay text: they name something. A workbook has no
encoding, delimiter or spelling of numbers; its header is the first of its widest rows.

>>> lines = "Sales 2026\n\nid;price;paid\n1;1.234,50;ja\n2;-;nein\n"
>>> propose_columns(find_layout(lines, "utf-8")).arguments["thousands"]
'.'
"""

import codecs
import csv
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from math import ceil
from pathlib import Path
from typing import Any, Final, final

from sordino.data.csv import COMMAS, MOST_SKIPPED, TABS, Csv
from sordino.data.files import TextStream, find_files, have_endings
from sordino.data.workbooks import WORKBOOKS, Workbook, sheet_texts
from sordino.errors import InvalidParameter
from sordino.expressions.casts import spelled_value
from sordino.expressions.text import BLANKS

DECLARED: Final = (*COMMAS, *TABS, ".txt", *WORKBOOKS)
"""Endings of files of which somebody has to say what types their columns have."""
_DELIMITERS: Final = (",", ";", "\t", "|")
_SEEN: Final = 1 << 20
"""Bytes of a file of which cells are looked at."""
_ROWS: Final = 20_000
_MOST_CELLS: Final = 0.9
"""A column is of a type if so many of its different cells are: files are dirty."""
_NULLS: Final = (
    *("", "NA", "N/A", "n/a", "NULL", "null", "None", "nan", "NaN", "#N/A"),
    *("-", "--", ".", "?", "k.A.", "k. A.", "n.a.", "unbekannt", "unknown"),
)
_MONEY: Final = ("\u20ac", "EUR", "$", "USD", "\u00a3", "GBP", "CHF", "Fr.", "kr")
_NUMBERS: Final[Sequence[dict[str, Any]]] = (
    {},
    {"decimal": ","},
    {"thousands": ","},
    {"decimal": ",", "thousands": "."},
    {"decimal": ",", "thousands": " "},
    {"thousands": " "},
    {"thousands": "'"},
    {"thousands": "\u2019"},
)
_TRUTHS: Final = (
    *(("ja", "nein"), ("j", "n"), ("wahr", "falsch"), ("oui", "non"), ("vrai", "faux")),
    *(("s\u00ed", "no"), ("si", "no"), ("sim", "n\u00e3o")),
)
_DAYS: Final = ("%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%Y/%m/%d")
_CLOCKS: Final = ("%H:%M", "%H:%M:%S", "%H:%M:%S.%f")
_SPELLINGS: Final[Mapping[str, Sequence[dict[str, Any]]]] = {
    "f64": _NUMBERS,
    "bool": [{}, *({"true": yes, "false": no} for yes, no in _TRUTHS)],
    "date": [{}, *({"date": day} for day in _DAYS)],
    "time": [{}, *({"time": f"{day} {at}"} for day in _DAYS for at in _CLOCKS)],
}
"""How cells of a type may be spelled, the plainest first."""


@final
@dataclass(frozen=True)
class TextLayout:
    """Where the header of a text file is, and what parts its fields."""

    names: tuple[str, ...]
    encoding: str
    delimiter: str
    skip: int
    rows: tuple[tuple[str, ...], ...] = ()
    """Rows below the header, as far as they were looked at."""
    of_workbook: bool = False

    @property
    def arguments(self) -> dict[str, Any]:
        """What `Csv` is to be told, where it is not what it takes anyway."""
        signs = {
            "delimiter": "" if self.delimiter == "," else self.delimiter,
            "encoding": "" if self.encoding == "utf-8" else self.encoding,
            "skip": self.skip,
        }
        return {name: value for name, value in signs.items() if value}


@final
@dataclass(frozen=True)
class CsvProposal:
    """A declaration of a text file, as its cells suggest it."""

    columns: Mapping[str, str]
    arguments: Mapping[str, Any]
    """What `Csv` is to be told besides, where it is not what it takes anyway."""
    doubts: tuple[str, ...] = ()
    """What cells cannot tell."""
    of_workbook: bool = False

    def source(self, path: Any, columns: Mapping[str, str] | None = None) -> Any:
        """Rows of files that are written so, with some of the columns."""
        declared = Workbook if self.of_workbook else Csv
        return declared(path, columns, **self.arguments)

    def to_dict(self) -> dict[str, Any]:
        """Return it as a job file says it."""
        return {
            "columns": dict(self.columns),
            "format": dict(self.arguments),
            "doubts": list(self.doubts),
        }

    def __str__(self) -> str:
        """Show the call that declares it."""
        words = [f"columns={dict(self.columns)!r}"]
        words += [f"{name}={value!r}" for name, value in self.arguments.items()]
        name = "Workbook" if self.of_workbook else "Csv"
        return f"sd.{name}(path, {', '.join(words)})"


def propose_declaration(source: Any) -> CsvProposal | None:
    """Return how files could be declared, by the first of them; None if they are."""
    first = source[0] if isinstance(source, list) and source else source
    if not isinstance(first, (str, Path)) or not have_endings([str(first)], DECLARED):
        return None
    return propose_columns(look_at_layout(Path(find_files(first)[0])))


def look_at_layout(path: Path) -> TextLayout:
    """Find the header of a file, and the rows that stand near the file's begin."""
    if have_endings([str(path)], WORKBOOKS):
        return _workbook_layout(str(path))
    encoding = next(each for each in _encodings(path) if _reads(path, each))
    with TextStream(str(path), encoding, _SEEN, 0) as stream:
        text = stream.next_block().decode()
        last = not stream.next_block()
    whole = text if last else text[: text.rfind("\n") + 1]
    return find_layout(whole, encoding)


def _workbook_layout(path: str) -> TextLayout:
    listed = [_without_end(row) for row in sheet_texts(path)[:_ROWS]]
    width = max(map(len, listed), default=0)
    skip = next((at for at, row in enumerate(listed) if len(row) == width), 0)
    if not width or skip > MOST_SKIPPED or not _are_names(listed[skip]):
        raise _no_header("sd.Workbook(path, columns=..., skip=...)")
    padded = (row + ("",) * (width - len(row)) for row in listed[skip + 1 :])
    rows = tuple(row for row in padded if any(row))
    return TextLayout(listed[skip], "utf-8", ",", skip, rows, of_workbook=True)


def _without_end(row: Sequence[str]) -> tuple[str, ...]:
    last = max((at for at, text in enumerate(row) if text), default=-1)
    return tuple(row[: last + 1])


def _no_header(call: str) -> InvalidParameter:
    return InvalidParameter(
        "source",
        "a file",
        f"has no line of names within its first {MOST_SKIPPED:,}",
        f"Say how it is written: {call}.",
    )


def _encodings(path: Path) -> Iterator[str]:
    with path.open("rb") as file:
        begin = file.read(2)
    if begin in {codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE}:
        yield "utf-16"
    yield from ("utf-8", "cp1252", "latin-1")


def _reads(path: Path, encoding: str) -> bool:
    with TextStream(str(path), encoding, _SEEN, 0) as stream:
        while stream.next_block():
            pass
        return not stream.broken


def find_layout(text: str, encoding: str) -> TextLayout:
    """Return where the header of a text is; refuse one in which no line is one."""
    tried = [_layout_by(text, encoding, delimiter) for delimiter in _DELIMITERS]
    layouts = [layout for layout in tried if layout is not None]
    if not layouts:
        raise _no_header("sd.Csv(path, columns=..., skip=...)")
    return max(layouts, key=_rank_layout)


def _rank_layout(layout: TextLayout) -> tuple[bool, int, int]:
    return (
        len(layout.names) > 1 and bool(layout.rows),
        len(layout.rows),
        len(layout.names),
    )


def _layout_by(text: str, encoding: str, delimiter: str) -> TextLayout | None:
    """Return a text parted by a sign, with the rows that have a field for each name."""
    reader = csv.reader(text.splitlines(keepends=True), delimiter=delimiter)
    records, above = [], 0
    try:
        for record in islice(reader, _ROWS):
            records.append((above, tuple(record)))
            above = reader.line_num
    except csv.Error:
        pass  # what was read before it is looked at
    widths = Counter(len(record) for _, record in records if record)
    if not widths:
        return None
    (width, _), *_ = widths.most_common(1)
    wide = ((lines, record) for lines, record in records if len(record) == width)
    skip, names = next(wide)
    # no further line is tried: a row of texts would be told as names
    parts = width > 1 or not any(sign in names[0] for sign in _DELIMITERS)
    if skip > MOST_SKIPPED or not parts or not _are_names(names):
        return None
    return TextLayout(names, encoding, delimiter, skip, tuple(row for _, row in wide))


def _are_names(record: Sequence[str]) -> bool:
    plain = [name.strip() for name in record]
    numbers = any(name[:1] in {"", *"0123456789+-."} for name in plain)
    return not numbers and len(set(plain)) == len(plain)


def propose_columns(layout: TextLayout) -> CsvProposal:
    """Return the types of the columns and how their cells are spelled."""
    seen = {
        name: {row[place].strip(BLANKS) for row in layout.rows}
        for place, name in enumerate(layout.names)
    }
    known = {name: sorted(cells.difference(_NULLS)) for name, cells in seen.items()}
    spelled, doubts = dict[str, Any](), list[str]()
    for kind, written in _SPELLINGS.items():
        spellings = [*_with_money(known, kind, written)]
        if layout.of_workbook and kind != "bool":
            spellings = [{}]  # its numbers and days are values, and not written
        best, others = _best_spelling(known, kind, spellings)
        spelled |= best
        doubts += [
            f"{_spelling_text(best)} or {_spelling_text(other)}: cells fit both"
            for other in others
        ]
    kinds = {name: _kind(cells, spelled) for name, cells in known.items()}
    typed = {word for name in kinds if kinds[name] != "text" for word in seen[name]}
    nulls = ("", *(word for word in _NULLS[1:] if word in typed))
    missing = {"null": nulls} if nulls[1:] else {}
    spelled = {**layout.arguments, **spelled, **missing}
    return CsvProposal(kinds, spelled, tuple(doubts), layout.of_workbook)


def _with_money(
    known: Mapping[str, Iterable[str]], kind: str, spellings: Sequence[dict[str, Any]]
) -> Iterator[dict[str, Any]]:
    yield from spellings
    cells = {cell for texts in known.values() for cell in texts if _has_digit(cell)}
    money = tuple(sign for sign in _MONEY if any(sign in cell for cell in cells))
    if money and kind == "f64":
        yield from ({**each, "currency": money} for each in spellings)


def _has_digit(cell: str) -> bool:
    return any("0" <= sign <= "9" for sign in cell)


def _spelling_text(spelled: Mapping[str, Any]) -> str:
    signs = ", ".join(f"{name}={value!r}" for name, value in spelled.items())
    return signs or "nothing"


def _best_spelling(
    known: Mapping[str, list[str]], kind: str, spellings: Iterable[dict[str, Any]]
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return how most cells are of a type, and ways to read as many as other values."""
    read = []
    for spelled in spellings:
        columns = {name: _values(cells, kind, spelled) for name, cells in known.items()}
        fit = {name: values for name, values in columns.items() if _fits(values)}
        cells = sum(_share(values) for values in fit.values())
        read.append((cells, spelled, fit))
    most = max(cells for cells, _, _ in read)
    (_, best, values), *others = [each for each in read if each[0] == most]
    return best, [spelled for _, spelled, other in others if other != values]


def _values(cells: list[str], kind: str, spelled: Mapping[str, Any]) -> list[Any]:
    if kind == "bool" and len(cells) == 1 and len(cells[0]) == 1:
        return [None]  # a column of f alone is more likely a code
    spelling, values, left = Csv("", **spelled).spelling, [], _most_odd(cells)
    for cell in cells:
        value = spelled_value(cell, kind, spelling)
        left -= value is None
        if left < 0:  # most spellings fit no cell of a column: a few of them tell
            return [None]
        values.append(value)
    return values


def _most_odd(cells: Sequence[str]) -> int:
    """Cells of a column that may be of no type, if it is to be of that type."""
    return len(cells) - ceil(_MOST_CELLS * len(cells))


def _share(values: list[Any]) -> float:
    return sum(value is not None for value in values) / max(1, len(values))


def _fits(values: list[Any]) -> bool:
    return _share(values) >= _MOST_CELLS


def _kind(cells: list[str], spelled: Mapping[str, Any]) -> str:
    name_something = any(_has_zero_before(cell) for cell in cells)
    numbers = () if name_something else ("i64", "f64")
    kinds = (*numbers, "bool", "date", "time")
    shares = {kind: _share(_values(cells, kind, spelled)) for kind in kinds}
    best = max(kinds, key=shares.__getitem__)
    return best if shares[best] >= _MOST_CELLS else "text"


def _has_zero_before(cell: str) -> bool:
    return cell.isdigit() and cell[0] == "0" and len(cell) > 1
