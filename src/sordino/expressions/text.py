"""Texts: sequences of Unicode code points, never of bytes, never of a language.

`lower` and `upper` know ASCII letters, `lowercase` and `uppercase` those of all
scripts. A text that would grow beyond 1 MiB of UTF-8 is missing instead. A pattern with
wildcards is looked for from left to right, so it takes no longer than the product of
both lengths.

A character is settled if no later version of Unicode can change its composed form. All
are assigned in Unicode 14, and the composition of assigned characters is stable by
Unicode's own policy. Beyond U+2000, runs of less than 40 are left out, to keep the list
short; NUL is out because engines end a text there. A letter whose other case has more
than one code point or is not settled stays as it is; a text with a letter that is not
settled is changed in A to Z alone.

Kernel: totals.
"""

import dataclasses
import operator
import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from string import ascii_lowercase, ascii_uppercase, whitespace
from typing import Any, Final

from sordino.errors import InvalidParameter, InvalidQuery
from sordino.expressions import tree
from sordino.expressions.literals import Fluent, literal
from sordino.expressions.schema import Column
from sordino.expressions.tree import AbstractTree, Argument, Operation, Value, receiver
from sordino.numbers import arguments as _validate

_RUNS: Final = """
1-377 37A-37F 384-38A 38C 38E-3A1 3A3-52F 531-556 559-58A 58D-58F 591-5C7 5D0-5EA
5EF-5F4 600-70D 70F-74A 74D-7B1 7C0-7FA 7FD-82D 830-83E 840-85B 85E 860-86A 870-88E
890-891 898-983 985-98C 98F-990 993-9A8 9AA-9B0 9B2 9B6-9B9 9BC-9C4 9C7-9C8 9CB-9CE 9D7
9DC-9DD 9DF-9E3 9E6-9FE A01-A03 A05-A0A A0F-A10 A13-A28 A2A-A30 A32-A33 A35-A36 A38-A39
A3C A3E-A42 A47-A48 A4B-A4D A51 A59-A5C A5E A66-A76 A81-A83 A85-A8D A8F-A91 A93-AA8 AAA-
AB0 AB2-AB3 AB5-AB9 ABC-AC5 AC7-AC9 ACB-ACD AD0 AE0-AE3 AE6-AF1 AF9-AFF B01-B03 B05-B0C
B0F-B10 B13-B28 B2A-B30 B32-B33 B35-B39 B3C-B44 B47-B48 B4B-B4D B55-B57 B5C-B5D B5F-B63
B66-B77 B82-B83 B85-B8A B8E-B90 B92-B95 B99-B9A B9C B9E-B9F BA3-BA4 BA8-BAA BAE-BB9 BBE-
BC2 BC6-BC8 BCA-BCD BD0 BD7 BE6-BFA C00-C0C C0E-C10 C12-C28 C2A-C39 C3C-C44 C46-C48
C4A-C4D C55-C56 C58-C5A C5D C60-C63 C66-C6F C77-C8C C8E-C90 C92-CA8 CAA-CB3 CB5-CB9 CBC-
CC4 CC6-CC8 CCA-CCD CD5-CD6 CDD-CDE CE0-CE3 CE6-CEF CF1-CF2 D00-D0C D0E-D10 D12-D44
D46-D48 D4A-D4F D54-D63 D66-D7F D81-D83 D85-D96 D9A-DB1 DB3-DBB DBD DC0-DC6 DCA DCF-DD4
DD6 DD8-DDF DE6-DEF DF2-DF4 E01-E3A E3F-E5B E81-E82 E84 E86-E8A E8C-EA3 EA5 EA7-EBD
EC0-EC4 EC6 EC8-ECD ED0-ED9 EDC-EDF F00-F47 F49-F6C F71-F97 F99-FBC FBE-FCC FCE-FDA
1000-10C5 10C7 10CD 10D0-1248 124A-124D 1250-1256 1258 125A-125D 1260-1288 128A-128D
1290-12B0 12B2-12B5 12B8-12BE 12C0 12C2-12C5 12C8-12D6 12D8-1310 1312-1315 1318-135A
135D-137C 1380-1399 13A0-13F5 13F8-13FD 1400-169C 16A0-16F8 1700-1715 171F-1736
1740-1753 1760-176C 176E-1770 1772-1773 1780-17DD 17E0-17E9 17F0-17F9 1800-1819
1820-1878 1880-18AA 18B0-18F5 1900-191E 1920-192B 1930-193B 1940 1944-196D 1970-1974
1980-19AB 19B0-19C9 19D0-19DA 19DE-1A1B 1A1E-1A5E 1A60-1A7C 1A7F-1A89 1A90-1A99
1AA0-1AAD 1AB0-1ACE 1B00-1B4C 1B50-1B7E 1B80-1BF3 1BFC-1C37 1C3B-1C49 1C4D-1C88
1C90-1CBA 1CBD-1CC7 1CD0-1CFA 1D00-1F15 1F18-1F1D 1F20-1F45 1F48-1F4D 1F50-1F57 1F59
1F5B 1F5D 1F5F-1F7D 1F80-1FB4 1FB6-1FC4 1FC6-1FD3 1FD6-1FDB 1FDD-1FEF 1FF2-1FF4
1FF6-1FFE 2000-2064 2100-218B 2190-2426 2460-2B73 2B97-2CF3 2CF9-2D25 2D30-2D67
2DE0-2E5D 2E9B-2EF3 2F00-2FD5 3000-303F 3041-3096 3099-30FF 3105-312F 3131-318E
3190-31E3 31F0-321E 3220-A48C A490-A4C6 A4D0-A62B A640-A6F7 A700-A7CA A7F2-A82C
A840-A877 A880-A8C5 A8E0-A953 A980-A9CD AA00-AA36 AA5C-AAC2 AB30-AB6B AB70-ABED
AC00-D7A3 D7CB-D7FB E000-FA6D FA70-FAD9 FB46-FBC2 FBD3-FD8F FD92-FDC7 FDF0-FE19
FE20-FE52 FE76-FEFC FF01-FFBE 1D400-1D454 1D456-1D49C 1D4C5-1D505 1D552-1D6A5
1D6A8-1D7CB 1D7CE-1DA8B 1F000-1F02B 1F030-1F093 1F100-1F1AD 1F210-1F23B 1F300-1F6D7
1F700-1F773 1F780-1F7D8 1F810-1F847 1F860-1F887 1F900-1FA53 1FB00-1FB92 1FB94-1FBCA
20000-2A6DF 2A700-2B738 2B740-2B81D 2B820-2CEA1 2CEB0-2EBE0 2F800-2FA1D 30000-3134A
"""


