"""Sql, inspect."""

import argparse
import json
import sys
from collections.abc import Iterator
from dataclasses import replace
from itertools import starmap
from typing import Any, Final

from sordino.data.csv import Csv
from sordino.data.limits import (
    AbstractConstraint,
    MaxGroupsPerID,
    MaxRowsPerGroupPerID,
    MaxRowsPerID,
)
from sordino.data.units import AddRowsWithID
from sordino.errors import InvalidJob, SordinoError
from sordino.losses.loss import headline
from sordino.numbers import down
from sordino.office.cli.jobs import (
    add_clock_options,
    add_job_options,
    given_job,
    price_facts,
    print_price,
    said_day,
)
from sordino.office.cli.main import (
    REFUSED,
    confirm,
    is_terminal,
    note,
    path_text,
    write,
    write_object,
)
from sordino.office.cli.metrics import quantities
from sordino.office.cli.risk import add_budget_options, given_budget
from sordino.office.job.job import Job
from sordino.office.job.questions import PlannedRelease, question_in_sql
from sordino.office.job.running import (
    JobDesk,
    open_to_look,
    open_to_release,
    read_wording,
    turn_of,
)
from sordino.release.release import Release
from sordino.session.inspection import inspect


def add_limit_options(parser: argparse.ArgumentParser, what: str) -> None:
    """Add an option for each limit; each may be repeated."""
    parser.add_argument(
        "--max-rows-per-id",
        action="append",
        default=[],
        type=_number,
        metavar="N",
        help=what,
    )
    for name in ("--max-groups-per-id", "--max-rows-per-group-per-id"):
        parser.add_argument(
            name,
            action="append",
            default=[],
            type=_limit,
            metavar="COLUMN=N",
            help=what,
        )


def given_limits(arguments: argparse.Namespace) -> Iterator[AbstractConstraint]:
    """Yield the limits that are given."""
    yield from map(MaxRowsPerID, arguments.max_rows_per_id)
    yield from starmap(MaxGroupsPerID, arguments.max_groups_per_id)
    yield from starmap(MaxRowsPerGroupPerID, arguments.max_rows_per_group_per_id)


def name_and_value(text: str) -> tuple[str, str]:
    """Split NAME=VALUE in two; argparse refuses anything else."""
    name, sign, value = text.rpartition("=")
    if not sign:
        raise argparse.ArgumentTypeError(f"must be NAME=VALUE, got {text!r}")
    return name, value


def _number(text: str) -> int:
    """Return a limit; argparse refuses anything else."""
    if not text.isdecimal() or len(text) > 15:
        raise argparse.ArgumentTypeError(f"must be a number, got {text!r}")
    return int(text)


def _limit(text: str) -> tuple[str, int]:
    name, value = name_and_value(text)
    return name, _number(value)


SQL_EXAMPLE: Final = (
    'sordino sql clinic.toml "SELECT COUNT(*) FROM visits" --epsilon 0.1'
)
SQL_WHAT: Final = (
    "Ask the tables of a job a question in SQL, charged to its ledger. With --price "
    "nothing is charged; without a budget the question is printed as Python."
)

_HINT: Final = (
    "Here limits are said by --max-rows-per-id, --max-groups-per-id and "
    "--max-rows-per-group-per-id, or taken by --like NAME; bounds by CLAMP in the text."
)


