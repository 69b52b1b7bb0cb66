"""What cells look like, without saying what they are: 99.99.9999, a@a.a, Decimal.

>>> shape("01.06.2025"), shape("Köln 5"), shape("")
('99.99.9999', 'a 9', '(empty)')
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, final

import pyarrow as pa

from sordino.data.arrow import column_of
from sordino.data.python_rows import column_of_cells
from sordino.data.source import Opened, Stored

_LONGEST: Final = 40
_DIGITS: Final = re.compile(r"\d+")
_LETTERS: Final = re.compile(r"[^\W\d_]+")


def shape(text: str) -> str:
    """Return a text with 9 for digits, at most four together, and a for letters."""
    letters = _LETTERS.sub("a", text[:_LONGEST])
    letters = _DIGITS.sub(lambda match: "9" * min(4, len(match[0])), letters)
    letters = letters if letters.isprintable() else repr(letters)[1:-1]
    return letters + "..." * (len(text) > _LONGEST) or "(empty)"


@final
@dataclass(frozen=True)
class CellCounts:
    """How many rows a column has, in how many there is a value, or none can be read."""

    rows: int
    read: int
    unread: Callable[[], int]
    """Asked where a value is missing alone: it reads the table once more."""


def lost_cells(
    source: Any, opened: Opened, name: str, counts: CellCounts
) -> tuple[int, Counter[str]]:
    """Return how many cells of a column are missing, and what could not be read.

    Of the latter the shapes, and for what has no place in our types its type.
    """
    objects = _objects(source, name)
    stored = opened.stored[name]
    if objects is not None:
        return _lost_objects(objects, stored)
    if counts.read == counts.rows:
        return 0, Counter()
    missing = opened.source.count_missing(stored.place)
    left = counts.rows - missing - counts.read
    unread = counts.unread() if left else 0
    beyond = left - unread
    shapes = Counter({f"beyond our {stored.arrow}": beyond} if beyond else {})
    if unread:
        shapes += _unread_shapes(opened, stored, unread)
    return missing, shapes


def seen_shapes(opened: Opened, place: int) -> Counter[str]:
    """Return the shapes of all texts of a column."""
    shapes = Counter[str]()
    for text, times in _count(opened, place):
        shapes["(missing)" if text is None else shape(text)] += times
    return shapes


def _unread_shapes(opened: Opened, stored: Stored, unread: int) -> Counter[str]:
    shapes, reading = Counter[str](), stored.reading
    for value, times in _count(opened, stored.place):
        if (
            reading is not None
            and value is not None
            and reading.value({"x": value}) is None
        ):
            shapes[shape(str(value))] += times
    left = unread - shapes.total()
    return shapes + Counter({"(not looked at)": left} if left else {})


def _count(opened: Opened, place: int) -> Iterator[tuple[Any, int]]:
    """Yield values of a column, as they are of our types, and how often each is there.

    A value may come several times.
    """
    for batch in opened.source.cells(place).to_batches():
        values = pa.table({"x": column_of(batch["cell"]), "n": batch["times"]})
        once = values.group_by("x").aggregate([("n", "sum")])
        yield from zip(once["x"].to_pylist(), once["n_sum"].to_pylist(), strict=True)


def _lost_objects(cells: list[Any], stored: Stored) -> tuple[int, Counter[str]]:
    column = column_of_cells(cells, stored.kind)
    there = column.is_valid().to_pylist()
    sorts = [
        "" if cell is None or type(cell).__name__ in _NOTHING else type(cell).__name__
        for cell in cells
    ]
    missing = sum(not sort for sort in sorts)
    unread = (
        shape(cell) if type(cell) is str else sort
        for cell, sort, read in zip(cells, sorts, there, strict=True)
        if sort and not read
    )
    return missing, Counter(unread)


_NOTHING: Final = ("NAType", "NaTType", "NoneType")


def _objects(source: Any, name: str) -> list[Any] | None:
    sort = f"{type(source).__module__.split('.')[0]}.{type(source).__name__}"
    known = _CELLS.get(sort)
    return None if known is None else known(source, name)


def _pandas_cells(frame: Any, name: str) -> list[Any] | None:
    places = [place for place, label in enumerate(frame.columns) if str(label) == name]
    series = frame.iloc[:, places[0]]
    if type(series.dtype).__name__ not in {"ObjectDType", "CategoricalDtype"}:
        return None
    cells = series.astype(object)
    gone = cells.isna()
    return [None if no else cell for cell, no in zip(cells, gone, strict=True)]


def _listed_cells(columns: Mapping[str, Any], name: str) -> list[Any] | None:
    values = columns[name]
    return list(values) if isinstance(values, (list, tuple)) else None


_CELLS: Final[Mapping[str, Callable[[Any, str], list[Any] | None]]] = {
    "pandas.DataFrame": _pandas_cells,
    "builtins.dict": _listed_cells,
}
"""Where the cells of sources of objects are, by package and class."""
