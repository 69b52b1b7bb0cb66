"""The words of a text, held to a little more than the parser asks for.

The parser reads `SELECT a,, b` and `1_000` in ways that nobody means, and does not come
back from fifty open brackets.
"""

import itertools
from collections.abc import Sequence
from typing import Any, Final

from sqlglot.dialects.dialect import Dialect as Grammar
from sqlglot.errors import TokenError
from sqlglot.tokenizer_core import Token, TokenType

from sordino.errors import InvalidParameter, InvalidSQL
from sordino.query.sql.input_dialects import InputDialect

LONGEST: Final = 2**16
"""Characters of a statement."""
DEEPEST: Final = 30
"""Brackets, CASEs and signs that stand in each other: the parser calls itself."""
MOST_NOTS: Final = 30
_AFTER_COMMA: Final = (TokenType.COMMA, TokenType.FROM, TokenType.R_PAREN)
_OPEN: Final = (TokenType.L_PAREN, TokenType.L_BRACKET, TokenType.CASE)
_CLOSED: Final = (TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.END)
_SIGNS: Final = (TokenType.NOT, TokenType.DASH, TokenType.TILDE)
_UNEVEN_COMMENTS: Final = ("{#", "\\\n", "\\\r")
"""What begins a comment of templates alone, or continues one in Spark alone."""


def check_statement(text: Any) -> str:
    """Return a statement that can be read, refusing what is no text."""
    if not isinstance(text, str) or not text.strip():
        raise InvalidParameter(
            "text", text, "must be a statement of SQL", 'Try "SELECT COUNT(*) FROM t".'
        )
    if len(text) > LONGEST:
        raise InvalidParameter(
            "text",
            f"{len(text)} characters",
            f"must have at most {LONGEST}",
            "Put lists of values into a public table.",
        )
    return text


def split_words(text: str, dialect: InputDialect) -> list[Token]:
    """Return the words of one statement, refusing what the parser would misread."""
    try:
        words = list(Grammar.get_or_raise(dialect.name).tokenize(text))
    except TokenError:
        raise InvalidSQL(
            "this text cannot be taken apart into words",
            "Look for a quote or a comment that is not closed.",
            text,
            0,
            1,
        ) from None
    _refuse_comments(text, words)
    if words and words[-1].token_type is TokenType.SEMICOLON:
        words.pop()
    _refuse_several(text, words)
    _refuse_other(text, words)
    _refuse_deep(text, words)
    for word, follower in itertools.pairwise(words):
        _refuse_pair(text, word, follower, dialect)
    return words


def _refuse_comments(text: str, words: Sequence[Token]) -> None:
    """Refuse comments that end elsewhere for the parser than for a database."""
    ends = [*(word.start for word in words), len(text)]
    starts = [0, *(word.end + 1 for word in words)]
    for start, end in zip(starts, ends, strict=True):
        for mark in _UNEVEN_COMMENTS:
            place = text.find(mark, start, end)
            if place >= 0:
                raise InvalidSQL(
                    "not every database reads this comment alike",
                    "Leave the comment out.",
                    text,
                    place,
                    place + len(mark),
                )


def _refuse_several(text: str, words: Sequence[Token]) -> None:
    """Refuse a second statement, and a text without one."""
    for word in words:
        if word.token_type is TokenType.SEMICOLON:
            raise InvalidSQL(
                "there are several statements",
                "Pose one at a time: each is priced and charged by itself.",
                text,
                word.start,
                word.end + 1,
            )
    if not words:
        raise InvalidSQL(
            "there is no statement", "Write SELECT ... FROM a table.", text, 0, 1
        )


def _refuse_other(text: str, words: Sequence[Token]) -> None:
    """Refuse all that begins like no question, before a parser talks about it."""
    if words and words[0].token_type not in _FIRST:
        first = words[0]
        raise InvalidSQL(
            f"{first.text.upper()[:20]} is no question: a session only reads, one "
            "SELECT at a time",
            "Begin with SELECT.",
            text,
            first.start,
            first.end + 1,
        )


_FIRST: Final = (
    TokenType.SELECT,
    TokenType.WITH,
    TokenType.FROM,
    TokenType.L_PAREN,
    TokenType.SEMICOLON,
)


def _refuse_deep(text: str, words: Sequence[Token]) -> None:
    """Refuse brackets in brackets, and signs after signs, beyond what is ever meant."""
    depth = signs = 0
    for word in words:
        depth += (word.token_type in _OPEN) - (word.token_type in _CLOSED)
        signs = signs + 1 if word.token_type in _SIGNS else 0
        if depth > DEEPEST or signs > MOST_NOTS:
            raise InvalidSQL(
                f"more than {DEEPEST} brackets are open here",
                "Name a part of it in a query in FROM, and go on from its columns.",
                text,
                word.start,
                word.end + 1,
            )


def _refuse_pair(
    text: str, word: Token, follower: Token, dialect: InputDialect
) -> None:
    """Refuse two words that stand side by side by mistake."""
    if word.token_type is TokenType.COMMA and follower.token_type in _AFTER_COMMA:
        problem, remedy = "nothing stands after this comma", "Leave the comma out."
    elif (
        word.token_type is TokenType.STRING and follower.token_type is TokenType.STRING
    ):
        problem = "dialects put neighbouring texts together differently, or not at all"
        remedy = "Write 'a' || 'b', or one text."
    elif _is_torn(word, follower):
        problem = f"this number is not read so in the dialect {dialect.name}"
        remedy = "Write its digits without _ and letters, and a space behind them."
    else:
        return
    raise InvalidSQL(problem, remedy, text, word.start, word.end + 1)


def _is_torn(word: Token, follower: Token) -> bool:
    """Tell whether a word stands directly behind a number."""
    close = follower.start == word.end + 1
    return (
        word.token_type is TokenType.NUMBER
        and close
        and follower.text[:1].isidentifier()
    )
