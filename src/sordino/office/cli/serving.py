"""Commands for a server of analysts: `sordino serve`, and `sordino token`."""

import logging
import sys
from argparse import Namespace
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Final

from sordino.errors import InvalidJob, InvalidParameter, MissingDependency
from sordino.office.cli.main import Command, note, option, path_text, say, write
from sordino.office.cli.risk import BUDGET, given_budget
from sordino.office.job.job import read_job
from sordino.office.job.questions import FORMS
from sordino.office.job.running import open_to_release
from sordino.office.service.door import Service
from sordino.office.service.tokens import TokenFile, make_token

_PORT: Final = 8443


def _serve(arguments: Namespace) -> None:
    try:
        from sordino.office.service.listening import listen, serve  # noqa: PLC0415 an extra
    except ImportError as error:
        raise MissingDependency("sordino serve", "uvicorn", "serve") from error
    certificate, key = arguments.certificate, arguments.private_key
    if (certificate is None) != (key is None):
        raise InvalidParameter(
            "--private-key", None, "must come with --certificate", "Give both."
        )
    tokens = TokenFile(arguments.tokens)
    desk, is_new = open_to_release(read_job(arguments.job))
    if is_new:
        place = path_text(desk.job.ledger.path)
        note(f"a new ledger, with nothing spent, was made at {place}")
    listener = listen(arguments.host, arguments.port)
    scheme = "http" if certificate is None else "https"
    host, port = listener.getsockname()[:2]
    _show_audit()
    say(f"serving {scheme}://{host}:{port}")
    sys.stdout.flush()  # whoever waits for it reads a pipe
    credentials = None if certificate is None else (certificate, key)
    serve(Service(desk.session, tokens), listener, credentials, desk.session.close)


def _show_audit() -> None:
    """Write each request to standard error: that is the audit, for whoever keeps it."""
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    log = logging.getLogger("sordino.service")
    log.setLevel(logging.INFO)
    log.addHandler(handler)


SERVE: Final = Command(
    "serve",
    "Answer analysts: they send requests and a token, and never see a row or the "
    "ledger. Tables, engine, ledger and policy are those of a job.",
    "sordino serve clinic.toml --tokens clinic.tokens --host 10.0.0.7 "
    "--certificate clinic.pem --private-key clinic.key",
    _serve,
    (
        option("job", "JOB", "a job file; its releases are not made", Path),
        option("--tokens", "FILE", "the tokens (sordino token)", Path, required=True),
        option("--host", "HOST", "where to listen (127.0.0.1)", default="127.0.0.1"),
        option("--port", "N", f"at which port ({_PORT})", int, default=_PORT),
        option("--certificate", "PEM", "of this server, with its chain", Path),
        option("--private-key", "PEM", "of the certificate", Path),
    ),
)


def _make_token(arguments: Namespace) -> None:
    if given_budget(arguments) is None:
        raise InvalidJob(
            "a token", "has no limit", "Give --epsilon 1, or --rho 0.1, or another one."
        )
    limit = f"{{ {', '.join(_limit_words(arguments))} }}"
    token = make_token(arguments.path, arguments.analyst, limit, arguments.until)
    say(f"{path_text(arguments.path)} knows its SHA-256. The token is told once:")
    write(token)


def _limit_words(arguments: Namespace) -> Iterator[str]:
    for name in dict.fromkeys(word for form in FORMS for word in form):
        if vars(arguments)[name] is not None:
            yield f'{name} = "{vars(arguments)[name]}"'


TOKEN: Final = Command(
    "token",
    "Make a token for an analyst of a server. To revoke it, write `revoked = true` "
    "under it in the file: that counts from the next request on.",
    "sordino token clinic.tokens ana --epsilon 1 --delta 1e-6 --until 2027-06-30",
    _make_token,
    (
        option("path", "FILE", "the token file, made if there is none", Path),
        option("analyst", "NAME", "who will hold it"),
        *BUDGET,
        option("--until", "DAY", "the last day, by UTC", date.fromisoformat),
    ),
)
