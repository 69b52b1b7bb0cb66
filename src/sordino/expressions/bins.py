"""Bins: ranges with names, for numbers, dates and times."""

import itertools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, final

from sordino._completion import hides
from sordino._fields import fill
from sordino.errors import InvalidParameter
from sordino.expressions import facts
from sordino.expressions.base import Value
from sordino.expressions.comparison import order
from sordino.expressions.fluent import Fluent
from sordino.expressions.literals import literal
from sordino.expressions.tree import (
    AbstractTree,
    Argument,
    Literal,
    Operation,
    receiver,
)
from sordino.schema import NUMBERS, Column
from sordino.words import Words, call

MOST_BINS: Final = 1_000
_REMEDY: Final = "Use edges of the type of the column, or cast it."


@hides("labels", "words")
@final
@dataclass(frozen=True)
class Bins:
    """Ranges between ascending edges: [0, 10), [10, 20), ..., [90, 100].

    | | |
    |---|---|
    | an edge | belongs to the range above it; with `right` to the range below |
    | the outermost edges | belong to their ranges, unless include_ends=False |
    | outside, missing, NaN | in no range |

    >>> Bins([0, 18, 65, 120]).labels
    ('[0, 18)', '[18, 65)', '[65, 120]')
    >>> Bins([0, 18, 65], names=["young", "grown"]).labels
    ('young', 'grown')
    """

    edges: Sequence[Any]
    names: Sequence[str] | None = None
    right: bool = False
    include_ends: bool = True
    labels: tuple[str, ...] = field(init=False, repr=False, compare=False)
    """The names of the ranges, in order."""
    type: str = field(init=False, repr=False, compare=False)
    """The type of the edges: i64, f64, date or time."""

    def __post_init__(self) -> None:
        """Refuse edges that do not ascend, and names that do not fit them."""
        for name, value in (("right", self.right), ("include_ends", self.include_ends)):
            if not isinstance(value, bool):
                raise InvalidParameter(
                    name, value, "must be True or False", f"Try {name}=True."
                )
        kind, edges = _edges(self.edges)
        names = None if self.names is None else _names(self.names, len(edges) - 1)
        fill(self, type=kind, edges=edges, names=names)
        fill(self, labels=names or self._ranges())

    @property
    def words(self) -> Words:
        """Return the edges and what they are called; ranges without names are alike."""
        return call(
            "bins",
            edges=[Literal(self.type, edge).words for edge in self.edges],
            names=None if self.names is None else list(self.names),
            right=self.right,
            include_ends=self.include_ends,
        )

    def opens(self, place: int) -> bool:
        """Tell whether an edge belongs to the range above it."""
        if self.include_ends and place in (0, len(self.edges) - 1):
            return place == 0
        return not self.right

    def label(self, value: Value) -> str | None:
        """Return the name of the range of a value.

        >>> Bins([0, 18, 65]).label(18), Bins([0, 18, 65]).label(66)
        ('[18, 65]', None)
        """
        if value is None or (isinstance(value, float) and math.isnan(value)):
            return None
        passed = sum(self._passes(value, place) for place in range(len(self.edges)))
        return self.labels[passed - 1] if 0 < passed < len(self.edges) else None

    def _passes(self, value: Value, place: int) -> bool:
        """Tell whether a value lies beyond an edge, or on one that opens a range."""
        sign = order(value, self.edges[place])
        return sign > 0 or (sign == 0 and self.opens(place))

    def _ranges(self) -> tuple[str, ...]:
        """Return the ranges as they are written in mathematics."""
        return tuple(
            f"{'[' if self.opens(place) else '('}{low}, {high}"
            f"{')' if self.opens(place + 1) else ']'}"
            for place, (low, high) in enumerate(itertools.pairwise(self.edges))
        )


def _edges(edges: Any) -> tuple[str, tuple[Value, ...]]:
    """Return the type and the values of ascending edges."""
    if isinstance(edges, str) or not isinstance(edges, Iterable):
        raise InvalidParameter("edges", edges, "must be a list", "Try [0, 10, 20].")
    read = [literal(edge) for edge in edges]
    if not 2 <= len(read) <= MOST_BINS + 1:
        raise InvalidParameter(
            "edges",
            f"{len(read)} of them",
            f"must have 2 to {MOST_BINS + 1} entries",
            "Try [0, 10, 20].",
        )
    kind = _kind(edges, read)
    values = [float(end.constant) if kind == "f64" else end.constant for end in read]
    if any(not low < high for low, high in itertools.pairwise(values)):
        raise InvalidParameter(
            "edges", edges, "must be in ascending order, without repeats", "Sort them."
        )
    return kind, tuple(values)


def _kind(edges: Any, read: list[Literal]) -> str:
    """Return the one type of all edges; numbers meet in f64."""
    kinds = {edge.type for edge in read}
    if kinds <= set(NUMBERS):
        return "f64" if "f64" in kinds else "i64"
    if len(kinds) > 1 or not kinds <= {"date", "time"}:
        raise InvalidParameter(
            "edges", edges, "must be numbers, dates or times", "Use values of one type."
        )
    return kinds.pop()


def _names(names: Any, count: int) -> tuple[str, ...]:
    """Return a different name for each range."""
    listed = () if isinstance(names, str) else tuple(names)
    read = tuple(literal(name).constant for name in listed)
    texts = all(isinstance(name, str) for name in read)
    if not texts or len(read) != count or len(set(read)) != count:
        raise InvalidParameter(
            "names",
            names,
            f"must be {count} different texts",
            "Give one for each range.",
        )
    return read


def _facts(argument: Argument, *ends: Argument, bins: Bins) -> Column:
    """Return the facts of a label: what is in no range has none, as was asked for."""
    facts.comparable("bin", (argument, *ends[: len(bins.edges)]), _REMEDY)
    unsettled = argument.column.unsettled
    return Column("text", nullable=True, unsettled=unsettled)


def _meaning(value: Value, *ends: Value, bins: Bins) -> Value:
    """Return the label of the range of a value."""
    del ends
    return bins.label(value)


def _text(arguments: Sequence[AbstractTree], bins: Bins) -> str:
    """Return a choice of ranges as it is written."""
    edges = ", ".join(map(str, arguments[1 : len(bins.edges) + 1]))
    return f"{receiver(arguments[0])}.bin([{edges}])"


def _words(arguments: Sequence[AbstractTree], bins: Bins) -> Words:
    """Return what is put into which ranges."""
    return call("bin", of=[arguments[0].words], bins=bins.words)


BIN: Final = Operation("bin", _facts, _meaning, copies=None, text=_text, words=_words)

OPERATIONS: Final = (BIN,)


def bin_(self: Fluent, bins: Bins | Sequence[Any]) -> Fluent:
    """Return the label of the range in which the value lies; missing if in none.

    >>> from sordino.expressions.language import col
    >>> age = col("age").bin([0, 18, 65, 120])
    >>> age.value({"age": 18}), age.value({"age": 130})
    ('[18, 65)', None)
    """
    known = bins if isinstance(bins, Bins) else Bins(bins)
    edges = (Literal(known.type, edge) for edge in known.edges)
    names = (Literal("text", label) for label in known.labels)
    return self.call(BIN, self, *edges, *names, bins=known)
