"""Keys of a map: refusing what is no key or stands twice, and their canonical order.

The order is that of the keys alone, whatever order they came in: text by code point,
bytes by byte, numbers and dates by size, tuples by their first difference. Columns of
keys are compared as 64-bit words, so that nothing loops over Python objects.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, Final, TypeAlias, final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from sordino.errors import InvalidData

Words: TypeAlias = NDArray[np.uint64]

_SIGN = np.uint64(1 << 63)
_MIXER = np.uint64(0x9E3779B97F4A7C15)
_FOLD = np.uint64(29)
_LONGEST: Final = 64
"""Text of more bytes than this is compared by its rank, which costs a sort."""
_KINDS: Final = "text, integers, bytes, dates, or tuples of these"


class AbstractKeys(ABC):
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
class ObjectKeys(AbstractKeys):
    """Keys that are Python objects."""

    keys: Sequence[Any]
    unique: bool
    """Whether a container such as a dict vouches that no key stands twice."""

    @property
    def count(self) -> int:
        """Return how many keys there are."""
        return len(self.keys)

    def check(self) -> None:
        """Refuse all but one kind of key, each once."""
        _check_kind(self.keys)
        if not self.unique and len(set(self.keys)) < len(self.keys):
            raise _twice()

    def order(self, rows: NDArray[np.intp]) -> NDArray[np.intp]:
        """Sort by comparing the objects."""
        kept = [self.keys[row] for row in rows.tolist()]
        return np.array(sorted(range(len(kept)), key=kept.__getitem__), np.intp)


@final
@dataclass(frozen=True)
class ColumnKeys(AbstractKeys):
    """Keys held in columns: a key is a row of them."""

    columns: tuple[Words, ...]
    """Words that order the keys, the most significant first."""

    @property
    def count(self) -> int:
        """Return how many keys there are."""
        return self.columns[0].size

    def check(self) -> None:
        """Refuse keys that stand twice: equal keys have equal hashes."""
        first = self.columns[0]
        if (first[1:] > first[:-1]).all():
            return
        if len(self.columns) == 1:
            hashes = first.copy()
        else:
            hashes = np.zeros(self.count, np.uint64)
            for column in self.columns:
                hashes ^= hashes >> _FOLD
                hashes += column
                hashes *= _MIXER
        hashes.sort()
        if (hashes[1:] == hashes[:-1]).any() and self._repeats():
            raise _twice()

    def order(self, rows: NDArray[np.intp]) -> NDArray[np.intp]:
        """Sort by the words that differ at all."""
        words = [column[rows] for column in self.columns]
        telling = [word for word in words if word.size and (word != word[0]).any()]
        if not telling:
            return np.arange(rows.size)
        return telling[0].argsort() if len(telling) == 1 else np.lexsort(telling[::-1])

    def _repeats(self) -> bool:
        """Tell whether two keys agree in every word."""
        order = np.lexsort(self.columns[::-1])
        same = np.ones(max(self.count - 1, 0), np.bool_)
        for column in self.columns:
            same &= np.diff(column[order]) == 0
        return bool(same.any())


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
    """Return the words of an Arrow column."""
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    if isinstance(column, pa.ChunkedArray):  # as older versions leave many chunks
        column = pa.concat_arrays(column.chunks)
    if column.null_count:
        raise InvalidData("a key is missing. Drop the rows whose key is null.")
    kind = column.type
    if pa.types.is_dictionary(kind):
        return _arrow_words(column.dictionary_decode())
    if pa.types.is_integer(kind) or pa.types.is_temporal(kind):
        return _number_words(column.to_numpy(zero_copy_only=False))
    if _is_text(kind):
        return _text_words(column.cast(pa.large_binary()))
    raise _no_key(str(kind))


def _is_text(kind: pa.DataType) -> bool:
    """Tell whether an Arrow type is text or bytes."""
    return (
        pa.types.is_string(kind)
        or pa.types.is_large_string(kind)
        or pa.types.is_string_view(kind)
        or pa.types.is_binary(kind)
        or pa.types.is_large_binary(kind)
        or pa.types.is_binary_view(kind)
        or pa.types.is_fixed_size_binary(kind)
    )


def _number_words(column: NDArray[Any]) -> list[Words]:
    """Return one word for each integer or date, in the same order."""
    if column.dtype.kind == "u":
        return [column.astype(np.uint64)]
    if column.dtype.kind in "mM":
        if np.isnat(column).any():
            raise InvalidData("a key is missing. Drop the rows whose key is null.")
    elif column.dtype.kind != "i":
        raise _no_key(str(column.dtype))
    return [column.astype(np.int64).view(np.uint64) ^ _SIGN]


def _text_words(column: pa.LargeBinaryArray) -> list[Words]:
    """Return text as big-endian words, padded with zeros, and its length.

    Padding never changes the order of two texts that differ within the shorter one;
    where they do not, the shorter one comes first, as its length does.
    """
    _, offset_buffer, data_buffer = column.buffers()
    offsets = np.frombuffer(offset_buffer, np.int64)
    offsets = offsets[column.offset : column.offset + len(column) + 1]
    lengths = np.diff(offsets)
    longest = int(lengths.max(initial=0))
    if longest > _LONGEST:
        ranks = pc.rank(column, tiebreaker="dense").to_numpy()
        return [ranks.astype(np.uint64)]
    least, most = (int(offsets[0]), int(offsets[-1])) if len(column) else (0, 0)
    data = np.zeros(most - least + _LONGEST + 8, np.uint8)
    if most > least:
        data[: most - least] = np.frombuffer(data_buffer, np.uint8)[least:most]
    # Every 8 bytes of the data as a word, at every byte.
    everywhere = np.lib.stride_tricks.as_strided(
        data[:8].view(np.dtype(">u8")), (data.size - 7,), (1,)
    )
    starts = offsets[:-1] - least
    words = []
    for begin in range(0, longest, 8):
        word = everywhere[starts + begin].astype(np.uint64)
        spare = np.clip(begin + 8 - lengths, 0, 8).astype(np.uint64) << np.uint64(3)
        if spare.any():
            word = np.where(spare < 64, word >> spare << spare, np.uint64(0))
        words.append(word)
    if not words or (lengths != lengths[0]).any():
        words.append(lengths.astype(np.uint64))
    return words


def _check_kind(keys: Sequence[Any]) -> None:
    """Refuse keys that are not all of one kind; tuples are checked place by place."""
    types = set(map(type, keys))
    kinds = {_kind(one) for one in types}
    if len(kinds) > 1:
        listed = " and ".join(sorted(kinds))
        raise InvalidData(f"keys of one map must be of one kind, not {listed}.")
    if kinds != {"tuples"}:
        return
    if len(set(map(len, keys))) > 1:
        raise InvalidData("keys that are tuples must all have the same length.")
    for place in zip(*keys, strict=True):
        _check_kind(place)


def _kind(one: type) -> str:
    """Return the kind of a key by its type, or refuse it."""
    if issubclass(one, (bool, np.bool_)):
        raise _no_key(one.__name__)
    for kind, base in _BASES:
        if issubclass(one, base):
            return kind
    raise _no_key(one.__name__)


_BASES: Final[tuple[tuple[str, Any], ...]] = (
    ("text", str),
    ("integers", (int, np.integer)),
    ("bytes", bytes),
    ("times", datetime),
    ("dates", date),
    ("tuples", tuple),
)


def _no_key(kind: str) -> InvalidData:
    """Return the refusal of a kind of key."""
    return InvalidData(
        f"a key may not be of type {kind}: keys are {_KINDS}. "
        "Turn numbers with fractions into text or integers, and drop missing keys."
    )


def _twice() -> InvalidData:
    """Return the refusal of a key that stands twice; which one is private."""
    return InvalidData("a key stands twice. Add up the values of each key first.")