def _ends(run: str) -> tuple[int, int]:
    first, _, last = run.partition("-")
    return int(first, 16), int(last or first, 16)


RUNS: Final = tuple(map(_ends, _RUNS.split()))
PATTERN: Final = f"[{''.join(f'{chr(first)}-{chr(last)}' for first, last in RUNS)}]*"
"""For Python: no end of a run means anything special within brackets."""


LONGEST: Final = 2**20
"""UTF-8 bytes of a text that is made."""
LONGEST_PATTERN: Final = 1000
MOST_TIMES_LONGER: Final = 1000
"""How much longer than what is read a text may become."""
BLANKS: Final = whitespace
_FARTHEST: Final = 2**31 - 1
_UP: Final = str.maketrans(ascii_lowercase, ascii_uppercase)
_DOWN: Final = str.maketrans(ascii_uppercase, ascii_lowercase)
_CAST: Final = 'Write it as a text by .cast("text").'
_TOO_LONG: Final = "a text beyond 1 MiB is not made"


def text_facts(name: str, kind: str) -> Callable[..., Column]:
    """Return the facts of an operation that takes texts alone."""

    def known(*arguments: Argument, **options: Any) -> Column:
        del options
        tree.require_types(name, arguments, ("text",), _CAST)
        return tree.result(kind, arguments)

    return known


def _concat_facts(*arguments: Argument) -> Column:
    tree.require_types("concat", arguments, ("text",), _CAST)
    times = sum(argument.column.longer for argument in arguments)
    return _check_growth(tree.result("text", arguments, lost=_TOO_LONG), times)


def _check_growth(column: Column, times: int) -> Column:
    """Facts of a text that may be so many times as long; each row holds one."""
    if times > MOST_TIMES_LONGER:
        raise InvalidQuery(
            f"this may make a text more than {MOST_TIMES_LONGER} times as long as "
            "those that are read, and an engine holds one for each row",
            "Cut it first: .slice(0, 100).",
        )
    return dataclasses.replace(column, longer=times)


def _slice_facts(argument: Argument, start: Value, length: Value) -> Column:
    del start
    tree.require_types("slice", (argument,), ("text",), _CAST)
    column = tree.result("text", (argument,))
    short = length is not None and length <= LONGEST_PATTERN
    return dataclasses.replace(column, longer=1) if short else column


