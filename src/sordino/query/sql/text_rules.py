"""Texts; the list of all rules."""

import re
from collections.abc import Callable
from typing import Any, Final

from sqlglot import exp

from sordino.errors import InvalidParameter
from sordino.expressions.language import Expression, lit, when
from sordino.expressions.regular import least_letters, part_pattern, split_anchors
from sordino.expressions.text import LONGEST_PATTERN
from sordino.query.sql import number_rules, truth_rules
from sordino.query.sql import scope as leaf_rules
from sordino.query.sql.reading import Clause
from sordino.query.sql.scope import (
    AbstractScope,
    Rule,
    Value,
    is_null_word,
    whole_number,
)

_WRITTEN: Final = ("text", "i64", "bool", "date")
"""Types whose values every dialect writes alike."""


def _text(clause: Clause, scope: AbstractScope) -> Expression:
    value = scope.value(clause)
    if value.type != "text":
        raise clause.refusal(
            f"a text belongs here, and {clause.short_text} is of type {value.type}",
            "Cast it to VARCHAR, or declare the column's type at its table.",
        )
    return value.expression


def _literal_text(clause: Clause, scope: AbstractScope, what: str) -> str:
    value = scope.value(clause)
    if not isinstance(value.constant, str):
        raise clause.refusal(
            f"{what} must be a text written here", "Write it in quotes."
        )
    return value.constant


def _of_text(build: Callable[[Expression], Expression]) -> Rule:
    def rule(clause: Clause, scope: AbstractScope) -> Value:
        return scope.value_of(build(_text(clause.take("this"), scope)))

    return rule


def _length(clause: Clause, scope: AbstractScope) -> Value:
    clause.scalar("binary")  # BigQuery counts bytes of bytes alone, and there are none
    return scope.value_of(_text(clause.take("this"), scope).length())


def _of_texts(
    build: Callable[[Expression, Expression], Expression], second: str = "expression"
) -> Rule:
    def rule(clause: Clause, scope: AbstractScope) -> Value:
        first = _text(clause.take("this"), scope)
        return scope.value_of(build(first, _text(clause.take(second), scope)))

    return rule


def _as_text(clause: Clause, scope: AbstractScope) -> Expression:
    value = scope.value(clause)
    if value.type not in _WRITTEN:
        raise clause.refusal(
            f"dialects write values of type {value.type} differently",
            "Join texts, whole numbers, booleans and dates.",
        )
    text = value.expression
    return text if value.type == "text" else text.cast("text")


def _join(clause: Clause, scope: AbstractScope) -> Value:
    clause.scalar("safe")
    left = _as_text(clause.take("this"), scope)
    return scope.value_of(left.concat(_as_text(clause.take("expression"), scope)))


def _concat(clause: Clause, scope: AbstractScope) -> Value:
    """Rule of CONCAT: a missing value is left out where the dialect has it so."""
    for name in ("safe", "coalesce"):
        clause.scalar(name)
    skips = clause.dialect.concat_skips
    for part in clause.each("expressions"):
        plain = is_null_word(part) or scope.value(part).type != "bool"
        if not plain and not clause.dialect.truths_join:
            raise part.refusal(
                "CONCAT writes a boolean as t or f in this dialect",
                "Cast it to VARCHAR: that writes true or false.",
            )
    parts = [
        _as_text(part, scope)
        for part in clause.each("expressions")
        if not (skips and is_null_word(part))
    ]
    if skips:
        parts = [
            text if text.tree.constant is not None else text.fill_null("")
            for text in parts
        ]
    return scope.value_of(lit("").concat(*parts))


def _join_with(clause: Clause, scope: AbstractScope) -> Value:
    """Rule of CONCAT_WS, which leaves out what is missing."""
    for name in ("safe", "coalesce"):
        clause.scalar(name)
    mark, *parts = clause.each("expressions")
    between = _literal_text(mark, scope, "what stands between")
    texts = [
        lit(between).concat(_as_text(part, scope)).fill_null("")
        for part in parts
        if not is_null_word(part)
    ]
    joined = lit("").concat(*texts)
    return scope.value_of(joined.slice(len(between)) if between else joined)


