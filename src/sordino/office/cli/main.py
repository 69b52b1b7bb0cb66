"""The command line: its commands, how each one ends, and text on a terminal.

A command is a value: what it does, an example, what runs, and its arguments. Its file
is imported when it is named, so the others cost no start (ADR 245). Schedulers act on
how it ends (ADR 191).

>>> from sordino.errors import BudgetExceeded
>>> exit_code(BudgetExceeded("nothing is left"))
3
"""

import json
import logging
import os
import shutil
import sys
import textwrap
import warnings
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import version
from itertools import starmap
from pathlib import Path
from typing import Any, Final, TextIO, final

from sordino import errors
from sordino.errors import SordinoError
from sordino.ledger.places import is_address

_GAP: Final = 2
_LEAST: Final = 8
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
    return textwrap.wrap(text, max(room, 1), break_on_hyphens=False) or [""]


def _harmless(text: str) -> str:
    # names and reasons are somebody else's: an escape is shown, not obeyed
    return text if text.isprintable() else repr(text)


def _columns() -> int:
    return shutil.get_terminal_size().columns


def note(text: str) -> None:
    """Write for whoever watches, on standard error: not part of the data."""
    sys.stderr.write(f"{text}\n")


def is_terminal(stream: TextIO) -> bool:
    """Whether a person sits at a stream."""
    return bool(stream) and stream.isatty()


def green(text: str, stream: TextIO) -> str:
    """Color a text where the stream shows colors and nobody refused them."""
    refused = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    wanted = os.environ.get("FORCE_COLOR") or is_terminal(stream)
    return f"\x1b[32m{text}\x1b[0m" if wanted and not refused else text


def confirm(question: str) -> bool:
    """Ask a person at the terminal; anything but yes is no."""
    return _reply(f"{question} [y/N] ").lower() in {"y", "yes"}


def ask(question: str) -> str:
    """Ask a person for a text."""
    return _reply(f"{question}: ")


def _reply(question: str) -> str:
    sys.stderr.write(question)  # standard output is for data, which may go to a file
    sys.stderr.flush()
    return sys.stdin.readline().strip()


def ledger_place(text: str) -> Path | str:
    """Return a path, or the address of a server, which no path may hold.

    >>> ledger_place("postgresql://db/clinic")
    'postgresql://db/clinic'
    """
    return text if is_address(text) else Path(text)


def path_text(path: Path | str) -> str:
    """Path as one would type it here; an address of a cluster as it is."""
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
    errors.InvalidJob: 2,
    errors.InvalidPolicy: 2,
    errors.BudgetExceeded: SPENT,
    errors.PolicyRefusal: SPENT,
    errors.EngineFailure: FAILED,
    errors.EngineUnavailable: FAILED,
    errors.EntropyUnavailable: FAILED,
    errors.LedgerUnavailable: FAILED,
    errors.AnswerLost: FAILED,  # it may be on its way: to ask later is safe
    errors.OutputFailure: FAILED,  # the answer is kept: to ask again costs nothing
    errors.LedgerDamaged: 5,
}
"""Kinds of refusal that a scheduler tells apart; all others are a plain no."""


def exit_code(error: SordinoError) -> int:
    """Exit code of the nearest kind that a refusal belongs to."""
    if isinstance(error, errors.EngineUnavailable) and error.lasts:
        return REFUSED  # a table that is missing is there at no later try
    kinds = (kind for kind in type(error).__mro__ if kind in _CODES)
    return _CODES.get(next(kinds, SordinoError), REFUSED)


@final
@dataclass(frozen=True)
class CommandOption:
    """An argument of a command, with the terms on which argparse reads it."""

    names: tuple[str, ...]
    terms: Mapping[str, Any]


def option(
    names: str, metavar: str, what: str, kind: Callable[[str], Any] = str, **terms: Any
) -> CommandOption:
    """An argument with a value; it has a place of its own where no dash precedes it."""
    terms |= {"metavar": metavar, "help": what, "type": kind}
    return CommandOption(tuple(names.split()), terms)


def flag(name: str, what: str) -> CommandOption:
    """An argument without a value."""
    return CommandOption((name,), {"action": "store_true", "help": what})


def word_option(
    name: str, words: Sequence[str], what: str, default: str | None = None
) -> CommandOption:
    """An argument that is one of a few words."""
    return CommandOption((name,), {"choices": words, "help": what, "default": default})


def list_option(
    name: str, metavar: str, what: str, kind: Callable[[str], Any] = str
) -> CommandOption:
    """An argument that may be given several times."""
    return option(name, metavar, what, kind, action="append", default=[])


