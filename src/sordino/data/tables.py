"""PrivateTable and PublicTable, and which source the object in one of them is.

Its class and package decide that, never its rows.

| what is handed over | its kind |
|---|---|
| an object | "package.Class", of its class or of one that it inherits from |
| a pair of an object and the name of a table | "(package.Class, name)" |
| a pair of an address and the name of a table | "(scheme://, name)" |

Kinds of sources that live in an engine are told by that engine (`engines.doors`).

A database may read Parquet files by itself, as far as it reads each value by our rules
and believes nothing that a file states (its dialect says which types these are). All
others are handed the values, which Arrow reads one by one; the answer is the same.

Kernel: totals.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import PurePath
from typing import Any, Final, TypeAlias, final

import pyarrow as pa

from sordino.data.arrow import FROM_ARROW, DatasetSource
from sordino.data.csv import COMMAS, TABS, Csv, CSVSource
from sordino.data.files import Fields, Files, find_files, have_endings
from sordino.data.lazy_frames import of_lazy_frame
from sordino.data.python_rows import FROM_OBJECTS
from sordino.data.source import AbstractSource, Opened
from sordino.data.units import AbstractUnit
from sordino.errors import EngineFailure, InvalidParameter, SordinoError
from sordino.expressions.schema import Column, read_columns
from sordino.losses.budgets.limits import sampling_rate
from sordino.numbers import arguments
from sordino.numbers.frozen import fill


@final
@dataclass(frozen=True, init=False, repr=False, eq=False)
class PrivateTable:
    """A table of people, and whom it protects.

    `columns` declares public facts: a type, or `sd.Column(type, nullable=False)`. For
    a CSV file it is required, because types are never guessed from private data.

    `blocks` is the column that says of what block a row is, where each block of a
    session has a budget of its own (`sd.Blocks`). Whoever names it vouches that it
    never changes for a row.

    `vouched_by` says who answers for a source that computes its rows: a view with an
    aggregate, a window, a join or a LIMIT, a function of its own. Sordino cannot see
    that one row of a person changes no other row of it, so such a source is refused
    unless somebody does. `session.describe()` shows who.

    `sampled` says that the table is a secret random sample of a population: each person
    came into it by an own coin of this chance, whatever the others' coins said, and
    nobody outside knows who did. The budget of a session is then promised to everybody
    who could have been drawn, and more may be lost of the sample itself
    (docs/guides/units.md says what must be true).

    >>> import sordino as sd
    >>> sd.PrivateTable({"age": [34, 51]}, protects=sd.AddOneRow())
    PrivateTable(protects=AddOneRow())
    """

    source: Any = field(repr=False)
    protects: AbstractUnit
    columns: Mapping[str, Column]
    blocks: str | None
    vouched_by: str | None
    sampled: Fraction | None

    def __init__(
        self,
        source: Any,
        protects: AbstractUnit,
        columns: Mapping[str, Any] | None = None,
        *,
        blocks: str | None = None,
        vouched_by: str | None = None,
        sampled: Any = None,
    ) -> None:
        if not isinstance(protects, AbstractUnit):
            raise InvalidParameter(
                "protects",
                protects,
                "must be a protected unit",
                'Try protects=sd.AddRowsWithID("person") or sd.AddOneRow().',
            )
        fill(
            self,
            source=source,
            protects=protects,
            columns=read_columns(columns),
            blocks=None if blocks is None else arguments.text(blocks=blocks),
            vouched_by=_check_name(vouched_by),
            sampled=None if sampled is None else _read_rate(sampled, protects, blocks),
        )

    def __repr__(self) -> str:
        """Show whom it protects, and nothing of what it holds."""
        blocks = "" if self.blocks is None else f", blocks={self.blocks!r}"
        by = "" if self.vouched_by is None else f", vouched_by={self.vouched_by!r}"
        rate = "" if self.sampled is None else f", sampled='{self.sampled}'"
        return f"PrivateTable(protects={self.protects!r}{blocks}{by}{rate})"


def _read_rate(sampled: Any, protects: AbstractUnit, blocks: str | None) -> Fraction:
    """Rate of a secret sample, which is proved of people drawn whole alone."""
    rate = sampling_rate(sampled)
    if not protects.is_drawn_whole:
        # rows of one person by several coins: who has more rows is likelier there
        raise InvalidParameter(
            "sampled",
            sampled,
            f"cannot be said of {protects!r}: what one coin draws must be one person, "
            "with all rows",
            'Protect ids, protects=sd.AddRowsWithID("person"), or rows of which a '
            "person has one, sd.AddOneRow().",
        )
    if blocks is not None:
        raise InvalidParameter(
            "sampled",
            sampled,
            "cannot be said of a table with blocks: what is proved is of one sample "
            "that is drawn once",
            "Leave blocks out.",
        )
    return rate


def _check_name(vouched_by: str | None) -> str | None:
    if vouched_by is not None and not arguments.text(vouched_by=vouched_by).strip():
        raise InvalidParameter(
            "vouched_by",
            vouched_by,
            "must say who answers for the source",
            'Try vouched_by="A. Weber, who wrote the view".',
        )
    return vouched_by


@final
@dataclass(frozen=True, init=False, repr=False, eq=False)
class PublicTable:
    """A table that everybody may know: it protects nobody.

    A table made from private data is not public; that cannot be checked.

    >>> PublicTable({"ward": ["A", "B"], "beds": [12, 30]})
    PublicTable()
    """

    source: Any = field(repr=False)
    columns: Mapping[str, Column]

    def __init__(self, source: Any, columns: Mapping[str, Any] | None = None) -> None:
        fill(self, source=source, columns=read_columns(columns))

    def __repr__(self) -> str:
        return "PublicTable()"


ENDINGS: Final = (".parquet", ".parq", ".pq")


@final
class ParquetSource(AbstractSource):
    """Parquet files; a path's folders are no columns."""

    ours = True

    def __init__(self, paths: tuple[str, ...]) -> None:
        self._files = Files(paths, _form)
        self.fields = self._files.fields
        self.paths = paths

    def check(self) -> None:
        self._files.check()

    def size(self) -> int:
        import pyarrow.parquet as pq  # noqa: PLC0415 brings ssl

        return sum(pq.read_metadata(path).num_rows for path in self.paths)

    def hand_over(self, places: Sequence[int]) -> pa.RecordBatchReader:
        return self._values().hand_over(places)

    def read(self, places: Sequence[int]) -> pa.Table:
        return self._values().read(places)

    def _values(self) -> DatasetSource:
        import pyarrow.dataset as ds  # noqa: PLC0415 brings pandas

        self._files.check()
        pages = ds.ParquetFragmentScanOptions(
            use_buffered_stream=True, pre_buffer=False
        )
        form = ds.ParquetFileFormat(default_fragment_scan_options=pages)
        return DatasetSource(ds.dataset(list(self.paths), format=form))


