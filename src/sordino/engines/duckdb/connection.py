"""A database of our own: its settings, which nobody changes once they are made."""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final

import duckdb
from sqlglot import exp

from sordino.errors import EngineFailure

_SETTINGS: Final = {
    "preserve_insertion_order": "false",
    "python_enable_replacements": "false",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "enable_optimizer": "false",
}
"""Without its optimiser DuckDB runs what is written (docs/adr/0225)."""
PROFILING: Final = "SET enable_profiling = 'no_output'"
"""Has a cursor tell by which plan a statement ran; it is told to nobody else."""
_LAST: Final = (
    ("TimeZone", exp.Literal.string("UTC")),
    (
        "allowed_configs",
        exp.Array(expressions=[exp.Literal.string("enable_profiling")]),
    ),
    ("enable_external_access", exp.false()),
    ("lock_configuration", exp.true()),
)
"""Settings that are made once the database is there, in this order.

Profiling is set by each cursor, and says nothing of how anything runs.
"""
_OF_CURSORS: Final = ("TimeZone",)
"""Settings that a cursor has of its own, unless they are made for all of them."""


def locked_connection(
    limits: Mapping[str, Any], room: str, paths: list[str], *, progress: bool
) -> duckdb.DuckDBPyConnection:
    """Return a database of its own that reads these files, and can be set no more."""
    limited = {name: value for name, value in limits.items() if value is not None}
    connection = duckdb.connect(config={**_SETTINGS, "temp_directory": room, **limited})
    _set_progress(connection, progress)
    allowed = exp.Array(expressions=[exp.Literal.string(path) for path in paths])
    for name, value in (("allowed_paths", allowed), *_LAST):
        _make_setting(connection, name, value)
    setting = "SELECT current_setting('enable_optimizer')"
    ((optimises,),) = connection.cursor().execute(setting).fetchall()
    if str(optimises).lower() != _SETTINGS["enable_optimizer"]:
        raise EngineFailure
    return connection


def _make_setting(
    connection: duckdb.DuckDBPyConnection, name: str, value: exp.Expression
) -> None:
    """Make a setting."""
    kind = "GLOBAL" if name in _OF_CURSORS else None
    equal = exp.EQ(this=exp.column(name), expression=value.copy())
    item = exp.SetItem(this=equal, kind=kind)
    connection.execute(exp.Set(expressions=[item]).sql("duckdb"))


def _set_progress(connection: duckdb.DuckDBPyConnection, wanted: bool) -> None:  # noqa: FBT001 passed on
    """Have the database count percents if they are wanted, and draw no bar itself.

    A notebook's kernel without widgets refuses any word about bars, and has none.
    """
    if not (wanted or draws_bars(connection)):
        return
    with suppress(duckdb.InvalidInputException):
        _make_setting(connection, "enable_progress_bar_print", exp.false())
        _make_setting(connection, "enable_progress_bar", exp.Boolean(this=wanted))


def draws_bars(connection: duckdb.DuckDBPyConnection) -> bool:
    """Tell whether a connection says how far it is: each has a setting of its own."""
    query = "SELECT current_setting('enable_progress_bar')"
    ((shown,),) = connection.sql(query).fetchall()
    return bool(shown)