def add_sql_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments, and what runs."""
    parser.set_defaults(run=ask_in_sql)
    add_job_options(parser, "a SELECT statement (- for standard input)")
    add_clock_options(parser)
    add_budget_options(parser)
    parser.add_argument(
        "--like",
        metavar="NAME",
        help="a release of the job, whose limits, bounds and keys hold here, too",
    )
    add_limit_options(parser, "a limit on what one person contributes")
    parser.add_argument("--price", action="store_true", help="charge nothing")
    parser.add_argument("--key", metavar="KEY", help="under which the answer is kept")
    parser.add_argument("--who", metavar="WHO", help="recorded with it")
    parser.add_argument("--why", default="", metavar="WHY", help="recorded with it")
    parser.add_argument(
        "--dialect",
        default="duckdb",
        metavar="NAME",
        help="duckdb, postgres, spark or bigquery",
    )
    parser.add_argument(
        "--yes", action="store_true", help="do not ask, also on a terminal"
    )


def ask_in_sql(arguments: argparse.Namespace) -> int:
    """Ask a question; a refusal that speaks Python is told in options, too."""
    try:
        return _ask(arguments)
    except SordinoError as error:
        if ".enforce(" in str(error):
            note(_HINT)
        raise


def _ask(arguments: argparse.Namespace) -> int:
    """Print a question, its price, or its answer."""
    job, words = given_job(arguments)
    if arguments.who is not None:
        job = replace(job, ledger=replace(job.ledger, who=arguments.who))
    plan = _plan(job, words, arguments)
    looking = open_to_look(job, said_day(arguments))
    wording = read_wording(looking.session, plan, job)
    if wording.budget is None:
        write(repr(wording.requests))
        return 0
    if arguments.price:
        _show_price(looking, plan, as_json=arguments.json)
        return 0
    if not _confirm_price(looking, plan, arguments):
        note("nothing was charged")
        return REFUSED
    _release(job, plan, arguments)
    return 0


def _plan(job: Job, words: list[str], arguments: argparse.Namespace) -> PlannedRelease:
    """Return the statement as a release that the file does not have."""
    if len(words) != 1:
        raise InvalidJob(
            "sordino sql", "needs one statement", 'Put it in quotes: "SELECT ...".'
        )
    text = sys.stdin.read() if words == ["-"] else words[0]
    like = None if arguments.like is None else job.release(arguments.like)
    notes = {"dialect": arguments.dialect, "why": arguments.why}
    plan = question_in_sql(text, given_budget(arguments), notes, like)
    limits = tuple(given_limits(arguments))
    return replace(plan, limits=limits) if limits else plan


def _show_price(desk: JobDesk, plan: PlannedRelease, *, as_json: bool) -> None:
    price = desk.price(plan)
    if as_json:
        write_object("price", price_facts(price, desk.session))
    else:
        print_price(plan.name, price, desk.session)


def _confirm_price(
    desk: JobDesk, plan: PlannedRelease, arguments: argparse.Namespace
) -> bool:
    """Show a person the price and ask; a program has decided."""
    if arguments.yes or not (is_terminal(sys.stdin) and is_terminal(sys.stdout)):
        return True
    _show_price(desk, plan, as_json=False)
    left = headline(desk.session.remaining)
    return confirm(f"This is charged for good, of {left} left. Continue?")


def _release(job: Job, plan: PlannedRelease, arguments: argparse.Namespace) -> None:
    desk, is_new = open_to_release(
        job, said_day(arguments), progress=is_terminal(sys.stderr)
    )
    if is_new:
        place = path_text(job.ledger.path)
        note(f"a new ledger, with nothing spent, was made at {place}")
    answers = _answers(desk, plan, arguments.key)
    left = headline(desk.session.remaining)
    for release in answers.values():
        if arguments.json:
            rows, errors = release.table.to_pylist(), release.errors.to_pylist()
            facts = {
                "loss": release.price,
                "loss_numbers": quantities(release.loss),
                "left": left,
                "left_numbers": quantities(desk.session.remaining, down),
                "confidence_number": float(release.confidence),
            }
            write_object("answer", facts | {"rows": rows, "errors": errors})
        else:
            write(str(release))
    note(f"{left} is left")


def _answers(
    desk: JobDesk, plan: PlannedRelease, key: str | None
) -> dict[str, Release]:
    """Return the answers; who asks under a key that another works on waits for it."""
    if key is None:
        return desk.answers(plan, desk.question(plan), None)
    with turn_of(desk.job.ledger.path, key):
        return desk.answers(plan, desk.question(plan), key)


INSPECT_EXAMPLE: Final = "sordino inspect visits.csv --column patient=i64 --id patient"
INSPECT_WHAT: Final = (
    "Show how the cells of a table are read, and what limits would cut. Exact counts "
    "of private rows: for the curator's eyes only."
)
_DIALECT: Final = {
    "delimiter": "what stands between fields (,); \\t for a tab",
    "quote": 'what stands around fields ("); none for nothing',
    "encoding": "utf-8, cp1252, latin-1, utf-16, ...",
    "decimal": ". or ,",
    "date": "the format of dates, such as %%d.%%m.%%Y",
    "time": "the format of times, such as %%d.%%m.%%Y %%H:%%M",
    "true": "a word for true",
    "false": "a word for false",
    "null": "what stands for a missing value, such as NA",
}
"""How text files are written, each as `sordino.Csv` takes it."""
_SIGNS: Final[dict[str, str | None]] = {"\\t": "\t", "none": None}
"""Words for what is hard to write on a command line."""


def add_inspect_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments, and what runs."""
    parser.set_defaults(run=run)
    parser.add_argument(
        "paths", nargs="+", metavar="FILE", help="Parquet or text files"
    )
    parser.add_argument(
        "--column",
        action="append",
        default=[],
        type=name_and_value,
        metavar="NAME=TYPE",
        help="a column and its type: i64, f64, text, bool, date or time",
    )
    parser.add_argument("--id", metavar="COLUMN", help="the column that marks people")
    add_limit_options(parser, "a limit to try")
    for name, what in _DIALECT.items():
        parser.add_argument(f"--{name}", help=what)
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(arguments: argparse.Namespace) -> None:
    """Print what a table holds."""
    inspection = inspect(
        _source(arguments),
        protects=None if arguments.id is None else AddRowsWithID(arguments.id),
        columns=dict(arguments.column),
        limits=list(given_limits(arguments)),
    )
    text = (
        json.dumps(inspection.to_dict(), indent=2)
        if arguments.json
        else str(inspection)
    )
    write(text)


def _source(arguments: argparse.Namespace) -> Any:
    """Return the files, with the format options that were given."""
    options = {name: vars(arguments)[name] for name in _DIALECT}
    dialect = {name: text for name, text in options.items() if text is not None}
    if not dialect:
        return arguments.paths
    signs = {name: _SIGNS.get(text, text) for name, text in dialect.items()}
    return Csv(arguments.paths, **signs)
