"""A server that keeps witnesses in a folder: append if the head is h, and newest.

Each witness is a file of the role "witness" (docs/ledger-format.md), which any other
command reads. Nothing of a request is read before its token was seen to be right.

Kernel: charge.
"""

import logging
import re
import ssl
import threading
from collections.abc import Callable
from hmac import compare_digest
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import islice
from pathlib import Path
from typing import Any, Final, TypeAlias, final

from sordino.errors import SordinoError
from sordino.ledger.file_format import NOTHING, Head, Record, World, create_file
from sordino.ledger.file_store import FileStore
from sordino.ledger.http_witness import MOST, NAME, PAGE, head_json
from sordino.ledger.log import Index

Answer: TypeAlias = tuple[HTTPStatus, bytes]
_PATIENCE: Final = 30.0
"""Seconds in which the next bytes of a request must come."""
_CONNECTIONS: Final = 64
_HEAD: Final = re.compile(r"([1-9][0-9]{0,17})/([0-9a-f]{64})")
_LENGTH: Final = re.compile(r"[0-9]{1,9}")
_RANGE: Final = re.compile(r"([1-9][0-9]{0,17})/([1-9][0-9]{0,3})")


def _records_of(body: bytes, before: Head) -> list[Record] | None:
    """Records of lines that follow a head, each whole and sound, or None."""
    index, records = Index("", before), list(map(Record.read, body.splitlines()))
    try:
        for record in records:
            if record is None:
                return None
            index.add(record)
    except SordinoError:
        return None
    return list(filter(None, records)) or None


@final
class WitnessFolder:
    """Witnesses in a folder, each used by one request at a time."""

    def __init__(self, folder: Path, world: World) -> None:
        """Open each when it is asked for."""
        self._folder = folder
        self._world = world
        self._stores: dict[str, FileStore] = {}
        self._lock = threading.Lock()

    def create(self, name: str, records: list[Record]) -> bool:
        """Make a witness of first records, unless there is one."""
        contents = [(record, b"") for record in records]
        return create_file(self._folder / name, self._world, "witness", contents)

    def use(self, name: str, act: Callable[[FileStore], Answer]) -> Answer:
        """Answer of an act on a witness, if there is one."""
        with self._lock:
            store = self._stores.pop(name, None)
            if store is None:
                path = self._folder / name
                if not path.is_file():
                    return HTTPStatus.NOT_FOUND, b""
                store = FileStore(path, self._world, "witness")
            try:
                result = store.transact(lambda: act(store))
            except BaseException:
                # after an error nobody knows what is written: it is read anew
                store.close()
                raise
            self._stores[name] = store
            return result


def _append(store: FileStore, before: Head, records: list[Record]) -> Answer:
    """Append records if the head is this one."""
    if store.head != before:
        return HTTPStatus.CONFLICT, b""
    for record in records:
        store.append(record)
    return HTTPStatus.OK, head_json(records[-1].head)


