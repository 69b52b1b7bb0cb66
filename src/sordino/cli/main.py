"""The command line: which command runs, and how it ends.

A command's module is loaded when it is named, so the others cost no start.

>>> list(COMMANDS)[:5]
['init', 'check', 'price', 'release', 'sql']
"""

import argparse
import logging
import os
import sys
import warnings
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final, final

from sordino.cli.exit_codes import FAILED, INTERRUPTED, exit_code
from sordino.cli.terminal import note
from sordino.errors import SordinoError


@final
@dataclass(frozen=True)
class Command:
    """A command, and its line among the others."""

    name: str
    what: str

    def fill(self, parser: argparse.ArgumentParser) -> None:
        """Add what the command's module says: its arguments, and what runs."""
        module: Any = import_module(f"sordino.cli.{self.name}_command")
        parser.description = module.WHAT
        parser.epilog = f"example: {module.EXAMPLE}"
        getattr(module, f"add_{self.name}_arguments")(parser)


COMMANDS: Final = {
    command.name: command
    for command in (
        Command("init", "write a new job file, from the schemas of tables"),
        Command("check", "say what a job would do, cost, and when it ends"),
        Command("price", "say what a release would cost; nothing is read"),
        Command("release", "make releases of a job, or find those made before"),
        Command("sql", "ask the tables of a job a question in SQL"),
        Command("risk", "say what a budget means to an attacker"),
        Command("ledger", "look at a ledger, and keep it"),
        Command("policy", "sign rules that a ledger obeys, and look at them"),
        Command("report", "write what a reader should know of a ledger"),
        Command("verify", "say whether a file is what was released"),
        Command("label", "show the privacy facts that a file carries"),
        Command("inspect", "look at a private table, for its curator"),
        Command("conformance", "hold an engine against what is meant"),
        Command("demo", "show Sordino on invented data, or write an example"),
        Command("doctor", "say whether all that Sordino needs is here"),
        Command("completion", "write what completes commands in a shell"),
    )
}
"""Every command, in the order of the help."""


def main(words: Sequence[str] | None = None) -> int:
    """Run a command, and return how it ended (exit_codes.py).

    A command that itself is a question returns 1 for no.
    """
    _open_closed_streams()
    line = sys.argv[1:] if words is None else list(words)
    named = next((word for word in line if not word.startswith("-")), "")
    arguments = command_parser({named}).parse_args(line)
    with warnings.catch_warnings():
        warnings.showwarning = _show_warning
        with _show_log(arguments):
            return _run(arguments)


@contextmanager
def _show_log(arguments: argparse.Namespace) -> Generator[None]:
    """Show with --verbose what is logged, on standard error."""
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    log, is_wanted = logging.getLogger("sordino"), vars(arguments).get("verbose")
    before = log.level
    if is_wanted:
        log.setLevel(logging.INFO)
        log.addHandler(handler)
    try:
        yield
    finally:
        log.removeHandler(handler)
        log.setLevel(before)


def command_parser(named: set[str] | None = None) -> argparse.ArgumentParser:
    """Return what understands the command line; of other commands just the names."""
    whole = argparse.ArgumentParser(
        "sordino",
        description="Publish statistics about people with a proof of privacy.",
        epilog="begin with: sordino demo clinic",
    )
    whole.add_argument(
        "--version", action="version", version=f"sordino {version('sordino')}"
    )
    parsers = whole.add_subparsers(metavar="COMMAND", required=True)
    for name, command in COMMANDS.items():
        parser = parsers.add_parser(name, help=command.what)
        if named is None or name in named:
            command.fill(parser)
    return whole


def _run(arguments: argparse.Namespace) -> int:
    """Run a command; a refusal prints one sentence and returns an exit code."""
    code = 0
    try:
        code = arguments.run(arguments) or code
        sys.stdout.flush()
    except SordinoError as error:
        note(f"sordino: {error}")
        return exit_code(error)
    except KeyboardInterrupt:
        note("sordino: interrupted. What was charged is charged once: run it again.")
        return INTERRUPTED
    except BrokenPipeError:  # whoever reads has read enough
        _drop_output()
    except OSError as error:
        problem = error.strerror
        if error.filename is not None:
            note(f"sordino: the system refuses a path: {problem}. Name another.")
            return FAILED
        _drop_output()
        note(
            f"sordino: standard output cannot be written to: {problem}. What was "
            "charged is charged once: run it again."
        )
        return FAILED
    return code


def _open_closed_streams() -> None:
    """Let a stream that the caller closed lead nowhere, and its number to no file."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            nowhere = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 for good
            setattr(sys, name, nowhere)


def _drop_output() -> None:
    """Let standard output lead nowhere: what is left in it cannot be written."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _show_warning(message: Warning | str, *where: Any, **beside: Any) -> None:
    """Write what is accepted and should be thought about, on standard error."""
    del where, beside
    note(f"sordino: {message}")
