"""What commands on a job have in common: which file it is, and which releases."""

import argparse
from datetime import date
from pathlib import Path

from sordino.job.job import Job, read_job
from sordino.job.job_desk import JobDesk
from sordino.job.job_file import find_job
from sordino.job.planned_release import PlannedRelease
from sordino.ledger.clocks import SaidDay


def add_job_options(parser: argparse.ArgumentParser, names: str) -> None:
    """Add the job file, and what is named in it."""
    parser.add_argument(
        "words",
        nargs="*",
        metavar="[JOB.toml] [NAME ...]",
        help=f"a job file, and {names}",
    )
    parser.add_argument(
        "--job",
        type=Path,
        metavar="FILE",
        help="the job file, if it is not the only one here",
    )
    parser.add_argument("--json", action="store_true", help="print JSON, one a line")
    parser.add_argument(
        "--verbose", action="store_true", help="say on standard error what is done"
    )


def add_clock_options(parser: argparse.ArgumentParser) -> None:
    """Add what a person says of the day."""
    parser.add_argument(
        "--on",
        type=_day,
        metavar="DATE",
        help="the day that it is, whose periods are meant (today, by UTC)",
    )
    parser.add_argument(
        "--catch-up",
        action="store_true",
        help="periods have passed since the newest record of the ledger",
    )


def said_day(arguments: argparse.Namespace) -> SaidDay:
    """Return what a person says of the day."""
    return SaidDay(arguments.on, arguments.catch_up)


def given_path(arguments: argparse.Namespace) -> Path:
    """Return the job file that is meant."""
    words, path = arguments.words, arguments.job
    if path is not None:
        return Path(path)
    return Path(words[0]) if _names_file(words) else find_job(Path.cwd())


def given_job(arguments: argparse.Namespace) -> tuple[Job, list[str]]:
    """Return the job that is meant, and the names beside it."""
    words = list(arguments.words)
    beside = words[1:] if arguments.job is None and _names_file(words) else words
    return read_job(given_path(arguments)), beside


def _names_file(words: list[str]) -> bool:
    """Tell whether the first word is a job file."""
    return bool(words) and words[0].endswith(".toml")


def named_releases(desk: JobDesk, names: list[str]) -> list[PlannedRelease]:
    """Return the named releases, or all of them; refuse unknown names."""
    named = [desk.job.release(name) for name in names]
    return named or list(desk.job.releases.values())


def _day(text: str) -> date:
    """Return a date; argparse refuses anything else."""
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"must be a date such as 2026-11-30, got {text!r}"
        ) from None
