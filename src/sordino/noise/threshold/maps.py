"""Maps from keys to numbers: opened, checked, ordered, and closed in the same kind.

The order is that of the keys alone, whatever order they came in: text by code point,
bytes by byte, numbers and dates by size, tuples by their first difference. Columns of
keys are compared as 64-bit words, so that nothing loops over Python objects.

Nothing of an answer may tell of keys that did not pass. Containers remember more than
they show: the width of the longest text, the categories of a column, the levels of an
index, the dictionary of an encoded array. Each is made anew from what passed.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, Final, NamedTuple, TypeAlias, final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from sordino.errors import InvalidData
from sordino.noise.numbers import open_numbers

Words: TypeAlias = NDArray[np.uint64]

_SIGN = np.uint64(1 << 63)
_MIXERS = np.array([0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9], np.uint64)
_FOLD = np.uint64(32)
_FEW = 64
_WORD = 64
_BYTES = 8
_LONGEST: Final = 64
"""Text of more bytes than this is compared by its rank, which costs a sort."""
_KINDS: Final = "text, integers, bytes, dates, or tuples of these"


class AbstractMapKeys(ABC):
    """The keys of a map, one for each value."""

    @property
    @abstractmethod
    def count(self) -> int:
        """Return how many keys there are."""

    @abstractmethod
    def check(self) -> None:
        """Refuse keys of a wrong kind, missing keys, and keys that stand twice."""

    @abstractmethod
    def order(self, rows: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return the places in `rows` in the canonical order of their keys."""


@final
@dataclass(frozen=True)
class ObjectKeys(AbstractMapKeys):
    """Keys that are Python objects."""

    keys: Sequence[Any]
    unique: bool
    """Whether a container such as a dict vouches that no key stands twice."""

    @property
    def count(self) -> int:
        return len(self.keys)

    def check(self) -> None:
        _check_kind(self.keys)
        if not self.unique and len(set(self.keys)) < len(self.keys):
            raise _twice()

    def order(self, rows: NDArray[np.intp]) -> NDArray[np.intp]:
        keys = [self.keys[row] for row in rows.tolist()]
        return np.array(sorted(range(len(keys)), key=keys.__getitem__), np.intp)


@final
@dataclass(frozen=True)
class ColumnKeys(AbstractMapKeys):
    """Keys held in columns: a key is a row of them."""

    columns: tuple[Words, ...]
    """Words that order the keys, the most significant first."""

    @property
    def count(self) -> int:
        return self.columns[0].size

    def check(self) -> None:
        """Refuse keys that stand twice: equal keys have equal hashes."""
        first = self.columns[0]
        if _ascends(first[:_FEW]) and _ascends(first):
            return
        hashes = first * _MIXERS[0]
        for place, column in enumerate(self.columns[1:], 1):
            hashes ^= hashes >> _FOLD
            hashes += column * _MIXERS[place % len(_MIXERS)]
        short = (hashes >> _FOLD).astype(np.uint32)
        ordered = np.sort(short)
        met = ordered[1:][ordered[1:] == ordered[:-1]]
        if met.size and self._repeats(np.flatnonzero(_may_be_among(short, met))):
            raise _twice()

    def order(self, rows: NDArray[np.intp]) -> NDArray[np.intp]:
        words = [column[rows] for column in self.columns]
        packed = _pack(words)
        return np.lexsort(words[::-1]) if packed is None else packed.argsort()

    def _repeats(self, rows: NDArray[np.intp]) -> bool:
        words = [column[rows] for column in self.columns]
        order = np.lexsort(words[::-1])
        same = np.ones(max(rows.size - 1, 0), np.bool_)
        for word in words:
            same &= np.diff(word[order]) == 0
        return bool(same.any())


def _ascends(words: Words) -> bool:
    return bool((words[1:] > words[:-1]).all())


def _may_be_among(
    hashes: NDArray[np.uint32], met: NDArray[np.uint32]
) -> NDArray[np.bool_]:
    """Tell which hashes may be among a few, by their last 16 digits."""
    marked = np.zeros(1 << 16, np.bool_)
    marked[met & np.uint32(0xFFFF)] = True
    marks: NDArray[np.bool_] = marked[hashes & np.uint32(0xFFFF)]
    return marks


def column_keys(columns: Sequence[Any]) -> ColumnKeys:
    """Return the keys held in one or more NumPy or Arrow columns."""
    words: list[Words] = []
    for column in columns:
        if isinstance(column, np.ndarray):
            words += _number_words(column)
        else:
            words += _arrow_words(column)
    return ColumnKeys(tuple(words))