def _slice(clause: Clause, scope: AbstractScope) -> Value:
    """Rule of SUBSTRING: places count from 1, in DuckDB negative ones from the end."""
    text = _text(clause.take("this"), scope)
    start_part, size = clause.take("start"), clause.some("length")
    if not (_is_whole(start_part) and (size is None or _is_whole(size))):
        return scope.value_of(_computed_slice(start_part, size, scope, text))
    start = whole_number(start_part, "the first place")
    length = None if size is None else whole_number(size, "a length")
    if start > 0 and (length or 0) >= 0:
        return scope.value_of(text.slice(start - 1, length))
    if clause.dialect.name != "duckdb" or (length or 0) < 0:
        raise clause.refusal(
            "dialects count places before the first differently",
            "Write a start of 1 or more, or RIGHT(x, n).",
        )
    first = text.length() + start if start < 0 else lit(-1)
    return scope.value_of(text.substring(first, _end_of(first, length)))


def _bracket(clause: Clause, scope: AbstractScope) -> Value:
    """Rule of x[2:4] and x[2] in DuckDB: both ends count, from the end below 0."""
    text = _text(clause.take("this"), scope)
    (place,) = clause.each("expressions")
    if clause.dialect.name != "duckdb":
        raise clause.refusal(
            f"[] is of lists in {clause.dialect.name}", "Write SUBSTRING(x, 2, 3)."
        )
    for name in ("offset", "safe"):
        clause.scalar(name)
    if place.kind is not exp.Slice:
        # the parser counts from 0
        first = whole_number(place, "a place in a text") + 1
        return scope.value_of(_between(text, first, first))
    first_part, last_part = place.some("this"), place.some("expression")
    first = 1 if first_part is None else whole_number(first_part, "a first place")
    last = -1 if last_part is None else whole_number(last_part, "a last place")
    return scope.value_of(_between(text, first, last))


def _between(text: Expression, first: int, last: int) -> Expression:
    begin = text.length() + first if first < 0 else lit(first - 1)
    return text.substring(begin, text.length() + last + 1 if last < 0 else last)


def _end_of(first: Expression, length: int | None) -> Expression:
    return lit(_FARTHEST) if length is None else first + length


def _is_whole(clause: Clause) -> bool:
    inner = clause.bare()
    inner = inner.take("this").bare() if inner.kind is exp.Neg else inner
    return inner.kind is exp.Literal


def _computed_slice(
    start: Clause, size: Clause | None, scope: AbstractScope, text: Expression
) -> Expression:
    parts = [start] if size is None else [start, size]
    values = [scope.value(part) for part in parts]
    for part, value in zip(parts, values, strict=True):
        if value.type != "i64" or start.dialect.name != "duckdb":
            raise part.refusal(
                "a place in a text must be a whole number written here", "Write it."
            )
    place = values[0].expression
    # places below 1 lie before the text, and negative ones count from its end
    first = when(place < 0).then(text.length() + place).otherwise(place - 1)
    if size is None:
        return text.substring(first, _FARTHEST)
    length = values[1].expression
    return text.substring(first, first + when(length < 0).then(0).otherwise(length))


def _end(build: Callable[[Expression, int], Expression]) -> Rule:
    def rule(clause: Clause, scope: AbstractScope) -> Value:
        text = _text(clause.take("this"), scope)
        size = whole_number(clause.take("expression"), "a number of letters")
        clause.scalar("negative_length_returns_empty")
        if size < 0 and clause.dialect.name not in _FROM_BEHIND:
            raise clause.refusal(
                f"LEFT and RIGHT take no negative number in {clause.dialect.name}",
                "Write SUBSTRING(x, first, length).",
            )
        return scope.value_of(build(text, size))

    return rule


