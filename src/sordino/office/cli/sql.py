"""Questions in SQL, and a look at a private table for its curator."""

import json
import sys
from argparse import ArgumentTypeError, Namespace
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import replace
from itertools import starmap
from pathlib import Path
from typing import Any, Final

from sordino.data.csv import Csv
from sordino.data.limits import (
    AbstractConstraint,
    MaxGroupsPerID,
    MaxRowsPerGroupPerID,
    MaxRowsPerID,
)
from sordino.data.units import AddRowsWithID
from sordino.errors import InvalidJob
from sordino.losses.loss import headline
from sordino.numbers import down
from sordino.office.cli.jobs import (
    CLOCK,
    given_job,
    job_options,
    open_to_charge,
    price_facts,
    print_price,
    said_day,
)
from sordino.office.cli.main import (
    JSON,
    REFUSED,
    YES,
    Command,
    CommandOption,
    confirm,
    flag,
    is_terminal,
    list_option,
    note,
    option,
    write,
    write_object,
)
from sordino.office.cli.metrics import quantities
from sordino.office.cli.risk import BUDGET, given_budget
from sordino.office.job.draft import declare
from sordino.office.job.job import Job
from sordino.office.job.questions import PlannedRelease, question_in_sql
from sordino.office.job.running import (
    open_to_look,
    read_wording,
    turn_of,
)
from sordino.session.inspection import inspect
from sordino.session.sql import RemedyWords, word_needs


def limit_options(what: str) -> tuple[CommandOption, ...]:
    """An option for each kind of limit; each may be repeated."""
    names = ("--max-groups-per-id", "--max-rows-per-group-per-id")
    by_column = (list_option(name, "COLUMN=N", what, _limit) for name in names)
    return (list_option("--max-rows-per-id", "N", what, _number), *by_column)


def given_limits(arguments: Namespace) -> Iterator[AbstractConstraint]:
    """Yield the limits that are given."""
    yield from map(MaxRowsPerID, arguments.max_rows_per_id)
    yield from starmap(MaxGroupsPerID, arguments.max_groups_per_id)
    yield from starmap(MaxRowsPerGroupPerID, arguments.max_rows_per_group_per_id)


def name_and_value(text: str) -> tuple[str, str]:
    """Split NAME=VALUE in two; argparse refuses anything else."""
    name, sign, value = text.rpartition("=")
    if not sign:
        raise ArgumentTypeError(f"must be NAME=VALUE, got {text!r}")
    return name, value


def _number(text: str) -> int:
    if not text.isdecimal() or len(text) > 15:
        raise ArgumentTypeError(f"must be a number, got {text!r}")
    return int(text)


def _limit(text: str) -> tuple[str, int]:
    name, value = name_and_value(text)
    return name, _number(value)


_OPTIONS: Final = {
    "MaxRowsPerID": "--max-rows-per-id",
    "MaxGroupsPerID": "--max-groups-per-id",
    "MaxRowsPerGroupPerID": "--max-rows-per-group-per-id",
}


def _limit_option(name: str, columns: Sequence[str], most: int) -> str:
    """Write a limit as an option, which takes one column.

    >>> _limit_option("MaxGroupsPerID", ["ward"], 2)
    '--max-groups-per-id ward=2'
    """
    if len(columns) > 1:
        return ""
    return f"{_OPTIONS[name]} {'='.join([*columns, str(most)])}"


_BY_OPTIONS: Final = RemedyWords(
    _limit_option,
    " ",
    "Add {}.",
    "Add --delta 1e-6, or --like NAME of a release that lists its groups.",
)


def _ask_in_sql(arguments: Namespace) -> int:
    with word_needs(_BY_OPTIONS):
        return _ask(arguments)


def _ask(arguments: Namespace) -> int:
    job, words = given_job(arguments)
    if arguments.who is not None:
        job = replace(job, ledger=replace(job.ledger, who=arguments.who))
    plan = _plan(job, words, arguments)
    looking = open_to_look(job, said_day(arguments))
    wording = read_wording(looking.session, plan, job)
    if wording.budget is None:
        write(repr(wording.requests))
        return 0
    asks = not arguments.yes and is_terminal(sys.stdin) and is_terminal(sys.stdout)
    if arguments.price and arguments.json:
        price = looking.price(plan)
        write_object("price", price_facts(price, looking.session))
    elif arguments.price or asks:
        print_price(plan.name, looking.price(plan), looking.session)
    if arguments.price:
        return 0
    if asks:
        left = headline(looking.session.remaining)
        if not confirm(f"This is charged for good, of {left} left. Continue?"):
            note("nothing was charged")
            return REFUSED
    _release(job, plan, arguments)
    return 0


def _plan(job: Job, words: list[str], arguments: Namespace) -> PlannedRelease:
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


