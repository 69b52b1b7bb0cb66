r"""How Spark writes operations on texts, and casts.

A cast of a text is tried only on what fits our grammar: Spark's own is wider. Java's
regular expressions go back over a text, and into depth where a group is repeated: only
those are written that do neither. `\z` is the very end, which `$` is not.
"""

import re
from collections.abc import Mapping, Sequence
from string import ascii_lowercase, ascii_uppercase
from typing import Final

from sqlglot import exp

from sordino.engines.spark.sql_numbers import within_64_bits
from sordino.engines.sql import pieces as sql
from sordino.engines.sql.pieces import Entry, Sql, Written
from sordino.expressions import casts, formats, letters, patterns, pieces_of_text, text
from sordino.expressions.settled import RUNS
from sordino.expressions.tree import Operation

BLANK: Final = r"[ \t\n\x0B\f\r]*"
_LAST_PLACE: Final = 2**31 - 1
_SETTLED: Final = r"\A[{}]*\z".format(
    "".join(f"\\x{{{first:X}}}-\\x{{{last:X}}}" for first, last in RUNS)
)


def matches(cell: Sql, pattern: str) -> Sql:
    """Return whether a text is all of a pattern, but for blanks around it."""
    return sql.function("rlike", cell, sql.letters(whole_pattern(pattern)))


def whole_pattern(pattern: str) -> str:
    """Return the pattern of a text that is all of another, but for blanks around it."""
    return rf"\A{BLANK}(?:{pattern}){BLANK}\z"


def without_blanks(cell: Sql) -> Sql:
    """Return a text without blanks around it."""
    return sql.function("btrim", cell, sql.letters(text.BLANKS))


def in_small_letters(text: Sql) -> Sql:
    """Return a text with small letters for A to Z."""
    old, new = sql.letters(ascii_uppercase), sql.letters(ascii_lowercase)
    return sql.function("translate", text, old, new)


def _function_entry(name: str) -> Entry:
    """Return the entry of a function of the engine."""

    def entry(to: Written) -> Sql:
        return sql.function(name, *to.each())

    return entry


def _lower(to: Written) -> Sql:
    """Return a text with small letters for A to Z."""
    return in_small_letters(to[0])


def _upper(to: Written) -> Sql:
    """Return a text with capital letters for a to z."""
    old, new = sql.letters(ascii_lowercase), sql.letters(ascii_uppercase)
    return sql.function("translate", to[0], old, new)


def _case_entry(word: str, plain: Entry) -> Entry:
    """Return the entry of a change of case: of A to Z, unless all is settled.

    Spark's own has letters of several code points, and those of its Unicode.
    """

    def entry(to: Written) -> Sql:
        settled = sql.function("rlike", to[0], sql.letters(_SETTLED))
        changed = sorted(letters.changed_letters(word).items())
        old = sql.letters("".join(chr(letter) for letter, _ in changed))
        new = sql.letters("".join(letter for _, letter in changed))
        return sql.case(
            [(settled, sql.function("translate", to[0], old, new))], plain(to)
        )

    return entry


def _length(to: Written) -> Sql:
    """Return the number of code points."""
    return sql.as_type(sql.function("char_length", to[0]), "BIGINT")


def _slice(to: Written) -> Sql:
    """Return a part: `right` counts from the end, and takes all of a shorter text."""
    start, length = to.options["start"], to.options["length"]
    if start < 0:
        rest = sql.function("right", to[0], sql.whole(-start))
        return rest if length is None else sql.function("left", rest, sql.whole(length))
    first = sql.whole(min(start + 1, _LAST_PLACE))
    ends = [first, *([] if length is None else [sql.whole(length)])]
    return sql.function("substring", to[0], *ends)


def bytes_of(text: Sql) -> Sql:
    """Return the number of bytes in UTF-8."""
    return sql.as_type(sql.function("octet_length", text), "BIGINT")


def _fits(size: Sql) -> Sql:
    """Return whether a text of a size may be made."""
    return sql.is_at_most(size, sql.bigint(text.LONGEST))


def _concat(to: Written) -> Sql:
    """Return texts one after the other."""
    size = bytes_of(to[0])
    for other in to.each()[1:]:
        size = sql.plus(size, bytes_of(other))
    return sql.case([(_fits(size), sql.function("concat", *to.each()))])


def _strip(to: Written) -> Sql:
    """Return a text without blanks or other letters around it."""
    trimmed = to.options.get("letters")
    if trimmed is None:
        return without_blanks(to[0])
    return sql.function("btrim", to[0], to.bind(trimmed, "text"))


def _replace(to: Written) -> Sql:
    """Return a text with replacements, counted before any is made."""
    without = sql.function("replace", to[0], to[1], sql.letters(""))
    removed = sql.minus(bytes_of(to[0]), bytes_of(without))
    nonempty = sql.function("nullif", bytes_of(to[1]), sql.whole(0))
    count = sql.infix(exp.IntDiv, removed, nonempty)
    growth = sql.multiplied_by(count, sql.minus(bytes_of(to[2]), bytes_of(to[1])))
    fits = _fits(sql.plus(bytes_of(to[0]), growth))
    shrinks = sql.is_at_most(bytes_of(to[2]), bytes_of(to[1]))
    replaced = sql.function("replace", *to.each())
    return sql.case([(sql.infix(exp.Or, shrinks, fits), replaced)])


def _find(to: Written) -> Sql:
    """Return a place from 0, or -1."""
    place = sql.as_type(sql.function("instr", to[0], to[1]), "BIGINT")
    return sql.minus(place, sql.bigint(1))


def _split_text(to: Written) -> Sql:
    """Return what stands between separators, as a list."""
    mark = sql.letters(_itself(to.options["separator"]))
    return sql.function("split", to[0], mark, sql.whole(-1))


