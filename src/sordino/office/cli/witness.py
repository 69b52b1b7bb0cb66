"""The command that keeps witnesses of ledgers of other machines."""

import os
import ssl
from argparse import ArgumentTypeError, Namespace
from contextlib import suppress
from pathlib import Path
from typing import Final

from sordino.errors import InvalidJob
from sordino.ledger.http_witness import TOKEN, is_loopback
from sordino.ledger.witness_server import WitnessServer
from sordino.office.cli.main import Command, note, option

_LEAST: Final = 16
"""Letters of a token: what is shorter can be tried out."""
_LARGEST: Final = 2**16


def _keep_witnesses(arguments: Namespace) -> None:
    """Answer until somebody ends it; what was told is on the disk by then."""
    folder: Path = arguments.folder
    if not folder.is_dir():
        raise InvalidJob("FOLDER", "must be a folder", "Make it first.")
    tls = _tls(arguments)
    if tls is None and not is_loopback(arguments.host):
        raise InvalidJob(
            "--host",
            "must be this very machine where there is no --certificate: a token in "
            "plain text is everybody's",
            "Add --certificate and --key, or let a proxy here end TLS.",
        )
    try:
        server = WitnessServer(
            (arguments.host, arguments.port), folder, _token(arguments.token), tls
        )
    except OSError as error:
        raise InvalidJob(
            "--port", f"cannot be had: {error.strerror}", "Name another."
        ) from None
    scheme = "http" if tls is None else "https"
    note(
        f"keeps witnesses in {folder}: {scheme}://{arguments.host}:{server.server_port}"
    )
    with server, suppress(KeyboardInterrupt):
        server.serve_forever()


def _token(path: Path | None) -> str:
    """Token of a file, or of the environment."""
    try:
        text = os.environ.get(TOKEN, "") if path is None else path.read_text("ascii")
    except (OSError, UnicodeDecodeError):
        raise InvalidJob("--token", "must be a file of ASCII", "Name it.") from None
    token = text.strip()
    if len(token) < _LEAST or not token.isprintable():
        raise InvalidJob(
            "--token",
            f"must hold at least {_LEAST} letters",
            "Try: openssl rand -hex 32 > token",
        )
    return token


def _tls(arguments: Namespace) -> ssl.SSLContext | None:
    if arguments.certificate is None:
        return None
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    try:
        context.load_cert_chain(arguments.certificate, arguments.key)
    except (OSError, ssl.SSLError):
        raise InvalidJob(
            "--certificate", "cannot be read with this --key", "Name PEM files."
        ) from None
    return context


def _port(text: str) -> int:
    if not text.isdecimal() or int(text) >= _LARGEST:
        raise ArgumentTypeError(f"must be a port, got {text!r}")
    return int(text)


WITNESS: Final = Command(
    "witness",
    "Keep witnesses of ledgers of other machines in a folder, and answer over HTTP: "
    "append if the head is the one that is named, and tell the newest.",
    "sordino witness seen --host 0.0.0.0 --certificate host.pem --token token",
    _keep_witnesses,
    (
        option("folder", "FOLDER", "where their files are", Path),
        option("--host", "HOST", "where to listen (127.0.0.1)", default="127.0.0.1"),
        option("--port", "PORT", "where to listen (8443)", _port, default=8443),
        option("--token", "FILE", f"who has what it holds may ask (${TOKEN})", Path),
        option("--certificate", "PEM", "of this host, for TLS", Path),
        option("--key", "PEM", "its private key (in the same file)", Path),
    ),
)
