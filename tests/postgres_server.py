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
import socket
import subprocess
import tempfile
import threading
import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final, final

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
SOCKET: Final = ".s.PGSQL.5432"
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
    settings: Mapping[str, str]

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

    def killed(self) -> None:
        """Kill the server with all that works for it, and wait until none is there."""
        numbers = [self.number, *children_of(self.number)]
        for number in numbers:
            with suppress(ProcessLookupError):
                os.kill(number, signal.SIGKILL)
        end = time.monotonic() + _PATIENCE
        while any(map(_runs, numbers)) and time.monotonic() < end:
            time.sleep(0.01)
        # its number is still that of a process which its keeper has not asked about
        for held in ("data/postmaster.pid", f"{SOCKET}.lock"):
            (self.folder / held).unlink()

    def again(self) -> "Cluster":
        """Start the server again after it was killed, with the data that it left."""
        return serve(self.folder, self.settings)

    def promote(self) -> None:
        """Make a primary server of a standby."""
        with self.asking() as connection:
            connection.execute("SELECT pg_promote(true, 60)")


def children_of(number: int) -> list[int]:
    found = Path(f"/proc/{number}/task/{number}/children").read_text("ascii")
    return [int(one) for one in found.split()]


def _runs(number: int) -> bool:
    try:
        state = Path(f"/proc/{number}/stat").read_text("utf-8").rpartition(")")[2]
    except OSError:
        return False
    return state.split()[0] not in {"Z", "X"}


def lose_connection(server: Cluster, session: sd.Session) -> None:
    """End the connection that a session has, and nobody else's."""
    engine: Any = session._desk.engine
    pid = engine._database._server._connection.info.backend_pid
    with server.asking() as connection:
        ended = connection.execute("SELECT pg_terminate_backend(%s, 60000)", [pid])
        assert ended.fetchone() == (True,)


def start_cluster(home: Path | None = None, **settings: str) -> Cluster:
    """Start a server, or skip the test where there are no programs for one."""
    folder = _new_folder(home)
    asked = [str(_program("initdb")), "-D", str(folder / "data"), "-U", SUPERUSER]
    how = ["-A", "trust", "--locale=C", "-E", "UTF8", "--no-sync"]
    subprocess.run([*asked, *how], check=True, capture_output=True, **_runner())
    return serve(folder, {**_SETTINGS, **settings})


def start_standby(of: Cluster, name: str, **settings: str) -> Cluster:
    """Start a server that follows another one, by a copy of what that has."""
    folder = _new_folder(of.folder.parent)
    source = f"host={of.folder} user={SUPERUSER} application_name={name}"
    asked = [str(_program("pg_basebackup")), "-D", str(folder / "data"), "-R"]
    how = ["-X", "stream", "-c", "fast", "-d", source]
    subprocess.run([*asked, *how], check=True, capture_output=True, **_runner())
    return serve(folder, {**_SETTINGS, **of.settings, **settings})


def _new_folder(home: Path | None) -> Path:
    runner = _runner()
    folder = Path(tempfile.mkdtemp(prefix="sordino-pg-", dir=home))
    if runner:
        os.chown(folder, runner["user"], runner["group"])
    return folder


def _program(name: str) -> Path:
    bin_ = programs()
    if bin_ is None:
        pytest.skip("NO POSTGRESQL: its programs are not found, nothing was tried")
    # a link to one program need not have the others beside it
    return (bin_ / "initdb").resolve().parent / name


def serve(folder: Path, settings: Mapping[str, str]) -> Cluster:
    """Start the server whose data lie in a folder."""
    options = {**settings, "unix_socket_directories": str(folder)}
    given = [
        part for key, value in options.items() for part in ("-c", f"{key}={value}")
    ]
    with (folder / "log").open("ab") as log:
        server = [str(_program("postgres")), "-D", str(folder / "data"), *given]
        keeper = subprocess.Popen(
            ["/bin/sh", "-c", _KEEPER, "sh", str(folder), *server],
            stdin=subprocess.PIPE,
            stdout=log,
            stderr=log,
            start_new_session=True,  # Ctrl-C is for who started it
            **_runner(),
        )
    made = Cluster(folder, keeper, settings)
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


