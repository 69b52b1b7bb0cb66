"""What is told of a failure: a sentence of ours, chosen by the code of the server's.

What a server says may quote a cell, and what a connection says its address. So neither
is passed on, nor kept as a cause: the code alone is looked at.
"""

from collections.abc import Callable
from typing import Final, TypeVar, final

import psycopg

T = TypeVar("T")


@final
class ServerRefusal(Exception):
    """A failure of the server, told in our words."""


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
    "28P01": "the password is wrong",
    "28000": "the role is not let in",
    "3D000": "there is no such database",
    "53300": "the server has too many connections",
    "25006": "the transaction must not write: temporary tables need a server that is "
    "no replica",
    "2201B": "a regular expression is too complex for it",
}
_BY_CLASS: Final = {
    "08": "the connection was lost",
    "40": "the transaction could not go on beside others",
    "53": "the server ran out of memory or disk",
    "54": "the question is too large for it",
    "28": "the role is not let in",
}


def told_of(error: psycopg.Error, otherwise: str) -> str:
    """Return a sentence about a failure, in which nothing stands that the server said.

    >>> told_of(psycopg.errors.InvalidPassword(), "it failed")
    'the password is wrong (code 28P01)'
    """
    code = error.sqlstate
    if code is None:
        return otherwise
    known = _BY_CODE.get(code) or _BY_CLASS.get(code[:2]) or otherwise
    return f"{known} (code {code})"


def in_our_words(work: Callable[[], T], otherwise: str) -> T:
    """Return what `work` returns; what a server refuses is told in our words."""
    try:
        return work()
    except psycopg.Error as error:
        told = told_of(error, otherwise)
    # Outside of the handler: inside, it would carry the server's words as its context.
    raise ServerRefusal(told)
