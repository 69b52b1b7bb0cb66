"""Truncation by digests that DuckDB streams, and that NumPy puts in order.

An id is plain if no two of its rows share a digest, and no other id has its key. Of a
plain id the rows of the least digests are kept; all rows of the others are numbered and
placed by the statement's own rule. Why these are the rows of the bound:
docs/proofs/kept-rows.md, section 5.

What is believed of a source, its size, decides how rows are put in order, and so how
long that takes; never which rows are kept.

Kernel: totals.
"""

from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias, final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sordino.data.source import lookup
from sordino.engines.statements import templates
from sordino.engines.statements.plans import (
    Made,
    Rule,
    Subquery,
    Writer,
    columns_named,
    keep_numbered,
    select_from,
)
from sordino.engines.statements.scripts import Recipe
from sordino.engines.statements.statements import Statement, Statements
from sordino.expressions.schema import Column, Schema
from sordino.numbers.arrays import as_arrow, as_numpy
from sordino.query.nodes import AbstractNode, Filter, KeepRows, Project, Source

Words: TypeAlias = npt.NDArray[Any]
Truths: TypeAlias = npt.NDArray[np.bool_]


@final
@dataclass(frozen=True)
class Digested(AbstractNode):
    """The rows below a bound, then their digests, then the hashes of their ids."""

    bound: KeepRows
    schema: Schema

    def describe(self) -> str:
        return "rows with their digests"


@final
@dataclass(frozen=True)
class KeepNumbered(AbstractNode):
    """What a bound keeps of rows, by a number for each of those that are alike."""

    child: AbstractNode
    bound: KeepRows
    schema: Schema

    def describe(self) -> str:
        return self.bound.describe()


def _digest_rows(work: Writer, node: Digested) -> Subquery:
    bound = node.bound
    below = work.rows(bound.child)
    carried = bound.child.schema.names
    per = [below.columns[name].copy() for name in bound.per]
    order = [below.columns[name] for name in bound.order]
    words = [
        work.dialect.digest([*per, *order, templates.bigint(1)]),
        templates.function(work.dialect.key_hash, *per),
    ]
    further = node.schema.names[len(carried) :]
    pairs = [*columns_named(below, carried), *zip(further, words, strict=False)]
    return work.part(select_from(below), pairs, node.schema)


def _number_rows(work: Writer, node: KeepNumbered) -> Subquery:
    return keep_numbered(work, node.bound, work.rows(node.child))


RULES: Final[Mapping[type[Any], Rule]] = {
    Digested: _digest_rows,
    KeepNumbered: _number_rows,
}


LEAST: Final = 2**20  # of fewer rows a second statement costs more than it saves
MOST: Final = 2**25  # more rows are not held: places and words take 40 bytes each
PART: Final = 2**15  # so many rows at least are put in order together: they fit a cache
MANY: Final = 4  # of more such parts together 16 bits of digests leave many rows tied
MOST_BITS: Final = 12  # of the bits by which parts are told, and one part more
_KEY: Final = "key"
_DIGEST: Final = "digest"
_PLACE: Final = "place"
LONGEST_ID: Final = 128  # bytes of a text that names who is bounded
CHUNK: Final = 2**21  # about so many rows are handed over together
_COMPARED: Final = frozenset({"i64", "text", "date", "time", "bool"})
"""Types of ids of which two are the same if all their bits are."""