def _itself(letters_: Sequence[str | None]) -> str:
    """Return a regular expression for letters, None for any one of them."""
    return "".join(
        "." if letter is None else f"\\x{{{ord(letter):X}}}" for letter in letters_
    )


def _match_pattern(to: Written) -> Sql:
    """Return whether a text is as a pattern says.

    Each piece is taken where it is first found, and never again elsewhere: that is
    right, for what follows has then most room, and takes one pass.
    """
    first, *others = map(_itself, patterns.read_pieces(to.options["pattern"]))
    if others:
        *between, last = others
        first += "".join(f"(?>.*?{piece})" for piece in between) + f".*{last}"
    return sql.function("rlike", to[0], sql.letters(rf"(?s)\A{first}\z"))


_PERCENT: Final = re.compile(r"%(.?)", re.DOTALL)
_PARTS: Final = {
    "Y": ("year", 4),
    "m": ("month", 2),
    "d": ("day", 2),
    "H": ("hour", 2),
    "M": ("minute", 2),
    "S": ("second", 2),
}


def _format(to: Written) -> Sql:
    """Return a date or a time as a text, part after part."""
    pieces = [sql.letters("")]
    parts = _PERCENT.split(to.options["layout"])  # [text, letter, text, ... text]
    for place, piece in enumerate(parts):
        pieces.append(_format_part(to[0], piece) if place % 2 else sql.letters(piece))
    return sql.function("concat", *pieces)


def _format_part(moment: Sql, letter: str) -> Sql:
    """Return what one letter of a format stands for."""
    if letter == "%":
        return sql.letters("%")
    if letter == "f":
        return sql.function("right", moment_text(moment), sql.whole(6))
    name, digits = _PARTS[letter]
    part = sql.as_type(sql.function(name, moment), "STRING")
    return sql.function("lpad", part, sql.whole(digits), sql.letters("0"))


def moment_text(moment: Sql) -> Sql:
    """Return a time with all its digits: the cast writes no more than there are."""
    text = sql.as_type(moment, "STRING")
    joined = sql.function("replace", text, sql.letters(" "), sql.letters("T"))
    has_point = sql.function("contains", text.copy(), sql.letters("."))
    point = sql.case([(has_point, sql.letters(""))], sql.letters("."))
    filled = (sql.whole(26), sql.letters("0"))
    return sql.function("rpad", sql.function("concat", joined, point), *filled)


def _plain(kind: str) -> Entry:
    """Return the entry of a cast that always succeeds."""

    def entry(to: Written) -> Sql:
        return sql.as_type(to[0], kind)

    return entry


def _read(kind: str, name: str) -> Entry:
    """Return the entry of a cast of a text of a grammar."""

    def entry(to: Written) -> Sql:
        text_or_null = sql.case([
            (matches(to[0], casts.GRAMMARS[name]), without_blanks(to[0]))
        ])
        return sql.as_type_or_null(text_or_null, kind)

    return entry


def _read_real(to: Written) -> Sql:
    """Return the nearest double, -0.0 as 0.0."""
    return sql.plus(_read("DOUBLE", "f64")(to), sql.double(0))


def _read_truth(to: Written) -> Sql:
    """Return a truth by its name."""
    small = in_small_letters(without_blanks(to[0]))
    named = (("true", exp.true()), ("false", exp.false()))
    return sql.case([
        (sql.is_equal(small.copy(), sql.letters(name)), truth) for name, truth in named
    ])


def _truncate_double(to: Written) -> Sql:
    """Return a double without its fraction, if that fits."""
    return sql.as_type(within_64_bits(to), "BIGINT")


def _moment_text(to: Written) -> Sql:
    """Return a time with all its digits."""
    return moment_text(to[0])


_CASTS: Final[Mapping[tuple[str, str], Entry]] = {
    ("i64", "f64"): _plain("DOUBLE"),
    ("i64", "text"): _plain("STRING"),
    ("i64", "bool"): _plain("BOOLEAN"),
    ("f64", "i64"): _truncate_double,
    ("bool", "i64"): _plain("BIGINT"),
    ("bool", "f64"): _plain("DOUBLE"),
    ("bool", "text"): _plain("STRING"),
    ("text", "i64"): _read("BIGINT", "i64"),
    ("text", "f64"): _read_real,
    ("text", "bool"): _read_truth,
    ("text", "date"): _read("DATE", "date"),
    ("text", "time"): _read("TIMESTAMP_NTZ", "time"),
    ("date", "time"): _plain("TIMESTAMP_NTZ"),
    ("date", "text"): _plain("STRING"),
    ("time", "date"): _plain("DATE"),
    ("time", "text"): _moment_text,
}


def _cast(to: Written) -> Sql:
    """Return a value as one of another type."""
    known, wanted = to.types[0], to.options["to"]
    return to[0] if known == wanted else _CASTS[known, wanted](to)


ENTRIES: Final[Mapping[Operation, Entry]] = {
    casts.CAST: _cast,
    text.LOWER: _lower,
    text.UPPER: _upper,
    letters.LOWERCASE: _case_entry("lower", _lower),
    letters.UPPERCASE: _case_entry("upper", _upper),
    text.LENGTH: _length,
    text.SLICE: _slice,
    text.CONTAINS: _function_entry("contains"),
    text.FIND: _find,
    patterns.LIKE: _match_pattern,
    pieces_of_text.SPLIT: _split_text,
    formats.STRFTIME: _format,
    text.STARTS_WITH: _function_entry("startswith"),
    text.ENDS_WITH: _function_entry("endswith"),
    text.CONCAT: _concat,
    text.STRIP: _strip,
    text.REPLACE: _replace,
}