def _replace_facts(argument: Argument, old: Argument, new: Argument) -> Column:
    tree.require_types("replace", (argument,), ("text",), _CAST)
    grows = size(new.constant) > size(old.constant)
    column = tree.result("text", (argument,), lost=_TOO_LONG if grows else None)
    times = -(-size(new.constant) // size(old.constant)) if grows else 1
    return _check_growth(column, argument.column.longer * times)


def size(text: str) -> int:
    """Return the number of bytes in UTF-8."""
    return len(text.encode())


def _lower(text: Value) -> Value:
    return text.translate(_DOWN)  # str.lower changes with the version of Unicode


def _upper(text: Value) -> Value:
    return text.translate(_UP)


def _slice(text: Value, start: int, length: int | None) -> Value:
    rest = text[start:]
    return rest if length is None else rest[:length]


def _concat(*values: Value) -> Value:
    # measured first: a text beyond the limit is never made
    return "".join(values) if sum(map(size, values)) <= LONGEST else None


def _text_between(text: Value, start: Value, end: Value) -> Value:
    return text[max(start, 0) : max(end, 0)]


def _substring_facts(argument: Argument, start: Argument, end: Argument) -> Column:
    tree.require_types("substring", (argument,), ("text",), _CAST)
    tree.require_types("substring", (start, end), ("i64",), "Use whole places.")
    return tree.result("text", (argument, start, end))


def _strip_start(text: Value, letters: str) -> Value:
    return text.lstrip(letters)


def _strip_end(text: Value, letters: str) -> Value:
    return text.rstrip(letters)


def _piece(text: Value, separator: str, place: int) -> Value:
    pieces = text.split(separator)
    at = place - 1 if place > 0 else place
    return pieces[at] if -len(pieces) <= at < len(pieces) else ""


def _strip(text: Value, letters: str | None = None) -> Value:
    return text.strip(BLANKS if letters is None else letters)


def _replace(text: Value, old: Value, new: Value) -> Value:
    growth = size(new) - size(old)
    # counted first: a text beyond the limit is never made
    if growth > 0 and size(text) + text.count(old) * growth > LONGEST:
        return None
    return text.replace(old, new)


def _normalize(text: Value) -> Value:
    """Return a text composed, if all its characters are settled."""
    settled = re.fullmatch(PATTERN, text) is not None
    return unicodedata.normalize("NFC", text) if settled else text


LOWER: Final = Operation("lower", text_facts("lower", "text"), _lower)
UPPER: Final = Operation("upper", text_facts("upper", "text"), _upper)
LENGTH: Final = Operation("length", text_facts("length", "i64"), len)
SLICE: Final = Operation("slice", _slice_facts, _slice)
CONTAINS: Final = Operation(
    "contains", text_facts("contains", "bool"), operator.contains
)
FIND: Final = Operation("find", text_facts("find", "i64"), str.find)
STARTS_WITH: Final = Operation(
    "starts_with", text_facts("starts_with", "bool"), str.startswith
)
ENDS_WITH: Final = Operation("ends_with", text_facts("ends_with", "bool"), str.endswith)
CONCAT: Final = Operation("concat", _concat_facts, _concat, copies=2)
STRIP: Final = Operation("strip", text_facts("strip", "text"), _strip)
STRIP_START: Final = Operation(
    "strip_start", text_facts("strip_start", "text"), _strip_start
)
STRIP_END: Final = Operation("strip_end", text_facts("strip_end", "text"), _strip_end)
SUBSTRING: Final = Operation("substring", _substring_facts, _text_between, copies=3)
# DuckDB's split_part is a macro, which writes its text several times
PIECE: Final = Operation("piece", text_facts("piece", "text"), _piece, copies=3)
REPLACE: Final = Operation("replace", _replace_facts, _replace, copies=4)
NORMALIZE: Final = Operation(
    "normalize", text_facts("normalize", "text"), _normalize, copies=3
)


def lower(self: Fluent) -> Fluent:
    """Return the text with A to Z made small; all else stays.

    >>> from sordino.expressions.language import col
    >>> col("x").lower().value({"x": "Ab Ö"})
    'ab Ö'
    """
    return self.call(LOWER, self)


def upper(self: Fluent) -> Fluent:
    """Return the text with a to z made capital; all else stays.

    >>> from sordino.expressions.language import col
    >>> col("x").upper().value({"x": "Ab ß"})
    'AB ß'
    """
    return self.call(UPPER, self)


def length(self: Fluent) -> Fluent:
    """Return the number of code points.

    >>> from sordino.expressions.language import col
    >>> col("x").length().value({"x": "né"})
    2
    """
    return self.call(LENGTH, self)


def slice_(self: Fluent, start: int, length: int | None = None) -> Fluent:
    """Return the text from a code point on, at most `length` of it, as Python does.

    A negative start counts from the end; what lies beyond the text is empty.

    >>> from sordino.expressions.language import col
    >>> part = col("x").slice(-3, 2)
    >>> part.value({"x": "hello"}), part.value({"x": "o"}), part.value({"x": ""})
    ('ll', 'o', '')
    """
    _validate.integer(start=start, least=-_FARTHEST, most=_FARTHEST)
    if length is not None:
        length = _validate.integer(length=length, least=0, most=_FARTHEST)
    return self.call(SLICE, self, start=int(start), length=length)


def text_between(self: Fluent, start: Any, end: Any) -> Fluent:
    """Return the text from one place to before another, each from 0, as computed.

    What lies before or beyond the text is empty.

    >>> from sordino.expressions.language import col
    >>> head = col("x").substring(0, col("x").length() - 2)
    >>> head.value({"x": "hello"}), head.value({"x": "o"})
    ('hel', '')
    """
    return self.call(SUBSTRING, self, start, end)


def piece(self: Fluent, separator: str, place: int) -> Fluent:
    """Return one of the pieces between separators: from 1 on, the last one is -1.

    A piece that is not there is empty.

    >>> from sordino.expressions.language import col
    >>> second, last = col("x").piece("-", 2), col("x").piece("-", -1)
    >>> second.value({"x": "a-b"}), second.value({"x": "a"}), last.value({"x": "a-b"})
    ('b', '', 'b')
    """
    read = bounded_text(separator=separator)
    at = _validate.integer(place=place, least=-_FARTHEST, most=_FARTHEST)
    if not at:
        raise InvalidParameter(
            "place", place, "must not be 0", "The first is 1, the last is -1."
        )
    return self.call(PIECE, self, separator=read, place=int(at))


def contains(self: Fluent, other: Any) -> Fluent:
    """Return whether the text has another within; the empty one is in all.

    >>> from sordino.expressions.language import col
    >>> col("x").contains("ell").value({"x": "hello"})
    True
    """
    return self.call(CONTAINS, self, other)


def find(self: Fluent, other: Any) -> Fluent:
    """Return at which code point another text first begins, from 0; -1 for nowhere.

    >>> from sordino.expressions.language import col
    >>> mark = col("x").find("@")
    >>> mark.value({"x": "é@b"}), mark.value({"x": "b"})
    (1, -1)
    """
    return self.call(FIND, self, other)


def starts_with(self: Fluent, other: Any) -> Fluent:
    """Return whether the text begins with another.

    >>> from sordino.expressions.language import col
    >>> col("x").starts_with(col("y")).value({"x": "hello", "y": "he"})
    True
    """
    return self.call(STARTS_WITH, self, other)


def ends_with(self: Fluent, other: Any) -> Fluent:
    """Return whether the text ends with another.

    >>> from sordino.expressions.language import col
    >>> col("x").ends_with("lo").value({"x": "hello"})
    True
    """
    return self.call(ENDS_WITH, self, other)


def concat(self: Fluent, *others: Any) -> Fluent:
    """Return the text with others behind it; missing if one is, or beyond 1 MiB.

    >>> from sordino.expressions.language import col
    >>> col("x").concat("-", col("y")).value({"x": "a", "y": "b"})
    'a-b'
    """
    return self.call(CONCAT, self, *others)


def strip(self: Fluent, letters: str | None = None) -> Fluent:
    """Return the text without the ASCII blanks around it, or without other letters.

    >>> from sordino.expressions.language import col
    >>> col("x").strip().value({"x": " a b "}), col("x").strip("*").value({"x": "*a "})
    ('a b', 'a ')
    """
    if letters is None:
        return self.call(STRIP, self)
    return self.call(STRIP, self, letters=bounded_text(letters=letters))


def strip_start(self: Fluent, letters: str = BLANKS) -> Fluent:
    """Return the text without some letters before it, by default ASCII blanks.

    >>> from sordino.expressions.language import col
    >>> col("x").strip_start().value({"x": " a "})
    'a '
    """
    return self.call(STRIP_START, self, letters=bounded_text(letters=letters))


def strip_end(self: Fluent, letters: str = BLANKS) -> Fluent:
    """Return the text without some letters behind it, by default ASCII blanks.

    >>> from sordino.expressions.language import col
    >>> col("x").strip_end("0").value({"x": "100"})
    '1'
    """
    return self.call(STRIP_END, self, letters=bounded_text(letters=letters))


def bounded_text(*, least: int = 1, **argument: Any) -> str:
    """Text that an operation is given, neither too short nor too long."""
    ((name, given),) = argument.items()
    read = literal(given)
    if read.type != "text" or not least <= len(read.constant) <= LONGEST_PATTERN:
        size_ = "1 to" if least else "at most"
        remedy = f'Try {name}=" ".' if least else "Shorten it."
        raise InvalidParameter(
            name, given, f"must be text of {size_} 1000 characters", remedy
        )
    return str(read.constant)


def replace(self: Fluent, old: str, new: str) -> Fluent:
    """Return the text with a literal replaced wherever it stands, from left to right.

    >>> from sordino.expressions.language import col
    >>> col("x").replace("-", "").value({"x": "555-0100"})
    '5550100'
    """
    for name, given in (("old", old), ("new", new)):
        read = literal(given)
        if read.type != "text" or len(read.constant) > LONGEST_PATTERN:
            raise InvalidParameter(
                name, given, "must be text of at most 1000 characters", "Shorten it."
            )
    if not old:
        raise InvalidParameter("old", old, "must not be empty", "Name what to replace.")
    return self.call(REPLACE, self, old, new)


def normalize(self: Fluent) -> Fluent:
    """Return the text in Unicode's composed form (NFC): one form for equal letters.

    A text with NUL, or with a character of a small historic script or later than
    Unicode 14, is left as it is.

    >>> from sordino.expressions.language import col
    >>> col("x").normalize().value({"x": "e\u0301"}) == "é"
    True
    """
    return self.call(NORMALIZE, self)


ESCAPE: Final = "\\"
"""What stands before a wildcard that means itself, in the pattern of an operation."""
_SPECIAL: Final = ("%", "_", ESCAPE)
_ANY: Final = None

Piece = tuple[str | None, ...]
"""Characters one after the other; None stands for any one."""


def _meaning(text: Value, pattern: str) -> Value:
    first, *others = read_pieces(pattern)
    if not others:
        return len(text) == len(first) and _fits(text, first, 0)
    last = others.pop()
    end = len(text) - len(last)
    if len(first) > end or not _fits(text, first, 0) or not _fits(text, last, end):
        return False
    place = len(first)
    for piece in others:
        place = _place_of(text, piece, place, end)
        if place < 0:
            return False
        place += len(piece)
    return True


def _place_of(text: str, piece: Piece, start: int, end: int) -> int:
    places = range(start, end - len(piece) + 1)
    return next((place for place in places if _fits(text, piece, place)), -1)


def _fits(text: str, piece: Piece, place: int) -> bool:
    return all(
        wanted is _ANY or text[place + at] == wanted for at, wanted in enumerate(piece)
    )


def read_pieces(pattern: str) -> list[Piece]:
    """Pieces between the wildcards % of a pattern; None stands for any letter."""
    pieces: list[list[str | None]] = [[]]
    letters = iter(pattern)
    for letter in letters:
        if letter == "%":
            pieces.append([])
        elif letter == "_":
            pieces[-1].append(_ANY)
        else:
            pieces[-1].append(next(letters) if letter == ESCAPE else letter)
    return [tuple(piece) for piece in pieces]


def _text(arguments: Sequence[AbstractTree], pattern: str) -> str:
    escape = f", escape={ESCAPE!r}" if ESCAPE in pattern else ""
    return f"{receiver(arguments[0])}.like({pattern!r}{escape})"


LIKE: Final = Operation("like", text_facts("like", "bool"), _meaning, text=_text)


def like(self: Fluent, pattern: str, escape: str | None = None) -> Fluent:
    """Return whether all of the text is as a pattern says, in its very letters.

    `%` stands for any text, also none, and `_` for one code point; after the letter
    `escape` they stand for themselves.

    >>> from sordino.expressions.language import col
    >>> named = col("x").like("A%_n")
    >>> named.value({"x": "Adrian"}), named.value({"x": "An"})
    (True, False)
    >>> col("x").like("100!%", escape="!").value({"x": "100%"})
    True
    """
    written = bounded_text(pattern=pattern, least=0)
    given: Any = escape
    if given is not None and (not isinstance(given, str) or len(given) != 1):
        raise InvalidParameter(
            "escape",
            escape,
            "must be one character",
            "Try escape='!', or leave it out.",
        )
    return self.call(LIKE, self, pattern=_settled(written, escape))


def _settled(pattern: str, escape: str | None) -> str:
    settled, letters = "", iter(pattern)
    for letter in letters:
        meant: Any = next(letters, None) if letter == escape else letter
        if letter == escape and (meant is None or meant not in ("%", "_", escape)):
            raise InvalidParameter(
                "pattern",
                pattern,
                "has an escape before a character that is not a wildcard",
                "Escape only %, _ and the escape itself.",
            )
        plain = letter in ("%", "_") and letter != escape
        settled += letter if plain else _itself(meant)
    return settled


def _itself(letter: str) -> str:
    return ESCAPE + letter if letter in _SPECIAL else letter


_SMALL: Final = {"\u0130": "i", "\u10c7": "\u2d27", "\u10cd": "\u2d2d"}
"""A letter whose small form has several code points, and two in runs too short."""
_CAPITAL: Final = (
    {"\u00df": "\u1e9e"}
    | {
        chr(small): chr(small + 8)
        for first in (0x1F80, 0x1F90, 0x1FA0)
        for small in range(first, first + 8)
    }
    | {"\u1fb3": "\u1fbc", "\u1fc3": "\u1fcc", "\u1ff3": "\u1ffc"}
)
"""Letters whose full capital form has several code points, and that have another."""


@cache
def changed_letters(word: str) -> Mapping[int, str]:
    """Return the letters that a change of case changes."""
    odd = _SMALL if word == "lower" else _CAPITAL
    settled = {chr(code) for first, last in RUNS for code in range(first, last + 1)}
    changed: dict[int, str] = {}
    for letter in settled:
        partner = odd.get(letter) or (
            letter.lower() if word == "lower" else letter.upper()
        )
        if letter in odd or (
            len(partner) == 1 and partner != letter and partner in settled
        ):
            changed[ord(letter)] = partner
    return changed


def _case_meaning(
    word: str, plain: Callable[[Value], Value]
) -> Callable[[Value], Value]:
    def change(text: Value) -> Value:
        # letters that are not settled may change with Unicode
        if text.isascii() or re.fullmatch(PATTERN, text) is None:
            return plain(text)
        return text.translate(changed_letters(word))

    return change


LOWERCASE: Final = Operation(
    "lowercase",
    text_facts("lowercase", "text"),
    _case_meaning("lower", LOWER.meaning),
    copies=3,
)
UPPERCASE: Final = Operation(
    "uppercase",
    text_facts("uppercase", "text"),
    _case_meaning("upper", UPPER.meaning),
    copies=3,
)


def lowercase(self: Fluent) -> Fluent:
    """Return the text in small letters, of all scripts, each one code point.

    >>> from sordino.expressions.language import col
    >>> col("x").lowercase().value({"x": "ÉCOLE ΑΣ İ"})
    'école ασ i'
    """
    return self.call(LOWERCASE, self)


def uppercase(self: Fluent) -> Fluent:
    """Return the text in capital letters, of all scripts, each one code point.

    >>> from sordino.expressions.language import col
    >>> col("x").uppercase().value({"x": "école ß ŉ"})
    'ÉCOLE ẞ ŉ'
    """
    return self.call(UPPERCASE, self)


def _pieces_of(text: Value, separator: str) -> Value:
    return text.split(separator)


SPLIT: Final = Operation("split", text_facts("split", "list[text]"), _pieces_of)


def split_(self: Fluent, separator: str) -> Fluent:
    """List of the pieces of a text between separators.

    `flat_map("tags", max_rows=3)` then makes a row of each of the first three.

    >>> from sordino.expressions.language import col
    >>> col("x").split(";").value({"x": "a;;b"}), col("x").split(";").value({"x": ""})
    (['a', '', 'b'], [''])
    """
    return self.call(SPLIT, self, separator=bounded_text(separator=separator))


OPERATIONS: Final = (
    LOWER,
    UPPER,
    LENGTH,
    SLICE,
    CONTAINS,
    FIND,
    STARTS_WITH,
    ENDS_WITH,
    CONCAT,
    STRIP,
    STRIP_START,
    STRIP_END,
    SUBSTRING,
    PIECE,
    REPLACE,
    NORMALIZE,
    LIKE,
    LOWERCASE,
    UPPERCASE,
    SPLIT,
)
