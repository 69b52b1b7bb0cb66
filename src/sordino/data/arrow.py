"""Arrow tables, data sets and eager Polars frames, handed to a database as our types.

Each value is read by itself, by one rule for its type (`Schema`): no other
value of its column, and no statement about the column, can change what it becomes. Fast
ways are taken by looking whether the rule changes nothing; where it does, each value
goes its slow way.

| in Arrow | what becomes of it |
|---|---|
| an integer beyond 64 bits, a moment or a day beyond the years 1 to 9999 | missing |
| a text that is not UTF-8, or longer than 1 MiB | missing |
| a decimal of any width and scale | the nearest double |
| a moment of any unit and zone | microseconds in UTC, halves away from 1970 |
| a dictionary | the values that it stands for |
| an extension | its storage; a UUID is text |

`values_of` says the same in plain Python, for tests and for the memory engine.

Kernel: totals.
"""

import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sordino.data.files import Fields
from sordino.data.source import (
    LONGEST,
    NOTHING,
    AbstractSource,
    Opened,
    Stored,
    decode_text,
    internal,
    is_list,
    is_uuid,
    kind_of,
    or_nothing,
)
from sordino.expressions.schema import Column, Schema, arrow_type
from sordino.numbers.arrays import as_arrow

_ZERO: Final = as_arrow(np.zeros(1))[0]
ROWS: Final = 1 << 16
"""Rows of a batch that is handed over."""

_FIRST: Final = -62_135_596_800_000_000  # microseconds from 1970 to the year 1
_LAST: Final = 253_402_300_799_999_999
_DAYS: Final = (-719_162, 2_932_896)  # the years 1 to 9999
_DAY_MILLISECONDS: Final = 86_400_000
_MICROSECONDS: Final = {"s": 10**6, "ms": 10**3, "us": 1}
_EXACT: Final = 1 << 53
_EXACT_POWER: Final = 22
"""10**22 is a double and 10**23 is not, so a quotient is rounded only once."""


def column_type(kind: str) -> pa.DataType:
    """Return the Arrow type in which values of ours are handed over.

    Texts may be more than 2 GiB together.
    """
    if kind.startswith("list["):
        return pa.large_list(column_type(kind[5:-1]))
    return pa.large_string() if kind == "text" else arrow_type(kind)


def column_of(array: pa.Array) -> pa.Array:
    """Return the values of an array as one of our types.

    >>> column_of(pa.array([2**64 - 1, 7], pa.uint64())).to_pylist()
    [None, 7]
    """
    arrow = array.type
    if is_uuid(arrow):
        blobs = array.storage.to_pylist()
        texts = [None if blob is None else str(uuid.UUID(bytes=blob)) for blob in blobs]
        return pa.array(texts, pa.large_string())
    if isinstance(arrow, pa.BaseExtensionType):
        return column_of(array.storage)
    if pa.types.is_dictionary(arrow):
        return column_of(array.dictionary).take(array.indices)
    if is_list(arrow):
        return _lists(array)
    if pa.types.is_decimal(arrow):
        return _decimals(array)
    return _RULES.get(kind_of(arrow) or "", _same)(array)


def _same(array: pa.Array) -> pa.Array:
    return array


def _lists(array: pa.Array) -> pa.Array:
    sizes = pc.fill_null(pc.list_value_length(array), 0)
    ends = np.concatenate([[0], np.cumsum(np.asarray(sizes, np.int64))])
    # flatten leaves out the entries of missing lists, so sizes count those as 0
    entries = column_of(array.flatten())
    return pa.LargeListArray.from_arrays(pa.array(ends), entries, mask=array.is_null())


def _integers(array: pa.Array) -> pa.Array:
    if pa.types.is_uint64(array.type):
        # a cast of the whole column would fail for one value, and so tell of it
        wide = pc.greater(array, pa.scalar(2**63 - 1, pa.uint64()))
        array = pc.if_else(wide, pa.scalar(None, pa.uint64()), array)
    return array.cast(pa.int64())


def _doubles(array: pa.Array) -> pa.Array:
    # -0.0 + 0.0 is 0.0: two zeros would be two groups on some engines
    return pc.add(array.cast(pa.float64()), _ZERO)