def _arrow_words(column: "pa.Array | pa.ChunkedArray") -> list[Words]:
    if isinstance(column, pa.ChunkedArray):
        alone = column.num_chunks == 1
        column = column.chunk(0) if alone else column.combine_chunks()
    if column.null_count:
        raise InvalidData("a key is missing. Drop the rows whose key is null.")
    kind = column.type
    if pa.types.is_dictionary(kind):
        return _arrow_words(column.dictionary_decode())
    if pa.types.is_integer(kind) or pa.types.is_temporal(kind):
        return _number_words(column.to_numpy(zero_copy_only=False))
    if pa.types.is_string(kind) or pa.types.is_binary(kind):
        return _text_words(column, np.int32)
    if pa.types.is_large_string(kind) or pa.types.is_large_binary(kind):
        return _text_words(column, np.int64)
    if str(kind).startswith(("string_view", "binary_view", "fixed_size_binary")):
        return _text_words(column.cast(pa.large_binary()), np.int64)
    raise _no_key(str(kind))


def _number_words(column: NDArray[Any]) -> list[Words]:
    if column.dtype.kind == "u":
        return [column.astype(np.uint64)]
    if column.dtype.kind in "mM":
        if np.isnat(column).any():
            raise InvalidData("a key is missing. Drop the rows whose key is null.")
    elif column.dtype.kind != "i":
        raise _no_key(str(column.dtype))
    return [column.astype(np.int64).view(np.uint64) ^ _SIGN]


def _text_words(column: pa.Array, offset_type: type[np.signedinteger]) -> list[Words]:
    """Return text as big-endian words, padded with zeros, and its length.

    Padding never changes the order of two texts that differ within the shorter one;
    where they do not, the shorter one comes first, as its length does.
    """
    _, offset_buffer, data_buffer = column.buffers()
    offsets = np.frombuffer(offset_buffer, offset_type)
    offsets = offsets[column.offset : column.offset + len(column) + 1]
    lengths = np.diff(offsets)
    shortest, longest = int(lengths.min(initial=_LONGEST)), int(lengths.max(initial=0))
    if longest > _LONGEST:
        ranks = pc.rank(column, tiebreaker="dense").to_numpy()
        return [ranks.astype(np.uint64)]
    if not longest:
        return [lengths.astype(np.uint64)]
    letters = np.frombuffer(data_buffer, np.uint8)[offsets[0] : offsets[-1]]
    if shortest == longest >= _BYTES:
        return [_evenly(letters, longest, at) for at in range(0, longest, _BYTES)]
    data = np.empty(letters.size + _LONGEST, np.uint8)
    data[: letters.size], data[letters.size :] = letters, 0
    starts, lengths = (
        offsets[:-1].astype(np.int64) - offsets[0],
        lengths.astype(np.int64),
    )
    words = [_unevenly(data, starts, lengths, at) for at in range(0, longest, _BYTES)]
    return [*words, lengths.astype(np.uint64)]