@final
class _Handler(BaseHTTPRequestHandler):
    """One connection of somebody who has the token, or says so."""

    server: "WitnessServer"
    protocol_version = "HTTP/1.1"
    server_version, sys_version = "sordino", ""
    timeout = _PATIENCE
    # headers and body in one packet: else the body waits for who asked to say "go on"
    wbufsize = -1
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        """Tell the head, or records."""
        name, rest = self._read_path()
        place = _RANGE.fullmatch(rest)
        if not name:
            return
        if place is not None:
            first, count = int(place[1]), min(int(place[2]), MOST)
            self._use(name, lambda store: (HTTPStatus.OK, _page(store, first, count)))
        elif not rest:
            self._use(name, lambda store: (HTTPStatus.OK, head_json(store.head)))
        else:
            self._tell(HTTPStatus.NOT_FOUND)

    def do_POST(self) -> None:
        """Append records if the head is the one that is named."""
        name, rest = self._read_path()
        match = _HEAD.fullmatch(rest)
        if not name:
            return
        if match is None:
            self._tell(HTTPStatus.NOT_FOUND)
            return
        before = Head(int(match[1]), match[2])
        records = self._body(before)
        if records is not None:
            self._use(name, lambda store: _append(store, before, records))

    def do_PUT(self) -> None:
        """Make a witness."""
        name, rest = self._read_path()
        if not name:
            return
        records = None if rest else self._body(NOTHING)
        if rest:
            self._tell(HTTPStatus.NOT_FOUND)
        elif records is not None:
            is_new = self.server.witnesses.create(name, records)
            self._tell(HTTPStatus.CREATED if is_new else HTTPStatus.CONFLICT)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 of the library
        """Log who asked for what; a token stands in no line of it."""
        logging.getLogger("sordino").info("%s %s", self.address_string(), format % args)

    def _read_path(self) -> tuple[str, str]:
        """Name and rest of a path that may be asked for; "" where it was refused."""
        wanted = f"Bearer {self.server.token}".encode()
        token = self.headers.get("Authorization", "").encode("utf-8", "replace")
        # before the body: whoever has no token has nothing read
        if not compare_digest(wanted, token):
            self._tell(HTTPStatus.UNAUTHORIZED)
            return "", ""
        name, _, rest = self.path.removeprefix("/").partition("/")
        if NAME.fullmatch(name) is None:
            self._tell(HTTPStatus.NOT_FOUND)
            return "", ""
        return name, rest

    def _body(self, before: Head) -> list[Record] | None:
        """Records of the body, which follow a head; None where it was refused."""
        length = self.headers.get("Content-Length", "")
        is_counted = "Transfer-Encoding" not in self.headers
        if not is_counted or not _LENGTH.fullmatch(length) or int(length) > PAGE:
            self._tell(HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
            return None
        body = self.rfile.read(int(length))
        records = _records_of(body, before) if len(body) == int(length) else None
        if records is None:
            self._tell(HTTPStatus.BAD_REQUEST)
        return records

    def _use(self, name: str, act: Callable[[FileStore], Answer]) -> None:
        """Tell what an act answers."""
        try:
            answer = self.server.witnesses.use(name, act)
        except (SordinoError, OSError):
            # the words of an error are for who keeps the witness
            logging.getLogger("sordino").exception("the witness %s", name)
            answer = (HTTPStatus.SERVICE_UNAVAILABLE, b"")
        self._tell(*answer)

    def _tell(self, status: HTTPStatus, body: bytes = b"") -> None:
        if status >= HTTPStatus.BAD_REQUEST and status != HTTPStatus.CONFLICT:
            self.close_connection = True  # what it still sends is not read
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)


def _page(store: FileStore, first: int, count: int) -> bytes:
    """Lines of some records, as many as one answer holds."""
    page = b""
    for record in islice(store.read(first), count):
        line = record.line + b"\n"
        if page and len(page) + len(line) > PAGE:
            break
        page += line
    return page


@final
class WitnessServer(ThreadingHTTPServer):
    """Answers on one port, each connection in a thread of its own."""

    daemon_threads = True

    def __init__(
        self,
        address: tuple[str, int],
        folder: Path,
        token: str,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        """Listen; `serve_forever` answers."""
        self.token = token
        self.witnesses = WitnessFolder(folder, World())
        self._tls = tls
        self._room = threading.BoundedSemaphore(_CONNECTIONS)
        super().__init__(address, _Handler)

    def process_request(self, request: Any, client_address: Any) -> None:
        """Answer in a thread, unless too many are answered."""
        if not self._room.acquire(blocking=False):
            self.shutdown_request(request)
            return
        super().process_request(request, client_address)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Answer all requests of a connection, and give its room back."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._room.release()

    def finish_request(self, request: Any, client_address: Any) -> None:
        """Shake hands in the thread of the connection: a slow one holds up no other."""
        if self._tls is None:
            super().finish_request(request, client_address)
            return
        request.settimeout(_PATIENCE)
        with self._tls.wrap_socket(request, server_side=True) as secured:
            super().finish_request(secured, client_address)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Pass over who went away, or never spoke as one should."""
        del request
        logging.getLogger("sordino").info("%s went away", client_address[0])
