"""What `sordino verify` does: it says whether a file is what was released."""

import argparse
from pathlib import Path
from typing import Final

from sordino.budgets.touched import blocks_text
from sordino.cli.exit_codes import REFUSED
from sordino.cli.terminal import say, write_object
from sordino.errors import InvalidJob
from sordino.job.job import read_job
from sordino.job.job_file import find_job
from sordino.ledger.entries import Entry
from sordino.ledger.ledger import Ledger
from sordino.ledger.publications import Publication

EXAMPLE: Final = "sordino verify published/wards-2026-11.parquet --ledger clinic.ledger"
WHAT: Final = (
    "Say whether a file is one that a job published, untouched, and which release it "
    "is. It ends with 1 if it is not."
)


def add_verify_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments, and what runs."""
    parser.set_defaults(run=verify_file)
    parser.add_argument(
        "file", type=Path, metavar="FILE", help="a published file or folder"
    )
    parser.add_argument(
        "--ledger",
        type=Path,
        metavar="PATH",
        help="the ledger that paid for it (that of the job file here)",
    )
    parser.add_argument(
        "--witness", type=Path, metavar="PATH", help="the witness of that ledger"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")


def verify_file(arguments: argparse.Namespace) -> int:
    """Print which release a file holds; return 1 if it holds none."""
    with _ledger(arguments) as ledger:
        publication = _publication(ledger, arguments.file)
        entries = {} if publication is None else _by_number(ledger)
    if publication is None:
        facts = {"file": str(arguments.file), "published": False}
        sentence = (
            f"{arguments.file} is no file that this ledger saw published: it was "
            "changed, or made elsewhere."
        )
    else:
        entry = entries[publication.charge]
        facts = {
            "file": str(arguments.file),
            "published": True,
            "record": entry.number,
            "key": entry.key,
            "blocks": list(entry.blocks),
            "loss": entry.loss,
            "when": publication.when.isoformat(),
            "sha256": publication.sha256,
        }
        sentence = (
            f"{arguments.file} is untouched: record {entry.number} of the ledger, "
            f"{_key_text(entry)}{_rows_text(entry)}, published on "
            f"{publication.when:%Y-%m-%d %H:%M %Z}."
        )
    if arguments.json:
        write_object("verify", facts)
    else:
        say(sentence)
    return REFUSED if publication is None else 0


def _publication(ledger: Ledger, path: Path) -> Publication | None:
    """Return what a ledger knows of a file, or of the folder that it lies in."""
    from sordino.release.label_reading import vouching_file  # noqa: PLC0415 brings Arrow

    known = None if path.is_dir() else ledger.publication(path)
    return known or ledger.publication(vouching_file(path))


def _key_text(entry: Entry) -> str:
    """Return the key of a release, which one in files may be without."""
    return "without a key" if entry.key is None else f"key {entry.key}"


def _rows_text(entry: Entry) -> str:
    """Return of which blocks its rows are, where there are blocks."""
    return f", of {blocks_text(entry.blocks)}" if entry.blocks else ""


def _by_number(ledger: Ledger) -> dict[int, Entry]:
    """Return the charges by their numbers."""
    return {entry.number: entry for entry in ledger.entries()}


def _ledger(arguments: argparse.Namespace) -> Ledger:
    """Return the ledger that is named, or that of the job file here."""
    if arguments.ledger is not None:
        return named_ledger(arguments.ledger, arguments.witness)
    book = read_job(find_job(Path.cwd())).ledger
    return Ledger.read(book.path, witness=arguments.witness or book.witness)


def named_ledger(path: Path, witness: Path | None) -> Ledger:
    """Return the ledger that `--ledger` names."""
    if not path.is_file():
        raise InvalidJob("--ledger", "must be a file", "Name that of a ledger.")
    return Ledger.read(path, witness=witness)
