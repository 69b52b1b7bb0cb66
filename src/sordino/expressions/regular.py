r"""Regular expressions of one meaning everywhere.

| written | what it stands for |
|---|---|
| `a`, `\.`, `\t \n \r` | a letter itself, a sign behind a backslash, a blank |
| `.` | any one code point |
| `[a-z_]`, `[^0-9]` | one code point of some, or none of them |
| `\d \w \s`, `\D \W \S` | digits, words, blanks of ASCII; and all others |
| `ab`, `a|b`, `(a)` | one after the other, one or the other, a group |
| `a* a+ a? a{3} a{2,} a{2,5}` | again and again; as often as it takes |

There is nothing that looks around, back or at words, no flags and no lazy repetition:
they mean other things elsewhere, or take longer than a text is.

`matches` asks of all of a text. Each place of a pattern where a code point stands is a
state; the places where a text can be are carried from letter to letter (Glushkov's
construction). So a text of n letters takes at most n times the square of the places,
whatever the pattern.

`extract` and `replace_matches` ask which part of a text fits: the first, and of those
that begin there the one that RE2 and Perl take. An alternative goes before those behind
it, and one more repetition before none; so the states are carried in that order, with
the places where groups began and ended (Pike's construction). What is repeated must be
at least a letter, for of nothing it is not agreed how often it is there. `^` in front
and `$` behind stand for the ends of the text.

Kernel: totals.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import starmap
from typing import Final, TypeAlias, final

from sordino.errors import InvalidParameter
from sordino.expressions.literals import Fluent
from sordino.expressions.text import bounded_text, size, text_facts
from sordino.expressions.tree import AbstractTree, Operation, Value, receiver
from sordino.numbers.arguments import integer

Ranges: TypeAlias = tuple[tuple[int, int], ...]
"""Code points, as ascending runs from one to another."""

LAST: Final = 0x10FFFF
MOST_TIMES: Final = 100
_DEEPEST: Final = 100
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


@final
@dataclass(frozen=True)
class Group:
    """A part in brackets, by its number: what stood there can be asked for."""

    part: "Node"
    number: int


Node: TypeAlias = One | Chain | Either | Again | Group


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
    return _Reader(pattern).whole()


def _has_letters(node: Node) -> bool:
    """Whether a part has a place where a letter may stand."""
    match node:
        case One():
            return True
        case Chain() | Either():
            return any(map(_has_letters, node.parts))
        case Again():
            return node.most != 0 and _has_letters(node.part)
        case Group():
            return _has_letters(node.part)


@final
class _Reader:
    """A place in a pattern that is read from left to right."""

    def __init__(self, pattern: str, *, numbered: bool = False) -> None:
        self.pattern = pattern
        self.place = 0
        self.numbered = numbered
        self.groups = 0
        self.depth = 0

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

    def whole(self) -> Node:
        """Return the tree of all that is written."""
        tree = self.either()
        if self.place < len(self.pattern):
            raise self.refusal(
                "closes a group that is not open", "Write \\) for itself."
            )
        return tree

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
                # nothing is nothing however often, and would be counted for long
                part = Again(part, *times) if _has_letters(part) else part
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
        named = not self.take("?")
        if not named and not self.take(":"):
            raise self.refusal("looks around or sets flags", "Write (...) or (?:...).")
        self.groups += named
        number = self.groups
        self.depth += 1
        if self.depth > _DEEPEST:  # who reads a pattern calls itself at each
            raise self.refusal(
                f"has groups more than {_DEEPEST} deep", "Leave brackets out."
            )
        node = self.either()
        self.depth -= 1
        if not self.take(")"):
            raise self.refusal("has a group that is not closed", "Write ) behind it.")
        return Group(node, number) if named and self.numbered else node

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
            case Group():
                return self.place(node.part)

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
        case Group():
            return f"({_re2(node.part)})"


def _group(node: Node) -> str:
    closed = isinstance(node, (One, Group))
    return _re2(node) if closed else f"(?:{_re2(node)})"


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


@final
@dataclass(frozen=True)
class Fork:
    """Go on at the first of two steps; where that leads nowhere, at the second."""

    first: int
    second: int


@final
@dataclass(frozen=True)
class GroupEdge:
    """Note where a text is: the begin or the end of a group."""

    slot: int


Step: TypeAlias = One | Fork | GroupEdge | None
"""None: a part that fits ends here."""
Marks: TypeAlias = tuple[int, ...]
"""Where groups begin and end, -1 for one that is not there; 0 is all that fits."""


@final
@dataclass(frozen=True)
class PartPattern:
    """A pattern of a part of a text, with its steps."""

    tree: Node
    groups: int
    first: bool
    """Whether the part begins where the text does."""
    last: bool
    steps: tuple[Step, ...]

    @classmethod
    def of(cls, pattern: str) -> "PartPattern":
        """Read a pattern, refusing what is not agreed upon."""
        first, body, last = split_anchors(pattern)
        reader = _Reader(body, numbered=True)
        tree = reader.whole()
        Automaton().place(tree)  # refuses one that is too large
        steps: list[Step] = [GroupEdge(0)]
        _add_steps(tree, steps)
        return cls(tree, reader.groups, first, last, (*steps, GroupEdge(1), None))

    @property
    def re2(self) -> str:
        """The pattern as RE2 reads it."""
        begin, end = "\\A" * self.first, "\\z" * self.last
        return f"{begin}(?:{_re2(self.tree)}){end}"

    def find(self, text: str, begin: int = 0) -> Marks | None:
        """Return where the first part is that fits, from a place on."""
        threads: list[tuple[int, Marks]] = []
        seen, best = set[int](), None
        nowhere = (-1,) * (2 * self.groups + 2)
        for at in range(begin, len(text) + 1):
            if best is None and (at == 0 or not self.first):
                threads += self._follow(0, nowhere, at, seen)
            ended, threads, seen = self._advance(threads, text, at)
            best = ended or best
            if not threads and (best is not None or self.first):
                break
        return best

    def _advance(
        self, threads: list[tuple[int, Marks]], text: str, at: int
    ) -> tuple[Marks | None, list[tuple[int, Marks]], set[int]]:
        """Return a part that ends at a place, and what goes on before it in order."""
        further: list[tuple[int, Marks]] = []
        seen = set[int]()
        for place, marks in threads:
            step = self.steps[place]
            if step is None and (at == len(text) or not self.last):
                return marks, further, seen  # those behind it come after it
            if at < len(text) and _fits(step, text[at]):
                further += self._follow(place + 1, marks, at + 1, seen)
        return None, further, seen

    def _follow(
        self, place: int, marks: Marks, at: int, seen: set[int]
    ) -> Iterator[tuple[int, Marks]]:
        """Yield the steps that wait for a letter, in order, each one once."""
        stack = [(place, marks)]
        while stack:
            place, marks = stack.pop()
            if place in seen:
                continue
            seen.add(place)
            match self.steps[place]:
                case Fork(first, second):
                    stack += [(second, marks), (first, marks)]
                case GroupEdge(slot):
                    marks = (*marks[:slot], at, *marks[slot + 1 :])
                    stack.append((place + 1, marks))
                case _:
                    yield place, marks


def _fits(step: Step, letter: str) -> bool:
    return isinstance(step, One) and _holds(step.ranges, ord(letter))


def _add_steps(node: Node, steps: list[Step]) -> None:
    match node:
        case One():
            steps.append(node)
        case Chain():
            for part in node.parts:
                _add_steps(part, steps)
        case Either():
            _add_either(node.parts, steps)
        case Group():
            steps.append(GroupEdge(2 * node.number))
            _add_steps(node.part, steps)
            steps.append(GroupEdge(2 * node.number + 1))
        case Again():
            _add_again(node, steps)


def _add_either(parts: Sequence[Node], steps: list[Step]) -> None:
    ends = []
    for part in parts[:-1]:
        fork = len(steps)
        steps.append(None)
        _add_steps(part, steps)
        ends.append(len(steps))
        steps.append(None)
        steps[fork] = Fork(fork + 1, len(steps))
    _add_steps(parts[-1], steps)
    for end in ends:
        steps[end] = Fork(len(steps), len(steps))


def _add_again(node: Again, steps: list[Step]) -> None:
    if not least_letters(node.part):
        raise InvalidParameter(
            "pattern",
            "a repetition of what may be nothing",
            "has no one meaning where a part of a text is asked for",
            "Write (a|b)* for (a?b?)*.",
        )
    for _ in range(node.least):
        _add_steps(node.part, steps)
    if node.most is None:
        fork = len(steps)
        steps.append(None)
        _add_steps(node.part, steps)
        steps.append(Fork(fork, fork))
        steps[fork] = Fork(fork + 1, len(steps))
        return
    forks = []
    for _ in range(node.most - node.least):
        forks.append(len(steps))
        steps.append(None)
        _add_steps(node.part, steps)
    for fork in forks:
        steps[fork] = Fork(fork + 1, len(steps))


def least_letters(node: Node) -> int:
    """Code points that any text has which fits.

    >>> least_letters(read_pattern("(ab|c)d?e{2}"))
    3
    """
    match node:
        case One():
            return 1
        case Chain():
            return sum(map(least_letters, node.parts))
        case Either():
            return min(map(least_letters, node.parts))
        case Again():
            return node.least * least_letters(node.part)
        case Group():
            return least_letters(node.part)


def split_anchors(pattern: str) -> tuple[bool, str, bool]:
    r"""Return a pattern without the ends of the text, and whether it had them.

    >>> split_anchors("^a$"), split_anchors(r"a\$")
    ((True, 'a', True), (False, 'a\\$', False))
    """
    first = pattern.startswith("^")
    bare = pattern.removesuffix("$")
    last = bare != pattern and not (len(bare) - len(bare.rstrip("\\"))) % 2
    body = (bare if last else pattern)[first:]
    if (first or last) and _has_sides(body):
        raise InvalidParameter(
            "pattern",
            pattern,
            "has ^ or $ beside |, where they belong to one side of it alone",
            "Put brackets around it: '^(a|b)$'.",
        )
    return first, body, last


def _has_sides(pattern: str) -> bool:
    """Whether a | stands outside of brackets."""
    plain = re.sub(r"\\.|\[(?:\\.|[^\]])*\]", "", pattern, flags=re.DOTALL)
    depth = 0
    for letter in plain:
        depth += (letter == "(") - (letter == ")")
        if letter == "|" and not depth:
            return True
    return False


part_pattern: Final = lru_cache(maxsize=64)(PartPattern.of)


def _extract(text: Value, pattern: str, group: int) -> Value:
    marks = part_pattern(pattern).find(text)
    # a group that is not there begins and ends at -1
    return "" if marks is None else text[marks[2 * group] : marks[2 * group + 1]]


def _replace_matches(text: Value, pattern: str, new: str) -> Value:
    known, pieces, begin = part_pattern(pattern), [], 0
    while (marks := known.find(text, begin)) is not None:
        pieces += [text[begin : marks[0]], new]
        begin = marks[1]
    return "".join([*pieces, text[begin:]])


EXTRACT: Final = Operation("extract", text_facts("extract", "text"), _extract)
REPLACE_MATCHES: Final = Operation(
    "replace_matches", text_facts("replace_matches", "text"), _replace_matches
)
OPERATIONS: Final = (MATCHES, EXTRACT, REPLACE_MATCHES)


def match_all(self: Fluent, pattern: str) -> Fluent:
    r"""Return whether all of the text is as a regular expression says.

    Which ones there are stands in `regular.py`; each means the same on every engine.

    >>> from sordino.expressions.language import col
    >>> code = col("x").matches(r"[A-Z]\d{2}(\.\d)?")
    >>> code.value({"x": "J45.0"}), code.value({"x": "J45.01"})
    (True, False)
    """
    written = bounded_text(pattern=pattern, least=0)
    _compiled(written)  # refuses what is no pattern
    return self.call(MATCHES, self, pattern=written)


def extract(self: Fluent, pattern: str, group: int = 0) -> Fluent:
    r"""Return the first part of the text that fits a pattern, or a group of it.

    The empty text, where none does. `(...)` is a group and `(?:...)` is none; `^` and
    `$` at the ends of the pattern are the ends of the text.

    >>> from sordino.expressions.language import col
    >>> chapter = col("x").extract(r"^([A-Z])\d+", 1)
    >>> chapter.value({"x": "J45.0"}), chapter.value({"x": "none"})
    ('J', '')
    """
    written = bounded_text(pattern=pattern, least=0)
    number = integer(group=group, least=0, most=part_pattern(written).groups)
    return self.call(EXTRACT, self, pattern=written, group=int(number))


def replace_matches(self: Fluent, pattern: str, new: str) -> Fluent:
    r"""Return the text with another for each part that fits a pattern, from the left.

    The other is no longer than the shortest part that can fit, so no text grows.

    >>> from sordino.expressions.language import col
    >>> col("x").replace_matches(r"\D", "").value({"x": "+49 30/1234"})
    '49301234'
    """
    written, other = (
        bounded_text(pattern=pattern, least=0),
        bounded_text(new=new, least=0),
    )
    least = least_letters(part_pattern(written).tree)
    if not least or size(other) > least:
        raise InvalidParameter(
            "new",
            other,
            f"must have at most {least} bytes, the letters of the shortest part that "
            "can fit, and the pattern fits at least one letter",
            "Write a shorter text, or + for * in the pattern.",
        )
    return self.call(REPLACE_MATCHES, self, pattern=written, new=other)
