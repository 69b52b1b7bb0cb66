r"""Regular expressions of one meaning everywhere.

| written | what it stands for |
|---|---|
| `a`, `\.`, `\t \n \r` | a letter itself, a sign behind a backslash, a blank |
| `.` | any one code point |
| `[a-z_]`, `[^0-9]` | one code point of some, or none of them |
| `\d \w \s`, `\D \W \S` | digits, words, blanks of ASCII; and all others |
| `ab`, `a|b`, `(a)` | one after the other, one or the other, a group |
| `a* a+ a? a{3} a{2,} a{2,5}` | again and again; as often as it takes |

All of a text is matched. There is nothing that looks around, back or at words, no flags
and no lazy repetition: they mean other things elsewhere, or take longer than a text is.

Each place of a pattern where a code point stands is a state; the places where a text
can be are carried from letter to letter (Glushkov's construction). So a text of n
letters takes at most n times the square of the places, whatever the pattern.

Kernel: totals.
"""

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import starmap
from typing import Any, Final, TypeAlias, final

from sordino.errors import InvalidParameter
from sordino.expressions.literals import Fluent, literal
from sordino.expressions.text import LONGEST_PATTERN, text_facts
from sordino.expressions.tree import AbstractTree, Operation, Value, receiver

Ranges: TypeAlias = tuple[tuple[int, int], ...]
"""Code points, as ascending runs from one to another."""

LAST: Final = 0x10FFFF
MOST_TIMES: Final = 100
_SIGNS: Final = "\\.[](){}|*+?^$-/"
_PLAIN: Final = {"t": "\t", "n": "\n", "r": "\r"}
_DIGITS: Final[Ranges] = ((48, 57),)
_WORD: Final[Ranges] = ((48, 57), (65, 90), (95, 95), (97, 122))
_BLANKS: Final[Ranges] = ((9, 13), (32, 32))


@final
@dataclass(frozen=True)
class One:
    """One code point of some."""

    ranges: Ranges


@final
@dataclass(frozen=True)
class Chain:
    """Parts one after the other."""

    parts: "tuple[Node, ...]"


@final
@dataclass(frozen=True)
class Either:
    """One of some parts."""

    parts: "tuple[Node, ...]"


@final
@dataclass(frozen=True)
class Again:
    """A part repeated between `least` and `most` times; None: without limit."""

    part: "Node"
    least: int
    most: int | None


Node: TypeAlias = One | Chain | Either | Again


def all_but(ranges: Ranges) -> Ranges:
    """Return all other code points.

    >>> all_but(((0, 8), (10, LAST)))
    ((9, 9),)
    """
    rest, start = [], 0
    for low, high in ranges:
        if start < low:
            rest.append((start, low - 1))
        start = high + 1
    return (*rest, (start, LAST)) if start <= LAST else tuple(rest)


def union(ranges: Sequence[tuple[int, int]]) -> Ranges:
    """Return runs as ascending ones that do not touch.

    >>> union([(5, 9), (0, 3), (4, 4)])
    ((0, 9),)
    """
    joined: list[tuple[int, int]] = []
    for low, high in sorted(ranges):
        if joined and low <= joined[-1][1] + 1:
            joined[-1] = (joined[-1][0], max(high, joined[-1][1]))
        else:
            joined.append((low, high))
    return tuple(joined)


_CLASSES: Final[Mapping[str, Ranges]] = {
    "d": _DIGITS,
    "w": _WORD,
    "s": _BLANKS,
    "D": all_but(_DIGITS),
    "W": all_but(_WORD),
    "S": all_but(_BLANKS),
}


def read_pattern(pattern: str) -> Node:
    """Return the tree of a pattern, refusing what has no one meaning.

    >>> read_pattern("ab?")
    Chain(parts=(One(ranges=((97, 97),)), Again(part=One(ranges=((98, 98),)), least=0, most=1)))
    """  # noqa: E501 a tree
    reader = _Reader(pattern)
    tree = reader.either()
    if reader.place < len(pattern):
        raise reader.refusal("closes a group that is not open", "Write \\) for itself.")
    return tree