def _evenly(data: NDArray[np.uint8], length: int, at: int) -> Words:
    """Return the words that begin `at` bytes into texts of one length, 8 or more.

    Where a text ends within the word, its last 8 bytes are read and moved up.
    """
    begin = min(at, length - _BYTES)
    words = np.ndarray(
        (data.size // length,), ">u8", data.data, offset=begin, strides=(length,)
    )
    return words.astype(np.uint64) << np.uint64(8 * (at - begin))


def _unevenly(
    data: NDArray[np.uint8],
    starts: NDArray[np.int64],
    lengths: NDArray[np.int64],
    at: int,
) -> Words:
    everywhere = np.ndarray((data.size - 7,), ">u8", data.data, strides=(1,))
    words = everywhere[np.minimum(starts + at, data.size - 8)].astype(np.uint64)
    spare = np.clip(at + 8 - lengths, 0, 8).astype(np.uint64) << np.uint64(3)
    return np.where(spare < _WORD, words >> spare << spare, np.uint64(0))


def _pack(columns: Sequence[Words]) -> Words | None:
    """Return one word that orders the keys, or None if their bits do not fit in it.

    Bits that are the same in every key decide nothing and are left out.
    """
    if not columns[0].size:
        return columns[0]
    parts, total = [], 0
    for column in columns:
        varying = int(np.bitwise_or.reduce(column) ^ np.bitwise_and.reduce(column))
        low = (varying & -varying).bit_length() - 1 if varying else 0
        width = varying.bit_length() - low
        parts.append((column, low, width))
        total += width
    if total > _WORD:
        return None
    packed = np.zeros(columns[0].size, np.uint64)
    bits = np.empty_like(packed)
    for column, low, width in parts:
        np.right_shift(column, np.uint64(low), out=bits)
        bits &= np.uint64((1 << width) - 1)
        if 0 < width < _WORD:
            packed <<= np.uint64(width)
        packed |= bits
    return packed


def _check_kind(keys: Sequence[Any]) -> None:
    """Refuse keys that are not all of one kind; tuples are checked place by place."""
    types = set(map(type, keys))
    kinds = {_kind(kind) for kind in types}
    if len(kinds) > 1:
        listed = " and ".join(sorted(kinds))
        raise InvalidData(
            f"the keys of a map must all be of one kind, not {listed}. Turn them into "
            "text."
        )
    if kinds == {"times"}:
        _check_times(keys)
    if kinds != {"tuples"}:
        return
    if len(set(map(len, keys))) > 1:
        raise InvalidData(
            "keys that are tuples must all have the same length. Fill up the shorter "
            "ones."
        )
    for place in zip(*keys, strict=True):
        _check_kind(place)


def _check_times(times: Sequence[datetime]) -> None:
    """Refuse a missing time, and a mixture of times with and without a zone."""
    if any(time != time for time in times):  # noqa: PLR0124 as a missing time does
        raise InvalidData("a key is missing. Drop the rows whose key is null.")
    if len({time.utcoffset() is None for time in times}) > 1:
        raise InvalidData(
            "keys that are times must all have a zone, or none. Convert them to UTC."
        )


def _kind(cls: type) -> str:
    if issubclass(cls, (bool, np.bool_)):
        raise _no_key(cls.__name__)
    for kind, base in _BASES:
        if issubclass(cls, base):
            return kind
    raise _no_key(cls.__name__)


_BASES: Final[tuple[tuple[str, Any], ...]] = (
    ("text", str),
    ("integers", (int, np.integer)),
    ("bytes", bytes),
    ("times", datetime),
    ("dates", date),
    ("tuples", tuple),
)


def _no_key(kind: str) -> InvalidData:
    return InvalidData(
        f"a key must not be of type {kind}: keys are {_KINDS}. "
        "Turn numbers with fractions into text or integers, and drop missing keys."
    )


def _twice() -> InvalidData:
    return InvalidData("a key occurs twice. Add up the values of each key first.")


Rows: TypeAlias = NDArray[np.intp]

Take: TypeAlias = Callable[[Rows, Rows], Any]
"""Takes ascending rows of a column of keys, and puts them in an order."""

_MAPS_KINDS = (
    "a dict, an Arrow table, a pair (keys, values) of arrays, "
    "a pandas series or a Polars frame"
)


@final
class OpenedMap(NamedTuple):
    """Keys and values of a map, and how to close an answer of some of its rows."""

    keys: AbstractMapKeys
    values: NDArray[Any]
    close: Callable[[Rows, Rows, NDArray[Any]], Any]
    """Takes ascending rows, the order to put them in, and the answers in that order."""


def open_map(source: Any) -> OpenedMap:
    """Return the keys and values of a map, checked."""
    opened = _open_any(source)
    if opened.keys.count != opened.values.size:
        raise InvalidData("there must be one value for each key.")
    opened.keys.check()
    return opened


def _open_any(source: Any) -> OpenedMap:
    if isinstance(source, dict):
        return _open_dict(source)
    if isinstance(source, tuple):
        return _open_pair(source)
    if isinstance(source, pa.RecordBatch):
        return _open_table(pa.Table.from_batches([source]))
    if isinstance(source, pa.Table):
        return _open_table(source)
    match type(source).__module__.partition(".")[0], type(source).__name__:
        case "pandas", "Series":
            return _open_series(source)
        case "polars", "DataFrame":
            return _open_frame(source)
    raise InvalidData(f"a {type(source).__name__} is not a map. Give {_MAPS_KINDS}.")


def _open_dict(source: dict[Any, Any]) -> OpenedMap:
    keys = list(source)

    def close(rows: Rows, order: Rows, answers: NDArray[Any]) -> dict[Any, Any]:
        chosen = (keys[row] for row in rows[order].tolist())
        return dict(zip(chosen, answers.tolist(), strict=True))

    return OpenedMap(
        ObjectKeys(keys, unique=True), _numbers(list(source.values())), close
    )


def _open_pair(source: tuple[Any, ...]) -> OpenedMap:
    if len(source) != 2:
        raise InvalidData(
            f"a tuple of {len(source)} is not a map: give a pair (keys, values)."
        )
    keys, values = source
    if isinstance(keys, (pa.Array, pa.ChunkedArray)):
        map_keys: AbstractMapKeys = column_keys([keys])
        take = _arrow_take(keys)
    elif isinstance(keys, np.ndarray) and keys.dtype.kind in "iuM":
        map_keys, take = column_keys([_flat(keys)]), _array_take(keys)
    elif isinstance(keys, np.ndarray):
        map_keys, take = (
            ObjectKeys(_flat(keys).tolist(), unique=False),
            _array_take(keys),
        )
    elif isinstance(keys, (list, tuple)):
        map_keys, take = ObjectKeys(keys, unique=False), _list_take(keys)
    else:
        raise InvalidData(
            f"keys must not be a {type(keys).__name__}: "
            "give a list, a NumPy array or an Arrow array."
        )
    finish = _finisher(values)

    def close(rows: Rows, order: Rows, answers: NDArray[Any]) -> tuple[Any, Any]:
        return take(rows, order), finish(answers)

    return OpenedMap(map_keys, _numbers(values), close)


def _finisher(values: Any) -> Callable[[NDArray[Any]], Any]:
    if isinstance(values, (list, tuple)):
        return lambda answers: type(values)(answers.tolist())
    if isinstance(values, (pa.Array, pa.ChunkedArray)):
        return open_numbers(values).close
    if isinstance(values, np.ndarray) and values.ndim == 1:
        return lambda answers: answers
    raise InvalidData(
        f"values must not be a {type(values).__name__}: "
        "give a list, a flat NumPy array or an Arrow array."
    )


def _open_table(table: pa.Table) -> OpenedMap:
    names = _names(table.column_names)
    keys = column_keys(table.columns[:-1])

    def close(rows: Rows, order: Rows, answers: NDArray[Any]) -> pa.Table:
        columns = [_arrow_take(column)(rows, order) for column in table.columns[:-1]]
        whole = [column.combine_chunks() for column in columns]
        return pa.table([*whole, pa.array(answers)], names=names)

    return OpenedMap(keys, _numbers(table.columns[-1]), close)


def _open_series(series: Any) -> OpenedMap:
    index = series.index
    keys = ObjectKeys(index.tolist(), unique=index.is_unique)

    def close(rows: Rows, order: Rows, answers: NDArray[Any]) -> Any:
        chosen = _index_take(index, rows[order])
        return type(series)(answers, index=chosen, name=series.name)

    return OpenedMap(keys, _numbers(series), close)


def _open_frame(frame: Any) -> OpenedMap:
    names = _names(frame.columns)
    keys = column_keys(frame.select(names[:-1]).to_arrow().columns)

    def close(rows: Rows, order: Rows, answers: NDArray[Any]) -> Any:
        values = type(frame)({names[-1]: answers}).get_column(names[-1])
        chosen = frame.select(names[:-1])[rows[order]]
        texts = {  # categories list keys that did not pass
            name: str for name in names[:-1] if "Categorical" in str(chosen[name].dtype)
        }
        return chosen.cast(texts).with_columns(values)

    return OpenedMap(keys, _numbers(frame.get_column(names[-1])), close)


def _names(names: list[str]) -> list[str]:
    if len(names) < 2:
        raise InvalidData(
            "a table needs a column of keys and, last, the column of values."
        )
    return list(names)


def _numbers(values: Any) -> NDArray[Any]:
    numbers = open_numbers(values).values
    # Objects may be anything: let the reader of lists look at each.
    return (
        open_numbers(numbers.tolist()).values if numbers.dtype.kind == "O" else numbers
    )


def _flat(keys: NDArray[Any]) -> NDArray[Any]:
    if keys.ndim != 1 or isinstance(keys, np.ma.MaskedArray):
        raise InvalidData(
            "keys must be a plain array of one dimension. Flatten it first."
        )
    return keys


def _arrow_take(column: "pa.Array | pa.ChunkedArray") -> Take:
    """Return how to take rows of an Arrow column: in two steps that are both short."""
    if not pa.types.is_dictionary(column.type):
        return lambda rows, order: column.take(pa.array(rows)).take(pa.array(order))

    def take(rows: Rows, order: Rows) -> Any:
        chosen = column.take(pa.array(rows)).take(pa.array(order))
        # made anew: the old dictionary lists keys that did not pass
        return chosen.cast(column.type.value_type).dictionary_encode().cast(column.type)

    return take


def _array_take(keys: NDArray[Any]) -> Take:
    """Return how to take items of an array; text gets the width that its items need."""
    if keys.dtype.kind not in "US":
        return lambda rows, order: keys[rows[order]]
    kind = keys.dtype.kind
    # the old width would tell of the longest key
    return lambda rows, order: np.array(keys[rows[order]].tolist(), kind)


def _index_take(index: Any, rows: Rows) -> Any:
    chosen = index.take(rows)
    match type(index).__name__:
        case "MultiIndex" if rows.size:
            # the old levels list keys that did not pass
            return type(index).from_tuples(chosen.tolist(), names=index.names)
        case "MultiIndex":
            return chosen.remove_unused_levels()
        case "CategoricalIndex":
            return chosen.remove_unused_categories()
        case _:
            return chosen


def _list_take(keys: "list[Any] | tuple[Any, ...]") -> Take:
    return lambda rows, order: type(keys)(keys[row] for row in rows[order].tolist())