@final
@dataclass(frozen=True)
class Truncation:
    """Keeps the rows of a bound by sorted digests, where there is room for them."""

    read: Callable[[Statement], Generator[pa.RecordBatch]]
    """Streams a statement's rows, and looks at the plan that ran when they end."""
    hand: Callable[[str, pa.Table], None]
    writes: Statements
    room: int  # bytes

    def statements(self, recipe: Recipe) -> Generator[Statement]:
        """Yield statements of all rows that are kept, each run before the next."""
        bound = recipe.run.rows
        streamed = self._read_rows(bound) if isinstance(bound, KeepRows) else None
        if streamed is None:  # nothing was kept
            yield recipe.run.last
            return
        clear, unclear = streamed.rank()
        for rows in streamed.pick(clear, streamed.bound.schema, CHUNK):
            yield self._hand_over(rows, Made(0, streamed.bound.schema))
        if unclear.any():  # all of them at once: an id may have rows anywhere
            schema = streamed.bound.child.schema
            (rows,) = streamed.pick(unclear, schema, streamed.count)
            node = KeepNumbered(Made(0, schema), streamed.bound, streamed.bound.schema)
            yield self._hand_over(rows, node)

    def _size(self, bound: KeepRows) -> int:
        """Size that a source states; 0 where its rows may be left out."""
        below: AbstractNode = bound.child
        if {below.schema[name].type for name in bound.per} - _COMPARED:
            return 0
        while isinstance(below, (Project, Filter)):
            if isinstance(below, Filter) and below.condition.names() - {*bound.per}:
                return 0
            below = below.child
        if not isinstance(below, Source):
            return 0
        return lookup(self.writes.tables, below.table).source.size() or 0

    def _read_rows(self, bound: KeepRows) -> "StreamedRows | None":
        """All rows with their digests; None if something stopped them, or no room."""
        size = self._size(bound)
        if not LEAST <= size <= MOST:
            return None
        streamed = StreamedRows(
            bound, min(MOST_BITS, max(1, (size // PART).bit_length() - 1))
        )
        batches = self.read(self.writes.rows(_with_digests(bound)))
        taken = 0
        with closing(batches), suppress(OSError, pa.ArrowException, LongID):
            for batch in batches:
                taken += streamed.add(batch)
                # from the first rows on it is known what all of them will take
                share = max(1.0, size / max(1, streamed.count))
                if streamed.count > MOST or taken * share > self.room:
                    return None
            return streamed
        return None  # what stopped them stops the statement, too, which says it

    def _hand_over(self, rows: pa.Table, node: AbstractNode) -> Statement:
        names = [f"c{place}" for place in range(rows.num_columns)]
        self.hand("m0", rows.rename_columns(names))
        return self.writes.rows(node)


def _has_words(bound: KeepRows) -> bool:
    """Tell whether ids are integers, of which each has a key of its own."""
    return [bound.child.schema[name].type for name in bound.per] == ["i64"]


def _with_digests(bound: KeepRows) -> Digested:
    columns = bound.child.schema.columns
    further = ("digest",) if _has_words(bound) else ("digest", "hash")
    # longer than any name
    names = ("".join((name, *bound.child.schema.names)) for name in further)
    word = Column("i64", nullable=False)
    return Digested(bound, Schema.of([*columns, *((name, word) for name in names)]))


@final
@dataclass(frozen=True)
class SortedBatch:
    """Rows of one batch in parts of near keys: the words by which they are sorted."""

    ends: list[int]  # of each part, after the 0 of the first
    words: dict[str, Words]

    @classmethod
    def of(cls, batch: pa.RecordBatch, bound: KeepRows, bits: int) -> "SortedBatch":
        """Part some rows by the first bits of their keys."""
        names = bound.child.schema.names
        ids = [batch.column(names.index(name)) for name in bound.per]
        digests, *hashes = map(as_numpy, batch.columns[len(names) :])
        if hashes:
            words = {_KEY: hashes[0].view(np.uint64)} | _words_of_ids(ids)
        else:
            words = {_KEY: _mix_bits(as_numpy(ids[0].fill_null(0)).view(np.uint64))}
        part = (words[_KEY] >> np.uint64(64 - bits)).astype(np.uint16)
        if not hashes and ids[0].null_count:
            # missing is an id, too: alone in a part beside the others
            part[as_numpy(ids[0].is_null())] = 1 << bits
        order = np.argsort(part, kind="stable")
        ends = np.searchsorted(_take(part, order), range((1 << bits) + 2))
        parted = _in_order(words | {_DIGEST: digests}, order)
        return cls(ends.tolist(), parted | {_PLACE: order.astype(np.uint32)})

    @property
    def nbytes(self) -> int:
        """Return how much room it takes."""
        return sum(word.nbytes for word in self.words.values()) + 8 * len(self.ends)


@final
@dataclass(frozen=True)
class StreamedRows:
    """Rows as they came, and their words in parts of the keys."""

    bound: KeepRows
    bits: int
    batches: list[pa.RecordBatch] = field(default_factory=list)
    pieces: list[SortedBatch] = field(default_factory=list)

    @property
    def count(self) -> int:
        """Return how many rows they are."""
        return sum(map(len, self.batches))

    def add(self, batch: pa.RecordBatch) -> int:
        """Hold some rows, and return how many bytes they take before all are kept."""
        names = list(self.bound.child.schema.names)
        piece = SortedBatch.of(batch, self.bound, self.bits)
        piece.words[_PLACE] += np.uint32(self.count)
        rows = pa.RecordBatch.from_arrays(batch.columns[: len(names)], names=names)
        self.pieces.append(piece)
        self.batches.append(rows)
        size: int = 2 * batch.nbytes  # what is kept is written once more
        return size + piece.nbytes

    def rank(self) -> tuple[Truths, Truths]:
        """Tell which rows are kept of plain ids, and which are of all others."""
        clear, unclear = np.zeros((2, self.count), np.bool_)
        for part in self._parts():
            order = _order(part[_KEY], part[_DIGEST], self.bits)
            words = _in_order(part, order)
            keys, places = words.pop(_KEY), words.pop(_PLACE)
            first, limit = np.ones(len(keys), np.bool_), self.bound.limit
            np.not_equal(keys[limit:], keys[:-limit], out=first[limit:])
            rows = _not_plain(keys, words)
            unclear[places[rows]] = True
            clear[places[first & ~rows]] = True
        self.pieces.clear()
        return clear, unclear

    def _parts(self) -> Iterator[dict[str, Words]]:
        names = {name for piece in self.pieces for name in piece.words}
        for part in range((1 << self.bits) + 1):
            rows = [slice(*piece.ends[part : part + 2]) for piece in self.pieces]
            if any(some.start < some.stop for some in rows):
                yield {
                    name: np.concatenate([
                        piece.words[name][some]
                        if name in piece.words
                        else np.zeros(some.stop - some.start, np.uint8)
                        for piece, some in zip(self.pieces, rows, strict=True)
                    ])
                    for name in names
                }

    def pick(self, rows: Truths, schema: Schema, least: int) -> Iterator[pa.Table]:
        """Yield some rows, columns of a schema, in tables of so many or more."""
        taken, seen = [], 0
        for batch in self.batches:
            mask = rows[seen : seen + len(batch)]
            seen += len(batch)
            taken.append(batch.select(list(schema.names)).filter(as_arrow(mask)))
            count = sum(map(len, taken))
            if count >= least or (count > 0 and seen == self.count):
                yield pa.Table.from_batches(taken)
                taken.clear()


def _take(words: Words, places: Words) -> Words:
    # of places that are all there none has to be looked at
    taken: Words = np.take(words, places, mode="wrap")
    return taken


def _in_order(words: dict[str, Words], order: Words) -> dict[str, Words]:
    return {name: _take(word, order) for name, word in words.items()}


def _mix_bits(ids: Words) -> Words:
    """Return keys of integers, one to one, in which the first bits tell them apart."""
    # to add what is shifted by half of all bits can be undone, and to multiply by an
    # odd number, too
    keys: Words = ids ^ (ids >> np.uint64(32))
    keys *= np.uint64(0x9E3779B97F4A7C15)
    keys ^= keys >> np.uint64(32)
    return keys


def _order(keys: Words, digests: Words, bits: int) -> Words:
    """Return the places of rows by key, then digest; all keys begin with the same bits.

    Words of 16 bits are sorted, the least first. Where other bits decide, all are.
    """
    deep = 2 if len(keys) > MANY * PART else 1
    words = [digests >> np.uint64(64 - 16 * n) for n in range(deep, 0, -1)]
    words += [keys >> np.uint64(48 - 16 * n - bits) for n in (1, 0)]
    order = np.argsort(words[0].astype(np.uint16), kind="stable")
    for word in words[1:]:
        by = np.argsort(_take(word.astype(np.uint16), order), kind="stable")
        order = _take(order, by)
    keys_there, there = _take(keys, order), _take(digests, order)
    same = keys_there[1:] == keys_there[:-1]
    near = (keys_there[1:] ^ keys_there[:-1]) >> np.uint64(32 - bits) == 0
    if (near > same).any():  # rows of two keys may lie between each other
        by_all: Words = np.lexsort((digests, keys))
        return by_all
    tied = same & ((there[1:] ^ there[:-1]) >> np.uint64(64 - 16 * deep) == 0)
    down = tied & (there[1:] < there[:-1])
    if down.any():
        run = np.zeros(len(keys), np.int64)
        np.cumsum(~tied, out=run[1:])
        mended = np.zeros(run[-1] + 1, np.bool_)
        mended[run[1:][down]] = True
        rows = np.flatnonzero(mended[run])
        order[rows] = order[rows[np.lexsort((there[rows], run[rows]))]]
    return order


def _not_plain(keys: Words, words: dict[str, Words]) -> Truths:
    """Tell which rows, in order, are of ids that share a key, or a digest twice."""
    same = keys[1:] == keys[:-1]
    odd = np.zeros(len(same), np.bool_)
    for name, word in words.items():
        alike = word[1:] == word[:-1]
        odd |= same & (alike if name == _DIGEST else ~alike)
    if not odd.any():
        return np.zeros(len(keys), np.bool_)
    key = np.zeros(len(keys), np.int64)
    np.cumsum(~same, out=key[1:])
    unclear = np.zeros(key[-1] + 1, np.bool_)
    unclear[key[1:][odd]] = True
    rows: Truths = unclear[key]
    return rows


def _words_of_ids(ids: list[pa.Array]) -> dict[str, Words]:
    """Return words that agree in two rows if all their ids do, and only then.

    A word that is left out is 0.
    """
    words: dict[str, Words] = {}
    for number, column in enumerate(ids):
        if column.null_count:
            words[f"id {number} missing"] = as_numpy(column.is_null())
        if pa.types.is_string(column.type):
            each = _words_of_texts(column.fill_null(""))
        else:
            each = [as_numpy(column.cast(_INTEGERS[column.type]).fill_null(0))]
        words |= {f"id {number} {place}": word for place, word in enumerate(each)}
    return words


_INTEGERS: Final = {
    pa.int64(): pa.int64(),
    pa.bool_(): pa.uint8(),
    pa.date32(): pa.int32(),
    pa.timestamp("us"): pa.int64(),
}


def _words_of_texts(texts: pa.Array) -> list[Words]:
    """Return the lengths of texts, and all their bytes by eight."""
    _, offsets, data = texts.buffers()
    ends = np.frombuffer(offsets, np.int32, len(texts) + 1, texts.offset * 4)
    starts, lengths = ends[:-1].astype(np.int64), np.diff(ends)
    longest = int(lengths.max(initial=0))
    if longest > LONGEST_ID:
        raise LongID
    bytes_ = np.zeros(ends[-1] + longest + 8, np.uint8)
    bytes_[: ends[-1]] = np.frombuffer(data or b"", np.uint8, ends[-1])
    # a word begins at each byte
    each = np.ndarray((len(bytes_) - 7,), np.uint64, bytes_, strides=(1,))
    words: list[Words] = [lengths]
    for first in range(0, longest, 8):
        left = np.clip(lengths - first, 0, 8)
        words.append(each[starts + first] & _FIRST_BYTES[left])
    return words


_FIRST_BYTES: Final = np.array(
    [[255] * n + [0] * (8 - n) for n in range(9)], np.uint8
).view(np.uint64)[:, 0]
"""Words whose first bytes, in memory, are all ones."""


@final
class LongID(Exception):
    """An id is a longer text than is streamed beside its row."""
