"""The commands of `sordino ledger`, and their arguments.

>>> [command.name for command in LEDGER_COMMANDS][:6]
['show', 'history', 'verify', 'answer', 'backup', 'restore']
"""

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final, final

from sordino.cli import budget_shares, keeping, ledger
from sordino.cli.budget_options import add_budget_options
from sordino.cli.signer_option import add_only_writer_option, add_signer_option
from sordino.ledger.entries import DATASET

EXAMPLE: Final = "sordino ledger verify clinic.ledger"
WHAT: Final = (
    "Look at a ledger: what was spent, by whom, whether it is whole, and what was "
    "answered; copy and restore it; share its budget and close it. Nothing is charged."
)


def add_ledger_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the commands on a ledger."""
    named = parser.add_subparsers(metavar="COMMAND", required=True)
    for command in LEDGER_COMMANDS:
        command.fill(
            named.add_parser(
                command.name,
                help=command.what,
                description=command.what,
                epilog=f"example: {command.example}",
            )
        )


@final
@dataclass(frozen=True)
class LedgerCommand:
    """A command on the ledger at a path."""

    name: str
    run: Callable[[argparse.Namespace], None]
    what: str
    example: str
    options: Callable[[argparse.ArgumentParser], None]

    def fill(self, parser: argparse.ArgumentParser) -> None:
        """Add its arguments, and what runs."""
        parser.set_defaults(run=self.run)
        parser.add_argument("path", type=Path, metavar="PATH", help="the ledger's file")
        parser.add_argument(
            "--witness",
            type=Path,
            metavar="PATH",
            help="a file kept elsewhere, by which a ledger put back is found out",
        )
        self.options(parser)


def _json(parser: argparse.ArgumentParser) -> None:
    """Add that a program reads it."""
    parser.add_argument("--json", action="store_true", help="print JSON")


def _last(parser: argparse.ArgumentParser) -> None:
    """Add how many releases are shown, and to whom."""
    _json(parser)
    parser.add_argument(
        "--last",
        type=_count,
        default=10,
        metavar="N",
        help="how many releases to show, the newest ones (10)",
    )


def _form(parser: argparse.ArgumentParser) -> None:
    """Add the form of an export, and what the registry asks."""
    parser.add_argument(
        "--format",
        choices=("jsonl", "yaml"),
        default="jsonl",
        help="jsonl: every record, one a line; yaml: the entry of the registry",
    )
    parser.add_argument(
        "--answers",
        type=Path,
        metavar="TOML",
        help="for yaml: what only a person knows, by section and field",
    )
    parser.add_argument(
        "--draft",
        action="store_true",
        help="for yaml: mark what is missing instead of refusing",
    )


def _key(parser: argparse.ArgumentParser) -> None:
    """Add which answer, and where it goes."""
    parser.add_argument("key", metavar="KEY", help="what the answer was asked for with")
    parser.add_argument(
        "--name", metavar="NAME", help="which one, of requests answered together"
    )
    parser.add_argument(
        "--csv",
        type=Path,
        metavar="FILE",
        help="write values and errors there, instead of showing them",
    )


def _copy(parser: argparse.ArgumentParser) -> None:
    """Add where the copy goes."""
    parser.add_argument(
        "copy", type=Path, metavar="COPY", help="a file that is not there"
    )


def _source(parser: argparse.ArgumentParser) -> None:
    """Add which copy, and who signs."""
    parser.add_argument(
        "--copy",
        type=Path,
        required=True,
        metavar="COPY",
        help="what `backup` wrote",
    )
    add_signer_option(parser, "the private key of a signed ledger")
    add_only_writer_option(parser)


def _budget(parser: argparse.ArgumentParser) -> None:
    """Add which budget, who changes it and why, and who signs."""
    parser.add_argument("budget", metavar="NAME", help="of an analyst, or `dataset`")
    _remark(parser)


def _remark(parser: argparse.ArgumentParser) -> None:
    """Add who does it and why, and who signs."""
    parser.add_argument("--who", default="", metavar="WHO", help="who does it")
    parser.add_argument("--why", default="", metavar="WHY", help="what for")
    add_signer_option(parser, "the private key of a signed ledger")
    add_only_writer_option(parser)


def _limit(parser: argparse.ArgumentParser) -> None:
    """Add of which budget, how much, and how it is counted."""
    parser.add_argument("budget", metavar="NAME", help="of an analyst, or `dataset`")
    add_budget_options(parser)
    parser.add_argument(
        "--counting",
        choices=("asked", "concentrated", "gaussian"),
        default="asked",
        help="what is added up (asked)",
    )
    parser.add_argument(
        "--reserve",
        default=0,
        metavar="N",
        help="the part of delta kept for releases over unknown keys (0)",
    )
    _json(parser)


def _share(parser: argparse.ArgumentParser) -> None:
    """Add whose budget, how much, and who signs."""
    _limit(parser)
    add_signer_option(parser, "the private key of a signed ledger")
    add_only_writer_option(parser)


def _lower(parser: argparse.ArgumentParser) -> None:
    """Add of which budget, to how much, who and why."""
    _limit(parser)
    _remark(parser)


def _part(parser: argparse.ArgumentParser) -> None:
    """Add what is planned, of which budget, and how much."""
    _name(parser)
    add_budget_options(parser)
    parser.add_argument(
        "--budget", default=DATASET, metavar="NAME", help="whose budget (dataset)"
    )
    _json(parser)


def _name(parser: argparse.ArgumentParser) -> None:
    """Add which earmark, who and why."""
    parser.add_argument("name", metavar="EARMARK", help="what is planned")
    _remark(parser)


def _analyst(parser: argparse.ArgumentParser) -> None:
    """Add as whose."""
    _json(parser)
    parser.add_argument(
        "--analyst",
        metavar="NAME",
        help="only as much as who has this budget may see",
    )


def _count(text: str) -> int:
    """Return a number of releases; argparse refuses anything else."""
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"must be a number, got {text!r}")
    return int(text)


LEDGER_COMMANDS: Final = (
    LedgerCommand(
        "show",
        ledger.show_ledger,
        "Show the limits of a ledger, what is spent and left (of each block, if there "
        "are any), and its last releases.",
        "sordino ledger show clinic.ledger --last 50",
        _last,
    ),
    LedgerCommand(
        "history",
        ledger.show_history,
        "List every release, or as much of each as an analyst may see.",
        "sordino ledger history clinic.ledger --analyst ana",
        _analyst,
    ),
    LedgerCommand(
        "verify",
        ledger.verify_ledger,
        "Check that a ledger is what was written: every record, sum and answer.",
        "sordino ledger verify clinic.ledger",
        _json,
    ),
    LedgerCommand(
        "answer",
        keeping.show_answer,
        "Show a paid answer by its key, or write it as CSV; nothing is asked again.",
        "sordino ledger answer clinic.ledger 2026-11",
        _key,
    ),
    LedgerCommand(
        "backup",
        keeping.back_up_ledger,
        "Write a whole copy of a ledger to a new file; others may charge meanwhile.",
        "sordino ledger backup clinic.ledger clinic.backup",
        _copy,
    ),
    LedgerCommand(
        "restore",
        keeping.restore_ledger,
        "Make a ledger of a copy and of what its witness saw after it.",
        "sordino ledger restore wards.ledger --copy wards.backup --witness wards.seen",
        _source,
    ),
    LedgerCommand(
        "allot",
        budget_shares.allot_budget,
        "Give an analyst a budget of their own, under that of the dataset.",
        "sordino ledger allot clinic.ledger bob --epsilon 0.1 --delta 1e-7",
        _share,
    ),
    LedgerCommand(
        "lower",
        budget_shares.lower_budget,
        "Lower the limit of a budget; none is ever raised.",
        "sordino ledger lower clinic.ledger ana --epsilon 0.05 --delta 0",
        _lower,
    ),
    LedgerCommand(
        "earmark",
        budget_shares.earmark_part,
        "Set a part of a budget aside for what is planned.",
        "sordino ledger earmark clinic.ledger census --epsilon 0.1",
        _part,
    ),
    LedgerCommand(
        "free",
        budget_shares.free_part,
        "Give back what is left of what was set aside.",
        "sordino ledger free clinic.ledger census",
        _name,
    ),
    LedgerCommand(
        "close",
        keeping.close_budget,
        "Let nothing more be charged to a budget, for ever; its answers stay.",
        "sordino ledger close clinic.ledger ana --who curator",
        _budget,
    ),
    LedgerCommand(
        "export",
        ledger.export_ledger,
        "Write a ledger as lines of JSON, or as YAML for the public registry of "
        "differential privacy deployments.",
        "sordino ledger export clinic.ledger --format yaml --draft",
        _form,
    ),
)
"""Every command of `sordino ledger`."""
