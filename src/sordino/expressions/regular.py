r"""Regular expressions of one meaning everywhere, read into a tree.

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
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias, final

from sordino.errors import InvalidParameter

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
    """A part so many times; None for any number."""

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
        """Begin at the first letter."""
        self.pattern = pattern
        self.place = 0

    @property
    def next(self) -> str:
        """Return the letter that comes next, none at the end."""
        return self.pattern[self.place : self.place + 1]

    def take(self, wanted: str = "") -> str:
        """Return the next letter and go on; nothing if another was wanted."""
        letter = self.next
        if wanted and letter != wanted:
            return ""
        self.place += 1
        return letter

    def refusal(self, problem: str, remedy: str) -> InvalidParameter:
        """Return the refusal of what stands here."""
        read = self.pattern[: self.place + 1]
        return InvalidParameter("pattern", read, problem, remedy)

    def either(self) -> Node:
        """Return parts of which one is there."""
        parts = [self.row()]
        while self.take("|"):
            parts.append(self.row())
        return parts[0] if len(parts) == 1 else Either(tuple(parts))

    def row(self) -> Node:
        """Return parts that follow each other."""
        parts = list(self._repetitions())
        return parts[0] if len(parts) == 1 else Chain(tuple(parts))

    def _repetitions(self) -> Iterator[Node]:
        """Yield parts with how often each is there."""
        while self.next and self.next not in "|)":
            part = self._atom()
            times = self._times()
            if times is not None:
                part = Again(part, *times)
                if self.next and self.next in "*+?{":
                    raise self.refusal("repeats what is repeated", "Put it in (...).")
            yield part

    def _times(self) -> tuple[int, int | None] | None:
        """Return how often a part is there, None for once."""
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
        """Return a letter, a class or a group."""
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
        """Return what stands in brackets; nothing is remembered of it."""
        if self.take("?") and not self.take(":"):
            raise self.refusal("looks around or sets flags", "Write (...) or (?:...).")
        node = self.either()
        if not self.take(")"):
            raise self.refusal("has a group that is not closed", "Write ) behind it.")
        return node

    def _escape(self) -> Ranges:
        """Return what a backslash and a letter stand for."""
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
        """Return the code points of a class in square brackets."""
        negated = bool(self.take("^"))
        ranges: list[tuple[int, int]] = []
        while self.next and self.next != "]":
            if self.next == "[":
                raise self.refusal("has [ in a class", "Write \\[ for itself.")
            ranges += self._member()
        if not self.take("]") or not ranges:
            raise self.refusal("has a class that is open or empty", "Try [a-z].")
        runs = union(ranges)
        return all_but(runs) if negated else runs

    def _member(self) -> Ranges:
        """Return one letter of a class, or a run of them."""
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
        """Return one letter, or what an escape stands for."""
        letter = self.take()
        return self._escape() if letter == "\\" else ((ord(letter), ord(letter)),)


def _is_count(digits: str) -> bool:
    """Tell whether digits are a number of times."""
    plain = digits.isascii() and digits.isdigit() and len(digits) < 4
    return plain and int(digits) <= MOST_TIMES
