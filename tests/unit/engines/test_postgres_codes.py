"""Which refusals of a server last until somebody changes something, by its codes."""

import pytest

pytest.importorskip("psycopg")

from sordino.data.postgres_connection import ServerRefusal, told_of_connecting
from sordino.engines.failures import run_uncharged
from sordino.errors import EngineUnavailable
from sordino.office.cli.main import exit_code


def test_codes_tell_what_may_mend_itself() -> None:
    """A table, a role, a right: 1. A connection, room, a restart, the unknown: 4."""
    lasting = ["3D000", "28P01", "28000", "42P01", "42501", "42703", "3F000"]
    passing = ["53300", "08006", "08001", "57P03", "57P01", "40001", "55P03", None]

    def code_of(sqlstate: str | None) -> int:
        def refuse() -> None:
            raise ServerRefusal("it failed", sqlstate)

        with pytest.raises(EngineUnavailable) as refused:
            run_uncharged(refuse)
        return exit_code(refused.value)

    assert [code for code in lasting if code_of(code) != 1] == []
    assert [code for code in passing if code_of(code) != 4] == []


def test_sentences_of_a_failed_connection() -> None:
    import psycopg  # noqa: PLC0415 after the look whether it is there

    told = {
        'FATAL:  database "x" does not exist': True,
        'FATAL:  role "x" does not exist': True,
        'FATAL:  password authentication failed for user "x"': True,
        'FATAL:  Peer authentication failed for user "x"': True,
        'FATAL:  pg_hba.conf rejects connection for host "::1"': True,
        'FATAL:  permission denied for database "x"': True,
        "FATAL:  sorry, too many clients already": False,
        "FATAL:  the database system is starting up": False,
        "connection refused": False,
        'FATAL:  Datenbank "x" existiert nicht': False,
    }
    tried = {
        words: told_of_connecting(psycopg.OperationalError(words))[1] for words in told
    }
    assert tried == told
