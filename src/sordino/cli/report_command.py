"""What `sordino report` does: it writes what a reader should know of a ledger."""

import argparse
from pathlib import Path
from typing import Final

from sordino.cli.terminal import note, path_text, write_object
from sordino.errors import InvalidJob
from sordino.job.job import read_job
from sordino.job.job_file import find_job
from sordino.ledger.ledger import Ledger
from sordino.pages.languages import language_codes
from sordino.release.whole_files import write_text
from sordino.report.ledger_story import ledger_report

EXAMPLE: Final = "sordino report clinic.ledger -o report.html --language de"
WHAT: Final = (
    "Write a report that a reader who is no statistician can follow: whom the releases "
    "of a ledger protect, what was published, what is not promised, and what proves "
    "it. One HTML file, made of the ledger alone; no private row is read."
)
_USUAL: Final = Path("report.html")


def add_report_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments, and what runs."""
    parser.set_defaults(run=write_report)
    parser.add_argument(
        "path",
        nargs="?",
        type=Path,
        metavar="LEDGER",
        help="the ledger's file (that of the job file here)",
    )
    parser.add_argument(
        "--witness", type=Path, metavar="PATH", help="the witness of that ledger"
    )
    parser.add_argument(
        "-o",
        "--out",
        type=Path,
        default=_USUAL,
        metavar="FILE",
        help="where the report goes (report.html)",
    )
    parser.add_argument(
        "--language", choices=language_codes(), default="en", help="of the report (en)"
    )
    parser.add_argument(
        "--title", default="", metavar="TEXT", help="its title (the ledger's name)"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")


def write_report(arguments: argparse.Namespace) -> None:
    """Write the report, and say where it lies."""
    path, witness = _place(arguments)
    with Ledger.read(path, witness=witness) as ledger:
        title = arguments.title or path.name
        write_text(arguments.out, ledger_report(ledger, title, arguments.language))
        releases = len(ledger.entries())
    if arguments.json:
        facts = {
            "file": path_text(arguments.out),
            "language": arguments.language,
            "releases": releases,
        }
        write_object("report", facts)
    else:
        note(f"wrote {path_text(arguments.out)}")


def _place(arguments: argparse.Namespace) -> tuple[Path, Path | None]:
    """Return the ledger that is named, or that of the job file here; its witness."""
    if arguments.path is None:
        book = read_job(find_job(Path.cwd())).ledger
        return book.path, arguments.witness or book.witness
    if not arguments.path.is_file():
        raise InvalidJob("LEDGER", "must be a file", "Name that of a ledger.")
    return arguments.path, arguments.witness