def _release(job: Job, plan: PlannedRelease, arguments: Namespace) -> None:
    desk = open_to_charge(job, arguments)
    key, question = arguments.key, desk.question(plan)
    # who asks under a key that another process works on waits, and finds its answer
    with nullcontext() if key is None else turn_of(job.ledger.path, key):
        answers = desk.answers(plan, question, key)
    left = headline(desk.session.remaining)
    for release in answers.values():
        if arguments.json:
            facts = {
                "loss": release.price,
                "loss_numbers": quantities(release.loss),
                "left": left,
                "left_numbers": quantities(desk.session.remaining, down),
                "confidence_number": float(release.confidence),
                "rows": release.table.to_pylist(),
                "errors": release.errors.to_pylist(),
            }
            write_object("answer", facts)
        else:
            write(str(release))
    note(f"{left} is left")


SQL: Final = Command(
    "sql",
    "Ask the tables of a job a question in SQL, charged to its ledger. With --price "
    "nothing is charged; without a budget the question is printed as Python.",
    'sordino sql clinic.toml "SELECT COUNT(*) FROM visits" --epsilon 0.1',
    _ask_in_sql,
    (
        *job_options("a SELECT statement (- for standard input)"),
        *CLOCK,
        *BUDGET,
        option(
            "--like",
            "NAME",
            "a release of the job, whose limits, bounds and keys hold here, too",
        ),
        *limit_options("a limit on what one person contributes"),
        flag("--price", "charge nothing"),
        option("--key", "KEY", "under which the answer is kept"),
        option("--who", "WHO", "recorded with it"),
        option("--why", "WHY", "recorded with it", default=""),
        option(
            "--dialect", "NAME", "duckdb, postgres, spark or bigquery", default="duckdb"
        ),
        YES,
    ),
)
_DIALECT: Final = {
    "delimiter": "what stands between fields (,); \\t for a tab",
    "quote": 'what stands around fields ("); none for nothing',
    "encoding": "utf-8, cp1252, latin-1, utf-16, ...",
    "decimal": ". or ,",
    "thousands": "what parts digits into threes, such as . or a space",
    "header": "a column by whose name the header is found below lines of title",
    "date": "the format of dates, such as %%d.%%m.%%Y",
    "time": "the format of times, such as %%d.%%m.%%Y %%H:%%M",
}
_WORDS: Final = {
    "true": "a word for true",
    "false": "a word for false",
    "null": "what stands for a missing value, such as NA",
    "currency": "what may stand before or behind a number, such as EUR",
}
"""How text files are written, each as `sordino.Csv` takes it; words may be repeated."""
_SIGNS: Final[dict[str, str | None]] = {"\\t": "\t", "none": None}
"""Words for what is hard to write on a command line."""


def _show_inspection(arguments: Namespace) -> None:
    inspection = inspect(
        _source(arguments),
        protects=None if arguments.id is None else AddRowsWithID(arguments.id),
        columns=dict(arguments.column),
        limits=list(given_limits(arguments)),
    )
    as_json = arguments.json
    write(json.dumps(inspection.to_dict(), indent=2) if as_json else str(inspection))
    if arguments.write is not None:
        if inspection.proposal is None:
            raise InvalidJob(
                "--write", _NO_PROPOSAL, "Leave --column and the rest out."
            )
        declare(arguments.write, arguments.paths, inspection.proposal)
        note(f"wrote what is proposed into {arguments.write}: review it")


_NO_PROPOSAL: Final = "writes what is proposed for a text file of which nothing is said"


def _source(arguments: Namespace) -> Any:
    options = {name: vars(arguments)[name] for name in (*_DIALECT, *_WORDS, "skip")}
    dialect = {name: value for name, value in options.items() if value}
    if arguments.table is not None:
        return (*arguments.paths, arguments.table)
    if not dialect:
        return arguments.paths
    for name in ("delimiter", "quote"):
        if name in dialect:
            dialect[name] = _SIGNS.get(dialect[name], dialect[name])
    return Csv(arguments.paths, **dialect)


INSPECT: Final = Command(
    "inspect",
    "Show how the cells of a table are read, and what limits would cut. Exact counts "
    "of private rows: for the curator's eyes only.",
    "sordino inspect visits.csv --column patient=i64 --id patient",
    _show_inspection,
    (
        option("paths", "FILE", "files, or a server, or spark://", nargs="+"),
        option("--table", "NAME", "a table of postgresql://... or spark://"),
        list_option(
            "--column",
            "NAME=TYPE",
            "a column and its type: i64, f64, text, bool, date or time",
            name_and_value,
        ),
        option("--id", "COLUMN", "the column that marks people"),
        *limit_options("a limit to try"),
        *(option(f"--{name}", name.upper(), what) for name, what in _DIALECT.items()),
        *(list_option(f"--{name}", "WORD", what) for name, what in _WORDS.items()),
        option("--skip", "N", "how many lines stand above the header", int, default=0),
        option(
            "--write",
            "JOB.toml",
            "put what is proposed for a text file into the job that names it",
            Path,
        ),
        JSON,
    ),
)
