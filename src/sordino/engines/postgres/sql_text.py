"""How PostgreSQL writes operations on texts, and casts.

A text of its own has no U+0000. Its regular expressions are told each code point by its
number, so that no collation decides about a letter.
"""

import re
from collections.abc import Mapping
from itertools import starmap
from string import ascii_lowercase, ascii_uppercase
from typing import Final

from sqlglot import exp

from sordino.engines.postgres import sql_cells as cells
from sordino.engines.postgres.guards import (
    as_bigint,
    as_integer,
    fits,
    let,
    narrow_double,
    whole_quotient,
)
from sordino.engines.postgres.sql_dates import midnight
from sordino.engines.sql import pieces as sql
from sordino.engines.sql.pieces import Entry, Sql, Written
from sordino.expressions import (
    automata,
    casts,
    formats,
    letters,
    patterns,
    text,
)
from sordino.expressions.letters import changed_letters
from sordino.expressions.regular import Again, Chain, Either, Node, One, read_pattern
from sordino.expressions.settled import RUNS
from sordino.expressions.tree import Operation

_FARTHEST: Final = 2**21
"""More code points than a text has."""


def _run(low: int, high: int) -> str:
    r"""Return code points from one to another; no text has U+0000.

    >>> _run(0, 97), _run(97, 97)
    ('\\U00000001-\\U00000061', '\\U00000061')
    """
    first = f"\\U{max(low, 1):08X}"
    return first if low == high else f"{first}-\\U{high:08X}"


_SETTLED: Final = f"[{''.join(starmap(_run, RUNS))}]*"


def _translated(old: str, new: str) -> Entry:
    """Return the entry that puts letters in the place of others."""
    return lambda to: sql.function(
        "translate", to[0], sql.letters(old), sql.letters(new)
    )


def _slice(to: Written) -> Sql:
    """Return a part: `right` counts from the end, and takes all of a shorter text."""
    start = max(-_FARTHEST, min(_FARTHEST, to.options["start"]))
    length_asked = to.options["length"]
    length = None if length_asked is None else min(_FARTHEST, length_asked)
    if start < 0:
        rest = sql.function("right", to[0], sql.whole(-start))
        return rest if length is None else sql.function("left", rest, sql.whole(length))
    ends = [sql.whole(start + 1), *([] if length is None else [sql.whole(length)])]
    return sql.function("substr", to[0], *ends)


def _size(cell: Sql) -> Sql:
    """Return the number of bytes in UTF-8."""
    return as_bigint(sql.function("octet_length", cell))


def _made_if_short(size: Sql, written: Sql) -> Sql:
    """Return a text if it is not too long to be made."""
    return sql.case([(sql.is_at_most(size, sql.bigint(text.LONGEST)), written)])


def _concat(to: Written) -> Sql:
    """Return texts one after the other."""
    size, joined = _size(to[0]), to[0]
    for other in to.each()[1:]:
        size = sql.plus(size, _size(other))
        joined = sql.infix(exp.DPipe, joined, other.copy())
    return _made_if_short(size, joined)


def _strip(to: Written) -> Sql:
    """Return a text without blanks or other letters around it."""
    letters_asked = to.options.get("letters")
    taken = (
        sql.letters(text.BLANKS)
        if letters_asked is None
        else to.bind(letters_asked, "text")
    )
    return sql.function("btrim", to[0], taken)


def _replace(to: Written) -> Sql:
    """Return a text with replacements, counted before any is made."""

    def replaced(cell: Sql) -> Sql:
        without = sql.function("replace", cell.copy(), to[1], sql.letters(""))
        removed = sql.minus(_size(cell.copy()), _size(without))
        count = whole_quotient(
            removed, exp.Nullif(this=_size(to[1]), expression=sql.whole(0))
        )
        growth = sql.multiplied_by(count, sql.minus(_size(to[2]), _size(to[1])))
        shrinks = sql.is_at_most(_size(to[2]), _size(to[1]))
        size = sql.case(
            [(shrinks, sql.bigint(0))], sql.plus(_size(cell.copy()), growth)
        )
        return _made_if_short(size, sql.function("replace", cell, to[1], to[2]))

    return let((to[0],), replaced)


def _normalize(to: Written) -> Sql:
    """Return a text composed, if all its characters are settled."""

    def composed(cell: Sql) -> Sql:
        normal = sql.function("pg_catalog.normalize", cell.copy(), sql.letters("NFC"))
        return sql.case([(fits(cell.copy(), _SETTLED), normal)], cell)

    return let((to[0],), composed)


def _cased(word: str, plain: Mapping[str, str]) -> Entry:
    """Return the entry of a change of case: of A to Z, unless all is settled."""
    pairs = changed_letters(word)
    every = _translated("".join(map(chr, pairs)), "".join(pairs.values()))
    ascii_ = _translated("".join(plain), "".join(plain.values()))

    def entry(to: Written) -> Sql:
        return sql.case([(fits(to[0], _SETTLED), every(to))], ascii_(to))

    return entry


def _matches(to: Written) -> Sql:
    """Return whether all of a text is as a regular expression says.

    What a pattern makes of the empty text is computed before any row: one that the
    database finds too complex is refused there.
    """
    pattern = to.bind(f"^(?:{_are(read_pattern(to.options['pattern']))})$", "text")
    tried = sql.is_missing(
        exp.RegexpLike(this=sql.as_type(sql.letters(""), "TEXT"), expression=pattern)
    )
    matched = exp.RegexpLike(this=to[0], expression=pattern.copy())
    return sql.case([(sql.negation(tried), matched)])