def _decimals(array: pa.Array) -> pa.Array:
    scale = array.type.scale
    words = _words(array)
    low = words[:, 0]
    plain = np.all(words[:, 1:] == (low >> 63)[:, None], axis=1)
    plain &= (low >= -_EXACT) & (low <= _EXACT) & (0 <= scale <= _EXACT_POWER)
    # both are doubles there: the quotient is rounded once, to the nearest
    value = low / 10.0 ** min(max(scale, 0), _EXACT_POWER)
    for place in np.flatnonzero(~plain & np.asarray(array.is_valid())):
        whole = int.from_bytes(words[place].tobytes(), "little", signed=True)
        # Python rounds a quotient of integers once, however long they are
        value[place] = whole * 10 ** max(-scale, 0) / 10 ** max(scale, 0)
    return pa.array(value + 0.0, pa.float64(), mask=np.asarray(array.is_null()))


def _words(array: pa.Array) -> Any:
    if array.type.bit_width < 128:
        array = array.cast(pa.decimal128(array.type.precision, array.type.scale))
    width = array.type.bit_width // 64
    size = (array.offset + len(array)) * width
    ticks = np.frombuffer(array.buffers()[1] or b"", "<i8", count=size)
    return ticks.reshape(-1, width)[array.offset :]


def _texts(array: pa.Array) -> pa.Array:
    wide = array.cast(pa.large_string())
    longest = pc.max(pc.binary_length(wide)).as_py() or 0
    # looked at, not believed: Arrow hands on bytes that are no UTF-8
    if longest <= LONGEST and _is_valid(wide):
        return wide
    blobs = wide.cast(pa.large_binary()).to_pylist()
    return pa.array(
        [None if blob is None else decode_text(blob) for blob in blobs], wide.type
    )


def _is_valid(array: pa.Array) -> bool:
    try:
        array.validate(full=True)
    except pa.ArrowInvalid:
        return False
    return True


def _dates(array: pa.Array) -> pa.Array:
    if pa.types.is_date64(array.type):
        ticks = _ticks(array.view(pa.int64()))
        days = ticks // _DAY_MILLISECONDS
    else:
        days = _ticks(array.view(pa.int32()))
    outside = (days < _DAYS[0]) | (days > _DAYS[1]) | np.asarray(array.is_null())
    inside = np.where(outside, 0, days).astype(np.int32)
    return pa.array(inside, pa.int32(), mask=outside).view(pa.date32())


