"""The page over HTTP, for one person at this machine.

host ── token ── origin ── body (bytes, seconds) ── a thread ── page

Whoever lacks one of the first three gets the same answer: that nothing is here. What
a hostile page in the same browser can do stands in decision 294.
"""

import hmac
import logging
import socket
from functools import partial
from pathlib import Path
from typing import Final, final

import anyio
import anyio.to_thread
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from sordino.errors import EngineFailure
from sordino.office.form.page import (
    MOST_BYTES,
    FormReply,
    first_page,
    form_sheet,
    reply_to_form,
)
from sordino.office.html.page import form_policy
from sordino.office.service.listening import Patience, read_body, run_server

_LOG: Final = logging.getLogger("sordino.form")
HERE: Final = "127.0.0.1"
"""Where the page is, whatever anybody says."""
_FORM: Final = "application/x-www-form-urlencoded"
_HEADERS: Final = {
    "Cache-Control": "no-store",
    "Connection": "close",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}


@final
class LocalPage:
    """Answers one browser: who knows the token, at this machine, from this page."""

    def __init__(self, folder: Path, token: str, port: int, patience: Patience) -> None:
        """Begin with nothing chosen: nothing is kept between requests."""
        self._folder, self._token, self._patience = folder, token, patience
        self._hosts = {f"{HERE}:{port}", f"localhost:{port}"}
        self._limiter = anyio.CapacityLimiter(1)

    async def answer(self, request: Request) -> Response:
        """Answer a request of the page itself; of any other tell nothing."""
        if not self._is_ours(request):
            return _not_there()
        if request.method == "GET":
            return await self._work(partial(first_page_reply, self._folder))
        if request.headers.get("content-type", "").partition(";")[0].strip() != _FORM:
            return _plain(415, "This page takes its own form.")
        try:
            with anyio.fail_after(self._patience.body):
                body = await read_body(request, MOST_BYTES)
        except TimeoutError:
            return _plain(408, "The form did not come in time. Send it again.")
        if body is None:
            return _plain(413, f"A form has at most {MOST_BYTES:,} bytes.")
        return await self._work(partial(reply_to_form, self._folder, body))

    def _is_ours(self, request: Request) -> bool:
        """Whether a request knows the token, and is made by this page or a person."""
        headers = request.headers
        host, token = headers.get("host", ""), request.path_params["token"]
        # a name that somebody else lets lead here would read the page as its own
        if host not in self._hosts:
            return False
        if not hmac.compare_digest(token.encode(), self._token.encode()):
            return False
        if request.method == "GET":
            return True
        # browsers say from where a form is posted, and no page can say otherwise
        return (
            headers.get("origin") == f"http://{host}"
            and headers.get("sec-fetch-site", "same-origin") == "same-origin"
        )

    async def _work(self, make: "partial[FormReply]") -> Response:
        try:
            with anyio.fail_after(self._patience.answer):
                reply = await anyio.to_thread.run_sync(
                    make, abandon_on_cancel=True, limiter=self._limiter
                )
        except TimeoutError:
            return _plain(504, "This takes too long for a page: use the command line.")
        except Exception as error:  # noqa: BLE001 what is not ours may quote a cell
            _LOG.error("%s while the page was made", type(error).__name__)
            return _plain(500, str(EngineFailure()))
        if reply.is_file:
            return _download(reply)
        policy = f"{form_policy(form_sheet())}; frame-ancestors 'none'"
        headers = _HEADERS | {"Content-Security-Policy": policy}
        return Response(reply.content, reply.status, headers, "text/html")


def first_page_reply(folder: Path) -> FormReply:
    """Page on which nothing is chosen yet."""
    return FormReply(200, first_page(folder))


def _download(reply: FormReply) -> Response:
    headers = _HEADERS | {"Content-Disposition": 'attachment; filename="job.toml"'}
    return Response(reply.content, reply.status, headers, "application/toml")


def _plain(status: int, text: str) -> Response:
    return Response(text, status, _HEADERS, "text/plain")


def _not_there() -> Response:
    return _plain(404, "Nothing is here.")


def _tell_nothing(request: Request, error: Exception) -> Response:
    del request, error
    return _not_there()


def application_of(page: LocalPage) -> Starlette:
    """The application of a page; every other path is told that nothing is there."""
    routes = [Route("/{token}/", page.answer, methods=["GET", "POST"])]
    # other paths and methods are answered like a wrong token, and nowhere redirected
    handlers = {404: _tell_nothing, 405: _tell_nothing}
    application = Starlette(routes=routes, exception_handlers=handlers)
    application.router.redirect_slashes = False
    return application


def serve_page(folder: Path, token: str, listener: socket.socket) -> None:
    """Serve the page of a folder until the process is asked to stop."""
    port, waits = listener.getsockname()[1], Patience(farewell=1)
    page = LocalPage(folder, token, port, waits)
    run_server(application_of(page), listener, None, waits)
