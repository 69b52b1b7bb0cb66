"""What `sordino doctor` does: it says whether all that Sordino needs is here."""

import argparse
import json
import os
import platform
import signal
import subprocess  # noqa: S404 what is tried must be killed
import sys
from collections.abc import Callable
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import sordino as sd
from sordino.cli.exit_codes import REFUSED
from sordino.cli.terminal import text_table, write_object
from sordino.errors import InvalidParameter, SordinoError
from sordino.ledger.file_system import file_system_of, is_local

EXAMPLE: Final = "sordino doctor"
WHAT: Final = (
    "Say whether all that Sordino needs is here: its engine, random bits, exact "
    "arithmetic, and a disk on which a ledger lasts."
)
_GOOD: Final = "ok"
_PATIENCE: Final = 30
"""Seconds that a folder may be tried; it takes a few."""


def add_doctor_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments, and what runs."""
    parser.set_defaults(run=examine)
    parser.add_argument(
        "folder",
        nargs="?",
        type=Path,
        metavar="FOLDER",
        help="where a ledger shall lie: locks, kills and faults are tried there",
    )
    parser.add_argument("--json", action="store_true", help="print JSON")


def examine(arguments: argparse.Namespace) -> int:
    """Print what was tried; 1 if something is wrong."""
    results = {name: _result_of(check) for name, check in _CHECKS.items()}
    if arguments.folder is not None:
        results |= examine_folder(arguments.folder)
    if arguments.json:
        write_object("doctor", results)
    else:
        text_table(list(results.items()))
    return REFUSED if any(text.startswith("NOT") for text in results.values()) else 0


def _result_of(check: Callable[[], str]) -> str:
    """Return what a check says, or why it cannot."""
    try:
        return check()
    except (SordinoError, ImportError, OSError, ArithmeticError) as error:
        return f"NOT here: {type(error).__name__}"


def _packages() -> str:
    """Return the version of each engine that is installed."""
    versions = []
    for package in ("duckdb", "pyspark", "psycopg"):
        try:
            versions.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            continue
    return ", ".join(versions)


def _random() -> str:
    """Say whether the system gives random bits."""
    return _GOOD if len(os.urandom(32)) == 32 else "NOT here"


def _exact() -> str:
    """Say whether noise is exact: integers, and intervals around real numbers."""
    drawn: Any = sd.Laplace(1)(0.0)
    return _GOOD if isinstance(drawn, float) else "NOT here"


def _answers() -> str:
    """Say whether the engine answers."""
    table = sd.PrivateTable({"day": [1, 2]}, protects=sd.AddOneRow())
    session = sd.Session({"visits": table}, sd.PureDP(1))
    release = session.release(sd.table("visits").agg(n=sd.count()), sd.PureDP(1))
    return _GOOD if len(release) == 1 else "NOT here"


def _ledger() -> str:
    """Say whether a ledger can be made, charged and read again on this disk."""
    with TemporaryDirectory(dir=Path.cwd(), prefix=".sordino-") as folder:
        path = Path(folder) / "tried.ledger"
        with sd.Ledger.at(path, sd.PureDP(1), create=True) as ledger:
            ledger.allot("tried", sd.PureDP(1))
        with sd.Ledger.at(path) as ledger:
            return _GOOD if ledger.verify().records == 3 else "NOT here"


def examine_folder(folder: Path) -> dict[str, str]:
    """Return what was tried in a folder, which is left as it was."""
    if not folder.is_dir():
        raise InvalidParameter(
            "FOLDER", str(folder), "must be a folder", "Name one that exists."
        )
    kind = file_system_of(folder)
    results = {"file system": kind or "of a kind that the system does not tell"}
    if not is_local(kind):
        results["file system"] = f"NOT a disk of this machine: {kind}"
    try:
        with TemporaryDirectory(dir=folder, prefix=".sordino-") as place:
            return results | _try_in_child(Path(place).resolve())
    except OSError as error:
        return results | {"locks": f"NOT here: {type(error).__name__}"}


def _try_in_child(place: Path) -> dict[str, str]:
    """Return what a process of its own found, which may be killed with all its own."""
    words = [sys.executable, "-P", "-m", "sordino.ledger.place_trial", str(place)]
    with subprocess.Popen(  # noqa: S603 this Python, and this package
        words, stdout=subprocess.PIPE, text=True, start_new_session=True
    ) as child:
        try:
            out, _ = child.communicate(timeout=_PATIENCE)
            return dict(json.loads(out))
        except (subprocess.TimeoutExpired, ValueError):
            return {"locks": f"NOT known: no end within {_PATIENCE} seconds"}
        finally:
            with suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)


_CHECKS: Final[dict[str, Callable[[], str]]] = {
    "sordino": lambda: version("sordino"),
    "python": lambda: f"{platform.python_version()} on {sys.platform}",
    "engines": _packages,
    "random bits": _random,
    "exact noise": _exact,
    "an answer": _answers,
    "a ledger on this disk": _ledger,
}
