"""How DuckDB writes operations on texts, and casts.

A cast of a text is tried only on what fits our grammar: the engine's own is wider.
"""

from collections.abc import Mapping
from string import ascii_lowercase, ascii_uppercase
from typing import Final

from sqlglot import exp

from sordino.engines.sql import pieces as sql
from sordino.engines.sql.pieces import Entry, Sql, Written
from sordino.expressions import (
    automata,
    casts,
    formats,
    letters,
    patterns,
    pieces_of_text,
    text,
)
from sordino.expressions.settled import RUNS
from sordino.expressions.tree import Operation

_SETTLED: Final = "[{}]*".format(
    "".join(f"\\x{{{first:X}}}-\\x{{{last:X}}}" for first, last in RUNS)
)


def _function_entry(name: str) -> Entry:
    """Return the entry of a function of the engine."""

    def entry(to: Written) -> Sql:
        return sql.function(name, *to.each())

    return entry


def _translate(old: str, new: str) -> Entry:
    """Return the entry that puts letters in the place of others."""

    def entry(to: Written) -> Sql:
        return sql.function("translate", to[0], sql.letters(old), sql.letters(new))

    return entry


def _slice(to: Written) -> Sql:
    """Return a part: `right` counts from the end, and takes all of a shorter text."""
    start, length = to.options["start"], to.options["length"]
    if start < 0:
        rest = sql.function("right", to[0], sql.whole(-start))
        return rest if length is None else sql.function("left", rest, sql.whole(length))
    ends = [sql.whole(start + 1), *([] if length is None else [sql.whole(length)])]
    return sql.function("substring", to[0], *ends)


def _size(text: Sql) -> Sql:
    """Return the number of bytes in UTF-8."""
    return sql.function("strlen", text)


def _fits(size: Sql) -> Sql:
    """Return whether a text of a size may be made."""
    return sql.is_at_most(size, sql.bigint(text.LONGEST))


def _concat(to: Written) -> Sql:
    """Return texts one after the other."""
    size, joined = _size(to[0]), to[0]
    for other in to.each()[1:]:
        size = sql.plus(size, _size(other))
        joined = sql.infix(exp.DPipe, joined, other.copy())
    return sql.case([(_fits(size), joined)])


def _strip(to: Written) -> Sql:
    """Return a text without blanks or other letters around it."""
    wanted = to.options.get("letters")
    letters = sql.letters(text.BLANKS) if wanted is None else to.bind(wanted, "text")
    return sql.function("trim", to[0], letters)


def _replace(to: Written) -> Sql:
    """Return a text with replacements, counted before any is made."""
    without = sql.function("replace", to[0], to[1], sql.letters(""))
    removed = sql.minus(_size(to[0]), _size(without))
    count = sql.infix(exp.IntDiv, removed, _size(to[1]))
    growth = sql.multiplied_by(count, sql.minus(_size(to[2]), _size(to[1])))
    fits = _fits(sql.plus(_size(to[0]), growth))
    shrinks = sql.is_at_most(_size(to[2]), _size(to[1]))
    replaced = sql.function("replace", *to.each())
    return sql.case([(sql.infix(exp.Or, shrinks, fits), replaced)])


def _normalize(to: Written) -> Sql:
    """Return a text composed, if all its characters are settled."""
    settled = sql.function("regexp_full_match", to[0], sql.letters(_SETTLED))
    return sql.case([(settled, sql.function("nfc_normalize", to[0]))], to[0])


def _change_case(name: str, plain: Entry) -> Entry:
    """Return the entry of a change of case: of A to Z, unless all is settled."""

    def entry(to: Written) -> Sql:
        settled = sql.function("regexp_full_match", to[0], sql.letters(_SETTLED))
        return sql.case([(settled, sql.function(name, to[0]))], plain(to))

    return entry


def _matches(to: Written) -> Sql:
    """Return whether all of a text is as a regular expression says."""
    pattern = to.bind(automata.re2_pattern(to.options["pattern"]), "text")
    return sql.function("regexp_full_match", to[0], pattern)


def _split_part(to: Written) -> Sql:
    """Return what stands between separators, as a list."""
    return sql.function("string_split", to[0], to.bind(to.options["separator"], "text"))


def _format(to: Written) -> Sql:
    """Return a date or a time as a text."""
    return sql.function("strftime", to[0], to.bind(to.options["layout"], "text"))