def _are(node: Node) -> str:
    """Return a part of a pattern as an advanced regular expression."""
    match node:
        case One():
            runs = [run for run in node.ranges if run[1] > 0]
            # what no text has is a letter that is not any letter
            return f"[{''.join(starmap(_run, runs))}]" if runs else "(?!)"
        case Chain():
            return "".join(f"(?:{_are(part)})" for part in node.parts)
        case Either():
            return "|".join(map(_are, node.parts))
        case Again():
            most = "" if node.most is None else str(node.most)
            return f"(?:{_are(node.part)}){{{node.least},{most}}}"


def _like(to: Written) -> Sql:
    """Return whether a text is as a pattern says."""
    pattern = to.bind(to.options["pattern"], "text")
    return exp.Escape(
        this=exp.Like(this=to[0], expression=pattern),
        expression=sql.letters(patterns.ESCAPE),
    )


def _find(to: Written) -> Sql:
    """Return a place from 0, or -1."""
    return sql.minus(as_bigint(sql.function("strpos", to[0], to[1])), sql.bigint(1))


def _contains(to: Written) -> Sql:
    """Return whether there is a place."""
    return sql.is_less(sql.whole(0), sql.function("strpos", to[0], to[1]))


def _ends_with(to: Written) -> Sql:
    """Return whether a text that is turned round starts with another that is."""
    return sql.function(
        "starts_with", *(sql.function("reverse", text) for text in to.each())
    )


_DIRECTIVES: Final = {
    "Y": "YYYY",
    "m": "MM",
    "d": "DD",
    "H": "HH24",
    "M": "MI",
    "S": "SS",
    "f": "US",
}
_PERCENT: Final = re.compile(r"%(.)", re.DOTALL)


def _format(to: Written) -> Sql:
    """Return a date or a time as a text; what is no directive stands in quotes."""
    pieces = _PERCENT.split(to.options["layout"])
    texts = [_quoted(piece) for piece in pieces[::2]]
    directives = [_DIRECTIVES.get(piece) or _quoted(piece) for piece in pieces[1::2]]
    whole = "".join(a + b for a, b in zip(texts, [*directives, ""], strict=True))
    return _written(to[0], to.bind(whole, "text"))


def _quoted(plain: str) -> str:
    """Return a text that stands for itself in a format."""
    escaped = plain.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"' if plain else ""


def _written(moment: Sql, layout: Sql) -> Sql:
    """Return a date or a time as a text in a format."""
    return sql.function("to_char", midnight(moment), layout)


def _plain(kind: str) -> Entry:
    """Return the entry of a cast that always succeeds."""
    return lambda to: sql.as_type(to[0], kind)


def _truncated(to: Written) -> Sql:
    """Return a double without its fraction, if that fits."""
    return narrow_double(sql.function("trunc", to[0]))


_CASTS: Final[Mapping[tuple[str, str], Entry]] = {
    ("i64", "f64"): _plain("DOUBLE"),
    ("i64", "text"): _plain("TEXT"),
    ("i64", "bool"): lambda to: exp.NEQ(this=to[0], expression=sql.whole(0)),
    ("f64", "i64"): _truncated,
    ("bool", "i64"): lambda to: as_bigint(as_integer(to[0])),
    ("bool", "f64"): lambda to: sql.as_type(as_integer(to[0]), "DOUBLE"),
    ("bool", "text"): _plain("TEXT"),
    ("text", "i64"): lambda to: cells.integer_in(to[0]),
    ("text", "f64"): lambda to: cells.real_in(to[0]),
    ("text", "bool"): lambda to: cells.truth_in(to[0], ("true",), ("false",)),
    ("text", "date"): lambda to: cells.day_in(to[0]),
    ("text", "time"): lambda to: cells.moment_in(to[0]),
    ("date", "time"): _plain("TIMESTAMP"),
    ("date", "text"): lambda to: _written(to[0], sql.letters("YYYY-MM-DD")),
    ("time", "date"): _plain("DATE"),
    ("time", "text"): lambda to: _written(
        to[0], sql.letters('YYYY-MM-DD"T"HH24:MI:SS.US')
    ),
}


def _cast(to: Written) -> Sql:
    """Return a value as one of another type."""
    known, wanted = to.types[0], to.options["to"]
    return to[0] if known == wanted else _CASTS[known, wanted](to)


_DOWN: Final = dict(zip(ascii_uppercase, ascii_lowercase, strict=True))
_UP: Final = dict(zip(ascii_lowercase, ascii_uppercase, strict=True))

ENTRIES: Final[Mapping[Operation, Entry]] = {
    casts.CAST: _cast,
    text.LOWER: _translated(ascii_uppercase, ascii_lowercase),
    text.UPPER: _translated(ascii_lowercase, ascii_uppercase),
    letters.LOWERCASE: _cased("lower", _DOWN),
    letters.UPPERCASE: _cased("upper", _UP),
    text.LENGTH: lambda to: as_bigint(sql.function("length", to[0])),
    text.SLICE: _slice,
    text.CONTAINS: _contains,
    text.FIND: _find,
    patterns.LIKE: _like,
    automata.MATCHES: _matches,
    formats.STRFTIME: _format,
    text.STARTS_WITH: lambda to: sql.function("starts_with", to[0], to[1]),
    text.ENDS_WITH: _ends_with,
    text.CONCAT: _concat,
    text.STRIP: _strip,
    text.REPLACE: _replace,
    text.NORMALIZE: _normalize,
}