@final
class _Reader:
    """A place in a pattern that is read from left to right."""

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.place = 0

    @property
    def next(self) -> str:
        return self.pattern[self.place : self.place + 1]

    def take(self, wanted: str = "") -> str:
        """Return the next letter and go on; nothing if another was wanted."""
        letter = self.next
        if wanted and letter != wanted:
            return ""
        self.place += 1
        return letter

    def refusal(self, problem: str, remedy: str) -> InvalidParameter:
        read = self.pattern[: self.place + 1]
        return InvalidParameter("pattern", read, problem, remedy)

    def either(self) -> Node:
        parts = [self.row()]
        while self.take("|"):
            parts.append(self.row())
        return parts[0] if len(parts) == 1 else Either(tuple(parts))

    def row(self) -> Node:
        parts = list(self._repetitions())
        return parts[0] if len(parts) == 1 else Chain(tuple(parts))

    def _repetitions(self) -> Iterator[Node]:
        while self.next and self.next not in "|)":
            part = self._atom()
            times = self._times()
            if times is not None:
                part = Again(part, *times)
                # a*? and a*+ mean other things elsewhere
                if self.next and self.next in "*+?{":
                    raise self.refusal("repeats what is repeated", "Put it in (...).")
            yield part

    def _times(self) -> tuple[int, int | None] | None:
        short = {"*": (0, None), "+": (1, None), "?": (0, 1)}
        if self.next in short and self.next:
            return short[self.take()]
        if not self.take("{"):
            return None
        end = self.pattern.find("}", self.place)
        least, comma, most = self.pattern[self.place : max(end, self.place)].partition(
            ","
        )
        fits = end >= 0 and _is_count(least) and (not most or _is_count(most))
        low = int(least) if fits else 0
        high = low if not comma else (int(most) if most else None)
        if not fits or (high is not None and high < low):
            raise self.refusal(
                f"repeats more than {MOST_TIMES} times or in no order", "Try a{2,5}."
            )
        self.place = end + 1
        return low, high

    def _atom(self) -> Node:
        letter = self.take()
        if letter == "(":
            return self._group()
        if letter == "[":
            return One(self._class())
        if letter == ".":
            return One(((0, LAST),))
        if letter == "\\":
            return One(self._escape())
        if letter in "^$":
            self.place -= 1
            raise self.refusal(
                "marks an end", "Leave it out: all of a text is matched."
            )
        if letter in "*+?{}]":
            self.place -= 1
            raise self.refusal("has a sign by itself", f"Write \\{letter} for itself.")
        return One(((ord(letter), ord(letter)),))

    def _group(self) -> Node:
        if self.take("?") and not self.take(":"):
            raise self.refusal("looks around or sets flags", "Write (...) or (?:...).")
        node = self.either()
        if not self.take(")"):
            raise self.refusal("has a group that is not closed", "Write ) behind it.")
        return node

    def _escape(self) -> Ranges:
        letter = self.take()
        if letter in _CLASSES:
            return _CLASSES[letter]
        if letter and letter in _SIGNS:
            return ((ord(letter), ord(letter)),)
        if letter in _PLAIN:
            return ((ord(_PLAIN[letter]),) * 2,)
        self.place -= 1
        raise self.refusal(
            "has a backslash before what has no one meaning",
            "Escape signs, or write d, w, s, D, W, S, t, n or r behind it.",
        )

    def _class(self) -> Ranges:
        negated = bool(self.take("^"))
        ranges: list[tuple[int, int]] = []
        while self.next and self.next != "]":
            if self.next == "[":  # RE2 reads [[:alpha:]] as a class
                raise self.refusal("has [ in a class", "Write \\[ for itself.")
            ranges += self._member()
        if not self.take("]") or not ranges:
            raise self.refusal("has a class that is open or empty", "Try [a-z].")
        runs = union(ranges)
        return all_but(runs) if negated else runs

    def _member(self) -> Ranges:
        low = self._letter()
        if len(low) > 1 or low[0][0] != low[0][1] or self.next != "-":
            return low
        if self.pattern[self.place + 1 : self.place + 2] in {"]", ""}:
            return low
        self.take()
        high = self._letter()
        if len(high) > 1 or high[0][0] != high[0][1] or high[0][0] < low[0][0]:
            raise self.refusal("has a run in no order", "Try [a-z].")
        return ((low[0][0], high[0][0]),)

    def _letter(self) -> Ranges:
        letter = self.take()
        return self._escape() if letter == "\\" else ((ord(letter), ord(letter)),)


def _is_count(digits: str) -> bool:
    # isdigit alone holds for the digits of other scripts, too
    plain = digits.isascii() and digits.isdigit() and len(digits) < 4
    return plain and int(digits) <= MOST_TIMES


MOST_PLACES: Final = 1_000


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
        if len(self.ranges) >= MOST_PLACES:  # repetitions multiply
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
        row = _NOTHING
        for node in nodes:
            row = self._chain(row, self.place(node))
        return row

    def _chain(self, first: Part, second: Part) -> Part:
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
    at = bisect_right(ranges, (code, LAST)) - 1
    return at >= 0 and code <= ranges[at][1]


@lru_cache(maxsize=64)
def _compiled(pattern: str) -> tuple[Automaton, Part]:
    automaton = Automaton()
    return automaton, automaton.place(read_pattern(pattern))


def re2_pattern(pattern: str) -> str:
    r"""Return a pattern as RE2 reads it, each code point by its number.

    >>> print(re2_pattern("a|[^b]{2,}"))
    [\x{61}]|[\x{0}-\x{61}\x{63}-\x{10FFFF}]{2,}
    """
    return _re2(read_pattern(pattern))


def _re2(node: Node) -> str:
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
    return _re2(node) if isinstance(node, One) else f"(?:{_re2(node)})"


def _run(low: int, high: int) -> str:
    first = f"\\x{{{low:X}}}"
    return first if low == high else f"{first}-\\x{{{high:X}}}"


def _meaning(text: Value, pattern: str) -> Value:
    automaton, whole = _compiled(pattern)
    return automaton.matches(whole, text)


def _text(arguments: Sequence[AbstractTree], pattern: str) -> str:
    return f"{receiver(arguments[0])}.matches({pattern!r})"


MATCHES: Final = Operation(
    "matches", text_facts("matches", "bool"), _meaning, text=_text
)

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
