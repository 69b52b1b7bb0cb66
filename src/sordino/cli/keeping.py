"""What `sordino ledger` does for who keeps one: backup, restore, close, answer.

Nothing is charged. A budget that was closed stays closed.
"""

import argparse
from typing import TYPE_CHECKING

from sordino.cli.ledger import open_ledger, read_ledger
from sordino.cli.signer_option import read_signer
from sordino.cli.terminal import say, write
from sordino.errors import InvalidParameter
from sordino.ledger.ledger import Ledger
from sordino.schema import unknown

if TYPE_CHECKING:
    from sordino.release.release import Release


def show_answer(arguments: argparse.Namespace) -> None:
    """Show the paid answer of a key, or write it as CSV."""
    with read_ledger(arguments) as ledger:
        several = ledger.answers(arguments.key)
    if arguments.name is not None:
        several = {"": _pick(several, arguments.name)}
    if arguments.csv is not None:
        _one(several).to_csv(arguments.csv)
        say(f"{arguments.csv} has the answer and its errors.")
        return
    for name, release in several.items():
        title = name if name.isprintable() else repr(name)
        text = f"{title}:\n{release}\n" if name else str(release)
        write(text)


def back_up_ledger(arguments: argparse.Namespace) -> None:
    """Write a whole copy to a new file."""
    with read_ledger(arguments) as ledger:
        ledger.backup(arguments.copy)
    say(f"{arguments.copy} holds all of {arguments.path}, answers included.")
    say("It can be read and restored; nothing is charged to it.")
    say("What is charged after this stands in the ledger and its witness only.")


def restore_ledger(arguments: argparse.Namespace) -> None:
    """Make a ledger of a copy, and of what the witness saw after it."""
    with Ledger.restore(
        arguments.copy,
        arguments.path,
        witness=arguments.witness,
        signer=read_signer(arguments.signer),
        only_writer=arguments.only_writer,
    ) as ledger:
        left = ledger.remaining()
    say(f"{arguments.path} is restored, and every charge counts.")
    say(f"left: {left!r}")


def close_budget(arguments: argparse.Namespace) -> None:
    """Let nothing more be charged to a budget."""
    with open_ledger(arguments, read_signer(arguments.signer)) as ledger:
        ledger.close_budget(arguments.budget, who=arguments.who, why=arguments.why)
    say(f"{arguments.budget} is closed: nothing more is charged to it.")


def _pick(several: "dict[str, Release]", name: str) -> "Release":
    """Return one of several answers."""
    if name not in several:
        raise unknown("answer", name, [other for other in several if other])
    return several[name]


def _one(several: "dict[str, Release]") -> "Release":
    """Return the only answer."""
    if len(several) > 1:
        raise InvalidParameter(
            "--csv",
            list(several),
            "can write one answer, and the key has several",
            "Name one of them with --name.",
        )
    return next(iter(several.values()))
