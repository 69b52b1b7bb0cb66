"""Commands and their arguments: what was asked, and how it ended.

>>> main(["ledger", "show", "/nowhere/clinic.ledger"])
1
"""

import argparse
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Final, TypeAlias

from rich.console import Console

from sordino.cli import ledger
from sordino.errors import SordinoError

Run: TypeAlias = Callable[[argparse.Namespace, Console], None]
Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"

_REFUSED: Final = 1
_ANCHOR: Final = "a file kept elsewhere, by which a ledger put back is found out"


def main(words: Sequence[str] | None = None) -> int:
    """Run a command; 0 if all is well, 1 if it was refused, 2 if not understood."""
    asked = parser().parse_args(words)
    try:
        asked.run(asked, Console(highlight=False, soft_wrap=True))
    except SordinoError as error:
        sys.stderr.write(f"sordino: {error}\n")
        return _REFUSED
    except BrokenPipeError:  # whoever reads has read enough
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115, PTH123 until the end
        return _REFUSED
    return 0


def parser() -> argparse.ArgumentParser:
    """Return what understands the command line."""
    whole = argparse.ArgumentParser(
        "sordino",
        description="Publish statistics about people with a proof of privacy.",
        epilog="example: sordino ledger show clinic.ledger",
    )
    whole.add_argument(
        "--version", action="version", version=f"sordino {version('sordino')}"
    )
    rooms = whole.add_subparsers(metavar="COMMAND", required=True)
    about = "Look at a ledger: what was spent, by whom, and whether it is whole."
    room = rooms.add_parser(
        "ledger",
        help="look at a ledger",
        description=about,
        epilog="example: sordino ledger verify clinic.ledger",
    )
    commands = room.add_subparsers(metavar="COMMAND", required=True)
    _show(commands)
    _verify(commands)
    _export(commands)
    return whole


def commands(found: argparse.ArgumentParser, before: str = "") -> Iterator[str]:
    """Yield every command in full.

    >>> list(commands(parser()))
    ['ledger show', 'ledger verify', 'ledger export']
    """
    rooms = [
        one for one in found._actions if isinstance(one, argparse._SubParsersAction)
    ]
    for room in rooms:
        for name, one in room.choices.items():
            yield from commands(one, f"{before}{name} ")
    if not rooms:
        yield before.strip()


def _show(commands: Commands) -> None:
    """Add the command that shows a ledger."""
    made = _command(
        commands,
        "show",
        ledger.show,
        "Show the limits of a ledger, what is spent and left, and its last releases.",
        "sordino ledger show clinic.ledger --last 50",
    )
    made.add_argument(
        "--last",
        type=_count,
        default=10,
        metavar="N",
        help="how many releases to show, the newest ones (10)",
    )


def _verify(commands: Commands) -> None:
    """Add the command that verifies a ledger."""
    _command(
        commands,
        "verify",
        ledger.verify,
        "Check that a ledger is what was written: every record, sum and answer.",
        "sordino ledger verify clinic.ledger --anchor /elsewhere/clinic.anchor",
    )


def _export(commands: Commands) -> None:
    """Add the command that exports a ledger."""
    made = _command(
        commands,
        "export",
        ledger.export,
        "Write a ledger as lines of JSON, or as YAML for the public registry of "
        "differential privacy deployments.",
        "sordino ledger export clinic.ledger --format yaml --answers clinic.toml",
    )
    made.add_argument(
        "--format",
        choices=("jsonl", "yaml"),
        default="jsonl",
        help="jsonl: every record, one a line; yaml: the entry of the registry",
    )
    made.add_argument(
        "--answers",
        type=Path,
        metavar="TOML",
        help="for yaml: what only a person knows, by section and field",
    )
    made.add_argument(
        "--draft",
        action="store_true",
        help="for yaml: mark what is missing instead of refusing",
    )


def _command(
    commands: Commands, name: str, run: Run, what: str, example: str
) -> argparse.ArgumentParser:
    """Add a command on the ledger at a path."""
    made = commands.add_parser(
        name, help=what, description=what, epilog=f"example: {example}"
    )
    made.set_defaults(run=run)
    made.add_argument("path", type=Path, metavar="PATH", help="the ledger's file")
    made.add_argument("--anchor", type=Path, metavar="PATH", help=_ANCHOR)
    return made


def _count(text: str) -> int:
    """Return a number of releases, for argparse to refuse what is none."""
    count = int(text)
    if count < 0:
        raise ValueError(text)
    return count
