"""What `sordino label` does: it shows the label of a published file.

A file says of itself what it likes; a ledger that saw it published confirms it.
"""

import argparse
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from sordino.cli.exit_codes import REFUSED
from sordino.cli.terminal import is_terminal, write
from sordino.cli.verify_command import named_ledger
from sordino.errors import InvalidJob, InvalidLabel
from sordino.pages.languages import language_codes, read_language
from sordino.pages.odds import FALSE_ALARMS, Odds

if TYPE_CHECKING:
    from sordino.ledger.ledger import Ledger
    from sordino.release.label import Label

EXAMPLE: Final = "sordino label published/wards-2026-11.csv --ledger clinic.ledger"
WHAT: Final = (
    "Show the privacy facts that a published file carries. They are the file's own "
    "words, unless a ledger that saw it published confirms them; it ends with 1 if the "
    "ledger does not."
)
_FORMATS: Final = ("text", "html", "png", "json")


def add_label_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments, and what runs."""
    parser.set_defaults(run=show_label)
    parser.add_argument(
        "file", type=Path, metavar="FILE", help="a published file or folder"
    )
    parser.add_argument(
        "--ledger", type=Path, metavar="PATH", help="the ledger that paid for it"
    )
    parser.add_argument(
        "--witness", type=Path, metavar="PATH", help="the witness of that ledger"
    )
    parser.add_argument(
        "--format", choices=_FORMATS, default="text", help="what is shown (text)"
    )
    parser.add_argument(
        "--language", choices=language_codes(), default="en", help="of its words (en)"
    )
    parser.add_argument(
        "-o",
        dest="out",
        type=Path,
        metavar="PATH",
        help="write .html, .png, .json or .txt instead",
    )


def show_label(arguments: argparse.Namespace) -> int:
    """Write the label of a file; return 1 if the ledger does not confirm it."""
    label = _label(arguments)
    if arguments.out is not None:
        label.save(arguments.out)
    elif arguments.format != "png":
        write(label.render(arguments.format).decode().removesuffix("\n"))
    elif is_terminal(sys.stdout):
        raise InvalidJob("--format png", "is no text for a terminal", "Add -o a.png.")
    else:
        sys.stdout.buffer.write(label.render("png"))
    return REFUSED if label.status in {"unknown", "unlabelled"} else 0


def _label(arguments: argparse.Namespace) -> "Label":
    """Return the label of a file, and what a ledger says of it."""
    from sordino.release.label import Label  # noqa: PLC0415 brings Arrow
    from sordino.release.label_reading import label_of_file  # noqa: PLC0415 the same

    path: Path = arguments.file
    language = read_language(arguments.language)
    stated = label_of_file(path)
    label = Label(stated.facts, path.name, "claimed", language)
    if arguments.ledger is None:
        return label
    with named_ledger(arguments.ledger, arguments.witness) as ledger:
        return _held_against(ledger, (stated.published, stated.place), label)


def _held_against(
    ledger: "Ledger", places: tuple[Path, Path], label: "Label"
) -> "Label":
    """Return a label with what a ledger knows of its file, and of where it lies.

    A file that the ledger saw published is bit for bit what it was then, so what it
    says of itself was said then. The odds of everything are the ledger's own.
    """
    published, described = map(ledger.publication, places)
    if published is None:
        return replace(label, status="unknown")
    if described is None or described.charge != published.charge:
        return replace(label, status="unlabelled")
    paid = label.facts.paid_by
    if paid is None or (paid.ledger, paid.number) != (
        ledger.identity,
        published.charge,
    ):
        raise InvalidLabel(
            label.file,
            f"names another record than {published.charge} of this ledger, which paid "
            "for it",
        )
    is_divided = ledger.division is not None
    odds = Odds(ledger.first_limit().rule.promise)
    facts = replace(
        label.facts,
        found_by_all=None if is_divided else odds.finds(FALSE_ALARMS),
        is_divided=is_divided,
    )
    return replace(label, facts=facts, status="confirmed")