def _times(array: pa.Array) -> pa.Array:
    ticks = _ticks(array.view(pa.int64()))
    outside = np.asarray(array.is_null())
    if array.type.unit == "ns":
        # floor, then up beyond a half: halves go away from 1970 on both sides
        moments = ticks // 1000
        moments += (ticks - moments * 1000 + (ticks >= 0)) > 500
    else:
        up = _MICROSECONDS[array.type.unit]
        # before it is multiplied, which could wrap around into a valid year
        outside |= (ticks < _FIRST // up) | (ticks > _LAST // up)
        moments = np.where(outside, 0, ticks) * up
    outside |= (moments < _FIRST) | (moments > _LAST)
    inside = np.where(outside, 0, moments)
    return pa.array(inside, pa.int64(), mask=outside).view(pa.timestamp("us"))


def _ticks(array: pa.Array) -> Any:
    return np.asarray(array.fill_null(0))


_RULES: Final[dict[str, Callable[[pa.Array], pa.Array]]] = {
    "i64": _integers,
    "f64": _doubles,
    "text": _texts,
    "date": _dates,
    "time": _times,
}


@final
class TableSource(AbstractSource):
    """An Arrow table."""

    ours = True

    def __init__(
        self, table: pa.Table, unsaid: Mapping[str, str] | None = None
    ) -> None:
        self._table = table
        self.fields = fields_of(table.schema)
        self.unsaid = unsaid or {}

    def hand_over(self, places: Sequence[int]) -> pa.RecordBatchReader:
        batches = self.read(places).to_batches(max_chunksize=ROWS)
        return handed_columns(batches, self.fields, places)

    def size(self) -> int:
        return int(self._table.num_rows)

    def read(self, places: Sequence[int]) -> pa.Table:
        return or_nothing(self._table, places)


def without_rows(source: AbstractSource) -> TableSource:
    """Return a source of the same columns that holds no rows."""
    return TableSource(pa.Table.from_batches([], pa.schema(source.fields)))


@final
class DatasetSource(AbstractSource):
    """An Arrow data set: files that Arrow finds and reads."""

    ours = True

    def __init__(self, dataset: Any) -> None:
        self._dataset = dataset
        self.fields = fields_of(dataset.schema)
        if _is_filtered(dataset):
            self.doubt = (
                "is filtered by Arrow, which believes what files say of their rows"
            )

    def hand_over(self, places: Sequence[int]) -> pa.RecordBatchReader:
        batches = self._scanner(places).to_batches()
        return handed_columns(batches, self.fields, places)

    def read(self, places: Sequence[int]) -> pa.Table:
        return self._scanner(places).to_table()

    def _scanner(self, places: Sequence[int]) -> Any:
        names = internal(places)
        fields = [pc.field(self.fields[place][0]) for place in places]
        nothing = {NOTHING: pc.scalar(pa.scalar(None, pa.bool_()))}
        columns = dict(zip(names, fields, strict=True)) or nothing
        return self._dataset.scanner(columns=columns, batch_size=ROWS)


def _is_filtered(dataset: Any) -> bool:
    try:
        # only a data set that was filtered refuses to list them
        next(iter(dataset.get_fragments()), None)
    except ValueError:
        return True
    return False


def handed_columns(
    batches: Iterable[pa.RecordBatch], fields: Fields, places: Sequence[int]
) -> pa.RecordBatchReader:
    """Columns for a database, read value by value: c0, c1, ... by their places."""
    named = [(f"c{place}", fields[place][1]) for place in places]
    form = pa.schema([
        (name, column_type(kind_of(arrow) or "bool"))
        for name, arrow in named or [(NOTHING, pa.bool_())]
    ])
    read = (
        pa.RecordBatch.from_arrays(list(map(column_of, batch.columns)), schema=form)
        for batch in batches
    )
    return pa.RecordBatchReader.from_batches(form, read)


def fields_of(schema: pa.Schema) -> Fields:
    """Return the names and types of columns."""
    return tuple((field.name, field.type) for field in schema)


def table_of_frame(frame: Any) -> TableSource:
    """Return the values of a Polars frame, and nothing that it says of their order."""
    columns = [
        _try_convert(column.to_arrow, len(column)) for column in frame.get_columns()
    ]
    return TableSource(pa.Table.from_arrays(columns, names=frame.columns))


def _try_convert(convert: Callable[[], Any], length: int) -> Any:
    try:
        return convert()
    except (pa.ArrowException, TypeError, ValueError, NotImplementedError):
        return pa.nulls(length)


def of_batches(reader: Any, declared: Mapping[str, Column]) -> AbstractSource:
    """Return a source of a stream of batches, which is read to its end."""
    del declared
    # a stream can be read once, and a source as often as it is asked
    return TableSource(reader.read_all())


FROM_ARROW: Final[dict[str, Callable[..., AbstractSource]]] = {
    "pyarrow.Table": lambda table, declared: TableSource(table),  # noqa: ARG005 door
    "pyarrow.Dataset": lambda dataset, declared: DatasetSource(dataset),  # noqa: ARG005 door
    "pyarrow.RecordBatch": lambda batch, declared: TableSource(  # noqa: ARG005 door
        pa.Table.from_batches([batch])
    ),
    "pyarrow.RecordBatchReader": of_batches,
    "polars.DataFrame": lambda frame, declared: table_of_frame(frame),  # noqa: ARG005 door
}
"""How the objects of each class become a source, by package and class."""


def mapped_table(
    batches: Iterable[pa.RecordBatch], schema: Schema, path: Path
) -> pa.Table:
    """Write the rows of a table to a file, and return it as it lies there.

    Of a mapped file, memory holds what is being read, and gives it up when it is short.
    """
    form = _form(schema)
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, form) as writer:
        for batch in batches:
            columns = [
                column.cast(field.type)
                for column, field in zip(batch.columns, form, strict=True)
            ]
            writer.write_batch(pa.RecordBatch.from_arrays(columns, schema=form))
    return pa.ipc.open_file(pa.memory_map(str(path))).read_all()


def table_in_memory(rows: Iterable[Iterable[object]], schema: Schema) -> pa.Table:
    """Return the rows of a table in memory."""
    listed = list(rows)
    columns = list(zip(*listed, strict=True)) or [()] * len(schema.names)
    return pa.Table.from_arrays(
        [
            pa.array(column, field.type)
            for column, field in zip(columns, _form(schema), strict=True)
        ],
        schema=_form(schema),
    )


def freeze_source(opened: Opened, rows: pa.Table) -> Opened:
    """Return a table whose rows are these, whatever becomes of its source."""
    stored = {
        name: Stored(place, column.arrow, column.type)
        for place, (name, column) in enumerate(opened.schema.columns)
    }
    return replace(opened, source=TableSource(rows), stored=stored)


def _form(schema: Schema) -> pa.Schema:
    return pa.schema([(name, column.arrow) for name, column in schema.columns])
