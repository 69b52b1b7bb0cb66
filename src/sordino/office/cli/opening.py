"""The command `sordino open`: from a file to a job, on a page of this machine."""

import base64
import sys
from argparse import Namespace
from contextlib import suppress
from pathlib import Path
from typing import Final

from sordino.errors import InvalidParameter, MissingDependency
from sordino.noise.sampling.bits import fresh_secret
from sordino.office.cli.main import Command, note, option, write


def _open(arguments: Namespace) -> None:
    try:
        from sordino.office.form.loopback import HERE, serve_page  # noqa: PLC0415 an extra
        from sordino.office.service.listening import listen  # noqa: PLC0415 likewise
    except ImportError as error:
        raise MissingDependency("sordino open", "uvicorn", "serve") from error
    folder = arguments.folder.absolute()
    if not folder.is_dir():
        raise InvalidParameter(
            "FOLDER", str(arguments.folder), "is no folder", "Name one with a file."
        )
    listener = listen(HERE, arguments.port)
    token = base64.urlsafe_b64encode(fresh_secret()).decode().rstrip("=")
    port = listener.getsockname()[1]
    # told, and not opened: other users see the words with which a browser is started
    write(f"serving http://{HERE}:{port}/{token}/")
    sys.stdout.flush()  # whoever waits for it reads a pipe
    note("Open this address in a browser; it is for you alone. Ctrl-C ends it.")
    with suppress(KeyboardInterrupt):  # nothing was begun that could be lost
        serve_page(folder, token, listener)


OPEN: Final = Command(
    "open",
    "Make a job file of a file, step by step, on a page that this machine alone can "
    "reach: what stands in it, whom to protect, the question, limits, noise, and what "
    "an attacker learns. Nothing is charged or written.",
    "sordino open data",
    _open,
    (
        option(
            "folder",
            "FOLDER",
            "where the files are (here)",
            Path,
            nargs="?",
            default=Path(),
        ),
        option("--port", "N", "at which port (any that is free)", int, default=0),
    ),
)
