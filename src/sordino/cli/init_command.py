"""What `sordino init` does: it writes a job file, from schemas alone."""

import argparse
import sys
from dataclasses import replace
from pathlib import Path
from typing import Final

from sordino.cli.terminal import ask, is_terminal, note
from sordino.errors import InvalidJob
from sordino.job.draft import Draft, draft_text, read_schema
from sordino.job.job_file import USUAL
from sordino.settings.section import UNDECIDED

EXAMPLE: Final = "sordino init visits.parquet --to clinic.toml"
WHAT: Final = (
    "Write a new job file for a table, with a comment on each choice. On a terminal it "
    'asks; what nobody says is left as "?", and `sordino check` lists it. Only names '
    "and types of columns are looked at, never a row."
)


def add_init_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments, and what runs."""
    parser.set_defaults(run=write_job)
    parser.add_argument("source", metavar="FILE", help="a Parquet or text file")
    parser.add_argument(
        "--to",
        type=Path,
        default=Path(USUAL),
        metavar="JOB.toml",
        help=f"the file to write ({USUAL}); it must not be there",
    )
    parser.add_argument("--id", metavar="COLUMN", help="the column that marks people")
    parser.add_argument("--epsilon", metavar="N", help="of the whole budget")
    parser.add_argument("--delta", metavar="N", help="of the whole budget")
    parser.add_argument("--group", metavar="COLUMN", help="what to count by")
    parser.add_argument(
        "--blocks",
        metavar="COLUMN",
        help="for a table that grows: the column that says when a row arrived",
    )


def write_job(arguments: argparse.Namespace) -> None:
    """Write the file, and say what comes next."""
    folder = arguments.to.absolute().parent
    columns = read_schema(folder, arguments.source)
    options = {name: vars(arguments)[name] for name in _QUESTIONS}
    asks = is_terminal(sys.stdin) and is_terminal(sys.stderr)
    if asks:
        note(f"columns: {', '.join(columns)}")
    choices = {
        name: text or (ask(_QUESTIONS[name]) if asks else "") or UNDECIDED
        for name, text in options.items()
    }
    draft = Draft(arguments.source, columns, **choices)
    growing = arguments.blocks or ""
    if asks and draft.moments and not growing:
        growing = ask(_GROWS.format(", ".join(draft.moments)))
    text = draft_text(replace(draft, blocks=growing))
    try:
        with arguments.to.open("x", encoding="utf-8") as file:
            file.write(text)
    except (OSError, ValueError):
        raise InvalidJob(
            str(arguments.to), "is there, or cannot be written", "Name another: --to."
        ) from None
    note(f"wrote {arguments.to}. Next: sordino check {arguments.to}")


_QUESTIONS: Final = {
    "id": "Which column marks a person (rows, if each row is one)",
    "epsilon": "Epsilon of the whole budget, such as 1",
    "delta": "Delta of the whole budget, such as 1e-6, or 0",
    "group": "Count by which column",
}
"""What a person decides, and how it is asked."""
_GROWS: Final = "If the table grows, which column says when a row arrived ({})"
