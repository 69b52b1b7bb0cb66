"""The door over HTTP: one file knows the server, and it knows nothing of requests.

header (seconds) ── token ── body (bytes, seconds) ── a thread ── answer (seconds)
"""

import asyncio
import socket
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import ClassVar, Final, NamedTuple, final

import anyio
import anyio.to_thread
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from uvicorn.protocols.http.h11_impl import H11Protocol

from sordino.errors import InvalidParameter, ServerUnavailable
from sordino.ledger.http_witness import is_loopback
from sordino.office.service.door import ASKED, Reply, Service
from sordino.office.service.wire import (
    body_refusal,
    refusal_fields,
    write_json,
)

_PREFIX: Final = "Bearer "


@final
class Patience(NamedTuple):
    """How long a server waits, in seconds, and how many it serves together."""

    body: float = 30
    answer: float = 600
    together: int = 16
    """Requests that are worked on; others wait."""
    connections: int = 128
    """Beyond so many, one more is told to come later."""
    farewell: int = 30
    """For what is being answered when the server is asked to stop."""


def _refusal(status: int, error: Exception) -> Response:
    content = write_json({"refusal": refusal_fields(error)})  # type: ignore[arg-type]
    return _response(Reply(status, content))


def _response(reply: Reply) -> Response:
    # one request a connection: a slow second header would wait without an end
    headers = {"Connection": "close", "Cache-Control": "no-store"}
    kind = "application/octet-stream" if reply.status == 200 else "application/json"
    return Response(reply.content, reply.status, headers, kind)


def _tell_health(request: Request) -> Response:
    del request
    return Response(b'{"status":"ok"}', media_type="application/json")


@final
class Listener:
    """Takes requests from the wire to a door, and answers back."""

    def __init__(self, door: Service, patience: Patience) -> None:
        """Begin with nobody served."""
        self._door, self._patience = door, patience
        self._limiter = anyio.CapacityLimiter(patience.together)

    async def ask(self, request: Request) -> Response:
        """Answer a request, or refuse it: a stranger before the body is read."""
        header = request.headers.get("authorization", "")
        admitted = self._door.admit(header.removeprefix(_PREFIX).strip())
        if isinstance(admitted, Reply):
            return _response(admitted)
        waits, most = self._patience, self._door.bounds.body
        try:
            with anyio.fail_after(waits.body):
                body = await read_body(request, most)
        except TimeoutError:
            slow = f"waits {waits.body:g} seconds for a request"
            return _refusal(408, ServerUnavailable(ASKED, slow))
        if body is None:
            return _refusal(413, body_refusal(most))
        verb = request.path_params["verb"]
        try:
            with anyio.fail_after(waits.answer):
                # a thread cannot be stopped: it goes on, and what it stores is kept
                reply = await anyio.to_thread.run_sync(
                    partial(self._door.reply, verb, admitted, body),
                    abandon_on_cancel=True,
                    limiter=self._limiter,
                )
        except TimeoutError:
            long = f"has not answered within {waits.answer:g} seconds, and goes on"
            return _refusal(504, ServerUnavailable(ASKED, long))
        return _response(reply)


def application(
    door: Service, patience: Patience, close: Callable[[], object]
) -> Starlette:
    """Return the application of a door; `close` is called when it stops."""

    @asynccontextmanager
    async def stand(_: Starlette) -> AsyncGenerator[None]:
        try:
            yield
        finally:
            close()

    routes = [
        Route("/health", _tell_health, methods=["GET"]),
        Route("/v1/{verb}", Listener(door, patience).ask, methods=["POST"]),
    ]
    return Starlette(routes=routes, lifespan=stand)


async def read_body(request: Request, most: int) -> bytes | None:
    """Body of a request, None as soon as it is longer than may be."""
    pieces, size = [], 0
    async for piece in request.stream():
        size += len(piece)
        if size > most:
            return None
        pieces.append(piece)
    return b"".join(pieces)


@final
class HastyProtocol(H11Protocol):
    """HTTP that hangs up where no whole header has come in time."""

    patience: ClassVar[float] = 10
    """Seconds."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait."""
        super().connection_made(transport)
        self.loop.call_later(self.patience, self._hang_up)

    def _hang_up(self) -> None:
        if self.cycle is None:
            self.transport.close()


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens; a place that cannot be had is refused."""
    try:
        kind = socket.AF_INET6 if ":" in host else socket.AF_INET
        return socket.create_server((host, port), family=kind)
    except OSError as error:
        problem = f"cannot be listened at: {error.strerror or error}"
        raise InvalidParameter(
            "host", f"{host}:{port}", problem, "Choose another port."
        ) from None


def serve(
    door: Service,
    listener: socket.socket,
    credentials: tuple[Path, Path] | None,
    close: Callable[[], object],
    patience: Patience | None = None,
) -> None:
    """Serve until the process is asked to stop, and finish what was begun.

    `credentials` are a certificate and its private key; without them only this machine
    is served.
    """
    host = listener.getsockname()[0]
    if credentials is None and not is_loopback(host):
        raise InvalidParameter(
            "host",
            host,
            "is seen from elsewhere, and tokens and answers would travel in the open",
            "Give a certificate and its key, or listen at 127.0.0.1 behind a proxy.",
        )
    waits = patience or Patience()
    run_server(application(door, waits, close), listener, credentials, waits)


def run_server(
    answers: Starlette,
    listener: socket.socket,
    credentials: tuple[Path, Path] | None,
    waits: Patience,
) -> None:
    """Run an application at a socket until the process is asked to stop."""
    certificate, key = credentials or (None, None)
    config = uvicorn.Config(
        answers,
        http=HastyProtocol,
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        limit_concurrency=waits.connections,
        timeout_graceful_shutdown=waits.farewell,
        ssl_certfile=certificate,
        ssl_keyfile=key,
    )
    uvicorn.Server(config).run(sockets=[listener])