_FROM_BEHIND: Final = ("duckdb", "postgres")
"""Where a negative number of letters is how many are left out."""
_FARTHEST: Final = 2**31 - 1


def _first_letters(text: Expression, size: int) -> Expression:
    return text.slice(0, size) if size >= 0 else text.substring(0, text.length() + size)


def _last_letters(text: Expression, size: int) -> Expression:
    return text.slice(-size) if size else text.slice(0, 0)


def _pad(clause: Clause, scope: AbstractScope) -> Value:
    """Rule of LPAD and RPAD: of so many letters, which are bounded."""
    text = _text(clause.take("this"), scope)
    size = whole_number(clause.take("expression"), "a number of letters")
    filled = clause.some("fill_pattern")
    letters = " " if filled is None else _literal_text(filled, scope, "what is filled")
    if size > LONGEST_PATTERN or not letters:
        raise clause.refusal(
            f"LPAD and RPAD make texts of up to {LONGEST_PATTERN} letters, of one or "
            "more",
            "Write LPAD(x, 10, '0').",
        )
    size, left = max(size, 0), clause.scalar("is_left")
    kept, fill = text.slice(0, size), lit((letters * size)[:size])
    if not size:
        return scope.value_of(kept)
    if left:
        return scope.value_of(fill.substring(0, size - kept.length()).concat(kept))
    return scope.value_of(kept.concat(fill).slice(0, size))


def _repeat(clause: Clause, scope: AbstractScope) -> Value:
    text = _text(clause.take("this"), scope)
    times = whole_number(clause.take("times"), "how often a text is repeated")
    if times > _MOST_TIMES:
        raise clause.refusal(
            f"a text is repeated at most {_MOST_TIMES} times here", "Write fewer."
        )
    if times < 1:
        return scope.value_of(text.slice(0, 0))
    return scope.value_of(text.concat(*[text] * (times - 1)) if times > 1 else text)


_MOST_TIMES: Final = 100


def _piece(clause: Clause, scope: AbstractScope) -> Value:
    """Rule of SPLIT_PART: the pieces count from 1, from behind from -1."""
    text = _text(clause.take("this"), scope)
    mark = _literal_text(clause.take("delimiter"), scope, "what parts a text")
    place = whole_number(clause.take("part_index"), "a place")
    if not mark or (not place and clause.dialect.name != "duckdb"):
        raise clause.refusal(
            "SPLIT_PART takes a text of one letter or more and a place of 1 or more",
            "Write SPLIT_PART(x, '-', 1).",
        )
    return scope.value_of(text.piece(mark, place) if place else text.slice(0, 0))


def _trim(clause: Clause, scope: AbstractScope) -> Value:
    text = _text(clause.take("this"), scope)
    ends = _ENDS[str(clause.scalar("position") or "BOTH")]
    given = clause.some("expression")
    letters = (
        clause.dialect.trimmed
        if given is None
        else _literal_text(given, scope, "what is trimmed")
    )
    return scope.value_of(ends(text, letters))


_ENDS: Final[dict[str, Callable[[Expression, str], Expression]]] = {
    "BOTH": lambda text, letters: text.strip(letters),
    "LEADING": lambda text, letters: text.strip_start(letters),
    "TRAILING": lambda text, letters: text.strip_end(letters),
}


def _replace(clause: Clause, scope: AbstractScope) -> Value:
    text = _text(clause.take("this"), scope)
    old = _literal_text(clause.take("expression"), scope, "what is replaced")
    new = _literal_text(clause.take("replacement"), scope, "what stands for it")
    if not old:
        raise clause.refusal("REPLACE of an empty text", "Name what to replace.")
    return scope.value_of(text.replace(old, new))


def _position(clause: Clause, scope: AbstractScope) -> Value:
    """Rule of the place of a text within another, from 1; 0 for nowhere."""
    text = _text(clause.take("this"), scope)
    return scope.value_of(text.find(_text(clause.take("substr"), scope)) + 1)


