"""A PostgreSQL server of the tests' own, started where its programs are found.

It listens on a socket in a folder of its own, and its data goes with the process that
started it, also where that is killed: a shell between them reads from a pipe, which
only the process that started it holds open. A server refuses to run as root: then it
runs as `postgres`, or as `nobody`.
"""

import atexit
import itertools
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

import psycopg
import pyarrow as pa
import pytest

import sordino as sd
from sordino.engines.postgres.server import (
    BoundArray,
    BoundArrayDumper,
    bound_array,
    unnested_arrays,
)

SUPERUSER: Final = "keeper"
_SETTINGS: Final = {
    "listen_addresses": "",
    "fsync": "off",
    "max_connections": "200",  # each session has one until it is collected
    "dynamic_shared_memory_type": "mmap",  # a container has little of another kind
    "max_parallel_workers": "2",
    "log_min_messages": "warning",
    "log_line_prefix": "%m [%p] %a ",
}
_PATIENCE: Final = 60
_KEEPER: Final = """
folder=$1; shift
"$@" &
read -r _
kill -QUIT $!
wait
rm -rf -- "$folder"
"""
"""A shell that runs a server, as long as something holds its input open.

The server stays its child until the end, so that its number is nobody else's.
"""


def programs() -> Path | None:
    """Return the folder of the server's programs, the newest of several."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    named = shutil.which("initdb")
    places = [*found, *([Path(named)] if named else [])]
    return places[-1].parent if places else None


def _runner() -> dict[str, Any]:
    """Return as whom a server runs: not as root."""
    if os.geteuid() != 0:
        return {}
    for name in ("postgres", "nobody"):
        try:
            found = pwd.getpwnam(name)
        except KeyError:
            continue
        return {"user": found.pw_uid, "group": found.pw_gid, "extra_groups": []}
    return pytest.skip("NO POSTGRESQL: root has nobody to run the server as")


@dataclass(frozen=True)
class Cluster:
    """A server that runs."""

    folder: Path
    keeper: "subprocess.Popen[bytes]"
    """The shell that ends the server."""

    def address(self, role: str = SUPERUSER, base: str = "postgres") -> str:
        return f"postgresql:///{base}?host={self.folder}&user={role}"

    @contextmanager
    def asking(
        self, role: str = SUPERUSER, base: str = "postgres"
    ) -> Generator["psycopg.Connection[Any]"]:
        with psycopg.connect(self.address(role, base), autocommit=True) as connection:
            yield connection

    def run(self, *statements: str, base: str = "postgres") -> None:
        with self.asking(base=base) as connection:
            for one in statements:
                connection.execute(one.encode())

    def drop_role(self, name: str) -> None:
        known = f"EXISTS (SELECT FROM pg_roles WHERE rolname = '{name}')"
        gone = f"DROP OWNED BY {name}; DROP ROLE {name};"
        self.run(f"DO $$ BEGIN IF {known} THEN {gone} END IF; END $$")

    @property
    def log(self) -> str:
        return (self.folder / "log").read_text(errors="replace")

    @property
    def number(self) -> int:
        """Return the number of the server's first process."""
        return int((self.folder / "data" / "postmaster.pid").read_text().split()[0])

    def kill(self) -> None:
        """End the server without a warning, as a machine that fails does."""
        os.kill(self.number, signal.SIGKILL)

    def stop(self) -> None:
        """End the server at once, and remove what it wrote."""
        self.keeper.communicate(timeout=_PATIENCE)


def lose_connection(server: Cluster, session: sd.Session) -> None:
    """End the connection that a session has, and nobody else's."""
    engine: Any = session._desk.engine
    pid = engine._database._server._connection.info.backend_pid
    with server.asking() as connection:
        ended = connection.execute("SELECT pg_terminate_backend(%s, 60000)", [pid])
        assert ended.fetchone() == (True,)


def start_cluster(**settings: str) -> Cluster:
    """Start a server, or skip the test where there are no programs for one."""
    bin_ = programs()
    if bin_ is None:
        pytest.skip("NO POSTGRESQL: its programs are not found, nothing was tried")
    runner = _runner()
    folder = Path(tempfile.mkdtemp(prefix="sordino-pg-"))
    if runner:
        os.chown(folder, runner["user"], runner["group"])
    asked = [str(bin_ / "initdb"), "-D", str(folder / "data"), "-U", SUPERUSER]
    how = ["-A", "trust", "--locale=C", "-E", "UTF8", "--no-sync"]
    subprocess.run([*asked, *how], check=True, capture_output=True, **runner)
    options = {**_SETTINGS, "unix_socket_directories": str(folder), **settings}
    given = [
        part for key, value in options.items() for part in ("-c", f"{key}={value}")
    ]
    with (folder / "log").open("wb") as log:
        server = [str(bin_ / "postgres"), "-D", str(folder / "data"), *given]
        keeper = subprocess.Popen(
            ["/bin/sh", "-c", _KEEPER, "sh", str(folder), *server],
            stdin=subprocess.PIPE,
            stdout=log,
            stderr=log,
            start_new_session=True,  # Ctrl-C is for who started it
            **runner,
        )
    made = Cluster(folder, keeper)
    atexit.register(made.stop)
    _wait(made)
    return made


def _wait(made: Cluster) -> None:
    """Wait until a server can be asked."""
    last = time.monotonic() + _PATIENCE
    while True:
        try:
            with made.asking():
                return
        except psycopg.OperationalError:
            if time.monotonic() > last or made.keeper.poll() is not None:
                raise
            time.sleep(0.05)


@cache
def cluster() -> Cluster:
    """Return the server of this process, started when it is first asked for."""
    return start_cluster()


def log_end() -> str:
    """Return the last that the server of this process has logged; nothing for none."""
    started = cluster.cache_info().currsize
    return cluster().log[-4_000:] if started else ""


_NAMES: Final = itertools.count()


def stored_table(table: pa.Table) -> tuple[str, str]:
    """Write a table to the server of this process, and return it as a source."""
    server, name = cluster(), f"stored_{next(_NAMES)}"
    rows = unnested_arrays(table, 1).sql("postgres")
    titles = [f'"{one}"' for one in table.column_names]
    with server.asking() as connection:
        connection.adapters.register_dumper(BoundArray, BoundArrayDumper)
        values = [bound_array(one.combine_chunks()) for one in table.columns]
        text = f"SELECT * FROM ({rows}) AS q({', '.join(titles)})"  # noqa: S608 ours
        psycopg.RawCursor(connection).execute(
            f"CREATE UNLOGGED TABLE {name} AS {text}".encode(), values
        )
    return server.address(), name
