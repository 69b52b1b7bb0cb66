"""Rows in Excel workbooks, each cell read by itself as those of text files are.

A workbook says of each cell whether it is a number, a truth, a day or a text; that is a
fact of this cell, and it becomes the text that a person would have written of it:

| a cell | as a text |
|---|---|
| a number | its shortest decimal, a whole one without a point |
| a truth | true, false |
| a day, a day with a clock | 2025-06-01, 2025-06-01T12:30:00 |
| a text | itself; missing, if it is a word for that |
| none, an error such as #N/A, a duration | missing |

What that text is read as depends on the column's declared type alone, by the rules of
`sordino.expressions.casts`. No formula is computed: the value that Excel left counts.

>>> Workbook("visits.xlsx", columns={"days": "i64"}, skip=3).skip
3

Kernel: totals.
"""

import datetime as dt
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, final

import pyarrow as pa

from sordino.data.csv import (
    MOST_SKIPPED,
    read_paths,
    read_skip,
    read_texts,
    read_truths,
)
from sordino.data.source import LONGEST, AbstractSource, or_nothing
from sordino.errors import InvalidParameter, MissingDependency, show
from sordino.expressions.casts import Spelling
from sordino.expressions.schema import Column, read_columns
from sordino.numbers import arguments
from sordino.numbers.frozen import fill, hides

WORKBOOKS: Final = (".xlsx", ".xlsm")
_WHOLE: Final = 2**53
"""Below it every double that is whole is one integer."""
_ERRORS: Final = ("#DIV/0!", "#N/A", "#NAME?", "#NULL!", "#NUM!", "#REF!", "#VALUE!")


@hides("spelling")
@final
@dataclass(frozen=True, init=False, eq=False)
class Workbook:
    """A sheet of an Excel workbook with a header.

    | argument | what it says |
    |---|---|
    | `path` | a path, or a pattern of workbooks with the same columns |
    | `columns` | the types of the columns that are used, as for a table |
    | `sheet` | its name; None is the first |
    | `true`, `false` | the words of truths, in small or capital letters |
    | `null` | texts that stand for a missing value |
    | `skip` | how many rows of the sheet stand above the header |
    | `header` | a column by whose name the header is found, whatever stands above it |
    """

    path: Any
    columns: Mapping[str, Column] = field(repr=False)
    sheet: str | None
    null: tuple[str, ...]
    spelling: Spelling = field(repr=False)
    skip: int
    header: str | None

    def __init__(  # noqa: PLR0913 by keyword, and most are left out
        self,
        path: Any,
        columns: Mapping[str, Any] | None = None,
        *,
        sheet: str | None = None,
        true: str | Iterable[str] = Spelling.true,
        false: str | Iterable[str] = Spelling.false,
        null: str | Iterable[str] = "",
        skip: int = 0,
        header: str | None = None,
    ) -> None:
        true_words, false_words = read_truths(true, false)
        fill(
            self,
            path=path,
            columns=read_columns(columns),
            sheet=None if sheet is None else arguments.text(sheet=sheet),
            null=read_texts(null=null),
            spelling=Spelling(true=true_words, false=false_words),
            skip=read_skip(skip, header),
            header=None if header is None else arguments.text(header=header),
        )


@final
class WorkbookSource(AbstractSource):
    """Sheets of workbooks, read when they are opened; the file may change after."""

    untyped = True

    def __init__(self, workbook: Workbook, declared: Mapping[str, Column]) -> None:
        del declared  # it is matched with `fields` by who opens it
        self.declared = workbook.columns
        self.reading = workbook.spelling.value_of
        paths = read_paths(workbook.path)
        tables = [_read(path, workbook) for path in paths]
        for path, table in zip(paths, tables, strict=True):
            if table.column_names != tables[0].column_names:
                raise InvalidParameter(
                    "source",
                    path,
                    "must have the columns of the first workbook, in the same order",
                    "Open it as a table of its own.",
                )
        self._table = pa.concat_tables(tables)
        self.fields = tuple((name, pa.string()) for name in self._table.column_names)

    def hand_over(self, places: Sequence[int]) -> pa.RecordBatchReader:
        return self.read(places).to_reader()

    def size(self) -> int:
        return int(self._table.num_rows)

    def read(self, places: Sequence[int]) -> pa.Table:
        return or_nothing(self._table, places)