JSON: Final = flag("--json", "print JSON")
YES: Final = flag("--yes", "do not ask, also on a terminal")
WITNESS: Final = option("--witness", "PATH", "the witness of that ledger", ledger_place)


@final
@dataclass(frozen=True)
class Command:
    """A command: its help, an example, what runs, its arguments or its own commands."""

    name: str
    what: str
    example: str
    run: Callable[[Namespace], int | None] | None = None
    options: tuple[CommandOption, ...] = ()
    below: tuple["Command", ...] = ()

    def fill(self, parser: ArgumentParser) -> None:
        """Let a parser read this command."""
        parser.description = self.what
        parser.epilog = f"example: {self.example}"
        parser.set_defaults(run=self.run)
        for each in self.options:
            parser.add_argument(*each.names, **each.terms)
        if self.below:
            parsers = parser.add_subparsers(metavar="COMMAND", required=True)
            for command in self.below:
                command.fill(parsers.add_parser(command.name, help=command.what))

    @property
    def words(self) -> list[str]:
        """What may follow it in a shell: its options, and the commands below it."""
        names = [name for each in self.options for name in each.names]
        options = [name for name in names if name.startswith("-")]
        return ["-h", "--help", *options, *(command.name for command in self.below)]


COMMANDS: Final[Mapping[str, tuple[str, str]]] = {
    "open": ("opening", "make a job file of a file, on a page in a browser"),
    "init": ("jobs", "write a new job file, from the schemas of tables"),
    "check": ("jobs", "say what a job would do, cost, and when it ends"),
    "price": ("jobs", "say what a release would cost; nothing is read"),
    "release": ("jobs", "make releases of a job, or find those made before"),
    "sql": ("sql", "ask the tables of a job a question in SQL"),
    "risk": ("risk", "say what a budget means to an attacker"),
    "ledger": ("ledgers", "look at a ledger, and keep it"),
    "policy": ("policy", "sign rules that a ledger obeys, and look at them"),
    "serve": ("serving", "answer analysts, who send requests and a token"),
    "token": ("serving", "make a token for an analyst of a server"),
    "report": ("publishing", "write what a reader should know of a ledger"),
    "annex": ("publishing", "write the annex of an impact assessment"),
    "verify": ("publishing", "say whether a file is what was released"),
    "label": ("publishing", "show the privacy facts that a file carries"),
    "witness": ("witness", "keep witnesses of ledgers of other machines"),
    "inspect": ("sql", "look at a private table, for its curator"),
    "conformance": ("tools", "hold an engine against what is meant"),
    "audit": ("audits", "try to prove Sordino wrong, on invented tables"),
    "demo": ("tools", "show Sordino on invented data, or write an example"),
    "doctor": ("tools", "say whether all that Sordino needs is here"),
    "completion": ("tools", "write what completes commands in a shell"),
}
"""The file of each command, and its line among the others."""


def command_named(name: str) -> Command:
    """Import a command of the table: the constant of its name in its file."""
    module = import_module(f"sordino.office.cli.{COMMANDS[name][0]}")
    command: Command = getattr(module, name.upper())
    return command


def main(words: Sequence[str] | None = None) -> int:
    """Run a command, and return how it ended.

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
def _show_log(arguments: Namespace) -> Generator[None]:
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


def command_parser(named: set[str] | None = None) -> ArgumentParser:
    """Parser of the command line; of commands not named, just their names."""
    whole = ArgumentParser(
        "sordino",
        description="Publish statistics about people with a proof of privacy.",
        epilog="begin with: sordino demo clinic",
    )
    whole.add_argument(
        "--version", action="version", version=f"sordino {version('sordino')}"
    )
    parsers = whole.add_subparsers(metavar="COMMAND", required=True)
    for name, (_, line) in COMMANDS.items():
        parser = parsers.add_parser(name, help=line)
        if named is None or name in named:
            command_named(name).fill(parser)
    return whole


def _run(arguments: Namespace) -> int:
    code = 0
    try:
        code = arguments.run(arguments) or code
        sys.stdout.flush()  # a full disk shows here: at exit it would be a traceback
    except SordinoError as error:
        note(f"sordino: {error} [{type(error).__name__}]")
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
    # else the next file, such as a ledger, gets the number that libraries write to
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            nowhere = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 for good
            setattr(sys, name, nowhere)


def _drop_output() -> None:
    # what is left in it is flushed once more at exit, which would fail again
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _show_warning(message: Warning | str, *_where: Any, **_more: Any) -> None:
    note(f"sordino: {message}")
