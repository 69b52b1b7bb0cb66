"""Whether a delimited file is well-formed: looked at once, when it is opened.

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
"""  # noqa: E501 a table

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

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
            return Fault(line + data.count(b"\n", 0, size), _TOO_LONG)
        fault = _fault(data[:size], shape, line)
        if fault is not None:
            return fault
        line += data.count(b"\n", 0, size)
        rest = data[size:]
    return _last(rest, shape, line)


def _last(rest: bytes, shape: Shape, line: int) -> Fault | None:
    """Return the first fault of what stands after the last whole record."""
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
    """Return the size of the whole records that some bytes begin with."""
    if shape.quote is None:
        return data.rfind(b"\n") + 1
    view = np.frombuffer(data, np.uint8)
    outside = _outside(np.flatnonzero(view == _FEED), _quotes(view, shape))
    return int(outside[-1]) + 1 if outside.size else 0


def _quotes(view: NDArray[np.uint8], shape: Shape) -> Places:
    """Return the places of quotes."""
    if shape.quote is None:
        return np.empty(0, np.int64)
    return np.flatnonzero(view == ord(shape.quote))


def _outside(places: Places, quotes: Places) -> Places:
    """Return the places that stand outside of quotes: after an even number of them."""
    if not quotes.size:
        return places
    ends: Places = places[np.searchsorted(quotes, places) % 2 == 0]
    return ends


def _fault(data: bytes, shape: Shape, line: int) -> Fault | None:
    """Return the first fault in whole records that begin at some line."""
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
    """Yield the first quote that does not open or close a field.

    A quote before an opening one closed a field: the two are one quote within it. So
    is one after a closing one.
    """
    if not quotes.size:
        return
    cut = ord(shape.delimiter)
    opening, closing = quotes[::2], quotes[1::2]
    before = view[np.maximum(opening - 1, 0)]
    begins = (opening == 0) | (before == cut) | (before == _FEED)
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
    """Yield the first carriage return that ends no line."""
    returns = _outside(np.flatnonzero(view == _RETURN), quotes)
    alone = returns[view[np.minimum(returns + 1, view.size - 1)] != _FEED]
    if alone.size:
        yield int(alone[0]), "has a carriage return that ends no line"


def _long(ends: Places) -> Iterator[tuple[int, str]]:
    """Yield the first record that is too long."""
    begins = np.concatenate([[0], ends[:-1] + 1])
    long = np.flatnonzero(ends - begins >= LONGEST)
    if long.size:
        yield int(begins[long[0]]), _TOO_LONG


def _ragged_records(
    view: NDArray[np.uint8], ends: Places, quotes: Places, shape: Shape
) -> Iterator[tuple[int, str]]:
    """Yield the first record with another number of fields than the header."""
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