def _find(to: Written) -> Sql:
    """Return a place from 0, or -1."""
    return sql.minus(sql.function("instr", to[0], to[1]), sql.bigint(1))


def _is_like(to: Written) -> Sql:
    """Return whether a text is as a pattern says."""
    pattern = to.bind(to.options["pattern"], "text")
    return sql.function("like_escape", to[0], pattern, sql.letters(patterns.ESCAPE))


def _plain(kind: str) -> Entry:
    """Return the entry of a cast that always succeeds."""

    def entry(to: Written) -> Sql:
        return sql.as_type(to[0], kind)

    return entry


def _read(kind: str, name: str) -> Entry:
    """Return the entry of a cast of a text of a grammar."""
    blanks = "[ \\t\\n\\r\\v\\f]*"
    pattern = f"{blanks}(?:{casts.GRAMMARS[name]}){blanks}"

    def entry(to: Written) -> Sql:
        fits = sql.function("regexp_full_match", to[0], sql.letters(pattern))
        return sql.case([(fits, sql.as_type_or_null(_strip(to), kind))])

    return entry


def _read_real(to: Written) -> Sql:
    """Return the nearest double, -0.0 as 0.0."""
    return sql.plus(_read("DOUBLE", "f64")(to), sql.double(0))


def _read_truth(to: Written) -> Sql:
    """Return a truth by its name."""
    small = sql.function(
        "translate",
        _strip(to),
        sql.letters(ascii_uppercase),
        sql.letters(ascii_lowercase),
    )
    return exp.Case(
        this=small,
        ifs=[
            exp.If(this=sql.letters("true"), true=exp.true()),
            exp.If(this=sql.letters("false"), true=exp.false()),
        ],
    )


def _truncate(to: Written) -> Sql:
    """Return a double without its fraction, if that fits."""
    return sql.as_type_or_null(sql.function("trunc", to[0]), "BIGINT")


def _moment_text(to: Written) -> Sql:
    """Return a time with all its digits."""
    return sql.function("strftime", to[0], sql.letters("%Y-%m-%dT%H:%M:%S.%f"))


_CASTS: Final[Mapping[tuple[str, str], Entry]] = {
    ("i64", "f64"): _plain("DOUBLE"),
    ("i64", "text"): _plain("VARCHAR"),
    ("i64", "bool"): _plain("BOOLEAN"),
    ("f64", "i64"): _truncate,
    ("bool", "i64"): _plain("BIGINT"),
    ("bool", "f64"): _plain("DOUBLE"),
    ("bool", "text"): _plain("VARCHAR"),
    ("text", "i64"): _read("BIGINT", "i64"),
    ("text", "f64"): _read_real,
    ("text", "bool"): _read_truth,
    ("text", "date"): _read("DATE", "date"),
    ("text", "time"): _read("TIMESTAMP", "time"),
    ("date", "time"): _plain("TIMESTAMP"),
    ("date", "text"): _plain("VARCHAR"),
    ("time", "date"): _plain("DATE"),
    ("time", "text"): _moment_text,
}


def _cast(to: Written) -> Sql:
    """Return a value as one of another type."""
    known, wanted = to.types[0], to.options["to"]
    return to[0] if known == wanted else _CASTS[known, wanted](to)


_LOWER: Final = _translate(ascii_uppercase, ascii_lowercase)
_UPPER: Final = _translate(ascii_lowercase, ascii_uppercase)

ENTRIES: Final[Mapping[Operation, Entry]] = {
    casts.CAST: _cast,
    text.LOWER: _LOWER,
    text.UPPER: _UPPER,
    letters.LOWERCASE: _change_case("lower", _LOWER),
    letters.UPPERCASE: _change_case("upper", _UPPER),
    text.LENGTH: _function_entry("length"),
    text.SLICE: _slice,
    text.CONTAINS: _function_entry("contains"),
    text.FIND: _find,
    patterns.LIKE: _is_like,
    automata.MATCHES: _matches,
    pieces_of_text.SPLIT: _split_part,
    formats.STRFTIME: _format,
    text.STARTS_WITH: _function_entry("starts_with"),
    text.ENDS_WITH: _function_entry("suffix"),
    text.CONCAT: _concat,
    text.STRIP: _strip,
    text.REPLACE: _replace,
    text.NORMALIZE: _normalize,
}