def _like_escape(clause: Clause, scope: AbstractScope) -> Value:
    inner = clause.take("this")
    escape = _literal_text(clause.take("expression"), scope, "an escape")
    if inner.kind not in (exp.Like, exp.ILike) or len(escape) > 1:
        raise clause.refusal(
            "ESCAPE takes one character, behind LIKE", "Write ESCAPE '!'."
        )
    return _match(inner, scope, escape or None)


def _match(clause: Clause, scope: AbstractScope, escape: str | None) -> Value:
    negated = bool(clause.scalar("negate"))
    text = _text(clause.take("this"), scope)
    held = clause.take("expression")
    pattern = _literal_text(held, scope, "a pattern")
    if escape == "\\" and escape in pattern and held.dialect.escape == escape:
        raise held.refusal(
            "a backslash in LIKE escapes in some dialects and not in others",
            "Choose another letter: LIKE '100!%' ESCAPE '!'.",
        )
    if clause.kind is exp.ILike:
        text = text.lowercase()
        pattern = lit(pattern).lowercase().value({})
    fits: Any = text.like(pattern, escape)
    return scope.value_of(~fits if negated else fits)


def _finds(clause: Clause, scope: AbstractScope) -> Value:
    """Rule of REGEXP_MATCHES: whether a pattern fits a part of a text."""
    text = _text(clause.take("this"), scope)
    held = clause.take("expression")
    with held.wrap_refusals():
        first, body, last = split_anchors(_our_pattern(held, _pattern(held, scope)))
    within = f"({body})" if body else ""
    whole = f"{'' if first else '.*'}{within}{'' if last else '.*'}"
    return scope.value_of(text.matches(whole))


def _part_pattern(clause: Clause, scope: AbstractScope) -> str:
    if clause.dialect.name != "duckdb":
        raise clause.refusal(
            f"which part of a text a pattern fits is another in {clause.dialect.name}",
            "Write SPLIT_PART, SUBSTRING or REPLACE.",
        )
    return _our_pattern(clause, _pattern(clause, scope))


def _extract(clause: Clause, scope: AbstractScope) -> Value:
    """Rule of REGEXP_EXTRACT: the first part that fits, or a group of it."""
    clause.scalar("null_if_pos_overflow")  # of a place to begin at, which is not taken
    text = _text(clause.take("this"), scope)
    pattern = _part_pattern(clause.take("expression"), scope)
    group = clause.some("group")
    number = 0 if group is None else whole_number(group, "a group")
    return scope.value_of(text.extract(pattern, number))


def _replace_fitting(clause: Clause, scope: AbstractScope) -> Value:
    """Rule of REGEXP_REPLACE: of the first part that fits; with 'g' of all of them."""
    clause.scalar("single_replace")
    text = _text(clause.take("this"), scope)
    pattern = _part_pattern(clause.take("expression"), scope)
    written = clause.take("replacement")
    new = _literal_text(written, scope, "what stands for it")
    flags = clause.some("modifiers")
    flag = "" if flags is None else _literal_text(flags, scope, "a flag")
    if flags is not None and flag not in {"", "g"}:
        raise flags.refusal("of flags only 'g' is understood", "Write [aA] for a.")
    pieces = _BACKWARD.split(new)
    if any("\\" in piece for piece in pieces[::2]) or (flag and len(pieces) > 1):
        raise written.refusal(
            "a backslash stands for a group here, and with 'g' for nothing",
            "Write \\1 to \\9 without 'g', or no backslash.",
        )
    if flag:
        return scope.value_of(text.replace_matches(pattern, new))
    with clause.wrap_refusals():
        known = part_pattern(pattern)
        if not least_letters(known.tree):
            raise InvalidParameter(
                "pattern", pattern, "must fit at least one letter", "Write + for *."
            )
    part = text.extract(pattern)
    # a text like it that stood before it would fit as well, and would be the first
    begin: Any = text.find(part)
    if known.first or known.last:
        begin = lit(0) if known.first else text.length() - part.length()
    parts = [
        text.extract(pattern, int(piece)) if at % 2 else lit(piece)
        for at, piece in enumerate(pieces)
    ]
    rest = text.substring(begin + part.length(), _FARTHEST)
    replaced = text.substring(0, begin).concat(*parts, rest)
    return scope.value_of(when(part.length() == 0).then(text).otherwise(replaced))


