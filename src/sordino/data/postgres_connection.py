"""A connection to a PostgreSQL server, and what is told of its failures.

What is told is a sentence of ours, chosen by the code of the server's. Its own words
may quote a cell, and those of a connection its address: they are neither passed on nor
kept as a cause.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias, TypeVar, final

import psycopg
from psycopg.conninfo import conninfo_to_dict

T = TypeVar("T")
Connection: TypeAlias = "psycopg.Connection[tuple[Any, ...]]"


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
        super().__init__(sentence)
        self.code = code
        self.lasts = code is not None and code.startswith(_LASTING)


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
    """Run work; what a server refuses is told in our words."""
    try:
        return work()
    except psycopg.Error as error:
        sentence, code = told_of(error, otherwise), error.sqlstate
    # Outside of the handler: inside, it would carry the server's words as its context.
    raise ServerRefusal(sentence, code)


_OLDEST: Final = 140_000
_PATIENCE: Final = 10
NO_ADDRESS: Final = (
    "this is no address of a PostgreSQL server: write "
    "postgresql://role@host:5432/database (it is not shown, for it may hold a "
    "password)"
)


@final
class Unreachable(Exception):
    """A server that cannot be asked, and whether that lasts."""

    def __init__(self, problem: str, *, lasts: bool) -> None:
        super().__init__(problem)
        self.lasts = lasts


def read_address(address: str) -> dict[str, Any]:
    """Return the parts of an address; what is wrong with it is not quoted.

    >>> read_address("postgresql://ada@db.example/clinic")
    {'user': 'ada', 'dbname': 'clinic', 'host': 'db.example'}
    """
    try:
        return dict(conninfo_to_dict(address))
    except psycopg.Error:
        pass
    # Outside of the handler: inside, it would carry the address as its context.
    raise Unreachable(NO_ADDRESS, lasts=True)


def connect_to_server(parts: Mapping[str, Any]) -> Connection:
    """Return a connection, in which each statement is a transaction of its own."""
    asked_for = {"connect_timeout": _PATIENCE, "application_name": "sordino", **parts}
    settings = {**asked_for, "client_encoding": "UTF8"}  # whatever an address says
    try:
        # never prepared: a pool may give the next transaction to another process
        connection = psycopg.connect(
            **settings, autocommit=True, prepare_threshold=None
        )
    except psycopg.Error as error:
        problem, lasts = told_of_connecting(error)
    else:
        problem, lasts = _problem_of(connection), True
        if not problem:
            return connection
        connection.close()
    raise Unreachable(problem, lasts=lasts)


def _problem_of(connection: Connection) -> str:
    status = connection.info.parameter_status
    if connection.info.server_version < _OLDEST:
        return "it is older than PostgreSQL 14"
    if status("server_encoding") != "UTF8":
        return f"its database is encoded in {status('server_encoding')}, not in UTF8"
    return ""
