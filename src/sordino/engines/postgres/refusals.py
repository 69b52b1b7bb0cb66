"""What is told of a failure: a sentence of ours, chosen by the code of the server's.

What a server says may quote a cell, and what a connection says its address. So neither
is passed on, nor kept as a cause: the code alone is looked at.
"""

import re
from collections.abc import Callable
from typing import Final, TypeVar, final

import psycopg

T = TypeVar("T")


_LASTING: Final = ("0A", "28", "3D", "3F", "42", "54")
"""How codes begin of what stays refused until somebody changes it: a table, a right."""
_NO_ENTRY: Final = re.compile(
    r"(database|role) \".*\" does not exist|authentication failed for user|"
    r"no pg_hba\.conf entry|pg_hba\.conf rejects|permission denied for database|"
    r"is not (permitted to log in|currently accepting)",
    re.DOTALL,
)
"""What an English server says, for which a connection has no code."""
_UNASKED: Final = "the role needs a password: give one in PGPASSFILE, or in the address"
_NOT_LET_IN: Final = (
    "the server does not let the role in: look at the names of role and database, at "
    "the password, and at the role's right to connect"
)


@final
class ServerRefusal(Exception):
    """A failure of the server, told in our words."""

    def __init__(self, sentence: str, code: str | None = None) -> None:
        """Keep the code by which the server told it."""
        super().__init__(sentence)
        self.code = code
        self.lasts = code is not None and code.startswith(_LASTING)


NO_PLACE: Final = frozenset({"42501", "25006", "0A000"})
"""Codes for what a role, a replica or a server of another kind may not make."""
_BY_CODE: Final = {
    "42501": "the role has no right to it: it needs USAGE on the schema and SELECT on "
    "each column that is read, and no policy for rows may hold for it",
    "42P01": "the table is gone",
    "3F000": "the schema is gone",
    "42703": "a column is gone",
    "57014": "the statement was cancelled: by somebody, or after statement_timeout",
    "55P03": "the table was locked by others for longer than lock_timeout",
    "57P01": "the server ended the connection",
    "57P02": "the server ended the connection",
    "57P03": "the server is starting up or shutting down",
    "22021": "a text has U+0000, which no text of it can have",
    "2201B": "a regular expression is too complex for it",
}
_BY_CLASS: Final = {
    "08": "the connection was lost",
    "40": "the transaction could not go on beside others",
    "53": "the server ran out of memory or disk",
    "54": "the question is too large for it",
}


def told_of(error: psycopg.Error, otherwise: str) -> str:
    """Return a sentence about a failure, in which nothing stands that the server said.

    >>> told_of(psycopg.errors.UndefinedTable(), "it failed")
    'the table is gone (code 42P01)'
    """
    code = error.sqlstate
    if code is None:
        return otherwise
    known = _BY_CODE.get(code) or _BY_CLASS.get(code[:2]) or otherwise
    return f"{known} (code {code})"


def told_of_connecting(error: psycopg.Error) -> tuple[str, bool]:
    """Return why there is no connection, and whether that lasts.

    The server's own words are matched, and not passed on. Those that are not known, as
    of a server that speaks another language, may mend themselves.

    >>> told_of_connecting(psycopg.OperationalError('FATAL: role "x" does not exist'))
    ("the server does not let the role in: ...", True)
    >>> told_of_connecting(psycopg.OperationalError("Connection refused"))
    ('no server answers there, or it has no room for another connection', False)
    """
    tried = error.pgconn
    if tried is not None and tried.needs_password:
        return _UNASKED, True
    refused = _NO_ENTRY.search(str(error)) is not None
    if refused or (tried is not None and tried.used_password):
        return _NOT_LET_IN, refused
    return "no server answers there, or it has no room for another connection", False


def in_our_words(work: Callable[[], T], otherwise: str) -> T:
    """Return what `work` returns; what a server refuses is told in our words."""
    try:
        return work()
    except psycopg.Error as error:
        sentence, code = told_of(error, otherwise), error.sqlstate
    # Outside of the handler: inside, it would carry the server's words as its context.
    raise ServerRefusal(sentence, code)
