"""Texts held to a regular expression, in time that grows with the text alone.

Each place of a pattern where a code point stands is a state; the places where a text
can be are carried from letter to letter (Glushkov's construction). So a text of n
letters takes at most n times the square of the places, whatever the pattern.
"""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import starmap
from typing import Any, Final, final

from sordino.errors import InvalidParameter
from sordino.expressions import facts
from sordino.expressions.base import Value
from sordino.expressions.fluent import Fluent
from sordino.expressions.literals import literal
from sordino.expressions.regular import (
    LAST,
    Again,
    Chain,
    Either,
    Node,
    One,
    Ranges,
    read_pattern,
)
from sordino.expressions.text import LONGEST_PATTERN
from sordino.expressions.tree import AbstractTree, Argument, Operation, receiver
from sordino.schema import Column

MOST_PLACES: Final = 1_000
_CAST: Final = 'Write it as a text by .cast("text").'


@final
@dataclass(frozen=True)
class Part:
    """Where a part of a pattern can begin and end, and whether it can be nothing."""

    empty: bool
    first: frozenset[int]
    last: frozenset[int]


_NOTHING: Final = Part(empty=True, first=frozenset(), last=frozenset())


@final
@dataclass(frozen=True)
class Automaton:
    """The places of a pattern: what stands there, and where a text goes from there."""

    ranges: list[Ranges] = field(default_factory=list)
    follow: list[set[int]] = field(default_factory=list)

    def place(self, node: Node) -> Part:
        """Return a part of a pattern, its places added."""
        match node:
            case One():
                return self._letter(node.ranges)
            case Chain():
                return self._row(node.parts)
            case Either():
                parts = [self.place(part) for part in node.parts]
                return Part(
                    any(part.empty for part in parts),
                    frozenset().union(*(part.first for part in parts)),
                    frozenset().union(*(part.last for part in parts)),
                )
            case Again():
                return self._again(node)

    def _letter(self, ranges: Ranges) -> Part:
        """Return a new place."""
        if len(self.ranges) >= MOST_PLACES:
            raise InvalidParameter(
                "pattern",
                f"more than {MOST_PLACES} places",
                "is too large when its repetitions are written out",
                "Lower the numbers in {...}.",
            )
        self.ranges.append(ranges)
        self.follow.append(set())
        here = frozenset([len(self.ranges) - 1])
        return Part(empty=False, first=here, last=here)

    def _row(self, nodes: Sequence[Node]) -> Part:
        """Return parts one after the other."""
        row = _NOTHING
        for node in nodes:
            row = self._chain(row, self.place(node))
        return row

    def _chain(self, first: Part, second: Part) -> Part:
        """Return one part and then another."""
        for place in first.last:
            self.follow[place] |= second.first
        return Part(
            first.empty and second.empty,
            first.first | (second.first if first.empty else frozenset()),
            second.last | (first.last if second.empty else frozenset()),
        )

    def _again(self, node: Again) -> Part:
        """Return a part so many times: what must be, then what may be."""
        chained = _NOTHING
        for _ in range(node.least):
            chained = self._chain(chained, self.place(node.part))
        if node.most is None:
            more = self.place(node.part)
            for place in more.last:
                self.follow[place] |= more.first
            return self._chain(chained, Part(True, more.first, more.last))
        rest = _NOTHING
        for _ in range(node.most - node.least):
            repeated = self.place(node.part)
            inner = self._chain(repeated, rest)
            rest = Part(True, inner.first, inner.last)
        return self._chain(chained, rest)

    def fits(self, places: frozenset[int] | set[int], letter: str) -> set[int]:
        """Return the places of some where a letter can stand."""
        code = ord(letter)
        return {place for place in places if _holds(self.ranges[place], code)}

    def matches(self, whole: Part, text: str) -> bool:
        """Tell whether all of a text is as the pattern says."""
        if not text:
            return whole.empty
        places = self.fits(whole.first, text[0])
        for letter in text[1:]:
            if not places:
                return False
            places = self.fits(
                set().union(*(self.follow[place] for place in places)), letter
            )
        return not places.isdisjoint(whole.last)


def _holds(ranges: Ranges, code: int) -> bool:
    """Tell whether a code point is in one of some runs."""
    at = bisect_right(ranges, (code, LAST)) - 1
    return at >= 0 and code <= ranges[at][1]


@lru_cache(maxsize=64)
def _compiled(pattern: str) -> tuple[Automaton, Part]:
    """Return the places of a pattern."""
    automaton = Automaton()
    return automaton, automaton.place(read_pattern(pattern))


def re2_pattern(pattern: str) -> str:
    r"""Return a pattern as RE2 reads it, each code point by its number.

    >>> print(re2_pattern("a|[^b]{2,}"))
    [\x{61}]|[\x{0}-\x{61}\x{63}-\x{10FFFF}]{2,}
    """
    return _re2(read_pattern(pattern))


def _re2(node: Node) -> str:
    """Return a part of a pattern as RE2 reads it."""
    match node:
        case One():
            return f"[{''.join(starmap(_run, node.ranges))}]"
        case Chain():
            return "".join(map(_group, node.parts))
        case Either():
            return "|".join(map(_re2, node.parts))
        case Again():
            most = "" if node.most is None else str(node.most)
            return f"{_group(node.part)}{{{node.least},{most}}}"


def _group(node: Node) -> str:
    """Return a part that can stand beside others and be repeated."""
    return _re2(node) if isinstance(node, One) else f"(?:{_re2(node)})"


def _run(low: int, high: int) -> str:
    """Return code points from one to another."""
    first = f"\\x{{{low:X}}}"
    return first if low == high else f"{first}-\\x{{{high:X}}}"


def _facts(argument: Argument, pattern: str) -> Column:
    """Return the facts of an answer that is there for each text."""
    del pattern
    facts.require_types("matches", (argument,), ("text",), _CAST)
    return facts.result("bool", (argument,))


def _meaning(text: Value, pattern: str) -> Value:
    """Return whether all of a text is as a pattern says."""
    automaton, whole = _compiled(pattern)
    return automaton.matches(whole, text)


def _text(arguments: Sequence[AbstractTree], pattern: str) -> str:
    """Return a match as it is written."""
    return f"{receiver(arguments[0])}.matches({pattern!r})"


MATCHES: Final = Operation("matches", _facts, _meaning, text=_text)

OPERATIONS: Final = (MATCHES,)


def match_all(self: Fluent, pattern: str) -> Fluent:
    r"""Return whether all of the text is as a regular expression says.

    Which ones there are stands in `regular.py`; each means the same on every engine.

    >>> from sordino.expressions.language import col
    >>> code = col("x").matches(r"[A-Z]\d{2}(\.\d)?")
    >>> code.value({"x": "J45.0"}), code.value({"x": "J45.01"})
    (True, False)
    """
    given: Any = pattern
    read = literal(given)
    if read.type != "text" or len(read.constant) > LONGEST_PATTERN:
        raise InvalidParameter(
            "pattern", given, "must be text of at most 1000 characters", "Shorten it."
        )
    _compiled(read.constant)  # refuses what is no pattern
    return self.call(MATCHES, self, pattern=read.constant)