def _read(path: str, workbook: Workbook) -> pa.Table:
    above, names, rows = _rows(path, workbook)
    if len(set(names)) < len(names) or "" in names:
        raise InvalidParameter(
            "source",
            path,
            f"has a header, row {above + 1:,}, in which a column has no name, or two "
            "have the same",
            "Name each; or say which row is the header: "
            'sd.Workbook(path, skip=3) or sd.Workbook(path, header="patient").',
        )
    nulls = {"", *workbook.null, *_ERRORS}
    columns = [
        pa.array([_text(row[place], nulls) for row in rows], pa.string())
        for place in range(len(names))
    ]
    return pa.Table.from_arrays(columns, names=names)


def _rows(path: str, workbook: Workbook) -> tuple[int, list[str], list[list[Any]]]:
    """Return how many rows stand above the header, its names, and the rows below it."""
    rows = _sheet(path, workbook.sheet)
    above = workbook.skip
    if workbook.header is not None:
        places = (place for place, row in enumerate(rows) if workbook.header in row)
        above = next(places, MOST_SKIPPED)
    if above >= min(len(rows), MOST_SKIPPED):
        raise InvalidParameter(
            "source",
            path,
            "has no header there",
            "Say skip=, how many rows stand above it, or header=, a column's name.",
        )
    names = [_text(cell, set()) or "" for cell in rows[above]]
    while names and not names[-1]:
        names.pop()  # formats reach beyond what is written
    below = [row for row in rows[above + 1 :] if any(map(_is_there, row))]
    return above, names, below


def _is_there(cell: Any) -> bool:
    return type(cell) is not str or bool(cell)


def sheet_texts(path: str) -> list[list[str]]:
    """Texts of the first sheet, row by row; empty where nothing can be read."""
    return [[_text(cell, set()) or "" for cell in row] for row in _sheet(path, None)]


def _sheet(path: str, name: str | None) -> list[list[Any]]:
    try:
        from python_calamine import (  # noqa: PLC0415 an optional extra
            CalamineWorkbook,
        )
    except ImportError:
        raise MissingDependency("a workbook", "python-calamine", "excel") from None
    with CalamineWorkbook.from_path(path) as book:
        sheets = list(book.sheet_names)
        if name is not None and name not in sheets:
            raise InvalidParameter(
                "sheet",
                name,
                f"is none of {', '.join(map(show, sheets))}",
                "Name one of them.",
            )
        # from the sheet's first row on, so that rows are numbered as people see them
        sheet = book.get_sheet_by_name(sheets[0] if name is None else name)
        return sheet.to_python(skip_empty_area=False)


def _text(cell: Any, nulls: set[str]) -> str | None:
    text = _WRITTEN[type(cell)](cell) if type(cell) in _WRITTEN else None
    # a long text is missing by itself: no other row may be lost by it
    fits = text is not None and text not in nulls and len(text.encode()) <= LONGEST
    return text if fits else None


def _number(number: float) -> str:
    whole = number.is_integer() and abs(number) < _WHOLE
    return str(int(number)) if whole else repr(number)


def _moment(moment: dt.datetime) -> str:
    at_midnight = moment.time() == dt.time()
    return moment.date().isoformat() if at_midnight else moment.isoformat()


_WRITTEN: Final[Mapping[type, Callable[[Any], str]]] = {
    str: str,
    bool: lambda truth: "true" if truth else "false",
    int: str,
    float: _number,
    dt.date: dt.date.isoformat,
    dt.datetime: _moment,
}