def _form(path: str) -> Fields:
    import pyarrow.parquet as pq  # noqa: PLC0415 as above

    return tuple((field.name, field.type) for field in pq.read_schema(path))


Reader: TypeAlias = Callable[[Any, Mapping[str, Column]], AbstractSource]


def _of_paths(source: Any, declared: Mapping[str, Column]) -> AbstractSource:
    listed = source if isinstance(source, list) else [source]
    for path in listed:
        if not isinstance(path, (str, PurePath)):
            raise InvalidParameter(
                "source",
                "a list",
                f"must be a list of paths, not of {type(path).__name__}",
                'Give rows as columns: {"x": [1, 2]}.',
            )
    paths = tuple(dict.fromkeys(path for name in listed for path in find_files(name)))
    for endings, form in _FORMS:
        if paths and have_endings(paths, endings):
            return form(paths, declared)
    raise InvalidParameter(
        "source",
        source,
        "must name Parquet, CSV or Excel files by their endings",
        "Name them *.parquet, *.csv, *.tsv or *.xlsx, say sd.Csv(path, ...), or give "
        "an Arrow data set.",
    )


def _of_workbook(workbook: Any, declared: Mapping[str, Column]) -> AbstractSource:
    # most releases need no module for it
    from sordino.data.workbooks import WorkbookSource  # noqa: PLC0415

    return WorkbookSource(workbook, declared)


