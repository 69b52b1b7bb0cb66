"""Which command runs, how it ends, text on a terminal.

How a command ends, as a number that a scheduler can act on (ADR 191).

>>> from sordino.errors import BudgetExceeded
>>> exit_code(BudgetExceeded("nothing is left"))
3

The command line: which command runs, and how it ends.

A command's module is loaded when it is named, so the others cost no start.

>>> list(COMMANDS)[:5]
['init', 'check', 'price', 'release', 'sql']
"""

import argparse
import json
import logging
import os
import shutil
import sys
import textwrap
import warnings
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import version
from itertools import starmap
from pathlib import Path
from typing import Any, Final, Literal, TextIO, final

from sordino.errors import (
    AnswerLost,
    BudgetExceeded,
    EngineFailure,
    EngineUnavailable,
    EntropyUnavailable,
    InvalidJob,
    InvalidPolicy,
    LedgerDamaged,
    LedgerUnavailable,
    OutputFailure,
    PolicyRefusal,
    SordinoError,
)

Colour = Literal["red", "green", "yellow", "bold"]
_COLOURS: Final = {"red": 31, "green": 32, "yellow": 33, "bold": 1}
_GAP = 2
_LEAST = 8
"""Letters that a column keeps however narrow the terminal is."""


def write(text: str = "") -> None:
    """Write lines as they are."""
    sys.stdout.write(f"{text}\n")


def say(sentence: str) -> None:
    """Write a sentence, folded between words."""
    write("\n".join(_fold(_harmless(sentence), _columns())))


def text_table(rows: Sequence[tuple[str, ...]]) -> None:
    """Write columns of texts side by side; the widest are folded until all fit."""
    cells = [[_harmless(text) for text in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    while sum(widths) + _GAP * (len(widths) - 1) > _columns() and max(widths) > _LEAST:
        widths[widths.index(max(widths))] -= 1
    for row in cells:
        folded = list(starmap(_fold, zip(row, widths, strict=True)))
        for place in range(max(map(len, folded))):
            texts = [lines[place] if place < len(lines) else "" for lines in folded]
            padded = map(str.ljust, texts, widths)
            write((" " * _GAP).join(padded).rstrip())


def _fold(text: str, room: int) -> list[str]:
    """Return the lines of a text, at least one; a long word is broken."""
    return textwrap.wrap(text, max(room, 1), break_on_hyphens=False) or [""]


def _harmless(text: str) -> str:
    """Return a text that a terminal shows and does not obey."""
    return text if text.isprintable() else repr(text)


def _columns() -> int:
    """Return the width of the terminal, 80 where there is none."""
    return shutil.get_terminal_size().columns


def note(text: str) -> None:
    """Write for whoever watches, on standard error: not part of the data."""
    sys.stderr.write(f"{text}\n")


def is_terminal(stream: TextIO) -> bool:
    """Tell whether a person sits at a stream."""
    return bool(stream) and stream.isatty()


def tint(text: str, colour: Colour, stream: TextIO) -> str:
    """Return a text in a colour where the stream shows any and nobody refused it."""
    refused = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    wanted = os.environ.get("FORCE_COLOR") or is_terminal(stream)
    return f"\x1b[{_COLOURS[colour]}m{text}\x1b[0m" if wanted and not refused else text


def confirm(question: str) -> bool:
    """Ask a person at the terminal; anything but yes is no."""
    sys.stderr.write(f"{question} [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in {"y", "yes"}


def ask(question: str, default: str = "") -> str:
    """Ask a person for a text; an empty answer is the default."""
    shown = f" [{default}]" if default else ""
    sys.stderr.write(f"{question}{shown}: ")
    sys.stderr.flush()
    return sys.stdin.readline().strip() or default


def path_text(path: Path | str) -> str:
    """Return a path as one would type it here; an address of a cluster as it is."""
    if "://" in str(path):
        return str(path)
    here, path = Path.cwd(), Path(path)
    return str(path.relative_to(here) if path.is_relative_to(here) else path)


def write_object(kind: str, fields: Mapping[str, Any]) -> None:
    """Write one object on one line; `schema` says what it is."""
    write(json.dumps({"schema": f"sordino.{kind}/1"} | dict(fields), default=str))


REFUSED: Final = 1
SPENT: Final = 3
FAILED: Final = 4
INTERRUPTED: Final = 130
_CODES: Final[dict[type[BaseException], int]] = {
    InvalidJob: 2,
    InvalidPolicy: 2,
    BudgetExceeded: SPENT,
    PolicyRefusal: SPENT,
    EngineFailure: 4,
    EngineUnavailable: 4,
    EntropyUnavailable: 4,
    LedgerUnavailable: 4,
    AnswerLost: 4,
    OutputFailure: FAILED,
    LedgerDamaged: 5,
}
"""Kinds of refusal that a scheduler tells apart; all others are a plain no."""


def exit_code(error: SordinoError) -> int:
    """Return the number of a refusal: that of the nearest kind it belongs to.

    An engine that refuses for good, such as one that lacks the table, does not mend.
    """
    if isinstance(error, EngineUnavailable) and error.lasts:
        return REFUSED
    kinds = (kind for kind in type(error).__mro__ if kind in _CODES)
    return _CODES.get(next(kinds, SordinoError), REFUSED)


@final
@dataclass(frozen=True)
class Command:
    """A command: its name, the file that has it, and its line among the others."""

    name: str
    file: str
    what: str

    def fill(self, parser: argparse.ArgumentParser) -> None:
        """Add what the command's module says: its arguments, and what runs."""
        module: Any = import_module(f"sordino.office.cli.{self.file}")
        parser.description = getattr(module, f"{self.name.upper()}_WHAT")
        example = getattr(module, f"{self.name.upper()}_EXAMPLE")
        parser.epilog = f"example: {example}"
        getattr(module, f"add_{self.name}_arguments")(parser)


COMMANDS: Final = {
    command.name: command
    for command in (
        Command("init", "jobs", "write a new job file, from the schemas of tables"),
        Command("check", "jobs", "say what a job would do, cost, and when it ends"),
        Command("price", "jobs", "say what a release would cost; nothing is read"),
        Command("release", "jobs", "make releases of a job, or find those made before"),
        Command("sql", "sql", "ask the tables of a job a question in SQL"),
        Command("risk", "risk", "say what a budget means to an attacker"),
        Command("ledger", "ledgers", "look at a ledger, and keep it"),
        Command("policy", "policy", "sign rules that a ledger obeys, and look at them"),
        Command("report", "publishing", "write what a reader should know of a ledger"),
        Command("verify", "publishing", "say whether a file is what was released"),
        Command("label", "publishing", "show the privacy facts that a file carries"),
        Command("inspect", "sql", "look at a private table, for its curator"),
        Command("conformance", "tools", "hold an engine against what is meant"),
        Command("demo", "tools", "show Sordino on invented data, or write an example"),
        Command("doctor", "tools", "say whether all that Sordino needs is here"),
        Command("completion", "tools", "write what completes commands in a shell"),
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
    """Parser of the command line; of commands not named, just their names."""
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