MEMORY: Final = Path("/dev/shm")  # noqa: S108 a disk in memory, where there is one


@cache
def ledger_server(place: int = 0) -> Cluster:
    """Return a server that may keep a ledger: it waits for its disk, in memory."""
    del place
    return start_cluster(MEMORY if MEMORY.is_dir() else None, fsync="on")


def fresh_base(server: Cluster) -> str:
    """Return the address of a database of its own."""
    name = f"ledger_{next(_NAMES)}"
    server.run(f"CREATE DATABASE {name}")
    return server.address(base=name)


@final
class Line:
    """A way to a server that is cut once: at the k-th thing that a client says.

    Cut "before", the server does not hear it; "after", it answers, and nobody hears.
    """

    def __init__(self, server: Cluster, at: int = 0, how: str = "before") -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="sordino-line-"))
        self.count = 0
        self.cut = False
        self._at, self._how = at, how
        self._server = str(server.folder / SOCKET)
        self._door = socket.socket(socket.AF_UNIX)
        self._door.bind(str(self.folder / SOCKET))
        self._door.listen()
        threading.Thread(target=self._serve, daemon=True).start()

    def address(self, address: str) -> str:
        """Return the address of a database by this way."""
        known = Path(self._server).parent
        return address.replace(str(known), str(self.folder))

    def close(self) -> None:
        """Let nobody in any more."""
        self._door.close()
        shutil.rmtree(self.folder)

    def _serve(self) -> None:
        while True:
            try:
                client, _ = self._door.accept()
            except OSError:
                return
            server = socket.socket(socket.AF_UNIX)
            server.connect(self._server)
            for way in ((client, server, True), (server, client, False)):
                threading.Thread(target=self._carry, args=way, daemon=True).start()

    def _carry(self, source: socket.socket, target: socket.socket, said: bool) -> None:  # noqa: FBT001 of a thread
        with suppress(OSError):
            while self._hand_on(source.recv(1 << 16), source, target, said=said):
                pass
        for end in (source, target):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def _hand_on(
        self, data: bytes, source: socket.socket, target: socket.socket, *, said: bool
    ) -> bool:
        """Hand on what was said, and say whether the line still stands."""
        self.count += said
        self.cut = self.cut or (said and self.count == self._at)
        now = said and self.count == self._at
        if not data or (now and self._how == "before"):
            return False
        if now:
            source.shutdown(socket.SHUT_RDWR)
            target.sendall(data)
            time.sleep(0.05)  # it does what it was told
            return False
        target.sendall(data)
        return True


@contextmanager
def pooled(server: Cluster) -> Generator[Path]:
    """Run a pool before a server, which gives each transaction any connection."""
    program = shutil.which("pgbouncer") or "/usr/sbin/pgbouncer"
    if not Path(program).exists():
        pytest.skip("NO PGBOUNCER: it is not found, nothing was tried")
    folder = _new_folder(None)
    told = {
        "listen_addr": "",
        "unix_socket_dir": str(folder),
        "listen_port": "5432",
        "auth_type": "any",
        "pool_mode": "transaction",
        "max_client_conn": "50",
        "default_pool_size": "3",
        "ignore_startup_parameters": "extra_float_digits",
    }
    lines = [f"{name} = {value}" for name, value in told.items()]
    way = f"* = host={server.folder} port=5432 user={SUPERUSER}"
    text = "\n".join(["[databases]", way, "[pgbouncer]", *lines, ""])
    (folder / "pool.ini").write_text(text, "utf-8")
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            [program, str(folder / "pool.ini")], stdout=log, stderr=log, **_runner()
        )
    try:
        end = time.monotonic() + _PATIENCE
        while not (folder / SOCKET).exists() and time.monotonic() < end:
            time.sleep(0.02)
        yield folder
    finally:
        process.terminate()
        process.wait()
        shutil.rmtree(folder)


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