_BACKWARD: Final = re.compile(r"\\([0-9])")


def _fits_all(clause: Clause, scope: AbstractScope) -> Value:
    text = _text(clause.take("this"), scope)
    held = clause.take("expression")
    return scope.value_of(text.matches(_our_pattern(held, _pattern(held, scope))))


def _is_similar(clause: Clause, scope: AbstractScope) -> Value:
    if clause.dialect.name != "duckdb":
        raise clause.refusal(
            "SIMILAR TO has patterns of its own in this dialect",
            "Write LIKE with % and _.",
        )
    return _fits_all(clause, scope)


def _pattern(clause: Clause, scope: AbstractScope) -> str:
    if clause.dialect.name not in ("duckdb", "bigquery"):
        raise clause.refusal(
            f"regular expressions of {clause.dialect.name} mean other things",
            "Write LIKE with % and _, or LEFT and SUBSTRING.",
        )
    return _literal_text(clause, scope, "a pattern")


_RE2_BLANKS: Final = "\\t\\n\f\\r "


def _our_pattern(clause: Clause, pattern: str) -> str:
    """Pattern of RE2 as one of ours: its . is no new line, its blanks are five."""
    pieces, letters, within = [], iter(pattern), False
    for letter in letters:
        piece = letter
        if letter == "\\":
            piece += next(letters, "")
            if piece == "\\S" and within:
                raise clause.refusal(
                    "\\S within [] is not read here", "Write the letters."
                )
            blanks = _RE2_BLANKS if within else f"[{_RE2_BLANKS}]"
            piece = {"\\s": blanks, "\\S": f"[^{_RE2_BLANKS}]"}.get(piece, piece)
        elif letter == "." and not within:
            piece = "[^\\n]"
        within = (within or letter == "[") and letter != "]"
        pieces.append(piece)
    return "".join(pieces)


RULES: Final[dict[type[exp.Expr], Rule]] = {
    exp.Length: _length,
    exp.Lower: _of_text(lambda text: text.lowercase()),
    exp.Upper: _of_text(lambda text: text.uppercase()),
    exp.StartsWith: _of_texts(lambda text, part: text.starts_with(part)),
    exp.EndsWith: _of_texts(lambda text, part: text.ends_with(part)),
    exp.Contains: _of_texts(lambda text, part: text.contains(part)),
    exp.DPipe: _join,
    exp.Concat: _concat,
    exp.Substring: _slice,
    exp.Bracket: _bracket,
    exp.Left: _end(_first_letters),
    exp.Right: _end(_last_letters),
    exp.Pad: _pad,
    exp.Repeat: _repeat,
    exp.SplitPart: _piece,
    exp.ConcatWs: _join_with,
    exp.Trim: _trim,
    exp.Replace: _replace,
    exp.StrPosition: _position,
    exp.Like: lambda clause, scope: _match(clause, scope, clause.dialect.escape),
    exp.ILike: lambda clause, scope: _match(clause, scope, clause.dialect.escape),
    exp.Escape: _like_escape,
    exp.RegexpLike: _finds,
    exp.RegexpExtract: _extract,
    exp.RegexpReplace: _replace_fitting,
    exp.RegexpFullMatch: _fits_all,
    exp.SimilarTo: _is_similar,
}


ALL_RULES: Final[dict[type[exp.Expr], Rule]] = {
    **leaf_rules.RULES,
    **number_rules.RULES,
    **RULES,
    **truth_rules.RULES,
}