def _of_workbooks(
    paths: tuple[str, ...], declared: Mapping[str, Column]
) -> AbstractSource:
    from sordino.data.workbooks import Workbook  # noqa: PLC0415

    return _of_workbook(Workbook(list(paths)), declared)


_FORMS: Final[tuple[tuple[tuple[str, ...], Callable[..., AbstractSource]], ...]] = (
    (ENDINGS, lambda paths, _: ParquetSource(paths)),
    (COMMAS, lambda paths, declared: CSVSource(Csv(list(paths)), declared)),
    (
        TABS,
        lambda paths, declared: CSVSource(Csv(list(paths), delimiter="\t"), declared),
    ),
    ((".xlsx", ".xlsm"), _of_workbooks),
)
_READERS: Final[dict[str, Reader]] = {
    **FROM_ARROW,
    **FROM_OBJECTS,
    "polars.LazyFrame": of_lazy_frame,
    "builtins.str": _of_paths,
    "builtins.list": _of_paths,
    "pathlib.PurePath": _of_paths,
    "sordino.Csv": CSVSource,
    "sordino.Workbook": _of_workbook,
}


def open_with_readers(
    source: Any,
    declared: Mapping[str, Column],
    living: Callable[[str], Reader | None] = lambda _: None,
) -> Opened:
    """Open a source by the reader of its class or of its file's ending.

    `living` returns how a kind of source is read that lives in an engine.
    """
    readers = (_READERS.get(kind) or living(kind) for kind in kinds_of(source))
    reader = next((choice for choice in readers if choice is not None), None)
    if reader is None and _is_a(source, tuple):
        raise InvalidParameter(
            "source",
            "a tuple",
            "must be (connection, name of a table)",
            "Give the connection itself, not its path, or a list for several paths.",
        )
    if reader is None:
        raise InvalidParameter(
            "source",
            type(source).__name__,
            "must be a table or the path of one",
            "Give a Parquet or CSV path, an Arrow, pandas or Polars table, or "
            "(connection, name) of a table of a database.",
        )
    try:
        return _match(reader(source, declared), declared)
    except EngineFailure:
        pass
    except SordinoError:
        raise
    except Exception:  # noqa: BLE001, S110 what a library says may quote a cell
        pass
    # Outside of the handlers: nothing was charged yet, and no cause is told.
    raise InvalidParameter(
        "source",
        _public_name(source),
        "cannot be opened",
        "Check that it is whole, is there, and can be read. A table of a connection "
        "must be seen by its other cursors, too: hand over others as con.table(name).",
    )


def kinds_of(source: Any) -> Iterator[str]:
    """Yield what an object is, the nearest kind first.

    >>> list(kinds_of(("postgresql://host/base", "visits")))[:2]
    ['(postgresql://, name)', '(builtins.str, name)']
    """
    # no method of an object that inherits from a tuple or a text is called
    pair = tuple.__getitem__(source, slice(3)) if _is_a(source, tuple) else ()
    if len(pair) == 2 and _is_a(pair[1], str):
        yield from (f"({kind}, name)" for kind in _kinds_alone(pair[0]))
    yield from _kinds_alone(source)


def _is_a(source: Any, kind: type) -> bool:
    return issubclass(type(source), kind)


def _kinds_alone(source: Any) -> Iterator[str]:
    if _is_a(source, str) and str.__contains__(source, "://"):
        yield f"{str.partition(source, '://')[0]}://"
    for ancestor in type(source).__mro__:
        yield f"{ancestor.__module__.split('.')[0].lstrip('_')}.{ancestor.__name__}"


def _public_name(source: Any) -> str:
    """Public description of a source: its name or its class.

    >>> _public_name("data/visits.parquet"), _public_name((None, "visits"))
    ('visits.parquet', 'visits')
    """
    match source:
        case str() | PurePath():
            return PurePath(source).name
        case tuple((_, str(name))):
            return name
        case _:
            return type(source).__name__


def _match(source: AbstractSource, declared: Mapping[str, Column]) -> Opened:
    for name in declared:
        if name in source.declared:
            raise InvalidParameter(
                "columns",
                name,
                "is declared twice, by the file and by the table",
                "Declare it once.",
            )
    return Opened.of(source, {**source.declared, **declared})
